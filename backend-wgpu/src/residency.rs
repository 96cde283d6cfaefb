//! Which guest pages lie where in the arena, and whether what lies there is current.
//!
//! The arena is a cache: between batches it may be dropped at any time, since all that was stored is in guest memory. Room
//! is given out from the start to the end; when it is used up everything is dropped.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use guestwave_cp::{Generation, GuestMemory, MemoryId, Untouched};
use guestwave_translate::naga::layout::{PAGE_BYTES, PAGE_MAP_WORDS};

use crate::gpu::Upload;
use crate::page_table::PageTable;

/// Bytes of the parts of a page that the page table tells apart.
const PART: u64 = 4096;
/// Arena that a residency starts with.
const FIRST_BYTES: u64 = 4 << 20;
/// Steps in which mappings are looked for at first.
const STEP: u64 = 256;
/// Most of the arena that one upload covers.
const UPLOAD_BYTES: u64 = 16 << 20;

/// The arena is too small for what must be in it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// A guest page in the arena.
#[derive(Clone, Copy, Debug)]
struct Resident {
    arena_page: u32,
    /// Whether the arena has what guest memory has.
    current: bool,
}

/// Guest pages in the arena.
pub(crate) struct Residency {
    pages: HashMap<u64, Resident>,
    table: PageTable,
    /// First arena page that is free.
    free: u32,
    /// Bytes of the arena now, and at most.
    bytes: u64,
    most: u64,
    generation: Option<Generation>,
    /// Whose pages they are.
    owner: Option<MemoryId>,
    /// Pages in which mappings are looked for byte by byte.
    fine: HashSet<u64>,
}

/// Guest pages, by number, that must be in the arena.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Pages that must lie one after another.
    pub(crate) rows: Vec<Range<u64>>,
    /// Pages whose contents are needed.
    pub(crate) contents: Vec<Range<u64>>,
}

impl Residency {
    /// For an arena of at most `most` bytes.
    pub(crate) fn new(most: u64) -> Self {
        Residency {
            pages: HashMap::new(),
            table: PageTable::new(),
            free: 0,
            bytes: FIRST_BYTES.min(most),
            most,
            generation: None,
            owner: None,
            fine: HashSet::new(),
        }
    }

    /// Bytes of the arena.
    pub(crate) fn arena_bytes(&self) -> u64 {
        self.bytes
    }

    /// Most bytes that the arena may have.
    pub(crate) fn most_bytes(&self) -> u64 {
        self.most
    }

    /// Bytes of the page table.
    pub(crate) fn table_bytes(&self) -> u64 {
        self.table.bytes()
    }

    /// What of the page table the device has yet to be told.
    pub(crate) fn table_uploads(&mut self) -> Vec<Upload> {
        self.table.uploads()
    }

    /// Drops all pages.
    pub(crate) fn drop_all(&mut self) {
        self.pages.clear();
        self.table.clear();
        self.free = 0;
    }

    /// Looks at what changed in guest memory since the last time. Of a memory that does not say which it is nothing is kept.
    pub(crate) fn refresh(&mut self, memory: &dyn GuestMemory) {
        let same = self.owner.is_some() && memory.id() == self.owner;
        let now = match self.generation {
            Some(since) if same && memory.generation() >= since => {
                let mut changed = Vec::new();
                let now = memory.changed_since(since, &mut |range| changed.push(range));
                changed.into_iter().for_each(|range| self.stale(range));
                now
            }
            _ => {
                self.drop_all();
                memory.generation()
            }
        };
        self.owner = memory.id();
        self.generation = Some(now);
    }

    /// The moment up to which changes are known.
    pub(crate) fn known_until(&self) -> Generation {
        self.generation.unwrap_or_default()
    }

    /// Takes it that guest memory has got what the arena has there, and looks at what else changed meanwhile.
    pub(crate) fn written_back(&mut self, own: &Untouched, memory: &dyn GuestMemory) {
        let Some(since) = self.generation else { return };
        let mut others = Vec::new();
        memory.changed_since(since, &mut |changed| {
            let own = &own.range;
            others.push(changed.start..changed.end.min(own.start.max(changed.start)));
            others.push(changed.start.max(own.end.min(changed.end))..changed.end);
        });
        others.into_iter().for_each(|range| self.stale(range));
        // What others wrote to the range since is told of with what follows this moment.
        self.generation = Some(own.until);
    }

    /// Says that the arena no longer has what guest memory has.
    pub(crate) fn stale(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let touched = range.start / PAGE_BYTES..=(range.end - 1) / PAGE_BYTES;
        let many = touched.end() - touched.start() > self.pages.len() as u64;
        let stale: Vec<u64> = if many {
            self.pages.keys().filter(|p| touched.contains(p)).copied().collect()
        } else {
            touched.filter(|p| self.pages.contains_key(p)).collect()
        };
        for page in stale {
            if let Some(resident) = self.pages.get_mut(&page) {
                resident.current = false;
            }
            self.table.remove(page);
        }
    }

    /// Looks for the mappings of a page byte by byte from now on. Says whether that is new.
    pub(crate) fn look_closer(&mut self, page: u64) -> bool {
        self.stale(page * PAGE_BYTES..(page + 1) * PAGE_BYTES);
        self.fine.insert(page)
    }

    /// Whether a page is in the page table.
    pub(crate) fn has(&self, page: u64) -> bool {
        self.pages.get(&page).is_some_and(|r| r.current)
    }

    /// Where a page that is in the arena lies.
    pub(crate) fn arena_page(&self, page: u64) -> Option<u32> {
        self.pages.get(&page).map(|r| r.arena_page)
    }

