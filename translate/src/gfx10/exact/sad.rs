//! Sums of absolute differences of bytes and words, and the average of bytes.

use guestwave_isa::gfx10::Op;

use super::row::{Exact, Output, Sources, VectorKind, VectorRow, row, value};
use crate::program::Value;

impl Exact<'_> {
    fn distance(&self, a: Value, b: Value) -> Value {
        self.sub(self.max_u(a, b), self.min_u(a, b))
    }

    /// Sum of `f` over the fields of `width` bits of two dwords.
    fn over_fields(&self, a: Value, b: Value, width: u64, f: impl Fn(Value, Value) -> Value) -> Value {
        let mask = (1 << width) - 1;
        let term = |at| {
            let [x, y] = [a, b].map(|s| self.and(self.shr_u(s, at), mask));
            f(x, y)
        };
        let first = term(0);
        (1..32 / width).fold(first, |sum, i| self.add(sum, term(i * width)))
    }

    fn sad(&self, a: Value, b: Value, width: u64) -> Value {
        self.over_fields(a, b, width, |x, y| self.distance(x, y))
    }

    /// Sum of the absolute differences of the bytes whose reference is not zero.
    fn masked_sad(&self, a: Value, reference: Value) -> Value {
        let zero = self.c32(0);
        self.over_fields(a, reference, 8, |x, r| self.select(self.eq(r, 0), zero, self.distance(x, r)))
    }

    /// Four sums, over the dwords that start at each of the first four bytes of `a`, in 16-bit accumulators.
    fn quad(&self, a: Value, accumulators: Value, clamp: bool, sum: impl Fn(Value) -> Value) -> Value {
        let one = |i: u64| {
            let accumulator = self.and(self.low(self.shr_u(accumulators, 16 * i)), 0xffff);
            let total = self.add(accumulator, sum(self.low(self.shr_u(a, 8 * i))));
            self.fit_u16(total, clamp)
        };
        let (low, high) = (self.halves(one(0), one(1)), self.halves(one(2), one(3)));
        self.pack(low, high)
    }

    /// As [`Exact::quad`] of masked sums, in 32-bit accumulators.
    fn quad_of_dwords(&self, (a, b): (Value, Value), sums: [Value; 4], clamp: bool) -> [Value; 4] {
        let mut shift = 0u64;
        sums.map(|sum| {
            let window = self.low(self.shr_u(a, shift));
            shift += 8;
            self.add_u32(self.masked_sad(window, b), sum, clamp)
        })
    }

    /// The average of each byte, rounded up where the byte of `c` is odd.
    fn lerp(&self, [a, b, c]: Sources) -> Value {
        let (both, one) = (self.and(a, b), self.xor(a, b));
        let half = self.and(self.shr_u(one, 1), 0x7f7f_7f7f);
        let up = self.and(self.and(one, c), 0x0101_0101);
        self.add(self.add(both, half), up)
    }
}

const fn clamped(op: Op, f: fn(&mut Exact<'_>, Sources, bool) -> Value, output: Output) -> VectorRow {
    row(op, VectorKind::Clamped(f), output)
}

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    clamped(Op::V_SAD_U8, |e, [a, b, c], clamp| e.add_u32(e.sad(a, b, 8), c, clamp), Output::B32),
    clamped(
        Op::V_SAD_HI_U8,
        |e, [a, b, c], clamp| e.add_u32(e.shl(e.sad(a, b, 8), 16), c, clamp),
        Output::B32,
    ),
    clamped(Op::V_SAD_U16, |e, [a, b, c], clamp| e.add_u32(e.sad(a, b, 16), c, clamp), Output::B32),
    clamped(Op::V_SAD_U32, |e, [a, b, c], clamp| e.add_u32(e.distance(a, b), c, clamp), Output::B32),
    clamped(Op::V_MSAD_U8, |e, [a, b, c], clamp| e.add_u32(e.masked_sad(a, b), c, clamp), Output::B32),
    value(Op::V_LERP_U8, |e, s| e.lerp(s), Output::B32),
    clamped(
        Op::V_QSAD_PK_U16_U8,
        |e, [a, b, c], clamp| e.quad(a, c, clamp, |window| e.sad(window, b, 8)),
        Output::B64,
    ),
    clamped(
        Op::V_MQSAD_PK_U16_U8,
        |e, [a, b, c], clamp| e.quad(a, c, clamp, |window| e.masked_sad(window, b)),
        Output::B64,
    ),
    row(Op::V_MQSAD_U32_U8, VectorKind::Quad(|e, ab, c, clamp| e.quad_of_dwords(ab, c, clamp)), Output::B32),
];
