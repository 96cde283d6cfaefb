//! The direct way of memory statements.
//!
//! Loads have no branches: where nothing is to be loaded the first words of the memory are, and the result is 0.

use naga::{AtomicFunction as A, GlobalVariable, Handle};

use super::SiteKind;
use super::events::Where;
use super::func::Ex;
use super::layout::{NONE, PAGE_MAP_WORDS, flag, header, slot, status};
use super::lower::Lower;
use super::memory::Reach;
use super::pages;
use super::plan::Marking;
use crate::program::{Space, Width};

/// A place that an access was found to have.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// Whether it has one.
    pub(super) good: Ex,
    /// Byte of the memory's array.
    pub(super) at: Ex,
    /// Word of the marks of that byte, for guest memory that is stored to.
    pub(super) marks: Option<Ex>,
}

impl<'p> Lower<'p> {
    pub(super) fn load_direct(&mut self, reach: &Reach<'p>) -> Vec<Ex> {
        let any = self.any_valid(reach);
        let found = self.find(reach, SiteKind::Read);
        let (good, at) = if self.was_checked(reach.access) {
            (any.unwrap_or(found.good), found.at)
        } else {
            let good = self.noted(reach, any, &found, SiteKind::Read);
            let good = self.all_of(any, Some(good)).unwrap_or(good);
            let zero = self.f.u32(0);
            (good, self.f.select(good, found.at, zero))
        };
        if self.loads_fours(reach) {
            self.load_fours(reach, good, at)
        } else {
            self.load_units(reach, good, at)
        }
    }

    /// Loads, one after another, the units from byte `at` on that are there where the access is `good`.
    pub(super) fn load_units(&mut self, reach: &Reach<'p>, good: Ex, at: Ex) -> Vec<Ex> {
        let zero = self.f.u32(0);
        (0..reach.units)
            .map(|i| {
                let unit = if i == 0 { None } else { self.unit_valid(reach, i) };
                let exists = self.all_of(Some(good), unit).unwrap_or(good);
                // A unit that does not exist may lie beyond the memory's end.
                let place = match unit {
                    Some(unit) => {
                        let offset = self.f.u32(i * reach.width());
                        let offset = self.f.select(unit, offset, zero);
                        self.f.add(at, offset)
                    }
                    None => self.f.add_u32(at, i * reach.width()),
                };
                let value = self.unit_at(reach, place);
                self.f.select(exists, value, zero)
            })
            .collect()
    }

    /// The unit at a byte of the memory.
    fn unit_at(&mut self, reach: &Reach<'p>, byte: Ex) -> Ex {
        let index = self.f.shr_u32(byte, 2);
        let (array, index) = self.element_of(reach, index);
        let Some(array) = array else { return self.f.u32(0) };
        let word = self.f.element(array, index);
        self.unit_of(word, byte, reach.access.width)
    }

    /// Array and element of word `index` of the memory.
    fn element_of(&mut self, reach: &Reach<'p>, index: Ex) -> (Option<Handle<GlobalVariable>>, Ex) {
        match reach.access.space {
            Space::Global if self.only_read(reach.access) => (Some(self.buffers.reads), index),
            Space::Global => (Some(self.buffers.arena), index),
            Space::Lds => (self.helpers.lds, index),
            Space::Exchange => (self.exchanged, index),
            Space::Table => {
                let start = self.launch_word(header::TABLE_START);
                (Some(self.buffers.tables), self.f.add(start, index))
            }
            Space::Scratch => {
                let (start, lanes) = (self.scratch_word(), self.f.u32(self.shape.lanes));
                let offset = self.f.mul(index, lanes);
                (Some(self.buffers.spill), self.f.add(start, offset))
            }
        }
    }

    /// A unit that lies in a word.
    pub(super) fn unit_of(&mut self, word: Ex, byte: Ex, width: Width) -> Ex {
        let mask = match width {
            Width::W8 => 0xff,
            Width::W16 => 0xffff,
            _ => return word,
        };
        let place = self.f.and_u32(byte, 3);
        let shift = self.f.shl_u32(place, 3);
        let down = self.f.shr(word, shift);
        self.f.and_u32(down, mask)
    }

    /// Finds the place of an access.
    pub(super) fn find(&mut self, reach: &Reach<'p>, kind: SiteKind) -> Found {
        match (reach.access.space, reach.access.slot) {
            (Space::Global, _) => match self.window_of(reach.access) {
                Some(slot) if self.was_checked(reach.access) => self.place_in_window(reach, slot, kind),
                Some(slot) => self.find_in_window(reach, slot, kind),
                None => self.find_in_page(reach, kind),
            },
            (space, _) => self.find_local(reach, space),
        }
    }

