//! The three steps that make Newton's division exact: scaling, the last fused step, and the special cases.

use super::arith::fused;
use super::exact::{Exact, Number};
use super::format::{
    F16, F32, F64, Format, exponent_field, first_nan, flush_result, is_infinite, is_nan, is_negative,
    is_zero, number, source, store,
};
use super::{Mode, Output, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

/// Constants of the division steps of a format.
trait Division: Format {
    /// Powers of two by which scaling moves an operand.
    const SCALE: i32;
    /// Difference of the operands' exponents from which the quotient is near overflow or underflow.
    const FAR: i32;
    /// Difference of the exponents below which the quotient is under the least denormal's half.
    const VANISHES: i32;
}

impl Division for F32 {
    const SCALE: i32 = 64;
    const FAR: i32 = 96;
    const VANISHES: i32 = -150;
}

impl Division for F64 {
    const SCALE: i32 = 128;
    const FAR: i32 = 768;
    const VANISHES: i32 = -1075;
}

/// How scaling treats a pair of operands.
struct Scaling {
    denominator: i32,
    numerator: i32,
    /// The quotient needs the opposite scaling afterwards.
    after: bool,
}

/// Decides by the exponent fields alone.
fn scaling<F: Division>(denominator: u64, numerator: u64) -> Scaling {
    let (d, n) = (exponent_field::<F>(denominator), exponent_field::<F>(numerator));
    let up = F::SCALE;
    match n - d {
        far if far >= F::FAR => Scaling { denominator: up, numerator: 0, after: true },
        _ if d == 0 => Scaling { denominator: up, numerator: up, after: false },
        // The denominator's reciprocal is denormal.
        far if d >= 2 * F::BIAS - 1 && far <= -F::FAR => {
            Scaling { denominator: -up, numerator: 0, after: true }
        }
        _ if d >= 2 * F::BIAS - 1 => Scaling { denominator: -up, numerator: -up, after: false },
        far if far <= -F::FAR => Scaling { denominator: 0, numerator: up, after: true },
        _ if n <= F::FRACTION_BITS as i32 + 1 => Scaling { denominator: up, numerator: up, after: false },
        _ => Scaling { denominator: 0, numerator: 0, after: false },
    }
}

/// `v_div_scale`: `value` is one of the other two, and is scaled as that one.
fn scale<F: Division>(mode: &Mode, sources: Sources) -> (u64, bool) {
    let [value, denominator, numerator] = sources.map(|s| source::<F>(mode, s));
    let scaling = scaling::<F>(denominator, numerator);
    let by = if value == denominator { scaling.denominator } else { scaling.numerator };
    let bits = match first_nan::<F>(&[value]) {
        _ if is_zero::<F>(denominator) || is_zero::<F>(numerator) => F::NAN,
        Some(nan) => nan,
        None => store::<F>(mode, Some(number::<F>(mode, value).map(|e| e.scale(by)))),
    };
    (bits, scaling.after)
}

/// `v_div_fmas`: with the mask bit the fused sum is scaled back before its one rounding, up where the quotient is
/// large and down where it is small. Denormal sources are never flushed.
fn fmas<F: Division>(mode: &Mode, sources: Sources, after: bool) -> u64 {
    let mode = &mode.keeping_sources();
    let by = match after {
        false => 0,
        true if exponent_field::<F>(sources[2]) > F::BIAS => F::SCALE,
        true => -F::SCALE,
    };
    match first_nan::<F>(&sources) {
        Some(nan) => nan,
        None => store::<F>(mode, fused::<F>(mode, sources).map(|n| n.map(|e| e.scale(by)))),
    }
}

/// The quotient where the operands alone decide it, as [`Some`].
fn special_quotient<F: Format>(denominator: u64, numerator: u64) -> Option<u64> {
    let sign = (denominator ^ numerator) & F::SIGN;
    let (zero, infinite) = (is_zero::<F>, is_infinite::<F>);
    if let Some(nan) = first_nan::<F>(&[numerator, denominator]) {
        return Some(nan);
    }
    if zero(denominator) && zero(numerator) || infinite(denominator) && infinite(numerator) {
        return Some(F::NAN);
    }
    if zero(denominator) || infinite(numerator) {
        return Some(sign | F::INFINITY);
    }
    (infinite(denominator) || zero(numerator)).then_some(sign)
}

/// `v_div_fixup`: `vanishes` is the difference of exponents below which the quotient rounds as a tiny number.
fn fixup<F: Format>(mode: &Mode, sources: Sources, vanishes: i32) -> u64 {
    let [quotient, denominator, numerator] = sources.map(|s| source::<F>(mode, s));
    let sign = (denominator ^ numerator) & F::SIGN;
    if let Some(bits) = special_quotient::<F>(denominator, numerator) {
        return bits;
    }
    if exponent_field::<F>(numerator) - exponent_field::<F>(denominator) < vanishes {
        let tiny = Exact { negative: is_negative::<F>(sign), exponent: -100_000, significand: 1 };
        return store::<F>(mode, Some(Number::Finite(tiny)));
    }
    // Numbers have no NaN for a quotient: the steps before overflowed.
    let size = if is_nan::<F>(quotient) { F::INFINITY } else { quotient & !F::SIGN };
    flush_result::<F>(mode, sign | size)
}

const fn scale_row(op: Op, f: fn(&Mode, Sources) -> (u64, bool), output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::MaskOut(f), output)
}

const fn fmas_row(op: Op, f: fn(&Mode, Sources, bool) -> u64, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::MaskIn(f), output)
}

const fn fixup_row(op: Op, f: fn(&Mode, Sources) -> u64, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Value(f), output)
}

pub(super) const ROWS: &[VectorRow] = &[
    scale_row(Op::V_DIV_SCALE_F32, scale::<F32>, Output::F32),
    scale_row(Op::V_DIV_SCALE_F64, scale::<F64>, Output::F64),
    fmas_row(Op::V_DIV_FMAS_F32, fmas::<F32>, Output::F32),
    fmas_row(Op::V_DIV_FMAS_F64, fmas::<F64>, Output::F64),
    fixup_row(Op::V_DIV_FIXUP_F16, |m, s| fixup::<F16>(m, s, i32::MIN), Output::F16),
    fixup_row(Op::V_DIV_FIXUP_F32, |m, s| fixup::<F32>(m, s, F32::VANISHES), Output::F32),
    fixup_row(Op::V_DIV_FIXUP_F64, |m, s| fixup::<F64>(m, s, F64::VANISHES), Output::F64),
];
