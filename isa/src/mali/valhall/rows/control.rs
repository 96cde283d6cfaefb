//! Flow, moves and selections.

use super::super::fields::field as f;
use super::{Fields, Immediate, Kind, Op, Row, Ty, alu, named, signed};

const FOUR: &[(u8, Kind)] = &[(0, Kind::Word), (1, Kind::Word), (2, Kind::Word), (3, Kind::Word)];
const ONE: &[(u8, Kind)] = &[(0, Kind::Word)];
const ONE_LOOK: &[(u8, Kind)] = &[(0, Kind::Combine)];
const LOOK_TO: &[(u8, Kind)] = &[(0, Kind::Combine), (1, Kind::Word)];
const HALVES: &[(u8, Kind)] = &[(0, Kind::HalfLanes), (1, Kind::HalfLanes)];
const BYTES: &[(u8, Kind)] = &[(0, Kind::ByteLane), (1, Kind::ByteLane), (2, Kind::Word)];
const THREE: &[(u8, Kind)] = &[(0, Kind::Word), (1, Kind::Word), (2, Kind::Word)];
const SWIZZLED: &[(u8, Kind)] = &[(0, Kind::Swizzle), (1, Kind::Swizzle), (2, Kind::Swizzle)];

const BRANCH: &[Immediate] = &[signed("offset", 8, 27)];
const CSEL: Fields = &[f::CONDITION];
const CSEL_INT: Fields = &[f::CONDITION_INT];
const ON_ZERO: Fields = &[f::EQ, f::CONSERVATIVE];
const ON_ZERO_TO: Fields = &[f::EQ, f::ABSOLUTE, f::CONSERVATIVE];
const MUX: Fields = &[f::MUX];

const fn csel(name: &'static str, ty: Ty, opcode: u16) -> Row {
    let row = alu(name, Op::Csel, ty, opcode, FOUR);
    if ty.float() { row.with(CSEL) } else { row.with(CSEL_INT) }
}

pub(super) const ROWS: &[Row] = &[
    alu("NOP", Op::Nop, Ty::U32, 0x00, &[]).no_destination(),
    alu("BRANCHZ", Op::BranchZ, Ty::U32, 0x1f, ONE_LOOK).with(ON_ZERO).immediates(BRANCH).no_destination(),
    alu("BRANCHZI", Op::BranchZIndirect, Ty::U32, 0x2f, LOOK_TO).with(ON_ZERO_TO).no_destination(),
    named("DISCARD.f32", Op::Discard, 0x20),
    named("BARRIER", Op::Barrier, 0x45),
    named("WMASK", Op::Wmask, 0x95),
    csel("CSEL.u32", Ty::U32, 0x150),
    csel("CSEL.v2u16", Ty::V2U16, 0x151),
    csel("CSEL.f32", Ty::F32, 0x154),
    csel("CSEL.v2f16", Ty::V2F16, 0x155),
    csel("CSEL.s32", Ty::S32, 0x158),
    csel("CSEL.v2s16", Ty::V2S16, 0x159),
    alu("MOV.i32", Op::Mov, Ty::U32, 0x91, ONE).second(16, 4, 0x0),
    alu("MUX.i32", Op::Mux, Ty::U32, 0xb8, THREE).with(MUX),
    alu("MUX.v2i16", Op::Mux, Ty::V2U16, 0xb9, SWIZZLED).with(MUX),
    alu("MUX.v4i8", Op::Mux, Ty::V4U8, 0xba, THREE).with(MUX),
    alu("MKVEC.v2i16", Op::MakeHalves, Ty::V2U16, 0xa1, HALVES).second(16, 4, 0x5),
    alu("MKVEC.v2i8", Op::MakeBytes, Ty::U32, 0xbd, BYTES),
];
