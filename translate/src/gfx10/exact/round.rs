//! Rounding once: carriers wide enough for the exact value, or for it *rounded to odd*, and the step to the format.
//!
//! To nearest even, f32 and f64 are computed in themselves, and f16 in f32: with 24 bits against 11, rounding sums and products
//! twice is as good as once. The fused f16 sum and every directed rounding go through a carrier that holds the product exactly
//! (f32 for f16, f64 for f32), a sum there that is rounded to odd, and one rounding of that: what was lost in the carrier
//! then only shows as an odd last bit, which decides no tie. f64 has no carrier: its directed results are made of integers.

use super::format::Format;
use super::{Exact, Rounding};
use crate::program::{BinOp, TriOp, UnOp, Value};

impl Exact<'_> {
    pub(super) fn nearest(&self, f: Format) -> bool {
        self.rounding(f) == Rounding::NearestEven
    }

    /// The format that results of `f` are computed in.
    pub(super) fn carrier(&self, f: Format) -> Format {
        match f {
            Format::F16 => Format::F32,
            Format::F32 if self.nearest(f) => Format::F32,
            Format::F32 | Format::F64 => Format::F64,
        }
    }

    /// A number in its carrier.
    pub(super) fn widen(&self, f: Format, bits: Value) -> Value {
        match f {
            Format::F16 => self.un(UnOp::F32FromF16, bits),
            Format::F32 if !self.nearest(f) => self.un(UnOp::F64FromF32, bits),
            Format::F32 | Format::F64 => bits,
        }
    }

    /// Sources as numbers in the carrier.
    pub(super) fn numbers<const N: usize>(&self, f: Format, sources: [Value; N]) -> [Value; N] {
        sources.map(|s| self.widen(f, self.numeric(f, s)))
    }

    /// `single` for carriers of f32, `double` for f64.
    fn float(
        &self,
        carrier: Format,
        [single, double]: [BinOp; 2],
        x: Value,
        y: impl super::term::Arg,
    ) -> Value {
        self.bin(if carrier == Format::F64 { double } else { single }, x, y)
    }

    pub(super) fn plus(&self, carrier: Format, x: Value, y: Value) -> Value {
        self.float(carrier, [BinOp::AddF32, BinOp::AddF64], x, y)
    }

    pub(super) fn minus(&self, carrier: Format, x: Value, y: Value) -> Value {
        self.float(carrier, [BinOp::SubF32, BinOp::SubF64], x, y)
    }

    pub(super) fn times(&self, carrier: Format, x: Value, y: impl super::term::Arg) -> Value {
        self.float(carrier, [BinOp::MulF32, BinOp::MulF64], x, y)
    }

    pub(super) fn less(&self, carrier: Format, x: Value, y: Value) -> Value {
        self.float(carrier, [BinOp::LtF32, BinOp::LtF64], x, y)
    }

    pub(super) fn less_or_equal(&self, carrier: Format, x: Value, y: Value) -> Value {
        self.float(carrier, [BinOp::LeF32, BinOp::LeF64], x, y)
    }

    pub(super) fn equal(&self, carrier: Format, x: Value, y: Value) -> Value {
        self.float(carrier, [BinOp::EqF32, BinOp::EqF64], x, y)
    }

    /// `x + y` of numbers of `f` in the carrier.
    pub(super) fn sum(&self, f: Format, x: Value, y: Value) -> Value {
        let carrier = self.carrier(f);
        if self.nearest(f) { self.plus(carrier, x, y) } else { self.directed_sum(f, x, y) }
    }

    /// `x - y` likewise.
    pub(super) fn difference(&self, f: Format, x: Value, y: Value) -> Value {
        let carrier = self.carrier(f);
        if self.nearest(f) {
            self.minus(carrier, x, y)
        } else {
            self.directed_sum(f, x, self.xor(y, carrier.sign()))
        }
    }

    /// `x * y` likewise: exact wherever it is rounded again.
    pub(super) fn product(&self, f: Format, x: Value, y: Value) -> Value {
        match f {
            Format::F64 if !self.nearest(f) => self.directed_product(x, y),
            _ => self.times(self.carrier(f), x, y),
        }
    }

    /// `x * y + z` likewise.
    pub(super) fn fused(&self, f: Format, x: Value, y: Value, z: Value) -> Value {
        match f {
            Format::F32 if !self.careful() => self.tri(TriOp::FastMadF32, x, y, z),
            Format::F16 if !self.careful() => self.tri(TriOp::FastMadF32, x, y, z),
            Format::F32 if self.nearest(f) => self.tri(TriOp::FmaF32, x, y, z),
            Format::F64 if self.nearest(f) => self.tri(TriOp::FmaF64, x, y, z),
            Format::F64 => self.directed_fused([x, y, z], self.c32(0)),
            Format::F16 | Format::F32 => {
                let product = self.times(self.carrier(f), x, y);
                self.directed_sum(f, product, z)
            }
        }
    }

    /// `x + y` in the carrier, rounded to odd; of f64, which has no carrier, rounded by MODE.
    fn directed_sum(&self, f: Format, x: Value, y: Value) -> Value {
        if f == Format::F64 {
            return self.directed_fused([x, self.constant(f.ty(), f.one()), y], self.c32(0));
        }
        self.exact_sum(f, self.carrier(f), x, y)
    }

    /// `x + y` in the carrier `c`, rounded to odd, with the sign that MODE gives an exact zero of operands of opposite signs.
    pub(super) fn exact_sum(&self, f: Format, c: Format, x: Value, y: Value) -> Value {
        let sum = self.odd_sum(c, x, y);
        if self.rounding(f) != Rounding::Down {
            return sum;
        }
        let zero = self.eq(self.size(c, sum), 0);
        self.select(zero, self.and(self.or(x, y), c.sign()), sum)
    }

    /// The error of `sum`, which is `x + y` rounded to nearest: exact if nothing overflows.
    pub(super) fn sum_error(&self, c: Format, x: Value, y: Value, sum: Value) -> Value {
        let of_y = self.minus(c, sum, x);
        let of_x = self.minus(c, sum, of_y);
        self.plus(c, self.minus(c, x, of_x), self.minus(c, y, of_y))
    }

    /// `x + y` rounded to odd: cut off, and the last bit set if that lost anything.
    pub(super) fn odd_sum(&self, c: Format, x: Value, y: Value) -> Value {
        let sum = self.plus(c, x, y);
        let error = self.sum_error(c, x, y, sum);
        self.to_odd(c, sum, error)
    }

    /// A number rounded to nearest and its error, as the number rounded to odd.
    pub(super) fn to_odd(&self, c: Format, nearest: Value, error: Value) -> Value {
        // Of an infinity the error is a NaN, for which this is false.
        let zero = self.constant(c.ty(), 0);
        let inexact = self.less(c, zero, self.size(c, error));
        let beyond = self.lt_s(self.xor(error, nearest), 0);
        let cut = self.select(beyond, self.sub(nearest, 1), nearest);
        self.select(inexact, self.or(cut, 1), nearest)
    }

    /// The carrier's number in the format, rounded by MODE.
    pub(super) fn narrow(&self, f: Format, number: Value) -> Value {
        match f {
            Format::F16 => self.half(number, self.rounding(f)),
            Format::F32 if !self.nearest(f) => self.single(number, self.rounding(f)),
            Format::F32 | Format::F64 => number,
        }
    }

    /// An f32 as an f16.
    pub(super) fn half(&self, number: Value, rounding: Rounding) -> Value {
        if rounding == Rounding::Zero {
            return self.cut_half(number);
        }
        let nearest = self.un(UnOp::F16FromF32, number);
        let back = |e: &Self| e.un(UnOp::F32FromF16, nearest);
        self.redirected(Format::F32, number, nearest, self.sext16(nearest), back, rounding)
    }

    /// An f32 cut off to an f16: two integer shifts are less than a conversion there and back.
    fn cut_half(&self, number: Value) -> Value {
        let size = self.size(Format::F32, number);
        let rebased = self.sub(self.shr_u(size, 13), (127 - 15) << 10);
        let normal = self.min_u(rebased, Format::F16.infinity() - 1);
        // Below 2^-14 the fraction counts units of 2^-24: all of the significand but its last 126 - exponent bits.
        let significand = self.or(self.and(size, 0x7f_ffff), 0x80_0000);
        let lost = self.min_u(self.sub(self.c32(126), self.shr_u(size, 23)), 25);
        let least = self.constant(Format::F32.ty(), Format::F32.power(-14));
        let finite = self.select(self.le_u(least, size), normal, self.shr_u(significand, lost));
        let infinity = self.constant(Format::F16.ty(), Format::F16.infinity());
        let cut = self.select(self.eq(size, Format::F32.infinity()), infinity, finite);
        self.or(cut, self.and(self.shr_u(number, 16), Format::F16.sign()))
    }

    /// An f64 as an f32.
    pub(super) fn single(&self, number: Value, rounding: Rounding) -> Value {
        let nearest = self.un(UnOp::F32FromF64, number);
        let back = |e: &Self| e.un(UnOp::F64FromF32, nearest);
        self.redirected(Format::F64, number, nearest, nearest, back, rounding)
    }

    /// `nearest`, or its neighbour where `rounding` wants that: `signed` has its sign, `back` is its value in the carrier.
    fn redirected(
        &self,
        c: Format,
        number: Value,
        nearest: Value,
        signed: Value,
        back: impl Fn(&Self) -> Value,
        rounding: Rounding,
    ) -> Value {
        let away = || self.or(self.shr_s(signed, 31), 1);
        match rounding {
            Rounding::NearestEven => nearest,
            Rounding::Zero => {
                let beyond = self.less(c, self.size(c, number), self.size(c, back(self)));
                self.sub(nearest, self.number(beyond))
            }
            Rounding::Up => {
                let below = self.less(c, back(self), number);
                self.select(below, self.add(nearest, away()), nearest)
            }
            Rounding::Down => {
                let above = self.less(c, number, back(self));
                self.select(above, self.sub(nearest, away()), nearest)
            }
        }
    }

    /// What an operation stores: the carrier's number rounded and flushed, or the NaN that comes from the sources.
    pub(super) fn settle(&self, f: Format, number: Value, sources: &[Value]) -> Value {
        let result = self.flush_result(f, self.narrow(f, number));
        self.settle_nan(f, (self.carrier(f), number), sources, result)
    }
}
