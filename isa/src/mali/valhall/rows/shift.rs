//! Shifts with a bitwise operation behind them.

use super::super::fields::field as f;
use super::{Fields, Kind, Op, Row, Ty, alu};

const WORDS: &[(u8, Kind)] = &[(0, Kind::Int), (1, Kind::Shift), (2, Kind::Invert)];
const HALVES: &[(u8, Kind)] = &[(0, Kind::IntPair), (1, Kind::Shift), (2, Kind::Invert)];
const BYTES: &[(u8, Kind)] = &[(0, Kind::IntQuad), (1, Kind::Shift), (2, Kind::Invert)];
const DOUBLES: &[(u8, Kind)] = &[(0, Kind::IntDouble), (1, Kind::Shift), (2, Kind::InvertPair)];

const LEFT: Fields = &[f::NOT_RESULT];
const RIGHT: Fields = &[f::SIGNED, f::NOT_RESULT];

/// `code`: 0 and, 1 or, 2 exclusive or.
const fn shift(name: &'static str, op: Op, ty: Ty, left: bool, code: u64) -> Row {
    let (opcode, sources) = match ty.bits() {
        8 => (0xb6, BYTES),
        16 => (0xb5, HALVES),
        32 => (0xb4, WORDS),
        _ => (0x1b7, DOUBLES),
    };
    let row = alu(name, op, ty, opcode, sources).second(24, 2, code).second(32, 1, left as u64);
    row.with(if left { LEFT } else { RIGHT })
}

const fn left(name: &'static str, op: Op, ty: Ty, code: u64) -> Row {
    shift(name, op, ty, true, code)
}

const fn right(name: &'static str, op: Op, ty: Ty, code: u64) -> Row {
    shift(name, op, ty, false, code)
}

pub(super) const ROWS: &[Row] = &[
    left("LSHIFT_AND.i32", Op::LshiftAnd, Ty::U32, 0),
    left("LSHIFT_AND.v2i16", Op::LshiftAnd, Ty::V2U16, 0),
    left("LSHIFT_AND.v4i8", Op::LshiftAnd, Ty::V4U8, 0),
    left("LSHIFT_AND.i64", Op::LshiftAnd, Ty::U64, 0),
    left("LSHIFT_OR.i32", Op::LshiftOr, Ty::U32, 1),
    left("LSHIFT_OR.v2i16", Op::LshiftOr, Ty::V2U16, 1),
    left("LSHIFT_OR.v4i8", Op::LshiftOr, Ty::V4U8, 1),
    left("LSHIFT_OR.i64", Op::LshiftOr, Ty::U64, 1),
    left("LSHIFT_XOR.i32", Op::LshiftXor, Ty::U32, 2),
    left("LSHIFT_XOR.v2i16", Op::LshiftXor, Ty::V2U16, 2),
    left("LSHIFT_XOR.v4i8", Op::LshiftXor, Ty::V4U8, 2),
    left("LSHIFT_XOR.i64", Op::LshiftXor, Ty::U64, 2),
    right("RSHIFT_AND.i32", Op::RshiftAnd, Ty::U32, 0),
    right("RSHIFT_AND.v2i16", Op::RshiftAnd, Ty::V2U16, 0),
    right("RSHIFT_AND.v4i8", Op::RshiftAnd, Ty::V4U8, 0),
    right("RSHIFT_AND.i64", Op::RshiftAnd, Ty::U64, 0),
    right("RSHIFT_OR.i32", Op::RshiftOr, Ty::U32, 1),
    right("RSHIFT_OR.v2i16", Op::RshiftOr, Ty::V2U16, 1),
    right("RSHIFT_OR.v4i8", Op::RshiftOr, Ty::V4U8, 1),
    right("RSHIFT_OR.i64", Op::RshiftOr, Ty::U64, 1),
    right("RSHIFT_XOR.i32", Op::RshiftXor, Ty::U32, 2),
    right("RSHIFT_XOR.v2i16", Op::RshiftXor, Ty::V2U16, 2),
    right("RSHIFT_XOR.v4i8", Op::RshiftXor, Ty::V4U8, 2),
    right("RSHIFT_XOR.i64", Op::RshiftXor, Ty::U64, 2),
];
