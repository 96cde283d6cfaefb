//! Conversions between floats and integers, and to and from f16, on bits.

use naga::ScalarKind as K;

use super::func::{Ex, Func};

/// The number `x` of one kind (32 bits, or a float of any width) as another of `width` bytes.
pub(super) fn number(f: &mut Func, x: Ex, (from, to): (K, K), width: u8) -> Ex {
    let seen = f.bits(from, x);
    let converted = f.convert(to, width, seen);
    f.bits(K::Uint, converted)
}

/// Truncates a float that fits; for others the result has no meaning.
fn truncated(f: &mut Func, x: Ex, to: K) -> Ex {
    number(f, x, (K::Float, to), 4)
}

pub(super) fn u32_from_f32(f: &mut Func, x: Ex) -> Ex {
    let fitting = truncated(f, x, K::Uint);
    let (two32, infinity) = (f.u32(0x4f80_0000), f.u32(0x7f80_0000));
    let (large, none) = (f.ge(x, two32), f.gt(x, infinity));
    unsigned(f, fitting, large, none)
}

pub(super) fn u32_from_f64(f: &mut Func, x: Ex) -> Ex {
    let fitting = truncated(f, x, K::Uint);
    let (two32, infinity) = (f.u64(0x41f0_0000_0000_0000), f.u64(0x7ff0_0000_0000_0000));
    let (large, none) = (f.ge(x, two32), f.gt(x, infinity));
    unsigned(f, fitting, large, none)
}

/// `none`: a NaN or below 0, both of which have larger bits than infinity.
fn unsigned(f: &mut Func, fitting: Ex, large: Ex, none: Ex) -> Ex {
    let (zero, most) = (f.u32(0), f.u32(u32::MAX));
    let clamped = f.select(large, most, fitting);
    f.select(none, zero, clamped)
}

pub(super) fn s32_from_f32(f: &mut Func, x: Ex) -> Ex {
    let fitting = truncated(f, x, K::Sint);
    let magnitude = f.and_u32(x, 0x7fff_ffff);
    let (two31, infinity) = (f.u32(0x4f00_0000), f.u32(0x7f80_0000));
    let (large, nan) = (f.ge(magnitude, two31), f.gt(magnitude, infinity));
    let sign = f.shr_u32(x, 31);
    signed(f, fitting, large, nan, sign)
}

pub(super) fn s32_from_f64(f: &mut Func, x: Ex) -> Ex {
    let fitting = truncated(f, x, K::Sint);
    let mask = f.u64(u64::MAX >> 1);
    let magnitude = f.and(x, mask);
    let (two31, infinity) = (f.u64(0x41e0_0000_0000_0000), f.u64(0x7ff0_0000_0000_0000));
    let (large, nan) = (f.ge(magnitude, two31), f.gt(magnitude, infinity));
    let high = f.high(x);
    let sign = f.shr_u32(high, 31);
    signed(f, fitting, large, nan, sign)
}

fn signed(f: &mut Func, fitting: Ex, large: Ex, nan: Ex, sign: Ex) -> Ex {
    let (zero, most) = (f.u32(0), f.u32(i32::MAX as u32));
    // 0x7fffffff + 1 is the lowest number.
    let end = f.add(most, sign);
    let clamped = f.select(large, end, fitting);
    f.select(nan, zero, clamped)
}

/// f16 bits in the low half to f32, exact.
pub(super) fn f32_from_f16(f: &mut Func, x: Ex) -> Ex {
    let sign = f.and_u32(x, 0x8000);
    let sign = f.shl_u32(sign, 16);
    let magnitude = f.and_u32(x, 0x7fff);
    // The exponent's bias goes from 15 to 127, and from 31 to 255 for infinities and NaNs.
    let shifted = f.shl_u32(magnitude, 13);
    let normal = f.add_u32(shifted, 112 << 23);
    let special = f.add_u32(shifted, 224 << 23);
    let infinity = f.u32(0x7c00);
    let is_special = f.ge(magnitude, infinity);
    let large = f.select(is_special, special, normal);
    // Denormals are their fraction in units of 2^-24.
    let units = number(f, magnitude, (K::Uint, K::Float), 4);
    let bias = f.u32(24 << 23);
    let small = f.sub(units, bias);
    let (zero, least) = (f.u32(0), f.u32(0x400));
    let is_zero = f.is_u32(magnitude, 0);
    let small = f.select(is_zero, zero, small);
    let is_small = f.lt(magnitude, least);
    let result = f.select(is_small, small, large);
    f.or(result, sign)
}

/// f32 bits to f16 in the low half, round to nearest even.
pub(super) fn f16_from_f32(f: &mut Func, x: Ex) -> Ex {
    let sign = f.shr_u32(x, 16);
    let sign = f.and_u32(sign, 0x8000);
    let magnitude = f.and_u32(x, 0x7fff_ffff);
    let normal = f16_normal(f, magnitude);
    let small = f16_denormal(f, magnitude);
    let least = f.u32(113 << 23);
    let is_small = f.lt(magnitude, least);
    let finite = f.select(is_small, small, normal);
    let (infinity, nan) = (f.u32(0x7c00), f.u32(0x7e00));
    // 65520 and above rounds to infinity.
    let (overflow, f32_infinity) = (f.u32(0x477f_f000), f.u32(0x7f80_0000));
    let is_large = f.ge(magnitude, overflow);
    let result = f.select(is_large, infinity, finite);
    let is_nan = f.gt(magnitude, f32_infinity);
    let result = f.select(is_nan, nan, result);
    f.or(result, sign)
}

/// Rounds off 13 bits of a magnitude of at least 2^-14.
fn f16_normal(f: &mut Func, magnitude: Ex) -> Ex {
    let odd = f.shr_u32(magnitude, 13);
    let odd = f.and_u32(odd, 1);
    let bias = f.u32(112 << 23);
    let rebiased = f.sub(magnitude, bias);
    let half = f.add_u32(rebiased, 0xfff);
    let rounded = f.add(half, odd);
    f.shr_u32(rounded, 13)
}

/// Rounds a magnitude below 2^-14 to units of 2^-24.
fn f16_denormal(f: &mut Func, magnitude: Ex) -> Ex {
    let exponent = f.shr_u32(magnitude, 23);
    let fraction = f.and_u32(magnitude, 0x7f_ffff);
    let hidden = f.u32(0x80_0000);
    let significand = f.or(fraction, hidden);
    // The significand counts units of 2^(exponent - 150): 126 - exponent bits go. At 25 and above nothing is left.
    let base = f.u32(126);
    let by = f.sub(base, exponent);
    let (most, one) = (f.u32(25), f.u32(1));
    let by = f.math(naga::MathFunction::Min, &[by, most]);
    let whole = f.shr(significand, by);
    let unit = f.shl(one, by);
    let mask = f.sub(unit, one);
    let rest = f.and(significand, mask);
    let half = f.shr_u32(unit, 1);
    let (above, tie) = (f.gt(rest, half), f.eq(rest, half));
    let odd = f.and_u32(whole, 1);
    let odd = f.isnt_u32(odd, 0);
    let up_at_tie = f.both(tie, odd);
    let up = f.either(above, up_at_tie);
    let more = f.add_u32(whole, 1);
    f.select(up, more, whole)
}
