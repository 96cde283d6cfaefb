//! DS: reads, writes and atomics of the group's LDS.
//!
//! An access lies at the lane's address plus the instruction's offset, added at 32 bits. Each dword (or the part of
//! one) is checked by itself: past the end of the group's LDS it reads as 0 and is not written. M0 plays no part.

mod lanes;
mod rows;

use super::StopKind;
use super::alu::{self, Mode};
use super::atomic::{self, Modify};
use super::machine::{Flow, Machine, Place};
use super::slot::Slot;
use super::vector::insert_half;
use super::wave::lanes_of;
use crate::gfx10::{Mods, Op, VopMods};

pub(super) use lanes::ROWS as LANE_ROWS;
pub(super) use rows::ROWS;

/// What each lane does.
#[derive(Clone, Copy)]
pub(super) enum LdsAccess {
    /// Reads one or two bytes.
    ReadPart(Part),
    /// Writes one or two bytes.
    WritePart(Part),
    /// Reads dwords.
    Read(u8),
    /// Writes dwords.
    Write(u8),
    /// Reads two runs of dwords, OFFSET0 and OFFSET1 times `unit` bytes away.
    Read2 { dwords: u8, unit: u32 },
    /// Writes two runs of dwords.
    Write2 { dwords: u8, unit: u32 },
    /// Exchanges two runs of dwords.
    Exchange2 { dwords: u8, unit: u32 },
    /// Reads, modifies and writes one or two dwords; the old value goes to the destination if there is one.
    Atomic { modify: Modify, dwords: u8, data: Data },
    /// Adds an f32.
    AddFloat,
    /// Reads a dword at M0 plus four bytes a lane.
    ReadByLane,
    /// Writes a dword there.
    WriteByLane,
}

/// A part of a register: bytes, and for loads the sign and the half.
#[derive(Clone, Copy)]
pub(super) struct Part {
    bytes: u8,
    signed: bool,
    /// `None`: the whole register.
    high: Option<bool>,
}

/// Which data operand is the value and which the other one.
#[derive(Clone, Copy)]
pub(super) enum Data {
    /// DATA0, DATA1.
    Straight,
    /// DATA1, DATA0: compare and swap compares with the first.
    Crossed,
}

/// The two offsets of a DS instruction.
fn offsets(slot: &Slot) -> Result<(u8, u8), StopKind> {
    match slot.inst.mods {
        Mods::Ds { offset0, offset1, gds: false } => Ok((offset0, offset1)),
        Mods::Ds { .. } => Err(slot.form("gds")),
        _ => Err(slot.form("no offsets")),
    }
}

/// What one DS instruction accesses, the same in every lane but for the registers' contents.
struct Lds {
    offsets: (u8, u8),
    address: Option<u8>,
    data: [Option<u8>; 2],
    destination: Option<u8>,
    m0: u32,
}

/// Carries out an access in every active lane.
pub(super) fn run(m: &mut Machine<'_>, slot: &Slot, access: LdsAccess) -> Result<Flow, StopKind> {
    let lds = Lds {
        offsets: offsets(slot)?,
        address: slot.vector_source(0),
        data: [slot.vector_source(1), slot.vector_source(2)],
        destination: slot.vector_destination(),
        m0: m.wave.sgpr(crate::gfx10::sreg::M0),
    };
    for lane in lanes_of(m.wave.exec()) {
        lds.access(m, lane, access)?;
    }
    Ok(Flow::Next)
}

impl Lds {
    /// Offset of single-offset forms.
    fn offset(&self) -> u32 {
        u32::from(self.offsets.0) | u32::from(self.offsets.1) << 8
    }

    /// The place `offset` bytes from the lane's address.
    fn place(&self, m: &Machine<'_>, lane: usize, offset: u32) -> Place {
        let address = self.address.map_or(0, |number| m.wave.vgpr(number, lane));
        Place::Lds(address.wrapping_add(offset).into())
    }

    /// The places of the two runs of the two-offset forms.
    fn places(&self, m: &Machine<'_>, lane: usize, unit: u32) -> [Place; 2] {
        [self.offsets.0, self.offsets.1].map(|offset| self.place(m, lane, u32::from(offset) * unit))
    }

    /// Register `i` of a data operand.
    fn data(&self, m: &Machine<'_>, lane: usize, operand: usize, i: u8) -> u32 {
        self.data[operand].map_or(0, |first| m.wave.vgpr(first.wrapping_add(i), lane))
    }

    fn data_wide(&self, m: &Machine<'_>, lane: usize, operand: usize, dwords: u8) -> u64 {
        let low = self.data(m, lane, operand, 0);
        let high = if dwords == 2 { self.data(m, lane, operand, 1) } else { 0 };
        u64::from(low) | u64::from(high) << 32
    }

    fn set(&self, m: &mut Machine<'_>, lane: usize, i: u8, value: u32) {
        if let Some(first) = self.destination {
            m.wave.set_vgpr(first.wrapping_add(i), lane, value);
        }
    }

    fn access(&self, m: &mut Machine<'_>, lane: usize, access: LdsAccess) -> Result<(), StopKind> {
        let place = self.place(m, lane, self.offset());
        match access {
            LdsAccess::ReadPart(part) => self.read_part(m, lane, place, part),
            LdsAccess::WritePart(part) => self.write_part(m, lane, place, part),
            LdsAccess::Read(dwords) => self.read(m, lane, [place, place], dwords, 1),
            LdsAccess::Write(dwords) => self.write(m, lane, place, 0, dwords),
            LdsAccess::Read2 { dwords, unit } => {
                let places = self.places(m, lane, unit);
                self.read(m, lane, places, dwords, 2)
            }
            LdsAccess::Write2 { dwords, unit } => {
                let [first, second] = self.places(m, lane, unit);
                self.write(m, lane, first, 0, dwords)?;
                self.write(m, lane, second, 1, dwords)
            }
            LdsAccess::Exchange2 { dwords, unit } => self.exchange(m, lane, dwords, unit),
            LdsAccess::Atomic { modify, dwords, data } => self.atomic(m, lane, place, (modify, dwords, data)),
            LdsAccess::AddFloat => self.add_float(m, lane, place),
            LdsAccess::ReadByLane => {
                let place = self.by_lane(lane);
                self.read(m, lane, [place, place], 1, 1)
            }
            LdsAccess::WriteByLane => {
                let value = self.by_lane_data(m, lane);
                m.write(self.by_lane(lane), &value.to_le_bytes())
            }
        }
    }

