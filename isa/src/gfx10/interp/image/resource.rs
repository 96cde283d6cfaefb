//! An image as an instruction sees it: its descriptor, its format, and the places of its texels.

use super::address::{Addresses, TexelAddress};
use super::descriptor::{Descriptor, Kind};
use crate::format::{self, Format};
use crate::gfx10::Operand;
use crate::gfx10::interp::StopKind;
use crate::gfx10::interp::machine::{Machine, Place};
use crate::gfx10::interp::memory::{deselect, select};
use crate::gfx10::interp::slot::Slot;
use crate::gfx10::surface::{Device, Layout, Shape, SwizzleMode, Texel, size_at};

/// An image of a settled kind.
pub(super) struct Resource {
    descriptor: Descriptor,
    kind: Kind,
    pub(super) format: Format,
    layout: Layout,
}

/// The refusal of a descriptor.
fn refusal(slot: &Slot, what: &'static str) -> StopKind {
    StopKind::ImageDescriptor { mnemonic: slot.mnemonic(), what }
}

/// What is wrong with a descriptor, if anything is.
fn unsettled(descriptor: &Descriptor, kind: &Kind) -> Option<&'static str> {
    let [first, last] = descriptor.levels;
    let reasons = [
        (kind.multisampled, "a multisampled TYPE"),
        (descriptor.compressed, "COMPRESSION_EN"),
        (descriptor.array_pitch != 0, "an ARRAY_PITCH"),
        (descriptor.pitch != 0, "a pitch of its own"),
        (last >= descriptor.surface_levels || first > last, "levels outside MAX_MIP"),
        (kind.array && descriptor.slices[0] > descriptor.slices[1], "a BASE_ARRAY after its last slice"),
    ];
    reasons.iter().find(|(is_so, _)| *is_so).map(|(_, what)| *what)
}

impl Resource {
    /// The image that an instruction's descriptor describes.
    pub(super) fn new(m: &Machine<'_>, slot: &Slot) -> Result<Self, StopKind> {
        let Operand::Sgpr(first) = slot.inst.src[1] else {
            return Err(slot.form("a descriptor that is not in scalar registers"));
        };
        let descriptor = Descriptor::read(m.wave, first);
        let kind = descriptor.kind.ok_or_else(|| refusal(slot, "a TYPE that is no image"))?;
        if let Some(what) = unsettled(&descriptor, &kind) {
            return Err(refusal(slot, what));
        }
        let number = u8::try_from(descriptor.format).ok();
        let (format, _) = number
            .and_then(format::gfx10)
            .ok_or_else(|| refusal(slot, "a FORMAT that is not known for images"))?;
        let mode = SwizzleMode::new(descriptor.mode)
            .ok_or_else(|| refusal(slot, "a SW_MODE whose blocks have no size of their own"))?;
        let shape = Shape {
            mode,
            volume: kind.volume,
            width: descriptor.size[0],
            height: descriptor.size[1],
            levels: descriptor.surface_levels,
            element: format.bytes() as u8,
        };
        let device = Device { target: m.info.target, addr_config: m.info.addr_config };
        let layout = Layout::new(&device, &shape).map_err(|what| refusal(slot, what.0))?;
        Ok(Resource { descriptor, kind, format, layout })
    }

    /// Refuses a DIM that has other coordinates than the descriptor's TYPE. An image without slices may be addressed
    /// with a slice, as drivers do.
    pub(super) fn check_dim(&self, slot: &Slot, addresses: &Addresses) -> Result<(), StopKind> {
        let [rows, volume, slice] = addresses.axes();
        let Kind { rows: has_rows, volume: is_volume, array, .. } = self.kind;
        let fits = rows == has_rows && volume == is_volume && (slice || !array);
        match fits || !addresses.has_coordinates() {
            true => Ok(()),
            false => Err(refusal(slot, "a TYPE that does not fit DIM")),
        }
    }

