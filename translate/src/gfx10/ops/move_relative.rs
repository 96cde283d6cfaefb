//! Moves to and from registers that M0 chooses.
//!
//! An index that is no constant chooses among the registers that it can reach; one that reaches none ends the dispatch.

use guestwave_isa::gfx10::{Inst, LaneForm, Op, Operand, sreg};

use super::{Lower, Row};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::plan::file_end;
use crate::program::{BinOp, UnOp, Value};

pub(super) const ROWS: &[Row] = &[
    (Op::V_MOVRELD_B32, Lower::Whole(vector_destination)),
    (Op::V_MOVRELS_B32, Lower::Whole(|e, i| vector_copy(e, i, |_, m0| (m0, None)))),
    (Op::V_MOVRELSD_B32, Lower::Whole(|e, i| vector_copy(e, i, |_, m0| (m0, Some(m0))))),
    (Op::V_MOVRELSD_2_B32, Lower::Whole(|e, i| vector_copy(e, i, two))),
    (Op::V_SWAPREL_B32, Lower::Whole(vector_swap)),
    (Op::S_MOVRELS_B32, Lower::Whole(|e, i| scalar_source(e, i, 1))),
    (Op::S_MOVRELS_B64, Lower::Whole(|e, i| scalar_source(e, i, 2))),
    (Op::S_MOVRELD_B32, Lower::Whole(|e, i| scalar_destination(e, i, 1))),
    (Op::S_MOVRELD_B64, Lower::Whole(|e, i| scalar_destination(e, i, 2))),
    (Op::S_MOVRELSD_2_B32, Lower::Whole(scalar_both)),
];

/// Code with which a dispatch ends whose index reaches no register.
const OUTSIDE: &str = "TR-REG-001";

/// Operations that write a vector register that M0 chooses.
const WRITERS: [Op; 4] = [Op::V_MOVRELD_B32, Op::V_MOVRELSD_B32, Op::V_MOVRELSD_2_B32, Op::V_SWAPREL_B32];

