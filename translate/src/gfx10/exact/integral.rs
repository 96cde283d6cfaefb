//! Float operations that take a number apart or put it together: rounding to integers, fraction, exponent, mantissa.

use guestwave_isa::gfx10::Op;

use super::format::Format::{self, F16, F32, F64};
use super::row::{Exact, Output, VectorRow, value};
use crate::program::{BinOp, Type, UnOp, Value};

impl Exact<'_> {
    /// `op` (of f32 and of f64) of a number, exact in the format.
    fn integral(&self, f: Format, [single, double]: [UnOp; 2], a: Value) -> Value {
        let number = self.numeric(f, a);
        let whole = match f {
            F16 => self.un(UnOp::F16FromF32, self.un(single, self.un(UnOp::F32FromF16, number))),
            F32 => self.un(single, number),
            F64 => self.un(double, number),
        };
        self.carry_nan(f, a, whole)
    }

    /// The distance from the integer below, rounded, but never up to 1.0; invalid for an infinity.
    fn fraction(&self, f: Format, a: Value) -> Value {
        let [number] = self.numbers(f, [a]);
        let carrier = self.carrier(f);
        let below = self.un(if carrier == F64 { UnOp::FloorF64 } else { UnOp::FloorF32 }, number);
        let distance = self.difference(f, number, below);
        let least_excluded = self.constant(f.ty(), f.one());
        let narrow = self.flush_result(f, self.narrow(f, distance));
        // 1.0 becomes the largest number below it; as an unsigned integer nothing else changes.
        let result = self.sub(narrow, self.one_if(f, self.eq(narrow, least_excluded)));
        self.settle_nan(f, (carrier, distance), &[a], result)
    }

    fn one_if(&self, f: Format, cond: Value) -> Value {
        let bit = self.number(cond);
        if f == F64 { self.extend(bit) } else { bit }
    }

    /// A number as an f32 or f64 that is not denormal, and by how much its exponent is too large then.
    fn normalized(&self, f: Format, a: Value) -> (Value, Value) {
        let number = self.source(f, a);
        if f == F16 {
            return (self.un(UnOp::F32FromF16, number), self.c32(0));
        }
        if self.flushes_sources(f) {
            return (number, self.c32(0));
        }
        let by = f.fraction_bits() as i32 + 1;
        let tiny = self.is_tiny(f, number);
        let scaled = self.times(f, number, f.power(by));
        let shift = self.constant(Type::B32, by as u64);
        (self.select(tiny, scaled, number), self.select(tiny, shift, 0))
    }

    /// The mantissa in `[0.5, 1)` with the source's sign; zeros and infinities pass.
    fn mantissa(&self, f: Format, a: Value) -> Value {
        let (number, _) = self.normalized(f, a);
        let wide = if f == F64 { F64 } else { F32 };
        let size = self.size(wide, number);
        let special = self.or(self.eq(size, 0), self.eq(size, wide.infinity()));
        let kept = self.and(number, wide.sign() | ((1 << wide.fraction_bits()) - 1));
        let mantissa = self.or(kept, wide.power(-1));
        let wide_result = self.select(special, number, mantissa);
        let result = if f == F16 { self.un(UnOp::F16FromF32, wide_result) } else { wide_result };
        self.keep_nan(f, a, result)
    }

    /// The exponent that belongs to [`Exact::mantissa`]; 0 for zeros, infinities and NaNs.
    fn exponent(&self, f: Format, a: Value) -> Value {
        let (number, scaled) = self.normalized(f, a);
        let (top, bits, bias) = if f == F64 { (self.high(number), 20, 1022) } else { (number, 23, 126) };
        let mask = if f == F64 { 0x7ff } else { 0xff };
        let field = self.and(self.shr_u(top, bits), mask);
        let exponent = self.sub(self.sub(field, bias), scaled);
        let special = self.or(self.is_tiny(if f == F64 { F64 } else { F32 }, number), self.eq(field, mask));
        self.select(special, self.c32(0), exponent)
    }

    /// `a * 2^by` with one rounding.
    fn load_exponent(&self, f: Format, a: Value, by: Value) -> Value {
        let number = self.numeric(f, a);
        match f {
            F16 => {
                let scaled =
                    self.times(F32, self.un(UnOp::F32FromF16, number), self.power_of_two(F32, by, 60));
                self.settle_scaled(F16, self.half(scaled, self.rounding(F16)), a)
            }
            F32 => {
                let scaled =
                    self.times(F64, self.un(UnOp::F64FromF32, number), self.power_of_two(F64, by, 300));
                self.settle_scaled(F32, self.single(scaled, self.rounding(F32)), a)
            }
            F64 => self.settle_scaled(F64, self.scale_double(number, by), a),
        }
    }

    fn settle_scaled(&self, f: Format, number: Value, a: Value) -> Value {
        self.carry_nan(f, a, self.flush_result(f, number))
    }

    /// `2^by` with `by` clamped to `-limit..=limit`.
    fn power_of_two(&self, f: Format, by: Value, limit: u32) -> Value {
        let clamped = self.min_s(self.max_s(by, self.neg(self.c32(limit))), u64::from(limit));
        self.power(f, clamped)
    }

    /// `2^by`, of a normal number.
    pub(super) fn power(&self, f: Format, by: Value) -> Value {
        let field = self.add(by, u64::from(f.bias()));
        if f == F64 { self.pack(self.c32(0), self.shl(field, 20)) } else { self.shl(field, 23) }
    }

    /// An f64 times `2^by`, rounded once. To nearest, every product but the last is exact, or its rounding is lost in a result
    /// that is zero anyhow.
    pub(super) fn scale_double(&self, number: Value, by: Value) -> Value {
        if !self.nearest(F64) {
            let by = self.min_s(self.max_s(by, self.c32((-4000i32).cast_unsigned())), 4000);
            return self.directed_scaled(number, by);
        }
        let (mut number, mut by) = (number, by);
        for _ in 0..2 {
            let (low, high) =
                (self.lt_s(by, self.c32((-1022i32).cast_unsigned())), self.lt_s(self.c32(1023), by));
            let up = self.choose(high, F64.ty(), [F64.power(1023), F64.one()]);
            let factor = self.select(low, self.constant(F64.ty(), F64.power(-969)), up);
            number = self.bin(BinOp::MulF64, number, factor);
            let left = self.select(high, self.c32(1023), 0);
            by = self.sub(by, self.select(low, self.c32((-969i32).cast_unsigned()), left));
        }
        let rest = self.min_s(self.max_s(by, self.c32((-1022i32).cast_unsigned())), 1023);
        self.bin(BinOp::MulF64, number, self.power(F64, rest))
    }
}

