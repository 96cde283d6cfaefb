//! Integer arithmetic. What the destination cannot hold wraps or, where the operation saturates with CLAMP, saturates.

use guestwave_isa::gfx10::Op;

use super::row::{Exact, Output, Sources, VectorKind, VectorRow, row, value};
use crate::program::Value;

impl Exact<'_> {
    fn low24(&self, a: Value) -> Value {
        self.and(a, 0xff_ffff)
    }

    fn sext24(&self, a: Value) -> Value {
        self.shr_s(self.shl(a, 8), 8)
    }

    /// The largest value of the sign of `of`, as signed 32 or 64 bits.
    fn limit(&self, of: Value, wide: bool) -> Value {
        if wide {
            self.xor(self.shr_s(of, 63), u64::MAX >> 1)
        } else {
            self.xor(self.shr_s(of, 31), u64::from(u32::MAX >> 1))
        }
    }

    /// Whether a signed sum overflowed.
    fn sum_overflows(&self, a: Value, b: Value, sum: Value) -> Value {
        self.lt_s(self.and(self.xor(a, sum), self.xor(b, sum)), 0)
    }

    /// `a + b`, unsigned 32 bits.
    pub(super) fn add_u32(&self, a: Value, b: Value, clamp: bool) -> Value {
        let sum = self.add(a, b);
        if clamp { self.select(self.lt_u(sum, a), self.c32(u32::MAX), sum) } else { sum }
    }

    /// `a - b`, unsigned 32 bits.
    fn sub_u32(&self, a: Value, b: Value, clamp: bool) -> Value {
        let difference = self.sub(a, b);
        if clamp { self.select(self.lt_u(a, b), self.c32(0), difference) } else { difference }
    }

    /// `a + b`, signed 32 bits.
    pub(super) fn add_i32(&self, a: Value, b: Value, clamp: bool) -> Value {
        let sum = self.add(a, b);
        if clamp { self.select(self.sum_overflows(a, b, sum), self.limit(a, false), sum) } else { sum }
    }

    /// `a - b`, signed 32 bits.
    fn sub_i32(&self, a: Value, b: Value, clamp: bool) -> Value {
        let difference = self.sub(a, b);
        if !clamp {
            return difference;
        }
        let overflow = self.lt_s(self.and(self.xor(a, b), self.xor(a, difference)), 0);
        self.select(overflow, self.limit(a, false), difference)
    }

    /// A signed integer that fits 32 bits, in 16.
    pub(super) fn fit_i16(&self, exact: Value, clamp: bool) -> Value {
        if clamp { self.min_s(self.max_s(exact, self.c32(0xffff_8000)), 0x7fff) } else { exact }
    }

    /// An integer of 0 or more that fits 32 bits, in unsigned 16.
    pub(super) fn fit_u16(&self, exact: Value, clamp: bool) -> Value {
        if clamp { self.min_u(exact, 0xffff) } else { exact }
    }

    /// A difference of two 16-bit integers, in unsigned 16.
    pub(super) fn fit_difference_u16(&self, exact: Value, clamp: bool) -> Value {
        if clamp { self.max_s(exact, 0) } else { exact }
    }

    /// A signed integer of 64 bits in 32.
    pub(super) fn fit_i32(&self, exact: Value) -> Value {
        let least = self.constant(crate::program::Type::B64, i64::from(i32::MIN).cast_unsigned());
        self.low(self.min_s(self.max_s(exact, least), 0x7fff_ffff))
    }

    /// An unsigned integer of 64 bits in 32.
    pub(super) fn fit_u32(&self, exact: Value) -> Value {
        self.low(self.min_u(exact, u64::from(u32::MAX)))
    }

    fn wide_mul_s(&self, a: Value, b: Value) -> Value {
        self.mul(self.extend_s(a), self.extend_s(b))
    }

    fn wide_mul_u(&self, a: Value, b: Value) -> Value {
        self.mul(self.extend(a), self.extend(b))
    }

    /// `a * b + c` of signed factors that are extended already.
    fn mad_i32(&self, a: Value, b: Value, c: Value, clamp: bool) -> Value {
        if clamp {
            self.fit_i32(self.add(self.wide_mul_s(a, b), self.extend_s(c)))
        } else {
            self.add(self.mul(a, b), c)
        }
    }

    /// The same of unsigned factors.
    fn mad_u32(&self, a: Value, b: Value, c: Value, clamp: bool) -> Value {
        if clamp {
            self.fit_u32(self.add(self.wide_mul_u(a, b), self.extend(c)))
        } else {
            self.add(self.mul(a, b), c)
        }
    }

    fn mad_i16(&self, sources: Sources, clamp: bool) -> Value {
        let [a, b, c] = sources.map(|s| self.sext16(s));
        self.fit_i16(self.add(self.mul(a, b), c), clamp)
    }

    fn mad_u16(&self, [a, b, c]: Sources, clamp: bool) -> Value {
        self.fit_u16(self.add(self.mul(a, b), c), clamp)
    }

    fn median_u(&self, [a, b, c]: Sources) -> Value {
        self.min_u(self.max_u(a, b), self.max_u(self.min_u(a, b), c))
    }

    fn median_s(&self, [a, b, c]: Sources) -> Value {
        self.min_s(self.max_s(a, b), self.max_s(self.min_s(a, b), c))
    }

    /// Sum and carry of two sources and a carry.
    fn add_carry(&self, [a, b]: [Value; 2], carry: Value, clamp: bool) -> (Value, Value) {
        let first = self.add(a, b);
        let bit = self.number(carry);
        let sum = self.add(first, bit);
        let (from_first, from_bit) = (self.lt_u(first, a), self.lt_u(sum, bit));
        let out = if self.known(carry) == Some(0) { from_first } else { self.or(from_first, from_bit) };
        (if clamp { self.select(out, self.c32(u32::MAX), sum) } else { sum }, out)
    }

    /// Difference and borrow of two sources and a borrow.
    fn sub_borrow(&self, [a, b]: [Value; 2], borrow: Value, clamp: bool) -> (Value, Value) {
        let first = self.sub(a, b);
        let bit = self.number(borrow);
        let difference = self.sub(first, bit);
        let (from_first, from_bit) = (self.lt_u(a, b), self.lt_u(first, bit));
        let out = if self.known(borrow) == Some(0) { from_first } else { self.or(from_first, from_bit) };
        (if clamp { self.select(out, self.c32(0), difference) } else { difference }, out)
    }

    fn mad_u64(&self, [a, b, c]: Sources, clamp: bool) -> (Value, Value) {
        let sum = self.add(self.wide_mul_u(a, b), c);
        let carry = self.lt_u(sum, c);
        (if clamp { self.select(carry, self.or(sum, u64::MAX), sum) } else { sum }, carry)
    }

    /// The carry is the sign of the exact sum.
    fn mad_i64(&self, [a, b, c]: Sources, clamp: bool) -> (Value, Value) {
        let product = self.wide_mul_s(a, b);
        let sum = self.add(product, c);
        let overflow = self.and(self.xor(product, sum), self.xor(c, sum));
        let carry = self.lt_s(self.xor(overflow, sum), 0);
        let limited = |sum| self.select(self.lt_s(overflow, 0), self.limit(c, true), sum);
        (if clamp { limited(sum) } else { sum }, carry)
    }
}

