//! Image instructions that neither filter nor sample: loads, stores, atomics and queries of single texels.
//!
//! A texel is addressed in integers, its level from the first of the view. One outside the image, its levels or its slices loads as 0 (component selectors
//! still choose 1), is not stored, and an atomic there returns 0; for levels that is inferred from what APIs demand. What public facts do not settle (samples of
//! multisampled images, compressed surfaces, some layouts) is refused by what it is.

mod access;
mod address;
mod descriptor;
mod resource;
mod texel;

pub(super) use access::{ImageAccess, meaning};

use super::StopKind;
use super::atomic::AtomicRow;
use super::machine::{Flow, Machine, Place};
use super::slot::Slot;
use super::wave::lanes_of;
use crate::gfx10::{ImageMods, Mods};
use address::Addresses;
use resource::Resource;

/// Carries out an image instruction in every active lane.
pub(super) fn run(m: &mut Machine<'_>, slot: &Slot, access: ImageAccess) -> Result<Flow, StopKind> {
    let mods = modifiers(slot)?;
    // A wave without lanes may pass by with whatever its descriptor's registers hold.
    if m.wave.exec() == 0 {
        return Ok(Flow::Next);
    }
    let resource = Resource::new(m, slot)?;
    let addresses = Addresses::new(slot, &mods, access)?;
    resource.check_dim(slot, &addresses)?;
    let data = match access {
        ImageAccess::Load { .. } | ImageAccess::Query => slot.vector_destination(),
        ImageAccess::Store { .. } | ImageAccess::Atomic(_) => slot.vector_source(3),
    };
    let Some(register) = data else { return Err(slot.form("no data register")) };
    let mut lane_access = LaneAccess { m, slot, mods, resource, addresses, register };
    for lane in lanes_of(lane_access.m.wave.exec()) {
        lane_access.run(lane, access)?;
    }
    Ok(Flow::Next)
}

/// One image instruction under way.
struct LaneAccess<'a, 'm> {
    m: &'a mut Machine<'m>,
    slot: &'a Slot,
    mods: ImageMods,
    resource: Resource,
    addresses: Addresses,
    /// First data register.
    register: u8,
}

impl LaneAccess<'_, '_> {
    fn run(&mut self, lane: usize, access: ImageAccess) -> Result<(), StopKind> {
        match access {
            ImageAccess::Load { .. } => self.load(lane),
            ImageAccess::Store { .. } => self.store(lane),
            ImageAccess::Query => self.query(lane),
            ImageAccess::Atomic(row) => self.atomic(lane, row),
        }
    }

    fn place(&self, lane: usize) -> Result<Place, StopKind> {
        self.resource.place(self.slot, &self.addresses.texel(self.m.wave, lane))
    }

    fn load(&mut self, lane: usize) -> Result<(), StopKind> {
        let place = self.place(lane)?;
        let values = self.resource.load(self.m, place)?;
        texel::write(self.m, (self.register, lane), &self.mods, values, self.resource.is_integer());
        Ok(())
    }

    fn store(&mut self, lane: usize) -> Result<(), StopKind> {
        let place = self.place(lane)?;
        let values = texel::read(self.m, (self.register, lane), &self.mods, &self.resource.format);
        self.resource.store(self.m, place, values)
    }

    fn query(&mut self, lane: usize) -> Result<(), StopKind> {
        let level = self.addresses.texel(self.m.wave, lane).level;
        let sizes = self.resource.sizes(self.slot, level, self.mods.dmask)?;
        texel::write(self.m, (self.register, lane), &self.mods, sizes, true);
        Ok(())
    }

    /// The width of the data is the format's; DMASK has to name as many registers.
    fn atomic(&mut self, lane: usize, row: &AtomicRow) -> Result<(), StopKind> {
        let dwords = self.resource.atomic_dwords(self.slot)?;
        if self.mods.d16 || u32::from(self.mods.dmask) != (1 << (dwords * row.operands)) - 1 {
            return Err(self.slot.form("data that are not of the format's width"));
        }
        let place = self.place(lane)?;
        let operand = |i: u8| {
            let first = self.register.wrapping_add(i * dwords);
            if dwords == 2 {
                self.m.wave.vgpr_pair(first, lane)
            } else {
                self.m.wave.vgpr(first, lane).into()
            }
        };
        let (data, other) = (operand(0), if row.operands == 2 { operand(1) } else { 0 });
        let old = self.m.atomic(place, 4 * u32::from(dwords), row.modify, data, other)?;
        match self.slot.vector_destination() {
            Some(to) if dwords == 2 => self.m.wave.set_vgpr_pair(to, lane, old),
            Some(to) => self.m.wave.set_vgpr(to, lane, old as u32),
            None => {}
        }
        Ok(())
    }
}

/// The modifiers of an image instruction, without the forms that are refused.
fn modifiers(slot: &Slot) -> Result<ImageMods, StopKind> {
    let Mods::Image(mods) = slot.inst.mods else { return Err(slot.form("no image modifiers")) };
    let refused =
        [(mods.tfe, "tfe"), (mods.lwe, "lwe"), (mods.r128, "r128"), (mods.dmask == 0, "an empty dmask")];
    match refused.iter().find(|(is_set, _)| *is_set) {
        Some((_, form)) => Err(slot.form(form)),
        None => Ok(mods),
    }
}
