//! Guest memory of the tests: mapped ranges, change tracking, writes that are remembered.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use guestwave_cp::{AccessKind, Generation, GuestMemory, MemoryFault, MemoryId, Untouched};

/// Guest memory.
pub(crate) struct Memory(Mutex<Inner>, MemoryId);

impl Default for Memory {
    fn default() -> Self {
        Memory(Mutex::default(), MemoryId::unique())
    }
}

#[derive(Clone, Default)]
struct Inner {
    /// First address and bytes of each mapping.
    mappings: BTreeMap<u64, Vec<u8>>,
    /// Ranges written, in order; its length is the generation.
    writes: Vec<Range<u64>>,
    bytes_read: u64,
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        Memory(Mutex::new(self.0.lock().unwrap().clone()), MemoryId::unique())
    }
}

impl Inner {
    fn place(&mut self, address: u64, len: u64) -> Option<&mut [u8]> {
        let (start, bytes) = self.mappings.range_mut(..=address).next_back()?;
        let at = usize::try_from(address - start).ok()?;
        bytes.get_mut(at..at.checked_add(len as usize)?)
    }
}

impl Memory {
    /// Maps bytes.
    pub(crate) fn map(self, address: u64, bytes: Vec<u8>) -> Self {
        self.0.lock().unwrap().mappings.insert(address, bytes);
        self
    }

    /// The bytes from `address` on.
    pub(crate) fn bytes(&self, address: u64, len: usize) -> Vec<u8> {
        let mut into = vec![0; len];
        self.read(address, &mut into).unwrap();
        into
    }

    /// A word.
    pub(crate) fn word(&self, address: u64) -> u32 {
        u32::from_le_bytes(self.bytes(address, 4).try_into().unwrap())
    }

    /// Bytes read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.0.lock().unwrap().bytes_read
    }

    /// All bytes of all mappings.
    pub(crate) fn all(&self) -> BTreeMap<u64, Vec<u8>> {
        self.0.lock().unwrap().mappings.clone()
    }

    /// Ranges written so far, joined where they touch.
    pub(crate) fn written(&self) -> Vec<Range<u64>> {
        let mut writes = self.0.lock().unwrap().writes.clone();
        writes.sort_by_key(|r| r.start);
        let mut joined: Vec<Range<u64>> = Vec::new();
        for w in writes {
            match joined.last_mut() {
                Some(last) if w.start <= last.end => last.end = last.end.max(w.end),
                _ => joined.push(w),
            }
        }
        joined
    }
}

impl GuestMemory for Memory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let fault = MemoryFault { address, size: into.len() as u64, kind: AccessKind::Read };
        let mut inner = self.0.lock().unwrap();
        into.copy_from_slice(inner.place(address, into.len() as u64).ok_or(fault)?);
        inner.bytes_read += into.len() as u64;
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let fault = MemoryFault { address, size: bytes.len() as u64, kind: AccessKind::Write };
        let mut inner = self.0.lock().unwrap();
        inner.place(address, bytes.len() as u64).ok_or(fault)?.copy_from_slice(bytes);
        inner.writes.push(address..address + bytes.len() as u64);
        Ok(())
    }

    fn write_since(
        &self,
        address: u64,
        bytes: &[u8],
        since: Generation,
    ) -> Result<Option<Untouched>, MemoryFault> {
        let range = address..address + bytes.len() as u64;
        let meets = |w: &Range<u64>| w.start < range.end && range.start < w.end;
        let alone = !self.0.lock().unwrap().writes.iter().skip(since.0 as usize).any(meets);
        self.write(address, bytes)?;
        Ok(alone.then(|| Untouched { range, until: self.generation() }))
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        let inner = self.0.lock().unwrap();
        let (start, bytes) = inner.mappings.range(..=address).next_back()?;
        let range = *start..start + bytes.len() as u64;
        range.contains(&address).then_some(range)
    }

    fn id(&self) -> Option<MemoryId> {
        Some(self.1)
    }

    fn generation(&self) -> Generation {
        Generation(self.0.lock().unwrap().writes.len() as u64)
    }

    fn changed_since(&self, since: Generation, changed: &mut dyn FnMut(Range<u64>)) -> Generation {
        let inner = self.0.lock().unwrap();
        inner.writes.iter().skip(since.0 as usize).cloned().for_each(changed);
        Generation(inner.writes.len() as u64)
    }
}
