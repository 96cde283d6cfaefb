//! The modifiers of each encoding, and the operands of memory instructions that depend on them.

use super::{DecodeErrorKind, Encoding, Flags, Inst, Mods, Operand, Reader, Result, VopMods, bits};
use crate::gfx10::table::Bits;
use crate::gfx10::{BufferMods, FlatMods, Target, sreg};

/// SADDR codes for "no SADDR" and, on GFX10.3's SCRATCH, "neither register".
const SADDR_OFF: u32 = 0x7d;
const ADDRESS_OFF: u32 = 0x7f;

/// The low `width` bits of `value` as a signed number.
fn signed(value: u32, width: u8) -> i32 {
    let shift = 32 - u32::from(width);
    ((value << shift) as i32) >> shift
}

impl Reader<'_> {
    pub(super) fn mods(&mut self) -> Result<Mods> {
        Ok(match self.row.encoding {
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc => Mods::None,
            Encoding::Sopk | Encoding::Sopp => Mods::Simm(bits::SOPP_SIMM.of(self.bits) as u16),
            Encoding::Smem => self.scalar_memory(),
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => Mods::Vop(VopMods::default()),
            Encoding::Vop3 => Mods::Vop(self.vop3()),
            Encoding::Vop3p => Mods::Vop(self.vop3p()),
            Encoding::Vintrp => {
                Mods::Interp { attr: self.byte(bits::VINTRP_ATTR), chan: self.byte(bits::VINTRP_CHAN) }
            }
            Encoding::Ds => Mods::Ds {
                offset0: self.byte(bits::DS_OFFSET0),
                offset1: self.byte(bits::DS_OFFSET1),
                gds: bits::DS_GDS.is_set(self.bits),
            },
            Encoding::Mubuf => self.mubuf(),
            Encoding::Mtbuf => self.mtbuf(),
            Encoding::Mimg => self.image(),
            Encoding::Flat | Encoding::Scratch | Encoding::Global => self.flat(),
            Encoding::Exp => Mods::Export {
                target: self.byte(bits::EXP_TARGET),
                en: self.byte(bits::EXP_EN),
                compr: bits::EXP_COMPR.is_set(self.bits),
                done: bits::EXP_DONE.is_set(self.bits),
                vm: bits::EXP_VM.is_set(self.bits),
            },
        })
    }

    pub(super) fn byte(&self, field: Bits) -> u8 {
        field.of(self.bits) as u8
    }

    /// A one-bit modifier, if the operation has it.
    pub(super) fn flag(&self, flag: Flags, field: Bits) -> bool {
        self.row.has(flag) && field.is_set(self.bits)
    }

    fn scalar_memory(&self) -> Mods {
        let offset = signed(bits::SMEM_OFFSET.of(self.bits), bits::SMEM_OFFSET.width);
        Mods::Smem {
            offset: if self.row.has(Flags::OFFSET) { offset } else { 0 },
            glc: self.flag(Flags::GLC, bits::SMEM_GLC),
            dlc: self.flag(Flags::DLC, bits::SMEM_DLC),
        }
    }

    fn vop3(&self) -> VopMods {
        let abs =
            self.byte(bits::VOP3_ABS0) | self.byte(bits::VOP3_ABS1) << 1 | self.byte(bits::VOP3_ABS2) << 2;
        let neg =
            self.byte(bits::VOP3_NEG0) | self.byte(bits::VOP3_NEG1) << 1 | self.byte(bits::VOP3_NEG2) << 2;
        let sel = self.byte(bits::VOP3_OPSEL0)
            | self.byte(bits::VOP3_OPSEL1) << 1
            | self.byte(bits::VOP3_OPSEL2) << 2
            | self.byte(bits::VOP3_OPSEL3) << 3;
        let interp = self.row.has(Flags::ATTR);
        // Interpolation takes its first source from SRC1. In VOP3B the ABS bits belong to SDST.
        let first = u8::from(interp);
        let abs = if self.row.dst[1].is_some() { 0 } else { abs >> first };
        VopMods {
            neg: neg >> first & (self.row.float_mods | self.row.int_mods),
            abs: abs & self.row.float_mods,
            clamp: bits::VOP3_CLAMP.is_set(self.bits),
            omod: if self.row.has(Flags::OMOD) { self.byte(bits::VOP3_OMOD) } else { 0 },
            op_sel: match self.row.has(Flags::OPSEL) {
                true if self.row.has(Flags::NODST) => sel & 7,
                true => sel,
                false => u8::from(self.flag(Flags::HIGH, bits::VOP3_HIGH)),
            },
            attr: if interp { self.byte(bits::VOP3_ATTR) } else { 0 },
            chan: if interp { self.byte(bits::VOP3_CHAN) } else { 0 },
            ..VopMods::default()
        }
    }

    fn vop3p(&self) -> VopMods {
        let three = |a: Bits, b: Bits, c: Bits| self.byte(a) | self.byte(b) << 1 | self.byte(c) << 2;
        let hi = three(bits::VOP3P_OPSELHI0, bits::VOP3P_OPSELHI1, bits::VOP3P_OPSELHI2);
        VopMods {
            neg: three(bits::VOP3P_NEG0, bits::VOP3P_NEG1, bits::VOP3P_NEG2),
            abs: three(bits::VOP3P_ABS0, bits::VOP3P_ABS1, bits::VOP3P_ABS2),
            clamp: bits::VOP3P_CLAMP.is_set(self.bits),
            op_sel: three(bits::VOP3P_OPSEL0, bits::VOP3P_OPSEL1, bits::VOP3P_OPSEL2),
            op_sel_hi: if self.row.src[2].is_some() { hi } else { hi & 3 },
            ..VopMods::default()
        }
    }

    fn mubuf(&self) -> Mods {
        Mods::Buffer(BufferMods {
            offset: if self.row.has(Flags::OFFSET) { bits::MUBUF_OFFSET.of(self.bits) as u16 } else { 0 },
            offen: bits::MUBUF_OFFEN.is_set(self.bits),
            idxen: bits::MUBUF_IDXEN.is_set(self.bits),
            glc: bits::MUBUF_GLC.is_set(self.bits),
            slc: self.flag(Flags::SLC, bits::MUBUF_SLC),
            dlc: bits::MUBUF_DLC.is_set(self.bits),
            lds: bits::MUBUF_LDS.is_set(self.bits),
            tfe: self.flag(Flags::TFE, bits::MUBUF_TFE) && !bits::MUBUF_LDS.is_set(self.bits),
            format: 0,
        })
    }

    fn mtbuf(&self) -> Mods {
        Mods::Buffer(BufferMods {
            offset: bits::MTBUF_OFFSET.of(self.bits) as u16,
            offen: bits::MTBUF_OFFEN.is_set(self.bits),
            idxen: bits::MTBUF_IDXEN.is_set(self.bits),
            glc: bits::MTBUF_GLC.is_set(self.bits),
            slc: bits::MTBUF_SLC.is_set(self.bits),
            dlc: bits::MTBUF_DLC.is_set(self.bits),
            lds: false,
            tfe: bits::MTBUF_TFE.is_set(self.bits),
            format: self.byte(bits::MTBUF_FORMAT),
        })
    }

    fn flat(&self) -> Mods {
        let raw = bits::FLAT_OFFSET.of(self.bits);
        let offset = match self.row.encoding {
            Encoding::Flat => raw as i32,
            _ => signed(raw, bits::FLAT_OFFSET.width),
        };
        Mods::Flat(FlatMods {
            offset: offset as i16,
            glc: bits::FLAT_GLC.is_set(self.bits),
            slc: bits::FLAT_SLC.is_set(self.bits),
            dlc: bits::FLAT_DLC.is_set(self.bits),
            lds: false,
        })
    }

    /// Whether an atomic returns what was there before: its GLC bit.
    pub(super) fn returns(&self) -> bool {
        let glc = match self.row.encoding {
            Encoding::Smem => bits::SMEM_GLC,
            Encoding::Mubuf => bits::MUBUF_GLC,
            Encoding::Mimg => bits::MIMG_GLC,
            _ => bits::FLAT_GLC,
        };
        glc.is_set(self.bits)
    }

    pub(super) fn finish_scalar_memory(&mut self, inst: &mut Inst) -> Result<()> {
        if inst.src[1] == Operand::Sgpr(sreg::NULL) {
            inst.src[1] = Operand::None;
        }
        Ok(())
    }

    /// VADDR is index, offset, both (in that order) or absent.
    pub(super) fn finish_buffer(&mut self, inst: &mut Inst) -> Result<()> {
        let Mods::Buffer(mods) = inst.mods else { return Ok(()) };
        if !mods.offen && !mods.idxen {
            inst.src[0] = Operand::None;
        }
        self.check_vgprs(inst.src[0], inst.address_dwords())?;
        let data = if self.row.src[3].is_some() { inst.src[3] } else { inst.dst[0] };
        self.check_vgprs(data, inst.data_dwords())
    }

    /// ADDR is a 64-bit address, or a 32-bit offset to SADDR.
    pub(super) fn finish_flat(&mut self, inst: &mut Inst) -> Result<()> {
        let saddr = bits::FLAT_SADDR.of(self.bits);
        match (self.row.encoding, saddr) {
            (Encoding::Flat, SADDR_OFF) => {}
            (Encoding::Flat, code) => return Err(self.bad_operand(code as u16)),
            (Encoding::Scratch, ADDRESS_OFF) if self.target == Target::Gfx1030 => {
                (inst.src[0], inst.src[2]) = (Operand::None, Operand::None)
            }
            (_, SADDR_OFF) => inst.src[2] = Operand::None,
            (Encoding::Scratch, _) => inst.src[0] = Operand::None,
            _ => {}
        }
        self.check_vgprs(inst.src[0], inst.address_dwords())
    }

    /// Refuses registers past the last one.
    pub(super) fn check_vgprs(&self, first: Operand, dwords: u8) -> Result<()> {
        match first {
            Operand::Vgpr(v) if u16::from(v) + u16::from(dwords) > 256 => {
                Err(DecodeErrorKind::RegisterRange { op: self.row.op, first: v, dwords })
            }
            _ => Ok(()),
        }
    }
}
