//! Guest memory of some words.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use guestwave_cp::{AccessKind, Generation, GuestMemory, MemoryFault};

/// Words at an address.
pub(super) struct Words {
    base: u64,
    bytes: Mutex<Vec<u8>>,
}

impl Words {
    pub(super) fn new(base: u64, words: Vec<u32>) -> Self {
        let bytes = words.into_iter().flat_map(u32::to_le_bytes).collect();
        Words { base, bytes: Mutex::new(bytes) }
    }

    pub(super) fn into_words(self) -> Vec<u32> {
        let bytes = self.bytes.into_inner().unwrap_or_else(PoisonError::into_inner);
        bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }

    /// Does something with the bytes of a range.
    fn with(
        &self,
        (address, size, kind): (u64, usize, AccessKind),
        what: impl FnOnce(&mut [u8]),
    ) -> Result<(), MemoryFault> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(address.wrapping_sub(self.base)).ok();
        let place = start.and_then(|s| bytes.get_mut(s..s.checked_add(size)?));
        place.map(what).ok_or(MemoryFault { address, size: size as u64, kind })
    }
}

impl GuestMemory for Words {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        self.with((address, into.len(), AccessKind::Read), |bytes| into.copy_from_slice(bytes))
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        self.with((address, bytes.len(), AccessKind::Write), |place| place.copy_from_slice(bytes))
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        let len = self.bytes.lock().unwrap_or_else(PoisonError::into_inner).len() as u64;
        let all = self.base..self.base + len;
        all.contains(&address).then_some(all)
    }

    fn generation(&self) -> Generation {
        Generation::default()
    }

    fn changed_since(&self, since: Generation, _: &mut dyn FnMut(Range<u64>)) -> Generation {
        since
    }
}
