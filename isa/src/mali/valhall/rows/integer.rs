//! Integer arithmetic, comparisons and bit counts.

use super::super::fields::field as f;
use super::{Fields, Immediate, Kind, Op, Row, Ty, alu, named, unsigned};

const WORD: &[(u8, Kind)] = &[(0, Kind::Word)];
const INTS: &[(u8, Kind)] = &[(0, Kind::Int), (1, Kind::Int)];
const PAIRS: &[(u8, Kind)] = &[(0, Kind::IntPair), (1, Kind::IntPair)];
const QUADS: &[(u8, Kind)] = &[(0, Kind::IntQuad), (1, Kind::IntQuad)];
const DOUBLES: &[(u8, Kind)] = &[(0, Kind::IntDouble), (1, Kind::IntDouble)];
const INTS_3: &[(u8, Kind)] = &[(0, Kind::Int), (1, Kind::Int), (2, Kind::Word)];
const PAIRS_3: &[(u8, Kind)] = &[(0, Kind::IntPair), (1, Kind::IntPair), (2, Kind::Word)];
const QUADS_3: &[(u8, Kind)] = &[(0, Kind::IntQuad), (1, Kind::IntQuad), (2, Kind::Word)];

const INT: &[(u8, Kind)] = &[(0, Kind::Int)];
const PAIR: &[(u8, Kind)] = &[(0, Kind::IntPair)];
const SWIZZLED: &[(u8, Kind)] = &[(0, Kind::Swizzle)];
const DOUBLE: &[(u8, Kind)] = &[(0, Kind::Pair)];

const CONSTANT: &[Immediate] = &[unsigned("", 8, 32)];
const SHIFT: &[Immediate] = &[unsigned("shift", 20, 3)];
const HALVING: Fields = &[f::RHADD];
const SATURATE: Fields = &[f::SATURATE];
const COMPARISON: Fields = &[f::CONDITION_INT, f::RESULT];

/// Opcode of two-source arithmetic by type.
const fn arithmetic(ty: Ty) -> (u16, &'static [(u8, Kind)]) {
    let signed = if ty.signed() { 8 } else { 0 };
    match ty.bits() {
        8 => (0xa2 + signed, QUADS),
        16 => (0xa1 + signed, PAIRS),
        32 => (0xa0 + signed, INTS),
        _ => (0x1a3 + signed, DOUBLES),
    }
}

const fn two(name: &'static str, op: Op, ty: Ty, code: u64) -> Row {
    let (opcode, sources) = arithmetic(ty);
    alu(name, op, ty, opcode, sources).second(16, 4, code)
}

const fn saturating(name: &'static str, op: Op, ty: Ty, code: u64) -> Row {
    two(name, op, ty, code).with(SATURATE)
}

const fn halving(name: &'static str, ty: Ty) -> Row {
    two(name, Op::Hadd, ty, 0xb).with(HALVING)
}

const fn compare(name: &'static str, op: Op, ty: Ty, code: u64) -> Row {
    let signed = if ty.signed() { 8 } else { 0 };
    let (opcode, sources) = match ty.bits() {
        8 => (0xf2 + signed, QUADS_3),
        16 => (0xf1 + signed, PAIRS_3),
        _ => (0xf0 + signed, INTS_3),
    };
    alu(name, op, ty, opcode, sources).second(24, 2, code).with(COMPARISON)
}

const fn bits(name: &'static str, op: Op, ty: Ty, code: u64) -> Row {
    alu(name, op, ty, 0x91, WORD).second(16, 4, code)
}

const fn permute(name: &'static str, opcode: u16) -> Row {
    named(name, Op::Permute, opcode).second(16, 4, 0xf)
}

const fn immediate(name: &'static str, ty: Ty, opcode: u16) -> Row {
    alu(name, Op::Iadd, ty, opcode, WORD).immediates(CONSTANT)
}

