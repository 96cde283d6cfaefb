//! The approximate operations: reciprocal, roots, exponential, logarithm, sine and cosine.
//!
//! AMD documents their error (1 ULP for f32 and f16), not their bits. Each has one algorithm here, in f64 with plain
//! addition, multiplication, division and square root, each correctly rounded to nearest, and with conversions; no
//! fused operation and no library function. So it can be repeated bit for bit wherever f64 is IEEE 754.
//!
//! - The source is widened to f64, which is exact; the result is rounded to nearest even, whatever MODE says.
//! - f32 operations flush denormal sources and results, whatever MODE says; f16 and f64 ones by MODE.
//! - A NaN comes back quiet; invalid arguments give the format's negative quiet NaN.
//! - Polynomials interpolate at Chebyshev nodes in 60-digit arithmetic; their coefficients are rounded to f64 and
//!   evaluated by Horner's rule. Their relative errors stay below 2^-44, so nearly every f32 result is correctly
//!   rounded.

use super::exact::Number;
use super::format::{F16, F32, F64, Format, decode, first_nan, flush_result, source, store_rounded};
use super::{Mode, Output, Rounding, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

/// `(2^r - 1) / r` for `|r| <= 1/2`, from its lowest coefficient.
const EXP2: [f64; 9] = [
    std::f64::consts::LN_2,
    0.2402265069581299,
    0.055504108664760424,
    0.009618129159402558,
    0.0013333558179043112,
    0.00015403455852453838,
    1.525268684626772e-05,
    1.3255224878668817e-06,
    1.0203121063391729e-07,
];

/// `log2((1 + s) / (1 - s)) / s` in `s^2`, for `|s| <= (sqrt 2 - 1) / (sqrt 2 + 1)`.
const LOG2: [f64; 6] = [
    2.885390081777851,
    0.9617966941122649,
    0.5770779426603044,
    0.41220922406110433,
    0.31990680380701336,
    0.28288502340748234,
];

/// `sin(2 pi r) / r` in `r^2`, for `|r| <= 1/8`.
const SIN: [f64; 6] = [
    6.28318530717956,
    -41.34170224027578,
    81.60524918348393,
    -76.70583445845129,
    42.05556925594499,
    -14.916565118819118,
];

/// `(cos(2 pi r) - 1) / r^2` in `r^2`, for `|r| <= 1/8`.
const COS: [f64; 6] = [
    -19.739208802178705,
    64.93939402261259,
    -85.45681716509442,
    60.244630008143865,
    -26.424853147906646,
    7.823560405842185,
];

fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

fn rcp(x: f64) -> f64 {
    1.0 / x
}

fn rsq(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// `2^x`: the nearest integer goes to the exponent, the rest through the polynomial. Results beyond 2^±1000 are
/// infinity and zero, which they are in the narrower formats as well.
fn exp2(x: f64) -> f64 {
    if x > 1000.0 {
        return f64::INFINITY;
    }
    if x < -1000.0 {
        return 0.0;
    }
    let whole = (x + 1024.5) as i64 - 1024;
    let rest = x - whole as f64;
    let power = f64::from_bits(((1023 + whole) as u64) << 52);
    (1.0 + rest * horner(&EXP2, rest)) * power
}

/// The binary logarithm: `x = m 2^e` with `m` in `[sqrt 1/2, sqrt 2)`, and the polynomial in `(m - 1) / (m + 1)`.
fn log2(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x < 0.0 || x == f64::INFINITY {
        return if x < 0.0 { f64::NAN } else { x };
    }
    let bits = x.to_bits();
    // Moves the boundary between exponents from 1 to the square root of 2, whose fraction this is.
    let exponent = ((bits + (0x10_0000_0000_0000 - 0x6_a09e_667f_3bcd)) >> 52) as i64 - 1023;
    let mantissa = f64::from_bits(bits.wrapping_sub((exponent as u64) << 52));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    exponent as f64 + s * horner(&LOG2, s * s)
}

/// Quadrant of the nearest multiple of a quarter turn, and the turns left to it, negative before it. The argument
/// is not negative and below 2^24; the difference is exact.
fn quarter_turns(turns: f64) -> (i64, f64) {
    let quarters = (4.0 * turns + 0.5) as i64;
    (quarters & 3, turns - 0.25 * quarters as f64)
}

fn sin_small(r: f64) -> f64 {
    r * horner(&SIN, r * r)
}

fn cos_small(r: f64) -> f64 {
    1.0 + r * r * horner(&COS, r * r)
}

/// Turns from which on every f32 and f16 is a whole number.
const WHOLE_TURNS: f64 = 16_777_216.0;

/// The sine of so many turns, exact at multiples of a quarter. Only -0 gives -0.
fn sin(turns: f64) -> f64 {
    let size = turns.abs();
    if size == 0.0 {
        return turns;
    }
    if size >= WHOLE_TURNS {
        return if size.is_finite() { 0.0 } else { f64::NAN };
    }
    let value = match quarter_turns(size) {
        (0, r) => sin_small(r),
        (1, r) => cos_small(r),
        (2, r) => sin_small(0.0 - r),
        (_, r) => -cos_small(r),
    };
    if turns < 0.0 { 0.0 - value } else { value }
}

/// The cosine of so many turns, exact at multiples of a quarter.
fn cos(turns: f64) -> f64 {
    let size = turns.abs();
    if size >= WHOLE_TURNS {
        return if size.is_finite() { 1.0 } else { f64::NAN };
    }
    match quarter_turns(size) {
        (0, r) => cos_small(r),
        (1, r) => sin_small(0.0 - r),
        (2, r) => -cos_small(r),
        (_, r) => sin_small(r),
    }
}

fn widen<F: Format>(mode: &Mode, bits: u64) -> f64 {
    match decode::<F>(source::<F>(mode, bits)) {
        Number::Infinite(negative) => {
            if negative {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }
        }
        Number::Finite(e) => {
            let size = e.significand as f64 * f64::from_bits(((1023 + e.exponent) as u64) << 52);
            if e.negative { -size } else { size }
        }
    }
}

fn approximate<F: Format>(mode: &Mode, bits: u64, f: fn(f64) -> f64) -> u64 {
    if let Some(nan) = first_nan::<F>(&[bits]) {
        return nan;
    }
    let value = f(widen::<F>(mode, bits));
    let number = (!value.is_nan()).then(|| decode::<F64>(value.to_bits()));
    store_rounded::<F>(mode, Rounding::NearestEven, number)
}

fn f32_op(mode: &Mode, [a, ..]: Sources, f: fn(f64) -> f64) -> u64 {
    approximate::<F32>(&mode.flushing32(), a, f)
}

fn f16_op(mode: &Mode, [a, ..]: Sources, f: fn(f64) -> f64) -> u64 {
    approximate::<F16>(mode, a, f)
}

fn f64_op(mode: &Mode, [a, ..]: Sources, f: fn(f64) -> f64) -> u64 {
    if let Some(nan) = first_nan::<F64>(&[a]) {
        return nan;
    }
    let value = f(f64::from_bits(source::<F64>(mode, a)));
    if value.is_nan() { F64::NAN } else { flush_result::<F64>(mode, value.to_bits()) }
}

const fn row(op: Op, f: fn(&Mode, Sources) -> u64, output: Output) -> VectorRow {
    VectorRow::approximate(op, VectorOp::Value(f), output)
}

pub(super) const ROWS: &[VectorRow] = &[
    row(Op::V_RCP_F16, |m, s| f16_op(m, s, rcp), Output::F16),
    row(Op::V_RCP_F32, |m, s| f32_op(m, s, rcp), Output::F32),
    row(Op::V_RCP_IFLAG_F32, |m, s| f32_op(m, s, rcp), Output::F32),
    row(Op::V_RCP_F64, |m, s| f64_op(m, s, rcp), Output::F64),
    row(Op::V_RSQ_F16, |m, s| f16_op(m, s, rsq), Output::F16),
    row(Op::V_RSQ_F32, |m, s| f32_op(m, s, rsq), Output::F32),
    row(Op::V_RSQ_F64, |m, s| f64_op(m, s, rsq), Output::F64),
    row(Op::V_SQRT_F16, |m, s| f16_op(m, s, f64::sqrt), Output::F16),
    row(Op::V_SQRT_F32, |m, s| f32_op(m, s, f64::sqrt), Output::F32),
    row(Op::V_SQRT_F64, |m, s| f64_op(m, s, f64::sqrt), Output::F64),
    row(Op::V_EXP_F16, |m, s| f16_op(m, s, exp2), Output::F16),
    row(Op::V_EXP_F32, |m, s| f32_op(m, s, exp2), Output::F32),
    row(Op::V_LOG_F16, |m, s| f16_op(m, s, log2), Output::F16),
    row(Op::V_LOG_F32, |m, s| f32_op(m, s, log2), Output::F32),
    row(Op::V_SIN_F16, |m, s| f16_op(m, s, sin), Output::F16),
    row(Op::V_SIN_F32, |m, s| f32_op(m, s, sin), Output::F32),
    row(Op::V_COS_F16, |m, s| f16_op(m, s, cos), Output::F16),
    row(Op::V_COS_F32, |m, s| f32_op(m, s, cos), Output::F32),
];
