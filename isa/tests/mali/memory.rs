//! Captured memory as a bus.

use std::collections::BTreeMap;

use guestwave_isa::mali::valhall::interp::{Bus, BusFault};

/// Segments of memory by their first address.
pub(crate) struct Captured {
    segments: BTreeMap<u64, Vec<u8>>,
}

impl Captured {
    /// Reads `segment ADDRESS len BYTES` lines and `ADDRESS: bytes` lines; what is not listed is zero.
    pub(crate) fn read(text: &str) -> Captured {
        let mut memory = Captured { segments: BTreeMap::new() };
        let address = |t: &str| u64::from_str_radix(t, 16).unwrap_or_default();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["segment", at, "len", bytes] => memory.map(address(at), bytes.parse().unwrap_or(0)),
                [at, bytes @ ..] => {
                    let bytes: Vec<u8> =
                        bytes.iter().filter_map(|b| u8::from_str_radix(b, 16).ok()).collect();
                    let stored = memory.store(address(at.trim_end_matches(':')), &bytes);
                    assert!(stored.is_ok(), "{line}");
                }
                [] => {}
            }
        }
        memory
    }

    /// Maps zeros.
    pub(crate) fn map(&mut self, address: u64, bytes: usize) {
        self.segments.insert(address, vec![0; bytes]);
    }

    /// Words at an address.
    pub(crate) fn words(&mut self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        let loaded = self.load(address, &mut bytes);
        assert!(loaded.is_ok(), "{address:#x}");
        bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }

    fn slice(&mut self, address: u64, len: usize, write: bool) -> Result<&mut [u8], BusFault> {
        let fault = BusFault { address, size: len as u32, write };
        let (start, bytes) = self.segments.range_mut(..=address).next_back().ok_or(fault)?;
        let from = (address - start) as usize;
        bytes.get_mut(from..from + len).ok_or(fault)
    }
}

impl Bus for Captured {
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), BusFault> {
        into.copy_from_slice(self.slice(address, into.len(), false)?);
        Ok(())
    }

    fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusFault> {
        self.slice(address, bytes.len(), true)?.copy_from_slice(bytes);
        Ok(())
    }
}
