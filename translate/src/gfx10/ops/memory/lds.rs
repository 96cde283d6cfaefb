//! DS: reads, writes and atomics of the workgroup's LDS. Each unit is checked by itself: past the end it reads as 0 and is not
//! written. M0 plays no part.

use guestwave_isa::gfx10::{Inst, Mods, Op, Operand};

use super::Run;
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::ops::{Lower, Row};
use crate::program::{AtomicOp, BinOp, Space, UnOp, Value, Width};

/// The two offsets of a DS instruction.
pub(in crate::gfx10::ops) fn offsets(e: &Emit<'_>, inst: &Inst) -> Result<(u8, u8), Stop> {
    match inst.mods {
        Mods::Ds { offset0, offset1, gds: false } => Ok((offset0, offset1)),
        _ => Err(e.refuse(inst, "GDS")),
    }
}

/// The single offset of a DS instruction.
pub(in crate::gfx10::ops) fn offset(e: &Emit<'_>, inst: &Inst) -> Result<u32, Stop> {
    let (low, high) = offsets(e, inst)?;
    Ok(u32::from(low) | u32::from(high) << 8)
}

/// The run of `bytes` bytes `offset` bytes from the lane's address.
fn run(e: &mut Emit<'_>, inst: &Inst, offset: u32, bytes: u32) -> Run {
    let base = match inst.src[0] {
        Operand::Vgpr(r) => e.vgpr(r),
        _ => e.b.c32(0),
    };
    let address = e.with_constant(BinOp::Add, base, u64::from(offset));
    let count = e.b.c32(bytes);
    Run { space: Space::Lds, address, valid: e.if_active(count), slot: None }
}

fn read(e: &mut Emit<'_>, inst: &Inst, dwords: u8) -> Result<(), Stop> {
    let offset = offset(e, inst)?;
    let registers = e.registers(inst, inst.dst[0], dwords)?;
    let run = run(e, inst, offset, 4 * u32::from(dwords));
    e.load_registers(inst, run, &registers);
    Ok(())
}

fn write(e: &mut Emit<'_>, inst: &Inst, dwords: u8) -> Result<(), Stop> {
    let offset = offset(e, inst)?;
    let registers = e.registers(inst, inst.src[1], dwords)?;
    let run = run(e, inst, offset, 4 * u32::from(dwords));
    e.store_registers(inst, run, &registers);
    Ok(())
}

/// The runs of the two-offset forms, whose offsets count in `unit` bytes.
fn runs(e: &mut Emit<'_>, inst: &Inst, dwords: u8, unit: u32) -> Result<[Run; 2], Stop> {
    let (first, second) = offsets(e, inst)?;
    let bytes = 4 * u32::from(dwords);
    Ok([first, second].map(|o| run(e, inst, u32::from(o) * unit, bytes)))
}

fn read2(e: &mut Emit<'_>, inst: &Inst, dwords: u8, unit: u32) -> Result<(), Stop> {
    let registers = e.registers(inst, inst.dst[0], 2 * dwords)?;
    let runs = runs(e, inst, dwords, unit)?;
    let loaded = runs.map(|r| e.b.load(usize::from(dwords), r.access(Width::W32, inst.offset)));
    for (register, value) in registers.iter().zip(loaded.into_iter().flatten()) {
        e.set_vgpr(*register, value);
    }
    Ok(())
}

fn write2(e: &mut Emit<'_>, inst: &Inst, dwords: u8, unit: u32) -> Result<(), Stop> {
    let runs = runs(e, inst, dwords, unit)?;
    for (run, data) in runs.into_iter().zip([inst.src[1], inst.src[2]]) {
        let registers = e.registers(inst, data, dwords)?;
        e.store_registers(inst, run, &registers);
    }
    Ok(())
}

fn read_part(
    e: &mut Emit<'_>,
    inst: &Inst,
    width: Width,
    signed: bool,
    high: Option<bool>,
) -> Result<(), Stop> {
    let offset = offset(e, inst)?;
    let register = e.registers(inst, inst.dst[0], 1)?[0];
    let run = run(e, inst, offset, width.bytes());
    let raw = e.b.load(1, run.access(width, inst.offset))[0];
    let value = match (signed, width) {
        (false, _) => raw,
        (true, Width::W8) => e.b.un(UnOp::Sext8, raw),
        (true, _) => e.b.un(UnOp::Sext16, raw),
    };
    let new = match high {
        None => value,
        Some(high) => {
            let old = e.vgpr(register);
            e.insert_half(old, value, high)
        }
    };
    e.set_vgpr(register, new);
    Ok(())
}

fn write_part(e: &mut Emit<'_>, inst: &Inst, width: Width, high: bool) -> Result<(), Stop> {
    let offset = offset(e, inst)?;
    let register = e.registers(inst, inst.src[1], 1)?[0];
    let word = e.vgpr(register);
    let value = if high { e.shift(BinOp::ShrU, word, 16) } else { word };
    let run = run(e, inst, offset, width.bytes());
    e.store_run(inst, run, vec![value], width);
    Ok(())
}

