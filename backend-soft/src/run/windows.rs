//! What a launch has stored: windows on guest memory, each with the bytes as they were and one mark a byte stored.
//!
//! A window is opened by the first store into it, when its bytes are saved; generated code marks what it stores. At the end the
//! marks are the stored ranges; if the launch must have no effect, the marked bytes are put back, and only they. A
//! window is small, but where stores go on from one window into the next, the next is twice as long, up to a limit.
//!
//! A dword of the window has one byte of marks, whose low four bits stand for its bytes: a dword store just sets it to
//! [`WHOLE`] without a look at what it was.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use guestwave_cp::{GuestMemory, MemoryFault};

use super::spans::Span;
use crate::raw::{Buffer, HostMemory};

/// Bytes of the smallest window: little more than what a draw of a few vertices stores.
const LEAST: u64 = 512;

/// Sizes of windows: the least, twice that, and so on.
const CLASSES: usize = 9;

/// Marks of a dword all of whose bytes were stored.
pub(crate) const WHOLE: u8 = 15;

/// [`WHOLE`] eight times.
const ALL_WHOLE: u64 = 0x0f0f_0f0f_0f0f_0f0f;

/// Saved bytes and marks, kept for the next window, which clears the marks: so they come into the cache just before they are set.
pub(crate) struct Store {
    saved: Box<[u8]>,
    /// Marks of eight dwords an element.
    marks: Buffer<u64>,
}

impl Store {
    fn new(class: usize) -> Self {
        let bytes = (LEAST as usize) << class;
        Store { saved: vec![0; bytes].into(), marks: Buffer::zeroed(bytes / 32) }
    }

    /// As if it were new, but for what was saved.
    fn again(mut self) -> Self {
        self.marks.clear();
        self
    }
}

/// Stores that no window uses, by size.
pub(crate) type Spare = [Vec<Store>; CLASSES];

/// A window on stored guest memory.
pub(crate) struct Window<'m> {
    /// First guest address.
    pub(crate) guest: u64,
    /// Its bytes.
    pub(crate) host: HostMemory<'m>,
    copy: bool,
    class: usize,
    store: Store,
    /// When it was opened, among those of all threads.
    opened: u64,
}

impl Window<'_> {
    /// Where the first dword's marks are.
    pub(crate) fn marks(&self) -> *mut u8 {
        self.store.marks.start().cast()
    }

    /// Guest address behind the last byte.
    fn end(&self) -> u64 {
        self.guest.saturating_add(self.host.len())
    }

    /// Marks `len` bytes from `at`.
    pub(crate) fn mark(&mut self, at: u64, len: u64) {
        for byte in at..at + len {
            let (word, dword) = ((byte / 32) as usize, byte / 4 % 8);
            let old = self.store.marks.get(word).unwrap_or(0);
            self.store.marks.set(word, old | 1 << (dword * 8 + byte % 4));
        }
    }

    /// Calls `f` with each run of marked bytes, as offsets.
    fn runs(&self, mut f: impl FnMut(Range<u64>)) {
        let mut open = None;
        for word in 0..self.store.marks.len() {
            let marks = u64::from_le(self.store.marks.get(word).unwrap_or(0));
            match (marks, open) {
                (0, None) | (ALL_WHOLE, Some(_)) => {}
                _ => word_runs(marks, word as u64 * 32, &mut open, &mut f),
            }
        }
        if let Some(start) = open {
            f(start..self.store.saved.len() as u64);
        }
    }

    /// Puts the marked bytes back.
    fn restore(&self) {
        self.runs(|run| {
            self.host.write(run.start, &self.store.saved[run.start as usize..run.end as usize]);
        });
    }
}

/// The runs that end in one word of marks, whose first stands for byte `base`; `open` is where a run began that has not ended.
fn word_runs(marks: u64, base: u64, open: &mut Option<u64>, f: &mut impl FnMut(Range<u64>)) {
    for byte in 0..32 {
        let here = base + byte;
        let marked = marks >> (byte / 4 * 8 + byte % 4) & 1 != 0;
        match *open {
            Some(start) if !marked => {
                f(start..here);
                *open = None;
            }
            None if marked => *open = Some(here),
            _ => {}
        }
    }
}

/// Counts the windows that the threads of one launch open.
#[derive(Default)]
pub(crate) struct Openings(Mutex<u64>);

impl Openings {
    /// The next number. Bytes are saved in the order of the numbers: nobody stores to a window before it is opened.
    fn next(&self, save: &mut dyn FnMut() -> bool) -> u64 {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        save();
        *count += 1;
        *count
    }
}

/// Puts back what was stored in the windows of several threads, which may lie on each other.
pub(super) fn revert<'w, 'm: 'w>(all: impl Iterator<Item = &'w Windows<'m>>) {
    let mut windows: Vec<&Window<'m>> = all.flat_map(|w| w.open.values()).collect();
    windows.sort_by_key(|w| std::cmp::Reverse(w.opened));
    windows.into_iter().for_each(Window::restore);
}

