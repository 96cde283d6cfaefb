//! The codings of operand fields.

use super::{Coding, DecodeErrorKind, Operand, OperandSpec, Reader, Result};
use crate::gfx10::{InlineFloat, NumberKind, Special, WaveSize, sreg};

/// The sources with one code each, ascending.
const CODED: [(u16, Operand); 18] = {
    use InlineFloat as F;
    use Operand::{Float, Special as S};
    [
        (235, S(Special::SharedBase)),
        (236, S(Special::SharedLimit)),
        (237, S(Special::PrivateBase)),
        (238, S(Special::PrivateLimit)),
        (239, S(Special::PopsExitingWaveId)),
        (240, Float(F::Half)),
        (241, Float(F::MinusHalf)),
        (242, Float(F::One)),
        (243, Float(F::MinusOne)),
        (244, Float(F::Two)),
        (245, Float(F::MinusTwo)),
        (246, Float(F::Four)),
        (247, Float(F::MinusFour)),
        (248, Float(F::InvTwoPi)),
        (251, S(Special::VccZ)),
        (252, S(Special::ExecZ)),
        (253, S(Special::Scc)),
        (254, S(Special::LdsDirect)),
    ]
};

/// The code of a literal.
pub(super) const LITERAL: u16 = 255;

/// Numbers of the last general SGPR and of the last trap temporary.
const LAST_SGPR: u8 = 105;
const LAST_TTMP: u8 = sreg::TTMP0 + 15;

impl Reader<'_> {
    /// The operand that a field of a coding names.
    pub(super) fn coded(&mut self, coding: Coding, code: u16, spec: &OperandSpec) -> Result<Operand> {
        // A mask is checked as one dword: decoding does not know the wave size.
        let dwords = spec.dwords(WaveSize::W32);
        let operand = match coding {
            Coding::Vgpr => vgpr(code & 0xff, dwords),
            Coding::Source | Coding::RegisterSource if code >= 256 => vgpr(code - 256, dwords),
            Coding::Sgpr => (code < 128).then(|| sgpr(code, dwords)).flatten(),
            Coding::SgprPair => sgpr(code * 2, dwords),
            Coding::SgprQuad => sgpr(code * 4, dwords),
            Coding::Source | Coding::ScalarSource if code == LITERAL => Some(self.literal()?),
            Coding::Source | Coding::ScalarSource => scalar_source(code, dwords),
            Coding::RegisterSource => scalar_source(code, dwords).filter(is_register),
            Coding::Parameter => (code < 3).then_some(Operand::Int(code as i8)),
        };
        // A mask is a scalar register, whatever else its field could name, and no constant is wider than 64 bits.
        let fits = |o: &Operand| match spec.kind {
            NumberKind::Mask => is_register(o),
            _ => dwords <= 2 || matches!(o, Operand::Vgpr(_) | Operand::Sgpr(_)),
        };
        operand.filter(fits).ok_or_else(|| match coding {
            Coding::Sgpr | Coding::SgprPair | Coding::SgprQuad if dwords > 1 => self.bad_range(code, dwords),
            _ => self.bad_operand(code),
        })
    }

    fn bad_range(&self, code: u16, dwords: u8) -> DecodeErrorKind {
        DecodeErrorKind::ScalarRange { op: self.row.op, code, dwords }
    }
}

/// Whether the operand can be a lane mask of two dwords.
pub(super) fn is_wide_mask(operand: Operand) -> bool {
    match operand {
        Operand::Sgpr(code) => sgpr(code.into(), 2).is_some(),
        other => other != Operand::Special(Special::LdsDirect),
    }
}

/// Whether the operand is scalar and no constant.
fn is_register(operand: &Operand) -> bool {
    matches!(operand, Operand::Sgpr(_) | Operand::Special(_))
}

fn vgpr(number: u16, dwords: u8) -> Option<Operand> {
    let last = number + u16::from(dwords.max(1)) - 1;
    (last < 256).then_some(Operand::Vgpr(number as u8))
}

/// A scalar source that is not a literal.
pub(super) fn scalar_source(code: u16, dwords: u8) -> Option<Operand> {
    match code {
        0..128 => sgpr(code, dwords),
        128..=192 => Some(Operand::Int((code - 128) as i8)),
        193..=208 => Some(Operand::Int((192 - i32::from(code)) as i8)),
        _ => {
            let (_, operand) = CODED[CODED.binary_search_by_key(&code, |(c, _)| *c).ok()?];
            // The LDS is read one dword at a time.
            (operand != Operand::Special(Special::LdsDirect) || dwords <= 1).then_some(operand)
        }
    }
}

/// The first of so many scalar registers. The hardware ignores the low bits of a misaligned number.
fn sgpr(code: u16, dwords: u8) -> Option<Operand> {
    let code = u8::try_from(code).ok()?;
    let align = match dwords {
        0 | 1 => return (code < 128).then_some(Operand::Sgpr(code)),
        2 => 2,
        _ => 4,
    };
    let named = dwords == 2 && matches!(code, sreg::VCC_LO | sreg::NULL | sreg::EXEC_LO);
    let first = code - code % align;
    let last = first.checked_add(dwords - 1)?;
    let general = last <= LAST_SGPR || first >= sreg::TTMP0 && last <= LAST_TTMP;
    (named || general).then_some(Operand::Sgpr(if named { code } else { first }))
}
