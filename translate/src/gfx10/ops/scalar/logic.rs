//! Moves and bitwise logic on numbers.

use guestwave_isa::gfx10::Op;

use super::{Emit, Row, ScalarResult, plain, row};
use crate::program::{BinOp, UnOp, Value};

fn logic(e: &mut Emit<'_>, op: BinOp, a: Value, b: Value) -> ScalarResult {
    let value = e.b.bin(op, a, b);
    e.nonzero(value)
}

fn logic_not(e: &mut Emit<'_>, op: BinOp, a: Value, b: Value) -> ScalarResult {
    let not = e.b.un(UnOp::Not, b);
    logic(e, op, a, not)
}

fn not_logic(e: &mut Emit<'_>, op: BinOp, a: Value, b: Value) -> ScalarResult {
    let both = e.b.bin(op, a, b);
    let value = e.b.un(UnOp::Not, both);
    e.nonzero(value)
}

fn not(e: &mut Emit<'_>, a: Value) -> ScalarResult {
    let value = e.b.un(UnOp::Not, a);
    e.nonzero(value)
}

/// The low 16 bits of each, the second above the first; `high` takes the high 16 bits instead.
fn pack(e: &mut Emit<'_>, [a, b]: [Value; 2], high: [bool; 2]) -> ScalarResult {
    let low = if high[0] { e.shift(BinOp::ShrU, a, 16) } else { e.with_constant(BinOp::And, a, 0xffff) };
    let above =
        if high[1] { e.with_constant(BinOp::And, b, 0xffff_0000) } else { e.shift(BinOp::Shl, b, 16) };
    plain(e.b.bin(BinOp::Or, low, above))
}

pub(super) const ROWS: &[Row] = &[
    (Op::S_MOV_B32, row(|_, [a, _]| plain(a))),
    (Op::S_MOV_B64, row(|_, [a, _]| plain(a))),
    (Op::S_MOVK_I32, row(|_, [_, b]| plain(b))),
    (Op::S_NOT_B32, row(|e, [a, _]| not(e, a))),
    (Op::S_NOT_B64, row(|e, [a, _]| not(e, a))),
    (Op::S_AND_B32, row(|e, [a, b]| logic(e, BinOp::And, a, b))),
    (Op::S_AND_B64, row(|e, [a, b]| logic(e, BinOp::And, a, b))),
    (Op::S_OR_B32, row(|e, [a, b]| logic(e, BinOp::Or, a, b))),
    (Op::S_OR_B64, row(|e, [a, b]| logic(e, BinOp::Or, a, b))),
    (Op::S_XOR_B32, row(|e, [a, b]| logic(e, BinOp::Xor, a, b))),
    (Op::S_XOR_B64, row(|e, [a, b]| logic(e, BinOp::Xor, a, b))),
    (Op::S_ANDN2_B32, row(|e, [a, b]| logic_not(e, BinOp::And, a, b))),
    (Op::S_ANDN2_B64, row(|e, [a, b]| logic_not(e, BinOp::And, a, b))),
    (Op::S_ORN2_B32, row(|e, [a, b]| logic_not(e, BinOp::Or, a, b))),
    (Op::S_ORN2_B64, row(|e, [a, b]| logic_not(e, BinOp::Or, a, b))),
    (Op::S_NAND_B32, row(|e, [a, b]| not_logic(e, BinOp::And, a, b))),
    (Op::S_NAND_B64, row(|e, [a, b]| not_logic(e, BinOp::And, a, b))),
    (Op::S_NOR_B32, row(|e, [a, b]| not_logic(e, BinOp::Or, a, b))),
    (Op::S_NOR_B64, row(|e, [a, b]| not_logic(e, BinOp::Or, a, b))),
    (Op::S_XNOR_B32, row(|e, [a, b]| not_logic(e, BinOp::Xor, a, b))),
    (Op::S_XNOR_B64, row(|e, [a, b]| not_logic(e, BinOp::Xor, a, b))),
    (Op::S_PACK_LL_B32_B16, row(|e, s| pack(e, s, [false, false]))),
    (Op::S_PACK_LH_B32_B16, row(|e, s| pack(e, s, [false, true]))),
    (Op::S_PACK_HH_B32_B16, row(|e, s| pack(e, s, [true, true]))),
];
