//! Float arithmetic: f16 is computed in f32, which is as good as once for everything but the fused sum.

use guestwave_isa::mali::valhall::{Op, field};

use super::Lane;
use super::Meaning::{self, Each};
use crate::program::{BinOp, Builder, TriOp, UnOp, Value};

/// f32 plus infinity, 1 and -1.
const INFINITY: u64 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;
const MINUS_ONE: u32 = 0xbf80_0000;

/// An f32 as the bits of a float of 16 or 32 bits, rounded to nearest; every NaN becomes the one that is written.
pub(in crate::valhall) fn encoded(b: &mut Builder, single: Value, bits: u32) -> Value {
    let size = b.with_constant(BinOp::And, single, 0x7fff_ffff);
    let infinity = b.c32(INFINITY as u32);
    let is_nan = b.bin(BinOp::LtU, infinity, size);
    let (value, nan) = match bits {
        16 => (b.un(UnOp::F16FromF32, single), b.c32(0x7e00)),
        _ => (single, b.c32(0x7fc0_0000)),
    };
    b.select(is_nan, nan, value)
}

impl Lane<'_> {
    /// Source `i` as an f32.
    pub(super) fn single(&mut self, i: usize) -> Value {
        if self.inst.row.from.bits() == 16 { self.un(UnOp::F32FromF16, self.s[i]) } else { self.s[i] }
    }

    fn singles<const N: usize>(&mut self) -> [Value; N] {
        std::array::from_fn(|i| self.single(i))
    }

    pub(super) fn encoded(&mut self, single: Value) -> Value {
        let bits = self.bits();
        encoded(self.b, single, bits)
    }

    /// Clamps a result of the type; a NaN becomes the lower bound.
    pub(super) fn clamped_float(&mut self, bits: Value) -> Value {
        let code = self.inst.code(&field::CLAMP);
        if code == 0 {
            return bits;
        }
        let x = if self.bits() == 16 { self.un(UnOp::F32FromF16, bits) } else { bits };
        let (zero, one, minus_one) = (self.b.c32(0), self.b.c32(ONE), self.b.c32(MINUS_ONE));
        let low = if code == 2 {
            let above = self.bin(BinOp::LeF32, minus_one, x);
            self.select(above, x, minus_one)
        } else {
            let above = self.bin(BinOp::LtF32, zero, x);
            self.select(above, x, zero)
        };
        let below = self.bin(BinOp::LtF32, low, one);
        let limited = if code == 1 { low } else { self.select(below, low, one) };
        self.encoded(limited)
    }

    fn finished(&mut self, single: Value) -> Value {
        let bits = self.encoded(single);
        self.clamped_float(bits)
    }

    fn float_add(&mut self) -> Value {
        let [a, b] = self.singles();
        let sum = self.bin(BinOp::AddF32, a, b);
        self.finished(sum)
    }

    fn fused(&mut self) -> Value {
        let [a, b, c] = self.singles();
        if self.bits() == 32 {
            let sum = self.b.tri(TriOp::FmaF32, a, b, c);
            return self.finished(sum);
        }
        // The product is exact in f64. Cut to an f32 whose last bit tells whether anything was lost, the sum is rounded once.
        let [a, b, c] = [a, b, c].map(|x| self.un(UnOp::F64FromF32, x));
        let product = self.bin(BinOp::MulF64, a, b);
        let sum = self.bin(BinOp::AddF64, product, c);
        const LOST: u64 = (1 << 29) - 1;
        let cut = self.with(BinOp::And, sum, !LOST);
        let lost = self.with(BinOp::And, sum, LOST);
        let odd = self.with(BinOp::Ne, lost, 0);
        let odd = self.un(UnOp::FromBool, odd);
        let single = self.un(UnOp::F32FromF64, cut);
        let single = self.bin(BinOp::Or, single, odd);
        self.finished(single)
    }

    /// The least (or greatest) of two: a NaN loses, -0 is below +0.
    fn extreme(&mut self, greatest: bool) -> Value {
        let [a, b] = self.singles();
        let [first_nan, second_nan] = [a, b].map(|x| {
            let size = self.with(BinOp::And, x, 0x7fff_ffff);
            let infinity = self.b.c32(INFINITY as u32);
            self.bin(BinOp::LtU, infinity, size)
        });
        let less = self.bin(BinOp::LtF32, a, b);
        let (if_less, otherwise) = if greatest { (b, a) } else { (a, b) };
        let apart = self.select(less, if_less, otherwise);
        // Equal numbers differ at most in the sign of a zero.
        let equal = self.bin(BinOp::EqF32, a, b);
        let joined = self.bin(if greatest { BinOp::And } else { BinOp::Or }, a, b);
        let number = self.select(equal, joined, apart);
        let number = self.select(second_nan, a, number);
        let chosen = self.select(first_nan, b, number);
        self.finished(chosen)
    }

    fn reciprocal(&mut self) -> Value {
        let [x] = self.singles();
        let one = self.b.c32(ONE);
        let quotient = self.bin(BinOp::DivF32, one, x);
        self.encoded(quotient)
    }

    fn reciprocal_root(&mut self) -> Value {
        let [x] = self.singles();
        let wide = self.un(UnOp::F64FromF32, x);
        let root = self.un(UnOp::SqrtF64, wide);
        let one = self.b.c64(1f64.to_bits());
        let quotient = self.bin(BinOp::DivF64, one, root);
        let single = self.un(UnOp::F32FromF64, quotient);
        self.encoded(single)
    }

    fn flush(&mut self) -> Value {
        let bits = self.s[0];
        let (fraction, infinity) = if self.bits() == 16 { (10, 0x7c00u64) } else { (23, INFINITY) };
        let all = u64::from(u32::MAX >> (32 - self.bits()));
        let sign = all & !(all >> 1);
        let size = self.with(BinOp::And, bits, all >> 1);
        let infinite = self.with(BinOp::Eq, size, infinity);
        let limit = self.b.c32(infinity as u32);
        let is_nan = self.bin(BinOp::LtU, limit, size);
        let mut result = bits;
        if self.inst.code(&field::FLUSH_INF) != 0 {
            let largest = self.with(BinOp::Sub, bits, 1);
            result = self.select(infinite, largest, result);
        }
        if self.inst.code(&field::FTZ) != 0 {
            let tiny = self.with(BinOp::LtU, size, 1 << fraction);
            let zero = self.with(BinOp::And, bits, sign);
            result = self.select(tiny, zero, result);
        }
        let nan = match self.inst.code(&field::NAN_MODE) {
            1 => self.b.c32(0),
            2 => self.with(BinOp::Or, bits, 1 << (fraction - 1)),
            _ => return result,
        };
        self.select(is_nan, nan, result)
    }
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::Fadd, Each(|l| l.float_add())),
    (Op::Fma, Each(|l| l.fused())),
    (Op::Fmin, Each(|l| l.extreme(false))),
    (Op::Fmax, Each(|l| l.extreme(true))),
    (Op::Frcp, Each(|l| l.reciprocal())),
    (Op::Frsq, Each(|l| l.reciprocal_root())),
    (Op::Flush, Each(|l| l.flush())),
];
