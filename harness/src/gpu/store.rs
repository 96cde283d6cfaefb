//! Buffer objects and the memory that they are made of.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use super::kernel::Metadata;
use super::lock;
use super::progress::Fence;
use super::sys::MemoryFile;
use crate::capture::{DOMAIN_VRAM, PAGE_BYTES};
use crate::memory::map::Backing;

/// Bytes of the memory file. It is mostly holes; ranges are used again only when all of it has been used once, so that a stale
/// mapping of a freed buffer object meets no other one for a long time.
const FILE_BYTES: u64 = 1 << 40;

/// The most bytes that live buffer objects may have, unless the host has less to give.
const MOST_BYTES: u64 = 8 << 30;

/// What a program asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Bytes.
    pub(super) size: u64,
    /// Memory domains.
    pub(super) domains: u64,
    /// Creation flags.
    pub(super) flags: u64,
    /// Alignment, only told back.
    pub(super) alignment: u64,
}

/// Hands out the memory of buffer objects.
#[derive(Debug)]
pub(super) struct Store {
    memory: Arc<MemoryFile>,
    limit: u64,
    ranges: Mutex<Ranges>,
    made: AtomicU32,
}

/// Which parts of the file are in use.
#[derive(Debug, Default)]
struct Ranges {
    /// Start and end.
    used: BTreeMap<u64, u64>,
    /// Where the search for room begins.
    next: u64,
    /// Bytes in use, in host memory and in video memory.
    bytes: [u64; 2],
}

impl Ranges {
    /// Room for `size` bytes at or after `from`.
    fn room(&self, from: u64, size: u64) -> Option<u64> {
        let mut at = self.used.range(..from).next_back().map_or(from, |(_, end)| (*end).max(from));
        for (start, end) in self.used.range(from..) {
            if start - at >= size {
                break;
            }
            at = *end;
        }
        (at.checked_add(size)? <= FILE_BYTES).then_some(at)
    }

    fn take(&mut self, size: u64, heap: usize, limit: u64) -> Option<u64> {
        let total = self.bytes[0].saturating_add(self.bytes[1]).saturating_add(size);
        if size == 0 || total > limit {
            return None;
        }
        let start = self.room(self.next, size).or_else(|| self.room(0, size))?;
        self.used.insert(start, start + size);
        self.next = start + size;
        self.bytes[heap] += size;
        Some(start)
    }
}

/// 0 host memory, 1 video memory.
fn heap(domains: u64) -> usize {
    usize::from(domains & DOMAIN_VRAM != 0)
}

impl Store {
    /// A store that may use half of what the host has free, and [`MOST_BYTES`] at most.
    ///
    /// # Errors
    /// The host has no memory files.
    pub(super) fn new() -> io::Result<Arc<Store>> {
        let free = available().unwrap_or(MOST_BYTES);
        Self::with_limit((free / 2).min(MOST_BYTES))
    }

    /// A store of so many bytes.
    ///
    /// # Errors
    /// The host has no memory files.
    pub(super) fn with_limit(limit: u64) -> io::Result<Arc<Store>> {
        let memory = Arc::new(MemoryFile::new(FILE_BYTES as usize)?);
        Ok(Arc::new(Store { memory, limit, ranges: Mutex::default(), made: AtomicU32::new(0) }))
    }

    /// The file.
    pub(super) fn memory(&self) -> &Arc<MemoryFile> {
        &self.memory
    }

    /// Bytes that live buffer objects may have.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes in use, in host memory and in video memory.
    pub(super) fn used(&self) -> [u64; 2] {
        lock(&self.ranges).bytes
    }

    /// A buffer object of zeros, or `None` if there is no room.
    pub(super) fn create(self: &Arc<Self>, wanted: &Wanted) -> Option<Arc<Bo>> {
        let size = wanted.size.checked_next_multiple_of(PAGE_BYTES as u64)?;
        let start = lock(&self.ranges).take(size, heap(wanted.domains), self.limit)?;
        // A program may have written through a mapping that it kept.
        let _ = self.memory.discard(start..start + size);
        Some(Arc::new(Bo {
            number: self.made.fetch_add(1, Ordering::Relaxed) + 1,
            start,
            size,
            wanted: *wanted,
            metadata: Mutex::default(),
            busy: Mutex::default(),
            store: Arc::clone(self),
        }))
    }
}

