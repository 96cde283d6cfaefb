//! Guest memory as packet handlers reach it.

use super::context::Context;
use crate::{Origin, Refusal};

impl Context<'_> {
    /// Fills `into` from guest memory, after what programs are to store there has been stored.
    pub(crate) fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Refusal> {
        self.charge(into.len())?;
        self.flush()?;
        Ok(self.memory.read(address, into)?)
    }

    /// Reads one dword.
    pub(crate) fn read_u32(&mut self, address: u64) -> Result<u32, Refusal> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads one 64-bit word.
    pub(crate) fn read_u64(&mut self, address: u64) -> Result<u64, Refusal> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Fills `into` with dwords.
    pub(crate) fn read_words(&mut self, address: u64, into: &mut [u32]) -> Result<(), Refusal> {
        self.read(address, bytemuck::cast_slice_mut(into))?;
        into.iter_mut().for_each(|word| *word = u32::from_le(*word));
        Ok(())
    }

    /// Reads packet dwords, without waiting for programs: a window that they write to is read again.
    pub(crate) fn fetch(&mut self, address: u64, into: &mut [u32]) -> Result<(), Refusal> {
        self.memory.read(address, bytemuck::cast_slice_mut(into))?;
        for word in into {
            *word = u32::from_le(*word);
        }
        Ok(())
    }

    /// Writes guest memory, all or nothing, after everything before it.
    pub(crate) fn write(&mut self, at: Origin, address: u64, bytes: &[u8]) -> Result<(), Refusal> {
        self.charge(bytes.len())?;
        self.flush()?;
        self.memory.write(address, bytes)?;
        let address = crate::canonical(address);
        let range = address..address + bytes.len() as u64;
        self.windows.written(range.clone());
        self.report.work.bytes_written += bytes.len() as u64;
        if self.interest.work {
            self.observer.stored(at, range);
        }
        Ok(())
    }

    /// Writes dwords, as [`Context::write`] does.
    pub(crate) fn write_dwords(&mut self, at: Origin, address: u64, words: &[u32]) -> Result<(), Refusal> {
        let mut bytes = std::mem::take(&mut self.scratch.bytes);
        bytes.clear();
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        let result = self.write(at, address, &bytes);
        self.scratch.bytes = bytes;
        result
    }

    /// Counts bytes that packets move against the submission's limit.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), Refusal> {
        let limit = self.config.limits.bytes;
        self.moved = self.moved.saturating_add(bytes as u64);
        match self.moved > limit {
            true => Err(Refusal::TooManyBytes { limit }),
            false => Ok(()),
        }
    }
}
