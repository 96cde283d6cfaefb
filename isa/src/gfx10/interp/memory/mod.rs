//! Vector memory: what buffer, flat, global and scratch instructions have in common.
//!
//! Each lane's access goes dword by dword, so that range checks and swizzling act on dwords; formatted accesses and
//! atomics are in bounds or out of them as a whole, judged by their first byte.

mod access;
mod buffer;
mod components;
mod flat;
mod typed;

pub(super) use access::{Access, Family, FormatShape, Packing, meaning};
pub(super) use buffer::Descriptor;
pub(super) use components::{deselect, read_registers, select, write_registers};

use super::StopKind;
use super::machine::{Flow, Machine, Place};
use super::slot::Slot;
use super::vector::insert_half;
use super::wave::{Wave, lanes_of};
use access::{AtomicAccess, Half, Part};
use buffer::Buffer;
use flat::Flat;

/// The memory that an instruction reaches.
enum Space {
    Buffer(Buffer),
    Flat(Flat),
}

/// Where a lane's access begins.
#[derive(Clone, Copy)]
enum Location {
    Buffer { index: u64, offset: u64 },
    At(Place),
}

impl Space {
    fn new(m: &Machine<'_>, slot: &Slot, family: Family) -> Result<Self, StopKind> {
        match family {
            Family::Buffer | Family::TypedBuffer => {
                let mods = buffer::modifiers(slot)?;
                Ok(Space::Buffer(Buffer::new(m, slot, &mods)?))
            }
            Family::Flat | Family::Global | Family::Scratch => Ok(Space::Flat(Flat::new(m, slot, family)?)),
        }
    }

    fn locate(&self, wave: &Wave, lane: usize) -> Location {
        match self {
            Space::Buffer(buffer) => buffer.locate(wave, lane),
            Space::Flat(flat) => Location::At(flat.locate(wave, lane)),
        }
    }

    /// The place of the bytes `further` on, which are in bounds or not by themselves.
    fn place(&self, location: Location, further: u64) -> Place {
        match (self, location) {
            (Space::Buffer(buffer), Location::Buffer { index, offset }) => {
                buffer.place(index, offset, further)
            }
            (_, Location::At(place)) => place.after(further),
            (Space::Flat(_), Location::Buffer { .. }) => Place::Nowhere,
        }
    }
}

/// The number of the place of the data operand among the sources.
fn data_place(family: Family) -> usize {
    match family {
        Family::Buffer | Family::TypedBuffer => 3,
        Family::Flat | Family::Global | Family::Scratch => 1,
    }
}

/// Carries out a memory access in every active lane.
pub(super) fn run(
    m: &mut Machine<'_>,
    slot: &Slot,
    family: Family,
    access: Access,
) -> Result<Flow, StopKind> {
    let space = Space::new(m, slot, family)?;
    let register = match access {
        Access::LoadPart(_) | Access::LoadDwords(_) | Access::LoadFormat(_) => slot.vector_destination(),
        _ => slot.vector_source(data_place(family)),
    };
    let Some(register) = register else { return Err(slot.form("no data register")) };
    if let Access::LoadFormat(_) | Access::StoreFormat(_) = access {
        return typed::run(m, slot, family, &space, register, access);
    }
    for lane in lanes_of(m.wave.exec()) {
        let location = space.locate(m.wave, lane);
        let (first, data) = (space.place(location, 0), (register, lane));
        match access {
            Access::LoadPart(part) => load_part(m, first, data, part)?,
            Access::StorePart(part) => store_part(m, first, data, part)?,
            Access::LoadDwords(count) => load_dwords(m, &space, location, data, count)?,
            Access::StoreDwords(count) => store_dwords(m, &space, location, data, count)?,
            Access::Atomic(atomic) => atomic_access(m, slot, first, data, atomic)?,
            Access::LoadFormat(_) | Access::StoreFormat(_) => {}
        }
    }
    Ok(Flow::Next)
}

fn load_part(
    m: &mut Machine<'_>,
    place: Place,
    (register, lane): (u8, usize),
    part: Part,
) -> Result<(), StopKind> {
    let mut bytes = [0; 4];
    m.read(place, &mut bytes[..usize::from(part.bytes)])?;
    let unused = 32 - 8 * u32::from(part.bytes);
    let raw = u32::from_le_bytes(bytes);
    let value = if part.signed { ((raw << unused) as i32 >> unused) as u32 } else { raw };
    let old = m.wave.vgpr(register, lane);
    let new = match part.half {
        Half::Whole => value,
        Half::Low => insert_half(old, value as u16, false),
        Half::High => insert_half(old, value as u16, true),
    };
    m.wave.set_vgpr(register, lane, new);
    Ok(())
}

