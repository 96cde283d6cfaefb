//! Float operations that take a number apart or put it together: rounding to integers, fraction, exponent, mantissa.

use super::exact::{Exact, Number};
use super::format::{F16, F32, F64, Format, first_nan, number, store};
use super::{Mode, Output, Rounding, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

fn unary<F: Format>(mode: &Mode, a: u64, f: impl FnOnce(Number) -> Option<Number>) -> u64 {
    match first_nan::<F>(&[a]) {
        Some(nan) => nan,
        None => store::<F>(mode, f(number::<F>(mode, a))),
    }
}

fn integral<F: Format>(mode: &Mode, a: u64, rounding: Rounding) -> u64 {
    unary::<F>(mode, a, |n| Some(n.map(|e| e.to_integral(rounding))))
}

fn trunc<F: Format>(mode: &Mode, [a, ..]: Sources) -> u64 {
    integral::<F>(mode, a, Rounding::Zero)
}

fn ceil<F: Format>(mode: &Mode, [a, ..]: Sources) -> u64 {
    integral::<F>(mode, a, Rounding::Up)
}

fn floor<F: Format>(mode: &Mode, [a, ..]: Sources) -> u64 {
    integral::<F>(mode, a, Rounding::Down)
}

fn rndne<F: Format>(mode: &Mode, [a, ..]: Sources) -> u64 {
    integral::<F>(mode, a, Rounding::NearestEven)
}

/// The distance from the integer below, rounded, but never up to 1.0; invalid for an infinity.
fn fract<F: Format>(mode: &Mode, [a, ..]: Sources) -> u64 {
    let distance = |n: Number| n.plus(n.map(|e| e.to_integral(Rounding::Down)).negate(), F::rounding(mode));
    match unary::<F>(mode, a, distance) {
        bits if bits == F::ONE => bits - 1,
        bits => bits,
    }
}

/// The mantissa in `[0.5, 1)` with the source's sign; zeros and infinities pass.
fn frexp_mant<F: Format>(mode: &Mode, [a, ..]: Sources) -> u64 {
    unary::<F>(mode, a, |n| Some(n.map(|e| e.scale((-1i32).saturating_sub(e.magnitude())))))
}

/// The exponent that belongs to [`frexp_mant`]; 0 for zeros, infinities and NaNs.
fn frexp_exp<F: Format>(mode: &Mode, [a, ..]: Sources) -> i32 {
    match first_nan::<F>(&[a]).is_none().then(|| number::<F>(mode, a)) {
        Some(Number::Finite(e @ Exact { significand: 1.., .. })) => e.magnitude() + 1,
        _ => 0,
    }
}

/// `a * 2^by` with one rounding.
fn ldexp<F: Format>(mode: &Mode, a: u64, by: i32) -> u64 {
    unary::<F>(mode, a, |n| Some(n.map(|e| e.scale(by))))
}

const fn row(op: Op, f: fn(&Mode, Sources) -> u64, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Value(f), output)
}

pub(super) const ROWS: &[VectorRow] = &[
    row(Op::V_TRUNC_F16, trunc::<F16>, Output::F16),
    row(Op::V_TRUNC_F32, trunc::<F32>, Output::F32),
    row(Op::V_TRUNC_F64, trunc::<F64>, Output::F64),
    row(Op::V_CEIL_F16, ceil::<F16>, Output::F16),
    row(Op::V_CEIL_F32, ceil::<F32>, Output::F32),
    row(Op::V_CEIL_F64, ceil::<F64>, Output::F64),
    row(Op::V_FLOOR_F16, floor::<F16>, Output::F16),
    row(Op::V_FLOOR_F32, floor::<F32>, Output::F32),
    row(Op::V_FLOOR_F64, floor::<F64>, Output::F64),
    row(Op::V_RNDNE_F16, rndne::<F16>, Output::F16),
    row(Op::V_RNDNE_F32, rndne::<F32>, Output::F32),
    row(Op::V_RNDNE_F64, rndne::<F64>, Output::F64),
    row(Op::V_FRACT_F16, fract::<F16>, Output::F16),
    row(Op::V_FRACT_F32, fract::<F32>, Output::F32),
    row(Op::V_FRACT_F64, fract::<F64>, Output::F64),
    row(Op::V_FREXP_MANT_F16, frexp_mant::<F16>, Output::F16),
    row(Op::V_FREXP_MANT_F32, frexp_mant::<F32>, Output::F32),
    row(Op::V_FREXP_MANT_F64, frexp_mant::<F64>, Output::F64),
    row(Op::V_FREXP_EXP_I16_F16, |m, s| u64::from(frexp_exp::<F16>(m, s) as u16), Output::I16),
    row(Op::V_FREXP_EXP_I32_F32, |m, s| u64::from(frexp_exp::<F32>(m, s) as u32), Output::I32),
    row(Op::V_FREXP_EXP_I32_F64, |m, s| u64::from(frexp_exp::<F64>(m, s) as u32), Output::I32),
    row(Op::V_LDEXP_F16, |m, [a, b, _]| ldexp::<F16>(m, a, i32::from(b as i16)), Output::F16),
    row(Op::V_LDEXP_F32, |m, [a, b, _]| ldexp::<F32>(m, a, b as i32), Output::F32),
    row(Op::V_LDEXP_F64, |m, [a, b, _]| ldexp::<F64>(m, a, b as i32), Output::F64),
];
