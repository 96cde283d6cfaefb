//! Float addition and multiplication, fused and not, plain and with the DirectX 9 zero rule.

use guestwave_isa::gfx10::Op;

use super::format::Format::{self, F16, F32, F64};
use super::row::{Exact, Output, Sources, VectorRow, value};
use crate::program::{TriOp, Value};

impl Exact<'_> {
    pub(super) fn float_add(&self, f: Format, a: Value, b: Value) -> Value {
        let [x, y] = self.numbers(f, [a, b]);
        self.settle_pair(f, self.sum(f, x, y), [a, b], 0)
    }

    fn float_sub(&self, f: Format, a: Value, b: Value) -> Value {
        let [x, y] = self.numbers(f, [a, b]);
        self.settle_pair(f, self.difference(f, x, y), [a, b], 0)
    }

    /// `b - a`: `a` is still the first source.
    fn float_subrev(&self, f: Format, a: Value, b: Value) -> Value {
        let [x, y] = self.numbers(f, [a, b]);
        self.settle_pair(f, self.difference(f, y, x), [a, b], 0)
    }

    pub(super) fn float_mul(&self, f: Format, a: Value, b: Value) -> Value {
        let [x, y] = self.numbers(f, [a, b]);
        self.settle_pair(f, self.product(f, x, y), [a, b], 1 << f.fraction_bits())
    }

    /// [`Exact::settle`] of a sum or a product. With a finite constant of at least the magnitude `least` it cannot be invalid:
    /// it is a NaN just where the other source is.
    fn settle_pair(&self, f: Format, number: Value, [a, b]: [Value; 2], least: u64) -> Value {
        let safe = |s| self.known(s).is_some_and(|c| (least..f.infinity()).contains(&(c & f.magnitude())));
        let other = match [safe(a), safe(b)] {
            [true, _] => b,
            [_, true] => a,
            _ => return self.settle(f, number, &[a, b]),
        };
        self.carry_nan(f, other, self.flush_result(f, self.narrow(f, number)))
    }

    /// `a * b + c` with one rounding.
    pub(super) fn float_fma(&self, f: Format, sources: Sources) -> Value {
        let [x, y, z] = self.numbers(f, sources);
        self.settle(f, self.fused(f, x, y, z), &sources)
    }

    /// `a * b + c` of f32 with two roundings, in a mode that flushes.
    fn mad(&self, [a, b, c]: Sources) -> Value {
        let [x, y, z] = self.numbers(F32, [a, b, c]);
        if !self.careful() {
            return self.tri(TriOp::FastMadF32, x, y, z);
        }
        let product = self.flush_result(F32, self.narrow(F32, self.product(F32, x, y)));
        self.settle(F32, self.sum(F32, self.widen(F32, product), z), &[a, b, c])
    }

    /// Whether a product is zero by the DirectX 9 rule: a zero factor wins over everything, NaN and infinity included.
    fn zero_factor(&self, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|s| self.size(F32, self.source(F32, s)));
        self.eq(self.min_u(a, b), 0)
    }

    fn mul_legacy(&self, a: Value, b: Value) -> Value {
        let zero = self.c32(0);
        self.select(self.zero_factor(a, b), zero, self.float_mul(F32, a, b))
    }

    /// With a zero product the result is the addend itself.
    fn fma_legacy(&self, [a, b, c]: Sources) -> Value {
        self.select(self.zero_factor(a, b), self.canonical(F32, c), self.float_fma(F32, [a, b, c]))
    }

    fn mad_legacy(&self, [a, b, c]: Sources) -> Value {
        self.select(self.zero_factor(a, b), self.canonical(F32, c), self.mad([a, b, c]))
    }

    /// The lighting product: the most negative number where the specular part is off or the exponent base is out of
    /// range, else the product with the DirectX 9 zero rule.
    fn mullit(&self, [a, b, c]: Sources) -> Value {
        let least = self.constant(F32.ty(), F32.sign() | (F32.infinity() - 1));
        let c = self.source(F32, c);
        let base = self.or(self.is_nan(F32, b), self.le_u(least, b));
        let specular = self.or(self.is_nan(F32, c), self.lt_s(c, 1));
        self.select(self.or(base, specular), least, self.mul_legacy(a, b))
    }
}

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    value(Op::V_ADD_F16, |e, [a, b, _]| e.float_add(F16, a, b), Output::F16),
    value(Op::V_ADD_F32, |e, [a, b, _]| e.float_add(F32, a, b), Output::F32),
    value(Op::V_ADD_F64, |e, [a, b, _]| e.float_add(F64, a, b), Output::F64),
    value(Op::V_SUB_F16, |e, [a, b, _]| e.float_sub(F16, a, b), Output::F16),
    value(Op::V_SUB_F32, |e, [a, b, _]| e.float_sub(F32, a, b), Output::F32),
    value(Op::V_SUBREV_F16, |e, [a, b, _]| e.float_subrev(F16, a, b), Output::F16),
    value(Op::V_SUBREV_F32, |e, [a, b, _]| e.float_subrev(F32, a, b), Output::F32),
    value(Op::V_MUL_F16, |e, [a, b, _]| e.float_mul(F16, a, b), Output::F16),
    value(Op::V_MUL_F32, |e, [a, b, _]| e.float_mul(F32, a, b), Output::F32),
    value(Op::V_MUL_F64, |e, [a, b, _]| e.float_mul(F64, a, b), Output::F64),
    value(Op::V_MUL_LEGACY_F32, |e, [a, b, _]| e.mul_legacy(a, b), Output::F32),
    value(Op::V_MULLIT_F32, |e, s| e.mullit(s), Output::F32),
    value(Op::V_FMA_F16, |e, s| e.float_fma(F16, s), Output::F16),
    value(Op::V_FMA_F32, |e, s| e.float_fma(F32, s), Output::F32),
    value(Op::V_FMA_F64, |e, s| e.float_fma(F64, s), Output::F64),
    value(Op::V_FMAC_F16, |e, s| e.float_fma(F16, s), Output::F16),
    value(Op::V_FMAC_F32, |e, s| e.float_fma(F32, s), Output::F32),
    value(Op::V_FMAMK_F16, |e, s| e.float_fma(F16, s), Output::F16),
    value(Op::V_FMAMK_F32, |e, s| e.float_fma(F32, s), Output::F32),
    value(Op::V_FMAAK_F16, |e, s| e.float_fma(F16, s), Output::F16),
    value(Op::V_FMAAK_F32, |e, s| e.float_fma(F32, s), Output::F32),
    value(Op::V_FMA_LEGACY_F32, |e, s| e.fma_legacy(s), Output::F32),
    value(Op::V_FMAC_LEGACY_F32, |e, s| e.fma_legacy(s), Output::F32),
    value(Op::V_MAD_F32, |e, s| e.flushing32(|e| e.mad(s)), Output::F32),
    value(Op::V_MAC_F32, |e, s| e.flushing32(|e| e.mad(s)), Output::F32),
    value(Op::V_MADMK_F32, |e, s| e.flushing32(|e| e.mad(s)), Output::F32),
    value(Op::V_MADAK_F32, |e, s| e.flushing32(|e| e.mad(s)), Output::F32),
    value(Op::V_MAD_LEGACY_F32, |e, s| e.flushing32(|e| e.mad_legacy(s)), Output::F32),
    value(Op::V_MAC_LEGACY_F32, |e, s| e.flushing32(|e| e.mad_legacy(s)), Output::F32),
];