    pub(super) fn is_integer(&self) -> bool {
        self.format.is_integer()
    }

    /// Where a texel lies. Levels and slices count from the view's first; coordinates are unsigned.
    pub(super) fn place(&self, slot: &Slot, at: &TexelAddress) -> Result<Place, StopKind> {
        let Some(level) = self.level(at.level) else { return Ok(Place::Nowhere) };
        let [width, height, depth] = self.size(level);
        if at.x >= width || at.y >= height || at.z >= depth {
            return Ok(Place::Nowhere);
        }
        let [first, last] = self.descriptor.slices;
        if !self.kind.array && at.slice != 0 {
            return Err(slot.form("a slice of an image that has none"));
        }
        let slice = u64::from(first) + u64::from(at.slice);
        if slice > u64::from(last) {
            return Ok(Place::Nowhere);
        }
        let z = if self.kind.volume { at.z } else { slice as u32 };
        let texel = Texel { x: at.x, y: at.y, z, level };
        let address =
            self.layout.address(self.descriptor.base, &texel).map_err(|what| refusal(slot, what.0))?;
        Ok(Place::guest(address))
    }

    /// The surface's level that the view's level `lod` is.
    fn level(&self, lod: u32) -> Option<u8> {
        let [first, last] = self.descriptor.levels;
        let level = u64::from(first) + u64::from(lod);
        (level <= u64::from(last)).then_some(level as u8)
    }

    fn size(&self, level: u8) -> [u32; 3] {
        self.descriptor.size.map(|size| size_at(size, level))
    }

    /// The components that a place loads as, selected.
    pub(super) fn load(&self, m: &mut Machine<'_>, place: Place) -> Result<[u32; 4], StopKind> {
        let components = match place {
            Place::Nowhere => [0; 4],
            _ => {
                let mut bytes = [0; 16];
                m.read(place, &mut bytes[..self.format.bytes()])?;
                self.format.load(&bytes)
            }
        };
        Ok(select(self.descriptor.selectors, components, self.format.one()))
    }

    /// Stores components through the selectors.
    pub(super) fn store(&self, m: &mut Machine<'_>, place: Place, values: [u32; 4]) -> Result<(), StopKind> {
        let components = deselect(self.descriptor.selectors.into_iter().zip(values));
        m.write(place, &self.format.store(components)[..self.format.bytes()])
    }

    /// Registers of an atomic's operand.
    pub(super) fn atomic_dwords(&self, slot: &Slot) -> Result<u8, StopKind> {
        let single = self.format.components().iter().flatten().count() == 1;
        match self.format.bytes() {
            4 if single => Ok(1),
            8 => Ok(2),
            _ => Err(refusal(slot, "a FORMAT that has no atomics")),
        }
    }

    /// Width, height, depth or slices, and levels of the view, as far as `dmask` asks for them. At a level that the
    /// view does not have the sizes are 0.
    pub(super) fn sizes(&self, slot: &Slot, lod: u32, dmask: u8) -> Result<[u32; 4], StopKind> {
        let [first, last] = self.descriptor.levels;
        let levels = u32::from(last - first) + 1;
        let slices = self.descriptor.slices[1] - self.descriptor.slices[0] + 1;
        let [width, height, depth] = self.level(lod).map_or([0; 3], |level| self.size(level));
        let slices = if self.level(lod).is_some() { slices } else { 0 };
        let (second, third) = match (self.kind.rows, self.kind.volume, self.kind.array) {
            (false, _, false) => (None, None),
            (false, _, true) => (Some(slices), None),
            (true, true, _) => (Some(height), Some(depth)),
            (true, false, true) => (Some(height), Some(slices)),
            (true, false, false) => (Some(height), None),
        };
        if dmask & 2 != 0 && second.is_none() || dmask & 4 != 0 && third.is_none() {
            return Err(slot.form("a size that the image's TYPE does not have"));
        }
        Ok([width, second.unwrap_or(0), third.unwrap_or(0), levels])
    }
}
