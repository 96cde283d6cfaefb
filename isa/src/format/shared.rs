//! Three 9-bit components with one 5-bit exponent, as `EXT_texture_shared_exponent` defines them.

use super::float::{Value, shift_to_even};
use super::numeric::SHARED_EXPONENT;

/// Largest mantissa and exponent field.
const MANTISSA_MAX: u64 = 511;
const EXPONENT_MAX: i32 = 31;
/// Bits of a mantissa.
const MANTISSA_BITS: i32 = 9;

/// A number not below 0 as `magnitude * 2^exponent`, clamped to the largest one that the format holds.
fn clamped(value: Value) -> (u64, i32) {
    let largest = (MANTISSA_MAX, SHARED_EXPONENT + EXPONENT_MAX);
    match value {
        Value::Infinite { negative: false } => largest,
        Value::Finite { negative: false, magnitude, exponent } => {
            if top(magnitude, exponent) > largest.1 + MANTISSA_BITS { largest } else { (magnitude, exponent) }
        }
        _ => (0, 0),
    }
}

/// Exponent of the bit above the highest one; far below everything for 0.
fn top(magnitude: u64, exponent: i32) -> i32 {
    if magnitude == 0 { i32::MIN / 2 } else { 64 - magnitude.leading_zeros() as i32 + exponent }
}

/// The mantissas of three numbers and their common exponent.
pub(super) fn encode(values: [Value; 3]) -> ([u64; 3], u32) {
    let numbers = values.map(clamped);
    let highest = numbers.iter().map(|(m, e)| top(*m, *e)).max().unwrap_or(0);
    let mut field = (highest - MANTISSA_BITS - SHARED_EXPONENT).clamp(0, EXPONENT_MAX);
    let mantissa = |field: i32, (m, e): (u64, i32)| shift_up(m, e - (SHARED_EXPONENT + field));
    if field < EXPONENT_MAX && numbers.iter().any(|n| mantissa(field, *n) > MANTISSA_MAX) {
        field += 1;
    }
    (numbers.map(|n| mantissa(field, n).min(MANTISSA_MAX)), field as u32)
}

/// `magnitude * 2^by`, rounded to nearest, halves up as the extension says.
fn shift_up(magnitude: u64, by: i32) -> u64 {
    match by {
        0.. => (u128::from(magnitude) << by.min(63)).min(u128::from(u64::MAX)) as u64,
        -64..0 => ((u128::from(magnitude) + (1 << (by.unsigned_abs() - 1))) >> by.unsigned_abs()) as u64,
        _ => shift_to_even(magnitude.into(), by) as u64,
    }
}
