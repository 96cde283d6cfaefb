//! The address space of a submission as guest memory, in place.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use guestwave_cp::{
    AccessKind, Generation, GuestMemory, HostSpan, MappingState, MemoryFault, MemoryId, canonical,
};

use super::lock;
use super::store::Bo;
use super::sys::MemoryFile;
use crate::memory::map::{AddressMap, Mapping};
use crate::memory::{read, write};

/// What a ring's submissions see: the address space of the one that runs.
#[derive(Debug)]
pub(super) struct Space {
    memory: Arc<MemoryFile>,
    map: RwLock<Arc<AddressMap<Bo>>>,
    remaps: Mutex<Remaps>,
    clock: AtomicU64,
    id: MemoryId,
    /// How often the address space became another.
    entered: AtomicU64,
}

/// When which addresses changed their meaning.
#[derive(Debug, Default)]
struct Remaps {
    known: Vec<(u64, Range<u64>)>,
    /// What changed up to this moment is not known one by one any more.
    forgotten: u64,
}

/// The most changes of addresses that are kept one by one.
const MOST_REMAPS: usize = 4096;

impl Remaps {
    fn add(&mut self, now: u64, ranges: impl Iterator<Item = Range<u64>>) {
        self.known.extend(ranges.map(|range| (now, range)));
        if self.known.len() > MOST_REMAPS {
            self.known.clear();
            self.forgotten = now;
        }
    }

    /// Calls `changed` with what changed after `since`.
    fn after(&self, since: u64, changed: &mut dyn FnMut(Range<u64>)) {
        if self.forgotten > since {
            changed(0..canonical(u64::MAX) + 1);
        }
        self.known.iter().filter(|(when, _)| *when > since).for_each(|(_, range)| changed(range.clone()));
    }
}

impl Space {
    /// A space without mappings.
    pub(super) fn new(memory: Arc<MemoryFile>) -> Space {
        Space {
            memory,
            map: RwLock::default(),
            remaps: Mutex::default(),
            clock: AtomicU64::new(1),
            id: MemoryId::unique(),
            entered: AtomicU64::new(0),
        }
    }

    /// Goes over to the address space of the next submission.
    pub(super) fn enter(&self, next: &Arc<AddressMap<Bo>>) {
        let mut map = write(&self.map);
        if Arc::ptr_eq(&map, next) {
            return;
        }
        self.entered.fetch_add(1, Ordering::SeqCst);
        let now = self.clock.load(Ordering::SeqCst);
        lock(&self.remaps).add(now, differences(&map, next));
        *map = Arc::clone(next);
    }
}

/// The addresses of mappings that are in one map and not in the other.
fn differences(a: &AddressMap<Bo>, b: &AddressMap<Bo>) -> impl Iterator<Item = Range<u64>> {
    let only = |x: &AddressMap<Bo>, y: &AddressMap<Bo>| {
        let gone = |m: &&Mapping<Bo>| !y.find(m.range.start).is_some_and(|n| same(m, n));
        x.iter().filter(gone).map(|m| m.range.clone()).collect::<Vec<_>>()
    };
    only(a, b).into_iter().chain(only(b, a))
}

fn same(a: &Mapping<Bo>, b: &Mapping<Bo>) -> bool {
    a.range == b.range
        && a.offset == b.offset
        && a.writable == b.writable
        && Arc::ptr_eq(&a.buffer, &b.buffer)
}

impl GuestMemory for Space {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        for piece in read(&self.map).pieces(address, into.len() as u64, AccessKind::Read)? {
            let from = piece.mapping.buffer.range().start + piece.offset();
            self.memory.read(from, &mut into[piece.places()]);
        }
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        for piece in read(&self.map).pieces(address, bytes.len() as u64, AccessKind::Write)? {
            let to = piece.mapping.buffer.range().start + piece.offset();
            self.memory.write(to, &bytes[piece.places()]);
        }
        Ok(())
    }

    fn check(&self, address: u64, size: u64, kind: AccessKind) -> Result<(), MemoryFault> {
        read(&self.map).pieces(address, size, kind).map(drop)
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        read(&self.map).extent(canonical(address))
    }

    fn mappings(&self) -> Option<MappingState> {
        Some(MappingState { memory: self.id, changes: self.entered.load(Ordering::SeqCst) })
    }

    fn generation(&self) -> Generation {
        Generation(self.clock.fetch_add(1, Ordering::SeqCst))
    }

    /// The program writes its memory without a word, so everything that holds something counts as written.
    fn changed_since(&self, since: Generation, changed: &mut dyn FnMut(Range<u64>)) -> Generation {
        let now = self.generation();
        lock(&self.remaps).after(since.0, changed);
        for mapping in read(&self.map).iter() {
            let bytes = mapping.bytes();
            for run in mapping.buffer.data() {
                let run = run.start.max(bytes.start)..run.end.min(bytes.end);
                if run.start < run.end {
                    changed(mapping.addresses(run));
                }
            }
        }
        now
    }

    fn host_span(&self, address: u64) -> Option<HostSpan> {
        let map = read(&self.map);
        let mapping = map.find(canonical(address))?;
        let bytes = mapping.bytes();
        let range = mapping.buffer.part(bytes.start, bytes.end - bytes.start)?;
        let len = range.end - range.start;
        let host = self.memory.place(range)?;
        Some(HostSpan { guest: mapping.range.start, host, len, writable: mapping.writable })
    }
}
