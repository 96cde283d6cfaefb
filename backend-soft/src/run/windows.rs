//! What a launch has stored: windows on guest memory, each with the bytes as they were and one mark a byte stored.
//!
//! A window is opened by the first store into it, when its bytes are saved; generated code marks what it stores. At the end the
//! marks are the stored ranges; if the launch must have no effect, the marked bytes are put back, and only they. A
//! window is small, but where stores go on from one window into the next, the next is twice as long, up to a limit. A few small
//! ones are left open for the next launch, at whose start they save their bytes anew: draw after draw stores to the same place.
//!
//! A dword of the window has one byte of marks, whose low four bits stand for its bytes: a dword store just sets it to
//! [`WHOLE`] without a look at what it was.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use guestwave_cp::{GuestMemory, MemoryFault};

use super::ordered::Ordered;
use super::spans::Span;
use crate::raw::{Buffer, HostMemory};

/// Bytes of the smallest window: little more than what a draw of a few vertices stores.
const LEAST: u64 = 256;

/// Sizes of windows: the least, twice that, and so on.
const CLASSES: usize = 10;

/// Windows that are left open for the next launch at most.
const LEFT_OPEN: usize = 4;

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

/// What one launch's windows leave for the next one's.
#[derive(Default)]
pub(crate) struct Spare {
    /// Stores that no window uses, by size.
    stores: Vec<Vec<Store>>,
    /// Windows that were left open.
    open: Vec<(u64, Window<'static>)>,
    /// The epoch of the spans that they lie in.
    epoch: u64,
    /// How often windows were closed.
    closings: u64,
}

impl Spare {
    fn take(&mut self, class: usize) -> Store {
        let spare = self.stores.get_mut(class).and_then(Vec::pop);
        spare.map_or_else(|| Store::new(class), Store::again)
    }

    fn give(&mut self, class: usize, store: Store) {
        if self.stores.len() <= class {
            self.stores.resize_with(class + 1, Vec::new);
        }
        self.stores[class].push(store);
    }
}

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
        let end = at + len;
        let mut from = at;
        while from < end {
            let (word, first) = ((from / 32) as usize, from % 32);
            let bytes = (end - from).min(32 - first);
            let bits = u32::MAX >> (32 - bytes) << first;
            let old = self.store.marks.get(word).unwrap_or(0);
            self.store.marks.set(word, old | spread(bits).to_le());
            from += bytes;
        }
    }

    /// Calls `f` with each run of marked bytes, as offsets.
    fn runs(&self, mut f: impl FnMut(Range<u64>)) {
        let mut open = None;
        for word in 0..self.store.marks.len() {
            let marks = u64::from_le(self.store.marks.get(word).unwrap_or(0));
            let base = word as u64 * 32;
            match (marks, open) {
                (0, None) | (ALL_WHOLE, Some(_)) => {}
                (ALL_WHOLE, None) => open = Some(base),
                (0, Some(start)) => {
                    f(start..base);
                    open = None;
                }
                _ => word_runs(gather(marks), base, &mut open, &mut f),
            }
        }
        if let Some(start) = open {
            f(start..self.store.saved.len() as u64);
        }
    }

    /// Whether any byte is marked.
    fn is_marked(&self) -> bool {
        (0..self.store.marks.len()).any(|word| self.store.marks.get(word) != Some(0))
    }

    /// The same window for who keeps it with the spans that it lies in.
    fn kept(self) -> Window<'static> {
        let Window { guest, host, copy, class, store, opened } = self;
        Window { guest, host: host.kept(), copy, class, store, opened }
    }

    /// Puts the marked bytes back.
    fn restore(&self) {
        self.runs(|run| {
            self.host.write(run.start, &self.store.saved[run.start as usize..run.end as usize]);
        });
    }
}

/// The marks of 32 bytes, one bit each: eight times four bits, each in a byte of its own.
fn spread(bits: u32) -> u64 {
    let mut marks = u64::from(bits);
    marks = (marks | marks << 16) & 0x0000_ffff_0000_ffff;
    marks = (marks | marks << 8) & 0x00ff_00ff_00ff_00ff;
    (marks | marks << 4) & ALL_WHOLE
}

/// One bit a byte of a word of marks.
fn gather(marks: u64) -> u32 {
    let mut bits = marks & ALL_WHOLE;
    bits = (bits | bits >> 4) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits >> 8) & 0x0000_ffff_0000_ffff;
    (bits | bits >> 16) as u32
}

