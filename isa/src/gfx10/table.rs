//! Rows of the opcode tables: which opcode of which encoding is which operation, and what its operands are.
//!
//! The rows are generated from `tables/gfx10`, one text row an opcode of an encoding.

use super::{Encoding, Inst, Mods, Op, Operand, Target, WaveSize};

/// What the bits of an operand are: decides how an inline constant or a literal widens to the operand's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NumberKind {
    /// Untyped bits. An inline integer is sign-extended to the width, a literal zero-extended.
    Bits,
    /// Signed integer. Inline integers and literals are sign-extended.
    Int,
    /// Unsigned integer. An inline integer is sign-extended, a literal zero-extended.
    Uint,
    /// Float of the operand's width. Inline floats take the width's own encoding; a literal of a 16-bit operand is
    /// its low half, a literal of a 64-bit operand is the *high* dword (the low one is zero).
    Float,
    /// Two 16-bit integers in a dword.
    PackedInt,
    /// Two 16-bit floats in a dword.
    PackedFloat,
    /// A lane mask: one bit a lane, [`WaveSize::mask_dwords`] registers.
    Mask,
}

/// Which registers an operand can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegisterFile {
    /// Vector or scalar registers or constants, as far as the encoding's field reaches.
    Any,
    /// Vector registers only.
    Vector,
    /// Scalar registers and constants only.
    Scalar,
}

/// Shape of the operand in one place of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperandSpec {
    /// Meaning of the bits.
    pub kind: NumberKind,
    /// Width in bits; 0 for a mask (the wave size decides) and where the instruction's fields decide
    /// (image addresses and data).
    pub bits: u16,
    /// Registers that can stand here.
    pub file: RegisterFile,
}

impl OperandSpec {
    /// Registers that the operand takes in a wave of this size; 0 where the instruction's fields decide.
    pub const fn dwords(&self, wave: WaveSize) -> u8 {
        match self.kind {
            NumberKind::Mask => wave.mask_dwords(),
            _ => self.bits.div_ceil(32) as u8,
        }
    }
}

/// One opcode of one encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRow {
    /// The operation.
    pub op: Op,
    /// The encoding.
    pub encoding: Encoding,
    /// The number in the encoding's opcode field.
    pub opcode: u16,
    /// Shapes of [`Inst::dst`](super::Inst::dst); `None` where the operation has no operand.
    pub dst: [Option<OperandSpec>; 2],
    /// Shapes of [`Inst::src`](super::Inst::src).
    pub src: [Option<OperandSpec>; 4],
    targets: u8,
    pub(crate) dst_places: [Place; 2],
    pub(crate) src_places: [Place; 4],
    /// Sources with NEG and ABS, bit i for `src[i]`.
    pub(crate) float_mods: u8,
    /// Sources whose NEG bit means sign extension.
    pub(crate) int_mods: u8,
    pub(crate) flags: Flags,
    /// Bits of the first 64 that must have a value.
    pub(crate) fixed: Fixed,
    /// Bits of an SDWA dword that must be zero.
    pub(crate) sdwa_zero: u32,
    /// Bits of a DPP16 dword that must be zero.
    pub(crate) dpp_zero: u32,
}

impl OpRow {
    /// Whether the target has this opcode.
    pub const fn on(&self, target: Target) -> bool {
        self.targets & (1 << target as u8) != 0
    }

    pub(crate) const fn has(&self, flag: Flags) -> bool {
        self.flags.0 & flag.0 != 0
    }
}

impl Op {
    /// The operation's row in an encoding, or `None` if it has none there.
    ///
    /// The shapes of an operation are the same on every target that has it.
    pub fn row(self, encoding: Encoding) -> Option<&'static OpRow> {
        self.rows().find(|r| r.encoding == encoding)
    }

    /// The operation's rows, one an encoding.
    pub fn rows(self) -> impl Iterator<Item = &'static OpRow> {
        OP_ROWS[self.index()].iter().map(|i| &ROWS[usize::from(*i)])
    }
}