/// Bytes that the host could give to programs.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// A buffer object. Its memory is given back when the last handle, mapping, export and submission is done with it.
#[derive(Debug)]
pub(super) struct Bo {
    /// Its number, never used again.
    pub(super) number: u32,
    start: u64,
    /// Bytes, a multiple of the page size.
    pub(super) size: u64,
    /// What was asked for.
    pub(super) wanted: Wanted,
    /// What drivers tell one another about it.
    pub(super) metadata: Mutex<Metadata>,
    /// Submissions that may use it.
    busy: Mutex<Vec<Arc<Fence>>>,
    store: Arc<Store>,
}

impl Bo {
    /// Its bytes in the memory file.
    pub(super) fn range(&self) -> Range<u64> {
        self.start..self.start + self.size
    }

    /// A part of it in the memory file, if it is one.
    pub(super) fn part(&self, offset: u64, bytes: u64) -> Option<Range<u64>> {
        let end = offset.checked_add(bytes).filter(|end| *end <= self.size)?;
        Some(self.start + offset..self.start + end)
    }

    /// Says that a submission may use it.
    pub(super) fn used_by(&self, fence: &Arc<Fence>) {
        let mut busy = lock(&self.busy);
        busy.retain(|f| !f.is_done());
        busy.push(Arc::clone(fence));
    }

    /// Whether every submission that may use it is done.
    pub(super) fn is_idle(&self) -> bool {
        lock(&self.busy).iter().all(|f| f.is_done())
    }

    /// Runs of its pages that hold something, as offsets in it.
    pub(super) fn data(&self) -> impl Iterator<Item = Range<u64>> {
        let (start, mut at, end) = (self.start, self.start, self.start + self.size);
        std::iter::from_fn(move || {
            let run = self.store.memory.data(at..end)?;
            at = run.end;
            Some(run.start - start..run.end - start)
        })
    }
}

impl Backing for Bo {
    fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for Bo {
    fn drop(&mut self) {
        let _ = self.store.memory.discard(self.range());
        let mut ranges = lock(&self.store.ranges);
        ranges.used.remove(&self.start);
        let heap = heap(self.wanted.domains);
        ranges.bytes[heap] = ranges.bytes[heap].saturating_sub(self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(size: u64) -> Wanted {
        Wanted { size, domains: 2, flags: 0, alignment: 4096 }
    }

    #[test]
    fn memory_is_zero_again_and_ranges_are_used_last() {
        let store = Store::with_limit(1 << 20).unwrap();
        let first = store.create(&wanted(5000)).unwrap();
        assert_eq!((first.number, first.range()), (1, 0..8192));
        store.memory().write(first.range().start, &[1; 16]);
        assert_eq!((first.data().next(), first.data().count()), (Some(0..4096), 1));
        drop(first);
        let second = store.create(&wanted(4096)).unwrap();
        assert_eq!((second.number, second.range()), (2, 8192..12288));
        let mut bytes = [1; 16];
        store.memory().read(0, &mut bytes);
        assert_eq!(bytes, [0; 16]);
    }

    #[test]
    fn the_limit_holds_and_frees_count() {
        let store = Store::with_limit(16384).unwrap();
        let all: Vec<_> = (0..4).map(|_| store.create(&wanted(4096)).unwrap()).collect();
        assert!(store.create(&wanted(1)).is_none());
        assert_eq!(store.used(), [16384, 0]);
        drop(all);
        assert_eq!(store.used(), [0, 0]);
        for size in [0, 16385, u64::MAX, u64::MAX - 4095] {
            assert!(store.create(&wanted(size)).is_none(), "{size}");
        }
        assert!(store.create(&wanted(16384)).is_some());
    }

    #[test]
    fn a_hole_between_ranges_is_found() {
        let mut ranges = Ranges::default();
        for start in [0u64, 4, 12] {
            ranges.used.insert(start, start + 4);
        }
        assert_eq!(ranges.room(0, 4), Some(8));
        assert_eq!(ranges.room(5, 4), Some(8));
        assert_eq!(ranges.room(0, 5), Some(16));
        assert_eq!(ranges.room(13, 4), Some(16));
        assert_eq!(ranges.room(FILE_BYTES - 3, 4), None);
    }
}
