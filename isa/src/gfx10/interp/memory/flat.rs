//! Flat, global and scratch addresses.

use super::Family;
use crate::gfx10::interp::Apertures;
use crate::gfx10::interp::StopKind;
use crate::gfx10::interp::machine::{Machine, Place};
use crate::gfx10::interp::slot::Slot;
use crate::gfx10::interp::wave::Wave;
use crate::gfx10::{Mods, Op, Operand};

/// What one flat instruction accesses, the same in every lane but for a register.
pub(super) struct Flat {
    family: Family,
    apertures: Apertures,
    /// What every lane adds: the scalar base and the immediate.
    base: u64,
    address: Option<u8>,
    /// The address register is a pair.
    wide: bool,
    /// Four bytes a lane are added.
    by_lane: bool,
}

impl Flat {
    pub(super) fn new(m: &Machine<'_>, slot: &Slot, family: Family) -> Result<Self, StopKind> {
        let Mods::Flat(mods) = slot.inst.mods else { return Err(slot.form("no flat modifiers")) };
        if mods.lds {
            return Err(slot.form("lds"));
        }
        if family == Family::Flat && mods.offset != 0 {
            return Err(slot.form("an offset, which FLAT does not have"));
        }
        let has_scalar = slot.inst.src[2] != Operand::None;
        let scalar = if has_scalar { m.scalar_source(slot, 2)? } else { 0 };
        Ok(Flat {
            family,
            apertures: m.info.apertures,
            base: scalar.wrapping_add_signed(mods.offset.into()),
            address: slot.vector_source(0),
            wide: family != Family::Scratch && !has_scalar,
            by_lane: matches!(slot.inst.op, Op::GLOBAL_LOAD_DWORD_ADDTID | Op::GLOBAL_STORE_DWORD_ADDTID),
        })
    }

    /// The place of the access in a lane.
    pub(super) fn locate(&self, wave: &Wave, lane: usize) -> Place {
        let register = match self.address {
            Some(number) if self.wide => wave.vgpr_pair(number, lane),
            Some(number) => wave.vgpr(number, lane).into(),
            None => 0,
        };
        let by_lane = if self.by_lane { 4 * lane as u64 } else { 0 };
        let address = self.base.wrapping_add(register).wrapping_add(by_lane);
        match self.family {
            Family::Scratch => Place::Scratch { lane, offset: address },
            Family::Flat => self.aperture(address, lane),
            _ => Place::guest(address),
        }
    }

    /// A flat address: LDS, scratch or guest memory.
    fn aperture(&self, address: u64, lane: usize) -> Place {
        let within = address & 0xffff_ffff;
        match address - within {
            base if base == self.apertures.shared => Place::Lds(within),
            base if base == self.apertures.private => Place::Scratch { lane, offset: within },
            _ => Place::guest(address),
        }
    }
}