pub(super) const ROWS: &[Row] = &[
    saturating("IADD.u32", Op::Iadd, Ty::U32, 0),
    saturating("IADD.v2u16", Op::Iadd, Ty::V2U16, 0),
    saturating("IADD.v4u8", Op::Iadd, Ty::V4U8, 0),
    saturating("IADD.u64", Op::Iadd, Ty::U64, 0),
    saturating("IADD.s32", Op::Iadd, Ty::S32, 0),
    saturating("IADD.v2s16", Op::Iadd, Ty::V2S16, 0),
    saturating("IADD.v4s8", Op::Iadd, Ty::V4S8, 0),
    saturating("IADD.s64", Op::Iadd, Ty::S64, 0),
    saturating("ISUB.u32", Op::Isub, Ty::U32, 1),
    saturating("ISUB.v2u16", Op::Isub, Ty::V2U16, 1),
    saturating("ISUB.v4u8", Op::Isub, Ty::V4U8, 1),
    saturating("ISUB.u64", Op::Isub, Ty::U64, 1),
    saturating("ISUB.s32", Op::Isub, Ty::S32, 1),
    saturating("ISUB.v2s16", Op::Isub, Ty::V2S16, 1),
    saturating("ISUB.v4s8", Op::Isub, Ty::V4S8, 1),
    saturating("ISUB.s64", Op::Isub, Ty::S64, 1),
    saturating("IMUL.i32", Op::Imul, Ty::U32, 0xa),
    saturating("IMUL.v2i16", Op::Imul, Ty::V2U16, 0xa),
    saturating("IMUL.v4i8", Op::Imul, Ty::V4U8, 0xa),
    saturating("IMUL.s32", Op::Imul, Ty::S32, 0xa),
    saturating("IMUL.v2s16", Op::Imul, Ty::V2S16, 0xa),
    saturating("IMUL.v4s8", Op::Imul, Ty::V4S8, 0xa),
    alu("IMULD.u64", Op::ImulWide, Ty::U64, 0x1a3, INTS).second(16, 4, 0xa).from(Ty::U32),
    halving("HADD.u32", Ty::U32),
    halving("HADD.v2u16", Ty::V2U16),
    halving("HADD.v4u8", Ty::V4U8),
    halving("HADD.s32", Ty::S32),
    halving("HADD.v2s16", Ty::V2S16),
    halving("HADD.v4s8", Ty::V4S8),
    two("SHADDX.u64", Op::ShiftAdd, Ty::U64, 7).immediates(SHIFT),
    two("SHADDX.s64", Op::ShiftAdd, Ty::S64, 7).immediates(SHIFT),
    named("SEG_ADD.u64", Op::SegAdd, 0x1a3).second(16, 4, 6),
    permute("CLPER.i32", 0xa0),
    permute("CLPER.v2u16", 0xa1),
    permute("CLPER.v4u8", 0xa2),
    permute("CLPER.s32", 0xa8),
    permute("CLPER.v2s16", 0xa9),
    permute("CLPER.v4s8", 0xaa),
    permute("CLPER.u64", 0x1a3),
    permute("CLPER.s64", 0x1ab),
    immediate("IADD_IMM.i32", Ty::U32, 0x110),
    immediate("IADD_IMM.v2i16", Ty::V2U16, 0x111),
    immediate("IADD_IMM.v4i8", Ty::V4U8, 0x112),
    bits("CLZ.u32", Op::Clz, Ty::U32, 0x4),
    alu("CLZ.v2u16", Op::Clz, Ty::V2U16, 0x91, SWIZZLED).second(16, 4, 0x5),
    bits("CLZ.v4u8", Op::Clz, Ty::V4U8, 0x6),
    alu("IABS.s32", Op::Iabs, Ty::S32, 0x91, INT).second(16, 4, 0x8),
    alu("IABS.v2s16", Op::Iabs, Ty::V2S16, 0x91, PAIR).second(16, 4, 0x9),
    bits("IABS.v4s8", Op::Iabs, Ty::V4S8, 0xa),
    bits("POPCOUNT.i32", Op::Popcount, Ty::U32, 0xc),
    bits("BITREV.i32", Op::BitReverse, Ty::U32, 0xd),
    bits("NOT_OLD.i32", Op::Not, Ty::U32, 0xe),
    alu("NOT_OLD.i64", Op::Not, Ty::U64, 0x191, DOUBLE).second(16, 4, 0xe),
    compare("ICMP_OR.u32", Op::IcmpOr, Ty::U32, 0),
    compare("ICMP_OR.v2u16", Op::IcmpOr, Ty::V2U16, 0),
    compare("ICMP_OR.v4u8", Op::IcmpOr, Ty::V4U8, 0),
    compare("ICMP_OR.s32", Op::IcmpOr, Ty::S32, 0),
    compare("ICMP_OR.v2s16", Op::IcmpOr, Ty::V2S16, 0),
    compare("ICMP_OR.v4s8", Op::IcmpOr, Ty::V4S8, 0),
    compare("ICMP_AND.u32", Op::IcmpAnd, Ty::U32, 1),
    compare("ICMP_AND.v2u16", Op::IcmpAnd, Ty::V2U16, 1),
    compare("ICMP_AND.v4u8", Op::IcmpAnd, Ty::V4U8, 1),
    compare("ICMP_AND.s32", Op::IcmpAnd, Ty::S32, 1),
    compare("ICMP_AND.v2s16", Op::IcmpAnd, Ty::V2S16, 1),
    compare("ICMP_AND.v4s8", Op::IcmpAnd, Ty::V4S8, 1),
    compare("ICMP_MULTI.u32", Op::IcmpMulti, Ty::U32, 2),
    compare("ICMP_MULTI.s32", Op::IcmpMulti, Ty::S32, 2),
    named("IDP.v4s8", Op::DotProduct, 0xc2).second(24, 2, 0),
    named("IDP.v4u8", Op::DotProduct, 0xc2).second(24, 2, 1),
];
