//! Conversions between f16 and f32 by integer arithmetic and one exact multiplication.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value as Ir, types};

use super::Lowering;

/// The f32 whose exponent is 2^112: turns an f16's fields, moved to an f32's places, into the f32 of the same value.
const REBIAS: f32 = f32::from_bits(0x7780_0000);

impl Lowering<'_, '_> {
    fn as_f32(&mut self, bits: Ir) -> Ir {
        self.b.ins().bitcast(types::F32, MemFlagsData::new(), bits)
    }

    fn masked(&mut self, x: Ir, mask: u32) -> Ir {
        let mask = self.c32(mask);
        self.b.ins().band(x, mask)
    }

    /// f16 in the low half of `x` to f32, exact.
    pub(super) fn f32_from_f16(&mut self, x: Ir) -> Ir {
        let magnitude = self.masked(x, 0x7fff);
        let moved = self.b.ins().ishl_imm_u(magnitude, 13);
        let (moved_f, rebias) = (self.as_f32(moved), self.b.ins().f32const(REBIAS));
        let finite = self.b.ins().fmul(moved_f, rebias);
        let finite = self.as_int(finite);
        let exponent = self.c32(0x7f80_0000);
        let special = self.b.ins().bor(moved, exponent);
        let is_special = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, magnitude, 0x7c00);
        let bits = self.b.ins().select(is_special, special, finite);
        self.signed(bits, x, 16)
    }

    /// `bits` with the sign that bit 15 of `x`, moved by `shift`, or bit 31, moved right, gives.
    fn signed(&mut self, bits: Ir, x: Ir, shift: i64) -> Ir {
        let sign = self.masked(x, 0x8000);
        let sign = self.b.ins().ishl_imm_u(sign, shift);
        self.b.ins().bor(bits, sign)
    }

    /// f32 to f16, to nearest even.
    pub(super) fn f16_from_f32(&mut self, x: Ir) -> Ir {
        let magnitude = self.masked(x, 0x7fff_ffff);
        let (normal, small) = (self.f16_normal(magnitude), self.f16_small(magnitude));
        let is_small = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, magnitude, 0x3880_0000);
        let finite = self.b.ins().select(is_small, small, normal);
        let (infinity, nan) = (self.c32(0x7c00), self.c32(0x7e00));
        // From 65520 on, half a step above the largest f16, everything rounds to infinity.
        let overflows = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, magnitude, 0x477f_f000);
        let bits = self.b.ins().select(overflows, infinity, finite);
        let is_nan = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, magnitude, 0x7f80_0000);
        let bits = self.b.ins().select(is_nan, nan, bits);
        let high = self.b.ins().ushr_imm_u(x, 16);
        self.signed(bits, high, 0)
    }

    /// A magnitude that is a normal f16: 13 bits of fraction are rounded away and the exponent is rebiased by -112.
    fn f16_normal(&mut self, magnitude: Ir) -> Ir {
        let last = self.b.ins().ushr_imm_u(magnitude, 13);
        let odd = self.masked(last, 1);
        let rebias = self.c32((112u32 << 23).wrapping_neg().wrapping_add(0xfff));
        let biased = self.b.ins().iadd(magnitude, rebias);
        let rounded = self.b.ins().iadd(biased, odd);
        self.b.ins().ushr_imm_u(rounded, 13)
    }

    /// A magnitude below the normal f16s: adding 0.5 leaves the number of 2^-24ths in the low bits, rounded.
    fn f16_small(&mut self, magnitude: Ir) -> Ir {
        let (f, half) = (self.as_f32(magnitude), self.b.ins().f32const(0.5));
        let sum = self.b.ins().fadd(f, half);
        let bits = self.as_int(sum);
        self.masked(bits, 0x7ff)
    }
}
