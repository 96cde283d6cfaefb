//! Float minimum, maximum and median.

use super::format::{F16, F32, F64, Format, canonical, first_nan, is_nan, is_negative, is_signalling};
use super::{Mode, Output, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

/// Orders the numbers of a format as their bits, -0 below +0.
fn key<F: Format>(bits: u64) -> i128 {
    match is_negative::<F>(bits) {
        true => -1 - i128::from(bits ^ F::SIGN),
        false => bits.into(),
    }
}

/// What a NaN makes of min and max: with IEEE a signalling one wins, else the other source does, else the first.
fn by_nan<F: Format>(mode: &Mode, a: u64, b: u64) -> Option<u64> {
    let wins = |s| mode.ieee() && is_signalling::<F>(s);
    match (is_nan::<F>(a), is_nan::<F>(b)) {
        (false, false) => None,
        _ if wins(a) => Some(a | F::QUIET),
        _ if wins(b) => Some(b | F::QUIET),
        (true, true) => Some(a | F::QUIET),
        (true, false) => Some(canonical::<F>(mode, b)),
        (false, true) => Some(canonical::<F>(mode, a)),
    }
}

pub(super) fn min<F: Format>(mode: &Mode, a: u64, b: u64) -> u64 {
    by_nan::<F>(mode, a, b).unwrap_or_else(|| {
        let (a, b) = (canonical::<F>(mode, a), canonical::<F>(mode, b));
        if key::<F>(a) < key::<F>(b) { a } else { b }
    })
}

pub(super) fn max<F: Format>(mode: &Mode, a: u64, b: u64) -> u64 {
    by_nan::<F>(mode, a, b).unwrap_or_else(|| {
        let (a, b) = (canonical::<F>(mode, a), canonical::<F>(mode, b));
        if key::<F>(a) > key::<F>(b) { a } else { b }
    })
}

fn min3<F: Format>(mode: &Mode, [a, b, c]: Sources) -> u64 {
    min::<F>(mode, min::<F>(mode, a, b), c)
}

fn max3<F: Format>(mode: &Mode, [a, b, c]: Sources) -> u64 {
    max::<F>(mode, max::<F>(mode, a, b), c)
}

/// The median: what is left when the first source that *equals* the maximum is taken away, so that zeros of either
/// sign count as equal there. With a NaN it is the minimum.
fn med3<F: Format>(mode: &Mode, sources: Sources) -> u64 {
    if first_nan::<F>(&sources).is_some() {
        return min3::<F>(mode, sources);
    }
    let [a, b, c] = sources.map(|s| canonical::<F>(mode, s));
    let most = max3::<F>(mode, [a, b, c]);
    let equals = |s: u64| s == most || (s | most) & !F::SIGN == 0;
    if equals(a) {
        max::<F>(mode, b, c)
    } else if equals(b) {
        max::<F>(mode, a, c)
    } else {
        max::<F>(mode, a, b)
    }
}

const fn row(op: Op, f: fn(&Mode, Sources) -> u64, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Value(f), output)
}

pub(super) const ROWS: &[VectorRow] = &[
    row(Op::V_MIN_F16, |m, [a, b, _]| min::<F16>(m, a, b), Output::F16),
    row(Op::V_MIN_F32, |m, [a, b, _]| min::<F32>(m, a, b), Output::F32),
    row(Op::V_MIN_F64, |m, [a, b, _]| min::<F64>(m, a, b), Output::F64),
    row(Op::V_MAX_F16, |m, [a, b, _]| max::<F16>(m, a, b), Output::F16),
    row(Op::V_MAX_F32, |m, [a, b, _]| max::<F32>(m, a, b), Output::F32),
    row(Op::V_MAX_F64, |m, [a, b, _]| max::<F64>(m, a, b), Output::F64),
    row(Op::V_MIN3_F16, min3::<F16>, Output::F16),
    row(Op::V_MIN3_F32, min3::<F32>, Output::F32),
    row(Op::V_MAX3_F16, max3::<F16>, Output::F16),
    row(Op::V_MAX3_F32, max3::<F32>, Output::F32),
    row(Op::V_MED3_F16, med3::<F16>, Output::F16),
    row(Op::V_MED3_F32, med3::<F32>, Output::F32),
];