    fn read_part(&self, m: &mut Machine<'_>, lane: usize, place: Place, part: Part) -> Result<(), StopKind> {
        let mut bytes = [0; 4];
        m.read(place, &mut bytes[..usize::from(part.bytes)])?;
        let (raw, unused) = (u32::from_le_bytes(bytes), 32 - 8 * u32::from(part.bytes));
        let value = if part.signed { ((raw << unused) as i32 >> unused) as u32 } else { raw };
        let Some(number) = self.destination else { return Ok(()) };
        let new = match part.high {
            None => value,
            Some(high) => insert_half(m.wave.vgpr(number, lane), value as u16, high),
        };
        m.wave.set_vgpr(number, lane, new);
        Ok(())
    }

    fn write_part(&self, m: &mut Machine<'_>, lane: usize, place: Place, part: Part) -> Result<(), StopKind> {
        let word = self.data(m, lane, 0, 0);
        let value = if part.high == Some(true) { word >> 16 } else { word };
        m.write(place, &value.to_le_bytes()[..usize::from(part.bytes)])
    }

    /// Reads `runs` runs of dwords into registers that follow each other.
    fn read(
        &self,
        m: &mut Machine<'_>,
        lane: usize,
        places: [Place; 2],
        dwords: u8,
        runs: usize,
    ) -> Result<(), StopKind> {
        let mut words = [0; 8];
        for (run, place) in places.into_iter().take(runs).enumerate() {
            for i in 0..usize::from(dwords) {
                words[(run * usize::from(dwords) + i) & 7] = m.read_u32(place.after(4 * i as u64))?;
            }
        }
        for (i, word) in words.iter().take(runs * usize::from(dwords)).enumerate() {
            self.set(m, lane, i as u8, *word);
        }
        Ok(())
    }

    fn write(
        &self,
        m: &mut Machine<'_>,
        lane: usize,
        place: Place,
        operand: usize,
        dwords: u8,
    ) -> Result<(), StopKind> {
        for i in 0..dwords {
            let word = self.data(m, lane, operand, i);
            m.write(place.after(4 * u64::from(i)), &word.to_le_bytes())?;
        }
        Ok(())
    }

    /// The first exchange is done before the second reads.
    fn exchange(&self, m: &mut Machine<'_>, lane: usize, dwords: u8, unit: u32) -> Result<(), StopKind> {
        let mut old = [0; 2];
        for (operand, place) in self.places(m, lane, unit).into_iter().enumerate() {
            let data = self.data_wide(m, lane, operand, dwords);
            old[operand] = m.atomic(place, 4 * u32::from(dwords), atomic::SWAP, data, 0)?;
        }
        for (i, value) in old.into_iter().enumerate() {
            self.set_wide(m, lane, i as u8 * dwords, value, dwords);
        }
        Ok(())
    }

    fn set_wide(&self, m: &mut Machine<'_>, lane: usize, first: u8, value: u64, dwords: u8) {
        self.set(m, lane, first, value as u32);
        if dwords == 2 {
            self.set(m, lane, first + 1, (value >> 32) as u32);
        }
    }

    fn atomic(
        &self,
        m: &mut Machine<'_>,
        lane: usize,
        place: Place,
        (modify, dwords, order): (Modify, u8, Data),
    ) -> Result<(), StopKind> {
        let first = self.data_wide(m, lane, 0, dwords);
        let second = self.data_wide(m, lane, 1, dwords);
        let (data, other) = match order {
            Data::Straight => (first, second),
            Data::Crossed => (second, first),
        };
        let old = m.atomic(place, 4 * u32::from(dwords), modify, data, other)?;
        self.set_wide(m, lane, 0, old, dwords);
        Ok(())
    }

    /// Adds as `v_add_f32` does in the wave's modes.
    fn add_float(&self, m: &mut Machine<'_>, lane: usize, place: Place) -> Result<(), StopKind> {
        let place = place.aligned(4)?;
        let old = m.read_u32(place)?;
        let data = self.data(m, lane, 0, 0);
        let mnemonic = Op::V_ADD_F32.name();
        let row = alu::vector_op(Op::V_ADD_F32).ok_or(StopKind::Unimplemented { mnemonic })?;
        let (mode, sources) = (Mode { bits: m.wave.mode }, [old.into(), data.into(), 0]);
        let sum = row.evaluate(&mode, sources, false, &VopMods::default()).value as u32;
        m.write(place, &sum.to_le_bytes())?;
        self.set(m, lane, 0, old);
        Ok(())
    }

    /// The place of the forms that take M0 and the lane number for an address.
    fn by_lane(&self, lane: usize) -> Place {
        let base = (self.m0 & 0xffff).wrapping_add(self.offset());
        Place::Lds(u64::from(base) + 4 * lane as u64)
    }

    /// Their data, in whichever place the instruction has it.
    fn by_lane_data(&self, m: &Machine<'_>, lane: usize) -> u32 {
        let register = self.data[0].or(self.address);
        register.map_or(0, |number| m.wave.vgpr(number, lane))
    }
}
