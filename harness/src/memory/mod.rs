//! The guest memory that a capture describes: buffer objects and the addresses they are mapped at.
//!
//! Each buffer object is one contiguous allocation that never moves, however many addresses it is
//! mapped at, so aliases are exact and an executor may run on it in place. The allocation starts as untouched
//! zero pages of the host, so a large buffer object costs what is written to it.
//!
//! # Locks
//!
//! The address map is read-locked for the length of one access; its lock is always taken before a buffer object's, which
//! guards only the times of its pages. Bytes are atomic cells without a lock. Time is a counter that every write and every
//! question advances: a write stamps its pages after it, so a reader that asked for the moment before it read never
//! misses a write.

mod buffer;
mod cells;
pub(crate) mod map;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use guestwave_cp::{
    AccessKind, Generation, GuestMemory, HostSpan, MappingState, MemoryFault, MemoryId, Untouched, canonical,
};

use crate::capture::{BufferObject, DOMAIN_VRAM, PAGE_BYTES, Page, PageDiff, VA_WRITABLE, VaKind, VaOp};
use crate::codes::coded_errors;

pub use buffer::Buffer;
use map::{AddressMap, Backing, Mapping};

/// The most bytes that live buffer objects may have together.
pub const MAX_BUFFER_BYTES: u64 = 32 << 30;

coded_errors! {
    /// A capture whose memory operations contradict each other, or that asks for more than there is.
    MemoryError: MEMORY_ERRORS;
    /// A record names a buffer object that does not exist.
    Unknown { bo: u32 } = "HN-MEM-001", "buffer object {bo} does not exist";
    /// A buffer object is created twice.
    Exists { bo: u32 } = "HN-MEM-002", "buffer object {bo} exists already";
    /// The buffer objects do not fit the host.
    NoRoom { bo: u32, size: u64, limit: u64 } = "HN-MEM-003",
        "there is no room for buffer object {bo} of {size} bytes; all together may have {limit}";
    /// A record reaches past the end of a buffer object.
    Outside { bo: u32, size: u64, offset: u64, end: u64 } = "HN-MEM-004",
        "bytes {offset:#x} to {end:#x} are not all in buffer object {bo} of {size:#x} bytes";
    /// A mapping that is empty or leaves the 48-bit address space.
    BadRange { va: u64, size: u64 } = "HN-MEM-005", "{size:#x} bytes at {va:#x} are not a range of 48-bit addresses";
}

/// Guest memory made of buffer objects.
#[derive(Debug)]
pub struct CaptureMemory {
    id: MemoryId,
    buffers: RwLock<BTreeMap<u32, Arc<Buffer>>>,
    map: RwLock<AddressMap<Buffer>>,
    /// When which addresses changed their meaning.
    remaps: RwLock<Vec<(u64, Range<u64>)>>,
    /// How often addresses changed their meaning.
    changes: AtomicU64,
    clock: AtomicU64,
}

impl Default for CaptureMemory {
    fn default() -> Self {
        CaptureMemory {
            id: MemoryId::unique(),
            buffers: RwLock::default(),
            map: RwLock::default(),
            remaps: RwLock::default(),
            changes: AtomicU64::new(0),
            clock: AtomicU64::new(1),
        }
    }
}

