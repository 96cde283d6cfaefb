//! Elements of formats: what buffers and images convert between memory and registers.
//!
//! MUBUF takes format and selectors from the descriptor, whose fourth word must be known when the program is translated (it is
//! part of the assumptions that the translation is made under); MTBUF has the format in the instruction and selects components as they
//! are.

use guestwave_isa::format::{self, Format};
use guestwave_isa::gfx10::{Inst, Mods};

use super::access::{FormatShape, Packing};
use super::descriptor::Buffer;
use super::{Family, Run};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Value, Width};

/// Selectors that change nothing.
const IDENTITY: [u8; 4] = [4, 5, 6, 7];

/// The elements of a buffer or an image.
pub(super) struct Element {
    pub(super) format: Format,
    /// What each register gets: 0 zero, 1 one, 4 to 7 a component.
    pub(super) selectors: [u8; 4],
}

/// The elements of a buffer's accesses; `None` where the number names no format.
fn element_of(e: &Emit<'_>, inst: &Inst, buffer: &Buffer, family: Family) -> Result<Option<Element>, Stop> {
    let (number, selectors) = match (family, inst.mods) {
        (Family::TypedBuffer, Mods::Buffer(mods)) => (mods.format, IDENTITY),
        _ => {
            let Some(flags) = e.b.constant(buffer.flags) else {
                return Err(e.refuse(inst, "a descriptor that cannot be traced"));
            };
            ((flags >> 12 & 0x7f) as u8, std::array::from_fn(|i| (flags >> (3 * i) & 7) as u8))
        }
    };
    Ok(format::gfx10(number).map(|(format, _)| Element { format, selectors }))
}

/// The unit in which an element of so many bytes is accessed, and how many there are.
pub(super) fn units(bytes: u32) -> (Width, usize) {
    match bytes {
        1 => (Width::W8, 1),
        2 => (Width::W16, 1),
        n => (Width::W32, n as usize / 4),
    }
}

/// Data registers of so many components.
fn register_count(shape: FormatShape) -> u8 {
    match shape.packing {
        Packing::Single => shape.components,
        _ => shape.components.div_ceil(2),
    }
}

impl Element {
    /// What each register gets of an element's words; nothing but the selected ones where `valid` is 0.
    pub(super) fn selected(&self, e: &mut Emit<'_>, valid: Value, words: &[Value]) -> [Value; 4] {
        let (zero, one) = (e.b.c32(0), e.b.c32(self.format.one()));
        let there = e.b.bin(BinOp::Ne, valid, zero);
        let mut components = [zero, zero, zero, one];
        for (component, value) in self.format.components().iter().zip(&mut components) {
            if let Some(c) = component {
                let word = words.get(usize::from(c.shift / 32)).copied().unwrap_or(zero);
                *value = e.load_component(*c, word);
            }
        }
        self.selectors.map(|selector| match selector {
            1 => one,
            // Out of bounds every component is 0, those that the format lacks too.
            s @ 4..=7 => e.b.select(there, components[usize::from(s - 4)], zero),
            _ => zero,
        })
    }

    /// Writes component `i` of the registers.
    pub(super) fn put(&self, e: &mut Emit<'_>, packing: Packing, i: usize, value: Value, registers: &[u8]) {
        Self::put_bits(e, (packing, self.format.is_integer()), i, value, registers);
    }

    /// The same of a value that is an integer or not.
    pub(super) fn put_bits(
        e: &mut Emit<'_>,
        (packing, is_integer): (Packing, bool),
        i: usize,
        value: Value,
        registers: &[u8],
    ) {
        let (register, high) = match packing {
            Packing::Single => return e.set_vgpr(registers[i], value),
            Packing::Pairs => (registers[i / 2], !i.is_multiple_of(2)),
            Packing::HighHalf => (registers[0], true),
        };
        let half = if is_integer { value } else { e.half_of_single(value) };
        let old = e.vgpr(register);
        let merged = e.insert_half(old, half, high);
        e.set_vgpr(register, merged);
    }