    /// Whether `x` is a multiple of the unit's width, if that is not certain.
    fn aligned(&mut self, reach: &Reach<'p>, x: Ex) -> Option<Ex> {
        if reach.width() == 1 {
            return None;
        }
        let rest = self.f.and_u32(x, reach.width() - 1);
        Some(self.f.is_u32(rest, 0))
    }

    /// The place of an access that is known to be in the window.
    fn place_in_window(&mut self, reach: &Reach<'p>, index: u16, kind: SiteKind) -> Found {
        let [base, arena] = [slot::LOW, slot::ARENA].map(|w| self.word_of(index, w));
        let [low, _] = self.address_halves(reach);
        let moved = self.f.sub(arena, base);
        let at = self.f.add(low, moved);
        let marks = (kind != SiteKind::Read).then(|| {
            let offset = self.f.sub(low, base);
            self.marks_word(index, offset)
        });
        Found { good: self.f.bool(true), at, marks }
    }

    /// Word of the marks of a byte of the window.
    fn marks_word(&mut self, index: u16, offset: Ex) -> Ex {
        let start = self.word_of(index, slot::MARKS);
        let word = self.f.shr_u32(offset, 5);
        self.f.add(start, word)
    }

    pub(super) fn find_in_window(&mut self, reach: &Reach<'p>, index: u16, kind: SiteKind) -> Found {
        let stores = kind != SiteKind::Read;
        let size = self.word_of(index, if stores { slot::WRITABLE } else { slot::BYTES });
        let [base, base_high] = [slot::LOW, slot::HIGH].map(|w| self.word_of(index, w));
        let [low, high] = self.address_halves(reach);
        let bytes = self.existing_bytes(reach);
        let (fits, room) = (self.f.ge(size, bytes), self.f.sub(size, bytes));
        // The window has one high half, so that an address before it comes out beyond it.
        let (near, offset) = (self.f.eq(high, base_high), self.f.sub(low, base));
        let inside = self.f.le(offset, room);
        let inside = self.f.both(near, inside);
        let mut good = self.f.both(fits, inside);
        if let Some(aligned) = self.aligned(reach, offset) {
            good = self.f.both(good, aligned);
        }
        let arena = self.word_of(index, slot::ARENA);
        let marks = stores.then(|| self.marks_word(index, offset));
        Found { good, at: self.f.add(arena, offset), marks }
    }

    pub(super) fn find_in_page(&mut self, reach: &Reach<'p>, kind: SiteKind) -> Found {
        let [low, high] = self.address_halves(reach);
        let (there, at) = pages::walk_part(&mut self.f, self.buffers.pages, low, high);
        let offset = self.f.and_u32(low, 0xfff);
        let bytes = self.existing_bytes(reach);
        let end = self.f.add(offset, bytes);
        let part = self.f.u32(0x1000);
        let within = self.f.le(end, part);
        let mut good = self.f.both(there, within);
        if let Some(aligned) = self.aligned(reach, low) {
            good = self.f.both(good, aligned);
        }
        if kind == SiteKind::Read {
            return Found { good, at, marks: None };
        }
        let (has_marks, word) = self.page_marks(at);
        let missing = self.f.not(has_marks);
        let any = self.any_valid(reach);
        let missing = self.f.both(good, missing);
        let missing = self.all_of(any, Some(missing)).unwrap_or(missing);
        let site = self.access_site(kind, reach.access);
        self.note(missing, flag::MARK_MISS, site, Some(Where { low, high, size: bytes }));
        self.list_unmarked(missing, at);
        // Without marks nothing is stored, and what is missing has been noted.
        Found { good, at, marks: Some(word) }
    }

    /// Whether the page of an arena byte has marks, and their word for that byte.
    fn page_marks(&mut self, at: Ex) -> (Ex, Ex) {
        let map = self.launch_word(header::MARK_MAP);
        let f = &mut self.f;
        let page = f.shr_u32(at, 16);
        let (zero, some) = (f.u32(0), f.isnt_u32(map, NONE));
        // Without a map the first word of the tables is read, which is 0.
        let index = f.add(map, page);
        let index = f.select(some, index, zero);
        let chunk = f.element(self.buffers.tables, index);
        let one = f.u32(1);
        let number = f.sub(chunk, one);
        let words = f.u32(PAGE_MAP_WORDS);
        let start = f.mul(number, words);
        let byte = f.and_u32(at, 0xffff);
        let word = f.shr_u32(byte, 5);
        let there = f.isnt_u32(chunk, 0);
        let word = f.add(start, word);
        let none = f.u32(NONE);
        (there, f.select(there, word, none))
    }

