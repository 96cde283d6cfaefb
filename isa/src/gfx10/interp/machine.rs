//! What an executing instruction can reach: one wave, its group's LDS, and memory.

use super::wave::Wave;
use super::{Bus, ProgramInfo, StopKind, WaveOutcome};

/// Where a wave goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// At the next instruction.
    Next,
    /// At an address.
    Jump(u64),
    /// At the next instruction, once every wave of the group has arrived.
    Barrier,
    /// At the next instruction, with code fetched anew.
    Refetch,
    /// Nowhere: the wave has ended.
    End,
}

/// A running wave and its surroundings.
pub(super) struct Machine<'a> {
    pub wave: &'a mut Wave,
    pub outcome: &'a mut WaveOutcome,
    pub lds: &'a mut [u8],
    pub bus: &'a mut dyn Bus,
    pub info: &'a ProgramInfo,
    /// Instructions that the group has executed.
    pub executed: u64,
    /// Address of the instruction after the current one.
    pub next_pc: u64,
}

/// Bits of a guest address that count.
pub(super) const ADDRESS_BITS: u64 = 0xffff_ffff_ffff;

/// Where some bytes lie that a lane reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Guest memory, by address.
    Guest(u64),
    /// The group's LDS, by byte. What lies past its end reads as 0 and is not written.
    Lds(u64),
    /// A lane's scratch, by byte.
    Scratch { lane: usize, offset: u64 },
    /// Out of a buffer's bounds: reads as 0, is not written.
    Nowhere,
}

impl Place {
    /// The place `bytes` further on.
    pub(super) fn after(self, bytes: u64) -> Place {
        match self {
            Place::Guest(address) => Place::Guest(address.wrapping_add(bytes) & ADDRESS_BITS),
            Place::Lds(address) => Place::Lds(address.wrapping_add(bytes)),
            Place::Scratch { lane, offset } => Place::Scratch { lane, offset: offset.wrapping_add(bytes) },
            Place::Nowhere => Place::Nowhere,
        }
    }

    /// A place in guest memory; the address is cut to the bits that count.
    pub(super) fn guest(address: u64) -> Place {
        Place::Guest(address & ADDRESS_BITS)
    }

    /// The number that an alignment is judged by.
    fn position(self) -> u64 {
        match self {
            Place::Guest(address) | Place::Lds(address) => address,
            Place::Scratch { offset, .. } => offset,
            Place::Nowhere => 0,
        }
    }

    /// Refuses a place that is not a multiple of `size`.
    pub(super) fn aligned(self, size: u32) -> Result<Place, StopKind> {
        match self.position() % u64::from(size.max(1)) {
            0 => Ok(self),
            _ => Err(StopKind::Misaligned { address: self.position(), size }),
        }
    }
}

impl Machine<'_> {
    /// Reads bytes.
    pub(super) fn read(&mut self, place: Place, into: &mut [u8]) -> Result<(), StopKind> {
        match place {
            Place::Guest(address) => self.bus.load(address, into)?,
            Place::Lds(address) => match range(self.lds.len(), address, into.len()) {
                Some(range) => into.copy_from_slice(&self.lds[range]),
                None => into.fill(0),
            },
            Place::Scratch { lane, offset } => {
                let range = self.scratch_range(lane, offset, into.len())?;
                into.copy_from_slice(&self.wave.scratch[range]);
            }
            Place::Nowhere => into.fill(0),
        }
        Ok(())
    }

    /// Writes bytes.
    pub(super) fn write(&mut self, place: Place, bytes: &[u8]) -> Result<(), StopKind> {
        match place {
            Place::Guest(address) => self.bus.store(address, bytes)?,
            Place::Lds(address) => {
                if let Some(range) = range(self.lds.len(), address, bytes.len()) {
                    self.lds[range].copy_from_slice(bytes);
                }
            }
            Place::Scratch { lane, offset } => {
                let range = self.scratch_range(lane, offset, bytes.len())?;
                self.wave.scratch[range].copy_from_slice(bytes);
            }
            Place::Nowhere => {}
        }
        Ok(())
    }

    /// The bytes of the wave's scratch behind a lane's bytes.
    fn scratch_range(
        &mut self,
        lane: usize,
        offset: u64,
        len: usize,
    ) -> Result<std::ops::Range<usize>, StopKind> {
        let bytes = self.info.scratch_bytes;
        let within = range(bytes as usize, offset, len).ok_or(StopKind::ScratchFault { offset, bytes })?;
        let total = self.wave.lanes().saturating_mul(bytes as usize);
        if self.wave.scratch.len() < total {
            self.wave.scratch.resize(total, 0);
        }
        let base = lane.saturating_mul(bytes as usize);
        Ok(base + within.start..base + within.end)
    }

    /// Reads a little-endian dword.
    pub(super) fn read_u32(&mut self, place: Place) -> Result<u32, StopKind> {
        let mut bytes = [0; 4];
        self.read(place, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }
}

/// The range of `len` bytes from `start` if it lies within `size` bytes.
fn range(size: usize, start: u64, len: usize) -> Option<std::ops::Range<usize>> {
    let end = start.checked_add(len as u64)?;
    (end <= size as u64).then_some(start as usize..end as usize)
}