/// Indices of source and, if it is indexed, of the destination.
type Indices = fn(&mut Emit<'_>, Value) -> (Value, Option<Value>);

/// M0[9:0] and M0[25:16].
fn two(e: &mut Emit<'_>, m0: Value) -> (Value, Option<Value>) {
    let source = e.with_constant(BinOp::And, m0, 0x3ff);
    let high = e.shift(BinOp::ShrU, m0, 16);
    (source, Some(e.with_constant(BinOp::And, high, 0x3ff)))
}

/// The register that `operand` names.
fn vector_base(e: &Emit<'_>, inst: &Inst, operand: Operand) -> Result<u8, Stop> {
    match (operand, Emit::vop_mods(inst).lane) {
        (Operand::Vgpr(n), LaneForm::None) => Ok(n),
        _ => Err(e.refuse(inst, "DPP, SDWA or an indexed operand that is no vector register")),
    }
}

/// Ends the dispatch where `index` registers on from `base` there are no `count` registers before `end`.
fn trap_outside(e: &mut Emit<'_>, inst: &Inst, (base, count, end): (u32, u32, u32), index: Value) {
    let last = e.b.c32(end.saturating_sub(base + count));
    let outside = match base + count <= end {
        true => e.b.bin(BinOp::LtU, last, index),
        false => e.b.cbool(true),
    };
    e.trap_if(outside, OUTSIDE, inst.offset);
}

/// The vector registers from `base` on that a chosen one can be: all that the program names, or all where what it writes by
/// index could be read by index.
fn reach(e: &Emit<'_>, base: u8) -> Vec<u8> {
    let insts = || e.input.graph.blocks.iter().flat_map(|b| &b.insts);
    let writes = insts().any(|i| WRITERS.contains(&i.op));
    let reads = insts().any(|i| i.op.name().contains("rels") || i.op == Op::V_SWAPREL_B32);
    let last = if writes && reads { u8::MAX } else { last_named(e) };
    (base..=last.max(base)).collect()
}

/// The last vector register that the program or its launch names.
fn last_named(e: &Emit<'_>) -> u8 {
    let wave = e.input.source.wave;
    let of = |inst: &Inst| {
        let row = inst.op.row(inst.encoding);
        let destinations = inst.dst.iter().enumerate().map(|(i, o)| (*o, row.and_then(|r| r.dst[i])));
        let sources = inst.src.iter().enumerate().map(|(i, o)| (*o, row.and_then(|r| r.src[i])));
        let last = destinations.chain(sources).filter_map(|(operand, spec)| match operand {
            Operand::Vgpr(n) => {
                let count = spec.map_or(1, |s| s.dwords(wave)).max(inst.data_dwords()).max(4);
                Some(n.saturating_add(count - 1))
            }
            _ => None,
        });
        last.max().unwrap_or(0)
    };
    let named = e.input.graph.blocks.iter().flat_map(|b| &b.insts).map(of).max().unwrap_or(0);
    named.max(e.input.source.shape.vgprs.len().min(256).saturating_sub(1) as u8)
}

fn vector_read(e: &mut Emit<'_>, inst: &Inst, base: u8, index: Value) -> Value {
    trap_outside(e, inst, (base.into(), 1, 256), index);
    let mut chosen = e.b.c32(0);
    for (i, register) in (0u32..).zip(reach(e, base)) {
        let number = e.b.c32(i);
        let here = e.b.bin(BinOp::Eq, index, number);
        let value = e.vgpr(register);
        chosen = e.b.select(here, value, chosen);
    }
    chosen
}

fn vector_write(e: &mut Emit<'_>, inst: &Inst, base: u8, index: Value, value: Value) {
    trap_outside(e, inst, (base.into(), 1, 256), index);
    for (i, register) in (0u32..).zip(reach(e, base)) {
        let number = e.b.c32(i);
        let here = e.b.bin(BinOp::Eq, index, number);
        if e.b.constant(here) == Some(0) {
            continue;
        }
        let old = e.vgpr(register);
        let new = e.b.select(here, value, old);
        e.set_vgpr(register, new);
    }
}

fn vector_destination(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let base = vector_base(e, inst, inst.dst[0])?;
    let spec = e.source_spec(inst, 0);
    let value = e.vector_operand(inst, inst.src[0], spec)?;
    let m0 = e.sgpr(sreg::M0)?;
    vector_write(e, inst, base, m0, value);
    Ok(())
}

fn vector_copy(e: &mut Emit<'_>, inst: &Inst, indices: Indices) -> Result<(), Stop> {
    let (from, to) = (vector_base(e, inst, inst.src[0])?, vector_base(e, inst, inst.dst[0])?);
    let m0 = e.sgpr(sreg::M0)?;
    let (source, destination) = indices(e, m0);
    let value = vector_read(e, inst, from, source);
    match destination {
        Some(index) => vector_write(e, inst, to, index, value),
        None => e.set_vgpr(to, value),
    }
    Ok(())
}

fn vector_swap(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let (from, to) = (vector_base(e, inst, inst.src[0])?, vector_base(e, inst, inst.dst[0])?);
    let m0 = e.sgpr(sreg::M0)?;
    let (source, destination) = two(e, m0);
    let destination = destination.unwrap_or(source);
    let (a, b) = (vector_read(e, inst, from, source), vector_read(e, inst, to, destination));
    vector_write(e, inst, from, source, b);
    vector_write(e, inst, to, destination, a);
    Ok(())
}

fn scalar_base(e: &Emit<'_>, inst: &Inst, operand: Operand) -> Result<u8, Stop> {
    match operand {
        Operand::Sgpr(n) => Ok(n),
        _ => Err(e.refuse(inst, "a constant as an indexed register")),
    }
}

/// Ends the dispatch where an indexed tuple leaves its run of registers or is not aligned.
fn trap_scalar(e: &mut Emit<'_>, inst: &Inst, base: u8, count: u32, index: Value) {
    trap_outside(e, inst, (base.into(), count, file_end(base).into()), index);
    if count == 2 {
        let first = e.with_constant(BinOp::Add, index, base.into());
        let odd = e.with_constant(BinOp::And, first, 1);
        let zero = e.b.c32(0);
        let odd = e.b.bin(BinOp::Ne, odd, zero);
        e.trap_if(odd, OUTSIDE, inst.offset);
    }
}

/// The numbers of the registers from `base` on.
fn scalar_read(
    e: &mut Emit<'_>,
    inst: &Inst,
    base: u8,
    count: u32,
    index: Value,
) -> Result<Vec<Value>, Stop> {
    trap_scalar(e, inst, base, count, index);
    let numbers = (base..file_end(base)).map(|r| e.sgpr(r)).collect::<Result<Vec<_>, _>>()?;
    let zero = e.b.c32(0);
    let mut chosen = vec![zero; count as usize];
    for (i, window) in (0u32..).zip(numbers.windows(count as usize)) {
        let number = e.b.c32(i);
        let here = e.b.bin(BinOp::Eq, index, number);
        for (chosen, value) in chosen.iter_mut().zip(window) {
            *chosen = e.b.select(here, *value, *chosen);
        }
    }
    Ok(chosen)
}

fn scalar_write(e: &mut Emit<'_>, inst: &Inst, base: u8, index: Value, values: &[Value]) -> Result<(), Stop> {
    trap_scalar(e, inst, base, values.len() as u32, index);
    for (i, register) in (0u32..).zip(base..file_end(base)) {
        let mut new = e.sgpr(register)?;
        for (part, value) in (0u32..).zip(values) {
            let place = e.with_constant(BinOp::Add, index, u64::from(part));
            let number = e.b.c32(i);
            let here = e.b.bin(BinOp::Eq, place, number);
            new = e.b.select(here, *value, new);
        }
        e.set_sgprs(register, &[new])?;
    }
    Ok(())
}

fn scalar_source(e: &mut Emit<'_>, inst: &Inst, count: u32) -> Result<(), Stop> {
    let base = scalar_base(e, inst, inst.src[0])?;
    let m0 = e.sgpr(sreg::M0)?;
    let values = scalar_read(e, inst, base, count, m0)?;
    let value = match values[..] {
        [low, high] => e.b.bin(BinOp::Pack, low, high),
        _ => values[0],
    };
    e.set_scalar(inst, value)
}

fn scalar_destination(e: &mut Emit<'_>, inst: &Inst, count: u32) -> Result<(), Stop> {
    let base = scalar_base(e, inst, inst.dst[0])?;
    let value = e.scalar_source(inst, 0)?;
    let values = match count {
        2 => vec![e.b.un(UnOp::Low, value), e.b.un(UnOp::High, value)],
        _ => vec![value],
    };
    let m0 = e.sgpr(sreg::M0)?;
    scalar_write(e, inst, base, m0, &values)
}

fn scalar_both(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let (from, to) = (scalar_base(e, inst, inst.src[0])?, scalar_base(e, inst, inst.dst[0])?);
    let m0 = e.sgpr(sreg::M0)?;
    let (source, destination) = two(e, m0);
    let values = scalar_read(e, inst, from, 1, source)?;
    scalar_write(e, inst, to, destination.unwrap_or(source), &values)
}
