//! Which DS operation does what.

use super::{Data, LdsAccess, Part};
use crate::gfx10::Op;
use crate::gfx10::interp::atomic::{self, Modify};
use crate::gfx10::interp::meaning::Meaning;

const fn read_part(bytes: u8, signed: bool, high: Option<bool>) -> Meaning {
    Meaning::Lds(LdsAccess::ReadPart(Part { bytes, signed, high }))
}

const fn write_part(bytes: u8, high: bool) -> Meaning {
    Meaning::Lds(LdsAccess::WritePart(Part { bytes, signed: false, high: Some(high) }))
}

const fn read2(dwords: u8, unit: u32) -> Meaning {
    Meaning::Lds(LdsAccess::Read2 { dwords, unit })
}

const fn write2(dwords: u8, unit: u32) -> Meaning {
    Meaning::Lds(LdsAccess::Write2 { dwords, unit })
}

const fn exchange2(dwords: u8, unit: u32) -> Meaning {
    Meaning::Lds(LdsAccess::Exchange2 { dwords, unit })
}

const fn atomic32(modify: Modify) -> Meaning {
    Meaning::Lds(LdsAccess::Atomic { modify, dwords: 1, data: Data::Straight })
}

const fn atomic64(modify: Modify) -> Meaning {
    Meaning::Lds(LdsAccess::Atomic { modify, dwords: 2, data: Data::Straight })
}

const fn compare(modify: Modify, dwords: u8) -> Meaning {
    Meaning::Lds(LdsAccess::Atomic { modify, dwords, data: Data::Crossed })
}

