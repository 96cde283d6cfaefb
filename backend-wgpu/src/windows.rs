//! Slots of a launch: where they are in guest memory, and the windows onto the arena that stand for them.

use std::cell::RefCell;
use std::ops::Range;

use guestwave_cp::{GuestMemory, canonical, read_u32};
use guestwave_translate::naga::Hoists;
use guestwave_translate::naga::layout::{PAGE_BYTES, slot};
use guestwave_translate::program::{Access, Program, Slot, Space, Stmt, Trace};

use crate::residency::{Residency, Wanted};

/// Bytes in whose multiples windows start.
const ALIGN: u64 = 64;
/// Bytes that a window has at first if its slot's size is unknown.
const FIRST_REACH: u64 = 256 << 10;
/// Mappings up to this size are taken whole.
const SMALL_MAPPING: u64 = 1 << 20;

/// What a program does through each of its slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotUse {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// Uses of a program's slots.
pub(crate) fn slot_uses(program: &Program) -> Vec<SlotUse> {
    let mut uses = vec![SlotUse::default(); program.slots.len()];
    let mut one = |stmt: &Stmt| match stmt {
        Stmt::Load { access, .. } => note(&mut uses, access, true, false),
        // Parts of words are merged with what is there, which is only written back where it was stored.
        Stmt::Store { access, .. } => note(&mut uses, access, false, true),
        Stmt::Atomic { access, .. } => note(&mut uses, access, true, true),
        _ => {}
    };
    program.body.iter().for_each(|stmt| stmt.each(&mut one));
    uses
}

fn note(uses: &mut [SlotUse], access: &Access, reads: bool, writes: bool) {
    let place = access.slot.filter(|_| access.space == Space::Global);
    if let Some(u) = place.and_then(|s| uses.get_mut(usize::from(s))) {
        u.reads |= reads;
        u.writes |= writes;
    }
}

/// A guest range that a slot's accesses reach directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) range: Range<u64>,
    pub(crate) uses: SlotUse,
    /// Word of the marks where its marks start.
    pub(crate) marks: u32,
}

/// What is known of a slot before its launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Guest range that it may reach; its end is unknown if `open`.
    pub(crate) range: Range<u64>,
    pub(crate) open: bool,
}

/// Works out a launch's slots, noting the guest ranges that were read for it.
pub(crate) struct Tracer<'a> {
    pub(crate) params: &'a [u32],
    pub(crate) memory: &'a dyn GuestMemory,
    pub(crate) read: RefCell<Vec<Range<u64>>>,
}

impl Tracer<'_> {
    /// The number, if all that it is made of can be read.
    fn number(&self, trace: &Trace) -> Option<u64> {
        let both = |a, b| Some((self.number(a)?, self.number(b)?));
        Some(match trace {
            Trace::Const(c) => *c,
            Trace::Param(p) => u64::from(*self.params.get(usize::from(*p))?),
            Trace::Dword(at) => {
                let at = canonical(self.number(at)?);
                self.read.borrow_mut().push(at..at + 4);
                u64::from(read_u32(self.memory, at).ok()?)
            }
            Trace::Pack(low, high) => {
                let (low, high) = both(low, high)?;
                low & u64::from(u32::MAX) | high << 32
            }
            Trace::Add(a, b) => both(a, b).map(|(a, b)| a.wrapping_add(b))?,
            Trace::Mul(a, b) => both(a, b).map(|(a, b)| a.wrapping_mul(b))?,
            Trace::And(a, b) => both(a, b).map(|(a, b)| a & b)?,
            Trace::Or(a, b) => both(a, b).map(|(a, b)| a | b)?,
            Trace::Shl(a, by) => self.number(a)?.wrapping_shl(u32::from(*by)),
            Trace::Shr(a, by) => self.number(a)?.wrapping_shr(u32::from(*by)),
        })
    }

    /// The words that the host loads for the launch, and where from; `None` if there are none or one cannot be read.
    pub(crate) fn hoisted(&self, hoists: &Hoists) -> Option<(Vec<u32>, Vec<Range<u64>>)> {
        let mut ranges = Vec::new();
        let words = hoists.read(self.params, |at| {
            let at = canonical(at);
            ranges.push(at..at + 4);
            read_u32(self.memory, at).ok()
        })?;
        self.read.borrow_mut().extend_from_slice(&ranges);
        Some((words, ranges))
    }

    /// Where a slot is.
    pub(crate) fn slot(&self, slot: &Slot) -> Option<Known> {
        let base = canonical(self.number(&slot.base)?);
        match &slot.size {
            Some(size) => {
                let end = base.saturating_add(self.number(size)?).min(1 << 48);
                Some(Known { range: base..end, open: false })
            }
            None => Some(Known { range: base..1 << 48, open: true }),
        }
    }
}

