//! The float formats: their encodings, and which fields of MODE rule them.

use super::exact::{Exact, Number};
use super::host::Host;
use super::{Mode, Rounding};

/// A binary interchange format of IEEE 754.
pub(super) trait Format: Host {
    /// Bits of the exponent field.
    const EXPONENT_BITS: u32;
    /// Bits of the fraction field.
    const FRACTION_BITS: u32;

    /// How results of this format are rounded.
    fn rounding(mode: &Mode) -> Rounding;
    /// Whether denormal sources of this format count as zeros.
    fn flush_sources(mode: &Mode) -> bool;
    /// Whether denormal results of this format become zeros.
    fn flush_results(mode: &Mode) -> bool;
    /// Whether results of this format that overflow are the largest finite value.
    fn saturates(_mode: &Mode) -> bool {
        false
    }

    /// Bits of the encoding.
    const BITS: u32 = 1 + Self::EXPONENT_BITS + Self::FRACTION_BITS;
    /// The exponent field of 1.0.
    const BIAS: i32 = (1 << (Self::EXPONENT_BITS - 1)) - 1;
    /// The sign bit.
    const SIGN: u64 = 1 << (Self::BITS - 1);
    /// Plus infinity; also the exponent field's mask.
    const INFINITY: u64 = ((1 << Self::EXPONENT_BITS) - 1) << Self::FRACTION_BITS;
    /// The bit that makes a NaN quiet.
    const QUIET: u64 = 1 << (Self::FRACTION_BITS - 1);
    /// The NaN that invalid operations give: quiet, negative, no payload.
    const NAN: u64 = Self::SIGN | Self::INFINITY | Self::QUIET;
    /// 1.0.
    const ONE: u64 = (Self::BIAS as u64) << Self::FRACTION_BITS;
    /// The largest finite value.
    const LARGEST: u64 = Self::INFINITY - 1;
    /// Exponent of the least normal value.
    const LEAST_EXPONENT: i32 = 1 - Self::BIAS;
}

/// Half precision.
pub(super) struct F16;
/// Single precision.
pub(super) struct F32;
/// Double precision.
pub(super) struct F64;

impl Format for F16 {
    const EXPONENT_BITS: u32 = 5;
    const FRACTION_BITS: u32 = 10;

    fn rounding(mode: &Mode) -> Rounding {
        mode.round16_64()
    }
    fn flush_sources(mode: &Mode) -> bool {
        mode.flush_sources16_64()
    }
    fn flush_results(mode: &Mode) -> bool {
        mode.flush_results16_64()
    }
    fn saturates(mode: &Mode) -> bool {
        mode.fp16_ovfl()
    }
}

impl Format for F32 {
    const EXPONENT_BITS: u32 = 8;
    const FRACTION_BITS: u32 = 23;

    fn rounding(mode: &Mode) -> Rounding {
        mode.round32()
    }
    fn flush_sources(mode: &Mode) -> bool {
        mode.flush_sources32()
    }
    fn flush_results(mode: &Mode) -> bool {
        mode.flush_results32()
    }
}

impl Format for F64 {
    const EXPONENT_BITS: u32 = 11;
    const FRACTION_BITS: u32 = 52;

    fn rounding(mode: &Mode) -> Rounding {
        mode.round16_64()
    }
    fn flush_sources(mode: &Mode) -> bool {
        mode.flush_sources16_64()
    }
    fn flush_results(mode: &Mode) -> bool {
        mode.flush_results16_64()
    }
}

pub(super) const fn magnitude<F: Format>(bits: u64) -> u64 {
    bits & (F::SIGN - 1)
}

pub(super) const fn is_negative<F: Format>(bits: u64) -> bool {
    bits & F::SIGN != 0
}

pub(super) const fn is_nan<F: Format>(bits: u64) -> bool {
    magnitude::<F>(bits) > F::INFINITY
}

pub(super) const fn is_signalling<F: Format>(bits: u64) -> bool {
    is_nan::<F>(bits) && bits & F::QUIET == 0
}

pub(super) const fn is_infinite<F: Format>(bits: u64) -> bool {
    magnitude::<F>(bits) == F::INFINITY
}

pub(super) const fn is_zero<F: Format>(bits: u64) -> bool {
    magnitude::<F>(bits) == 0
}

pub(super) const fn is_denormal<F: Format>(bits: u64) -> bool {
    bits & F::INFINITY == 0 && magnitude::<F>(bits) != 0
}

