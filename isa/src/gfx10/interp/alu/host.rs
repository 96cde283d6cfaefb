//! The host's own arithmetic, to nearest even: what most programs want, at a fraction of the time.
//!
//! Rust's f32 and f64 are IEEE 754 with denormals; only NaNs differ from host to host, so sources are never NaN here
//! and a NaN result only says that the operation was invalid.

/// Sums, products and fused sums of encodings that are not NaN, where the host has the format.
pub(super) trait Host {
    /// `a + b`.
    fn sum(_a: u64, _b: u64) -> Option<u64> {
        None
    }
    /// `a * b`.
    fn product(_a: u64, _b: u64) -> Option<u64> {
        None
    }
    /// `a * b + c` with one rounding.
    fn fused(_a: u64, _b: u64, _c: u64) -> Option<u64> {
        None
    }
}

impl Host for super::format::F16 {}

impl Host for super::format::F32 {
    fn sum(a: u64, b: u64) -> Option<u64> {
        Some(bits(single(a) + single(b)))
    }
    fn product(a: u64, b: u64) -> Option<u64> {
        Some(bits(single(a) * single(b)))
    }
    fn fused(a: u64, b: u64, c: u64) -> Option<u64> {
        let product = f64::from(single(a)) * f64::from(single(b));
        Some(bits(sum_to_odd(product, f64::from(single(c))) as f32))
    }
}

impl Host for super::format::F64 {
    fn sum(a: u64, b: u64) -> Option<u64> {
        Some((f64::from_bits(a) + f64::from_bits(b)).to_bits())
    }
    fn product(a: u64, b: u64) -> Option<u64> {
        Some((f64::from_bits(a) * f64::from_bits(b)).to_bits())
    }
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn bits(value: f32) -> u64 {
    value.to_bits().into()
}

/// The sum, rounded to the neighbour with an odd last bit if it is inexact, so that a second rounding to f32 is right.
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || !error.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let toward_zero = error.is_sign_negative() != sum.is_sign_negative();
    f64::from_bits(if toward_zero { sum.to_bits() - 1 } else { sum.to_bits() + 1 })
}
