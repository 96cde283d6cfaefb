//! Conversions between number formats, and rounding to integers.

use super::super::fields::field as f;
use super::{Fields, Kind, Op, Row, Ty, alu};

const ROUND: Fields = &[f::ROUND];

const fn convert(name: &'static str, code: u64, from: Ty, to: Ty, source: &'static [(u8, Kind)]) -> Row {
    alu(name, Op::Convert, to, 0x90, source).second(16, 5, code).from(from)
}

const INT: &[(u8, Kind)] = &[(0, Kind::Int)];
const INT_PAIR: &[(u8, Kind)] = &[(0, Kind::IntPair)];
const LOW: &[(u8, Kind)] = &[(0, Kind::SwizzleOne)];
const SINGLE: &[(u8, Kind)] = &[(0, Kind::SingleWhole)];
const HALF: &[(u8, Kind)] = &[(0, Kind::HalfOne)];
const HALVES: &[(u8, Kind)] = &[(0, Kind::HalfPair)];
const LANE: &[(u8, Kind)] = &[(0, Kind::HalfLane)];
const SINGLES: &[(u8, Kind)] = &[(0, Kind::SingleWhole), (1, Kind::SingleWhole)];
const PART: &[(u8, Kind)] = &[(0, Kind::Single)];
const PACK: Fields = &[f::CLAMP, f::ROUND];
const BYTE: &[(u8, Kind)] = &[(0, Kind::ByteLane28)];
const BYTES: &[(u8, Kind)] = &[(0, Kind::BytePair)];

pub(super) const ROWS: &[Row] = &[
    convert("S8_TO_S32", 0x00, Ty::S8, Ty::S32, BYTE),
    convert("S8_TO_F32", 0x01, Ty::S8, Ty::F32, BYTE),
    convert("V2S8_TO_V2S16", 0x02, Ty::V2S8, Ty::V2S16, BYTES),
    convert("V2S8_TO_V2F16", 0x03, Ty::V2S8, Ty::V2F16, BYTES),
    convert("S16_TO_S32", 0x04, Ty::S16, Ty::S32, LOW),
    convert("S16_TO_F32", 0x05, Ty::S16, Ty::F32, LOW),
    convert("V2S16_TO_V2F16", 0x07, Ty::V2S16, Ty::V2F16, INT_PAIR).with(ROUND),
    convert("S32_TO_F32", 0x09, Ty::S32, Ty::F32, INT).with(ROUND),
    convert("F16_TO_S32", 0x0a, Ty::F16, Ty::S32, HALF).with(ROUND),
    convert("F16_TO_F32", 0x0b, Ty::F16, Ty::F32, LANE).with(ROUND),
    convert("F32_TO_S32", 0x0c, Ty::F32, Ty::S32, SINGLE).with(ROUND),
    convert("V2F16_TO_V2S16", 0x0e, Ty::V2F16, Ty::V2S16, HALVES).with(ROUND),
    convert("U8_TO_U32", 0x10, Ty::U8, Ty::U32, BYTE),
    convert("U8_TO_F32", 0x11, Ty::U8, Ty::F32, BYTE),
    convert("V2U8_TO_V2U16", 0x12, Ty::V2U8, Ty::V2U16, BYTES),
    convert("V2U8_TO_V2F16", 0x13, Ty::V2U8, Ty::V2F16, BYTES),
    convert("U16_TO_U32", 0x14, Ty::U16, Ty::U32, LOW),
    convert("U16_TO_F32", 0x15, Ty::U16, Ty::F32, LOW),
    convert("V2U16_TO_V2F16", 0x17, Ty::V2U16, Ty::V2F16, INT_PAIR).with(ROUND),
    convert("U32_TO_F32", 0x19, Ty::U32, Ty::F32, INT).with(ROUND),
    convert("F16_TO_U32", 0x1a, Ty::F16, Ty::U32, HALF).with(ROUND),
    convert("F32_TO_U32", 0x1c, Ty::F32, Ty::U32, SINGLE).with(ROUND),
    convert("V2F16_TO_V2U16", 0x1e, Ty::V2F16, Ty::V2U16, HALVES).with(ROUND),
    alu("FROUND.f32", Op::Fround, Ty::F32, 0x90, PART).second(16, 5, 0x0d).with(ROUND),
    alu("FROUND.v2f16", Op::Fround, Ty::V2F16, 0x90, HALVES).second(16, 5, 0x0f).with(ROUND),
    alu("V2F32_TO_V2F16", Op::PackHalves, Ty::V2F16, 0xa5, SINGLES)
        .second(16, 4, 0x4)
        .from(Ty::F32)
        .with(PACK),
];