pub(in crate::gfx10::interp) const ROWS: &[(Op, Meaning)] = &[
    (Op::DS_READ_U8, read_part(1, false, None)),
    (Op::DS_READ_I8, read_part(1, true, None)),
    (Op::DS_READ_U16, read_part(2, false, None)),
    (Op::DS_READ_I16, read_part(2, true, None)),
    (Op::DS_READ_U8_D16, read_part(1, false, Some(false))),
    (Op::DS_READ_U8_D16_HI, read_part(1, false, Some(true))),
    (Op::DS_READ_I8_D16, read_part(1, true, Some(false))),
    (Op::DS_READ_I8_D16_HI, read_part(1, true, Some(true))),
    (Op::DS_READ_U16_D16, read_part(2, false, Some(false))),
    (Op::DS_READ_U16_D16_HI, read_part(2, false, Some(true))),
    (Op::DS_WRITE_B8, write_part(1, false)),
    (Op::DS_WRITE_B16, write_part(2, false)),
    (Op::DS_WRITE_B8_D16_HI, write_part(1, true)),
    (Op::DS_WRITE_B16_D16_HI, write_part(2, true)),
    (Op::DS_READ_B32, Meaning::Lds(LdsAccess::Read(1))),
    (Op::DS_READ_B64, Meaning::Lds(LdsAccess::Read(2))),
    (Op::DS_READ_B96, Meaning::Lds(LdsAccess::Read(3))),
    (Op::DS_READ_B128, Meaning::Lds(LdsAccess::Read(4))),
    (Op::DS_WRITE_B32, Meaning::Lds(LdsAccess::Write(1))),
    (Op::DS_WRITE_B64, Meaning::Lds(LdsAccess::Write(2))),
    (Op::DS_WRITE_B96, Meaning::Lds(LdsAccess::Write(3))),
    (Op::DS_WRITE_B128, Meaning::Lds(LdsAccess::Write(4))),
    (Op::DS_READ2_B32, read2(1, 4)),
    (Op::DS_READ2ST64_B32, read2(1, 256)),
    (Op::DS_READ2_B64, read2(2, 8)),
    (Op::DS_READ2ST64_B64, read2(2, 512)),
    (Op::DS_WRITE2_B32, write2(1, 4)),
    (Op::DS_WRITE2ST64_B32, write2(1, 256)),
    (Op::DS_WRITE2_B64, write2(2, 8)),
    (Op::DS_WRITE2ST64_B64, write2(2, 512)),
    (Op::DS_WRXCHG2_RTN_B32, exchange2(1, 4)),
    (Op::DS_WRXCHG2ST64_RTN_B32, exchange2(1, 256)),
    (Op::DS_WRXCHG2_RTN_B64, exchange2(2, 8)),
    (Op::DS_WRXCHG2ST64_RTN_B64, exchange2(2, 512)),
    (Op::DS_READ_ADDTID_B32, Meaning::Lds(LdsAccess::ReadByLane)),
    (Op::DS_WRITE_ADDTID_B32, Meaning::Lds(LdsAccess::WriteByLane)),
    (Op::DS_ADD_F32, Meaning::Lds(LdsAccess::AddFloat)),
    (Op::DS_ADD_RTN_F32, Meaning::Lds(LdsAccess::AddFloat)),
    (Op::DS_ADD_U32, atomic32(atomic::ADD)),
    (Op::DS_SUB_U32, atomic32(atomic::SUB)),
    (Op::DS_RSUB_U32, atomic32(atomic::RSUB)),
    (Op::DS_INC_U32, atomic32(atomic::INC)),
    (Op::DS_DEC_U32, atomic32(atomic::DEC)),
    (Op::DS_MIN_I32, atomic32(atomic::SMIN)),
    (Op::DS_MAX_I32, atomic32(atomic::SMAX)),
    (Op::DS_MIN_U32, atomic32(atomic::UMIN)),
    (Op::DS_MAX_U32, atomic32(atomic::UMAX)),
    (Op::DS_AND_B32, atomic32(atomic::AND)),
    (Op::DS_OR_B32, atomic32(atomic::OR)),
    (Op::DS_XOR_B32, atomic32(atomic::XOR)),
    (Op::DS_MSKOR_B32, atomic32(atomic::MSKOR)),
    (Op::DS_MIN_F32, atomic32(atomic::FMIN)),
    (Op::DS_MAX_F32, atomic32(atomic::FMAX)),
    (Op::DS_CMPST_B32, compare(atomic::CMPSWAP, 1)),
    (Op::DS_CMPST_F32, compare(atomic::FCMPSWAP, 1)),
    (Op::DS_ADD_RTN_U32, atomic32(atomic::ADD)),
    (Op::DS_SUB_RTN_U32, atomic32(atomic::SUB)),
    (Op::DS_RSUB_RTN_U32, atomic32(atomic::RSUB)),
    (Op::DS_INC_RTN_U32, atomic32(atomic::INC)),
    (Op::DS_DEC_RTN_U32, atomic32(atomic::DEC)),
    (Op::DS_MIN_RTN_I32, atomic32(atomic::SMIN)),
    (Op::DS_MAX_RTN_I32, atomic32(atomic::SMAX)),
    (Op::DS_MIN_RTN_U32, atomic32(atomic::UMIN)),
    (Op::DS_MAX_RTN_U32, atomic32(atomic::UMAX)),
    (Op::DS_AND_RTN_B32, atomic32(atomic::AND)),
    (Op::DS_OR_RTN_B32, atomic32(atomic::OR)),
    (Op::DS_XOR_RTN_B32, atomic32(atomic::XOR)),
    (Op::DS_MSKOR_RTN_B32, atomic32(atomic::MSKOR)),
    (Op::DS_WRXCHG_RTN_B32, atomic32(atomic::SWAP)),
    (Op::DS_WRAP_RTN_B32, atomic32(atomic::WRAP)),
    (Op::DS_MIN_RTN_F32, atomic32(atomic::FMIN)),
    (Op::DS_MAX_RTN_F32, atomic32(atomic::FMAX)),
    (Op::DS_CMPST_RTN_B32, compare(atomic::CMPSWAP, 1)),
    (Op::DS_CMPST_RTN_F32, compare(atomic::FCMPSWAP, 1)),
    (Op::DS_ADD_U64, atomic64(atomic::ADD)),
    (Op::DS_SUB_U64, atomic64(atomic::SUB)),
    (Op::DS_RSUB_U64, atomic64(atomic::RSUB)),
    (Op::DS_INC_U64, atomic64(atomic::INC)),
    (Op::DS_DEC_U64, atomic64(atomic::DEC)),
    (Op::DS_MIN_I64, atomic64(atomic::SMIN)),
    (Op::DS_MAX_I64, atomic64(atomic::SMAX)),
    (Op::DS_MIN_U64, atomic64(atomic::UMIN)),
    (Op::DS_MAX_U64, atomic64(atomic::UMAX)),
    (Op::DS_AND_B64, atomic64(atomic::AND)),
    (Op::DS_OR_B64, atomic64(atomic::OR)),
    (Op::DS_XOR_B64, atomic64(atomic::XOR)),
    (Op::DS_MSKOR_B64, atomic64(atomic::MSKOR)),
    (Op::DS_MIN_F64, atomic64(atomic::FMIN)),
    (Op::DS_MAX_F64, atomic64(atomic::FMAX)),
    (Op::DS_CMPST_B64, compare(atomic::CMPSWAP, 2)),
    (Op::DS_CMPST_F64, compare(atomic::FCMPSWAP, 2)),
    (Op::DS_ADD_RTN_U64, atomic64(atomic::ADD)),
    (Op::DS_SUB_RTN_U64, atomic64(atomic::SUB)),
    (Op::DS_RSUB_RTN_U64, atomic64(atomic::RSUB)),
    (Op::DS_INC_RTN_U64, atomic64(atomic::INC)),
    (Op::DS_DEC_RTN_U64, atomic64(atomic::DEC)),
    (Op::DS_MIN_RTN_I64, atomic64(atomic::SMIN)),
    (Op::DS_MAX_RTN_I64, atomic64(atomic::SMAX)),
    (Op::DS_MIN_RTN_U64, atomic64(atomic::UMIN)),
    (Op::DS_MAX_RTN_U64, atomic64(atomic::UMAX)),
    (Op::DS_AND_RTN_B64, atomic64(atomic::AND)),
    (Op::DS_OR_RTN_B64, atomic64(atomic::OR)),
    (Op::DS_XOR_RTN_B64, atomic64(atomic::XOR)),
    (Op::DS_MSKOR_RTN_B64, atomic64(atomic::MSKOR)),
    (Op::DS_WRXCHG_RTN_B64, atomic64(atomic::SWAP)),
    (Op::DS_MIN_RTN_F64, atomic64(atomic::FMIN)),
    (Op::DS_MAX_RTN_F64, atomic64(atomic::FMAX)),
    (Op::DS_CMPST_RTN_B64, compare(atomic::CMPSWAP, 2)),
    (Op::DS_CMPST_RTN_F64, compare(atomic::FCMPSWAP, 2)),
];
