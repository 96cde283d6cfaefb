//! Fused multiply-add where the host has none: exact, by wider or integer arithmetic.

/// `a * b + c` with one rounding, to nearest even; bits in and out. A NaN result is some quiet NaN.
pub(crate) fn fma_f32(a: u32, b: u32, c: u32) -> u32 {
    let [a, b, c] = [a, b, c].map(|bits| f64::from(f32::from_bits(bits)));
    // The product of two f32s is exact in an f64. Rounding the sum to odd keeps what the second rounding has to know.
    (add_to_odd(a * b, c) as f32).to_bits()
}

/// `x + y` rounded to odd: if it is not exact, the neighbour whose last bit is 1.
fn add_to_odd(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if !sum.is_finite() {
        return sum;
    }
    // What the rounding lost, exactly (Knuth's two-sum; nothing here is near the range's ends).
    let y_part = sum - x;
    let lost = (x - (sum - y_part)) + (y - y_part);
    if lost == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    if (lost > 0.0) == (sum > 0.0) { sum.next_outward() } else { sum.next_inward() }
}

/// Neighbours by magnitude.
trait Neighbours {
    fn next_outward(self) -> Self;
    fn next_inward(self) -> Self;
}

impl Neighbours for f64 {
    fn next_outward(self) -> f64 {
        f64::from_bits(self.to_bits() + 1)
    }

    fn next_inward(self) -> f64 {
        f64::from_bits(self.to_bits() - 1)
    }
}

const FRACTION: u32 = 52;
const HIDDEN: u64 = 1 << FRACTION;

/// A finite number: `fraction * 2^exponent`, and its sign.
#[derive(Clone, Copy)]
struct Parts {
    negative: bool,
    exponent: i32,
    fraction: u64,
}

fn parts(x: f64) -> Parts {
    let bits = x.to_bits();
    let (field, fraction) = ((bits >> FRACTION & 0x7ff) as i32, bits & (HIDDEN - 1));
    match field {
        0 => Parts { negative: x.is_sign_negative(), exponent: -1074, fraction },
        _ => Parts { negative: x.is_sign_negative(), exponent: field - 1075, fraction: fraction | HIDDEN },
    }
}

/// `a * b + c` with one rounding, to nearest even; bits in and out. A NaN result is some quiet NaN.
pub(crate) fn fma_f64(a: u64, b: u64, c: u64) -> u64 {
    let [x, y, z] = [a, b, c].map(f64::from_bits);
    // Where a factor is 0 or not finite, nothing can be rounded twice.
    if !x.is_finite() || !y.is_finite() || x == 0.0 || y == 0.0 {
        return (x * y + z).to_bits();
    }
    // The product is finite, though it might not be as an f64.
    if !z.is_finite() {
        return (z + 1.0).to_bits();
    }
    let (p, q) = (parts(x), parts(y));
    let product = Wide {
        negative: p.negative != q.negative,
        exponent: p.exponent + q.exponent,
        fraction: u128::from(p.fraction) * u128::from(q.fraction),
    };
    let r = parts(z);
    let addend = Wide { negative: r.negative, exponent: r.exponent, fraction: u128::from(r.fraction) };
    product.plus(addend).round().to_bits()
}

/// A number with room: `fraction * 2^exponent`, the last bit sticky (set if anything below it was lost).
#[derive(Clone, Copy)]
struct Wide {
    negative: bool,
    exponent: i32,
    fraction: u128,
}

impl Wide {
    /// The same number with its highest fraction bit at bit 125, so that one more bit fits above.
    fn normal(self) -> Self {
        match self.fraction {
            0 => Wide { exponent: i32::MIN / 2, ..self },
            f => {
                let shift = f.leading_zeros() as i32 - 2;
                Wide { exponent: self.exponent - shift, fraction: f << shift, ..self }
            }
        }
    }

    /// The fraction moved down, what falls out kept as the sticky bit.
    fn down(fraction: u128, by: u32) -> u128 {
        match by {
            0 => fraction,
            1..=127 => fraction >> by | u128::from(fraction << (128 - by) != 0),
            _ => u128::from(fraction != 0),
        }
    }

