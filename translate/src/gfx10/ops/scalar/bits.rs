//! Bit counting, searching, fields and single bits.

use guestwave_isa::gfx10::Op;

use super::{Emit, Row, ScalarResult, plain, row};
use crate::program::{BinOp, Type, UnOp, Value};

/// `count`, or -1 if it is the width: nothing was found.
fn found(e: &mut Emit<'_>, op: UnOp, v: Value) -> ScalarResult {
    let width = if e.b.info(v).ty == Type::B64 { 64 } else { 32 };
    let count = e.b.un(op, v);
    let (width, none) = (e.b.c32(width), e.b.c32(u32::MAX));
    let missing = e.b.bin(BinOp::Eq, count, width);
    plain(e.b.select(missing, none, count))
}

/// Leading bits equal to the sign, or -1 if all are.
fn leading_signs(e: &mut Emit<'_>, v: Value) -> ScalarResult {
    let top = if e.b.info(v).ty == Type::B64 { 63 } else { 31 };
    let sign = e.shift(BinOp::ShrS, v, top);
    let differing = e.b.bin(BinOp::Xor, v, sign);
    found(e, UnOp::LeadingZeros, differing)
}

fn counted(e: &mut Emit<'_>, v: Value) -> ScalarResult {
    let count = e.b.un(UnOp::CountOnes, v);
    e.nonzero(count)
}

fn not(e: &mut Emit<'_>, v: Value) -> Value {
    e.b.un(UnOp::Not, v)
}

/// `((1 << width) - 1) << offset`.
fn field_mask(e: &mut Emit<'_>, [by, offset]: [Value; 2], wide: bool) -> ScalarResult {
    let one = if wide { e.b.c64(1) } else { e.b.c32(1) };
    let above = e.b.bin(BinOp::Shl, one, by);
    let ones = e.with_constant(BinOp::Sub, above, 1);
    plain(e.b.bin(BinOp::Shl, ones, offset))
}

/// The field of `a` whose offset is the low part of `b` and whose width is its bits 22:16; wider than the source means all of it.
fn extract(e: &mut Emit<'_>, [a, b]: [Value; 2], signed: bool) -> ScalarResult {
    let bits = if e.b.info(a).ty == Type::B64 { 64u32 } else { 32 };
    let b = e.dword(b);
    let width = e.shift(BinOp::ShrU, b, 16);
    let width = e.with_constant(BinOp::And, width, 0x7f);
    let full = e.b.c32(bits);
    let width = e.b.bin(BinOp::MinU, width, full);
    let unused = e.b.bin(BinOp::Sub, full, width);
    let shr = if signed { BinOp::ShrS } else { BinOp::ShrU };
    let down = e.b.bin(shr, a, b);
    let up = e.b.bin(BinOp::Shl, down, unused);
    let field = e.b.bin(shr, up, unused);
    // A width of 0 shifts by the whole width, which counts as no shift.
    let (none, zero) = (e.b.c32(0), e.like(a, 0));
    let empty = e.b.bin(BinOp::Eq, width, none);
    let value = e.b.select(empty, zero, field);
    e.nonzero(value)
}

/// The destination with one bit set or cleared.
fn set_bit(e: &mut Emit<'_>, [a, old]: [Value; 2], set: bool) -> ScalarResult {
    let (by, one) = (e.dword(a), e.like(old, 1));
    let bit = e.b.bin(BinOp::Shl, one, by);
    if set {
        return plain(e.b.bin(BinOp::Or, old, bit));
    }
    let rest = e.b.un(UnOp::Not, bit);
    plain(e.b.bin(BinOp::And, old, rest))
}

/// For each four bits the lowest one: whether any of them is set.
fn any_of_quads(e: &mut Emit<'_>, v: Value) -> Value {
    let two = e.shift(BinOp::ShrU, v, 2);
    let pairs = e.b.bin(BinOp::Or, v, two);
    let one = e.shift(BinOp::ShrU, pairs, 1);
    let all = e.b.bin(BinOp::Or, pairs, one);
    e.with_constant(BinOp::And, all, 0x1111_1111_1111_1111)
}

fn whole_quads(e: &mut Emit<'_>, v: Value) -> ScalarResult {
    let any = any_of_quads(e, v);
    let value = e.with_constant(BinOp::Mul, any, 15);
    e.nonzero(value)
}