const fn clamped(op: Op, f: fn(&mut Exact<'_>, Sources, bool) -> Value, output: Output) -> VectorRow {
    row(op, VectorKind::Clamped(f), output)
}

type CarryFn = fn(&mut Exact<'_>, Sources, Value, bool) -> (Value, Value);

const fn carry(op: Op, f: CarryFn, output: Output) -> VectorRow {
    row(op, VectorKind::Carry(f), output)
}

use Output::{B16, B32, B64};

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    clamped(Op::V_ADD_NC_U32, |e, [a, b, _], c| e.add_u32(a, b, c), B32),
    clamped(Op::V_SUB_NC_U32, |e, [a, b, _], c| e.sub_u32(a, b, c), B32),
    clamped(Op::V_SUBREV_NC_U32, |e, [a, b, _], c| e.sub_u32(b, a, c), B32),
    clamped(Op::V_ADD_NC_I32, |e, [a, b, _], c| e.add_i32(a, b, c), B32),
    clamped(Op::V_SUB_NC_I32, |e, [a, b, _], c| e.sub_i32(a, b, c), B32),
    clamped(Op::V_ADD_NC_U16, |e, [a, b, _], c| e.fit_u16(e.add(a, b), c), B16),
    clamped(Op::V_SUB_NC_U16, |e, [a, b, _], c| e.fit_difference_u16(e.sub(a, b), c), B16),
    clamped(Op::V_ADD_NC_I16, |e, [a, b, _], c| e.fit_i16(e.add(e.sext16(a), e.sext16(b)), c), B16),
    clamped(Op::V_SUB_NC_I16, |e, [a, b, _], c| e.fit_i16(e.sub(e.sext16(a), e.sext16(b)), c), B16),
    clamped(Op::V_MUL_I32_I24, |e, [a, b, _], c| e.mad_i32(e.sext24(a), e.sext24(b), e.c32(0), c), B32),
    clamped(Op::V_MUL_U32_U24, |e, [a, b, _], c| e.mad_u32(e.low24(a), e.low24(b), e.c32(0), c), B32),
    clamped(Op::V_MAD_I32_I24, |e, [a, b, d], c| e.mad_i32(e.sext24(a), e.sext24(b), d, c), B32),
    clamped(Op::V_MAD_U32_U24, |e, [a, b, d], c| e.mad_u32(e.low24(a), e.low24(b), d, c), B32),
    clamped(Op::V_MAD_I32_I16, |e, [a, b, d], c| e.mad_i32(e.sext16(a), e.sext16(b), d, c), B32),
    clamped(Op::V_MAD_U32_U16, |e, [a, b, d], c| e.mad_u32(a, b, d, c), B32),
    clamped(Op::V_MAD_I16, |e, s, c| e.mad_i16(s, c), B16),
    clamped(Op::V_MAD_U16, |e, s, c| e.mad_u16(s, c), B16),
    value(Op::V_ADD3_U32, |e, [a, b, c]| e.add(e.add(a, b), c), B32),
    value(Op::V_XAD_U32, |e, [a, b, c]| e.add(e.xor(a, b), c), B32),
    value(Op::V_LSHL_ADD_U32, |e, [a, b, c]| e.add(e.shl(a, b), c), B32),
    value(Op::V_ADD_LSHL_U32, |e, [a, b, c]| e.shl(e.add(a, b), c), B32),
    value(Op::V_MUL_LO_U16, |e, [a, b, _]| e.mul(a, b), B16),
    value(Op::V_MUL_LO_U32, |e, [a, b, _]| e.mul(a, b), B32),
    value(Op::V_MUL_LO_I32, |e, [a, b, _]| e.mul(a, b), B32),
    value(Op::V_MUL_HI_U32, |e, [a, b, _]| e.mul_high_u(a, b), B32),
    value(Op::V_MUL_HI_I32, |e, [a, b, _]| e.mul_high_s(a, b), B32),
    value(Op::V_MUL_HI_U32_U24, |e, [a, b, _]| e.mul_high_u(e.low24(a), e.low24(b)), B32),
    value(Op::V_MUL_HI_I32_I24, |e, [a, b, _]| e.mul_high_s(e.sext24(a), e.sext24(b)), B32),
    value(Op::V_MIN_U16, |e, [a, b, _]| e.min_u(a, b), B16),
    value(Op::V_MAX_U16, |e, [a, b, _]| e.max_u(a, b), B16),
    value(Op::V_MIN_I16, |e, [a, b, _]| e.min_s(e.sext16(a), e.sext16(b)), B16),
    value(Op::V_MAX_I16, |e, [a, b, _]| e.max_s(e.sext16(a), e.sext16(b)), B16),
    value(Op::V_MIN_U32, |e, [a, b, _]| e.min_u(a, b), B32),
    value(Op::V_MAX_U32, |e, [a, b, _]| e.max_u(a, b), B32),
    value(Op::V_MIN_I32, |e, [a, b, _]| e.min_s(a, b), B32),
    value(Op::V_MAX_I32, |e, [a, b, _]| e.max_s(a, b), B32),
    value(Op::V_MIN3_U16, |e, [a, b, c]| e.min_u(e.min_u(a, b), c), B16),
    value(Op::V_MAX3_U16, |e, [a, b, c]| e.max_u(e.max_u(a, b), c), B16),
    value(Op::V_MED3_U16, |e, s| e.median_u(s), B16),
    value(Op::V_MIN3_I16, |e, [a, b, c]| e.min_s(e.min_s(e.sext16(a), e.sext16(b)), e.sext16(c)), B16),
    value(Op::V_MAX3_I16, |e, [a, b, c]| e.max_s(e.max_s(e.sext16(a), e.sext16(b)), e.sext16(c)), B16),
    value(Op::V_MED3_I16, |e, s| e.median_s(s.map(|s| e.sext16(s))), B16),
    value(Op::V_MIN3_U32, |e, [a, b, c]| e.min_u(e.min_u(a, b), c), B32),
    value(Op::V_MAX3_U32, |e, [a, b, c]| e.max_u(e.max_u(a, b), c), B32),
    value(Op::V_MED3_U32, |e, s| e.median_u(s), B32),
    value(Op::V_MIN3_I32, |e, [a, b, c]| e.min_s(e.min_s(a, b), c), B32),
    value(Op::V_MAX3_I32, |e, [a, b, c]| e.max_s(e.max_s(a, b), c), B32),
    value(Op::V_MED3_I32, |e, s| e.median_s(s), B32),
    carry(Op::V_ADD_CO_U32, |e, [a, b, _], m, c| e.add_carry([a, b], m, c), B32),
    carry(Op::V_SUB_CO_U32, |e, [a, b, _], m, c| e.sub_borrow([a, b], m, c), B32),
    carry(Op::V_SUBREV_CO_U32, |e, [a, b, _], m, c| e.sub_borrow([b, a], m, c), B32),
    carry(Op::V_ADD_CO_CI_U32, |e, [a, b, _], m, c| e.add_carry([a, b], m, c), B32),
    carry(Op::V_SUB_CO_CI_U32, |e, [a, b, _], m, c| e.sub_borrow([a, b], m, c), B32),
    carry(Op::V_SUBREV_CO_CI_U32, |e, [a, b, _], m, c| e.sub_borrow([b, a], m, c), B32),
    carry(Op::V_MAD_U64_U32, |e, s, _, c| e.mad_u64(s, c), B64),
    carry(Op::V_MAD_I64_I32, |e, s, _, c| e.mad_i64(s, c), B64),
];