/// The exponent field.
pub(super) const fn exponent_field<F: Format>(bits: u64) -> i32 {
    ((bits & F::INFINITY) >> F::FRACTION_BITS) as i32
}

/// The first NaN of the sources in source order, made quiet.
pub(super) fn first_nan<F: Format>(sources: &[u64]) -> Option<u64> {
    sources.iter().find(|&&s| is_nan::<F>(s)).map(|s| s | F::QUIET)
}

/// A source as the operation sees it: denormals flushed if MODE says so.
pub(super) fn source<F: Format>(mode: &Mode, bits: u64) -> u64 {
    if is_denormal::<F>(bits) && F::flush_sources(mode) { bits & F::SIGN } else { bits }
}

/// A result as it is stored: denormals flushed if MODE says so.
pub(super) fn flush_result<F: Format>(mode: &Mode, bits: u64) -> u64 {
    if is_denormal::<F>(bits) && F::flush_results(mode) { bits & F::SIGN } else { bits }
}

/// A value that an operation passes through: NaNs made quiet, denormals flushed if MODE flushes them at either end.
pub(super) fn canonical<F: Format>(mode: &Mode, bits: u64) -> u64 {
    match is_nan::<F>(bits) {
        true => bits | F::QUIET,
        false => flush_result::<F>(mode, source::<F>(mode, bits)),
    }
}

/// The value of bits that are not a NaN.
pub(super) fn decode<F: Format>(bits: u64) -> Number {
    let negative = is_negative::<F>(bits);
    let fraction = bits & (F::QUIET << 1).wrapping_sub(1);
    match exponent_field::<F>(bits) {
        _ if is_infinite::<F>(bits) => Number::Infinite(negative),
        0 => Number::Finite(Exact {
            negative,
            exponent: F::LEAST_EXPONENT - F::FRACTION_BITS as i32,
            significand: fraction.into(),
        }),
        field => Number::Finite(Exact {
            negative,
            exponent: field - F::BIAS - F::FRACTION_BITS as i32,
            significand: (fraction | 1 << F::FRACTION_BITS).into(),
        }),
    }
}

/// [`decode`] of a source that is not a NaN.
pub(super) fn number<F: Format>(mode: &Mode, bits: u64) -> Number {
    decode::<F>(source::<F>(mode, bits))
}

/// Rounds to the format's grid; overflow gives infinity or, where the rounding points inward, the largest value.
pub(super) fn encode<F: Format>(rounding: Rounding, value: Exact) -> u64 {
    let sign = if value.negative { F::SIGN } else { 0 };
    if value.significand == 0 {
        return sign;
    }
    let exponent = value.magnitude().max(F::LEAST_EXPONENT);
    let dropped = (exponent - F::FRACTION_BITS as i32).saturating_sub(value.exponent);
    let significand = match dropped {
        0.. => value.rounded_significand(dropped.unsigned_abs(), rounding),
        _ => value.significand.checked_shl(dropped.unsigned_abs()).unwrap_or(0),
    };
    // The implicit bit of a normal significand is the difference between its exponent field and the one added here.
    let field = i128::from(exponent - F::LEAST_EXPONENT) << F::FRACTION_BITS;
    let bits = field.saturating_add_unsigned(significand);
    sign | if bits >= i128::from(F::INFINITY) { overflow::<F>(rounding, value.negative) } else { bits as u64 }
}

fn overflow<F: Format>(rounding: Rounding, negative: bool) -> u64 {
    match (rounding, negative) {
        (Rounding::NearestEven, _) | (Rounding::Up, false) | (Rounding::Down, true) => F::INFINITY,
        _ => F::LARGEST,
    }
}

/// The stored bits of an exact result (`None`: the operation was invalid), rounded as `rounding` says.
pub(super) fn store_rounded<F: Format>(mode: &Mode, rounding: Rounding, value: Option<Number>) -> u64 {
    match value {
        None => F::NAN,
        Some(Number::Infinite(negative)) => F::INFINITY | if negative { F::SIGN } else { 0 },
        Some(Number::Finite(exact)) => {
            let bits = encode::<F>(rounding, exact);
            if F::saturates(mode) && is_infinite::<F>(bits) {
                return bits - 1;
            }
            flush_result::<F>(mode, bits)
        }
    }
}

/// The stored bits of an exact result, by MODE.
pub(super) fn store<F: Format>(mode: &Mode, value: Option<Number>) -> u64 {
    store_rounded::<F>(mode, F::rounding(mode), value)
}
