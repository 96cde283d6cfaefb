//! Hardware registers, clocks and the wave's number.

use guestwave_isa::gfx10::{Inst, Mods, Op, Operand};

use super::{Lower, Row};
use crate::gfx10::emit::Emit;
use crate::gfx10::emit::operand::{PRIVATE_BASE, SHARED_BASE};
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Builtin, UnOp, Value};

pub(super) const ROWS: &[Row] = &[
    (Op::S_GETREG_B32, Lower::Whole(get_register)),
    (Op::S_SETREG_B32, Lower::Whole(set_register)),
    (Op::S_SETREG_IMM32_B32, Lower::Whole(set_register)),
    (Op::S_ROUND_MODE, Lower::Whole(|e, i| mode_field(e, i, 0))),
    (Op::S_DENORM_MODE, Lower::Whole(|e, i| mode_field(e, i, 4))),
    (Op::S_MEMTIME, Lower::Whole(clock)),
    (Op::S_MEMREALTIME, Lower::Whole(clock)),
    (Op::S_GET_WAVEID_IN_WORKGROUP, Lower::Whole(wave_number)),
];

const MODE: u16 = 1;
const SH_MEM_BASES: u16 = 15;
const FLAT_SCRATCH_LOW: u16 = 20;
const FLAT_SCRATCH_HIGH: u16 = 21;
const SHADER_CYCLES: u16 = 29;

/// A register and the bits of it that SIMM16 names.
struct Field {
    id: u16,
    offset: u32,
    mask: u32,
}

fn field(e: &Emit<'_>, inst: &Inst) -> Result<Field, Stop> {
    let Mods::Simm(simm) = inst.mods else { return Err(e.refuse(inst, "no register")) };
    let (offset, size) = (u32::from(simm >> 6 & 31), u32::from(simm >> 11) + 1);
    // A field that runs past bit 31 has the bits that exist.
    Ok(Field { id: simm & 0x3f, offset, mask: (((1u64 << size) - 1) << offset) as u32 })
}

fn get_register(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let field = field(e, inst)?;
    let word = match field.id {
        MODE => {
            let bits = e.mode_bits(inst)?;
            e.b.c32(bits)
        }
        SH_MEM_BASES => e.b.c32((PRIVATE_BASE >> 48) as u32 | ((SHARED_BASE >> 48) as u32) << 16),
        FLAT_SCRATCH_LOW | FLAT_SCRATCH_HIGH => e.flat_scratch((field.id - FLAT_SCRATCH_LOW) as u8),
        SHADER_CYCLES => {
            let now = e.clock()?;
            e.with_constant(BinOp::And, now, 0xf_ffff)
        }
        _ => return Err(e.refuse(inst, "a hardware register that tells of what does not exist here")),
    };
    let bits = e.with_constant(BinOp::And, word, u64::from(field.mask));
    let value = e.shift(BinOp::ShrU, bits, field.offset);
    e.set_scalar(inst, value)
}

/// The literal of the immediate form, else the register, which SOPK keeps in its SDST field.
fn set_value(e: &mut Emit<'_>, inst: &Inst) -> Result<Value, Stop> {
    match (inst.src.iter().position(|o| *o != Operand::None), inst.dst[0]) {
        (Some(place), _) => e.scalar_source(inst, place),
        (None, Operand::Sgpr(register)) => e.sgpr(register),
        _ => Err(e.refuse(inst, "no source")),
    }
}

fn set_register(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let field = field(e, inst)?;
    let value = set_value(e, inst)?;
    match field.id {
        MODE => {
            let wanted = field.mask >> field.offset;
            let known = e.assume(value, wanted, inst.offset);
            let old = e.mode_bits(inst)?;
            let new =
                e.b.constant(known).map(|v| old & !field.mask | (v as u32) << field.offset & field.mask);
            e.set_mode_bits(new);
            Ok(())
        }
        FLAT_SCRATCH_LOW | FLAT_SCRATCH_HIGH => {
            let half = (field.id - FLAT_SCRATCH_LOW) as u8;
            let old = e.flat_scratch(half);
            let kept = e.with_constant(BinOp::And, old, u64::from(!field.mask));
            let moved = e.shift(BinOp::Shl, value, field.offset);
            let placed = e.with_constant(BinOp::And, moved, u64::from(field.mask));
            let new = e.b.bin(BinOp::Or, kept, placed);
            e.set_flat_scratch(half, new)
        }
        _ => Err(e.refuse(inst, "a hardware register that is read only or does not exist here")),
    }
}

/// Sets four bits of MODE from SIMM16.
fn mode_field(e: &mut Emit<'_>, inst: &Inst, shift: u32) -> Result<(), Stop> {
    let Mods::Simm(simm) = inst.mods else { return Err(e.refuse(inst, "no MODE bits")) };
    let old = e.mode_bits(inst)?;
    e.set_mode_bits(Some(old & !(0xf << shift) | u32::from(simm & 0xf) << shift));
    Ok(())
}

fn clock(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let now = e.clock()?;
    let now = e.b.un(UnOp::Extend, now);
    e.set_scalar(inst, now)
}

fn wave_number(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let number = e.b.builtin(Builtin::WaveInGroup);
    e.set_scalar(inst, number)
}
