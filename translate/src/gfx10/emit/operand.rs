//! Operands of scalar instructions, and what all operands have in common.

use guestwave_isa::gfx10::{InlineFloat, Inst, NumberKind, Operand, OperandSpec, Special, sreg};

use super::Emit;
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Type, UnOp, Value};

/// The bits of an inline float in each width.
const INLINE_FLOATS: [(InlineFloat, u16, u32, u64); 9] = [
    (InlineFloat::Half, 0x3800, 0x3f00_0000, 0x3fe0_0000_0000_0000),
    (InlineFloat::MinusHalf, 0xb800, 0xbf00_0000, 0xbfe0_0000_0000_0000),
    (InlineFloat::One, 0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000),
    (InlineFloat::MinusOne, 0xbc00, 0xbf80_0000, 0xbff0_0000_0000_0000),
    (InlineFloat::Two, 0x4000, 0x4000_0000, 0x4000_0000_0000_0000),
    (InlineFloat::MinusTwo, 0xc000, 0xc000_0000, 0xc000_0000_0000_0000),
    (InlineFloat::Four, 0x4400, 0x4080_0000, 0x4010_0000_0000_0000),
    (InlineFloat::MinusFour, 0xc400, 0xc080_0000, 0xc010_0000_0000_0000),
    (InlineFloat::InvTwoPi, 0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
];

/// Bases of the 4 GiB of flat addresses that mean LDS and a lane's scratch, as the kernel driver programs them.
pub(in crate::gfx10) const SHARED_BASE: u64 = 0x2000_0000_0000_0000;
pub(in crate::gfx10) const PRIVATE_BASE: u64 = 0x1000_0000_0000_0000;
const LAST_BYTE: u64 = 0xffff_ffff;

const APERTURES: [(Special, u64); 4] = [
    (Special::SharedBase, SHARED_BASE),
    (Special::SharedLimit, SHARED_BASE | LAST_BYTE),
    (Special::PrivateBase, PRIVATE_BASE),
    (Special::PrivateLimit, PRIVATE_BASE | LAST_BYTE),
];

fn inline_float(f: InlineFloat, bits: u16) -> u64 {
    let row = INLINE_FLOATS.iter().find(|r| r.0 == f).unwrap_or(&INLINE_FLOATS[0]);
    match bits {
        16 => u64::from(row.1),
        64 => row.3,
        _ => u64::from(row.2),
    }
}

/// The bits of a constant operand at the width of its place, if it is one.
pub(in crate::gfx10) fn constant(operand: Operand, spec: OperandSpec) -> Option<u64> {
    let mask = if spec.bits >= 64 { u64::MAX } else { (1 << spec.bits.max(16)) - 1 };
    match operand {
        Operand::Int(i) => Some(i64::from(i) as u64 & mask),
        // Packed halves have one inline float, in the low half; integers of 16 bits have none.
        Operand::Float(f) => match (spec.kind, spec.bits) {
            (NumberKind::PackedFloat, _) => Some(inline_float(f, 16)),
            (NumberKind::Int | NumberKind::Uint | NumberKind::Bits, 16) => None,
            (_, bits) => Some(inline_float(f, bits)),
        },
        Operand::Literal(l) => Some(match (spec.bits, spec.kind) {
            (64, NumberKind::Float) => u64::from(l) << 32,
            (64, NumberKind::Int) => i64::from(l as i32) as u64,
            (64, _) => u64::from(l),
            _ => u64::from(l) & mask,
        }),
        _ => None,
    }
}

impl Emit<'_> {
    /// The shape of a source, or a 32-bit one where the tables name none.
    pub(in crate::gfx10) fn source_spec(&self, inst: &Inst, place: usize) -> OperandSpec {
        let plain =
            OperandSpec { kind: NumberKind::Bits, bits: 32, file: guestwave_isa::gfx10::RegisterFile::Any };
        inst.op.row(inst.encoding).and_then(|r| r.src[place]).unwrap_or(plain)
    }

    /// A scalar source at the width of its place: a `B32`, or a `B64` for 64 bits.
    ///
    /// # Errors
    /// It is no scalar, or a mask is wanted as a number where lanes go their own ways.
    pub(in crate::gfx10) fn scalar_source(&mut self, inst: &Inst, place: usize) -> Result<Value, Stop> {
        let spec = self.source_spec(inst, place);
        let mut bits = spec.bits;
        if spec.kind == NumberKind::Mask {
            bits = u16::from(spec.dwords(self.input.source.wave)) * 32;
        }
        let spec = OperandSpec { bits, ..spec };
        let operand = inst.src[place];
        let wide = bits == 64;
        if let Some(c) = constant(operand, spec) {
            return Ok(if wide { self.b.c64(c) } else { self.b.c32(c as u32) });
        }
        match operand {
            Operand::Sgpr(r) => self.scalar_register(inst, r, wide),
            Operand::Special(s) => self.special(inst, s, wide),
            _ => Err(self.refuse(inst, "an operand that is no scalar")),
        }
    }

    pub(in crate::gfx10) fn scalar_register(
        &mut self,
        inst: &Inst,
        r: u8,
        wide: bool,
    ) -> Result<Value, Stop> {
        if !wide {
            return self.sgpr(r);
        }
        if r == sreg::NULL {
            return Ok(self.b.c64(0));
        }
        self.within(inst, r, 2)?;
        let (low, high) = (self.sgpr(r)?, self.sgpr(r + 1)?);
        Ok(self.b.bin(BinOp::Pack, low, high))
    }

    /// A source that is neither register nor constant: a `B32`, or a `B64` if `wide`.
    ///
    /// # Errors
    /// It is one that is not translated, or a vote is wanted where lanes go their own ways.
    pub(in crate::gfx10) fn special(&mut self, inst: &Inst, s: Special, wide: bool) -> Result<Value, Stop> {
        if let Some((_, address)) = APERTURES.iter().find(|(special, _)| *special == s) {
            return Ok(if wide { self.b.c64(*address) } else { self.b.c32(*address as u32) });
        }
        let truth = match s {
            Special::Scc => self.scc()?,
            Special::VccZ => {
                let any = self.register_any(sreg::VCC_LO)?;
                self.b.un(UnOp::Not, any)
            }
            Special::ExecZ => {
                let lanes = self.exec();
                let any = self.any(lanes)?;
                self.b.un(UnOp::Not, any)
            }
            _ => return Err(self.refuse(inst, "a POPS or an LDS-direct source")),
        };
        let word = self.b.un(UnOp::FromBool, truth);
        Ok(if wide { self.b.un(UnOp::Extend, word) } else { word })
    }

    /// Whether a wave-sized scalar register is not zero.
    ///
    /// # Errors
    /// It is a mask, and lanes go their own ways here.
    pub(in crate::gfx10) fn register_any(&mut self, r: u8) -> Result<Value, Stop> {
        if self.state.is_mask(r) {
            let lanes = self.mask(r)?;
            return self.any(lanes);
        }
        let mut number = self.sgpr(r)?;
        if self.input.source.wave == guestwave_isa::gfx10::WaveSize::W64 {
            let high = self.sgpr(r + 1)?;
            number = self.b.bin(BinOp::Or, number, high);
        }
        let zero = self.b.c32(0);
        Ok(self.b.bin(BinOp::Ne, number, zero))
    }

    /// Writes a number of a `B32` or `B64` value to the instruction's scalar destination.
    ///
    /// # Errors
    /// As [`Emit::set_sgprs`]; or the registers run past the last one.
    pub(in crate::gfx10) fn set_scalar(&mut self, inst: &Inst, value: Value) -> Result<(), Stop> {
        let Operand::Sgpr(r) = inst.dst[0] else { return Ok(()) };
        if self.b.info(value).ty == Type::B32 {
            return self.set_sgprs(r, &[value]);
        }
        if r == sreg::NULL {
            return Ok(());
        }
        self.within(inst, r, 2)?;
        let halves = [self.b.un(UnOp::Low, value), self.b.un(UnOp::High, value)];
        self.set_sgprs(r, &halves)
    }
}
