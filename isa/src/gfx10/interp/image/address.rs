//! The address registers of an image instruction.

use super::ImageAccess;
use crate::gfx10::ImageMods;
use crate::gfx10::interp::StopKind;
use crate::gfx10::interp::slot::Slot;
use crate::gfx10::interp::wave::Wave;

/// What an address component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    X,
    Y,
    /// The third coordinate of a volume.
    Z,
    /// The slice of an array; faces of cubes count as slices.
    Slice,
    Sample,
    Level,
}

/// The coordinates of each DIM, by its code; a level follows them where the operation has one.
const DIMS: [&[Role]; 8] = [
    &[Role::X],
    &[Role::X, Role::Y],
    &[Role::X, Role::Y, Role::Z],
    &[Role::X, Role::Y, Role::Slice],
    &[Role::X, Role::Slice],
    &[Role::X, Role::Y, Role::Slice],
    &[Role::X, Role::Y, Role::Sample],
    &[Role::X, Role::Y, Role::Slice, Role::Sample],
];

/// A lane's texel as its registers name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TexelAddress {
    pub x: u32,
    pub y: u32,
    pub z: u32,
    pub slice: u32,
    pub level: u32,
}

/// Where an instruction keeps its addresses, the same in every lane.
pub(super) struct Addresses {
    coordinates: &'static [Role],
    level: bool,
    registers: [u8; 13],
    /// Two components a register.
    packed: bool,
}

impl Addresses {
    pub(super) fn new(slot: &Slot, mods: &ImageMods, access: ImageAccess) -> Result<Self, StopKind> {
        let coordinates = match access {
            ImageAccess::Query => &[],
            _ => DIMS[usize::from(mods.dim & 7)],
        };
        if coordinates.contains(&Role::Sample) {
            return Err(slot.form("a multisampled dim"));
        }
        let level = matches!(
            access,
            ImageAccess::Load { mip: true } | ImageAccess::Store { mip: true } | ImageAccess::Query
        );
        Ok(Addresses { coordinates, level, registers: mods.addr, packed: mods.a16 })
    }

    /// Whether the instruction names a row, a third coordinate and a slice.
    pub(super) fn axes(&self) -> [bool; 3] {
        [Role::Y, Role::Z, Role::Slice].map(|role| self.coordinates.contains(&role))
    }

    /// Whether the instruction names a texel.
    pub(super) fn has_coordinates(&self) -> bool {
        !self.coordinates.is_empty()
    }

    pub(super) fn texel(&self, wave: &Wave, lane: usize) -> TexelAddress {
        let mut texel = TexelAddress::default();
        let roles = self.coordinates.iter().copied().chain(self.level.then_some(Role::Level));
        for (i, role) in roles.enumerate() {
            let place = match role {
                Role::X => &mut texel.x,
                Role::Y => &mut texel.y,
                Role::Z => &mut texel.z,
                Role::Slice => &mut texel.slice,
                Role::Level => &mut texel.level,
                Role::Sample => continue,
            };
            *place = self.component(wave, lane, i);
        }
        texel
    }

    fn component(&self, wave: &Wave, lane: usize, i: usize) -> u32 {
        let register = |i: usize| self.registers.get(i).map_or(0, |number| wave.vgpr(*number, lane));
        match self.packed {
            true => register(i / 2) >> (16 * (i % 2)) & 0xffff,
            false => register(i),
        }
    }
}