/// The runs that end in 32 bytes from `base` on, of which those with a bit are marked; `open` is where a run began that has not
/// ended.
fn word_runs(bits: u32, base: u64, open: &mut Option<u64>, f: &mut impl FnMut(Range<u64>)) {
    let mut at = 0;
    while at < 32 {
        let rest = bits >> at;
        match *open {
            Some(start) => {
                at += rest.trailing_ones();
                if at < 32 {
                    f(start..base + u64::from(at));
                    *open = None;
                }
            }
            None if rest == 0 => return,
            None => {
                at += rest.trailing_zeros();
                *open = Some(base + u64::from(at));
            }
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
    open: Ordered<Window<'m>>,
    spare: Spare,
    /// Of the threads that run the same launch.
    openings: Option<&'m Openings>,
}

impl<'m> Windows<'m> {
    /// The windows that earlier launches left open, if they lie in spans of this epoch.
    pub(crate) fn new(mut spare: Spare, epoch: u64) -> Self {
        let open = Ordered::new(std::mem::take(&mut spare.open));
        let mut windows = Windows { open, spare, openings: None };
        if windows.spare.epoch != epoch {
            windows.close();
            windows.spare.epoch = epoch;
        }
        windows
    }

    /// How often windows were closed: places in them are good until it changes.
    pub(super) fn closings(&self) -> u64 {
        self.spare.closings
    }

    /// Prepares for a launch: what was left open saves its bytes as they are now.
    pub(super) fn begin(&mut self) {
        for window in self.open.listed() {
            window.host.read(0, &mut window.store.saved[..window.host.len() as usize]);
        }
    }

    /// Takes turns with other threads in opening windows.
    pub(super) fn share(&mut self, openings: &'m Openings) {
        self.close();
        self.openings = Some(openings);
    }

    /// Stores to use again, once all windows are closed.
    pub(crate) fn into_spare(self) -> Spare {
        let Windows { open, mut spare, .. } = self;
        spare.open = open.into_list(Window::kept);
        spare
    }

    /// The window that holds `bytes` bytes from `address` on, if it is at hand.
    pub(crate) fn at_hand(&mut self, address: u64, bytes: u64) -> Option<&mut Window<'m>> {
        self.open.listed().find(|w| {
            let place = address.wrapping_sub(w.guest);
            place < w.host.len() && bytes <= w.host.len() - place
        })
    }

    /// The window of `span` that contains `address`.
    pub(crate) fn at(&mut self, address: u64, span: &Span<'m>) -> &mut Window<'m> {
        let before = self.open.at_or_before(address).map(|(start, w)| (start, w.end(), w.class));
        let guest = match before {
            Some((start, end, _)) if address < end => start,
            _ => (address & !(LEAST - 1)).max(span.guest),
        };
        let class = match before {
            Some((_, end, class)) if end == guest => (class + 1).min(CLASSES - 1),
            _ => 0,
        };
        let end = self.open.at_or_after(address).unwrap_or(u64::MAX);
        let Windows { open, spare, openings } = self;
        open.get_or_insert_with(guest, || {
            let end = end.min((guest & !(LEAST - 1)) + (LEAST << class));
            let host = span.host.part(guest - span.guest, end - guest);
            let mut store = spare.take(class);
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
        if self.has_copies() {
            self.write_copies(memory)?;
        }
        let stored = self.stored();
        if self.open.values().any(|w| !w.copy) {
            stored.iter().for_each(|run| memory.wrote_in_place(run.clone()));
        }
        self.leave();
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

    /// Leaves the windows open for the next launch, which may well store there again, if they are few and small ones; else closes
    /// them.
    fn leave(&mut self) {
        let small = self.open.values().all(|w| w.class == 0 && !w.copy && w.is_marked());
        if self.open.len() > LEFT_OPEN || !small {
            return self.close();
        }
        self.open.listed().for_each(|w| w.store.marks.clear());
    }

    /// Forgets the windows, and keeps what they used.
    pub(super) fn close(&mut self) {
        self.spare.closings += u64::from(self.open.len() > 0);
        let Windows { open, spare, .. } = self;
        open.drain().for_each(|window| spare.give(window.class, window.store));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn marks_are_four_bits_a_byte(bits: u32) {
            let marks = spread(bits);
            for byte in 0..32 {
                prop_assert_eq!(marks >> (byte / 4 * 8 + byte % 4) & 1, u64::from(bits >> byte & 1));
            }
            prop_assert_eq!((gather(marks), marks & !ALL_WHOLE), (bits, 0));
        }

        #[test]
        fn runs_are_the_marked_bytes(bits in prop::collection::vec(any::<u32>(), 1..4), open in any::<bool>()) {
            let (mut runs, mut start) = (Vec::new(), open.then_some(0));
            for (word, bits) in bits.iter().enumerate() {
                word_runs(*bits, 32 * word as u64 + 1, &mut start, &mut |run| runs.push(run));
            }
            runs.extend(start.map(|start| start..32 * bits.len() as u64 + 1));
            let marked = |byte: &u64| match byte.checked_sub(1) {
                Some(at) => bits[at as usize / 32] >> (at % 32) & 1 != 0,
                None => open,
            };
            let wanted: Vec<u64> = (0..=32 * bits.len() as u64).filter(marked).collect();
            prop_assert_eq!(runs.iter().cloned().flatten().collect::<Vec<_>>(), wanted);
            prop_assert!(runs.windows(2).all(|two| two[0].end < two[1].start));
        }
    }
}