/// The window for a slot, if anything of it can be reached directly. `reach`: bytes of an open slot that were asked for.
pub(crate) fn window(known: &Known, uses: SlotUse, reach: u64, memory: &dyn GuestMemory) -> Option<Window> {
    let mapping = memory.mapping(known.range.start)?;
    let start = (known.range.start / ALIGN * ALIGN).max(mapping.start.next_multiple_of(ALIGN));
    let mut end = mapping.end.min(known.range.end);
    if known.open && mapping.end - mapping.start > SMALL_MAPPING {
        end = end.min(known.range.start.saturating_add(reach.max(FIRST_REACH)));
    }
    // Modules compare the high halves of addresses with one.
    let end = writable_end(start, end.min((start | u64::from(u32::MAX)) + 1), uses, memory);
    (start < end).then_some(Window { range: start..end, uses, marks: 0 })
}

/// Where a window that is stored through must end because what follows is read-only.
fn writable_end(start: u64, end: u64, uses: SlotUse, memory: &dyn GuestMemory) -> u64 {
    if !uses.writes {
        return end;
    }
    match memory.host_span(start) {
        Some(span) if !span.writable => start,
        _ => end,
    }
}

impl Window {
    pub(crate) fn pages(&self) -> Range<u64> {
        self.range.start / PAGE_BYTES..(self.range.end - 1) / PAGE_BYTES + 1
    }

    fn bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Words of marks that it needs.
    pub(crate) fn mark_words(&self) -> u64 {
        // One more, for an access whose marks go over the last word's end.
        if self.uses.writes { self.bytes().div_ceil(32) + 1 } else { 0 }
    }

    /// The slot's record in the launch block.
    pub(crate) fn record(&self, residency: &Residency) -> [u32; slot::WORDS as usize] {
        let mut record = [0; slot::WORDS as usize];
        let page = self.range.start / PAGE_BYTES;
        if let Some(arena_page) = residency.arena_page(page) {
            let arena = arena_page * PAGE_BYTES as u32 + (self.range.start % PAGE_BYTES) as u32;
            let bytes = self.bytes().min(u64::from(u32::MAX)) as u32;
            record[slot::LOW as usize] = self.range.start as u32;
            record[slot::HIGH as usize] = (self.range.start >> 32) as u32;
            record[slot::BYTES as usize] = bytes;
            record[slot::ARENA as usize] = arena;
            record[slot::WRITABLE as usize] = if self.uses.writes { bytes } else { 0 };
            record[slot::MARKS as usize] = self.marks;
        }
        record
    }
}

/// What windows and single pages need of the arena.
pub(crate) fn wanted(windows: &[&Window], pages: impl Iterator<Item = u64>) -> Wanted {
    let single: Vec<Range<u64>> = pages.map(|p| p..p + 1).collect();
    let all = windows.iter().map(|w| w.pages()).chain(single.iter().cloned());
    let read = windows.iter().filter(|w| w.uses.reads).map(|w| w.pages()).chain(single.iter().cloned());
    Wanted { rows: joined(all.collect()), contents: joined(read.collect()) }
}

/// Ranges in order, overlapping ones joined.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|r| (r.start, r.end));
    let mut joined: Vec<Range<u64>> = Vec::new();
    for next in ranges {
        match joined.last_mut() {
            Some(last) if next.start < last.end => last.end = last.end.max(next.end),
            _ => joined.push(next),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(range: Range<u64>, reads: bool) -> Window {
        Window { range, uses: SlotUse { reads, writes: !reads }, marks: 0 }
    }

    #[test]
    fn windows_that_share_pages_lie_in_one_row() {
        let (a, b) = (window(0x1_0000..0x2_8000, false), window(0x2_8000..0x3_0000, true));
        let far = window(0x5_0000..0x5_0001, true);
        let wanted = wanted(&[&b, &far, &a], [3, 9].into_iter());
        assert_eq!(wanted.rows, [1..3, 3..4, 5..6, 9..10]);
        assert_eq!(wanted.contents, [2..3, 3..4, 5..6, 9..10]);
    }
}
