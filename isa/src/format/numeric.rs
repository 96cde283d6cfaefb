//! What the bits of a component mean.

use super::float::{Binary, F16, F32, F64, U10, U11, Value, shift_to_even};

/// The numeric kinds of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numeric {
    /// Unsigned, 0 to 1.
    Unorm,
    /// Two's complement, -1 to 1; the lowest code reads as -1 too.
    Snorm,
    /// Unsigned integer read as the float of its value.
    Uscaled,
    /// Two's complement integer read as the float of its value.
    Sscaled,
    /// Unsigned integer.
    Uint,
    /// Two's complement integer.
    Sint,
    /// IEEE float of 16, 32 or 64 bits.
    Float,
    /// Unsigned float of 10 or 11 bits with 5 exponent bits.
    Ufloat,
    /// Two's complement with 16 bits behind the point, of 32 bits.
    Fixed,
    /// IEEE float of 32 bits; a store rounds it to a multiple of 1/256.
    Snapped,
    /// 9 bits that share a 5-bit exponent with the other components: `bits * 2^(exponent - 24)`.
    Shared,
}

/// What a component's bits or a register stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Float(Value),
    Integer(i128),
}

/// Kinds by the names that tables give them.
const NAMES: [(&str, Numeric); 11] = [
    ("unorm", Numeric::Unorm),
    ("snorm", Numeric::Snorm),
    ("uscaled", Numeric::Uscaled),
    ("sscaled", Numeric::Sscaled),
    ("uint", Numeric::Uint),
    ("sint", Numeric::Sint),
    ("float", Numeric::Float),
    ("ufloat", Numeric::Ufloat),
    ("fixed", Numeric::Fixed),
    ("snapped", Numeric::Snapped),
    ("shared", Numeric::Shared),
];

/// Bits behind the point of [`Numeric::Fixed`], and of what [`Numeric::Snapped`] stores.
const FIXED_BITS: i32 = 16;
const SNAPPED_BITS: i32 = 8;
/// Exponent of the lowest bit of a [`Numeric::Shared`] component whose exponent field is 0.
pub(super) const SHARED_EXPONENT: i32 = -24;

impl Numeric {
    /// The kind that a table names.
    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, kind)| *kind)
    }

    /// Whether a component of `width` bits can be of this kind.
    pub(super) fn allows(self, width: u8) -> bool {
        match self {
            Numeric::Float => matches!(width, 16 | 32 | 64),
            Numeric::Ufloat => matches!(width, 10 | 11),
            Numeric::Fixed | Numeric::Snapped => width == 32,
            Numeric::Shared => width == 9,
            Numeric::Sint => width >= 2,
            Numeric::Snorm | Numeric::Sscaled => (2..=32).contains(&width),
            Numeric::Unorm | Numeric::Uscaled => width <= 32,
            Numeric::Uint => true,
        }
    }

    /// Whether registers hold an integer.
    pub fn is_integer(self) -> bool {
        matches!(self, Numeric::Uint | Numeric::Sint)
    }

    /// The number that `bits` (of `width`, the rest 0) stand for; `exponent` is the element's shared one.
    pub(super) fn load(self, bits: u64, width: u8, exponent: u32) -> Number {
        let signed = i128::from(sign_extend(bits, width));
        Number::Float(match self {
            Numeric::Uint => return Number::Integer(bits.into()),
            Numeric::Sint => return Number::Integer(signed),
            Numeric::Uscaled => ratio(bits.into(), 1),
            Numeric::Sscaled => ratio(signed, 1),
            Numeric::Unorm => ratio(bits.into(), unsigned_max(width)),
            Numeric::Snorm => ratio(signed.max(-i128::from(signed_max(width))), signed_max(width)),
            Numeric::Fixed => scaled(signed, -FIXED_BITS),
            Numeric::Shared => scaled(bits.into(), SHARED_EXPONENT + exponent as i32),
            Numeric::Float | Numeric::Ufloat | Numeric::Snapped => float(width).decode(bits),
        })
    }

    /// The bits (of `width`) that a number is stored as. A shared exponent is chosen by the element, not here.
    pub(super) fn store(self, number: Number, width: u8) -> u64 {
        let (unsigned, signed) = (i128::from(unsigned_max(width)), i128::from(signed_max(width)));
        match (self, number) {
            (Numeric::Uint, number) => whole(number, (0, unsigned)),
            (Numeric::Sint, number) => whole(number, (-signed - 1, signed)),
            (_, Number::Integer(value)) => self.store(Number::Float(scaled(value, 0)), width),
            (Numeric::Uscaled, Number::Float(v)) => fixed(v, 1, (0, unsigned), Fraction::Dropped),
            (Numeric::Sscaled, Number::Float(v)) => fixed(v, 1, (-signed - 1, signed), Fraction::Dropped),
            (Numeric::Unorm, Number::Float(v)) => {
                fixed(v, unsigned_max(width), (0, unsigned), Fraction::Nearest)
            }
            (Numeric::Snorm, Number::Float(v)) => {
                fixed(v, signed_max(width), (-signed, signed), Fraction::Nearest)
            }
            (Numeric::Fixed, Number::Float(v)) => {
                fixed(v, 1 << FIXED_BITS, (-signed - 1, signed), Fraction::Nearest)
            }
            (Numeric::Snapped, Number::Float(v)) => F32.encode(snap(v)),
            (Numeric::Shared, Number::Float(_)) => 0,
            (Numeric::Float | Numeric::Ufloat, Number::Float(v)) => float(width).encode(v),
        }
    }
}

