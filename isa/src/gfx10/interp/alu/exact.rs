//! Exact binary numbers: what floats are computed with before the one rounding at the end.

use super::Rounding;

/// `(-1)^negative * significand * 2^exponent`, zero (with a sign) if the significand is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    pub(super) negative: bool,
    pub(super) exponent: i32,
    pub(super) significand: u128,
}

/// A float that is not a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Finite(Exact),
    /// Infinity; true for the negative one.
    Infinite(bool),
}

/// Where [`Exact::aligned`] puts the leading bit: high enough that a product of two f64 significands keeps 20
/// zero bits below it, low enough that a sum does not overflow.
const LEADING_BIT: u32 = 125;

/// A remainder below the last kept bit, compared with half of that bit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rest {
    None,
    BelowHalf,
    Half,
    AboveHalf,
}

impl Exact {
    pub(super) const fn zero(negative: bool) -> Exact {
        Exact { negative, exponent: 0, significand: 0 }
    }

    /// An integer times a power of two.
    pub(super) const fn scaled(value: i128, exponent: i32) -> Exact {
        Exact { negative: value < 0, exponent, significand: value.unsigned_abs() }
    }

    /// Exponent of the leading bit: the value's magnitude is in `[2^e, 2^(e+1))`. Zero has none and gives the
    /// least.
    pub(super) fn magnitude(&self) -> i32 {
        match self.significand {
            0 => i32::MIN,
            s => self.exponent.saturating_add(s.ilog2() as i32),
        }
    }

    pub(super) fn negate(self) -> Exact {
        Exact { negative: !self.negative, ..self }
    }

    /// Times `2^by`; exponents saturate far outside every format.
    pub(super) fn scale(self, by: i32) -> Exact {
        Exact { exponent: self.exponent.saturating_add(by.clamp(-100_000, 100_000)), ..self }
    }

    /// The product; exact for significands of 53 bits.
    pub(super) fn times(self, other: Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            exponent: self.exponent.saturating_add(other.exponent),
            significand: self.significand.wrapping_mul(other.significand),
        }
    }

    fn aligned(self) -> Exact {
        let top = self.significand.ilog2();
        let significand = match top {
            ..=LEADING_BIT => self.significand << (LEADING_BIT - top),
            _ => shift_sticky(self.significand, top - LEADING_BIT),
        };
        let exponent = self.exponent.saturating_add(top as i32 - LEADING_BIT as i32);
        Exact { exponent, significand, ..self }
    }

    /// The sum, exact but for a sticky last bit far below the precision of every format. `rounding` decides the
    /// sign of a zero from operands of opposite signs.
    pub(super) fn plus(self, other: Exact, rounding: Rounding) -> Exact {
        let zero = Exact::zero(rounding == Rounding::Down);
        match (self.significand, other.significand) {
            (0, 0) if self.negative == other.negative => self,
            (0, 0) => zero,
            (0, _) => other,
            (_, 0) => self,
            _ => {
                let (a, b) = (self.aligned(), other.aligned());
                if a.magnitude() >= b.magnitude() { add_aligned(a, b, zero) } else { add_aligned(b, a, zero) }
            }
        }
    }

    /// Drops the lowest `bits` of the significand, rounding; the exponent is *not* adapted.
    pub(super) fn rounded_significand(&self, bits: u32, rounding: Rounding) -> u128 {
        let kept = self.significand.checked_shr(bits).unwrap_or(0);
        kept + u128::from(self.rounds_away(kept, bits, rounding))
    }

    fn rounds_away(&self, kept: u128, bits: u32, rounding: Rounding) -> bool {
        let rest = rest_below(self.significand, bits);
        match rounding {
            Rounding::NearestEven => rest == Rest::AboveHalf || rest == Rest::Half && kept & 1 == 1,
            Rounding::Up => rest != Rest::None && !self.negative,
            Rounding::Down => rest != Rest::None && self.negative,
            Rounding::Zero => false,
        }
    }

    /// The value as an integer, itself exact. Magnitudes of `2^100` and more come back unchanged: every float
    /// format's values of that size are integers.
    pub(super) fn to_integral(self, rounding: Rounding) -> Exact {
        if self.exponent >= 0 || self.significand == 0 {
            return self;
        }
        let significand = self.rounded_significand(self.exponent.unsigned_abs(), rounding);
        Exact { exponent: 0, significand, ..self }
    }

    /// The value as an integer, saturated at magnitudes of `2^100`.
    pub(super) fn to_integer(self, rounding: Rounding) -> i128 {
        let whole = self.to_integral(rounding);
        let size = match whole.magnitude() {
            ..100 => whole.significand << whole.exponent.clamp(0, 127),
            _ => 1 << 100,
        };
        if whole.negative { -(size as i128) } else { size as i128 }
    }
}

