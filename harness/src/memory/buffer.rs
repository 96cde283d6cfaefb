//! One buffer object: its bytes and when each page was last written.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cells::Cells;
use super::{MemoryError, read, write};
use crate::capture::{BufferObject, PAGE_BYTES};

/// A buffer object.
pub struct Buffer {
    /// Its number.
    pub bo: u32,
    /// Bytes, a multiple of the page size.
    pub size: u64,
    /// Memory domains, see [`BufferObject::domains`].
    pub domains: u64,
    bytes: Cells,
    stamps: RwLock<Stamps>,
}

struct Stamps {
    /// When each page was last written, 0 for never.
    pages: Box<[u64]>,
    /// The latest of them.
    latest: u64,
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer {{ bo: {}, size: {:#x} }}", self.bo, self.size)
    }
}

fn pages_of(bytes: &Range<usize>) -> Range<usize> {
    bytes.start / PAGE_BYTES..bytes.end.div_ceil(PAGE_BYTES)
}

impl Buffer {
    /// A buffer object of zeros, `None` if the host has no room.
    pub(super) fn new(bo: &BufferObject) -> Option<Buffer> {
        let pages = usize::try_from(bo.size.div_ceil(PAGE_BYTES as u64)).ok()?;
        let bytes = Cells::new(pages * PAGE_BYTES)?;
        let stamps = Stamps { pages: bytemuck::try_zeroed_slice_box(pages).ok()?, latest: 0 };
        let size = (pages * PAGE_BYTES) as u64;
        Some(Buffer { bo: bo.bo, size, domains: bo.domains, bytes, stamps: RwLock::new(stamps) })
    }

    /// Whether `len` bytes from `offset` are in the buffer object.
    pub(super) fn check(&self, offset: u64, len: u64) -> Result<(), MemoryError> {
        let end = offset.saturating_add(len);
        match end <= self.size {
            true => Ok(()),
            false => Err(MemoryError::Outside { bo: self.bo, size: self.size, offset, end }),
        }
    }

    /// Fills `into` from `offset`.
    ///
    /// # Errors
    /// The range is not in the buffer object.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        self.check(offset, into.len() as u64)?;
        self.copy_out(offset, into);
        Ok(())
    }

    /// Writes `bytes` at `offset` at the moment that `clock` shows.
    pub(super) fn write(&self, offset: u64, bytes: &[u8], clock: &AtomicU64) -> Result<(), MemoryError> {
        self.check(offset, bytes.len() as u64)?;
        self.copy_in(offset, bytes, clock);
        Ok(())
    }

    /// As [`Buffer::read`] for a range that is known to be inside.
    pub(super) fn copy_out(&self, offset: u64, into: &mut [u8]) {
        self.bytes.read(offset as usize, into);
    }

    /// As [`Buffer::write`] for a range that is known to be inside.
    pub(super) fn copy_in(&self, offset: u64, bytes: &[u8], clock: &AtomicU64) {
        self.bytes.write(offset as usize, bytes);
        self.touch(offset..offset + bytes.len() as u64, clock);
    }

    /// As [`Buffer::copy_in`]; if nothing else wrote to the pages after `since`, gives the moment and the pages' bytes.
    pub(super) fn copy_in_since(
        &self,
        offset: u64,
        bytes: &[u8],
        clock: &AtomicU64,
        since: u64,
    ) -> Option<(u64, Range<u64>)> {
        self.bytes.write(offset as usize, bytes);
        let written = offset..offset + bytes.len() as u64;
        let (before, now) = self.touch(written.clone(), clock);
        let pages = written.start / PAGE_BYTES as u64..written.end.div_ceil(PAGE_BYTES as u64);
        let bytes = pages.start * PAGE_BYTES as u64..pages.end * PAGE_BYTES as u64;
        (before <= since).then_some((now, bytes))
    }

    /// Notes that bytes have been written. Whoever took the time before they were is told of them later. Gives when the last
    /// write to their pages was before, and the time now.
    pub(super) fn touch(&self, bytes: Range<u64>, clock: &AtomicU64) -> (u64, u64) {
        let stamps = &mut *write(&self.stamps);
        let now = clock.fetch_add(1, Ordering::SeqCst);
        let mut before = 0;
        if let Some(pages) = stamps.pages.get_mut(pages_of(&(bytes.start as usize..bytes.end as usize))) {
            before = pages.iter().max().copied().unwrap_or(0);
            pages.fill(now);
            stamps.latest = now;
        }
        (before, now)
    }

    /// Where byte `offset` lies; the others follow it.
    pub(super) fn host(&self, offset: u64) -> Option<NonNull<u8>> {
        self.bytes.host(offset as usize)
    }

    /// Calls `visit` with all bytes.
    pub fn with_bytes<R>(&self, visit: impl FnOnce(&[u8]) -> R) -> R {
        visit(&self.part(0..self.size as usize))
    }

    fn part(&self, range: Range<usize>) -> Vec<u8> {
        let mut bytes = vec![0; range.len()];
        self.bytes.read(range.start, &mut bytes);
        bytes
    }

    /// The runs of pages that were ever written, as byte ranges, with their bytes.
    pub fn written(&self, mut visit: impl FnMut(Range<u64>, &[u8])) {
        let stamps = read(&self.stamps);
        for pages in runs(&stamps.pages, |s| s != 0) {
            let bytes = pages.start * PAGE_BYTES..pages.end * PAGE_BYTES;
            visit(bytes.start as u64..bytes.end as u64, &self.part(bytes.clone()));
        }
    }

    /// When the latest write to a page of `bytes` was, 0 for never or for a range outside.
    pub fn stamp(&self, bytes: Range<u64>) -> u64 {
        let pages = pages_of(&(bytes.start as usize..bytes.end as usize));
        read(&self.stamps).pages.get(pages).and_then(|s| s.iter().max().copied()).unwrap_or(0)
    }

    /// Byte ranges within `bytes` whose pages were written after `since`.
    pub(super) fn changed(&self, since: u64, bytes: Range<u64>, changed: &mut dyn FnMut(Range<u64>)) {
        let stamps = read(&self.stamps);
        if stamps.latest <= since {
            return;
        }
        let pages = pages_of(&(bytes.start as usize..bytes.end as usize));
        for run in runs(&stamps.pages[pages.clone()], |s| s > since) {
            let start = ((pages.start + run.start) * PAGE_BYTES) as u64;
            let end = ((pages.start + run.end) * PAGE_BYTES) as u64;
            changed(start.max(bytes.start)..end.min(bytes.end));
        }
    }
}

/// The maximal runs of stamps that `wanted` picks.
fn runs(stamps: &[u64], wanted: impl Fn(u64) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + stamps[at..].iter().position(|s| wanted(*s))?;
        let len = stamps[start..].iter().position(|s| !wanted(*s)).unwrap_or(stamps.len() - start);
        at = start + len;
        Some(start..at)
    })
}
