//! Integer arithmetic as exact integers: what the destination cannot hold wraps or, with CLAMP, saturates.

use super::{Output, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

fn i16(bits: u64) -> i128 {
    (bits as i16).into()
}

fn u16(bits: u64) -> i128 {
    (bits as u16).into()
}

fn i24(bits: u64) -> i128 {
    ((bits as i32) << 8 >> 8).into()
}

fn u24(bits: u64) -> i128 {
    (bits & 0xff_ffff).into()
}

fn i32(bits: u64) -> i128 {
    (bits as i32).into()
}

fn u32(bits: u64) -> i128 {
    (bits as u32).into()
}

fn i64(bits: u64) -> i128 {
    (bits as i64).into()
}

/// The lane's bit of the source mask as a number.
fn bit(mask: bool) -> i128 {
    mask.into()
}

fn median(a: i128, b: i128, c: i128) -> i128 {
    a.max(b).min(a.min(b).max(c))
}

const fn exact(op: Op, f: fn(Sources) -> i128, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Integer(f), output)
}

/// Sums and products that CLAMP saturates.
pub(super) const SATURATING: &[VectorRow] = &[
    exact(Op::V_ADD_NC_U32, |[a, b, _]| u32(a) + u32(b), Output::U32),
    exact(Op::V_SUB_NC_U32, |[a, b, _]| u32(a) - u32(b), Output::U32),
    exact(Op::V_SUBREV_NC_U32, |[a, b, _]| u32(b) - u32(a), Output::U32),
    exact(Op::V_ADD_NC_I32, |[a, b, _]| i32(a) + i32(b), Output::I32),
    exact(Op::V_SUB_NC_I32, |[a, b, _]| i32(a) - i32(b), Output::I32),
    exact(Op::V_ADD_NC_U16, |[a, b, _]| u16(a) + u16(b), Output::U16),
    exact(Op::V_SUB_NC_U16, |[a, b, _]| u16(a) - u16(b), Output::U16),
    exact(Op::V_ADD_NC_I16, |[a, b, _]| i16(a) + i16(b), Output::I16),
    exact(Op::V_SUB_NC_I16, |[a, b, _]| i16(a) - i16(b), Output::I16),
    exact(Op::V_MUL_I32_I24, |[a, b, _]| i24(a) * i24(b), Output::I32),
    exact(Op::V_MUL_U32_U24, |[a, b, _]| u24(a) * u24(b), Output::U32),
    exact(Op::V_MAD_I32_I24, |[a, b, c]| i24(a) * i24(b) + i32(c), Output::I32),
    exact(Op::V_MAD_U32_U24, |[a, b, c]| u24(a) * u24(b) + u32(c), Output::U32),
    exact(Op::V_MAD_I32_I16, |[a, b, c]| i16(a) * i16(b) + i32(c), Output::I32),
    exact(Op::V_MAD_U32_U16, |[a, b, c]| u16(a) * u16(b) + u32(c), Output::U32),
    exact(Op::V_MAD_I16, |[a, b, c]| i16(a) * i16(b) + i16(c), Output::I16),
    exact(Op::V_MAD_U16, |[a, b, c]| u16(a) * u16(b) + u16(c), Output::U16),
];

const fn wrap(op: Op, f: fn(Sources) -> i128, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Wrapping(f), output)
}