    /// Lists the page of an arena byte as one that needs marks.
    fn list_unmarked(&mut self, missing: Ex, at: Ex) {
        let status_buffer = self.buffers.status;
        self.f.when(missing, |f| {
            let page = f.shr_u32(at, 16);
            let place = f.and_u32(page, status::MISS_PLACES - 1);
            let place = f.add_u32(place, status::MARK_MISSES);
            let note = f.add_u32(page, 1);
            f.set_element(status_buffer, place, note);
        });
    }

    /// Places in the tables, LDS and scratch: units that are not wholly inside do not exist, whatever `valid` says.
    fn find_local(&mut self, reach: &Reach<'p>, space: Space) -> Found {
        let size = match space {
            Space::Table => self.launch_word(header::TABLE_BYTES),
            Space::Lds => self.f.u32(self.program.lds_bytes),
            _ => self.f.u32(self.program.scratch_bytes),
        };
        let bytes = self.existing_bytes(reach);
        let (fits, room) = (self.f.ge(size, bytes), self.f.sub(size, bytes));
        let inside = self.f.le(reach.address, room);
        let mut good = self.f.both(fits, inside);
        if let Some(aligned) = self.aligned(reach, reach.address) {
            good = self.f.both(good, aligned);
        }
        Found { good, at: reach.address, marks: None }
    }

    /// Whether the access can be done; notes it if units exist that cannot be reached so.
    pub(super) fn noted(&mut self, reach: &Reach<'p>, any: Option<Ex>, found: &Found, kind: SiteKind) -> Ex {
        let bad = self.f.not(found.good);
        let mut bad = self.all_of(any, Some(bad)).unwrap_or(bad);
        if reach.access.space != Space::Global {
            bad = self.reaches_inside(reach, bad);
        }
        let site = self.access_site(kind, reach.access);
        let size = self.existing_bytes(reach);
        let [low, high] = match reach.access.space {
            Space::Global => self.address_halves(reach),
            _ => [reach.address, self.f.u32(0)],
        };
        self.note(bad, flag::INDIRECT, site, Some(Where { low, high, size }));
        found.good
    }

    /// Of a local access that cannot be done directly, whether any of its units is inside (else it reads 0 and stores
    /// nothing, which is what becomes of it).
    fn reaches_inside(&mut self, reach: &Reach<'p>, bad: Ex) -> Ex {
        let size = match reach.access.space {
            Space::Table => self.launch_word(header::TABLE_BYTES),
            Space::Lds => self.f.u32(self.program.lds_bytes),
            _ => self.f.u32(self.program.scratch_bytes),
        };
        let starts = self.f.lt(reach.address, size);
        // Or it starts before 0 and goes round.
        let bytes = self.existing_bytes(reach);
        let end = self.f.add(reach.address, bytes);
        let round = self.f.lt(end, reach.address);
        let any = self.f.either(starts, round);
        self.f.both(bad, any)
    }

    pub(super) fn store_direct(&mut self, reach: &Reach<'p>, values: &[Ex], marking: Marking) {
        let any = self.any_valid(reach);
        let mut found = self.find(reach, SiteKind::Write);
        // Some units only: not the direct way.
        if let Some(all) = self.all_valid(reach) {
            found.good = self.f.both(found.good, all);
        }
        let mut good = match self.was_checked(reach.access) && self.all_valid(reach).is_none() {
            true => any,
            false => {
                let good = self.noted(reach, any, &found, SiteKind::Write);
                self.all_of(any, Some(good))
            }
        };
        if let (Some(marks), None) = (found.marks, self.window_of(reach.access)) {
            let marked = self.f.isnt_u32(marks, NONE);
            good = self.all_of(good, Some(marked));
        }
        self.guard(good, |l| {
            if l.stores_fours(reach) {
                l.store_fours(reach, &found, values, marking);
            } else {
                l.store_found(reach, &found, values, marking);
            }
        });
    }

    /// Stores units one after another to a place that was found good, and marks it.
    pub(super) fn store_found(&mut self, reach: &Reach<'p>, found: &Found, values: &[Ex], marking: Marking) {
        for (i, value) in (0..).zip(values) {
            let byte = self.f.add_u32(found.at, i * reach.width());
            self.set_unit(reach, byte, *value);
        }
        let Some(marks) = found.marks else { return };
        match marking {
            Marking::Rows if self.in_rows(reach) => self.mark_row(found.at, marks),
            _ => self.mark_direct(reach, found.at, marks, marking == Marking::Checked),
        }
    }

