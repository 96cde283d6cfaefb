//! Sums, products, shifts, minimum and maximum.

use guestwave_isa::gfx10::Op;

use super::{Emit, Row, ScalarResult, condition, plain, row, with};
use crate::program::{BinOp, TriOp, UnOp, Value};

/// Sum with carry out.
fn add(e: &mut Emit<'_>, a: Value, b: Value) -> (Value, Value) {
    let sum = e.b.bin(BinOp::Add, a, b);
    let carry = e.b.bin(BinOp::LtU, sum, a);
    (sum, carry)
}

/// Sum of two and a carry, with carry out.
fn add_carry(e: &mut Emit<'_>, a: Value, b: Value, carry: Value) -> (Value, Value) {
    let carry = e.b.un(UnOp::FromBool, carry);
    let (sum, first) = add(e, a, b);
    let (sum, second) = add(e, sum, carry);
    let out = e.b.bin(BinOp::Or, first, second);
    (sum, out)
}

/// Difference of two and a borrow, with borrow out.
fn sub_borrow(e: &mut Emit<'_>, a: Value, b: Value, borrow: Value) -> (Value, Value) {
    let borrow = e.b.un(UnOp::FromBool, borrow);
    let first = e.b.bin(BinOp::Sub, a, b);
    let below = e.b.bin(BinOp::LtU, a, b);
    let difference = e.b.bin(BinOp::Sub, first, borrow);
    let below_too = e.b.bin(BinOp::LtU, first, borrow);
    let out = e.b.bin(BinOp::Or, below, below_too);
    (difference, out)
}

/// Sum or difference with SCC as signed overflow.
fn signed(e: &mut Emit<'_>, a: Value, b: Value, op: BinOp) -> ScalarResult {
    let result = e.b.bin(op, a, b);
    let by_a = e.b.bin(BinOp::Xor, a, result);
    let other = if op == BinOp::Add { e.b.bin(BinOp::Xor, b, result) } else { e.b.bin(BinOp::Xor, a, b) };
    let both = e.b.bin(BinOp::And, by_a, other);
    let zero = e.b.c32(0);
    let overflow = e.b.bin(BinOp::LtS, both, zero);
    with(result, overflow)
}

/// `a` if `less(a, b)`, which SCC tells, else `b`.
fn choose(e: &mut Emit<'_>, [a, b]: [Value; 2], less: BinOp, swapped: bool) -> ScalarResult {
    let chosen = if swapped { e.b.bin(less, b, a) } else { e.b.bin(less, a, b) };
    let value = e.b.select(chosen, a, b);
    with(value, chosen)
}

fn shifted(e: &mut Emit<'_>, op: BinOp, a: Value, by: Value) -> ScalarResult {
    let by = e.dword(by);
    let value = e.b.bin(op, a, by);
    e.nonzero(value)
}

/// `(a << by) + b` with SCC as carry out of 32 bits.
fn shift_add(e: &mut Emit<'_>, a: Value, by: u32, b: Value) -> ScalarResult {
    let (a, b) = (e.b.un(UnOp::Extend, a), e.b.un(UnOp::Extend, b));
    let scaled = e.shift(BinOp::Shl, a, by);
    let exact = e.b.bin(BinOp::Add, scaled, b);
    let (value, above) = (e.b.un(UnOp::Low, exact), e.b.un(UnOp::High, exact));
    let zero = e.b.c32(0);
    let carry = e.b.bin(BinOp::Ne, above, zero);
    with(value, carry)
}

fn absolute_difference(e: &mut Emit<'_>, [a, b]: [Value; 2]) -> ScalarResult {
    let difference = e.b.bin(BinOp::Sub, a, b);
    let value = absolute(e, difference);
    e.nonzero(value)
}

fn absolute(e: &mut Emit<'_>, v: Value) -> Value {
    let (zero, negated) = (e.b.c32(0), e.b.un(UnOp::Neg, v));
    let negative = e.b.bin(BinOp::LtS, v, zero);
    e.b.tri(TriOp::Select, negative, negated, v)
}

