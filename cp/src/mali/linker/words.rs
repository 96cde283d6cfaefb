//! Format words and descriptors in words.

use super::access::{special, uses_descriptor};
use super::slots::loaded;
use super::types::{Base, Element, Location, Stage};
use super::{BufferUse, Form, Layout, Request, Section, Slot};
use crate::Refusal;
use crate::mali::record::Record;
use crate::mali::{Generation, Version};

/// Format numbers of one 32-bit component; 8 more for each further component, 1 less for 16 bits.
const UINT_32: u32 = 133;
const SINT_32: u32 = 197;
const FLOAT_32: u32 = 167;
/// Of one 16-bit float.
const FLOAT_16: u32 = 199;
/// Positions, snapped to 1/256.
const SNAP4: u32 = 94;
/// Constants, no memory.
const CONSTANT: u32 = 95;
/// Component orders of v7 and later: RGB1 and 0000.
const RGB1: u32 = 16;
const ORDER_0000: u32 = 231;
/// Byte of a vertex packet where varyings begin.
const PACKET_VARYINGS: u32 = 1024;
/// Bytes of a position in a packet.
const POSITION_BYTES: u32 = 16;
/// The table of a draw's outputs.
const OUTPUT_TABLE: u64 = 61;

/// An attribute descriptor and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Whose accesses count it: each stage counts from 0.
    pub stage: Stage,
    /// Which location.
    pub location: Location,
    /// Its words.
    pub words: Vec<u32>,
}

/// The 22-bit format word of 1 to 4 components: channels in order, missing ones 0, 0, 1.
pub fn format_word(version: Version, element: Element, components: u8) -> u32 {
    let (one, step) = match (element.base, element.bits) {
        (Base::Float, 16) => (FLOAT_16, 0),
        (Base::Float, _) => (FLOAT_32, 0),
        (Base::Uint, bits) => (UINT_32, u32::from(bits == 16)),
        (Base::Sint, bits) => (SINT_32, u32::from(bits == 16)),
    };
    let number = one - step + 8 * (u32::from(components.clamp(1, 4)) - 1);
    number << 12 | selection(version, components)
}

/// The word of the Constant format that reads zeros.
pub fn constant_word(version: Version) -> u32 {
    let zeros = if version.number() >= 7 { ORDER_0000 } else { 0o4444 };
    CONSTANT << 12 | zeros
}

/// Selectors before v7, an order since.
fn selection(version: Version, components: u8) -> u32 {
    if version.number() >= 7 {
        return if components >= 4 { 0 } else { RGB1 };
    }
    let selector = |i: u8| match i {
        i if i < components => u32::from(i),
        3 => 5,
        _ => 4,
    };
    (0..4).fold(0, |word, i| word | selector(i) << (3 * u32::from(i)))
}

/// The buffers that are there, in the order of their indices.
pub(super) fn buffers(request: &Request, generic_bytes: u32) -> Vec<BufferUse> {
    if request.version.generation() == Generation::Valhall {
        return Vec::new();
    }
    let old = request.version.generation() == Generation::Midgard;
    let has = |stage, location| request.varyings.iter().any(|v| (v.stage, v.location) == (stage, location));
    let reads = |location| old && has(Stage::Fragment, location);
    let rows = [
        (true, "varyings", generic_bytes, None),
        (true, "positions", POSITION_BYTES, None),
        (has(Stage::Vertex, Location::PointSize), "point sizes", 2, None),
        (reads(Location::PointCoord), "point coordinate", 0, Some(0x61)),
        (reads(Location::FrontFacing), "facing", 0, Some(0x26)),
        (reads(Location::FragCoord), "window coordinate", 0, Some(0x25)),
    ];
    let present = rows.into_iter().filter(|row| row.0);
    let numbered = (0u32..).zip(present);
    numbered.map(|(index, (_, holds, stride, special))| BufferUse { holds, index, stride, special }).collect()
}

/// What a location's buffer holds.
fn holds(location: Location) -> &'static str {
    match location {
        Location::Position => "positions",
        Location::PointSize => "point sizes",
        Location::PointCoord => "point coordinate",
        Location::FrontFacing => "facing",
        Location::FragCoord => "window coordinate",
        _ => "varyings",
    }
}

