//! DS: reads, writes and atomics of the workgroup's LDS.

use guestwave_isa::gfx10::{Inst, Mods, Op, Operand, sreg};

use super::Run;
use super::access::{Half, Part};
use super::atomic::{
    ADD, AND, CMPSWAP, DEC, FADD, FCMPSWAP, FMAX, FMIN, INC, MSKOR, Modify, OR, RSUB, SMAX, SMIN, SUB, SWAP,
    UMAX, UMIN, WRAP, XOR,
};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::ops::{Lower, Row};
use crate::program::{BinOp, Builtin, Space, Value, Width};

/// The offsets of a DS instruction.
fn offsets(e: &Emit<'_>, inst: &Inst) -> Result<(u8, u8), Stop> {
    match inst.mods {
        Mods::Ds { offset0, offset1, gds: false } => Ok((offset0, offset1)),
        _ => Err(e.refuse(inst, "GDS")),
    }
}

/// The 16-bit offset of a DS instruction.
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
    run_at(e, address, bytes)
}

fn run_at(e: &mut Emit<'_>, address: Value, bytes: u32) -> Run {
    let count = e.b.c32(bytes);
    Run { space: Space::Lds, address, valid: e.if_active(count), slot: None }
}

fn read(e: &mut Emit<'_>, inst: &Inst, dwords: u8) -> Result<(), Stop> {
    let offset = offset(e, inst)?;
    let registers = e.registers(inst, inst.dst[0], dwords)?;
    let run = run(e, inst, offset, 4 * u32::from(dwords));
    e.load_registers(inst, &[run], &registers);
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

/// Each lane's two exchanges come before the next lane's.
fn exchange2(e: &mut Emit<'_>, inst: &Inst, dwords: u8, unit: u32) -> Result<(), Stop> {
    let registers = e.registers(inst, inst.dst[0], 2 * dwords)?;
    let runs = runs(e, inst, dwords, unit)?;
    let data = [operand(e, inst, inst.src[1], dwords)?, operand(e, inst, inst.src[2], dwords)?];
    let old = e.exchange_pairs(inst, runs, data)?;
    for (registers, old) in registers.chunks(usize::from(dwords)).zip(old) {
        e.put_registers(registers, old);
    }
    Ok(())
}

fn read_part(e: &mut Emit<'_>, inst: &Inst, part: Part) -> Result<(), Stop> {
    let offset = offset(e, inst)?;
    let register = e.registers(inst, inst.dst[0], 1)?[0];
    let run = run(e, inst, offset, part.width.bytes());
    e.load_part(inst, &[run], register, part);
    Ok(())
}

fn write_part(e: &mut Emit<'_>, inst: &Inst, part: Part) -> Result<(), Stop> {
    let offset = offset(e, inst)?;
    let register = e.registers(inst, inst.src[1], 1)?[0];
    let run = run(e, inst, offset, part.width.bytes());
    e.store_part(inst, run, register, part);
    Ok(())
}

/// The forms that take M0 and the lane number for an address.
fn by_lane(e: &mut Emit<'_>, inst: &Inst) -> Result<Run, Stop> {
    let offset = offset(e, inst)?;
    let (m0, lane) = (e.sgpr(sreg::M0)?, e.b.builtin(Builtin::Lane));
    let base = e.with_constant(BinOp::And, m0, 0xffff);
    let base = e.with_constant(BinOp::Add, base, u64::from(offset));
    let lane = e.shift(BinOp::Shl, lane, 2);
    let address = e.b.bin(BinOp::Add, base, lane);
    Ok(run_at(e, address, 4))
}

fn read_by_lane(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let registers = e.registers(inst, inst.dst[0], 1)?;
    let run = by_lane(e, inst)?;
    e.load_registers(inst, &[run], &registers);
    Ok(())
}

/// Their data stand in whichever place the instruction has them.
fn write_by_lane(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let data = if matches!(inst.src[1], Operand::Vgpr(_)) { inst.src[1] } else { inst.src[0] };
    let registers = e.registers(inst, data, 1)?;
    let run = by_lane(e, inst)?;
    e.store_registers(inst, run, &registers);
    Ok(())
}

fn operand(e: &mut Emit<'_>, inst: &Inst, operand: Operand, dwords: u8) -> Result<Value, Stop> {
    let registers = e.registers(inst, operand, dwords)?;
    Ok(e.operand_value(&registers))
}

fn atomic(e: &mut Emit<'_>, inst: &Inst, modify: Modify, wide: bool) -> Result<(), Stop> {
    let offset = offset(e, inst)?;
    let dwords = if wide { 2 } else { 1 };
    let run = run(e, inst, offset, 4 * u32::from(dwords));
    let mut data = operand(e, inst, inst.src[1], dwords)?;
    let mut other = match inst.src[2] {
        Operand::None => None,
        second => Some(operand(e, inst, second, dwords)?),
    };
    // Compare and swap compares with its first data operand and writes the second.
    if inst.op.name().contains("cmpst")
        && let Some(second) = other.replace(data)
    {
        data = second;
    }
    let old = e.modify(inst, run, modify, (data, other))?;
    e.put_old(inst, old, wide)
}

const fn part(width: Width, signed: bool, half: Half) -> Part {
    Part { width, signed, half }
}

macro_rules! rows {
    ($($op:ident => $f:expr;)*) => { &[$((Op::$op, Lower::Whole($f))),*] };
}

/// The rows of an operation with and without a returned value.
macro_rules! atomics {
    ($($wide:literal $modify:ident: $($op:ident)*;)*) => {
        &[$($((Op::$op, Lower::Whole(|e, i| atomic(e, i, $modify, $wide)))),*),*]
    };
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
    DS_WRXCHG2_RTN_B32 => |e, i| exchange2(e, i, 1, 4);
    DS_WRXCHG2ST64_RTN_B32 => |e, i| exchange2(e, i, 1, 256);
    DS_WRXCHG2_RTN_B64 => |e, i| exchange2(e, i, 2, 8);
    DS_WRXCHG2ST64_RTN_B64 => |e, i| exchange2(e, i, 2, 512);
    DS_READ_ADDTID_B32 => read_by_lane;
    DS_WRITE_ADDTID_B32 => write_by_lane;
    DS_READ_U8 => |e, i| read_part(e, i, part(Width::W8, false, Half::Whole));
    DS_READ_I8 => |e, i| read_part(e, i, part(Width::W8, true, Half::Whole));
    DS_READ_U16 => |e, i| read_part(e, i, part(Width::W16, false, Half::Whole));
    DS_READ_I16 => |e, i| read_part(e, i, part(Width::W16, true, Half::Whole));
    DS_READ_U8_D16 => |e, i| read_part(e, i, part(Width::W8, false, Half::Low));
    DS_READ_U8_D16_HI => |e, i| read_part(e, i, part(Width::W8, false, Half::High));
    DS_READ_I8_D16 => |e, i| read_part(e, i, part(Width::W8, true, Half::Low));
    DS_READ_I8_D16_HI => |e, i| read_part(e, i, part(Width::W8, true, Half::High));
    DS_READ_U16_D16 => |e, i| read_part(e, i, part(Width::W16, false, Half::Low));
    DS_READ_U16_D16_HI => |e, i| read_part(e, i, part(Width::W16, false, Half::High));
    DS_WRITE_B8 => |e, i| write_part(e, i, part(Width::W8, false, Half::Low));
    DS_WRITE_B16 => |e, i| write_part(e, i, part(Width::W16, false, Half::Low));
    DS_WRITE_B8_D16_HI => |e, i| write_part(e, i, part(Width::W8, false, Half::High));
    DS_WRITE_B16_D16_HI => |e, i| write_part(e, i, part(Width::W16, false, Half::High));
};

pub(in crate::gfx10::ops) const ATOMIC_ROWS: &[Row] = atomics! {
    false ADD: DS_ADD_U32 DS_ADD_RTN_U32;
    false SUB: DS_SUB_U32 DS_SUB_RTN_U32;
    false RSUB: DS_RSUB_U32 DS_RSUB_RTN_U32;
    false INC: DS_INC_U32 DS_INC_RTN_U32;
    false DEC: DS_DEC_U32 DS_DEC_RTN_U32;
    false SMIN: DS_MIN_I32 DS_MIN_RTN_I32;
    false SMAX: DS_MAX_I32 DS_MAX_RTN_I32;
    false UMIN: DS_MIN_U32 DS_MIN_RTN_U32;
    false UMAX: DS_MAX_U32 DS_MAX_RTN_U32;
    false AND: DS_AND_B32 DS_AND_RTN_B32;
    false OR: DS_OR_B32 DS_OR_RTN_B32;
    false XOR: DS_XOR_B32 DS_XOR_RTN_B32;
    false MSKOR: DS_MSKOR_B32 DS_MSKOR_RTN_B32;
    false SWAP: DS_WRXCHG_RTN_B32;
    false WRAP: DS_WRAP_RTN_B32;
    false FMIN: DS_MIN_F32 DS_MIN_RTN_F32;
    false FMAX: DS_MAX_F32 DS_MAX_RTN_F32;
    false FADD: DS_ADD_F32 DS_ADD_RTN_F32;
    false CMPSWAP: DS_CMPST_B32 DS_CMPST_RTN_B32;
    false FCMPSWAP: DS_CMPST_F32 DS_CMPST_RTN_F32;
    true ADD: DS_ADD_U64 DS_ADD_RTN_U64;
    true SUB: DS_SUB_U64 DS_SUB_RTN_U64;
    true RSUB: DS_RSUB_U64 DS_RSUB_RTN_U64;
    true INC: DS_INC_U64 DS_INC_RTN_U64;
    true DEC: DS_DEC_U64 DS_DEC_RTN_U64;
    true SMIN: DS_MIN_I64 DS_MIN_RTN_I64;
    true SMAX: DS_MAX_I64 DS_MAX_RTN_I64;
    true UMIN: DS_MIN_U64 DS_MIN_RTN_U64;
    true UMAX: DS_MAX_U64 DS_MAX_RTN_U64;
    true AND: DS_AND_B64 DS_AND_RTN_B64;
    true OR: DS_OR_B64 DS_OR_RTN_B64;
    true XOR: DS_XOR_B64 DS_XOR_RTN_B64;
    true MSKOR: DS_MSKOR_B64 DS_MSKOR_RTN_B64;
    true SWAP: DS_WRXCHG_RTN_B64;
    true FMIN: DS_MIN_F64 DS_MIN_RTN_F64;
    true FMAX: DS_MAX_F64 DS_MAX_RTN_F64;
    true CMPSWAP: DS_CMPST_B64 DS_CMPST_RTN_B64;
    true FCMPSWAP: DS_CMPST_F64 DS_CMPST_RTN_F64;
};