/// A lock is only poisoned by a panic, and no critical section here leaves its data half changed.
pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl CaptureMemory {
    /// Memory without buffer objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a buffer object full of zeros.
    ///
    /// # Errors
    /// The number is taken, or there is no room.
    pub fn create(&self, bo: &BufferObject) -> Result<(), MemoryError> {
        let mut buffers = write(&self.buffers);
        if buffers.contains_key(&bo.bo) {
            return Err(MemoryError::Exists { bo: bo.bo });
        }
        let used = buffers.values().fold(0u64, |sum, b| sum.saturating_add(b.size));
        let fits = used.saturating_add(bo.size) <= MAX_BUFFER_BYTES;
        let buffer = fits.then(|| Buffer::new(bo)).flatten();
        let buffer =
            buffer.ok_or(MemoryError::NoRoom { bo: bo.bo, size: bo.size, limit: MAX_BUFFER_BYTES })?;
        buffers.insert(bo.bo, Arc::new(buffer));
        Ok(())
    }

    /// Frees a buffer object, unmaps it everywhere, and returns what it was.
    ///
    /// # Errors
    /// There is no such buffer object.
    pub fn free(&self, bo: u32) -> Result<Arc<Buffer>, MemoryError> {
        let buffer = write(&self.buffers).remove(&bo).ok_or(MemoryError::Unknown { bo })?;
        let gone = self.changing().remove(0..canonical(u64::MAX) + 1, Some(bo));
        self.remapped(gone);
        Ok(buffer)
    }

    /// Changes what addresses mean. Where a new mapping meets an old one the new one wins.
    ///
    /// # Errors
    /// No such buffer object, or a range that is not in it or not of addresses.
    pub fn va(&self, op: &VaOp) -> Result<(), MemoryError> {
        let start = canonical(op.va);
        let range = start..start.saturating_add(op.size);
        if op.size == 0 || range.end > canonical(u64::MAX) + 1 {
            return Err(MemoryError::BadRange { va: op.va, size: op.size });
        }
        match op.kind {
            VaKind::Unmap => drop(self.changing().remove(range.clone(), Some(op.bo))),
            VaKind::Clear => drop(self.changing().remove(range.clone(), None)),
            VaKind::Map | VaKind::Replace => self.map(op, range.clone())?,
        }
        self.remapped(vec![range]);
        Ok(())
    }

    fn map(&self, op: &VaOp, range: Range<u64>) -> Result<(), MemoryError> {
        let buffer = self.buffer(op.bo)?;
        buffer.check(op.offset, op.size)?;
        let writable = op.flags & VA_WRITABLE != 0;
        self.changing().insert(Mapping { range, buffer, offset: op.offset, writable });
        Ok(())
    }

    /// The map, to change it.
    fn changing(&self) -> RwLockWriteGuard<'_, AddressMap<Buffer>> {
        let map = write(&self.map);
        self.changes.fetch_add(1, Ordering::SeqCst);
        map
    }

    fn remapped(&self, ranges: Vec<Range<u64>>) {
        let now = self.now();
        write(&self.remaps).extend(ranges.into_iter().map(|r| (now, r)));
    }

    fn now(&self) -> u64 {
        self.clock.load(Ordering::SeqCst)
    }

    /// The buffer object of that number.
    ///
    /// # Errors
    /// There is none.
    pub fn buffer(&self, bo: u32) -> Result<Arc<Buffer>, MemoryError> {
        read(&self.buffers).get(&bo).cloned().ok_or(MemoryError::Unknown { bo })
    }

    /// All live buffer objects by number.
    pub fn buffers(&self) -> Vec<Arc<Buffer>> {
        read(&self.buffers).values().cloned().collect()
    }

    /// Makes a buffer object that begins with `contents`, maps `bytes` bytes of it (one at least) at `address`, and gives its
    /// number. The byte behind them is not mapped.
    ///
    /// # Errors
    /// There is no room, or the range is not one of addresses.
    pub fn place(
        &self,
        address: u64,
        bytes: u64,
        contents: &[u8],
        writable: bool,
    ) -> Result<u32, MemoryError> {
        let mapped = bytes.max(1);
        let size = mapped.checked_next_multiple_of(PAGE_BYTES as u64).unwrap_or(u64::MAX);
        let bo = read(&self.buffers).last_key_value().map_or(0, |(bo, _)| bo.saturating_add(1));
        self.create(&BufferObject { bo, handle: bo, size, domains: DOMAIN_VRAM, flags: 0, userptr: 0 })?;
        let flags = if writable { VA_WRITABLE } else { 0 };
        self.va(&VaOp { bo, kind: VaKind::Map, flags, va: address, offset: 0, size: mapped })?;
        self.fill(bo, 0, contents)?;
        Ok(bo)
    }

    /// Writes bytes of a buffer object, wherever it is mapped and whether or not the guest may store there.
    ///
    /// # Errors
    /// No such buffer object or bytes.
    pub fn fill(&self, bo: u32, offset: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.buffer(bo)?.write(offset, bytes, &self.clock)
    }

    /// Gives a page its contents.
    ///
    /// # Errors
    /// No such buffer object or page.
    pub fn set_page(&self, page: &Page) -> Result<(), MemoryError> {
        self.fill(page.bo, u64::from(page.page) * PAGE_BYTES as u64, page.data.as_slice())
    }

    /// Changes dwords of a page.
    ///
    /// # Errors
    /// No such buffer object or page; nothing is changed then.
    pub fn apply_diff(&self, diff: &PageDiff) -> Result<(), MemoryError> {
        let buffer = self.buffer(diff.bo)?;
        let start = u64::from(diff.page) * PAGE_BYTES as u64;
        buffer.check(start, PAGE_BYTES as u64)?;
        for run in &diff.runs {
            let bytes: Vec<u8> = run.words.iter().flat_map(|w| w.to_le_bytes()).collect();
            buffer.write(start + 4 * u64::from(run.first), &bytes, &self.clock)?;
        }
        Ok(())
    }

    /// The first address at which a byte of a buffer object is mapped.
    pub fn address_of(&self, bo: u32, offset: u64) -> Option<u64> {
        read(&self.map).address_of(bo, offset)
    }
}