pub(super) const ROWS: &[Row] = &[
    (
        Op::S_ADD_U32,
        row(|e, [a, b]| {
            let (v, c) = add(e, a, b);
            with(v, c)
        }),
    ),
    (
        Op::S_SUB_U32,
        row(|e, [a, b]| {
            let no = e.b.cbool(false);
            let (v, c) = sub_borrow(e, a, b, no);
            with(v, c)
        }),
    ),
    (Op::S_ADD_I32, row(|e, [a, b]| signed(e, a, b, BinOp::Add))),
    (Op::S_SUB_I32, row(|e, [a, b]| signed(e, a, b, BinOp::Sub))),
    (Op::S_ADDK_I32, row(|e, [a, b]| signed(e, a, b, BinOp::Add))),
    (Op::S_MIN_I32, row(|e, s| choose(e, s, BinOp::LtS, false))),
    (Op::S_MIN_U32, row(|e, s| choose(e, s, BinOp::LtU, false))),
    (Op::S_MAX_I32, row(|e, s| choose(e, s, BinOp::LtS, true))),
    (Op::S_MAX_U32, row(|e, s| choose(e, s, BinOp::LtU, true))),
    (Op::S_LSHL_B32, row(|e, [a, b]| shifted(e, BinOp::Shl, a, b))),
    (Op::S_LSHL_B64, row(|e, [a, b]| shifted(e, BinOp::Shl, a, b))),
    (Op::S_LSHR_B32, row(|e, [a, b]| shifted(e, BinOp::ShrU, a, b))),
    (Op::S_LSHR_B64, row(|e, [a, b]| shifted(e, BinOp::ShrU, a, b))),
    (Op::S_ASHR_I32, row(|e, [a, b]| shifted(e, BinOp::ShrS, a, b))),
    (Op::S_ASHR_I64, row(|e, [a, b]| shifted(e, BinOp::ShrS, a, b))),
    (Op::S_MUL_I32, row(|e, [a, b]| plain(e.b.bin(BinOp::Mul, a, b)))),
    (Op::S_MULK_I32, row(|e, [a, b]| plain(e.b.bin(BinOp::Mul, a, b)))),
    (Op::S_MUL_HI_U32, row(|e, [a, b]| plain(e.b.bin(BinOp::MulHighU, a, b)))),
    (Op::S_MUL_HI_I32, row(|e, [a, b]| plain(e.b.bin(BinOp::MulHighS, a, b)))),
    (Op::S_ABSDIFF_I32, row(absolute_difference)),
    (
        Op::S_ABS_I32,
        row(|e, [a, _]| {
            let v = absolute(e, a);
            e.nonzero(v)
        }),
    ),
    (Op::S_LSHL1_ADD_U32, row(|e, [a, b]| shift_add(e, a, 1, b))),
    (Op::S_LSHL2_ADD_U32, row(|e, [a, b]| shift_add(e, a, 2, b))),
    (Op::S_LSHL3_ADD_U32, row(|e, [a, b]| shift_add(e, a, 3, b))),
    (Op::S_LSHL4_ADD_U32, row(|e, [a, b]| shift_add(e, a, 4, b))),
    (
        Op::S_ADDC_U32,
        super::Lower::Carry(|e, [a, b], c| {
            let (v, c) = add_carry(e, a, b, c);
            with(v, c)
        }),
    ),
    (
        Op::S_SUBB_U32,
        super::Lower::Carry(|e, [a, b], c| {
            let (v, c) = sub_borrow(e, a, b, c);
            with(v, c)
        }),
    ),
    (Op::S_CSELECT_B32, super::Lower::Carry(|e, [a, b], c| plain(e.b.select(c, a, b)))),
    (Op::S_CSELECT_B64, super::Lower::Carry(|e, [a, b], c| plain(e.b.select(c, a, b)))),
    (Op::S_CMOV_B32, super::Lower::Carry(|e, [a, old], c| plain(e.b.select(c, a, old)))),
    (Op::S_CMOV_B64, super::Lower::Carry(|e, [a, old], c| plain(e.b.select(c, a, old)))),
    (Op::S_CMOVK_I32, super::Lower::Carry(|e, [old, b], c| plain(e.b.select(c, b, old)))),
    (Op::S_BITCMP0_B32, row(|e, s| bit_compare(e, s, false))),
    (Op::S_BITCMP0_B64, row(|e, s| bit_compare(e, s, false))),
    (Op::S_BITCMP1_B32, row(|e, s| bit_compare(e, s, true))),
    (Op::S_BITCMP1_B64, row(|e, s| bit_compare(e, s, true))),
];

fn bit_compare(e: &mut Emit<'_>, [a, b]: [Value; 2], set: bool) -> ScalarResult {
    let by = e.dword(b);
    let moved = e.b.bin(BinOp::ShrU, a, by);
    let bit = e.with_constant(BinOp::And, moved, 1);
    let wanted = e.like(bit, u64::from(set));
    condition(e.b.bin(BinOp::Eq, bit, wanted))
}
