//! What the bits of a component mean.

use super::float::{Binary, F16, F32, U10, U11, Value, shift_to_even};

/// The numeric kinds of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numeric {
    /// Unsigned, 0 to 1.
    Unorm,
    /// Two's complement, -1 to 1; the lowest code reads as -1 too.
    Snorm,
    /// Unsigned integer read as the f32 of its value.
    Uscaled,
    /// Two's complement integer read as the f32 of its value.
    Sscaled,
    /// Unsigned integer.
    Uint,
    /// Two's complement integer.
    Sint,
    /// IEEE float of 16 or 32 bits.
    Float,
    /// Unsigned float of 10 or 11 bits with 5 exponent bits.
    Ufloat,
}

impl Numeric {
    /// The kind that a table names.
    pub(super) fn named(name: &str) -> Option<Self> {
        const NAMES: [(&str, Numeric); 8] = [
            ("unorm", Numeric::Unorm),
            ("snorm", Numeric::Snorm),
            ("uscaled", Numeric::Uscaled),
            ("sscaled", Numeric::Sscaled),
            ("uint", Numeric::Uint),
            ("sint", Numeric::Sint),
            ("float", Numeric::Float),
            ("ufloat", Numeric::Ufloat),
        ];
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, kind)| *kind)
    }

    /// Whether a component of `width` bits can be of this kind.
    pub(super) fn allows(self, width: u8) -> bool {
        match self {
            Numeric::Float => matches!(width, 16 | 32),
            Numeric::Ufloat => matches!(width, 10 | 11),
            Numeric::Snorm | Numeric::Sscaled | Numeric::Sint => width >= 2,
            Numeric::Unorm | Numeric::Uscaled | Numeric::Uint => true,
        }
    }

    /// Whether registers hold an integer.
    pub fn is_integer(self) -> bool {
        matches!(self, Numeric::Uint | Numeric::Sint)
    }

    /// Whether components are two's complement integers.
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Numeric::Sint | Numeric::Sscaled | Numeric::Snorm)
    }

    /// The register that `bits` (of `width`, the rest 0) read as.
    pub(super) fn load(self, bits: u32, width: u8) -> u32 {
        match self {
            Numeric::Uint => bits,
            Numeric::Sint => sign_extend(bits, width) as u32,
            Numeric::Uscaled => ratio(false, bits, 1),
            Numeric::Sscaled => signed_ratio(sign_extend(bits, width), 1),
            Numeric::Unorm => ratio(false, bits, unsigned_max(width)),
            Numeric::Snorm => {
                let limit = signed_max(width);
                signed_ratio(sign_extend(bits, width).max(-(limit as i32)), limit)
            }
            Numeric::Float | Numeric::Ufloat if width == 32 => bits,
            Numeric::Float | Numeric::Ufloat => F32.encode(small_float(width).decode(bits)),
        }
    }

    /// The bits (of `width`) that a register is stored as.
    pub(super) fn store(self, register: u32, width: u8) -> u32 {
        let (unsigned, signed) = (i64::from(unsigned_max(width)), i64::from(signed_max(width)));
        match self {
            Numeric::Uint => register.min(unsigned_max(width)),
            Numeric::Sint => i64::from(register as i32).clamp(-signed - 1, signed) as u32,
            Numeric::Uscaled => fixed(register, 1, (0, unsigned), Fraction::Dropped),
            Numeric::Sscaled => fixed(register, 1, (-signed - 1, signed), Fraction::Dropped),
            Numeric::Unorm => fixed(register, unsigned_max(width), (0, unsigned), Fraction::Nearest),
            Numeric::Snorm => fixed(register, signed_max(width), (-signed, signed), Fraction::Nearest),
            Numeric::Float | Numeric::Ufloat if width == 32 => register,
            Numeric::Float | Numeric::Ufloat => small_float(width).encode(F32.decode(register)),
        }
    }
}

/// The float format of a component narrower than 32 bits.
fn small_float(width: u8) -> Binary {
    match width {
        10 => U10,
        11 => U11,
        _ => F16,
    }
}

fn unsigned_max(width: u8) -> u32 {
    super::mask(width)
}

fn signed_max(width: u8) -> u32 {
    super::mask(width) >> 1
}

fn sign_extend(bits: u32, width: u8) -> i32 {
    let unused = 32 - u32::from(width.clamp(1, 32));
    (bits << unused) as i32 >> unused
}

/// The f32 nearest to `+-numerator / denominator`, ties to even. The denominator is not 0.
fn ratio(negative: bool, numerator: u32, denominator: u32) -> u32 {
    // 31 bits below the numerator's lowest are enough for 24 significant ones and a guard; whether anything is left
    // over goes into the lowest bit, which only a tie would ask for.
    let (numerator, denominator) = (u64::from(numerator) << 31, u64::from(denominator.max(1)));
    let quotient = numerator / denominator;
    let shift = quotient.leading_zeros().saturating_sub(2).min(31);
    let refined = (u128::from(numerator) << shift) / u128::from(denominator);
    let inexact = (u128::from(numerator) << shift) % u128::from(denominator) != 0;
    let magnitude = refined as u64 | u64::from(inexact);
    F32.encode(Value::Finite { negative, magnitude, exponent: -31 - shift as i32 })
}

fn signed_ratio(numerator: i32, denominator: u32) -> u32 {
    ratio(numerator < 0, numerator.unsigned_abs(), denominator)
}

/// What becomes of the part of a number below its integer.
#[derive(Clone, Copy)]
enum Fraction {
    Nearest,
    Dropped,
}

/// The f32 `register` times `scale` as an integer in `limits`; NaN is 0.
fn fixed(register: u32, scale: u32, limits: (i64, i64), fraction: Fraction) -> u32 {
    let value = match F32.decode(register) {
        Value::Nan { .. } => 0,
        Value::Infinite { negative: true } => limits.0,
        Value::Infinite { negative: false } => limits.1,
        Value::Finite { negative, magnitude, exponent } => {
            let whole = integer(magnitude * u64::from(scale), exponent, fraction);
            if negative { -whole } else { whole }
        }
    };
    value.clamp(limits.0, limits.1) as u32
}

/// `magnitude * 2^exponent` as an integer, at most 2^40. The magnitude is below 2^56.
fn integer(magnitude: u64, exponent: i32, fraction: Fraction) -> i64 {
    const LARGE: i64 = 1 << 40;
    let bits = 64 - magnitude.leading_zeros() as i32;
    if bits + exponent > 40 {
        return LARGE;
    }
    match fraction {
        Fraction::Dropped if exponent < 0 => {
            magnitude.checked_shr(exponent.unsigned_abs()).unwrap_or(0) as i64
        }
        _ => shift_to_even(magnitude, exponent) as i64,
    }
}
