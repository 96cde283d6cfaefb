//! Comparisons and class tests.
//!
//! Two values stand in one of four relations; a comparison is the set of relations for which it holds, and the set's
//! number is the low part of its opcode. The `v_cmpx` forms compare alike; where their mask goes is the wave's affair.

use super::format::{
    F16, F32, F64, Format, is_denormal, is_infinite, is_nan, is_negative, is_signalling, is_zero, source,
};
use super::{Mode, Output, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
const UNORDERED: u8 = 8;

fn relation<T: Ord>(a: T, b: T) -> u8 {
    match a.cmp(&b) {
        std::cmp::Ordering::Less => LESS,
        std::cmp::Ordering::Equal => EQUAL,
        std::cmp::Ordering::Greater => GREATER,
    }
}

/// Zeros of either sign are equal; denormals count as zeros if MODE flushes sources.
fn floats<F: Format>(mode: &Mode, [a, b, _]: Sources) -> u8 {
    if is_nan::<F>(a) || is_nan::<F>(b) {
        return UNORDERED;
    }
    let key = |s: u64| {
        let s = source::<F>(mode, s);
        let size = i128::from(s & !F::SIGN);
        if is_negative::<F>(s) { -size } else { size }
    };
    relation(key(a), key(b))
}

fn i16s(_: &Mode, [a, b, _]: Sources) -> u8 {
    relation(a as i16, b as i16)
}

fn u16s(_: &Mode, [a, b, _]: Sources) -> u8 {
    relation(a as u16, b as u16)
}

fn i32s(_: &Mode, [a, b, _]: Sources) -> u8 {
    relation(a as i32, b as i32)
}

fn u32s(_: &Mode, [a, b, _]: Sources) -> u8 {
    relation(a as u32, b as u32)
}

fn i64s(_: &Mode, [a, b, _]: Sources) -> u8 {
    relation(a as i64, b as i64)
}

fn u64s(_: &Mode, [a, b, _]: Sources) -> u8 {
    relation(a, b)
}

/// The number of a value's class: signalling and quiet NaN, then from minus to plus infinity. MODE does not matter.
fn class<F: Format>(bits: u64) -> u32 {
    let size = match bits {
        _ if is_nan::<F>(bits) => return if is_signalling::<F>(bits) { 0 } else { 1 },
        _ if is_infinite::<F>(bits) => 3,
        _ if is_zero::<F>(bits) => 0,
        _ if is_denormal::<F>(bits) => 1,
        _ => 2,
    };
    if is_negative::<F>(bits) { 5 - size } else { 6 + size }
}

fn in_classes<F: Format>(_: &Mode, [a, classes, _]: Sources) -> bool {
    classes >> class::<F>(a) & 1 != 0
}

const fn row(op: Op, f: fn(&Mode, Sources) -> bool) -> VectorRow {
    VectorRow::new(op, VectorOp::Compare(f), Output::U32)
}

pub(super) const CLASSES: &[VectorRow] = &[
    row(Op::V_CMP_CLASS_F16, in_classes::<F16>),
    row(Op::V_CMPX_CLASS_F16, in_classes::<F16>),
    row(Op::V_CMP_CLASS_F32, in_classes::<F32>),
    row(Op::V_CMPX_CLASS_F32, in_classes::<F32>),
    row(Op::V_CMP_CLASS_F64, in_classes::<F64>),
    row(Op::V_CMPX_CLASS_F64, in_classes::<F64>),
];

/// Rows of comparisons of one type: the set of relations, then the two operations.
macro_rules! comparisons {
    ($of:path; $($set:literal $cmp:ident $cmpx:ident;)*) => {
        &[$(
            row(Op::$cmp, |m, s| $of(m, s) & $set != 0),
            row(Op::$cmpx, |m, s| $of(m, s) & $set != 0),
        )*]
    };
}

pub(super) const F16S: &[VectorRow] = comparisons! { floats::<F16>;
    0 V_CMP_F_F16 V_CMPX_F_F16;
    1 V_CMP_LT_F16 V_CMPX_LT_F16;
    2 V_CMP_EQ_F16 V_CMPX_EQ_F16;
    3 V_CMP_LE_F16 V_CMPX_LE_F16;
    4 V_CMP_GT_F16 V_CMPX_GT_F16;
    5 V_CMP_LG_F16 V_CMPX_LG_F16;
    6 V_CMP_GE_F16 V_CMPX_GE_F16;
    7 V_CMP_O_F16 V_CMPX_O_F16;
    8 V_CMP_U_F16 V_CMPX_U_F16;
    9 V_CMP_NGE_F16 V_CMPX_NGE_F16;
    10 V_CMP_NLG_F16 V_CMPX_NLG_F16;
    11 V_CMP_NGT_F16 V_CMPX_NGT_F16;
    12 V_CMP_NLE_F16 V_CMPX_NLE_F16;
    13 V_CMP_NEQ_F16 V_CMPX_NEQ_F16;
    14 V_CMP_NLT_F16 V_CMPX_NLT_F16;
    15 V_CMP_TRU_F16 V_CMPX_TRU_F16;
};

pub(super) const F32S: &[VectorRow] = comparisons! { floats::<F32>;
    0 V_CMP_F_F32 V_CMPX_F_F32;
    1 V_CMP_LT_F32 V_CMPX_LT_F32;
    2 V_CMP_EQ_F32 V_CMPX_EQ_F32;
    3 V_CMP_LE_F32 V_CMPX_LE_F32;
    4 V_CMP_GT_F32 V_CMPX_GT_F32;
    5 V_CMP_LG_F32 V_CMPX_LG_F32;
    6 V_CMP_GE_F32 V_CMPX_GE_F32;
    7 V_CMP_O_F32 V_CMPX_O_F32;
    8 V_CMP_U_F32 V_CMPX_U_F32;
    9 V_CMP_NGE_F32 V_CMPX_NGE_F32;
    10 V_CMP_NLG_F32 V_CMPX_NLG_F32;
    11 V_CMP_NGT_F32 V_CMPX_NGT_F32;
    12 V_CMP_NLE_F32 V_CMPX_NLE_F32;
    13 V_CMP_NEQ_F32 V_CMPX_NEQ_F32;
    14 V_CMP_NLT_F32 V_CMPX_NLT_F32;
    15 V_CMP_TRU_F32 V_CMPX_TRU_F32;
};

pub(super) const F64S: &[VectorRow] = comparisons! { floats::<F64>;
    0 V_CMP_F_F64 V_CMPX_F_F64;
    1 V_CMP_LT_F64 V_CMPX_LT_F64;
    2 V_CMP_EQ_F64 V_CMPX_EQ_F64;
    3 V_CMP_LE_F64 V_CMPX_LE_F64;
    4 V_CMP_GT_F64 V_CMPX_GT_F64;
    5 V_CMP_LG_F64 V_CMPX_LG_F64;
    6 V_CMP_GE_F64 V_CMPX_GE_F64;
    7 V_CMP_O_F64 V_CMPX_O_F64;
    8 V_CMP_U_F64 V_CMPX_U_F64;
    9 V_CMP_NGE_F64 V_CMPX_NGE_F64;
    10 V_CMP_NLG_F64 V_CMPX_NLG_F64;
    11 V_CMP_NGT_F64 V_CMPX_NGT_F64;
    12 V_CMP_NLE_F64 V_CMPX_NLE_F64;
    13 V_CMP_NEQ_F64 V_CMPX_NEQ_F64;
    14 V_CMP_NLT_F64 V_CMPX_NLT_F64;
    15 V_CMP_TRU_F64 V_CMPX_TRU_F64;
};

pub(super) const I16S: &[VectorRow] = comparisons! { i16s;
    1 V_CMP_LT_I16 V_CMPX_LT_I16;
    2 V_CMP_EQ_I16 V_CMPX_EQ_I16;
    3 V_CMP_LE_I16 V_CMPX_LE_I16;
    4 V_CMP_GT_I16 V_CMPX_GT_I16;
    5 V_CMP_NE_I16 V_CMPX_NE_I16;
    6 V_CMP_GE_I16 V_CMPX_GE_I16;
};

pub(super) const U16S: &[VectorRow] = comparisons! { u16s;
    1 V_CMP_LT_U16 V_CMPX_LT_U16;
    2 V_CMP_EQ_U16 V_CMPX_EQ_U16;
    3 V_CMP_LE_U16 V_CMPX_LE_U16;
    4 V_CMP_GT_U16 V_CMPX_GT_U16;
    5 V_CMP_NE_U16 V_CMPX_NE_U16;
    6 V_CMP_GE_U16 V_CMPX_GE_U16;
};

pub(super) const I32S: &[VectorRow] = comparisons! { i32s;
    0 V_CMP_F_I32 V_CMPX_F_I32;
    1 V_CMP_LT_I32 V_CMPX_LT_I32;
    2 V_CMP_EQ_I32 V_CMPX_EQ_I32;
    3 V_CMP_LE_I32 V_CMPX_LE_I32;
    4 V_CMP_GT_I32 V_CMPX_GT_I32;
    5 V_CMP_NE_I32 V_CMPX_NE_I32;
    6 V_CMP_GE_I32 V_CMPX_GE_I32;
    7 V_CMP_T_I32 V_CMPX_T_I32;
};

pub(super) const U32S: &[VectorRow] = comparisons! { u32s;
    0 V_CMP_F_U32 V_CMPX_F_U32;
    1 V_CMP_LT_U32 V_CMPX_LT_U32;
    2 V_CMP_EQ_U32 V_CMPX_EQ_U32;
    3 V_CMP_LE_U32 V_CMPX_LE_U32;
    4 V_CMP_GT_U32 V_CMPX_GT_U32;
    5 V_CMP_NE_U32 V_CMPX_NE_U32;
    6 V_CMP_GE_U32 V_CMPX_GE_U32;
    7 V_CMP_T_U32 V_CMPX_T_U32;
};

pub(super) const I64S: &[VectorRow] = comparisons! { i64s;
    0 V_CMP_F_I64 V_CMPX_F_I64;
    1 V_CMP_LT_I64 V_CMPX_LT_I64;
    2 V_CMP_EQ_I64 V_CMPX_EQ_I64;
    3 V_CMP_LE_I64 V_CMPX_LE_I64;
    4 V_CMP_GT_I64 V_CMPX_GT_I64;
    5 V_CMP_NE_I64 V_CMPX_NE_I64;
    6 V_CMP_GE_I64 V_CMPX_GE_I64;
    7 V_CMP_T_I64 V_CMPX_T_I64;
};

pub(super) const U64S: &[VectorRow] = comparisons! { u64s;
    0 V_CMP_F_U64 V_CMPX_F_U64;
    1 V_CMP_LT_U64 V_CMPX_LT_U64;
    2 V_CMP_EQ_U64 V_CMPX_EQ_U64;
    3 V_CMP_LE_U64 V_CMPX_LE_U64;
    4 V_CMP_GT_U64 V_CMPX_GT_U64;
    5 V_CMP_NE_U64 V_CMPX_NE_U64;
    6 V_CMP_GE_U64 V_CMPX_GE_U64;
    7 V_CMP_T_U64 V_CMPX_T_U64;
};