/// The float format of a component of `width` bits.
pub(super) fn float(width: u8) -> Binary {
    match width {
        10 => U10,
        11 => U11,
        16 => F16,
        64 => F64,
        _ => F32,
    }
}

fn unsigned_max(width: u8) -> u64 {
    super::mask(width)
}

fn signed_max(width: u8) -> u64 {
    super::mask(width) >> 1
}

fn sign_extend(bits: u64, width: u8) -> i64 {
    let unused = 64 - u32::from(width.clamp(1, 64));
    (bits << unused) as i64 >> unused
}

/// `value * 2^exponent`. Magnitudes past 64 bits do not occur: registers and components have no more.
fn scaled(value: i128, exponent: i32) -> Value {
    let magnitude = u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX);
    Value::Finite { negative: value < 0, magnitude, exponent }
}

/// `numerator / denominator`, exact or with a lowest bit that says that something was left over. The numerator is not
/// larger than the denominator unless that is 1; the quotient then has at least 30 bits, enough to round from.
fn ratio(numerator: i128, denominator: u64) -> Value {
    if denominator <= 1 {
        return scaled(numerator, 0);
    }
    let (wide, denominator) = (numerator.unsigned_abs() << 62, u128::from(denominator));
    let inexact = wide % denominator != 0;
    let magnitude = (wide / denominator) as u64 | u64::from(inexact);
    Value::Finite { negative: numerator < 0, magnitude, exponent: -62 }
}

/// What becomes of the part of a number below its integer.
#[derive(Clone, Copy)]
enum Fraction {
    Nearest,
    Dropped,
}

/// An integer within limits; of a float its whole part.
fn whole(number: Number, limits: (i128, i128)) -> u64 {
    match number {
        Number::Integer(value) => value.clamp(limits.0, limits.1) as u64,
        Number::Float(value) => fixed(value, 1, limits, Fraction::Dropped),
    }
}

/// The number times `scale` as an integer in `limits`; NaN is 0.
fn fixed(value: Value, scale: u64, limits: (i128, i128), fraction: Fraction) -> u64 {
    let value = match value {
        Value::Nan { .. } => 0,
        Value::Infinite { negative: true } => limits.0,
        Value::Infinite { negative: false } => limits.1,
        Value::Finite { negative, magnitude, exponent } => {
            let whole = integer(u128::from(magnitude) * u128::from(scale), exponent, fraction);
            if negative { -whole } else { whole }
        }
    };
    value.clamp(limits.0, limits.1) as u64
}

/// `magnitude * 2^exponent` as an integer, at most 2^100.
fn integer(magnitude: u128, exponent: i32, fraction: Fraction) -> i128 {
    const LARGE_BITS: i32 = 100;
    let bits = 128 - magnitude.leading_zeros() as i32;
    if bits + exponent > LARGE_BITS {
        return 1 << LARGE_BITS;
    }
    match fraction {
        Fraction::Dropped if exponent < 0 => {
            magnitude.checked_shr(exponent.unsigned_abs()).unwrap_or(0) as i128
        }
        _ => shift_to_even(magnitude, exponent) as i128,
    }
}

/// The nearest multiple of 1/256, ties to even; what is none becomes neither NaN nor infinite.
fn snap(value: Value) -> Value {
    match value {
        Value::Finite { negative, magnitude, exponent } if exponent < -SNAPPED_BITS => {
            let steps = shift_to_even(magnitude.into(), exponent + SNAPPED_BITS) as u64;
            Value::Finite { negative, magnitude: steps, exponent: -SNAPPED_BITS }
        }
        other => other,
    }
}
