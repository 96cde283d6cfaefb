//! Float arithmetic and comparisons.

use super::super::fields::field as f;
use super::{Fields, Immediate, Kind, Op, Row, Ty, alu, named, unsigned};

const SINGLE: &[(u8, Kind)] = &[(0, Kind::Single)];
const HALF: &[(u8, Kind)] = &[(0, Kind::HalfOne)];
const HALVES: &[(u8, Kind)] = &[(0, Kind::HalfPair)];
const SINGLES: &[(u8, Kind)] = &[(0, Kind::Single), (1, Kind::Single)];
const PAIRS: &[(u8, Kind)] = &[(0, Kind::HalfPair), (1, Kind::HalfPair)];
const SINGLES_3: &[(u8, Kind)] = &[(0, Kind::Single), (1, Kind::Single), (2, Kind::Single)];
const PAIRS_3: &[(u8, Kind)] = &[(0, Kind::HalfPair), (1, Kind::HalfPair), (2, Kind::HalfPair)];
const COMPARED: &[(u8, Kind)] = &[(0, Kind::Single), (1, Kind::Single), (2, Kind::Word)];
const COMPARED_PAIRS: &[(u8, Kind)] = &[(0, Kind::HalfPair), (1, Kind::HalfPair), (2, Kind::Word)];

const CONSTANT: &[Immediate] = &[unsigned("", 8, 32)];
const WORD: &[(u8, Kind)] = &[(0, Kind::Word)];
const ADD: Fields = &[f::ROUND, f::CLAMP];
const CLAMP: Fields = &[f::CLAMP];
const COMPARISON: Fields = &[f::CONDITION, f::RESULT];
const FLUSHES: Fields = &[f::NAN_MODE, f::FTZ, f::FLUSH_INF];

const fn two(name: &'static str, op: Op, ty: Ty, code: u64) -> Row {
    let (opcode, sources) = if ty.count() == 2 { (0xa5, PAIRS) } else { (0xa4, SINGLES) };
    alu(name, op, ty, opcode, sources).second(16, 4, code)
}

const fn compare(name: &'static str, op: Op, ty: Ty, code: u64) -> Row {
    let (opcode, sources) = if ty.count() == 2 { (0xf5, COMPARED_PAIRS) } else { (0xf4, COMPARED) };
    alu(name, op, ty, opcode, sources).second(24, 2, code).with(COMPARISON)
}

const fn function(name: &'static str, op: Op, ty: Ty, code: u64) -> Row {
    let sources = if ty.bits() == 16 { HALF } else { SINGLE };
    alu(name, op, ty, 0x9c, sources).second(16, 4, code)
}

pub(super) const ROWS: &[Row] = &[
    two("FADD.f32", Op::Fadd, Ty::F32, 0).with(ADD),
    two("FADD.v2f16", Op::Fadd, Ty::V2F16, 0).with(ADD),
    two("FMIN.f32", Op::Fmin, Ty::F32, 2).with(CLAMP),
    two("FMIN.v2f16", Op::Fmin, Ty::V2F16, 2).with(CLAMP),
    two("FMAX.f32", Op::Fmax, Ty::F32, 3).with(CLAMP),
    two("FMAX.v2f16", Op::Fmax, Ty::V2F16, 3).with(CLAMP),
    alu("FMA.f32", Op::Fma, Ty::F32, 0xb2, SINGLES_3).with(CLAMP),
    alu("FMA.v2f16", Op::Fma, Ty::V2F16, 0xb3, PAIRS_3).with(CLAMP),
    alu("FADD_IMM.f32", Op::Fadd, Ty::F32, 0x114, WORD).immediates(CONSTANT),
    alu("FADD_IMM.v2f16", Op::Fadd, Ty::V2F16, 0x115, WORD).immediates(CONSTANT),
    compare("FCMP_OR.f32", Op::FcmpOr, Ty::F32, 0),
    compare("FCMP_OR.v2f16", Op::FcmpOr, Ty::V2F16, 0),
    compare("FCMP_AND.f32", Op::FcmpAnd, Ty::F32, 1),
    compare("FCMP_AND.v2f16", Op::FcmpAnd, Ty::V2F16, 1),
    alu("FLUSH.f32", Op::Flush, Ty::F32, 0x98, SINGLE).second(16, 4, 0).with(FLUSHES),
    alu("FLUSH.v2f16", Op::Flush, Ty::V2F16, 0x98, HALVES).second(16, 4, 1).with(FLUSHES),
    function("FRCP.f32", Op::Frcp, Ty::F32, 0),
    function("FRCP.f16", Op::Frcp, Ty::F16, 1),
    function("FRSQ.f32", Op::Frsq, Ty::F32, 2),
    function("FRSQ.f16", Op::Frsq, Ty::F16, 3),
    named("FSIN_TABLE.u6", Op::Table, 0x9c).second(16, 4, 4),
    named("FCOS_TABLE.u6", Op::Table, 0x9c).second(16, 4, 5),
    named("FSINCOS_OFFSET.u6", Op::Table, 0x9c).second(16, 4, 6),
    named("FLOGD.f32", Op::Table, 0x9c).second(16, 4, 8),
    named("FPCLASS.f32", Op::Table, 0x9c).second(16, 4, 10),
    named("FPCLASS.f16", Op::Table, 0x9c).second(16, 4, 11),
    named("FLOG_TABLE.f32", Op::Table, 0x9c).second(16, 4, 12),
    named("FEXP_TABLE.u4", Op::Table, 0x9c).second(16, 4, 13),
    named("FRCP_APPROX.f32", Op::Table, 0x9c).second(16, 4, 14),
    named("FRSQ_APPROX.f32", Op::Table, 0x9c).second(16, 4, 15),
    named("FREXPM.f32", Op::Frexpm, 0x99).second(16, 4, 0),
    named("FREXPM.v2f16", Op::Frexpm, 0x99).second(16, 4, 1),
    named("FREXPE.f32", Op::Frexpe, 0x99).second(16, 4, 2),
    named("FREXPE.v2f16", Op::Frexpe, 0x99).second(16, 4, 3),
    named("LDEXP.f32", Op::Ldexp, 0xa4).second(16, 4, 6),
    named("LDEXP.v2f16", Op::Ldexp, 0xa5).second(16, 4, 6),
    named("FEXP.f32", Op::Table, 0xa4).second(16, 4, 8),
    named("FADD_LSCALE.f32", Op::Table, 0xa4).second(16, 4, 9),
    named("FATAN_ASSIST.f32", Op::Table, 0xa4).second(16, 4, 14),
    named("CUBE_SSEL", Op::Cube, 0xbc).second(24, 4, 0),
    named("CUBE_TSEL", Op::Cube, 0xbc).second(24, 4, 1),
    named("CUBEFACE1", Op::Cube, 0xc0),
    named("CUBEFACE2_V9", Op::Cube, 0xc1),
];
