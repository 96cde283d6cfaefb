//! Conversions between floats and integers, and packing.

use super::exact::{Exact, Number};
use super::format::{
    F16, F32, F64, Format, canonical, first_nan, is_nan, magnitude, number, store, store_rounded,
};
use super::{Mode, Output, Rounding, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

/// A float in another format. A NaN keeps its sign and the leading bits of its payload.
pub(super) fn change<From: Format, To: Format>(mode: &Mode, rounding: Rounding, a: u64) -> u64 {
    if !is_nan::<From>(a) {
        return store_rounded::<To>(mode, rounding, Some(number::<From>(mode, a)));
    }
    let payload = u128::from(magnitude::<From>(a)) << 64 >> From::FRACTION_BITS << To::FRACTION_BITS >> 64;
    let fraction = payload as u64 & (To::QUIET - 1);
    let sign = if a & From::SIGN != 0 { To::SIGN } else { 0 };
    sign | To::INFINITY | To::QUIET | fraction
}

fn from_integer<F: Format>(mode: &Mode, value: i128) -> u64 {
    store::<F>(mode, Some(Number::Finite(Exact::scaled(value, 0))))
}

/// A float times `scale` as an integer, saturated; 0 for a NaN.
fn to_integer<F: Format>(mode: &Mode, a: u64, scale: i128, rounding: Rounding, range: (i128, i128)) -> i128 {
    let value = match first_nan::<F>(&[a]).is_none().then(|| number::<F>(mode, a)) {
        None => 0,
        Some(Number::Infinite(negative)) => {
            if negative {
                i128::MIN
            } else {
                i128::MAX
            }
        }
        Some(Number::Finite(e)) => e.times(Exact::scaled(scale, 0)).to_integer(rounding),
    };
    value.clamp(range.0, range.1)
}

const I16_RANGE: (i128, i128) = (i16::MIN as i128, i16::MAX as i128);
const U16_RANGE: (i128, i128) = (0, u16::MAX as i128);
const I32_RANGE: (i128, i128) = (i32::MIN as i128, i32::MAX as i128);
const U32_RANGE: (i128, i128) = (0, u32::MAX as i128);

fn to_i32<F: Format>(mode: &Mode, a: u64, rounding: Rounding) -> u64 {
    u64::from(to_integer::<F>(mode, a, 1, rounding, I32_RANGE) as u32)
}

fn to_u32<F: Format>(mode: &Mode, a: u64) -> u64 {
    to_integer::<F>(mode, a, 1, Rounding::Zero, U32_RANGE) as u64
}

/// To the nearest integer, halves upward.
fn round_half_up(mode: &Mode, [a, ..]: Sources) -> u64 {
    let value = match first_nan::<F32>(&[a]).is_none().then(|| number::<F32>(mode, a)) {
        Some(Number::Finite(e)) => {
            e.plus(Exact::scaled(1, -1), Rounding::NearestEven).to_integer(Rounding::Down)
        }
        _ => return to_i32::<F32>(mode, a, Rounding::Down),
    };
    u64::from(value.clamp(I32_RANGE.0, I32_RANGE.1) as u32)
}

fn byte(a: u64, index: u32) -> u64 {
    a >> (8 * index) & 0xff
}

fn from_byte(mode: &Mode, a: u64, index: u32) -> u64 {
    from_integer::<F32>(mode, byte(a, index).into())
}

/// A signed 4-bit integer in sixteenths.
fn offset_from_nibble(mode: &Mode, [a, ..]: Sources) -> u64 {
    let signed = i128::from((a as i8) << 4 >> 4);
    store::<F32>(mode, Some(Number::Finite(Exact::scaled(signed, -4))))
}

/// To signed normalized 16 bits, rounded as results of the source's format are.
fn snorm<F: Format>(mode: &Mode, a: u64) -> u64 {
    u64::from(to_integer::<F>(mode, a, 32767, F::rounding(mode), (-32767, 32767)) as u16)
}

/// To unsigned normalized 16 bits, rounded as results of the source's format are.
fn unorm<F: Format>(mode: &Mode, a: u64) -> u64 {
    to_integer::<F>(mode, a, 65535, F::rounding(mode), U16_RANGE) as u64
}

fn pack(low: u64, high: u64) -> u64 {
    low & 0xffff | (high & 0xffff) << 16
}

fn truncated_half(mode: &Mode, a: u64) -> u64 {
    change::<F32, F16>(mode, Rounding::Zero, a)
}

fn saturate(value: i128, range: (i128, i128)) -> u64 {
    value.clamp(range.0, range.1) as u64
}

fn pack_i16(a: u64, b: u64) -> u64 {
    let half = |s: u64| saturate(i128::from(s as i32), I16_RANGE);
    pack(half(a), half(b))
}

fn pack_u16(a: u64, b: u64) -> u64 {
    pack(saturate(a.into(), U16_RANGE), saturate(b.into(), U16_RANGE))
}

/// The byte of `c` that `b` names replaced by `a` as an unsigned byte, rounded by MODE.
fn pack_u8(mode: &Mode, [a, b, c]: Sources) -> u64 {
    let shift = 8 * (b & 3);
    let value = to_integer::<F32>(mode, a, 1, mode.round32(), (0, 255)) as u64;
    c & !(0xff << shift) | value << shift
}

fn saturated_bytes(a: u64) -> u64 {
    let byte = |s: u64| saturate(i128::from(s as i16), (0, 255));
    byte(a) | byte(a >> 16) << 8
}

const fn row(op: Op, f: fn(&Mode, Sources) -> u64, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Value(f), output)
}

