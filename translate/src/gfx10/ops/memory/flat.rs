//! FLAT, GLOBAL and SCRATCH.

use guestwave_isa::gfx10::{Inst, Mods, Op, Operand, sreg};

use super::{Family, Kind, Run};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Builtin, Space, UnOp, Value};

/// The 4 GiB apertures of flat addresses that mean LDS and scratch, by the high half of their base.
const APERTURES: [u32; 2] = [0x2000_0000, 0x1000_0000];

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
    let run = if family == Family::Scratch {
        scratch(e, inst, mods.offset, bytes)?
    } else {
        global(e, inst, family, mods.offset, bytes)?
    };
    match kind {
        Kind::LoadDwords(n) => {
            let registers = e.registers(inst, inst.dst[0], n)?;
            e.load_registers(inst, run, &registers);
        }
        Kind::StoreDwords(n) => {
            let registers = e.registers(inst, inst.src[1], n)?;
            e.store_registers(inst, run, &registers);
        }
        Kind::LoadPart(part) => {
            let registers = e.registers(inst, inst.dst[0], 1)?;
            e.load_part(inst, run, registers[0], part);
        }
        Kind::StorePart(part) => {
            let registers = e.registers(inst, inst.src[1], 1)?;
            e.store_part(inst, run, registers[0], part);
        }
        Kind::Atomic { row, wide } => e.atomic_access(inst, run, (row, wide), inst.src[1])?,
        _ => {}
    }
    Ok(())
}

fn has_scalar(inst: &Inst) -> bool {
    matches!(inst.src[2], Operand::Sgpr(r) if r != sreg::NULL)
}

fn global(e: &mut Emit<'_>, inst: &Inst, family: Family, offset: i16, bytes: u32) -> Result<Run, Stop> {
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
    let bytes = e.b.c32(bytes);
    let valid = e.if_active(bytes);
    if family == Family::Flat {
        trap_apertures(e, inst, address, valid);
    }
    Ok(Run { space: Space::Global, address, valid, slot: None })
}

/// Flat accesses that mean LDS or scratch end the dispatch: they are not translated.
fn trap_apertures(e: &mut Emit<'_>, inst: &Inst, address: Value, valid: Value) {
    let high = e.b.un(UnOp::High, address);
    let zero = e.b.c32(0);
    let active = e.b.bin(BinOp::Ne, valid, zero);
    for aperture in APERTURES {
        let aperture = e.b.c32(aperture);
        let inside = e.b.bin(BinOp::Eq, high, aperture);
        let bad = e.b.bin(BinOp::And, inside, active);
        e.trap_if(bad, "TR-MEM-003", inst.offset);
    }
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
    let size = e.input.source.scratch_bytes;
    let (end, count) = (e.b.c32(size.saturating_sub(bytes)), e.b.c32(bytes));
    let valid = e.if_active(count);
    let past = if size < bytes { e.b.cbool(true) } else { e.b.bin(BinOp::LtU, end, address) };
    let zero = e.b.c32(0);
    let active = e.b.bin(BinOp::Ne, valid, zero);
    let bad = e.b.bin(BinOp::And, past, active);
    e.trap_if(bad, "TR-MEM-004", inst.offset);
    Ok(Run { space: Space::Scratch, address, valid, slot: None })
}