    fn plus(self, other: Self) -> Self {
        let (a, b) = (self.normal(), other.normal());
        let (big, small) = if (a.exponent, a.fraction) >= (b.exponent, b.fraction) { (a, b) } else { (b, a) };
        let moved = Self::down(small.fraction, big.exponent.saturating_sub(small.exponent) as u32);
        if big.negative == small.negative {
            return Wide { fraction: big.fraction + moved, ..big };
        }
        let fraction = big.fraction - moved;
        // Exact cancellation gives +0.
        Wide { negative: big.negative && fraction != 0, fraction, ..big }
    }

    /// To the nearest f64, ties to even.
    fn round(self) -> f64 {
        let sign = if self.negative { -0.0f64 } else { 0.0 };
        if self.fraction == 0 {
            return sign;
        }
        let top = 127 - self.fraction.leading_zeros() as i32;
        // Exponent of the last bit that the result has.
        let last = (self.exponent + top - FRACTION as i32).max(-1074);
        let drop = last - self.exponent;
        let units = if drop <= 0 { self.fraction << -drop } else { round_off(self.fraction, drop as u32) };
        let field = (last + 1074) as u64;
        // A carry out of the fraction runs into the exponent, as it should; past the largest it gives infinity.
        let bits = field.saturating_mul(HIDDEN).saturating_add(units as u64);
        f64::from_bits(bits.min(f64::INFINITY.to_bits()) | sign.to_bits())
    }
}

/// `fraction / 2^drop` to the nearest integer, ties to even.
fn round_off(fraction: u128, drop: u32) -> u128 {
    let kept = fraction.checked_shr(drop).unwrap_or(0);
    let rest = fraction - kept.checked_shl(drop).unwrap_or(0);
    let half = 1u128.checked_shl(drop - 1).unwrap_or(0);
    let up = half != 0 && (rest > half || rest == half && kept & 1 == 1);
    kept + u128::from(up)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{fma_f32, fma_f64};

    /// Any f64, and ones near each other's size, so that sums cancel and results are denormal.
    fn double() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            (any::<i32>(), -60..60i32).prop_map(|(m, e)| f64::from(m) * 2f64.powi(e)),
            (any::<i32>(), -1080..-1000i32)
                .prop_map(|(m, e)| f64::from(m) * 2f64.powi(e / 2) * 2f64.powi(e - e / 2)),
            (any::<u64>(), 500..540u64).prop_map(|(m, e)| f64::from_bits(m >> 12 | (1023 - 540 + e) << 52)),
            prop::sample::select(vec![
                0.0,
                -0.0,
                1.0,
                f64::MAX,
                f64::MIN_POSITIVE,
                f64::INFINITY,
                f64::NEG_INFINITY
            ]),
        ]
    }

    fn single() -> impl Strategy<Value = f32> {
        prop_oneof![
            any::<u32>().prop_map(f32::from_bits),
            (any::<i16>(), -40..40i32).prop_map(|(m, e)| f32::from(m) * 2f32.powi(e)),
            (any::<i32>(), -149..-60i32).prop_map(|(m, e)| (m as f32) * 2f32.powi(e)),
            prop::sample::select(vec![0.0, -0.0, 1.0, f32::MAX, f32::MIN_POSITIVE, f32::INFINITY]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn f64_is_rounded_once(a in double(), b in double(), c in double(), near in any::<bool>()) {
            // An addend near the product cancels most of it.
            let c = if near { -(a * b) * (1.0 + f64::EPSILON) } else { c };
            let (ours, theirs) = (f64::from_bits(fma_f64(a.to_bits(), b.to_bits(), c.to_bits())), a.mul_add(b, c));
            prop_assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{ours:e} {theirs:e}");
        }

        #[test]
        fn f32_is_rounded_once(a in single(), b in single(), c in single(), near in any::<bool>()) {
            let c = if near { -(a * b) } else { c };
            let (ours, theirs) = (f32::from_bits(fma_f32(a.to_bits(), b.to_bits(), c.to_bits())), a.mul_add(b, c));
            prop_assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{ours:e} {theirs:e}");
        }
    }
}
