//! Buffer accesses that convert formats.
//!
//! MUBUF takes format and selectors from the descriptor, whose fourth word must be known when the program is translated (it is
//! part of the assumptions that the translation is made under); MTBUF has the format in the instruction and selects components as they
//! are.

use guestwave_isa::format::{self, Format, Numeric};
use guestwave_isa::gfx10::{Inst, Mods};

use super::access::{FormatShape, Packing};
use super::descriptor::Buffer;
use super::{Family, Run};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Value, Width};

/// Selectors that change nothing.
const IDENTITY: [u8; 4] = [4, 5, 6, 7];

/// The format and the selectors of an access.
fn shape_of(e: &Emit<'_>, inst: &Inst, buffer: &Buffer, family: Family) -> Result<(Format, [u8; 4]), Stop> {
    let (number, selectors) = match (family, inst.mods) {
        (Family::TypedBuffer, Mods::Buffer(mods)) => (mods.format, IDENTITY),
        _ => {
            let Some(flags) = e.b.constant(buffer.flags) else {
                return Err(e.refuse(inst, "a descriptor that cannot be traced"));
            };
            ((flags >> 12 & 0x7f) as u8, std::array::from_fn(|i| (flags >> (3 * i) & 7) as u8))
        }
    };
    match format::gfx10(number) {
        Some((format, _)) => Ok((format, selectors)),
        None => Err(e.refuse(inst, "a FORMAT that is no buffer format")),
    }
}

/// The unit in which an element of so many bytes is accessed, and how many there are.
fn units(bytes: u32) -> (Width, usize) {
    match bytes {
        1 => (Width::W8, 1),
        2 => (Width::W16, 1),
        n => (Width::W32, n as usize / 4),
    }
}

pub(super) fn load(
    e: &mut Emit<'_>,
    inst: &Inst,
    buffer: &Buffer,
    family: Family,
    shape: FormatShape,
) -> Result<(), Stop> {
    let (format, selectors) = shape_of(e, inst, buffer, family)?;
    let count = match shape.packing {
        Packing::Single => shape.components,
        _ => shape.components.div_ceil(2),
    };
    let registers = e.registers(inst, inst.dst[0], count)?;
    let (width, units) = units(format.bytes() as u32);
    e.pieces_or_run(
        buffer.swizzled,
        |e| {
            let runs: Vec<Run> = (0..units as u32).map(|i| buffer.whole(e, 4 * i, width.bytes())).collect();
            let words = runs.iter().map(|r| e.b.load(1, r.access(width, inst.offset))[0]).collect();
            finish_load(e, &format, selectors, shape, runs[0], words, &registers);
            Ok(())
        },
        |e| {
            let run = buffer.whole(e, 0, format.bytes() as u32);
            let words = e.b.load(units, run.access(width, inst.offset));
            finish_load(e, &format, selectors, shape, run, words, &registers);
            Ok(())
        },
    )
}

fn finish_load(
    e: &mut Emit<'_>,
    format: &Format,
    selectors: [u8; 4],
    shape: FormatShape,
    run: Run,
    words: Vec<Value>,
    registers: &[u8],
) {
    let (zero, one) = (e.b.c32(0), e.b.c32(format.one()));
    let there = e.b.bin(BinOp::Ne, run.valid, zero);
    let mut components = [zero, zero, zero, one];
    for (component, value) in format.components().iter().zip(&mut components) {
        if let Some(c) = component {
            let word = words.get(usize::from(c.shift / 32)).copied().unwrap_or(zero);
            *value = e.load_component(*c, word);
        }
    }
    for (i, selector) in selectors.into_iter().enumerate().take(usize::from(shape.components)) {
        let selected = match selector {
            1 => one,
            s @ 4..=7 => {
                // Out of bounds every component is 0, those that the format lacks too.
                let value = components[usize::from(s - 4)];
                e.b.select(there, value, zero)
            }
            _ => zero,
        };
        put_component(e, format, shape.packing, i, selected, registers);
    }
}

fn put_component(
    e: &mut Emit<'_>,
    format: &Format,
    packing: Packing,
    i: usize,
    value: Value,
    registers: &[u8],
) {
    let (register, high) = match packing {
        Packing::Single => return e.set_vgpr(registers[i], value),
        Packing::Pairs => (registers[i / 2], !i.is_multiple_of(2)),
        Packing::HighHalf => (registers[0], true),
    };
    let half = if format.is_integer() { value } else { e.half_of_single(value) };
    let old = e.vgpr(register);
    let merged = e.insert_half(old, half, high);
    e.set_vgpr(register, merged);
}

pub(super) fn store(
    e: &mut Emit<'_>,
    inst: &Inst,
    buffer: &Buffer,
    family: Family,
    shape: FormatShape,
) -> Result<(), Stop> {
    let (format, selectors) = shape_of(e, inst, buffer, family)?;
    let values = stored_values(e, inst, &format, shape)?;
    let zero = e.b.c32(0);
    let mut components = [zero; 4];
    // Where two registers select one component, the first stands.
    for (selector, value) in selectors.iter().zip(&values).rev() {
        if let Some(c) = components.get_mut(usize::from(selector.wrapping_sub(4))) {
            *c = *value;
        }
    }
    let (width, units) = units(format.bytes() as u32);
    let mut words = vec![zero; units];
    for (component, value) in format.components().iter().zip(components) {
        let Some(c) = component else { continue };
        if c.numeric == Numeric::Ufloat {
            return Err(e.refuse(inst, "a store of small unsigned floats"));
        }
        let bits = e.store_component(*c, value);
        let placed = e.shift(BinOp::Shl, bits, u32::from(c.shift % 32));
        if let Some(word) = words.get_mut(usize::from(c.shift / 32)) {
            *word = e.b.bin(BinOp::Or, *word, placed);
        }
    }
    e.pieces_or_run(
        buffer.swizzled,
        |e| {
            for (i, word) in (0u32..).zip(&words) {
                let run = buffer.whole(e, 4 * i, width.bytes());
                e.store_run(inst, run, vec![*word], width);
            }
            Ok(())
        },
        |e| {
            let run = buffer.whole(e, 0, format.bytes() as u32);
            e.store_run(inst, run, words.clone(), width);
            Ok(())
        },
    )
}

/// The registers to store, 16-bit ones widened as the format's kind has it.
fn stored_values(
    e: &mut Emit<'_>,
    inst: &Inst,
    format: &Format,
    shape: FormatShape,
) -> Result<Vec<Value>, Stop> {
    let single = shape.packing == Packing::Single;
    let count = if single { shape.components } else { shape.components.div_ceil(2) };
    let registers = e.registers(inst, inst.src[3], count)?;
    Ok((0..usize::from(shape.components))
        .map(|i| {
            if single {
                return e.vgpr(registers[i]);
            }
            let pair = e.vgpr(registers[i / 2]);
            let high = !i.is_multiple_of(2) || shape.packing == Packing::HighHalf;
            let half =
                if high { e.shift(BinOp::ShrU, pair, 16) } else { e.with_constant(BinOp::And, pair, 0xffff) };
            e.widen_half(format, half)
        })
        .collect())
}
