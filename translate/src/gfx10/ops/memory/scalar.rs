//! SMEM: scalar loads, stores and atomics.
//!
//! A dword's address is the sum of base and offsets with its two low bits cleared. Buffer forms drop each dword that does not lie
//! wholly in the buffer. Scalar stores and atomics are made once a wave, so they are wave operations.

use guestwave_isa::gfx10::{Inst, Mods, Op, Operand};

use super::Run;
use super::atomic::{ATOMICS, AtomicRow};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::ops::{Lower, Row};
use crate::program::{BinOp, ParamSource, Slot, Space, Trace, Type, UnOp, Value, Width};

/// What SBASE holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Address,
    Buffer,
}

pub(in crate::gfx10::ops) const ROWS: &[Row] = &[
    (Op::S_LOAD_DWORD, Lower::Whole(|e, i| load(e, i, Base::Address, 1))),
    (Op::S_LOAD_DWORDX2, Lower::Whole(|e, i| load(e, i, Base::Address, 2))),
    (Op::S_LOAD_DWORDX4, Lower::Whole(|e, i| load(e, i, Base::Address, 4))),
    (Op::S_LOAD_DWORDX8, Lower::Whole(|e, i| load(e, i, Base::Address, 8))),
    (Op::S_LOAD_DWORDX16, Lower::Whole(|e, i| load(e, i, Base::Address, 16))),
    (Op::S_BUFFER_LOAD_DWORD, Lower::Whole(|e, i| load(e, i, Base::Buffer, 1))),
    (Op::S_BUFFER_LOAD_DWORDX2, Lower::Whole(|e, i| load(e, i, Base::Buffer, 2))),
    (Op::S_BUFFER_LOAD_DWORDX4, Lower::Whole(|e, i| load(e, i, Base::Buffer, 4))),
    (Op::S_BUFFER_LOAD_DWORDX8, Lower::Whole(|e, i| load(e, i, Base::Buffer, 8))),
    (Op::S_BUFFER_LOAD_DWORDX16, Lower::Whole(|e, i| load(e, i, Base::Buffer, 16))),
    (Op::S_STORE_DWORD, Lower::Whole(|e, i| store(e, i, Base::Address, 1))),
    (Op::S_STORE_DWORDX2, Lower::Whole(|e, i| store(e, i, Base::Address, 2))),
    (Op::S_STORE_DWORDX4, Lower::Whole(|e, i| store(e, i, Base::Address, 4))),
    (Op::S_BUFFER_STORE_DWORD, Lower::Whole(|e, i| store(e, i, Base::Buffer, 1))),
    (Op::S_BUFFER_STORE_DWORDX2, Lower::Whole(|e, i| store(e, i, Base::Buffer, 2))),
    (Op::S_BUFFER_STORE_DWORDX4, Lower::Whole(|e, i| store(e, i, Base::Buffer, 4))),
    (Op::S_GETPC_B64, Lower::Whole(program_counter)),
];

/// The run of dwords that an instruction names.
fn run(e: &mut Emit<'_>, inst: &Inst, base: Base, count: u32, stores: bool) -> Result<Run, Stop> {
    let Mods::Smem { offset, .. } = inst.mods else { return Err(e.refuse(inst, "no offset")) };
    let Operand::Sgpr(first) = inst.src[0] else {
        return Err(e.refuse(inst, "a base in no scalar register"));
    };
    e.within(inst, first, if base == Base::Buffer { 4 } else { 2 })?;
    let soffset = match inst.src[1] {
        Operand::None => e.b.c32(0),
        _ => e.scalar_source(inst, 1)?,
    };
    let (low, high) = (e.sgpr(first)?, e.sgpr(first + 1)?);
    let soffset_wide = e.wide(soffset);
    let offset = e.with_constant(BinOp::Add, soffset_wide, i64::from(offset) as u64);
    let slot = trace_slot(e, [low, high], soffset, offset, base, stores);
    let all = e.b.c32(4 * count);
    if base == Base::Address {
        let start = e.b.bin(BinOp::Pack, low, high);
        let sum = e.b.bin(BinOp::Add, start, offset);
        let address = e.with_constant(BinOp::And, sum, !3);
        return Ok(Run { space: Space::Global, address, valid: all, slot });
    }
    let top = e.with_constant(BinOp::And, high, 0xffff);
    let start = e.b.bin(BinOp::Pack, low, top);
    let sum = e.b.bin(BinOp::Add, start, offset);
    let address = e.with_constant(BinOp::And, sum, !3);
    let valid = in_buffer(e, inst, first, high, offset, all)?;
    Ok(Run { space: Space::Global, address, valid, slot })
}