fn store_part(
    m: &mut Machine<'_>,
    place: Place,
    (register, lane): (u8, usize),
    part: Part,
) -> Result<(), StopKind> {
    let word = m.wave.vgpr(register, lane);
    let value = if part.half == Half::High { word >> 16 } else { word };
    m.write(place, &value.to_le_bytes()[..usize::from(part.bytes)])
}

/// The places of up to four dwords, and the one place that they are together if they follow each other.
fn dword_places(space: &Space, location: Location, count: u8) -> ([Place; 4], Option<Place>) {
    let places: [Place; 4] = std::array::from_fn(|i| match i < usize::from(count) {
        true => space.place(location, 4 * i as u64),
        false => Place::Nowhere,
    });
    let first = places[0];
    let run = (1..usize::from(count.min(4))).all(|i| places[i] == first.after(4 * i as u64));
    (places, run.then_some(first))
}

/// Reads dwords, together where they lie together.
fn read_dwords(
    m: &mut Machine<'_>,
    (places, run): ([Place; 4], Option<Place>),
    count: u8,
) -> Result<[u8; 16], StopKind> {
    let mut bytes = [0; 16];
    let used = &mut bytes[..4 * usize::from(count.min(4))];
    match run {
        Some(place) => m.read(place, used)?,
        None => {
            for (place, dword) in places.into_iter().zip(used.chunks_mut(4)) {
                m.read(place, dword)?;
            }
        }
    }
    Ok(bytes)
}

/// Writes whole dwords, together where they lie together.
fn write_dwords(
    m: &mut Machine<'_>,
    (places, run): ([Place; 4], Option<Place>),
    bytes: &[u8],
) -> Result<(), StopKind> {
    match run {
        Some(place) => m.write(place, bytes),
        None => places.into_iter().zip(bytes.chunks(4)).try_for_each(|(place, dword)| m.write(place, dword)),
    }
}

fn load_dwords(
    m: &mut Machine<'_>,
    space: &Space,
    location: Location,
    (register, lane): (u8, usize),
    count: u8,
) -> Result<(), StopKind> {
    let bytes = read_dwords(m, dword_places(space, location, count), count)?;
    for i in 0..count.min(4) {
        m.wave.set_vgpr(register.wrapping_add(i), lane, dword(&bytes, i.into()));
    }
    Ok(())
}

fn store_dwords(
    m: &mut Machine<'_>,
    space: &Space,
    location: Location,
    (register, lane): (u8, usize),
    count: u8,
) -> Result<(), StopKind> {
    let mut bytes = [0; 16];
    for (i, chunk) in bytes.chunks_mut(4).take(count.into()).enumerate() {
        chunk.copy_from_slice(&m.wave.vgpr(register.wrapping_add(i as u8), lane).to_le_bytes());
    }
    let used = 4 * usize::from(count.min(4));
    write_dwords(m, dword_places(space, location, count), &bytes[..used])
}

/// Dword `i` of 16 bytes.
fn dword(bytes: &[u8; 16], i: usize) -> u32 {
    let at = |k: usize| bytes[(4 * i + k) & 15];
    u32::from_le_bytes([at(0), at(1), at(2), at(3)])
}

fn atomic_access(
    m: &mut Machine<'_>,
    slot: &Slot,
    place: Place,
    (register, lane): (u8, usize),
    atomic: AtomicAccess,
) -> Result<(), StopKind> {
    let dwords = if atomic.wide { 2 } else { 1 };
    let operand = |i: u8| {
        let first = register.wrapping_add(i * dwords);
        if atomic.wide { m.wave.vgpr_pair(first, lane) } else { m.wave.vgpr(first, lane).into() }
    };
    let data = operand(0);
    let other = if atomic.row.operands == 2 { operand(1) } else { 0 };
    let old = m.atomic(place, 4 * u32::from(dwords), atomic.row.modify, data, other)?;
    match slot.vector_destination() {
        Some(to) if atomic.wide => m.wave.set_vgpr_pair(to, lane, old),
        Some(to) => m.wave.set_vgpr(to, lane, old as u32),
        None => {}
    }
    Ok(())
}
