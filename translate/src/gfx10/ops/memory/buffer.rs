//! MUBUF and MTBUF.

use guestwave_isa::gfx10::{Inst, Mods};

use super::descriptor::Buffer;
use super::{Family, Kind};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;

pub(super) fn lower(e: &mut Emit<'_>, inst: &Inst, family: Family, kind: Kind) -> Result<(), Stop> {
    let Mods::Buffer(mods) = inst.mods else { return Err(e.refuse(inst, "no buffer modifiers")) };
    let stores = !matches!(kind, Kind::LoadPart(_) | Kind::LoadDwords(_) | Kind::LoadFormat(_));
    let buffer = e.buffer(inst, &mods, stores)?;
    match kind {
        Kind::LoadDwords(count) => dwords(e, inst, &buffer, count, true),
        Kind::StoreDwords(count) => dwords(e, inst, &buffer, count, false),
        Kind::LoadPart(part) => {
            let registers = e.registers(inst, inst.dst[0], 1)?;
            let run = buffer.run(e, 0);
            let run = run_of(e, run, part.width.bytes());
            e.load_part(inst, &[run], registers[0], part);
            Ok(())
        }
        Kind::StorePart(part) => {
            let registers = e.registers(inst, inst.src[3], 1)?;
            let run = buffer.run(e, 0);
            let run = run_of(e, run, part.width.bytes());
            e.store_part(inst, run, registers[0], part);
            Ok(())
        }
        Kind::Atomic { row, wide } => {
            let run = buffer.whole(e, 0, if wide { 8 } else { 4 });
            e.atomic_access(inst, &[run], (row, wide), inst.src[3])
        }
        Kind::LoadFormat(shape) => super::typed::load(e, inst, &buffer, family, shape),
        Kind::StoreFormat(shape) => super::typed::store(e, inst, &buffer, family, shape),
        Kind::LoadTexel { .. } | Kind::StoreTexel { .. } | Kind::Sizes => Err(e.refuse(inst, "a texel")),
    }
}

/// An access of one unit exists as soon as its first byte does.
fn run_of(e: &mut Emit<'_>, mut run: super::Run, bytes: u32) -> super::Run {
    use crate::program::BinOp;
    let (zero, bytes) = (e.b.c32(0), e.b.c32(bytes));
    let there = e.b.bin(BinOp::Ne, run.valid, zero);
    run.valid = e.b.select(there, bytes, zero);
    run
}

/// Dwords; those of swizzled buffers do not lie together.
fn dwords(e: &mut Emit<'_>, inst: &Inst, buffer: &Buffer, count: u8, load: bool) -> Result<(), Stop> {
    let operand = if load { inst.dst[0] } else { inst.src[3] };
    let registers = e.registers(inst, operand, count)?;
    e.pieces_or_run(
        buffer.swizzled,
        |e| {
            // All places first: a load may overwrite its own address register.
            let runs: Vec<_> = (0..u32::from(count)).map(|i| buffer.run(e, 4 * i)).collect();
            for (run, register) in runs.into_iter().zip(&registers) {
                transfer(e, inst, run, &[*register], load);
            }
            Ok(())
        },
        |e| {
            let run = buffer.run(e, 0);
            transfer(e, inst, run, &registers, load);
            Ok(())
        },
    )
}

fn transfer(e: &mut Emit<'_>, inst: &Inst, run: super::Run, registers: &[u8], load: bool) {
    if load {
        e.load_registers(inst, &[run], registers);
    } else {
        e.store_registers(inst, run, registers);
    }
}
