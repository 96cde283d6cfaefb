//! The decoded form of one GFX10 instruction.
//!
//! Operands stand by *role*, not by bit field, so that an interpreter or a translator reads every encoding of an
//! operation alike: implicit operands (VCC of `v_cndmask_b32_e32`, EXEC of `v_cmpx`) are written out, and `dst` and
//! `src` have the places that [`Inst`] documents whatever the encoding.

use super::Op;

/// The processors whose code can be decoded; each has its own opcode numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// GFX10.1: Navi 10.
    Gfx1010,
    /// GFX10.1 with ray-tracing image instructions: Cyan Skillfish.
    Gfx1013,
    /// GFX10.3: Navi 21.
    Gfx1030,
}

/// Lanes of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaveSize {
    /// 32 lanes; masks are one SGPR.
    W32,
    /// 64 lanes; masks are an aligned SGPR pair.
    W64,
}

impl WaveSize {
    /// Number of lanes, 32 or 64.
    pub const fn lanes(self) -> u32 {
        match self {
            WaveSize::W32 => 32,
            WaveSize::W64 => 64,
        }
    }
    /// SGPRs that a lane mask takes, 1 or 2.
    pub const fn mask_dwords(self) -> u8 {
        match self {
            WaveSize::W32 => 1,
            WaveSize::W64 => 2,
        }
    }
}

/// The encoding families of the GFX10 instruction formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the families' names are the manual's own")]
pub enum Encoding {
    Sop2,
    Sopk,
    Sop1,
    Sopc,
    Sopp,
    Smem,
    Vop2,
    Vop1,
    Vopc,
    Vintrp,
    /// Both VOP3A and VOP3B; also the e64 forms of VOP1, VOP2 and VOPC.
    Vop3,
    Vop3p,
    Ds,
    Mubuf,
    Mtbuf,
    Mimg,
    Flat,
    Scratch,
    Global,
    Exp,
}

/// SGPR numbers with names of their own, as the 7-bit scalar destination field counts them.
pub mod sreg {
    /// Low half of VCC (the whole of it in wave32).
    pub const VCC_LO: u8 = 106;
    /// High half of VCC.
    pub const VCC_HI: u8 = 107;
    /// First trap-handler temporary.
    pub const TTMP0: u8 = 108;
    /// The M0 register.
    pub const M0: u8 = 124;
    /// Reads as zero, writes vanish.
    pub const NULL: u8 = 125;
    /// Low half of EXEC (the whole of it in wave32).
    pub const EXEC_LO: u8 = 126;
    /// High half of EXEC.
    pub const EXEC_HI: u8 = 127;
}

/// Sources that are neither registers nor constants in the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// 235: base of the shared aperture.
    SharedBase,
    /// 236: limit of the shared aperture.
    SharedLimit,
    /// 237: base of the private aperture.
    PrivateBase,
    /// 238: limit of the private aperture.
    PrivateLimit,
    /// 239: primitive-ordered pixel shading wave id.
    PopsExitingWaveId,
    /// 251: 1 if VCC is zero.
    VccZ,
    /// 252: 1 if EXEC is zero.
    ExecZ,
    /// 253: the scalar condition code.
    Scc,
    /// 254: the LDS dword at M0.
    LdsDirect,
}

/// The floating-point inline constants, source codes 240 to 248.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants name their values")]
pub enum InlineFloat {
    Half,
    MinusHalf,
    One,
    MinusOne,
    Two,
    MinusTwo,
    Four,
    MinusFour,
    /// 1 / (2 pi).
    InvTwoPi,
}

/// One operand. How many registers it takes and how a constant is widened stands in the row's
/// operand specification of the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Operand {
    /// The instruction has no operand in this place.
    #[default]
    None,
    /// First vector register.
    Vgpr(u8),
    /// First scalar register, numbered as in the scalar destination field (0-127, see [`sreg`]).
    Sgpr(u8),
    /// Inline integer, -16 to 64.
    Int(i8),
    /// Inline float.
    Float(InlineFloat),
    /// The 32-bit literal that follows the instruction.
    Literal(u32),
    /// A source with a meaning of its own.
    Special(Special),
}