    /// Component `i` of the registers, 16-bit ones widened as the format's kind has it.
    pub(super) fn get(&self, e: &mut Emit<'_>, packing: Packing, i: usize, registers: &[u8]) -> Value {
        if packing == Packing::Single {
            return e.vgpr(registers[i]);
        }
        let pair = e.vgpr(registers[i / 2]);
        let high = !i.is_multiple_of(2) || packing == Packing::HighHalf;
        let half =
            if high { e.shift(BinOp::ShrU, pair, 16) } else { e.with_constant(BinOp::And, pair, 0xffff) };
        e.widen_half(&self.format, half)
    }

    /// The words of an element that registers are stored to. Where two of them select one component, the first stands;
    /// components that none selects are 0.
    pub(super) fn words(&self, e: &mut Emit<'_>, values: &[Value]) -> Vec<Value> {
        let zero = e.b.c32(0);
        let mut components = [zero; 4];
        for (selector, value) in self.selectors.iter().zip(values).rev() {
            if let Some(c) = components.get_mut(usize::from(selector.wrapping_sub(4))) {
                *c = *value;
            }
        }
        let mut words = vec![zero; units(self.format.bytes() as u32).1];
        for (component, value) in self.format.components().iter().zip(components) {
            let Some(c) = component else { continue };
            let bits = e.store_component(*c, value);
            let placed = e.shift(BinOp::Shl, bits, u32::from(c.shift % 32));
            if let Some(word) = words.get_mut(usize::from(c.shift / 32)) {
                *word = e.b.bin(BinOp::Or, *word, placed);
            }
        }
        words
    }
}

/// An access in bounds with a number that names no format ends the dispatch.
fn trap_in_bounds(e: &mut Emit<'_>, inst: &Inst, buffer: &Buffer) {
    let run = buffer.whole(e, 0, 1);
    let zero = e.b.c32(0);
    let there = e.b.bin(BinOp::Ne, run.valid, zero);
    e.trap_if(there, "TR-MEM-006", inst.offset);
}

pub(super) fn load(
    e: &mut Emit<'_>,
    inst: &Inst,
    buffer: &Buffer,
    family: Family,
    shape: FormatShape,
) -> Result<(), Stop> {
    let registers = e.registers(inst, inst.dst[0], register_count(shape))?;
    let Some(element) = element_of(e, inst, buffer, family)? else {
        trap_in_bounds(e, inst, buffer);
        let zero = e.b.c32(0);
        for i in 0..usize::from(shape.components) {
            Element::put_bits(e, (shape.packing, true), i, zero, &registers);
        }
        return Ok(());
    };
    let bytes = element.format.bytes() as u32;
    let (width, units) = units(bytes);
    let finish = |e: &mut Emit<'_>, run: Run, words: Vec<Value>| {
        let values = element.selected(e, run.valid, &words);
        for (i, value) in values.into_iter().enumerate().take(usize::from(shape.components)) {
            element.put(e, shape.packing, i, value, &registers);
        }
    };
    e.pieces_or_run(
        buffer.swizzled,
        |e| {
            let runs: Vec<Run> = (0..units as u32).map(|i| buffer.whole(e, 4 * i, width.bytes())).collect();
            let words = runs.iter().map(|r| e.b.load(1, r.access(width, inst.offset))[0]).collect();
            finish(e, runs[0], words);
            Ok(())
        },
        |e| {
            let run = buffer.whole(e, 0, bytes);
            let words = e.b.load(units, run.access(width, inst.offset));
            finish(e, run, words);
            Ok(())
        },
    )
}

pub(super) fn store(
    e: &mut Emit<'_>,
    inst: &Inst,
    buffer: &Buffer,
    family: Family,
    shape: FormatShape,
) -> Result<(), Stop> {
    let registers = e.registers(inst, inst.src[3], register_count(shape))?;
    let Some(element) = element_of(e, inst, buffer, family)? else {
        trap_in_bounds(e, inst, buffer);
        return Ok(());
    };
    let count = usize::from(shape.components);
    let values: Vec<Value> = (0..count).map(|i| element.get(e, shape.packing, i, &registers)).collect();
    let words = element.words(e, &values);
    let bytes = element.format.bytes() as u32;
    let (width, _) = units(bytes);
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
            let run = buffer.whole(e, 0, bytes);
            e.store_run(inst, run, words.clone(), width);
            Ok(())
        },
    )
}