    /// Sets the unit at a byte of the memory.
    fn set_unit(&mut self, reach: &Reach<'p>, byte: Ex, value: Ex) {
        let index = self.f.shr_u32(byte, 2);
        let (array, index) = self.element_of(reach, index);
        let Some(array) = array else { return };
        let mask = match reach.access.width {
            Width::W8 => 0xff,
            Width::W16 => 0xffff,
            _ => return self.f.set_element(array, index, value),
        };
        let place = self.f.and_u32(byte, 3);
        let shift = self.f.shl_u32(place, 3);
        let (low, mask) = (self.f.and_u32(value, mask), self.f.u32(mask));
        let (bits, mask) = (self.f.shl(low, shift), self.f.shl(mask, shift));
        let others = self.f.un(naga::UnaryOperator::BitwiseNot, mask);
        if reach.access.space == Space::Scratch {
            let old = self.f.element(array, index);
            let kept = self.f.and(old, others);
            let new = self.f.or(kept, bits);
            return self.f.set_element(array, index, new);
        }
        self.f.atomic_only(array, index, A::And, others);
        self.f.atomic_only(array, index, A::InclusiveOr, bits);
    }

    /// Whether all lanes of the wave store here, each invocation for one.
    fn in_rows(&self, reach: &Reach<'p>) -> bool {
        let one_each = self.shape.components == 1 && !self.shape.whole;
        one_each && reach.whole && !self.plan.lane_returns && self.window_of(reach.access).is_some()
    }

    /// Marks a dword where each lane stores the one that follows the last lane's: of the eight lanes that fill a word of
    /// marks the first does so for all.
    fn mark_row(&mut self, at: Ex, marks: Ex) {
        const LANES: u32 = 8;
        let (lane, buffer) = (self.at.lane[self.k], self.buffers.marks);
        let f = &mut self.f;
        let number = f.shr_u32(at, 2);
        let number = f.and_u32(number, LANES - 1);
        let (first, last) = (f.sub(lane, number), f.u32(self.shape.lanes - LANES));
        // A first lane before the wave's comes out beyond its last.
        let whole = f.le(first, last);
        let (place, own, all) = (f.and_u32(at, 31), f.u32(0xf), f.u32(u32::MAX));
        let own = f.shl(own, place);
        let bits = f.select(whole, all, own);
        let (alone, leads) = (f.not(whole), f.is_u32(number, 0));
        let marks_them = f.either(alone, leads);
        f.when(marks_them, |f| f.atomic_only(buffer, marks, A::InclusiveOr, bits));
    }

    /// Marks what was stored from arena byte `at` on.
    pub(super) fn mark_direct(&mut self, reach: &Reach<'p>, at: Ex, marks: Ex, check: bool) {
        let parts = matches!(reach.access.width, Width::W8 | Width::W16);
        let noted = match (check, parts) {
            (true, _) => Some(flag::ORDER),
            // Two steps store a part of a word; whoever stores the same part meanwhile disturbs them.
            (false, true) => Some(flag::RACE),
            (false, false) => None,
        };
        let place = self.f.and_u32(at, 31);
        let mut start = 0;
        while start < reach.bytes() {
            let now = (reach.bytes() - start).min(32);
            let bits = self.f.u32(u32::MAX >> (32 - now));
            let here = self.f.shl(bits, place);
            let word = self.f.add_u32(marks, start / 32);
            self.mark_word_direct(reach, word, here, noted);
            if now > reach.width() || start + 32 < reach.bytes() {
                let above = pages::below_shifted(&mut self.f, bits, place);
                let some = self.f.isnt_u32(above, 0);
                self.guard(Some(some), |l| {
                    let next = l.f.add_u32(word, 1);
                    l.mark_word_direct(reach, next, above, noted);
                });
            }
            start += now;
        }
    }

    pub(super) fn mark_word_direct(&mut self, reach: &Reach<'p>, word: Ex, bits: Ex, noted: Option<u32>) {
        let marks = self.buffers.marks;
        let Some(flag) = noted else {
            return self.f.atomic_only(marks, word, A::InclusiveOr, bits);
        };
        let before = self.f.atomic(marks, word, A::InclusiveOr, bits, self.types.u32);
        let twice = self.f.and(before, bits);
        let twice = self.f.isnt_u32(twice, 0);
        let site = self.access_site(SiteKind::Write, reach.access);
        self.note(twice, flag, site, None);
    }
}
