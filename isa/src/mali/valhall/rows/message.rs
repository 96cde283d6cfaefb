//! Messages: what goes to the load/store, varying and fragment units.

use super::super::fields::field as f;
use super::{Fields, Immediate, Kind, Op, Row, Sources, Staging, Ty, alu, named, signed, unsigned};

const ONE: Sources = &[(0, Kind::Word)];
const TWO: Sources = &[(0, Kind::Word), (1, Kind::Word)];
const THREE: Sources = &[(0, Kind::Word), (1, Kind::Word), (2, Kind::Word)];
const ADDRESS: Sources = &[(0, Kind::Pair)];
const CONVERTED: Sources = &[(0, Kind::Pair), (2, Kind::Word)];

const ATTRIBUTE: Fields = &[f::VECSIZE, f::REGFMT, f::SLOT];
const SLOT: Fields = &[f::SLOT];
const CONVERT: Fields = &[f::SLOT, f::CVT_ACCESS, f::VECSIZE, f::REGFMT];
const VARYING: Fields = &[f::VECSIZE, f::REGFMT, f::SLOT, f::SAMPLE, f::UPDATE];
const STORE: Fields = &[f::ACCESS, f::SLOT];
const SPECIAL: Fields = &[f::VECSIZE, f::REGFMT, f::SAMPLE, f::UPDATE, f::SLOT];
const BLEND: Fields = &[f::SLOT, f::VECSIZE, f::REGFMT];
const FLAT: Fields = &[f::VECSIZE, f::REGFMT, f::SLOT];
const BUFFERED: Fields = &[f::SLOT, f::VECSIZE, f::SOURCE_FORMAT, f::SAMPLE, f::UPDATE];

const ATTRIBUTE_INDEX: &[Immediate] = &[unsigned("index", 20, 4), unsigned("table", 16, 4)];
const LEA_INDEX: &[Immediate] = &[unsigned("table", 16, 4), unsigned("index", 20, 4)];
const TABLE_INDEX: &[Immediate] = &[unsigned("table", 8, 4), unsigned("index", 12, 8)];
const OFFSET: &[Immediate] = &[signed("offset", 8, 16)];
const INDEX_16: &[Immediate] = &[unsigned("index", 16, 8)];
const NAME: &[Immediate] = &[unsigned("index", 12, 4)];
const TARGET: &[Immediate] = &[unsigned("target", 8, 8)];
const OFFSET_8: &[Immediate] = &[unsigned("offset", 8, 8)];

const fn message(name: &'static str, op: Op, opcode: u16, staging: Staging, sources: Sources) -> Row {
    alu(name, op, Ty::U32, opcode, sources).staging(staging)
}

const fn read(name: &'static str, op: Op, opcode: u16, sources: Sources) -> Row {
    message(name, op, opcode, Staging::Read, sources)
}

const fn write(name: &'static str, op: Op, opcode: u16, sources: Sources) -> Row {
    message(name, op, opcode, Staging::Write, sources)
}

/// An attribute access; textures share its opcode.
const fn attribute(name: &'static str, op: Op, opcode: u16, sources: Sources) -> Row {
    write(name, op, opcode, sources).second(37, 2, 0)
}

/// A load of `width` code 0 to 7 (8, 16, 24, 32, 48, 64, 96, 128 bits).
const fn load(name: &'static str, width: u64, fields: Fields) -> Row {
    write(name, Op::Load, 0x60, ADDRESS).second(27, 3, width).with(fields).immediates(OFFSET)
}

const fn load_buffer(name: &'static str, width: u64, fields: Fields) -> Row {
    write(name, Op::LoadBuffer, 0x6a, TWO).second(27, 3, width).with(fields)
}

const fn store(name: &'static str, width: u64) -> Row {
    read(name, Op::Store, 0x61, ADDRESS).second(27, 3, width).with(STORE).immediates(OFFSET)
}

