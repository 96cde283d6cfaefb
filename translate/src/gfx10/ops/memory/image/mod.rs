//! Image instructions that neither filter nor sample: loads, stores, atomics and queries of single texels.
//!
//! What a descriptor says besides its base address must follow from the launch; it is compiled in and taken for granted. A
//! texel outside the image loads as 0 (selectors still choose 1) and is not stored; an atomic there returns 0.

mod address;
mod descriptor;

use guestwave_isa::gfx10::{ImageMods, Inst, Mods, Operand};

use self::address::{AtLevel, Texel, place};
use self::descriptor::{Image, Unreachable};
use super::Run;
use super::access::{Kind, Packing};
use super::atomic::AtomicRow;
use super::typed::{Element, units};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::Value;

pub(super) fn lower(e: &mut Emit<'_>, inst: &Inst, kind: Kind) -> Result<(), Stop> {
    let mods = modifiers(e, inst)?;
    let (image, base) = e.image(inst)?;
    let done = match image {
        Ok(image) => access(e, inst, &mods, kind, (&image, base))?,
        Err(why) => Err(why),
    };
    if let Err(why) = done {
        let exec = e.exec_lanes();
        e.trap_if(exec, why.code(), inst.offset);
    }
    Ok(())
}

/// The modifiers, without the forms that are refused.
fn modifiers(e: &Emit<'_>, inst: &Inst) -> Result<ImageMods, Stop> {
    let Mods::Image(mods) = inst.mods else { return Err(e.refuse(inst, "no image modifiers")) };
    let refused =
        [(mods.tfe, "TFE"), (mods.lwe, "LWE"), (mods.r128, "R128"), (mods.dmask == 0, "an empty DMASK")];
    match refused.iter().find(|(is_set, _)| *is_set) {
        Some((_, what)) => Err(e.refuse(inst, what)),
        None => Ok(mods),
    }
}

type Done = Result<Result<(), Unreachable>, Stop>;

fn access(
    e: &mut Emit<'_>,
    inst: &Inst,
    mods: &ImageMods,
    kind: Kind,
    (image, base): (&Image, Value),
) -> Done {
    let (mip, written) = match kind {
        Kind::Sizes => return sizes(e, inst, mods, image),
        Kind::LoadTexel { mip } => (mip, false),
        Kind::StoreTexel { mip } => (mip, true),
        _ => (false, true),
    };
    let Some(texel) = Texel::new(e, inst, mods, image, mip)? else { return Ok(Err(Unreachable::OtherDim)) };
    let run = place(e, inst, (image, base), &texel, written);
    match kind {
        Kind::LoadTexel { .. } => load(e, inst, mods, image, run)?,
        Kind::StoreTexel { .. } => store(e, inst, mods, image, run)?,
        Kind::Atomic { row, .. } => return atomic(e, inst, mods, image, row, run),
        _ => return Err(e.refuse(inst, "an access that images do not have")),
    }
    Ok(Ok(()))
}

/// The numbers of the components in DMASK.
fn masked(mods: &ImageMods) -> impl Iterator<Item = usize> + use<> {
    let dmask = mods.dmask;
    (0..4).filter(move |i| dmask >> i & 1 != 0)
}

fn packing(mods: &ImageMods) -> Packing {
    if mods.d16 { Packing::Pairs } else { Packing::Single }
}

/// The data registers: one a component of DMASK, or one for two.
fn registers(e: &mut Emit<'_>, inst: &Inst, mods: &ImageMods, data: Operand) -> Result<Vec<u8>, Stop> {
    let components = mods.dmask.count_ones() as u8;
    e.registers(inst, data, if mods.d16 { components.div_ceil(2) } else { components })
}

fn load(e: &mut Emit<'_>, inst: &Inst, mods: &ImageMods, image: &Image, run: Run) -> Result<(), Stop> {
    let registers = registers(e, inst, mods, inst.dst[0])?;
    let (width, count) = units(image.format.bytes() as u32);
    let words = e.b.load(count, run.access(width, inst.offset));
    let element = Element { format: image.format, selectors: image.selectors };
    let values = element.selected(e, run.valid, &words);
    for (i, from) in masked(mods).enumerate() {
        element.put(e, packing(mods), i, values[from], &registers);
    }
    Ok(())
}

/// Components that DMASK leaves out are stored as 0.
fn store(e: &mut Emit<'_>, inst: &Inst, mods: &ImageMods, image: &Image, run: Run) -> Result<(), Stop> {
    let registers = registers(e, inst, mods, inst.src[3])?;
    let element = Element { format: image.format, selectors: image.selectors };
    let zero = e.b.c32(0);
    let mut values = [zero; 4];
    for (i, to) in masked(mods).enumerate() {
        values[to] = element.get(e, packing(mods), i, &registers);
    }
    let words = element.words(e, &values);
    let (width, _) = units(image.format.bytes() as u32);
    e.store_run(inst, run, words, width);
    Ok(())
}

/// The width of the data is the format's; DMASK has to name as many registers.
fn atomic(
    e: &mut Emit<'_>,
    inst: &Inst,
    mods: &ImageMods,
    image: &Image,
    row: &'static AtomicRow,
    run: Run,
) -> Done {
    let single = image.format.components().iter().flatten().count() == 1;
    let dwords = match image.format.bytes() {
        4 if single => 1u32,
        8 => 2,
        _ => return Ok(Err(Unreachable::Format)),
    };
    if mods.d16 || u32::from(mods.dmask) != (1 << (dwords * row.operands())) - 1 {
        return Err(e.refuse(inst, "data that are not of the format's width"));
    }
    e.atomic_access(inst, &[run], (row, dwords == 2), inst.src[3])?;
    Ok(Ok(()))
}

/// Width, height, depth or slices, and levels of the view. At a level that the view does not have the sizes are 0.
fn sizes(e: &mut Emit<'_>, inst: &Inst, mods: &ImageMods, image: &Image) -> Done {
    let registers = registers(e, inst, mods, inst.dst[0])?;
    let lod = match (mods.a16, e.vgpr(mods.addr[0])) {
        (false, word) => word,
        (true, word) => e.with_constant(crate::program::BinOp::And, word, 0xffff),
    };
    let level = AtLevel::new(e, image, lod);
    let mut axes = vec![level.size(e, image, 0)];
    if image.kind.rows {
        axes.push(level.size(e, image, 1));
    }
    if image.kind.volume {
        axes.push(level.size(e, image, 2));
    } else if image.kind.array {
        axes.push(e.b.c32(image.slices[1] - image.slices[0] + 1));
    }
    if (1..3).any(|i| mods.dmask >> i & 1 != 0 && i >= axes.len()) {
        return Ok(Err(Unreachable::OtherDim));
    }
    let zero = e.b.c32(0);
    let mut values = [zero; 4];
    for (value, size) in values.iter_mut().zip(axes) {
        *value = e.b.select(level.there, size, zero);
    }
    values[3] = e.b.c32(u32::from(image.levels[1] - image.levels[0]) + 1);
    for (i, from) in masked(mods).enumerate() {
        Element::put_bits(e, (packing(mods), true), i, values[from], &registers);
    }
    Ok(Ok(()))
}