/// The descriptors of both stages: the vertex's slots, then the fragment's.
pub(super) fn descriptors(
    request: &Request,
    layout: &Layout,
    fragment: &[Slot],
) -> Result<Vec<Descriptor>, Refusal> {
    let version = request.version;
    let mut all = Vec::new();
    if version.generation() != Generation::Valhall {
        for slot in &layout.slots {
            let read = fragment.iter().any(|s| s.location == slot.location);
            let words = vertex(layout, slot, read)?;
            all.push(Descriptor { stage: Stage::Vertex, location: slot.location, words });
        }
    }
    for slot in fragment.iter().filter(|s| !layout.direct() && uses_descriptor(version, s.location)) {
        let flat = request
            .varyings
            .iter()
            .any(|v| v.flat && (v.stage, v.location) == (Stage::Fragment, slot.location));
        let words = self::fragment(layout, slot, flat)?;
        all.push(Descriptor { stage: Stage::Fragment, location: slot.location, words });
    }
    Ok(all)
}

/// A vertex slot's descriptor, v4 to v7.
fn vertex(layout: &Layout, slot: &Slot, read: bool) -> Result<Vec<u32>, Refusal> {
    let version = layout.version;
    let (format, offset) = match slot.section {
        Section::Position => (SNAP4 << 12 | selection(version, 4), 0),
        // As drivers write it: v7 orders all four channels here.
        Section::Attributes { offset } if version.number() >= 7 => (FLOAT_16 << 12, offset),
        Section::Generic { offset } if read => (format_word(version, slot.element, slot.components), offset),
        Section::Generic { .. } => (constant_word(version), 0),
        Section::Attributes { offset } => (format_word(version, slot.element, slot.components), offset),
        _ => (constant_word(version), 0),
    };
    short(layout, slot.location, format, offset)
}

fn fragment(layout: &Layout, slot: &Slot, flat: bool) -> Result<Vec<u32>, Refusal> {
    let version = layout.version;
    if special(version, slot.location) == Some(Form::LoadVarying) {
        let element = if slot.location == Location::FrontFacing {
            Element { base: Base::Sint, bits: 32 }
        } else {
            Element::F32
        };
        let components = if slot.location == Location::FrontFacing { 1 } else { 4 };
        return short(layout, slot.location, format_word(version, element, components), 0);
    }
    let source = layout.slot(slot.location).and_then(|s| match s.section {
        Section::Generic { offset } => Some((s, offset)),
        _ => None,
    });
    let (format, offset) = source.map_or((constant_word(version), 0), |(s, offset)| {
        let element = Element { base: slot.element.base, bits: s.element.bits };
        (format_word(version, loaded(version, flat, element), s.components), offset)
    });
    match version.generation() {
        Generation::Valhall => long(layout, format, offset),
        _ => short(layout, slot.location, format, offset),
    }
}

/// The 8-byte form.
fn short(layout: &Layout, location: Location, format: u32, offset: u32) -> Result<Vec<u32>, Refusal> {
    let held = holds(location);
    let buffer = layout.buffers.iter().find(|b| b.holds == held).map_or(0, |b| b.index);
    let enable = layout.version.generation() == Generation::Midgard;
    let record = Record::blank("attribute", layout.version)?
        .with("buffer_index", buffer.into())?
        .with("offset_enable", enable.into())?
        .with("format", format.into())?
        .with("offset", offset.into())?;
    Ok(record.encode())
}

/// The 32-byte form, into the output buffer.
fn long(layout: &Layout, format: u32, offset: u32) -> Result<Vec<u32>, Refusal> {
    let stride = layout.generic_bytes;
    let record = Record::blank("attribute_packet", layout.version)?
        .with("format", format.into())?
        .with("table", OUTPUT_TABLE)?
        .with("offset", u64::from(PACKET_VARYINGS + offset))?
        .with("buffer_index", u64::from(layout.version.number() >= 12))?
        .with("attribute_stride", stride.into())?
        .with("packet_stride", u64::from(stride + POSITION_BYTES))?;
    Ok(record.encode())
}