/// Whole dwords of the buffer from `offset` on, in bytes, at most `all`.
fn in_buffer(
    e: &mut Emit<'_>,
    inst: &Inst,
    first: u8,
    high: Value,
    offset: Value,
    all: Value,
) -> Result<Value, Stop> {
    let zero = e.b.c64(0);
    let negative = e.b.bin(BinOp::LtS, offset, zero);
    e.trap_if(negative, "TR-MEM-005", inst.offset);
    let stride = e.field(high, 16, 14);
    let one = e.b.c32(1);
    let stride = e.b.bin(BinOp::MaxU, stride, one);
    let records = e.sgpr(first + 2)?;
    let (records, stride) = (e.wide(records), e.wide(stride));
    let size = e.b.bin(BinOp::Mul, records, stride);
    let aligned = e.with_constant(BinOp::And, offset, !3);
    let left = e.b.bin(BinOp::Sub, size, aligned);
    let inside = e.b.bin(BinOp::LtU, aligned, size);
    let limit = e.wide(all);
    let many = e.b.bin(BinOp::LtU, limit, left);
    let few = e.b.un(UnOp::Low, left);
    let few = e.with_constant(BinOp::And, few, !3);
    let count = e.b.select(many, all, few);
    let none = e.b.c32(0);
    Ok(e.b.select(inside, count, none))
}

fn trace_slot(
    e: &mut Emit<'_>,
    [low, high]: [Value; 2],
    soffset: Value,
    offset: Value,
    base: Base,
    written: bool,
) -> Option<u16> {
    let (low, high) = (e.trace(low)?, e.trace(high)?);
    let high = match base {
        Base::Address => high,
        Base::Buffer => Trace::And(Box::new(high), Box::new(Trace::Const(0xffff))),
    };
    // An offset that cannot be traced leaves the base as the slot's.
    let _ = soffset;
    let start = Trace::Pack(Box::new(low), Box::new(high));
    let base = match e.trace(offset) {
        Some(offset) => Trace::Add(Box::new(start), Box::new(offset)),
        None => start,
    };
    Some(e.b.slot(Slot { base, size: None, written }))
}

fn load(e: &mut Emit<'_>, inst: &Inst, base: Base, count: u32) -> Result<(), Stop> {
    let run = run(e, inst, base, count, false)?;
    let words = e.load_traced(run.access(Width::W32, inst.offset), count as usize);
    let Operand::Sgpr(first) = inst.dst[0] else { return Ok(()) };
    e.within(inst, first, count as u8)?;
    e.set_sgprs(first, &words)
}

fn store(e: &mut Emit<'_>, inst: &Inst, base: Base, count: u8) -> Result<(), Stop> {
    e.want_wave()?;
    let run = run(e, inst, base, u32::from(count), true)?;
    let Operand::Sgpr(first) = inst.src[2] else { return Err(e.refuse(inst, "data in no scalar register")) };
    e.within(inst, first, count)?;
    let words = (first..first + count).map(|r| e.sgpr(r)).collect::<Result<_, _>>()?;
    e.b.store(words, run.access(Width::W32, inst.offset));
    Ok(())
}

/// A scalar atomic operation.
#[derive(Clone, Copy)]
pub(in crate::gfx10) struct ScalarAtomic {
    row: &'static AtomicRow,
    base: Base,
    wide: bool,
}

/// The meaning of `s_atomic_*` and `s_buffer_atomic_*`.
pub(in crate::gfx10::ops) fn atomic_meaning(op: Op) -> Option<ScalarAtomic> {
    let name = op.name();
    let (base, rest) = match name.strip_prefix("s_buffer_atomic_") {
        Some(rest) => (Base::Buffer, rest),
        None => (Base::Address, name.strip_prefix("s_atomic_")?),
    };
    let (name, wide) = rest.strip_suffix("_x2").map_or((rest, false), |name| (name, true));
    let row = ATOMICS.iter().find(|row| row.name == name)?;
    Some(ScalarAtomic { row, base, wide })
}

/// A scalar atomic operation; with GLC the old value comes back.
pub(in crate::gfx10) fn lower_atomic(
    e: &mut Emit<'_>,
    inst: &Inst,
    atomic: ScalarAtomic,
) -> Result<(), Stop> {
    e.want_wave()?;
    let dwords = if atomic.wide { 2u8 } else { 1 };
    let mut run = run(e, inst, atomic.base, dwords.into(), true)?;
    // All of the unit is inside the buffer, or nothing is.
    let (all, none) = (e.b.c32(4 * u32::from(dwords)), e.b.c32(0));
    let whole = e.b.bin(BinOp::Eq, run.valid, all);
    run.valid = e.b.select(whole, all, none);
    let Operand::Sgpr(first) = inst.src[2] else { return Err(e.refuse(inst, "data in no scalar register")) };
    let operands = atomic.row.operands() as u8;
    e.within(inst, first, dwords * operands)?;
    let operand = |e: &mut Emit<'_>, i: u8| e.scalar_register(inst, first + i * dwords, atomic.wide);
    let data = operand(e, 0)?;
    let other = if operands == 2 { Some(operand(e, 1)?) } else { None };
    let old = e.modify_once(inst, run, atomic.row.modify, (data, other));
    e.set_scalar(inst, old)
}

/// The address of the next instruction.
fn program_counter(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let (low, high) = (e.b.param(ParamSource::ProgramLow), e.b.param(ParamSource::ProgramHigh));
    let start = e.b.bin(BinOp::Pack, low, high);
    let here = e.with_constant(BinOp::Add, start, u64::from(inst.next_offset()));
    debug_assert_eq!(e.b.info(here).ty, Type::B64);
    e.set_scalar(inst, here)
}