const TRUNC: [UnOp; 2] = [UnOp::TruncF32, UnOp::TruncF64];
const CEIL: [UnOp; 2] = [UnOp::CeilF32, UnOp::CeilF64];
const FLOOR: [UnOp; 2] = [UnOp::FloorF32, UnOp::FloorF64];
const ROUND: [UnOp; 2] = [UnOp::RoundF32, UnOp::RoundF64];

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    value(Op::V_TRUNC_F16, |e, [a, ..]| e.integral(F16, TRUNC, a), Output::F16),
    value(Op::V_TRUNC_F32, |e, [a, ..]| e.integral(F32, TRUNC, a), Output::F32),
    value(Op::V_TRUNC_F64, |e, [a, ..]| e.integral(F64, TRUNC, a), Output::F64),
    value(Op::V_CEIL_F16, |e, [a, ..]| e.integral(F16, CEIL, a), Output::F16),
    value(Op::V_CEIL_F32, |e, [a, ..]| e.integral(F32, CEIL, a), Output::F32),
    value(Op::V_CEIL_F64, |e, [a, ..]| e.integral(F64, CEIL, a), Output::F64),
    value(Op::V_FLOOR_F16, |e, [a, ..]| e.integral(F16, FLOOR, a), Output::F16),
    value(Op::V_FLOOR_F32, |e, [a, ..]| e.integral(F32, FLOOR, a), Output::F32),
    value(Op::V_FLOOR_F64, |e, [a, ..]| e.integral(F64, FLOOR, a), Output::F64),
    value(Op::V_RNDNE_F16, |e, [a, ..]| e.integral(F16, ROUND, a), Output::F16),
    value(Op::V_RNDNE_F32, |e, [a, ..]| e.integral(F32, ROUND, a), Output::F32),
    value(Op::V_RNDNE_F64, |e, [a, ..]| e.integral(F64, ROUND, a), Output::F64),
    value(Op::V_FRACT_F16, |e, [a, ..]| e.fraction(F16, a), Output::F16),
    value(Op::V_FRACT_F32, |e, [a, ..]| e.fraction(F32, a), Output::F32),
    value(Op::V_FRACT_F64, |e, [a, ..]| e.fraction(F64, a), Output::F64),
    value(Op::V_FREXP_MANT_F16, |e, [a, ..]| e.mantissa(F16, a), Output::F16),
    value(Op::V_FREXP_MANT_F32, |e, [a, ..]| e.mantissa(F32, a), Output::F32),
    value(Op::V_FREXP_MANT_F64, |e, [a, ..]| e.mantissa(F64, a), Output::F64),
    value(Op::V_FREXP_EXP_I16_F16, |e, [a, ..]| e.exponent(F16, a), Output::B16),
    value(Op::V_FREXP_EXP_I32_F32, |e, [a, ..]| e.exponent(F32, a), Output::B32),
    value(Op::V_FREXP_EXP_I32_F64, |e, [a, ..]| e.exponent(F64, a), Output::B32),
    value(Op::V_LDEXP_F16, |e, [a, b, _]| e.load_exponent(F16, a, e.sext16(b)), Output::F16),
    value(Op::V_LDEXP_F32, |e, [a, b, _]| e.load_exponent(F32, a, b), Output::F32),
    value(Op::V_LDEXP_F64, |e, [a, b, _]| e.load_exponent(F64, a, b), Output::F64),
];
