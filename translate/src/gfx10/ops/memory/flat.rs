//! FLAT, GLOBAL and SCRATCH.

use guestwave_isa::gfx10::{Inst, Mods, Op, Operand, sreg};

use super::{Family, Kind, Run};
use crate::gfx10::emit::Emit;
use crate::gfx10::emit::operand::{PRIVATE_BASE, SHARED_BASE};
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Builtin, Space, UnOp, Value};

pub(super) fn lower(e: &mut Emit<'_>, inst: &Inst, family: Family, kind: Kind) -> Result<(), Stop> {
    let Mods::Flat(mods) = inst.mods else { return Err(e.refuse(inst, "no flat modifiers")) };
    if mods.lds {
        return Err(e.refuse(inst, "LDS"));
    }
    let bytes = match kind {
        Kind::LoadDwords(n) | Kind::StoreDwords(n) => 4 * u32::from(n),
        Kind::LoadPart(p) | Kind::StorePart(p) => p.width.bytes(),
        Kind::Atomic { wide, .. } => {
            if wide {
                8
            } else {
                4
            }
        }
        _ => return Err(e.refuse(inst, "a format")),
    };
    let runs = match family {
        Family::Scratch => vec![scratch(e, inst, mods.offset, bytes)?],
        Family::Flat if mods.offset != 0 => return Err(e.refuse(inst, "an offset, which FLAT does not have")),
        Family::Flat => apertures(e, inst, bytes)?,
        _ => vec![global(e, inst, mods.offset, (bytes, kind.stores()))?],
    };
    access(e, inst, kind, &runs)
}

/// An access by lanes that each reach one of the runs, or none.
fn access(e: &mut Emit<'_>, inst: &Inst, kind: Kind, runs: &[Run]) -> Result<(), Stop> {
    match kind {
        Kind::LoadDwords(n) => {
            let registers = e.registers(inst, inst.dst[0], n)?;
            e.load_registers(inst, runs, &registers);
        }
        Kind::StoreDwords(n) => {
            let registers = e.registers(inst, inst.src[1], n)?;
            runs.iter().for_each(|run| e.store_registers(inst, *run, &registers));
        }
        Kind::LoadPart(part) => {
            let registers = e.registers(inst, inst.dst[0], 1)?;
            e.load_part(inst, runs, registers[0], part);
        }
        Kind::StorePart(part) => {
            let registers = e.registers(inst, inst.src[1], 1)?;
            runs.iter().for_each(|run| e.store_part(inst, *run, registers[0], part));
        }
        Kind::Atomic { row, wide } => e.atomic_access(inst, runs, (row, wide), inst.src[1])?,
        _ => {}
    }
    Ok(())
}

fn has_scalar(inst: &Inst) -> bool {
    matches!(inst.src[2], Operand::Sgpr(r) if r != sreg::NULL)
}

/// The address of the lane's access, a `B64`.
fn address(e: &mut Emit<'_>, inst: &Inst, offset: i16) -> Result<Value, Stop> {
    let mut address = e.b.c64(i64::from(offset) as u64);
    if has_scalar(inst) {
        let base = e.scalar_source(inst, 2)?;
        address = e.b.bin(BinOp::Add, address, base);
    }
    if let Operand::Vgpr(first) = inst.src[0] {
        let low = e.vgpr(first);
        let register = if has_scalar(inst) {
            e.b.un(UnOp::Extend, low)
        } else {
            let high = e.vgpr_after(inst, first)?;
            let high = e.vgpr(high);
            e.b.bin(BinOp::Pack, low, high)
        };
        address = e.b.bin(BinOp::Add, address, register);
    }
    if matches!(inst.op, Op::GLOBAL_LOAD_DWORD_ADDTID | Op::GLOBAL_STORE_DWORD_ADDTID) {
        let lane = e.b.builtin(Builtin::Lane);
        let lane = e.shift(BinOp::Shl, lane, 2);
        let lane = e.b.un(UnOp::Extend, lane);
        address = e.b.bin(BinOp::Add, address, lane);
    }
    Ok(address)
}

fn global(e: &mut Emit<'_>, inst: &Inst, offset: i16, (bytes, stores): (u32, bool)) -> Result<Run, Stop> {
    let address = address(e, inst, offset)?;
    let bytes = e.b.c32(bytes);
    let slot = e.pointer_slot(address, stores);
    Ok(Run { space: Space::Global, address, valid: e.if_active(bytes), slot })
}

/// A flat access: to guest memory, to LDS or to the lane's scratch by the address's high half. Lanes reach one of the runs, or
/// none: LDS that is not there reads as 0.
fn apertures(e: &mut Emit<'_>, inst: &Inst, bytes: u32) -> Result<Vec<Run>, Stop> {
    let address = address(e, inst, 0)?;
    let (low, high) = (e.b.un(UnOp::Low, address), e.b.un(UnOp::High, address));
    let [shared, private] = [SHARED_BASE, PRIVATE_BASE].map(|base| {
        let base = e.b.c32((base >> 32) as u32);
        e.b.bin(BinOp::Eq, high, base)
    });
    let elsewhere = e.b.bin(BinOp::Or, shared, private);
    let (all, none) = (e.b.c32(bytes), e.b.c32(0));
    let active = e.if_active(all);
    let outside = e.b.select(elsewhere, none, active);
    let mut runs = vec![Run { space: Space::Global, address, valid: outside, slot: None }];
    if e.input.source.lds_bytes != 0 {
        let valid = e.b.select(shared, active, none);
        runs.push(Run { space: Space::Lds, address: low, valid, slot: None });
    }
    let valid = e.b.select(private, active, none);
    let scratch = Run { space: Space::Scratch, address: low, valid, slot: None };
    trap_past_scratch(e, inst, scratch, bytes);
    if e.input.source.scratch_bytes != 0 {
        runs.push(scratch);
    }
    Ok(runs)
}

/// The lane's own scratch; past its end the dispatch ends.
fn scratch(e: &mut Emit<'_>, inst: &Inst, offset: i16, bytes: u32) -> Result<Run, Stop> {
    let mut address = e.b.c32(i32::from(offset) as u32);
    if has_scalar(inst) {
        let base = e.scalar_source(inst, 2)?;
        let base = if e.is_wide(base) { e.b.un(UnOp::Low, base) } else { base };
        address = e.b.bin(BinOp::Add, address, base);
    }
    if let Operand::Vgpr(first) = inst.src[0] {
        let register = e.vgpr(first);
        address = e.b.bin(BinOp::Add, address, register);
    }
    let count = e.b.c32(bytes);
    let run = Run { space: Space::Scratch, address, valid: e.if_active(count), slot: None };
    trap_past_scratch(e, inst, run, bytes);
    Ok(run)
}

fn trap_past_scratch(e: &mut Emit<'_>, inst: &Inst, run: Run, bytes: u32) {
    let size = e.input.source.scratch_bytes;
    let end = e.b.c32(size.saturating_sub(bytes));
    let past = if size < bytes { e.b.cbool(true) } else { e.b.bin(BinOp::LtU, end, run.address) };
    let zero = e.b.c32(0);
    let active = e.b.bin(BinOp::Ne, run.valid, zero);
    let bad = e.b.bin(BinOp::And, past, active);
    e.trap_if(bad, "TR-MEM-004", inst.offset);
}
