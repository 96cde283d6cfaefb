//! Fetching operands that are the same in every lane: scalar registers and constants.

use super::StopKind;
use super::machine::Machine;
use super::slot::Slot;
use crate::gfx10::{InlineFloat, NumberKind, Operand, OperandSpec, Special};

/// The encodings of an inline float as f16, f32 and f64.
struct FloatBits {
    half: u16,
    single: u32,
    double: u64,
}

impl FloatBits {
    const fn new(half: u16, single: u32, double: u64) -> Self {
        FloatBits { half, single, double }
    }
}

const fn float_bits(constant: InlineFloat) -> FloatBits {
    match constant {
        InlineFloat::Half => FloatBits::new(0x3800, 0x3f00_0000, 0x3fe0_0000_0000_0000),
        InlineFloat::MinusHalf => FloatBits::new(0xb800, 0xbf00_0000, 0xbfe0_0000_0000_0000),
        InlineFloat::One => FloatBits::new(0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000),
        InlineFloat::MinusOne => FloatBits::new(0xbc00, 0xbf80_0000, 0xbff0_0000_0000_0000),
        InlineFloat::Two => FloatBits::new(0x4000, 0x4000_0000, 0x4000_0000_0000_0000),
        InlineFloat::MinusTwo => FloatBits::new(0xc000, 0xc000_0000, 0xc000_0000_0000_0000),
        InlineFloat::Four => FloatBits::new(0x4400, 0x4080_0000, 0x4010_0000_0000_0000),
        InlineFloat::MinusFour => FloatBits::new(0xc400, 0xc080_0000, 0xc010_0000_0000_0000),
        InlineFloat::InvTwoPi => FloatBits::new(0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
    }
}

/// The low `bits` bits; all of them from 64 on.
pub(super) fn low(value: u64, bits: u16) -> u64 {
    match bits {
        0..64 => value & ((1 << bits) - 1),
        _ => value,
    }
}

impl Machine<'_> {
    /// The value of a scalar operand, zero-extended from its width. `None` where it is not one (a vector register).
    pub(super) fn uniform(
        &self,
        slot: &Slot,
        operand: Operand,
        spec: OperandSpec,
    ) -> Result<Option<u64>, StopKind> {
        let wide = spec.dwords(self.wave.size()) >= 2;
        let value = match operand {
            Operand::None => 0,
            Operand::Vgpr(_) => return Ok(None),
            Operand::Sgpr(first) if wide => self.wave.sgpr_pair(first),
            Operand::Sgpr(number) => self.wave.sgpr(number).into(),
            Operand::Int(value) => i64::from(value) as u64,
            Operand::Float(constant) => inline_float(slot, constant, spec)?,
            Operand::Literal(word) => literal(word, spec),
            Operand::Special(special) => self.special(slot, special)?,
        };
        Ok(Some(low(value, width(spec, wide))))
    }

    /// The value of a scalar source, 0 if the instruction has none in this place.
    pub(super) fn scalar_source(&self, slot: &Slot, place: usize) -> Result<u64, StopKind> {
        let Some((operand, spec)) = slot.source(place) else { return Ok(0) };
        // By far the most frequent operands, before the general way.
        if let (Operand::Sgpr(number), 32) = (operand, spec.bits) {
            return Ok(self.wave.sgpr(number).into());
        }
        self.uniform(slot, operand, spec)?.ok_or_else(|| slot.form("a vector register as a scalar source"))
    }

    fn special(&self, slot: &Slot, special: Special) -> Result<u64, StopKind> {
        let apertures = &self.info.apertures;
        Ok(match special {
            Special::SharedBase => apertures.shared,
            Special::SharedLimit => apertures.shared | 0xffff_ffff,
            Special::PrivateBase => apertures.private,
            Special::PrivateLimit => apertures.private | 0xffff_ffff,
            Special::VccZ => u64::from(self.wave.vcc() == 0),
            Special::ExecZ => u64::from(self.wave.exec() == 0),
            Special::Scc => u64::from(self.wave.scc),
            Special::PopsExitingWaveId => return Err(slot.form("src_pops_exiting_wave_id")),
            Special::LdsDirect => return Err(slot.form("src_lds_direct")),
        })
    }
}

/// Bits that an operand keeps.
fn width(spec: OperandSpec, wide: bool) -> u16 {
    match spec.kind {
        NumberKind::Mask if wide => 64,
        NumberKind::Mask => 32,
        _ => spec.bits,
    }
}

/// An inline float in an operand of this shape. Integers of 32 and 64 bits take the float of their width, as untyped
/// bits do.
fn inline_float(slot: &Slot, constant: InlineFloat, spec: OperandSpec) -> Result<u64, StopKind> {
    let bits = float_bits(constant);
    Ok(match (spec.kind, spec.bits) {
        (NumberKind::PackedFloat, _) | (NumberKind::Float, 16) => bits.half.into(),
        (NumberKind::Int | NumberKind::Uint | NumberKind::Bits, 16) => {
            return Err(slot.form("an inline float as a 16-bit integer"));
        }
        (_, 64) => bits.double,
        _ => bits.single.into(),
    })
}

/// A literal in an operand of this shape.
fn literal(word: u32, spec: OperandSpec) -> u64 {
    match (spec.kind, spec.bits) {
        (NumberKind::Float, 64) => u64::from(word) << 32,
        (NumberKind::Int, 64) => i64::from(word as i32) as u64,
        _ => word.into(),
    }
}

/// Places of a vector operation's sources that are lane masks hold a mask; this tells them from values.
pub(super) fn is_mask(spec: OperandSpec) -> bool {
    spec.kind == NumberKind::Mask
}
