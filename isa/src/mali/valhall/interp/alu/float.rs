//! Float arithmetic.

use super::{Lane, Meaning};
use crate::format::{half_of_single, single_of_half};
use crate::mali::valhall::{Op, Ty, field};
use Meaning::Each;

/// The NaN that every operation gives that gives one.
pub(super) fn nan(ty: Ty) -> u64 {
    if ty.bits() == 16 { 0x7e00 } else { 0x7fc0_0000 }
}

/// The number that a float's bits are. An f64 holds every f32 and f16.
pub(super) fn value(bits: u64, ty: Ty) -> f64 {
    match ty.bits() {
        16 => f32::from_bits(single_of_half(bits as u16)).into(),
        _ => f32::from_bits(bits as u32).into(),
    }
}

/// The bits of an f32 in the type: rounded to nearest if that is f16, and NaN made the one that is written.
pub(in crate::mali::valhall::interp) fn encoded(single: f32, ty: Ty) -> u64 {
    match ty.bits() {
        _ if single.is_nan() => nan(ty),
        16 => half_of_single(single.to_bits()).into(),
        _ => single.to_bits().into(),
    }
}

/// Source `i` as an f32.
fn single(lane: &Lane<'_>, i: usize) -> f32 {
    value(lane.s[i], lane.inst.row.from) as f32
}

/// Clamps a result; a NaN becomes the lower bound, as maximum and minimum have it.
pub(super) fn clamped(lane: &Lane<'_>, bits: u64) -> u64 {
    let ty = lane.ty();
    let x = value(bits, ty) as f32;
    let most = |x: f32| if x < 1.0 { x } else { 1.0 };
    // A zero of either sign becomes +0 against 0.
    let positive = |x: f32| if x > 0.0 { x } else { 0.0 };
    let limited = match lane.inst.code(&field::CLAMP) {
        0 => return bits,
        1 => positive(x),
        2 => most(if x >= -1.0 { x } else { -1.0 }),
        _ => most(positive(x)),
    };
    encoded(limited, ty)
}

/// Sums and products of f16 are rounded twice, which with 24 bits against 11 is as good as once.
fn add(lane: &Lane<'_>) -> u64 {
    clamped(lane, encoded(single(lane, 0) + single(lane, 1), lane.ty()))
}

fn fused(lane: &Lane<'_>) -> u64 {
    let [a, b, c] = [0, 1, 2].map(|i| single(lane, i));
    let bits = match lane.ty().bits() {
        16 => fused_half(a, b, c),
        _ => encoded(a.mul_add(b, c), lane.ty()),
    };
    clamped(lane, bits)
}

/// `a * b + c` of f16 values, exactly and rounded once: every such value is a multiple of 2^-24.
fn fused_half(a: f32, b: f32, c: f32) -> u64 {
    let rough = a * b + c;
    if !rough.is_finite() {
        return encoded(rough, Ty::F16);
    }
    let fixed = |x: f32| (f64::from(x) * f64::from(1u32 << 24)) as i128;
    let exact = fixed(a) * fixed(b) + (fixed(c) << 24);
    if exact == 0 {
        // An exact zero: the sum of products has the sign that floats give it.
        return encoded(rough, Ty::F16);
    }
    let bits = half_of_fixed(exact.unsigned_abs());
    u64::from(bits) | u64::from(exact < 0) << 15
}

/// The f16 nearest to `magnitude * 2^-48`, ties to even.
fn half_of_fixed(magnitude: u128) -> u16 {
    let top = 127 - magnitude.leading_zeros() as i32;
    // The weight of the result's last bit, in units of 2^-48.
    let last = (top - 10).max(24);
    let (whole, rest) = (magnitude >> last, magnitude & ((1 << last) - 1));
    let half = 1u128 << (last - 1);
    let up = rest > half || (rest == half && whole & 1 != 0);
    let rounded = whole as i32 + i32::from(up);
    (rounded + ((last - 24) << 10)).min(0x7c00) as u16
}

fn least(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => a.min(b),
    }
}

fn minimum(lane: &Lane<'_>) -> u64 {
    clamped(lane, encoded(least(single(lane, 0), single(lane, 1)), lane.ty()))
}

fn maximum(lane: &Lane<'_>) -> u64 {
    clamped(lane, encoded(-least(-single(lane, 0), -single(lane, 1)), lane.ty()))
}

/// The reciprocal, correctly rounded.
fn reciprocal(lane: &Lane<'_>) -> u64 {
    encoded(1.0 / single(lane, 0), lane.ty())
}

/// The reciprocal square root, worked out in f64 and rounded to f32, and from there to f16.
fn reciprocal_root(lane: &Lane<'_>) -> u64 {
    let x = f64::from(single(lane, 0));
    encoded((1.0 / x.sqrt()) as f32, lane.ty())
}

fn flush(lane: &Lane<'_>) -> u64 {
    let (bits, ty) = (lane.s[0], lane.ty());
    let (fraction, infinity) = if ty.bits() == 16 { (10, 0x7c00) } else { (23, 0x7f80_0000) };
    let sign = (infinity << 1) & !infinity & super::mask(ty);
    let size = bits & !sign & super::mask(ty);
    let ftz = lane.inst.code(&field::FTZ) != 0 && size < 1 << fraction;
    let limit = lane.inst.code(&field::FLUSH_INF) != 0 && size == infinity;
    match lane.inst.code(&field::NAN_MODE) {
        1 if size > infinity => 0,
        2 if size > infinity => bits | 1 << (fraction - 1),
        _ if ftz => bits & sign,
        _ if limit => bits - 1,
        _ => bits,
    }
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::Fadd, Each(add)),
    (Op::Fma, Each(fused)),
    (Op::Fmin, Each(minimum)),
    (Op::Fmax, Each(maximum)),
    (Op::Frcp, Each(reciprocal)),
    (Op::Frsq, Each(reciprocal_root)),
    (Op::Flush, Each(flush)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fused_half_rounds_once() {
        let half = |x: f32| u64::from(half_of_single(x.to_bits()));
        // 1 + 2^-11 + 2^-22 lies just above the tie between 1 and its successor.
        let tiny = 2f32.powi(-11);
        assert_eq!(fused_half(tiny, 1.0 + 2f32.powi(-10), 1.0), 0x3c01);
        assert_eq!(fused_half(tiny, 1.0, 1.0), half(1.0));
        assert_eq!(fused_half(-0.0, 1.0, -0.0), 0x8000);
        assert_eq!(fused_half(65504.0, 2.0, 0.0), 0x7c00);
        assert_eq!(fused_half(2f32.powi(-24), 0.5, 0.0), 0);
        assert_eq!(fused_half(2f32.powi(-24), 0.75, 0.0), 1);
    }

    #[test]
    fn maximum_and_minimum_order_zeros_and_lose_nans() {
        assert!(least(0.0, -0.0).is_sign_negative() && least(-0.0, 0.0).is_sign_negative());
        assert_eq!(least(f32::NAN, 2.0), 2.0);
        assert_eq!(least(2.0, f32::NAN), 2.0);
    }
}
