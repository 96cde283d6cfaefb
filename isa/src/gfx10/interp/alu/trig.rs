//! The table of 2/pi for the reduction of large angles.

use super::exact::{Exact, Number};
use super::format::{F64, exponent_field, store};
use super::{Mode, Output, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

/// The first 1201 bits of 2/pi after the binary point, then zeros.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_0000,
];

/// Bits of a segment.
const SEGMENT: u32 = 53;

/// The 53 bits of 2/pi from `first` on, as an integer.
fn bits_from(first: u32) -> u64 {
    let word = |i: u32| u128::from(TWO_OVER_PI.get(i as usize).copied().unwrap_or(0));
    let pair = word(first / 64) << 64 | word(first / 64 + 1);
    (pair << (first % 64) >> (128 - SEGMENT)) as u64
}

/// Segment `b` of 2/pi as an f64, counted from where the product with `a` stops being a whole number of turns.
/// Only the exponent field of `a` matters. Arguments so large that callers scale them by 2^-128 get 2^128 in return.
fn preop(mode: &Mode, [a, b, _]: Sources) -> u64 {
    let exponent = exponent_field::<F64>(a);
    let first = (b as u32 & 31) * SEGMENT + (exponent - 1077).max(0).unsigned_abs();
    let scale = if exponent >= 1968 { 128 } else { 0 } - (first + SEGMENT) as i32;
    store::<F64>(mode, Some(Number::Finite(Exact::scaled(bits_from(first).into(), scale))))
}

pub(super) const ROWS: &[VectorRow] =
    &[VectorRow::new(Op::V_TRIG_PREOP_F64, VectorOp::Value(preop), Output::F64)];
