//! SDWA and DPP: the dword that follows a VOP1, VOP2 or VOPC whose SRC0 is an escape code.

use super::operand::scalar_source;
use super::{Coding, DecodeErrorKind, Encoding, Flags, Inst, Mods, Operand, Reader, Result, VopMods, bits};
use crate::gfx10::names::{DPP, ranged};
use crate::gfx10::table::Bits;
use crate::gfx10::{LaneForm, Sdwa, SdwaSel, SdwaUnused};

/// The last DPP_CTRL of a quad permutation.
const QUAD_PERM_LAST: u16 = 0xff;

/// What an escape code announces.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Dpp8 { fetch_inactive: bool },
    Dpp16,
    Sdwa,
}

impl Reader<'_> {
    /// The form that SRC0 announces, if the operation has it.
    pub(super) fn lane_form(&self) -> Option<Form> {
        let short = matches!(self.row.encoding, Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc);
        let form = match bits::VOP1_SRC0.of(self.bits) {
            0xe9 => Form::Dpp8 { fetch_inactive: false },
            0xea => Form::Dpp8 { fetch_inactive: true },
            0xf9 => Form::Sdwa,
            0xfa => Form::Dpp16,
            _ => return None,
        };
        let flag = if matches!(form, Form::Sdwa) { Flags::SDWA } else { Flags::DPP };
        (short && self.row.has(flag)).then_some(form)
    }

    pub(super) fn read_lane_form(&mut self, form: Form, inst: &mut Inst) -> Result<()> {
        let word = self.next_word()?;
        let reserved = match form {
            Form::Dpp8 { .. } => 0,
            Form::Dpp16 => self.row.dpp_zero,
            Form::Sdwa => self.row.sdwa_zero,
        } & word;
        if reserved != 0 {
            return Err(DecodeErrorKind::ReservedBits { op: self.row.op, bits: u64::from(reserved) << 32 });
        }
        let word = u64::from(word);
        self.check_lane_form(form, word)?;
        self.read_lane_operands(form, word, inst)?;
        inst.mods = Mods::Vop(match form {
            Form::Dpp8 { fetch_inactive } => dpp8(word, fetch_inactive),
            Form::Dpp16 => self.dpp16(word),
            Form::Sdwa => self.sdwa(word),
        });
        Ok(())
    }

    /// Refuses controls and selectors without a meaning, and DPP of more than a dword.
    fn check_lane_form(&self, form: Form, word: u64) -> Result<()> {
        let op = self.row.op;
        let dpp_ctrl = bits::DPP16_CTRL.of(word) as u16;
        let unknown = match form {
            Form::Dpp16 => {
                (dpp_ctrl > QUAD_PERM_LAST && ranged(&DPP, dpp_ctrl).is_none()).then_some(dpp_ctrl)
            }
            Form::Sdwa => self.reserved_selector(word),
            Form::Dpp8 { .. } => None,
        };
        if let Some(code) = unknown {
            return Err(DecodeErrorKind::LaneControl { op, code });
        }
        let wide = self.row.src[0].is_some_and(|spec| spec.bits > 32);
        if wide && !matches!(form, Form::Sdwa) { Err(DecodeErrorKind::LaneWidth { op }) } else { Ok(()) }
    }

    fn reserved_selector(&self, word: u64) -> Option<u16> {
        let vopc = self.row.encoding == Encoding::Vopc;
        let selectors = [
            (bits::SDWA_DST_SEL, 7),
            (bits::SDWA_DST_UNUSED, 3),
            (bits::SDWA_SRC0_SEL, 7),
            (bits::SDWA_SRC1_SEL, 7),
        ];
        let skipped = if vopc { 2 } else { 0 };
        let reserved = |(field, code): &(Bits, u32)| (field.of(word) == *code).then_some(*code as u16);
        selectors.iter().skip(skipped).find_map(reserved)
    }

    /// The operands as in the plain form, but SRC0 (and SDWA's scalar SRC1 and SDST) come from the added dword.
    fn read_lane_operands(&mut self, form: Form, word: u64, inst: &mut Inst) -> Result<()> {
        let plain = self.bits;
        self.bits = plain & !0x1ff | 0x100 | u64::from(bits::DPP16_SRC0.of(word));
        self.read_operands(inst)?;
        self.bits = plain;
        if !matches!(form, Form::Sdwa) {
            return Ok(());
        }
        if bits::SDWA_S0.is_set(word) {
            inst.src[0] = self.sdwa_scalar(bits::SDWA_SRC0.of(word))?;
        }
        if bits::SDWA_S1.is_set(word) {
            inst.src[1] = self.sdwa_scalar(bits::VOP2_VSRC1.of(plain))?;
        }
        if let (Encoding::Vopc, Some(spec), true) =
            (inst.encoding, self.row.dst[0], bits::SDWAB_SD.is_set(word))
        {
            inst.dst[0] = self.coded(Coding::Sgpr, bits::SDWAB_SDST.of(word) as u16, &spec)?;
        }
        Ok(())
    }

    fn sdwa_scalar(&self, code: u32) -> Result<Operand> {
        scalar_source(code as u16, 1).ok_or_else(|| self.bad_operand(code as u16))
    }

    /// Bits of modifiers that the operation lacks have no effect.
    fn dpp16(&self, word: u64) -> VopMods {
        let neg = bits::DPP16_NEG0.of(word) | bits::DPP16_NEG1.of(word) << 1;
        let abs = bits::DPP16_ABS0.of(word) | bits::DPP16_ABS1.of(word) << 1;
        VopMods {
            neg: neg as u8 & (self.row.float_mods | self.row.int_mods),
            abs: abs as u8 & self.row.float_mods,
            lane: LaneForm::Dpp16 {
                ctrl: bits::DPP16_CTRL.of(word) as u16,
                row_mask: bits::DPP16_ROW_MASK.of(word) as u8,
                bank_mask: bits::DPP16_BANK_MASK.of(word) as u8,
                bound_ctrl: bits::DPP16_BOUND_CTRL.is_set(word),
                fetch_inactive: bits::DPP16_FI.is_set(word),
            },
            ..VopMods::default()
        }
    }

    fn sdwa(&self, word: u64) -> VopMods {
        let set = |i: u8, b: Bits| u8::from(b.is_set(word)) << i;
        let vopc = self.row.encoding == Encoding::Vopc;
        let dst = |b: Bits| if vopc { 0 } else { b.of(word) };
        VopMods {
            neg: set(0, bits::SDWA_SRC0_NEG) | set(1, bits::SDWA_SRC1_NEG),
            abs: set(0, bits::SDWA_SRC0_ABS) | set(1, bits::SDWA_SRC1_ABS),
            clamp: dst(bits::SDWA_CLAMP) != 0,
            omod: dst(bits::SDWA_OMOD) as u8,
            lane: LaneForm::Sdwa(Sdwa {
                dst_sel: if vopc { SdwaSel::Dword } else { sel(bits::SDWA_DST_SEL.of(word)) },
                dst_unused: unused(dst(bits::SDWA_DST_UNUSED)),
                src_sel: [sel(bits::SDWA_SRC0_SEL.of(word)), sel(bits::SDWA_SRC1_SEL.of(word))],
                src_sext: [bits::SDWA_SRC0_SEXT.is_set(word), bits::SDWA_SRC1_SEXT.is_set(word)],
            }),
            ..VopMods::default()
        }
    }
}

fn sel(code: u32) -> SdwaSel {
    use SdwaSel::*;
    [Byte0, Byte1, Byte2, Byte3, Word0, Word1, Dword].get(code as usize).copied().unwrap_or(Reserved)
}

fn unused(code: u32) -> SdwaUnused {
    use SdwaUnused::*;
    [Pad, Sext, Preserve].get(code as usize).copied().unwrap_or(Reserved)
}

fn dpp8(word: u64, fetch_inactive: bool) -> VopMods {
    let lanes = bits::DPP8_SEL.of(word);
    let sel = std::array::from_fn(|i| (lanes >> (3 * i) & 7) as u8);
    VopMods { lane: LaneForm::Dpp8 { sel, fetch_inactive }, ..VopMods::default() }
}