/// `a + b` for aligned operands with `a`'s magnitude at least `b`'s.
fn add_aligned(a: Exact, b: Exact, zero: Exact) -> Exact {
    let low = shift_sticky(b.significand, a.exponent.saturating_sub(b.exponent) as u32);
    if a.negative == b.negative {
        return Exact { significand: a.significand + low, ..a };
    }
    match a.significand.cmp(&low) {
        std::cmp::Ordering::Equal => zero,
        std::cmp::Ordering::Greater => Exact { significand: a.significand - low, ..a },
        std::cmp::Ordering::Less => Exact { significand: low - a.significand, negative: b.negative, ..a },
    }
}

/// A right shift that keeps "something was lost" in the last bit.
fn shift_sticky(value: u128, by: u32) -> u128 {
    let kept = value.checked_shr(by).unwrap_or(0);
    kept | u128::from(rest_below(value, by) != Rest::None)
}

fn rest_below(value: u128, bits: u32) -> Rest {
    if bits == 0 || value == 0 {
        return Rest::None;
    }
    if bits > 128 {
        return Rest::BelowHalf;
    }
    let rest = value & (u128::MAX >> (128 - bits));
    let half = 1u128 << (bits - 1);
    match rest.cmp(&half) {
        _ if rest == 0 => Rest::None,
        std::cmp::Ordering::Less => Rest::BelowHalf,
        std::cmp::Ordering::Equal => Rest::Half,
        std::cmp::Ordering::Greater => Rest::AboveHalf,
    }
}

impl Number {
    pub(super) fn is_zero(&self) -> bool {
        matches!(self, Number::Finite(e) if e.significand == 0)
    }

    pub(super) fn is_negative(&self) -> bool {
        match *self {
            Number::Finite(e) => e.negative,
            Number::Infinite(negative) => negative,
        }
    }

    pub(super) fn negate(self) -> Number {
        match self {
            Number::Finite(e) => Number::Finite(e.negate()),
            Number::Infinite(negative) => Number::Infinite(!negative),
        }
    }

    /// The product, or `None` for zero times infinity.
    pub(super) fn times(self, other: Number) -> Option<Number> {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (Number::Finite(a), Number::Finite(b)) => Some(Number::Finite(a.times(b))),
            _ if self.is_zero() || other.is_zero() => None,
            _ => Some(Number::Infinite(negative)),
        }
    }

    /// The sum, or `None` for infinities of opposite signs.
    pub(super) fn plus(self, other: Number, rounding: Rounding) -> Option<Number> {
        match (self, other) {
            (Number::Finite(a), Number::Finite(b)) => Some(Number::Finite(a.plus(b, rounding))),
            (Number::Infinite(a), Number::Infinite(b)) => (a == b).then_some(self),
            (Number::Infinite(_), _) => Some(self),
            (_, Number::Infinite(_)) => Some(other),
        }
    }

    /// Applies `f` to a finite number and leaves an infinity.
    pub(super) fn map(self, f: impl FnOnce(Exact) -> Exact) -> Number {
        match self {
            Number::Finite(e) => Number::Finite(f(e)),
            infinite => infinite,
        }
    }
}