/// How a VOP's first source is fetched from another lane, or its operands from parts of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum LaneForm {
    /// Plain.
    #[default]
    None,
    /// DPP16: `ctrl` is the 9-bit DPP_CTRL.
    Dpp16 {
        /// DPP_CTRL.
        ctrl: u16,
        /// One bit a row of 16 lanes.
        row_mask: u8,
        /// One bit a bank of 4 lanes.
        bank_mask: u8,
        /// BOUND_CTRL: an invalid source lane reads 0 instead of disabling the write.
        bound_ctrl: bool,
        /// FI: inactive lanes are read too.
        fetch_inactive: bool,
    },
    /// DPP8: lane i of each eight reads lane `sel[i]`.
    Dpp8 {
        /// Source lane within the eight.
        sel: [u8; 8],
        /// Inactive lanes are read too.
        fetch_inactive: bool,
    },
    /// SDWA: bytes or words of the operands.
    Sdwa(Sdwa),
}

/// Sub-dword addressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sdwa {
    /// Part of the destination that is written; VOPC has none.
    pub dst_sel: SdwaSel,
    /// What becomes of the rest of the destination.
    pub dst_unused: SdwaUnused,
    /// Part of each of the two sources.
    pub src_sel: [SdwaSel; 2],
    /// Sign-extend each source.
    pub src_sext: [bool; 2],
}

/// Which part of a dword an SDWA operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants name their parts")]
pub enum SdwaSel {
    Byte0,
    Byte1,
    Byte2,
    Byte3,
    Word0,
    Word1,
    Dword,
    /// The reserved code 7.
    Reserved,
}

/// The bits of an SDWA destination outside `dst_sel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SdwaUnused {
    /// Filled with zeros.
    Pad,
    /// Filled with the result's sign above, zeros below.
    Sext,
    /// Kept.
    Preserve,
    /// The reserved code 3.
    Reserved,
}

/// Modifiers of vector ALU instructions. Bit i of a mask belongs to `src[i]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct VopMods {
    /// Negate (VOP3P: of the low half).
    pub neg: u8,
    /// Absolute value (VOP3P: negate the high half).
    pub abs: u8,
    /// Clamp the result.
    pub clamp: bool,
    /// Output modifier: 0 none, 1 times 2, 2 times 4, 3 divided by 2.
    pub omod: u8,
    /// Bits 0-2: source halves (VOP3P: for the low result); bit 3: destination half.
    pub op_sel: u8,
    /// VOP3P: source halves for the high result.
    pub op_sel_hi: u8,
    /// DPP or SDWA.
    pub lane: LaneForm,
    /// VOP3 interpolation: attribute number.
    pub attr: u8,
    /// VOP3 interpolation: component, 0-3.
    pub chan: u8,
}

/// Modifiers of MUBUF and MTBUF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(missing_docs, reason = "the fields are named as in the instruction format")]
pub struct BufferMods {
    /// 12-bit immediate byte offset.
    pub offset: u16,
    pub offen: bool,
    pub idxen: bool,
    pub glc: bool,
    pub slc: bool,
    pub dlc: bool,
    pub lds: bool,
    pub tfe: bool,
    /// MTBUF: unified format number (see `tables/`); 0 for MUBUF.
    pub format: u8,
}

/// Modifiers of FLAT, GLOBAL and SCRATCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(missing_docs, reason = "the fields are named as in the instruction format")]
pub struct FlatMods {
    /// Signed byte offset (FLAT: must be zero on these targets).
    pub offset: i16,
    pub glc: bool,
    pub slc: bool,
    pub dlc: bool,
    pub lds: bool,
}

/// Modifiers of MIMG.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(missing_docs, reason = "the fields are named as in the instruction format")]
pub struct ImageMods {
    pub dmask: u8,
    pub dim: u8,
    pub unorm: bool,
    pub glc: bool,
    pub slc: bool,
    pub dlc: bool,
    pub r128: bool,
    pub a16: bool,
    pub d16: bool,
    pub tfe: bool,
    pub lwe: bool,
    /// Address VGPRs: the number that `addr` holds.
    pub addr_count: u8,
    /// Each address VGPR (NSA or consecutive).
    pub addr: [u8; 13],
    /// The non-sequential-address form, with this many extra dwords.
    pub nsa_dwords: u8,
}

