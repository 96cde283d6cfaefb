//! Bitwise operations, shifts and bit fields.

use super::{Mode, Output, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

const fn row(op: Op, f: fn(&Mode, Sources) -> u64) -> VectorRow {
    VectorRow::new(op, VectorOp::Value(f), Output::U32)
}

pub(super) const ROWS: &[VectorRow] = &[
    row(Op::V_MOV_B32, |_, [a, ..]| a),
    row(Op::V_AND_B32, |_, [a, b, _]| a & b),
    row(Op::V_OR_B32, |_, [a, b, _]| a | b),
    row(Op::V_XOR_B32, |_, [a, b, _]| a ^ b),
];
