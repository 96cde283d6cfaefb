//! Cube map face selection. The sources are the coordinates x, y and z.

use super::format::{F32, Format, first_nan, is_denormal, is_negative, magnitude};
use super::{Mode, Output, Sources, VectorOp, VectorRow, arith};
use crate::gfx10::Op;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    X,
    Y,
    Z,
}

/// The axis of the largest magnitude, z before y before x, and whether its coordinate is below zero. Denormals
/// count as zeros, and a comparison with a NaN fails.
fn major(sources: Sources) -> (Axis, bool) {
    let flushed = sources.map(|s| if is_denormal::<F32>(s) { 0 } else { s });
    let at_least = |a: usize, b: usize| {
        first_nan::<F32>(&[flushed[a], flushed[b]]).is_none()
            && magnitude::<F32>(flushed[a]) >= magnitude::<F32>(flushed[b])
    };
    let axis = match (at_least(2, 0) && at_least(2, 1), at_least(1, 0)) {
        (true, _) => Axis::Z,
        (false, true) => Axis::Y,
        (false, false) => Axis::X,
    };
    let coordinate = flushed[axis as usize];
    let below_zero = is_negative::<F32>(coordinate)
        && magnitude::<F32>(coordinate) != 0
        && first_nan::<F32>(&[coordinate]).is_none();
    (axis, below_zero)
}

/// 0 for +x, 1 for -x, then y and z.
fn face(_: &Mode, sources: Sources) -> u64 {
    let (axis, below_zero) = major(sources);
    u64::from((f32::from(axis as u8 * 2 + u8::from(below_zero))).to_bits())
}

/// A coordinate passed on, negated or not.
fn coordinate(bits: u64, negate: bool) -> u64 {
    let bits = if negate { bits ^ F32::SIGN } else { bits };
    first_nan::<F32>(&[bits]).unwrap_or(bits)
}

fn s_coordinate(_: &Mode, sources: Sources) -> u64 {
    let [x, _, z] = sources;
    match major(sources) {
        (Axis::Z, below_zero) => coordinate(x, below_zero),
        (Axis::Y, _) => coordinate(x, false),
        (Axis::X, below_zero) => coordinate(z, !below_zero),
    }
}

fn t_coordinate(_: &Mode, sources: Sources) -> u64 {
    let [_, y, z] = sources;
    match major(sources) {
        (Axis::Y, below_zero) => coordinate(z, below_zero),
        _ => coordinate(y, true),
    }
}

/// Twice the major coordinate; zeros and denormals give +0.
fn major_coordinate(mode: &Mode, sources: Sources) -> u64 {
    const TWO: u64 = F32::ONE + (1 << F32::FRACTION_BITS);
    match sources[major(sources).0 as usize] {
        s if magnitude::<F32>(s) >> F32::FRACTION_BITS == 0 => 0,
        s => arith::mul::<F32>(mode, s, TWO),
    }
}

const fn row(op: Op, f: fn(&Mode, Sources) -> u64) -> VectorRow {
    VectorRow::new(op, VectorOp::Value(f), Output::F32)
}

pub(super) const ROWS: &[VectorRow] = &[
    row(Op::V_CUBEID_F32, face),
    row(Op::V_CUBESC_F32, s_coordinate),
    row(Op::V_CUBETC_F32, t_coordinate),
    row(Op::V_CUBEMA_F32, major_coordinate),
];