/// What an instruction has besides registers; the variant follows from the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mods {
    /// SOP1, SOP2, SOPC.
    None,
    /// SOPK and SOPP: SIMM16.
    Simm(u16),
    /// SMEM.
    Smem {
        /// Signed 21-bit byte offset.
        offset: i32,
        /// Globally coherent.
        glc: bool,
        /// Device-level coherent.
        dlc: bool,
    },
    /// All vector ALU encodings.
    Vop(VopMods),
    /// VINTRP.
    Interp {
        /// Attribute number.
        attr: u8,
        /// Component, 0-3.
        chan: u8,
    },
    /// DS.
    Ds {
        /// OFFSET0; single-offset operations use `offset1 << 8 | offset0`.
        offset0: u8,
        /// OFFSET1.
        offset1: u8,
        /// Global data share.
        gds: bool,
    },
    /// MUBUF and MTBUF.
    Buffer(BufferMods),
    /// MIMG.
    Image(ImageMods),
    /// FLAT, GLOBAL, SCRATCH.
    Flat(FlatMods),
    /// EXP.
    Export {
        /// Export target, 0-63.
        target: u8,
        /// Enabled components.
        en: u8,
        /// Two 16-bit values a register.
        compr: bool,
        /// Last export of its kind.
        done: bool,
        /// EXEC is the valid mask.
        vm: bool,
    },
}

/// One decoded instruction.
///
/// Places of the operands:
///
/// | encoding | `dst` | `src` |
/// |---|---|---|
/// | SOP1, SOP2, SOPC, SOPP | SDST | SSRC0, SSRC1, then SDST of operations that keep part of it (`s_cmov`, `s_bitset`) |
/// | SOPK | SDST of operations that write it | SDST of operations that read it (`s_addk`, `s_cmpk`, `s_cmovk`, `s_setreg`, the waits); the literal of `s_setreg_imm32_b32` |
/// | SMEM | SDATA of loads and returning atomics | SBASE, SOFFSET, SDATA of stores and atomics; SOFFSET is `None` if it is NULL |
/// | VOP1, VOP2, VOP3, VOP3P | VDST (or SDST of `v_readlane`, `v_readfirstlane`), then the mask of carry-out operations; both registers of `v_swap` | in arithmetic order, masks written out (VCC of the short forms); `v_fmac` and its like and `v_writelane` have VDST in `src[2]`, `v_permlane16` in `src[3]`; `v_div_fmas` has VCC in `src[3]`; `v_fmamk` has the literal in `src[1]`, `v_fmaak` in `src[2]` |
/// | VOPC and its e64 form | the mask (VCC or EXEC or SDST) | SRC0, SRC1 |
/// | VINTRP and VOP3 interpolation | VDST | VSRC (or the P10/P20/P0 code 0-2 as an `Int`), then a further register source and VDST where they are read |
/// | DS | VDST | ADDR, DATA0, DATA1 |
/// | MUBUF, MTBUF | VDATA of loads and returning atomics | VADDR (index, then offset; `None` without either), SRSRC, SOFFSET, VDATA of stores and atomics |
/// | MIMG | VDATA of loads and returning atomics | VADDR, SRSRC, SSAMP, VDATA of stores and atomics |
/// | FLAT, GLOBAL, SCRATCH | VDST | ADDR, DATA, SADDR; `None` where it is off |
/// | EXP | - | VSRC0-3 |
///
/// The first scalar register of an operand of 64 bits and more is aligned as the hardware aligns it, except of a lane
/// mask, whose width the wave size decides: a wave64 mask begins at the even register below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The operation, whatever its encoding.
    pub op: Op,
    /// The encoding it came in.
    pub encoding: Encoding,
    /// Byte offset from the start of the code that was decoded.
    pub offset: u32,
    /// The raw words; the first `len` count.
    pub words: [u32; 5],
    /// Length in dwords, 1 to 5.
    pub len: u8,
    /// Destinations, see the table above.
    pub dst: [Operand; 2],
    /// Sources, see the table above.
    pub src: [Operand; 4],
    /// Everything else.
    pub mods: Mods,
}

impl Inst {
    /// Byte offset of the instruction that follows.
    pub fn next_offset(&self) -> u32 {
        self.offset.wrapping_add(4 * u32::from(self.len))
    }
}
