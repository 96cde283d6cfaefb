//! Buffer accesses that convert formats.
//!
//! MUBUF takes format and component selectors from the descriptor; MTBUF takes the format from the instruction and
//! selects components as they are.

use super::access::{Access, FormatShape};
use super::buffer::{Buffer, descriptor_refusal};
use super::components::{deselect, read_registers, select, write_registers};
use super::{Family, Location, Space};
use crate::format::{self, Format};
use crate::gfx10::Mods;
use crate::gfx10::interp::StopKind;
use crate::gfx10::interp::machine::{Flow, Machine, Place};
use crate::gfx10::interp::slot::Slot;
use crate::gfx10::interp::wave::lanes_of;

/// Selectors that change nothing.
const IDENTITY: [u8; 4] = [4, 5, 6, 7];

/// Carries out a formatted access in every active lane.
pub(super) fn run(
    m: &mut Machine<'_>,
    slot: &Slot,
    family: Family,
    space: &Space,
    register: u8,
    access: Access,
) -> Result<Flow, StopKind> {
    let typed = Typed::new(slot, family, space)?;
    for lane in lanes_of(m.wave.exec()) {
        let (location, data) = (space.locate(m.wave, lane), (register, lane));
        match access {
            Access::LoadFormat(shape) => typed.load(m, location, data, shape)?,
            Access::StoreFormat(shape) => typed.store(m, location, data, shape)?,
            _ => return Err(slot.form("no format")),
        }
    }
    Ok(Flow::Next)
}

/// A typed buffer.
struct Typed<'a> {
    buffer: &'a Buffer,
    /// `None` where the number names no format; that matters only to accesses in bounds.
    format: Option<Format>,
    selectors: [u8; 4],
    refusal: StopKind,
}

impl<'a> Typed<'a> {
    fn new(slot: &Slot, family: Family, space: &'a Space) -> Result<Self, StopKind> {
        let Space::Buffer(buffer) = space else { return Err(slot.form("no buffer")) };
        let (number, selectors) = match (family, slot.inst.mods) {
            (Family::TypedBuffer, Mods::Buffer(mods)) => (mods.format, IDENTITY),
            _ => (buffer.descriptor.format, buffer.descriptor.selectors),
        };
        let format = format::gfx10(number).map(|(format, _)| format);
        let refusal = descriptor_refusal(slot, "a FORMAT that is no buffer format");
        Ok(Typed { buffer, format, selectors, refusal })
    }

    /// The format, and whether the access is in bounds.
    fn element(&self, location: Location) -> Result<Option<Element<'_>>, StopKind> {
        let Location::Buffer { index, offset } = location else { return Ok(None) };
        if !self.buffer.begins_inside(index, offset) {
            return Ok(None);
        }
        let format = self.format.as_ref().ok_or_else(|| self.refusal.clone())?;
        Ok(Some(Element { buffer: self.buffer, format, index, offset }))
    }

    /// Out of bounds every component is 0, and selectors still choose 1.
    fn load(
        &self,
        m: &mut Machine<'_>,
        location: Location,
        (register, lane): (u8, usize),
        shape: FormatShape,
    ) -> Result<(), StopKind> {
        let components = match self.element(location)? {
            Some(element) => element.format.load(&element.read(m)?),
            None => [0; 4],
        };
        let one = self.format.as_ref().map_or(0, Format::one);
        let selected = select(self.selectors, components, one);
        let is_integer = self.format.as_ref().is_some_and(Format::is_integer);
        write_registers(m, selected, (register, lane), shape, is_integer);
        Ok(())
    }

    fn store(
        &self,
        m: &mut Machine<'_>,
        location: Location,
        data: (u8, usize),
        shape: FormatShape,
    ) -> Result<(), StopKind> {
        let Some(element) = self.element(location)? else { return Ok(()) };
        let registers = read_registers(m, data, shape, element.format);
        let used = self.selectors.into_iter().zip(registers).take(shape.components.into());
        let components = deselect(used);
        element.write(m, element.format.store(components))
    }
}

/// An element that is in bounds.
struct Element<'a> {
    buffer: &'a Buffer,
    format: &'a Format,
    index: u64,
    offset: u64,
}

impl Element<'_> {
    /// The places of the element's pieces, none longer than a dword, with their first bytes.
    fn pieces(&self) -> impl Iterator<Item = (Place, std::ops::Range<usize>)> {
        let bytes = self.format.bytes();
        let piece = move |start: usize| {
            let place = self.buffer.place_inside(self.index, self.offset, start as u64);
            (place, start..bytes.min(start + 4))
        };
        (0..bytes).step_by(4).map(piece)
    }

    /// The place of the whole element if its pieces lie together, which they do unless the buffer is swizzled.
    fn whole(&self) -> Option<Place> {
        (!self.buffer.descriptor.swizzled).then(|| self.buffer.place_inside(self.index, self.offset, 0))
    }

    fn read(&self, m: &mut Machine<'_>) -> Result<[u8; 16], StopKind> {
        let mut bytes = [0; 16];
        match self.whole() {
            Some(place) => m.read(place, &mut bytes[..self.format.bytes()])?,
            None => self.pieces().try_for_each(|(place, range)| m.read(place, &mut bytes[range]))?,
        }
        Ok(bytes)
    }

    fn write(&self, m: &mut Machine<'_>, bytes: [u8; 16]) -> Result<(), StopKind> {
        match self.whole() {
            Some(place) => m.write(place, &bytes[..self.format.bytes()]),
            None => self.pieces().try_for_each(|(place, range)| m.write(place, &bytes[range])),
        }
    }
}
