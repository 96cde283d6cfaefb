//! Sums of absolute differences of bytes and words, and the average of bytes.

use super::output::fit;
use super::{Mode, Output, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

/// Sum over the fields of `width` bits of two dwords.
fn over_fields(a: u64, b: u64, width: u32, f: fn(u64, u64) -> u64) -> i128 {
    let mask = (1u64 << width) - 1;
    (0..32).step_by(width as usize).map(|at| i128::from(f(a >> at & mask, b >> at & mask))).sum()
}

/// Sum of the absolute differences of the fields.
fn sad(a: u64, b: u64, width: u32) -> i128 {
    over_fields(a, b, width, u64::abs_diff)
}

/// Sum of the absolute differences of the bytes whose reference is not zero.
fn masked_sad(a: u64, reference: u64) -> i128 {
    over_fields(a, reference, 8, |x, r| if r == 0 { 0 } else { x.abs_diff(r) })
}

/// Four sums, over the dwords that start at each of the first four bytes of `a`, in 16-bit accumulators.
fn quad(a: u64, accumulators: u64, clamp: bool, sum: impl Fn(u64) -> i128) -> u64 {
    let one = |i: u32| {
        let accumulator = i128::from(accumulators >> (16 * i) & 0xffff);
        fit(Output::U16, accumulator + sum(a >> (8 * i)), clamp) << (16 * i)
    };
    one(0) | one(1) | one(2) | one(3)
}

fn quad_sad([a, b, c]: Sources, clamp: bool) -> u64 {
    quad(a, c, clamp, |window| sad(window, b, 8))
}

fn quad_masked_sad([a, b, c]: Sources, clamp: bool) -> u64 {
    quad(a, c, clamp, |window| masked_sad(window, b))
}

/// As [`quad_masked_sad`], in 32-bit accumulators.
fn quad_masked_sad_32(a: u64, b: u32, c: [u32; 4], clamp: bool) -> [u32; 4] {
    let one = |i: usize| {
        let exact = i128::from(c[i]) + masked_sad(a >> (8 * i), b.into());
        fit(Output::U32, exact, clamp) as u32
    };
    [one(0), one(1), one(2), one(3)]
}

/// The average of each byte, rounded up where the byte of `c` is odd.
fn lerp(_: &Mode, [a, b, c]: Sources) -> u64 {
    let byte = |at: u32| ((a >> at & 0xff) + (b >> at & 0xff) + (c >> at & 1)) >> 1 << at;
    byte(0) | byte(8) | byte(16) | byte(24)
}

const fn sum(op: Op, f: fn(Sources) -> i128) -> VectorRow {
    VectorRow::new(op, VectorOp::Integer(f), Output::U32)
}

pub(super) const ROWS: &[VectorRow] = &[
    sum(Op::V_SAD_U8, |[a, b, c]| sad(a, b, 8) + i128::from(c)),
    sum(Op::V_SAD_HI_U8, |[a, b, c]| (sad(a, b, 8) << 16) + i128::from(c)),
    sum(Op::V_SAD_U16, |[a, b, c]| sad(a, b, 16) + i128::from(c)),
    sum(Op::V_SAD_U32, |[a, b, c]| sad(a, b, 32) + i128::from(c)),
    sum(Op::V_MSAD_U8, |[a, b, c]| masked_sad(a, b) + i128::from(c)),
    VectorRow::new(Op::V_LERP_U8, VectorOp::Value(lerp), Output::U32),
    VectorRow::new(Op::V_QSAD_PK_U16_U8, VectorOp::Clamped(quad_sad), Output::U64),
    VectorRow::new(Op::V_MQSAD_PK_U16_U8, VectorOp::Clamped(quad_masked_sad), Output::U64),
    VectorRow::new(Op::V_MQSAD_U32_U8, VectorOp::Quad(quad_masked_sad_32), Output::U32),
];
