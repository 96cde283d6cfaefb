//! The memory of all buffer objects: one file that this process maps whole and programs map in parts.
//!
//! # Safety invariants
//!
//! 1. `base .. base + bytes` stays mapped, readable and writable, for the life of a [`MemoryFile`]. The file is never made
//!    shorter; a page of a hole is a page of zeros.
//! 2. Every access is checked against `bytes` first.
//! 3. Programs write the same pages at any time. No reference to the bytes is ever made, only copies through raw pointers,
//!    and whatever is copied out is plain data without invalid values.
#![expect(
    unsafe_code,
    reason = "memory shared with another process can only be reached through raw pointers"
)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, MemfdFlags, SeekFrom, fallocate, memfd_create, seek};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The file and where it is mapped.
#[derive(Debug)]
pub(super) struct MemoryFile {
    file: File,
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to no thread; accesses are copies, which invariant 3 allows at any time.
unsafe impl Send for MemoryFile {}
// SAFETY: as above.
unsafe impl Sync for MemoryFile {}

impl MemoryFile {
    /// A file of so many bytes, all holes.
    ///
    /// # Errors
    /// The host has no such address range, or no memory files.
    pub(super) fn new(bytes: usize) -> io::Result<MemoryFile> {
        let file = File::from(memfd_create("guestwave-memory", MemfdFlags::CLOEXEC)?);
        file.set_len(bytes as u64)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let base = unsafe { mmap(std::ptr::null_mut(), bytes, protection, flags, &file, 0) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(MemoryFile { file, base, bytes })
    }

    /// Its descriptor in this process.
    pub(super) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Where a range lies, if it is in the file.
    pub(super) fn place(&self, range: Range<u64>) -> Option<NonNull<u8>> {
        let inside = range.start <= range.end && range.end <= self.bytes as u64;
        // SAFETY: the offset is inside the mapping or just behind it.
        inside.then(|| unsafe { self.base.add(range.start as usize) })
    }

    /// Fills `into` from `offset`; nothing if that is not in the file.
    pub(super) fn read(&self, offset: u64, into: &mut [u8]) {
        if let Some(from) = self.place(offset..offset.saturating_add(into.len() as u64)) {
            // SAFETY: `place` checked the range; `into` is memory of this process and not of the file.
            unsafe { into.as_mut_ptr().copy_from_nonoverlapping(from.as_ptr(), into.len()) };
        }
    }

    /// Writes `bytes` at `offset`; nothing if that is not in the file.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) {
        if let Some(to) = self.place(offset..offset.saturating_add(bytes.len() as u64)) {
            // SAFETY: as in `read`.
            unsafe { to.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
    }

    /// Writes a word that the program polls, after everything that was written before. The offset is a multiple of 8.
    pub(super) fn publish(&self, offset: u64, value: u64) {
        let place = self.place(offset..offset.saturating_add(8)).filter(|_| offset.is_multiple_of(8));
        if let Some(to) = place {
            // SAFETY: `place` checked the range, the mapping is page-aligned, and others access the word atomically too.
            unsafe { AtomicU64::from_ptr(to.as_ptr().cast()) }.store(value.to_le(), Ordering::Release);
        }
    }

    /// Gives the pages of a range back; they are zeros from now on.
    pub(super) fn discard(&self, range: Range<u64>) -> io::Result<()> {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(fallocate(&self.file, hole, range.start, range.end.saturating_sub(range.start))?)
    }

    /// The first run of pages in `range` that are not holes.
    pub(super) fn data(&self, range: Range<u64>) -> Option<Range<u64>> {
        let start = seek(&self.file, SeekFrom::Data(range.start)).ok().filter(|at| *at < range.end)?;
        let end = seek(&self.file, SeekFrom::Hole(start)).unwrap_or(range.end);
        Some(start.max(range.start)..end.min(range.end))
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own, and nothing points into it any more: spans borrow what holds it.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_zeros_and_cost_nothing() {
        let file = MemoryFile::new(1 << 36).unwrap();
        assert_eq!(file.data(0..1 << 36), None);
        file.write(0x5ff8, &[7; 16]);
        assert_eq!(file.data(0..1 << 36), Some(0x5000..0x7000));
        let mut bytes = [1; 4];
        file.read(0x5ff4, &mut bytes);
        assert_eq!(bytes, [0; 4]);
        file.publish(0x6008, 9);
        file.discard(0x5000..0x6000).unwrap();
        assert_eq!(file.data(0..1 << 36), Some(0x6000..0x7000));
        file.read(0x6006, &mut bytes);
        assert_eq!(bytes, [7, 7, 9, 0]);
    }

    #[test]
    fn nothing_outside_is_reached() {
        let file = MemoryFile::new(4096).unwrap();
        assert!(file.place(4096..4096).is_some());
        assert!(file.place(4095..4097).is_none());
        file.write(4090, &[1; 8]);
        file.publish(u64::MAX - 7, 1);
        file.publish(4, 1);
        let mut bytes = [3; 8];
        file.read(u64::MAX, &mut bytes);
        assert_eq!(bytes, [3; 8]);
        assert_eq!(file.data(0..4096), None);
    }
}
