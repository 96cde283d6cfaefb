//! Sparse memory for tests.

use guestwave_isa::gfx10::interp::{Bus, BusFault};

/// Mapped ranges; everything else faults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub ranges: Vec<(u64, Vec<u8>)>,
}

impl Memory {
    pub(crate) fn map(&mut self, address: u64, bytes: Vec<u8>) {
        self.ranges.push((address, bytes));
    }

    fn slice(&mut self, address: u64, len: usize) -> Option<&mut [u8]> {
        self.ranges.iter_mut().find_map(|(start, bytes)| {
            let from = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get_mut(from..from.checked_add(len)?)
        })
    }
}

impl Bus for Memory {
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), BusFault> {
        let fault = BusFault { address, size: into.len() as u32, write: false };
        into.copy_from_slice(self.slice(address, into.len()).ok_or(fault)?);
        Ok(())
    }

    fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusFault> {
        let fault = BusFault { address, size: bytes.len() as u32, write: true };
        self.slice(address, bytes.len()).ok_or(fault)?.copy_from_slice(bytes);
        Ok(())
    }
}