    /// Guest page that lies at a page of the arena.
    pub(crate) fn guest_page(&self, arena_page: u32) -> Option<u64> {
        self.pages.iter().find(|(_, r)| r.arena_page == arena_page).map(|(page, _)| *page)
    }

    /// Whether all of `pages` lie one after another.
    fn in_a_row(&self, pages: &Range<u64>) -> bool {
        let Some(first) = self.arena_page(pages.start) else { return false };
        pages.clone().zip(first..).all(|(page, at)| self.arena_page(page) == Some(at))
    }

    /// Brings pages in; gives what the arena must be sent.
    ///
    /// # Errors
    /// There is no room for all of them at once.
    pub(crate) fn bring(&mut self, wanted: &Wanted, memory: &dyn GuestMemory) -> Result<Vec<Upload>, Full> {
        if self.place(&wanted.rows).is_err() {
            self.drop_all();
            if self.place(&wanted.rows).is_err() {
                self.grow(wanted)?;
            }
        }
        let mut uploads = Vec::new();
        for pages in &wanted.contents {
            self.fill(pages.clone(), memory, &mut uploads);
        }
        Ok(uploads)
    }

    fn grow(&mut self, wanted: &Wanted) -> Result<(), Full> {
        while self.bytes < self.most {
            self.bytes = (self.bytes * 2).min(self.most);
            self.drop_all();
            if self.place(&wanted.rows).is_ok() {
                return Ok(());
            }
        }
        Err(Full)
    }

    fn place(&mut self, rows: &[Range<u64>]) -> Result<(), Full> {
        rows.iter().try_for_each(|row| if self.in_a_row(row) { Ok(()) } else { self.place_row(row) })
    }

    fn place_row(&mut self, pages: &Range<u64>) -> Result<(), Full> {
        let count = u32::try_from(pages.end - pages.start).map_err(|_| Full)?;
        let end = self.free.checked_add(count).ok_or(Full)?;
        if u64::from(end) * PAGE_BYTES > self.bytes {
            return Err(Full);
        }
        for (page, arena_page) in pages.clone().zip(self.free..) {
            self.table.remove(page);
            self.pages.insert(page, Resident { arena_page, current: false });
        }
        self.free = end;
        Ok(())
    }

    /// Reads pages that are not current from guest memory.
    fn fill(&mut self, pages: Range<u64>, memory: &dyn GuestMemory, uploads: &mut Vec<Upload>) {
        for page in pages {
            let Some(Resident { arena_page, current: false }) = self.pages.get(&page).copied() else {
                continue;
            };
            let step = if self.fine.contains(&page) { 1 } else { STEP };
            let image = Image::read(page, step, memory);
            let at = u64::from(arena_page) * PAGE_BYTES;
            match uploads.last_mut() {
                Some(last)
                    if last.at + last.data.len() as u64 == at && (last.data.len() as u64) < UPLOAD_BYTES =>
                {
                    last.data.extend(&image.bytes);
                }
                _ => uploads.push(Upload { at, data: image.bytes.clone() }),
            }
            self.table.set(page, arena_page, image.parts, image.edges.as_deref());
            self.pages.insert(page, Resident { arena_page, current: true });
        }
    }
}

/// What guest memory has of a page.
struct Image {
    bytes: Vec<u8>,
    /// Which 4 KiB parts are wholly mapped.
    parts: u16,
    /// Which bytes are mapped, if some part is mapped in part.
    edges: Option<Vec<u32>>,
}

impl Image {
    fn read(page: u64, step: u64, memory: &dyn GuestMemory) -> Self {
        let start = page * PAGE_BYTES;
        let mut bytes = vec![0; PAGE_BYTES as usize];
        let mut mapped: Vec<Range<u64>> = Vec::new();
        for run in mapped_runs(start..start + PAGE_BYTES, step, memory) {
            let place = (run.start - start) as usize..(run.end - start) as usize;
            // What cannot be read is not there.
            if memory.read(run.start, &mut bytes[place.clone()]).is_ok() {
                mapped.push(place.start as u64..place.end as u64);
            }
        }
        let whole = |part: u64| {
            let range = part * PART..(part + 1) * PART;
            mapped.iter().any(|m| m.start <= range.start && range.end <= m.end)
        };
        let parts = (0..16).filter(|p| whole(*p)).fold(0, |bits, p| bits | 1 << p);
        let ragged = mapped.iter().any(|m| m.start % PART != 0 || m.end % PART != 0);
        let edges = ragged.then(|| edge_map(&mapped));
        Image { bytes, parts, edges }
    }
}

fn edge_map(mapped: &[Range<u64>]) -> Vec<u32> {
    let mut map = vec![0u32; PAGE_MAP_WORDS as usize];
    for byte in mapped.iter().flat_map(Clone::clone) {
        map[byte as usize / 32] |= 1 << (byte % 32);
    }
    map
}

/// The mapped parts of a range, in order; mappings shorter than `step` may be overlooked.
fn mapped_runs(range: Range<u64>, step: u64, memory: &dyn GuestMemory) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    let mut at = range.start;
    while at < range.end {
        match memory.mapping(at) {
            Some(m) if m.end > at => {
                let end = m.end.min(range.end);
                match runs.last_mut() {
                    Some(last) if last.end == at => last.end = end,
                    _ => runs.push(at..end),
                }
                at = end;
            }
            _ => at = next_mapped(at, step, range.end, memory),
        }
    }
    runs
}

/// The next byte after the unmapped byte `at` that is found mapped, `end` if there is none.
fn next_mapped(at: u64, step: u64, end: u64, memory: &dyn GuestMemory) -> u64 {
    let probes = (1..).map(|i| at + i * step).take_while(|a| *a < end).chain([end - 1]);
    let mut found = probes.filter_map(|a| memory.mapping(a));
    found.next().map_or(end, |m| m.start.max(at + 1))
}
