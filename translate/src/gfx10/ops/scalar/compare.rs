//! Comparisons into SCC.

use guestwave_isa::gfx10::Op;

use super::{Emit, Row, ScalarResult, condition, row};
use crate::program::{BinOp, Value};

fn compare(e: &mut Emit<'_>, op: BinOp, a: Value, b: Value) -> ScalarResult {
    condition(e.b.bin(op, a, b))
}

/// SOPK compares unsigned with SIMM16 zero-extended.
fn compare_unsigned(e: &mut Emit<'_>, op: BinOp, a: Value, b: Value, swapped: bool) -> ScalarResult {
    let b = e.with_constant(BinOp::And, b, 0xffff);
    if swapped { compare(e, op, b, a) } else { compare(e, op, a, b) }
}

pub(super) const ROWS: &[Row] = &[
    (Op::S_CMP_EQ_I32, row(|e, [a, b]| compare(e, BinOp::Eq, a, b))),
    (Op::S_CMP_LG_I32, row(|e, [a, b]| compare(e, BinOp::Ne, a, b))),
    (Op::S_CMP_GT_I32, row(|e, [a, b]| compare(e, BinOp::LtS, b, a))),
    (Op::S_CMP_GE_I32, row(|e, [a, b]| compare(e, BinOp::LeS, b, a))),
    (Op::S_CMP_LT_I32, row(|e, [a, b]| compare(e, BinOp::LtS, a, b))),
    (Op::S_CMP_LE_I32, row(|e, [a, b]| compare(e, BinOp::LeS, a, b))),
    (Op::S_CMP_EQ_U32, row(|e, [a, b]| compare(e, BinOp::Eq, a, b))),
    (Op::S_CMP_LG_U32, row(|e, [a, b]| compare(e, BinOp::Ne, a, b))),
    (Op::S_CMP_GT_U32, row(|e, [a, b]| compare(e, BinOp::LtU, b, a))),
    (Op::S_CMP_GE_U32, row(|e, [a, b]| compare(e, BinOp::LeU, b, a))),
    (Op::S_CMP_LT_U32, row(|e, [a, b]| compare(e, BinOp::LtU, a, b))),
    (Op::S_CMP_LE_U32, row(|e, [a, b]| compare(e, BinOp::LeU, a, b))),
    (Op::S_CMP_EQ_U64, row(|e, [a, b]| compare(e, BinOp::Eq, a, b))),
    (Op::S_CMP_LG_U64, row(|e, [a, b]| compare(e, BinOp::Ne, a, b))),
    (Op::S_CMPK_EQ_I32, row(|e, [a, b]| compare(e, BinOp::Eq, a, b))),
    (Op::S_CMPK_LG_I32, row(|e, [a, b]| compare(e, BinOp::Ne, a, b))),
    (Op::S_CMPK_GT_I32, row(|e, [a, b]| compare(e, BinOp::LtS, b, a))),
    (Op::S_CMPK_GE_I32, row(|e, [a, b]| compare(e, BinOp::LeS, b, a))),
    (Op::S_CMPK_LT_I32, row(|e, [a, b]| compare(e, BinOp::LtS, a, b))),
    (Op::S_CMPK_LE_I32, row(|e, [a, b]| compare(e, BinOp::LeS, a, b))),
    (Op::S_CMPK_EQ_U32, row(|e, [a, b]| compare_unsigned(e, BinOp::Eq, a, b, false))),
    (Op::S_CMPK_LG_U32, row(|e, [a, b]| compare_unsigned(e, BinOp::Ne, a, b, false))),
    (Op::S_CMPK_GT_U32, row(|e, [a, b]| compare_unsigned(e, BinOp::LtU, a, b, true))),
    (Op::S_CMPK_GE_U32, row(|e, [a, b]| compare_unsigned(e, BinOp::LeU, a, b, true))),
    (Op::S_CMPK_LT_U32, row(|e, [a, b]| compare_unsigned(e, BinOp::LtU, a, b, false))),
    (Op::S_CMPK_LE_U32, row(|e, [a, b]| compare_unsigned(e, BinOp::LeU, a, b, false))),
];
