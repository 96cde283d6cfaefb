//! From the varyings of a shader to slots, and from slots to offsets.

use super::types::{Base, Element, Location, Stage, Varying};
use super::{Request, Section, Slot};
use crate::Refusal;
use crate::mali::{Generation, Version};

/// Generic varyings a vertex that the strides of descriptors can count.
const GENERIC_LIMIT: u64 = 1 << 15;

/// Refuses two varyings of one stage that share a component.
pub(super) fn check_overlaps(varyings: &[Varying]) -> Result<(), Refusal> {
    for (i, v) in varyings.iter().enumerate() {
        let shares = |o: &&Varying| {
            (o.stage, o.location) == (v.stage, v.location) && o.component < v.end() && v.component < o.end()
        };
        if let Some(other) = varyings.iter().take(i).find(shares) {
            return Err(Refusal::VaryingOverlap { name: v.name.clone(), other: other.name.clone() });
        }
    }
    Ok(())
}

/// The type that an access has by rule 2, and which part of the rule that is.
pub(super) fn access_type(request: &Request, varying: &Varying) -> (Element, &'static str) {
    let own = varying.element;
    let flat = varying.stage == Stage::Vertex || varying.flat;
    match varying.location {
        Location::Var(_) => {}
        _ => return (own, "a built-in has the type that the hardware gives it"),
    }
    if varying.mediump {
        return (own, "mediump keeps its type");
    }
    if request.trusted || request.separate {
        return (own, "types are trusted or the shaders are compiled separately: the type is kept");
    }
    if request.version.number() == 4 {
        return (own, "v4 has no automatic 32-bit register: the type is kept");
    }
    match (flat, own.bits, varying.stage) {
        (true, 32, Stage::Vertex) => (Element::U32, "every high-precision output is written as U32"),
        (true, 32, Stage::Fragment) => (Element::U32, "high-precision flat inputs are read as U32"),
        (true, _, _) => (Element::F16, "flat 16-bit values are moved as F16: no 16-bit integer form exists"),
        (false, bits, _) => {
            (Element { base: Base::Float, bits }, "high-precision smooth inputs are read as floats")
        }
    }
}

/// The slots of a stage, in the order of the shader, without offsets.
pub(super) fn collect(request: &Request, stage: Stage) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    for varying in request.varyings.iter().filter(|v| v.stage == stage) {
        let (element, _) = access_type(request, varying);
        match slots.iter_mut().find(|s| s.location == varying.location) {
            Some(slot) => slot.take(element, varying.end()),
            None => slots.push(Slot {
                location: varying.location,
                element,
                components: varying.end(),
                section: Section::Nowhere,
            }),
        }
    }
    for slot in &mut slots {
        if shrinks(request, slot) {
            slot.element = Element::F16;
        }
    }
    slots
}

impl Slot {
    /// Takes in another access to the location: the wider type wins; types that differ are kept as bits.
    fn take(&mut self, element: Element, end: u8) {
        self.components = self.components.max(end);
        let bits = self.element.bits.max(element.bits);
        let base = match (self.element.base == element.base, bits) {
            (true, _) => element.base,
            (false, 32) => Base::Uint,
            (false, _) => Base::Float,
        };
        self.element = Element { base, bits };
    }
}

/// Whether every access of the slot's own stage is a mediump float that may be halved.
fn shrinks(request: &Request, slot: &Slot) -> bool {
    let mut of_slot = request.varyings.iter().filter(|v| v.location == slot.location);
    let user = matches!(slot.location, Location::Var(_));
    request.shrink && user && slot.element == Element::F32 && of_slot.all(|v| v.mediump)
}

/// Gives the vertex shader's slots their places; and the bytes of generic varyings a vertex.
pub(super) fn lay_out(slots: Vec<Slot>, version: Version) -> Result<(Vec<Slot>, u32), Refusal> {
    let mut cursor = 0u64;
    let mut placed = Vec::with_capacity(slots.len());
    for mut slot in slots {
        slot.section = match fixed(slot.location, version) {
            Some((section, element, components)) => {
                (slot.element, slot.components) = (element, components);
                section
            }
            None => {
                let offset = cursor.next_multiple_of(u64::from(slot.bytes()).next_power_of_two());
                cursor = offset + u64::from(slot.bytes());
                if cursor > GENERIC_LIMIT {
                    let name = slot.location.to_string();
                    return Err(Refusal::VaryingOffset { name, offset, limit: GENERIC_LIMIT });
                }
                Section::Generic { offset: offset as u32 }
            }
        };
        placed.push(slot);
    }
    Ok((placed, cursor as u32))
}

/// Place, type and components of outputs that the hardware reads itself.
fn fixed(location: Location, version: Version) -> Option<(Section, Element, u8)> {
    let short = Element { base: Base::Uint, bits: 16 };
    let entry = |offset, element| Some((Section::Attributes { offset }, element, 1));
    match location {
        Location::Position => Some((Section::Position, Element::F32, 4)),
        Location::PointSize => entry(0, Element::F16),
        // One byte each, in the halfword behind the point size.
        Location::Layer | Location::Viewport => entry(2, short),
        Location::PrimitiveId if version.generation() == Generation::Valhall => entry(12, Element::U32),
        _ => None,
    }
}

/// The type that a load moves: flat 16-bit integers move as F16 since v6, where no 16-bit integer form of a varying load
/// exists, and keep their bits.
pub(super) fn loaded(version: Version, flat: bool, element: Element) -> Element {
    let retyped = flat && element.bits == 16 && element.base != Base::Float;
    if retyped && version.generation() != Generation::Midgard { Element::F16 } else { element }
}