/// Moves bit 4i to bit i.
fn quad_mask(e: &mut Emit<'_>, v: Value) -> ScalarResult {
    let mut bits = any_of_quads(e, v);
    const STEPS: [(u32, u64); 4] = [
        (3, 0x0303_0303_0303_0303),
        (6, 0x000f_000f_000f_000f),
        (12, 0x0000_00ff_0000_00ff),
        (24, 0x0000_0000_0000_ffff),
    ];
    let count = if e.b.info(v).ty == Type::B64 { 4 } else { 3 };
    for (by, mask) in STEPS.iter().take(count) {
        let moved = e.shift(BinOp::ShrU, bits, *by);
        let both = e.b.bin(BinOp::Or, bits, moved);
        bits = e.with_constant(BinOp::And, both, *mask);
    }
    e.nonzero(bits)
}

/// Every bit twice.
fn replicate(e: &mut Emit<'_>, v: Value) -> ScalarResult {
    const STEPS: [(u32, u64); 5] = [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ];
    let low = e.dword(v);
    let mut bits = e.b.un(UnOp::Extend, low);
    for (by, mask) in STEPS {
        let moved = e.shift(BinOp::Shl, bits, by);
        let both = e.b.bin(BinOp::Or, bits, moved);
        bits = e.with_constant(BinOp::And, both, mask);
    }
    plain(e.with_constant(BinOp::Mul, bits, 3))
}

fn extend(e: &mut Emit<'_>, op: UnOp, a: Value) -> ScalarResult {
    plain(e.b.un(op, a))
}

pub(super) const ROWS: &[Row] = &[
    (Op::S_BREV_B32, row(|e, [a, _]| extend(e, UnOp::ReverseBits, a))),
    (Op::S_BREV_B64, row(|e, [a, _]| extend(e, UnOp::ReverseBits, a))),
    (Op::S_BCNT1_I32_B32, row(|e, [a, _]| counted(e, a))),
    (Op::S_BCNT1_I32_B64, row(|e, [a, _]| counted(e, a))),
    (
        Op::S_BCNT0_I32_B32,
        row(|e, [a, _]| {
            let n = not(e, a);
            counted(e, n)
        }),
    ),
    (
        Op::S_BCNT0_I32_B64,
        row(|e, [a, _]| {
            let n = not(e, a);
            counted(e, n)
        }),
    ),
    (Op::S_FF1_I32_B32, row(|e, [a, _]| found(e, UnOp::TrailingZeros, a))),
    (Op::S_FF1_I32_B64, row(|e, [a, _]| found(e, UnOp::TrailingZeros, a))),
    (
        Op::S_FF0_I32_B32,
        row(|e, [a, _]| {
            let n = not(e, a);
            found(e, UnOp::TrailingZeros, n)
        }),
    ),
    (
        Op::S_FF0_I32_B64,
        row(|e, [a, _]| {
            let n = not(e, a);
            found(e, UnOp::TrailingZeros, n)
        }),
    ),
    (Op::S_FLBIT_I32_B32, row(|e, [a, _]| found(e, UnOp::LeadingZeros, a))),
    (Op::S_FLBIT_I32_B64, row(|e, [a, _]| found(e, UnOp::LeadingZeros, a))),
    (Op::S_FLBIT_I32, row(|e, [a, _]| leading_signs(e, a))),
    (Op::S_FLBIT_I32_I64, row(|e, [a, _]| leading_signs(e, a))),
    (Op::S_SEXT_I32_I8, row(|e, [a, _]| extend(e, UnOp::Sext8, a))),
    (Op::S_SEXT_I32_I16, row(|e, [a, _]| extend(e, UnOp::Sext16, a))),
    (Op::S_BFM_B32, row(|e, s| field_mask(e, s, false))),
    (Op::S_BFM_B64, row(|e, s| field_mask(e, s, true))),
    (Op::S_BFE_U32, row(|e, s| extract(e, s, false))),
    (Op::S_BFE_U64, row(|e, s| extract(e, s, false))),
    (Op::S_BFE_I32, row(|e, s| extract(e, s, true))),
    (Op::S_BFE_I64, row(|e, s| extract(e, s, true))),
    (Op::S_BITSET0_B32, row(|e, s| set_bit(e, s, false))),
    (Op::S_BITSET0_B64, row(|e, s| set_bit(e, s, false))),
    (Op::S_BITSET1_B32, row(|e, s| set_bit(e, s, true))),
    (Op::S_BITSET1_B64, row(|e, s| set_bit(e, s, true))),
    (Op::S_WQM_B32, row(|e, [a, _]| whole_quads(e, a))),
    (Op::S_WQM_B64, row(|e, [a, _]| whole_quads(e, a))),
    (Op::S_QUADMASK_B32, row(|e, [a, _]| quad_mask(e, a))),
    (Op::S_QUADMASK_B64, row(|e, [a, _]| quad_mask(e, a))),
    (Op::S_BITREPLICATE_B64_B32, row(|e, [a, _]| replicate(e, a))),
];
