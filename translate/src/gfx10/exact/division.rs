//! The three steps that make Newton's division exact: scaling, the last fused step, and the special cases.

use guestwave_isa::gfx10::Op;

use super::Rounding;
use super::format::Format::{self, F16, F32, F64};
use super::row::{Exact, Output, Sources, VectorKind, VectorRow, row, value};
use crate::program::{TriOp, Type, Value};

/// Constants of the steps of a format.
struct Steps {
    /// Powers of two by which scaling moves an operand.
    scale: i32,
    /// Difference of the operands' exponents from which the quotient is near overflow or underflow.
    far: i32,
    /// Difference of the exponents below which the quotient is under the least denormal's half, if scaling lets it be.
    vanishes: Option<i32>,
}

impl Format {
    const fn steps(self) -> Steps {
        match self {
            F16 => Steps { scale: 0, far: 0, vanishes: None },
            F32 => Steps { scale: 64, far: 96, vanishes: Some(-150) },
            F64 => Steps { scale: 128, far: 768, vanishes: Some(-1075) },
        }
    }
}

/// A `B32` constant of a signed number.
fn signed(e: &Exact<'_>, number: i32) -> Value {
    e.c32(number.cast_unsigned())
}

impl Exact<'_> {
    /// The exponent field, a `B32`.
    fn exponent_field(&self, f: Format, bits: Value) -> Value {
        let top = if f == F64 { self.high(bits) } else { bits };
        let fraction = f.fraction_bits() - if f == F64 { 32 } else { 0 };
        self.and(self.shr_u(top, u64::from(fraction)), f.infinity() >> f.fraction_bits())
    }

    /// `v_div_scale`: `value` is one of the other two, and is scaled as that one. The bit is whether the quotient needs the
    /// opposite scaling afterwards. Exponent fields alone decide.
    fn div_scale(&self, f: Format, sources: Sources) -> (Value, Value) {
        let [value, denominator, numerator] = sources.map(|s| self.source(f, s));
        let (d, n) = (self.exponent_field(f, denominator), self.exponent_field(f, numerator));
        let (difference, far) = (self.sub(n, d), f.steps().far);
        let large = self.lt_s(signed(self, far - 1), difference);
        let small = self.lt_s(difference, signed(self, 1 - far));
        // Which one it is mostly stands in the code. Where all are equal both are scaled alike.
        let as_denominator = match value {
            v if v == denominator => self.constant(Type::Bool, 1),
            v if v == numerator => self.constant(Type::Bool, 0),
            v => self.eq(v, denominator),
        };
        let factor = self.scale_factor(f, [d, n], [large, small], as_denominator);
        let product = self.product(f, self.widen(f, value), factor);
        let scaled = self.flush_result(f, self.narrow(f, product));
        let zero = self.min_u(self.size(f, denominator), self.size(f, numerator));
        let nan = self.constant(f.ty(), f.default_nan());
        let result = self.select(self.eq(zero, 0), nan, self.keep_nan(f, value, scaled));
        (result, self.or(large, small))
    }

    /// What `value` is multiplied with, from the exponent fields and whether the quotient is large or small.
    fn scale_factor(
        &self,
        f: Format,
        [d, n]: [Value; 2],
        [large, small]: [Value; 2],
        denominator: Value,
    ) -> Value {
        let carrier = self.carrier(f);
        let by = |exponent| self.constant(carrier.ty(), carrier.power(exponent));
        let (one, up, down) = (by(0), by(f.steps().scale), by(-f.steps().scale));
        let d_zero = self.eq(d, 0);
        let d_top = self.lt_u(self.c32(2 * f.bias() - 2), d);
        let n_low = self.lt_u(n, u64::from(f.fraction_bits() + 2));
        // The rules in order of rising precedence.
        let of_d = self.select(self.and(n_low, self.not(small)), up, one);
        let of_d = self.select(d_top, down, of_d);
        let of_d = self.select(self.or(large, d_zero), up, of_d);
        let of_n = self.select(self.or(small, n_low), up, one);
        let of_n = self.select(d_top, self.select(small, one, down), of_n);
        let of_n = self.select(d_zero, up, of_n);
        let of_n = self.select(large, one, of_n);
        self.select(denominator, of_d, of_n)
    }

    /// `v_div_fmas` of f32: with the mask bit the fused sum is scaled back before its one rounding, up where the addend is
    /// large and down where it is small. Denormal sources are never flushed.
    fn div_fmas_single(&self, sources: Sources, after: Value) -> Value {
        let [x, y, z] = sources.map(|s| self.un(crate::program::UnOp::F64FromF32, s));
        let sum = self.exact_sum(F32, F64, self.times(F64, x, y), z);
        let factor = self.back_scale(F32, sources[2], F64);
        let scaled = self.times(F64, sum, self.select(after, factor, F64.one()));
        let result = self.flush_result(F32, self.single(scaled, self.rounding(F32)));
        self.settle_nan(F32, (F64, scaled), &sources, result)
    }

    /// The factor that scales a sum with the addend `c` back.
    fn back_scale(&self, f: Format, c: Value, carrier: Format) -> Value {
        let two = self.constant(f.ty(), f.power(1));
        let (up, down) = (carrier.power(f.steps().scale), carrier.power(-f.steps().scale));
        self.choose(self.le_u(two, self.size(f, c)), carrier.ty(), [up, down])
    }

    /// The same of f64.
    fn div_fmas_double(&self, sources: Sources, after: Value) -> Value {
        let [a, b, c] = sources;
        if !self.nearest(F64) {
            let two = self.constant(Type::B64, F64.power(1));
            let (up, down) = (self.c32(128), self.c32((-128i32).cast_unsigned()));
            let by = self.select(self.le_u(two, self.size(F64, c)), up, down);
            let scaled = self.directed_fused(sources, self.select(after, by, 0));
            return self.settle_nan(F64, (F64, scaled), &sources, self.flush_result(F64, scaled));
        }
        let sum = self.tri(TriOp::FmaF64, a, b, c);
        let two = self.constant(Type::B64, F64.power(1));
        // With an addend of 2 or more the sum is zero or far from the denormals: scaling up is exact or overflows.
        let up = self.times(F64, sum, F64.power(128));
        let back = self.select(self.le_u(two, self.size(F64, c)), up, self.scaled_down(sources, sum));
        let scaled = self.select(after, back, sum);
        let result = self.flush_result(F64, scaled);
        self.settle_nan(F64, (F64, scaled), &sources, result)
    }

    /// `(a * b + c) * 2^-128` with one rounding, where `sum` is the fused sum and `c` is below 2.
    fn scaled_down(&self, [a, b, c]: Sources, sum: Value) -> Value {
        let a_larger = self.lt_u(self.size(F64, b), self.size(F64, a));
        let (large, small) = (self.select(a_larger, a, b), self.select(a_larger, b, a));
        // Where the sum overflowed, the larger factor can be scaled, and the addend only counts by its sign.
        let overflowed = self.tri(TriOp::FmaF64, self.times(F64, large, F64.power(-128)), small, c);
        let scaled = self.times(F64, sum, F64.power(-128));
        // The second rounding is wrong only where `sum` lies halfway between two denormals of the result and was itself rounded.
        let lost = self.minus(F64, sum, self.times(F64, scaled, F64.power(128)));
        let halfway = self.eq(self.size(F64, lost), F64.power(-947));
        let error = self.fused_error([large, small, c], sum);
        let zero = self.constant(Type::B64, 0);
        let inexact = self.less(F64, zero, self.size(F64, error));
        let same_side = self.not(self.lt_s(self.xor(error, lost), 0));
        let least = self.or(self.and(error, F64.sign()), 1);
        let moved = self.plus(F64, scaled, least);
        let wrong = self.and(halfway, self.and(inexact, same_side));
        let corrected = self.select(wrong, moved, scaled);
        self.select(self.is_infinite(F64, sum), overflowed, corrected)
    }

    /// A number with the sign of `large * small + c - sum` (0 if that is 0), scaled so that nothing underflows. Right where the sum is
    /// between `2^-948` and `2^-893`; there the product is below 4.
    fn fused_error(&self, [large, small, c]: Sources, sum: Value) -> Value {
        let tiny = self.lt_u(self.size(F64, large), F64.power(-500));
        let more = self.choose(tiny, Type::B64, [F64.power(200), F64.one()]);
        let all = |x| self.times(F64, self.times(F64, x, F64.power(1000)), more);
        let (large, small) = (self.times(F64, large, more), self.times(F64, small, F64.power(1000)));
        let (c, sum) = (all(c), all(sum));
        let product = self.times(F64, large, small);
        let product_error = self.tri(TriOp::FmaF64, large, small, self.xor(product, F64.sign()));
        let plain = self.plus(F64, product, c);
        let rest = self.odd_sum(F64, self.sum_error(F64, product, c, plain), product_error);
        self.plus(F64, self.minus(F64, plain, sum), rest)
    }

    /// `v_div_fixup`: the quotient's sign, and what the operands alone decide.
    fn div_fixup(&self, f: Format, sources: Sources) -> Value {
        let [quotient, denominator, numerator] = sources.map(|s| self.source(f, s));
        let sign = self.and(self.xor(denominator, numerator), f.sign());
        // Numbers have no NaN for a quotient: the steps before overflowed.
        let infinity = self.constant(f.ty(), f.infinity());
        let size = self.min_u(self.size(f, quotient), infinity);
        let ordinary =
            self.vanished(f, [denominator, numerator], sign, self.flush_result(f, self.or(sign, size)));
        let [d, n] = [denominator, numerator].map(|s| self.size(f, s));
        let (zero_d, zero_n) = (self.eq(d, 0), self.eq(n, 0));
        let (infinite_d, infinite_n) = (self.eq(d, f.infinity()), self.eq(n, f.infinity()));
        let nothing = self.select(self.or(infinite_d, zero_n), sign, ordinary);
        let endless = self.select(self.or(zero_d, infinite_n), self.or(sign, infinity), nothing);
        let invalid = self.or(self.and(zero_d, zero_n), self.and(infinite_d, infinite_n));
        if !self.careful() {
            return self.select(invalid, self.constant(f.ty(), f.default_nan()), endless);
        }
        let nan = self.lt_u(infinity, self.max_u(d, n));
        self.with_nan(f, self.or(invalid, nan), &[numerator, denominator], endless)
    }

    /// `quotient`, or where the exponents say that it vanishes, zero or the least number as MODE rounds.
    fn vanished(
        &self,
        f: Format,
        [denominator, numerator]: [Value; 2],
        sign: Value,
        quotient: Value,
    ) -> Value {
        let Some(below) = f.steps().vanishes else { return quotient };
        let exponents = [numerator, denominator].map(|s| self.exponent_field(f, s));
        let difference = self.sub(exponents[0], exponents[1]);
        let away = match self.rounding(f) {
            Rounding::NearestEven | Rounding::Zero => sign,
            Rounding::Up => self.select(self.eq(sign, 0), self.constant(f.ty(), 1), sign),
            Rounding::Down => self.select(self.eq(sign, 0), sign, self.or(sign, 1)),
        };
        self.select(self.lt_s(difference, signed(self, below)), self.flush_result(f, away), quotient)
    }
}

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    row(Op::V_DIV_SCALE_F32, VectorKind::MaskOut(|e, s| e.div_scale(F32, s)), Output::F32),
    row(Op::V_DIV_SCALE_F64, VectorKind::MaskOut(|e, s| e.div_scale(F64, s)), Output::F64),
    row(Op::V_DIV_FMAS_F32, VectorKind::MaskIn(|e, s, mask| e.div_fmas_single(s, mask)), Output::F32),
    row(Op::V_DIV_FMAS_F64, VectorKind::MaskIn(|e, s, mask| e.div_fmas_double(s, mask)), Output::F64),
    value(Op::V_DIV_FIXUP_F16, |e, s| e.div_fixup(F16, s), Output::F16),
    value(Op::V_DIV_FIXUP_F32, |e, s| e.div_fixup(F32, s), Output::F32),
    value(Op::V_DIV_FIXUP_F64, |e, s| e.div_fixup(F64, s), Output::F64),
];