/// The windows of one launch, by first address.
pub(crate) struct Windows<'m> {
    open: BTreeMap<u64, Window<'m>>,
    spare: Spare,
    /// Of the threads that run the same launch.
    openings: Option<&'m Openings>,
}

impl<'m> Windows<'m> {
    /// No windows; `spare` are those of earlier launches.
    pub(crate) fn new(spare: Spare) -> Self {
        Windows { open: BTreeMap::new(), spare, openings: None }
    }

    /// Takes turns with other threads in opening windows.
    pub(super) fn share(&mut self, openings: &'m Openings) {
        self.openings = Some(openings);
    }

    /// Stores to use again, once all windows are closed.
    pub(crate) fn into_spare(self) -> Spare {
        self.spare
    }

    /// The window of `span` that contains `address`.
    pub(crate) fn at(&mut self, address: u64, span: &Span<'m>) -> &mut Window<'m> {
        let before = self.open.range(..=address).next_back().map(|(start, w)| (*start, w.end(), w.class));
        let guest = match before {
            Some((start, end, _)) if address < end => start,
            _ => (address & !(LEAST - 1)).max(span.guest),
        };
        let class = match before {
            Some((_, end, class)) if end == guest => (class + 1).min(CLASSES - 1),
            _ => 0,
        };
        let end = self.open.range(address..).next().map_or(u64::MAX, |(next, _)| *next);
        let Windows { open, spare, openings } = self;
        open.entry(guest).or_insert_with(|| {
            let end = end.min((guest & !(LEAST - 1)) + (LEAST << class));
            let host = span.host.part(guest - span.guest, end - guest);
            let mut store = spare[class].pop().map_or_else(|| Store::new(class), Store::again);
            let mut save = || host.read(0, &mut store.saved[..host.len() as usize]);
            let opened = openings.map_or(0, |o| o.next(&mut save));
            if openings.is_none() {
                save();
            }
            Window { guest, host, copy: span.copy, class, store, opened }
        })
    }

    /// Makes the launch's stores final; gives their ranges, sorted and disjoint.
    ///
    /// # Errors
    /// The guest did not take a copy's bytes; everything is as it was then.
    pub(crate) fn commit(&mut self, memory: &dyn GuestMemory) -> Result<Vec<Range<u64>>, MemoryFault> {
        self.write_copies(memory)?;
        let stored = self.stored();
        if self.open.values().any(|w| !w.copy) {
            stored.iter().for_each(|run| memory.wrote_in_place(run.clone()));
        }
        self.close();
        Ok(stored)
    }

    /// What has been stored so far, sorted and disjoint.
    pub(super) fn stored(&self) -> Vec<Range<u64>> {
        let mut stored: Vec<Range<u64>> = Vec::new();
        for window in self.open.values() {
            window.runs(|run| {
                let run = window.guest + run.start..window.guest + run.end;
                match stored.last_mut() {
                    Some(last) if last.end == run.start => last.end = run.end,
                    _ => stored.push(run),
                }
            });
        }
        stored
    }

    /// Whether anything was stored into a copy.
    pub(super) fn has_copies(&self) -> bool {
        self.open.values().any(|w| w.copy)
    }

    fn write_copies(&mut self, memory: &dyn GuestMemory) -> Result<(), MemoryFault> {
        let mut written: Vec<(u64, &[u8])> = Vec::new();
        let mut refused = None;
        for window in self.open.values().filter(|w| w.copy) {
            window.runs(|run| {
                let mut bytes = vec![0; (run.end - run.start) as usize];
                window.host.read(run.start, &mut bytes);
                let address = window.guest + run.start;
                match refused {
                    Some(_) => {}
                    None => match memory.write(address, &bytes) {
                        Ok(()) => {
                            written
                                .push((address, &window.store.saved[run.start as usize..run.end as usize]));
                        }
                        Err(fault) => refused = Some(fault),
                    },
                }
            });
        }
        let Some(fault) = refused else { return Ok(()) };
        for (address, bytes) in written {
            // It took these bytes a moment ago; should it not take them back, there is nothing left to try.
            if let Err(fault) = memory.write(address, bytes) {
                log::error!("backend-soft: guest memory changed while a dispatch was undone: {fault}");
            }
        }
        self.revert();
        Err(fault)
    }

    /// Puts back what the launch stored.
    pub(crate) fn revert(&mut self) {
        self.open.values().for_each(Window::restore);
        self.close();
    }

    /// Forgets the windows, and keeps what they used.
    pub(super) fn close(&mut self) {
        for (_, window) in std::mem::take(&mut self.open) {
            self.spare[window.class].push(window.store);
        }
    }
}