pub(super) const ROWS: &[VectorRow] = &[
    row(Op::V_CVT_I32_F32, |m, [a, ..]| to_i32::<F32>(m, a, Rounding::Zero), Output::I32),
    row(Op::V_CVT_I32_F64, |m, [a, ..]| to_i32::<F64>(m, a, Rounding::Zero), Output::I32),
    row(Op::V_CVT_U32_F32, |m, [a, ..]| to_u32::<F32>(m, a), Output::U32),
    row(Op::V_CVT_U32_F64, |m, [a, ..]| to_u32::<F64>(m, a), Output::U32),
    row(Op::V_CVT_FLR_I32_F32, |m, [a, ..]| to_i32::<F32>(m, a, Rounding::Down), Output::I32),
    row(Op::V_CVT_RPI_I32_F32, round_half_up, Output::I32),
    row(
        Op::V_CVT_I16_F16,
        |m, [a, ..]| u64::from(to_integer::<F16>(m, a, 1, Rounding::Zero, I16_RANGE) as u16),
        Output::I16,
    ),
    row(
        Op::V_CVT_U16_F16,
        |m, [a, ..]| to_integer::<F16>(m, a, 1, Rounding::Zero, U16_RANGE) as u64,
        Output::U16,
    ),
    row(Op::V_CVT_F32_I32, |m, [a, ..]| from_integer::<F32>(m, i128::from(a as i32)), Output::F32),
    row(Op::V_CVT_F32_U32, |m, [a, ..]| from_integer::<F32>(m, a.into()), Output::F32),
    row(Op::V_CVT_F64_I32, |m, [a, ..]| from_integer::<F64>(m, i128::from(a as i32)), Output::F64),
    row(Op::V_CVT_F64_U32, |m, [a, ..]| from_integer::<F64>(m, a.into()), Output::F64),
    row(Op::V_CVT_F16_I16, |m, [a, ..]| from_integer::<F16>(m, i128::from(a as i16)), Output::F16),
    row(Op::V_CVT_F16_U16, |m, [a, ..]| from_integer::<F16>(m, a.into()), Output::F16),
    row(Op::V_CVT_F16_F32, |m, [a, ..]| change::<F32, F16>(m, m.round16_64(), a), Output::F16),
    row(Op::V_CVT_F32_F16, |m, [a, ..]| change::<F16, F32>(m, m.round32(), a), Output::F32),
    row(Op::V_CVT_F32_F64, |m, [a, ..]| change::<F64, F32>(m, m.round16_64(), a), Output::F32),
    row(Op::V_CVT_F64_F32, |m, [a, ..]| change::<F32, F64>(m, m.round16_64(), a), Output::F64),
    row(Op::V_CVT_F32_UBYTE0, |m, [a, ..]| from_byte(m, a, 0), Output::F32),
    row(Op::V_CVT_F32_UBYTE1, |m, [a, ..]| from_byte(m, a, 1), Output::F32),
    row(Op::V_CVT_F32_UBYTE2, |m, [a, ..]| from_byte(m, a, 2), Output::F32),
    row(Op::V_CVT_F32_UBYTE3, |m, [a, ..]| from_byte(m, a, 3), Output::F32),
    row(Op::V_CVT_OFF_F32_I4, offset_from_nibble, Output::F32),
    row(Op::V_CVT_NORM_I16_F16, |m, [a, ..]| snorm::<F16>(m, a), Output::I16),
    row(Op::V_CVT_NORM_U16_F16, |m, [a, ..]| unorm::<F16>(m, a), Output::U16),
    row(Op::V_CVT_PKNORM_I16_F16, |m, [a, b, _]| pack(snorm::<F16>(m, a), snorm::<F16>(m, b)), Output::U32),
    row(Op::V_CVT_PKNORM_U16_F16, |m, [a, b, _]| pack(unorm::<F16>(m, a), unorm::<F16>(m, b)), Output::U32),
    row(Op::V_CVT_PKNORM_I16_F32, |m, [a, b, _]| pack(snorm::<F32>(m, a), snorm::<F32>(m, b)), Output::U32),
    row(Op::V_CVT_PKNORM_U16_F32, |m, [a, b, _]| pack(unorm::<F32>(m, a), unorm::<F32>(m, b)), Output::U32),
    row(
        Op::V_CVT_PKRTZ_F16_F32,
        |m, [a, b, _]| pack(truncated_half(m, a), truncated_half(m, b)),
        Output::U32,
    ),
    row(Op::V_CVT_PK_I16_I32, |_, [a, b, _]| pack_i16(a, b), Output::U32),
    row(Op::V_CVT_PK_U16_U32, |_, [a, b, _]| pack_u16(a, b), Output::U32),
    row(Op::V_CVT_PK_U8_F32, pack_u8, Output::U32),
    row(Op::V_PACK_B32_F16, |m, [a, b, _]| pack(canonical::<F16>(m, a), canonical::<F16>(m, b)), Output::U32),
    row(Op::V_SAT_PK_U8_I16, |_, [a, ..]| saturated_bytes(a), Output::U16),
];