pub(super) const ROWS: &[Row] = &[
    load("LOAD.i8", 0, &[f::ACCESS, f::LANE_8, f::UNSIGNED, f::SLOT]),
    load("LOAD.i16", 1, &[f::ACCESS, f::LANE_16, f::UNSIGNED, f::SLOT]),
    load("LOAD.i24", 2, &[f::ACCESS, f::LANE_24, f::UNSIGNED, f::SLOT]),
    load("LOAD.i32", 3, &[f::ACCESS, f::LANE_32, f::UNSIGNED, f::SLOT]),
    load("LOAD.i48", 4, &[f::ACCESS, f::LANE_48, f::UNSIGNED, f::SLOT]),
    load("LOAD.i64", 5, &[f::ACCESS, f::LANE_ALL, f::UNSIGNED, f::SLOT]),
    load("LOAD.i96", 6, &[f::ACCESS, f::LANE_96, f::UNSIGNED, f::SLOT]),
    load("LOAD.i128", 7, &[f::ACCESS, f::LANE_ALL, f::UNSIGNED, f::SLOT]),
    load_buffer("LD_BUFFER.i8", 0, &[f::LANE_8, f::UNSIGNED, f::SLOT]),
    load_buffer("LD_BUFFER.i16", 1, &[f::LANE_16, f::UNSIGNED, f::SLOT]),
    load_buffer("LD_BUFFER.i24", 2, &[f::LANE_24, f::UNSIGNED, f::SLOT]),
    load_buffer("LD_BUFFER.i32", 3, &[f::LANE_32, f::UNSIGNED, f::SLOT]),
    load_buffer("LD_BUFFER.i48", 4, &[f::LANE_48, f::UNSIGNED, f::SLOT]),
    load_buffer("LD_BUFFER.i64", 5, &[f::LANE_ALL, f::UNSIGNED, f::SLOT]),
    load_buffer("LD_BUFFER.i96", 6, &[f::LANE_96, f::UNSIGNED, f::SLOT]),
    load_buffer("LD_BUFFER.i128", 7, &[f::LANE_ALL, f::UNSIGNED, f::SLOT]),
    store("STORE.i8", 0),
    store("STORE.i16", 1),
    store("STORE.i24", 2),
    store("STORE.i32", 3),
    store("STORE.i48", 4),
    store("STORE.i64", 5),
    store("STORE.i96", 6),
    store("STORE.i128", 7),
    write("LEA_BUFFER", Op::LeaBuffer, 0x6b, TWO).with(SLOT),
    write("LEA_BUF_IMM", Op::LeaBufImm, 0x5e, ONE).with(SLOT).immediates(TABLE_INDEX),
    write("LEA_BUF", Op::LeaBuf, 0x6e, TWO).with(SLOT),
    attribute("LD_ATTR_IMM", Op::LoadAttrImm, 0x66, TWO).with(ATTRIBUTE).immediates(ATTRIBUTE_INDEX),
    attribute("LD_ATTR", Op::LoadAttr, 0x76, THREE).with(ATTRIBUTE),
    attribute("LEA_ATTR_IMM", Op::LeaAttrImm, 0x67, TWO).with(SLOT).immediates(LEA_INDEX),
    attribute("LEA_ATTR", Op::LeaAttr, 0x77, THREE).with(SLOT),
    read("ST_CVT", Op::StoreConvert, 0x71, CONVERTED).with(CONVERT).immediates(OFFSET_8),
    write("LD_CVT", Op::LoadConvert, 0x70, CONVERTED).with(CONVERT).immediates(OFFSET_8),
    write("LD_VAR_IMM", Op::LoadVarImm, 0x54, ONE).with(VARYING).immediates(TABLE_INDEX),
    write("LD_VAR", Op::LoadVar, 0x64, TWO).with(VARYING),
    write("LD_VAR_FLAT_IMM", Op::LoadVarFlatImm, 0x41, &[]).with(FLAT).immediates(TABLE_INDEX),
    write("LD_VAR_FLAT", Op::LoadVarFlat, 0x55, ONE).with(FLAT),
    buffered("LD_VAR_BUF_IMM.f32", Op::LoadVarBufImm, Ty::F32, 0x5c, ONE).immediates(INDEX_16),
    buffered("LD_VAR_BUF_IMM.f16", Op::LoadVarBufImm, Ty::F16, 0x5d, ONE).immediates(INDEX_16),
    buffered("LD_VAR_BUF.f32", Op::LoadVarBuf, Ty::F32, 0x6c, TWO),
    buffered("LD_VAR_BUF.f16", Op::LoadVarBuf, Ty::F16, 0x6d, TWO),
    write("LD_VAR_SPECIAL", Op::LoadVarSpecial, 0x56, ONE).with(SPECIAL).immediates(NAME),
    write("ATEST", Op::Atest, 0x7d, THREE),
    read("BLEND", Op::Blend, 0x7f, CONVERTED).with(BLEND).immediates(TARGET),
    named("LD_TEX_IMM", Op::Message, 0x66).second(37, 2, 1),
    named("LD_TEX", Op::Message, 0x76).second(37, 2, 1),
    named("LEA_TEX_IMM", Op::Message, 0x67).second(37, 2, 1),
    named("LEA_TEX", Op::Message, 0x77).second(37, 2, 1),
    named("LD_TILE", Op::Message, 0x78),
    named("ST_TILE", Op::Message, 0x79),
    named("ZS_EMIT", Op::Message, 0x7e),
    named("ATOM", Op::Message, 0x68),
    named("ATOM1_RETURN", Op::Message, 0x69),
    named("ATOM_RETURN", Op::Message, 0x120),
    named("TEX_FETCH", Op::Message, 0x125),
    named("TEX_SINGLE", Op::Message, 0x128),
    named("TEX_GATHER", Op::Message, 0x129),
    named("VAR_TEX_SINGLE", Op::Message, 0x138),
];

const fn buffered(name: &'static str, op: Op, ty: Ty, opcode: u16, sources: Sources) -> Row {
    let row = write(name, op, opcode, sources).with(BUFFERED);
    Row { ty, ..row }
}