/// Operations that CLAMP does not concern: their results wrap.
pub(super) const WRAPPING: &[VectorRow] = &[
    wrap(Op::V_ADD3_U32, |[a, b, c]| u32(a) + u32(b) + u32(c), Output::U32),
    wrap(Op::V_XAD_U32, |[a, b, c]| u32(a ^ b) + u32(c), Output::U32),
    wrap(Op::V_LSHL_ADD_U32, |[a, b, c]| (u32(a) << (b & 31)) + u32(c), Output::U32),
    wrap(Op::V_ADD_LSHL_U32, |[a, b, c]| (u32(a) + u32(b)) << (c & 31), Output::U32),
    wrap(Op::V_MUL_LO_U16, |[a, b, _]| u16(a) * u16(b), Output::U16),
    wrap(Op::V_MUL_LO_U32, |[a, b, _]| u32(a) * u32(b), Output::U32),
    wrap(Op::V_MUL_LO_I32, |[a, b, _]| i32(a) * i32(b), Output::I32),
    wrap(Op::V_MUL_HI_U32, |[a, b, _]| (u32(a) * u32(b)) >> 32, Output::U32),
    wrap(Op::V_MUL_HI_I32, |[a, b, _]| (i32(a) * i32(b)) >> 32, Output::I32),
    wrap(Op::V_MUL_HI_U32_U24, |[a, b, _]| (u24(a) * u24(b)) >> 32, Output::U32),
    wrap(Op::V_MUL_HI_I32_I24, |[a, b, _]| (i24(a) * i24(b)) >> 32, Output::I32),
    wrap(Op::V_MIN_U16, |[a, b, _]| u16(a).min(u16(b)), Output::U16),
    wrap(Op::V_MAX_U16, |[a, b, _]| u16(a).max(u16(b)), Output::U16),
    wrap(Op::V_MIN_I16, |[a, b, _]| i16(a).min(i16(b)), Output::I16),
    wrap(Op::V_MAX_I16, |[a, b, _]| i16(a).max(i16(b)), Output::I16),
    wrap(Op::V_MIN_U32, |[a, b, _]| u32(a).min(u32(b)), Output::U32),
    wrap(Op::V_MAX_U32, |[a, b, _]| u32(a).max(u32(b)), Output::U32),
    wrap(Op::V_MIN_I32, |[a, b, _]| i32(a).min(i32(b)), Output::I32),
    wrap(Op::V_MAX_I32, |[a, b, _]| i32(a).max(i32(b)), Output::I32),
    wrap(Op::V_MIN3_U16, |[a, b, c]| u16(a).min(u16(b)).min(u16(c)), Output::U16),
    wrap(Op::V_MAX3_U16, |[a, b, c]| u16(a).max(u16(b)).max(u16(c)), Output::U16),
    wrap(Op::V_MED3_U16, |[a, b, c]| median(u16(a), u16(b), u16(c)), Output::U16),
    wrap(Op::V_MIN3_I16, |[a, b, c]| i16(a).min(i16(b)).min(i16(c)), Output::I16),
    wrap(Op::V_MAX3_I16, |[a, b, c]| i16(a).max(i16(b)).max(i16(c)), Output::I16),
    wrap(Op::V_MED3_I16, |[a, b, c]| median(i16(a), i16(b), i16(c)), Output::I16),
    wrap(Op::V_MIN3_U32, |[a, b, c]| u32(a).min(u32(b)).min(u32(c)), Output::U32),
    wrap(Op::V_MAX3_U32, |[a, b, c]| u32(a).max(u32(b)).max(u32(c)), Output::U32),
    wrap(Op::V_MED3_U32, |[a, b, c]| median(u32(a), u32(b), u32(c)), Output::U32),
    wrap(Op::V_MIN3_I32, |[a, b, c]| i32(a).min(i32(b)).min(i32(c)), Output::I32),
    wrap(Op::V_MAX3_I32, |[a, b, c]| i32(a).max(i32(b)).max(i32(c)), Output::I32),
    wrap(Op::V_MED3_I32, |[a, b, c]| median(i32(a), i32(b), i32(c)), Output::I32),
];

const fn carry(op: Op, f: fn(Sources, bool) -> i128, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Carry(f), output)
}

/// Operations with a mask of carries or borrows.
pub(super) const CARRYING: &[VectorRow] = &[
    carry(Op::V_ADD_CO_U32, |[a, b, _], _| u32(a) + u32(b), Output::U32),
    carry(Op::V_SUB_CO_U32, |[a, b, _], _| u32(a) - u32(b), Output::U32),
    carry(Op::V_SUBREV_CO_U32, |[a, b, _], _| u32(b) - u32(a), Output::U32),
    carry(Op::V_ADD_CO_CI_U32, |[a, b, _], m| u32(a) + u32(b) + bit(m), Output::U32),
    carry(Op::V_SUB_CO_CI_U32, |[a, b, _], m| u32(a) - u32(b) - bit(m), Output::U32),
    carry(Op::V_SUBREV_CO_CI_U32, |[a, b, _], m| u32(b) - u32(a) - bit(m), Output::U32),
    carry(Op::V_MAD_U64_U32, |[a, b, c], _| u32(a) * u32(b) + i128::from(c), Output::U64),
    carry(Op::V_MAD_I64_I32, |[a, b, c], _| i32(a) * i32(b) + i64(c), Output::I64),
];