fn atomic(e: &mut Emit<'_>, inst: &Inst, op: AtomicOp, wide: bool) -> Result<(), Stop> {
    let offset = offset(e, inst)?;
    let (width, dwords) = if wide { (Width::W64, 2) } else { (Width::W32, 1) };
    let run = run(e, inst, offset, width.bytes());
    let operand = |e: &mut Emit<'_>, o: Operand| -> Result<Value, Stop> {
        let registers = e.registers(inst, o, dwords)?;
        Ok(e.operand_value(&registers))
    };
    let first = operand(e, inst.src[1])?;
    // Compare and swap compares with its first data operand and writes the second.
    let (data, compare) = match op {
        AtomicOp::CompareSwap => (operand(e, inst.src[2])?, Some(first)),
        _ => (first, None),
    };
    e.trap_misaligned(inst, run, width);
    let run = e.by_lane(run);
    let old = e.b.atomic(op, data, compare, run.access(width, inst.offset));
    e.put_old(inst, old, wide)
}

macro_rules! rows {
    ($($op:ident => $f:expr;)*) => { &[$((Op::$op, Lower::Whole($f))),*] };
}

pub(in crate::gfx10::ops) const ROWS: &[Row] = rows! {
    DS_READ_B32 => |e, i| read(e, i, 1);
    DS_READ_B64 => |e, i| read(e, i, 2);
    DS_READ_B96 => |e, i| read(e, i, 3);
    DS_READ_B128 => |e, i| read(e, i, 4);
    DS_WRITE_B32 => |e, i| write(e, i, 1);
    DS_WRITE_B64 => |e, i| write(e, i, 2);
    DS_WRITE_B96 => |e, i| write(e, i, 3);
    DS_WRITE_B128 => |e, i| write(e, i, 4);
    DS_READ2_B32 => |e, i| read2(e, i, 1, 4);
    DS_READ2ST64_B32 => |e, i| read2(e, i, 1, 256);
    DS_READ2_B64 => |e, i| read2(e, i, 2, 8);
    DS_READ2ST64_B64 => |e, i| read2(e, i, 2, 512);
    DS_WRITE2_B32 => |e, i| write2(e, i, 1, 4);
    DS_WRITE2ST64_B32 => |e, i| write2(e, i, 1, 256);
    DS_WRITE2_B64 => |e, i| write2(e, i, 2, 8);
    DS_WRITE2ST64_B64 => |e, i| write2(e, i, 2, 512);
    DS_READ_U8 => |e, i| read_part(e, i, Width::W8, false, None);
    DS_READ_I8 => |e, i| read_part(e, i, Width::W8, true, None);
    DS_READ_U16 => |e, i| read_part(e, i, Width::W16, false, None);
    DS_READ_I16 => |e, i| read_part(e, i, Width::W16, true, None);
    DS_READ_U8_D16 => |e, i| read_part(e, i, Width::W8, false, Some(false));
    DS_READ_U8_D16_HI => |e, i| read_part(e, i, Width::W8, false, Some(true));
    DS_READ_I8_D16 => |e, i| read_part(e, i, Width::W8, true, Some(false));
    DS_READ_I8_D16_HI => |e, i| read_part(e, i, Width::W8, true, Some(true));
    DS_READ_U16_D16 => |e, i| read_part(e, i, Width::W16, false, Some(false));
    DS_READ_U16_D16_HI => |e, i| read_part(e, i, Width::W16, false, Some(true));
    DS_WRITE_B8 => |e, i| write_part(e, i, Width::W8, false);
    DS_WRITE_B16 => |e, i| write_part(e, i, Width::W16, false);
    DS_WRITE_B8_D16_HI => |e, i| write_part(e, i, Width::W8, true);
    DS_WRITE_B16_D16_HI => |e, i| write_part(e, i, Width::W16, true);
    DS_ADD_U32 => |e, i| atomic(e, i, AtomicOp::Add, false);
    DS_SUB_U32 => |e, i| atomic(e, i, AtomicOp::Sub, false);
    DS_INC_U32 => |e, i| atomic(e, i, AtomicOp::IncWrap, false);
    DS_DEC_U32 => |e, i| atomic(e, i, AtomicOp::DecWrap, false);
    DS_MIN_I32 => |e, i| atomic(e, i, AtomicOp::MinS, false);
    DS_MAX_I32 => |e, i| atomic(e, i, AtomicOp::MaxS, false);
    DS_MIN_U32 => |e, i| atomic(e, i, AtomicOp::MinU, false);
    DS_MAX_U32 => |e, i| atomic(e, i, AtomicOp::MaxU, false);
    DS_AND_B32 => |e, i| atomic(e, i, AtomicOp::And, false);
    DS_OR_B32 => |e, i| atomic(e, i, AtomicOp::Or, false);
    DS_XOR_B32 => |e, i| atomic(e, i, AtomicOp::Xor, false);
    DS_MIN_F32 => |e, i| atomic(e, i, AtomicOp::MinF, false);
    DS_MAX_F32 => |e, i| atomic(e, i, AtomicOp::MaxF, false);
    DS_CMPST_B32 => |e, i| atomic(e, i, AtomicOp::CompareSwap, false);
    DS_ADD_RTN_U32 => |e, i| atomic(e, i, AtomicOp::Add, false);
    DS_SUB_RTN_U32 => |e, i| atomic(e, i, AtomicOp::Sub, false);
    DS_INC_RTN_U32 => |e, i| atomic(e, i, AtomicOp::IncWrap, false);
    DS_DEC_RTN_U32 => |e, i| atomic(e, i, AtomicOp::DecWrap, false);
    DS_MIN_RTN_I32 => |e, i| atomic(e, i, AtomicOp::MinS, false);
    DS_MAX_RTN_I32 => |e, i| atomic(e, i, AtomicOp::MaxS, false);
    DS_MIN_RTN_U32 => |e, i| atomic(e, i, AtomicOp::MinU, false);
    DS_MAX_RTN_U32 => |e, i| atomic(e, i, AtomicOp::MaxU, false);
    DS_AND_RTN_B32 => |e, i| atomic(e, i, AtomicOp::And, false);
    DS_OR_RTN_B32 => |e, i| atomic(e, i, AtomicOp::Or, false);
    DS_XOR_RTN_B32 => |e, i| atomic(e, i, AtomicOp::Xor, false);
    DS_WRXCHG_RTN_B32 => |e, i| atomic(e, i, AtomicOp::Swap, false);
    DS_MIN_RTN_F32 => |e, i| atomic(e, i, AtomicOp::MinF, false);
    DS_MAX_RTN_F32 => |e, i| atomic(e, i, AtomicOp::MaxF, false);
    DS_CMPST_RTN_B32 => |e, i| atomic(e, i, AtomicOp::CompareSwap, false);
    DS_ADD_U64 => |e, i| atomic(e, i, AtomicOp::Add, true);
    DS_SUB_U64 => |e, i| atomic(e, i, AtomicOp::Sub, true);
    DS_INC_U64 => |e, i| atomic(e, i, AtomicOp::IncWrap, true);
    DS_DEC_U64 => |e, i| atomic(e, i, AtomicOp::DecWrap, true);
    DS_MIN_I64 => |e, i| atomic(e, i, AtomicOp::MinS, true);
    DS_MAX_I64 => |e, i| atomic(e, i, AtomicOp::MaxS, true);
    DS_MIN_U64 => |e, i| atomic(e, i, AtomicOp::MinU, true);
    DS_MAX_U64 => |e, i| atomic(e, i, AtomicOp::MaxU, true);
    DS_AND_B64 => |e, i| atomic(e, i, AtomicOp::And, true);
    DS_OR_B64 => |e, i| atomic(e, i, AtomicOp::Or, true);
    DS_XOR_B64 => |e, i| atomic(e, i, AtomicOp::Xor, true);
    DS_CMPST_B64 => |e, i| atomic(e, i, AtomicOp::CompareSwap, true);
    DS_ADD_RTN_U64 => |e, i| atomic(e, i, AtomicOp::Add, true);
    DS_SUB_RTN_U64 => |e, i| atomic(e, i, AtomicOp::Sub, true);
    DS_INC_RTN_U64 => |e, i| atomic(e, i, AtomicOp::IncWrap, true);
    DS_DEC_RTN_U64 => |e, i| atomic(e, i, AtomicOp::DecWrap, true);
    DS_MIN_RTN_I64 => |e, i| atomic(e, i, AtomicOp::MinS, true);
    DS_MAX_RTN_I64 => |e, i| atomic(e, i, AtomicOp::MaxS, true);
    DS_MIN_RTN_U64 => |e, i| atomic(e, i, AtomicOp::MinU, true);
    DS_MAX_RTN_U64 => |e, i| atomic(e, i, AtomicOp::MaxU, true);
    DS_AND_RTN_B64 => |e, i| atomic(e, i, AtomicOp::And, true);
    DS_OR_RTN_B64 => |e, i| atomic(e, i, AtomicOp::Or, true);
    DS_XOR_RTN_B64 => |e, i| atomic(e, i, AtomicOp::Xor, true);
    DS_WRXCHG_RTN_B64 => |e, i| atomic(e, i, AtomicOp::Swap, true);
    DS_CMPST_RTN_B64 => |e, i| atomic(e, i, AtomicOp::CompareSwap, true);
};