impl Backing for Buffer {
    fn number(&self) -> u32 {
        self.bo
    }
}

impl Mapping<Buffer> {
    /// Addresses whose pages were written after `since`.
    fn changed(&self, since: u64, changed: &mut dyn FnMut(Range<u64>)) {
        self.buffer.changed(since, self.bytes(), &mut |r| changed(self.addresses(r)));
    }
}

impl GuestMemory for CaptureMemory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let map = read(&self.map);
        if let Some((mapping, at)) = map.whole(address, into.len() as u64, AccessKind::Read) {
            mapping.buffer.copy_out(at, into);
            return Ok(());
        }
        for piece in map.pieces(address, into.len() as u64, AccessKind::Read)? {
            piece.mapping.buffer.copy_out(piece.offset(), &mut into[piece.places()]);
        }
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let map = read(&self.map);
        if let Some((mapping, at)) = map.whole(address, bytes.len() as u64, AccessKind::Write) {
            mapping.buffer.copy_in(at, bytes, &self.clock);
            return Ok(());
        }
        for piece in map.pieces(address, bytes.len() as u64, AccessKind::Write)? {
            piece.mapping.buffer.copy_in(piece.offset(), &bytes[piece.places()], &self.clock);
        }
        Ok(())
    }

    fn write_since(
        &self,
        address: u64,
        bytes: &[u8],
        since: Generation,
    ) -> Result<Option<Untouched>, MemoryFault> {
        let map = read(&self.map);
        let pieces: Vec<_> = map.pieces(address, bytes.len() as u64, AccessKind::Write)?.collect();
        let [piece] = &pieces[..] else {
            drop(pieces);
            drop(map);
            return self.write(address, bytes).map(|()| None);
        };
        let written = piece.mapping.buffer.copy_in_since(piece.offset(), bytes, &self.clock, since.0);
        let remapped = read(&self.remaps).iter().any(|(when, _)| *when > since.0);
        Ok(written.filter(|_| !remapped).map(|(until, pages)| {
            let mapped = piece.mapping.bytes();
            let pages = pages.start.max(mapped.start)..pages.end.min(mapped.end);
            Untouched { range: piece.mapping.addresses(pages), until: Generation(until) }
        }))
    }

    fn check(&self, address: u64, size: u64, kind: AccessKind) -> Result<(), MemoryFault> {
        read(&self.map).pieces(address, size, kind).map(drop)
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        read(&self.map).extent(canonical(address))
    }

    fn id(&self) -> Option<MemoryId> {
        Some(self.id)
    }

    fn mappings(&self) -> Option<MappingState> {
        Some(MappingState { memory: self.id, changes: self.changes.load(Ordering::SeqCst) })
    }

    fn generation(&self) -> Generation {
        Generation(self.clock.fetch_add(1, Ordering::SeqCst))
    }

    fn changed_since(&self, since: Generation, changed: &mut dyn FnMut(Range<u64>)) -> Generation {
        let now = self.generation();
        for (when, range) in read(&self.remaps).iter() {
            if *when > since.0 {
                changed(range.clone());
            }
        }
        for mapping in read(&self.map).iter() {
            mapping.changed(since.0, changed);
        }
        now
    }

    fn host_span(&self, address: u64) -> Option<HostSpan> {
        let map = read(&self.map);
        let mapping = map.find(canonical(address))?;
        Some(HostSpan {
            guest: mapping.range.start,
            host: mapping.buffer.host(mapping.offset)?,
            len: mapping.range.end - mapping.range.start,
            writable: mapping.writable,
        })
    }

    fn wrote_in_place(&self, range: Range<u64>) {
        let map = read(&self.map);
        let len = range.end.saturating_sub(range.start);
        if let Some((mapping, at)) = map.whole(range.start, len, AccessKind::Write) {
            mapping.buffer.touch(at..at + len, &self.clock);
            return;
        }
        // What is not mapped was not written either.
        for piece in map.pieces(range.start, len, AccessKind::Write).into_iter().flatten() {
            let bytes = piece.offset()..piece.offset() + piece.places().len() as u64;
            piece.mapping.buffer.touch(bytes, &self.clock);
        }
    }
}

#[cfg(test)]
mod tests;