impl Inst {
    /// The row that the instruction was decoded from, if the instruction is one that decoding gives.
    pub fn row(&self) -> Option<&'static OpRow> {
        self.op.row(self.encoding)
    }

    /// Address registers of a memory instruction: VADDR or ADDR, `src[0]` of its encodings; 0 without one.
    ///
    /// GLOBAL has two (a 64-bit address) without SADDR and one (a 32-bit offset) with it; MUBUF and MTBUF have one
    /// for the index and one for the offset; images see [`ImageMods::addr_count`](super::ImageMods::addr_count).
    pub fn address_dwords(&self) -> u8 {
        match (self.src[0], self.encoding, self.mods) {
            (Operand::None, ..) => 0,
            (_, Encoding::Global, _) if self.src[2] != Operand::None => 1,
            (_, Encoding::Global | Encoding::Flat, _) => 2,
            (_, _, Mods::Buffer(m)) => u8::from(m.idxen) + u8::from(m.offen),
            (_, _, Mods::Image(m)) => m.addr_count,
            _ => 1,
        }
    }

    /// Registers that VDATA of a buffer or image instruction takes, TFE's status register included; 0 for other
    /// encodings.
    pub fn data_dwords(&self) -> u8 {
        let Some(row) = self.row() else { return 0 };
        let spec = row.src[3].or(row.dst[0]);
        match (self.mods, spec) {
            (Mods::Buffer(m), Some(spec)) => spec.dwords(WaveSize::W32) + u8::from(m.tfe),
            (Mods::Image(m), Some(spec)) if spec.bits == 0 => {
                let components = if row.has(Flags::GATHER) { 4 } else { (m.dmask.count_ones() as u8).max(1) };
                let dwords = if m.d16 { components.div_ceil(2) } else { components };
                dwords + u8::from(m.tfe)
            }
            (Mods::Image(_), Some(spec)) => spec.dwords(WaveSize::W32),
            _ => 0,
        }
    }
}

/// A run of bits of the first 64 bits of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    pub(crate) lsb: u8,
    pub(crate) width: u8,
}

impl Bits {
    /// The field's value.
    pub(crate) const fn of(self, words: u64) -> u32 {
        ((words >> self.lsb) & ((1 << self.width) - 1)) as u32
    }

    /// Whether a field of one bit is set.
    pub(crate) const fn is_set(self, words: u64) -> bool {
        self.of(words) != 0
    }
}

/// Bits that must have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub(crate) mask: u64,
    pub(crate) value: u64,
}

/// How the code in an operand field names a register or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// 8-bit vector register number.
    Vgpr,
    /// Scalar destination code, 0-127.
    Sgpr,
    /// Scalar register number over 2.
    SgprPair,
    /// Scalar register number over 4.
    SgprQuad,
    /// 8-bit scalar source code: registers and constants.
    ScalarSource,
    /// 9-bit vector ALU source code: [`Coding::ScalarSource`] and, from 256, vector registers.
    Source,
    /// [`Coding::Source`] or [`Coding::ScalarSource`] without constants.
    RegisterSource,
    /// Interpolation parameter 0-2.
    Parameter,
}

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    None,
    Field(Coding, Bits),
    /// VCC, not named by any field.
    Vcc,
    /// EXEC, not named by any field.
    Exec,
    /// The dword after the instruction.
    Literal,
}

/// What else an operation has or is; the constants are the words of the tables' flags column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flags(u64);

/// Where an encoding is told from others and keeps its opcode.
pub(crate) struct EncodingLayout {
    pub(crate) encoding: Encoding,
    mask: u32,
    value: u32,
    opcode: [Bits; 2],
    /// Dwords without literal, lane form and address dwords.
    pub(crate) dwords: u8,
    /// For each target the row number plus one of each opcode; 0 where there is none.
    index: [&'static [u16]; 3],
}

impl EncodingLayout {
    /// The encoding of an instruction that begins with this word.
    pub(crate) fn of(word: u32) -> Option<&'static Self> {
        ENCODINGS.iter().find(|e| word & e.mask == e.value)
    }

    pub(crate) fn opcode(&self, words: u64) -> u16 {
        let [low, high] = self.opcode;
        (low.of(words) | high.of(words) << low.width) as u16
    }

    pub(crate) fn row(&self, opcode: u16, target: Target) -> Option<&'static OpRow> {
        let row = *self.index[target as usize].get(usize::from(opcode))?;
        ROWS.get(usize::from(row).checked_sub(1)?)
    }
}

/// The bit fields of the encodings, named `ENCODING_FIELD`.
#[expect(dead_code, reason = "every field is named, also those that rows reach through their places")]
pub(crate) mod bits {
    use super::Bits;
    include!(concat!(env!("OUT_DIR"), "/gfx10_bits.rs"));
}

include!(concat!(env!("OUT_DIR"), "/gfx10_rows.rs"));
