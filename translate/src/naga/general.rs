//! The general way of memory statements: directly where that serves, else unit by unit.

use naga::Block;

use super::SiteKind;
use super::direct::Found;
use super::func::Ex;
use super::helpers::Helper;
use super::layout::{NONE, flag, slot};
use super::lower::Lower;
use super::memory::Reach;
use crate::program::{Space, Width};

impl<'p> Lower<'p> {
    pub(super) fn load_general(&mut self, reach: &Reach<'p>) -> Vec<Ex> {
        match reach.access.space {
            Space::Global => self.load_global(reach),
            Space::Table => self.load_local(reach, Helper::TableUnit),
            Space::Lds | Space::Exchange => self.load_local(reach, Helper::LdsLoad),
            Space::Scratch => self.load_local(reach, Helper::ScratchLoad),
        }
    }

    fn load_global(&mut self, reach: &Reach<'p>) -> Vec<Ex> {
        let (zero, u32) = (self.f.u32(0), self.types.u32);
        let outs: Vec<Ex> = (0..reach.units)
            .map(|_| {
                let out = self.f.local(u32, None);
                self.f.store(out, zero);
                out
            })
            .collect();
        let any = self.any_valid(reach);
        self.guard(any, |l| {
            let site = l.access_site(SiteKind::Read, reach.access);
            l.note_escape(reach, site);
            let size = l.existing_bytes(reach);
            l.unit_by_unit(reach, |l, number, address| {
                let [low, high] = l.halves(address);
                let (bytes, site) = (l.f.u32(reach.width()), l.f.u32(site));
                let unit = l.helper(Helper::LoadUnit);
                let value = l.f.call_value(unit, vec![low, high, bytes, site, size]);
                l.put(&outs, number, value);
            });
        });
        outs.into_iter().map(|out| self.f.load(out)).collect()
    }

    /// Notes an access that leaves its slot's window, where others rely on slots being apart.
    pub(super) fn note_escape(&mut self, reach: &Reach<'p>, site: u32) {
        let (true, Some(index)) = (self.plan.slots_apart, self.window_of(reach.access)) else { return };
        let offset = self.window_offset(index, reach.address);
        let (size, bytes) = (self.word_of(index, slot::BYTES), self.existing_bytes(reach));
        let f = &mut self.f;
        let (bytes, size) = (f.widen(bytes), f.widen(size));
        // The start is compared first, so that the end does not go round.
        let starts_beyond = f.gt(offset, size);
        let end = f.add(offset, bytes);
        let ends_beyond = f.gt(end, size);
        let escaped = f.either(starts_beyond, ends_beyond);
        self.note(escaped, flag::ESCAPE, site, None);
    }

    /// Stores `value` in the cell of unit `number` (the only one, if there is no number).
    fn put(&mut self, outs: &[Ex], number: Option<Ex>, value: Ex) {
        let Some(number) = number else {
            return outs.iter().for_each(|out| self.f.store(*out, value));
        };
        for (i, out) in (0..).zip(outs) {
            let this = self.f.is_u32(number, i);
            self.f.when(this, |f| f.store(*out, value));
        }
    }

    /// The value for unit `number` (the only one, if there is no number).
    fn pick(&mut self, values: &[Ex], number: Option<Ex>) -> Ex {
        let Some((last, others)) = values.split_last() else { return self.f.u32(0) };
        let Some(number) = number else { return *last };
        (0..).zip(others).fold(*last, |rest, (i, value)| {
            let this = self.f.is_u32(number, i);
            self.f.select(this, *value, rest)
        })
    }

    /// Loads from the tables, LDS or scratch.
    fn load_local(&mut self, reach: &Reach<'p>, unit: Helper) -> Vec<Ex> {
        let function = self.helper(unit);
        let first = self.first_scratch_word(unit == Helper::ScratchLoad);
        (0..reach.units)
            .map(|i| {
                let (at, bytes) =
                    (self.f.add_u32(reach.address, i * reach.width()), self.f.u32(reach.width()));
                let value = self.f.call_value(function, first.into_iter().chain([at, bytes]).collect());
                let zero = self.f.u32(0);
                match self.unit_valid(reach, i) {
                    Some(exists) => self.f.select(exists, value, zero),
                    None => value,
                }
            })
            .collect()
    }

    /// Words of LDS or scratch that are known to exist.
    pub(super) fn local_words(&mut self, reach: &Reach<'p>) -> Vec<Ex> {
        let scratch = reach.access.space == Space::Scratch;
        let function = self.helper(if scratch { Helper::ScratchLoad } else { Helper::LdsLoad });
        let (first, four) = (self.first_scratch_word(scratch), self.f.u32(4));
        (0..reach.units)
            .map(|i| {
                let at = self.f.add_u32(reach.address, 4 * i);
                self.f.call_value(function, first.into_iter().chain([at, four]).collect())
            })
            .collect()
    }

    /// Stores words of LDS or scratch that are known to exist.
    pub(super) fn store_local_words(&mut self, reach: &Reach<'p>, words: &[Ex]) {
        let scratch = reach.access.space == Space::Scratch;
        let function = self.helper(if scratch { Helper::ScratchStore } else { Helper::LdsStore });
        let (first, four) = (self.first_scratch_word(scratch), self.f.u32(4));
        for (i, word) in (0..).zip(words) {
            let at = self.f.add_u32(reach.address, 4 * i);
            self.f.call(function, first.into_iter().chain([at, four, *word]).collect());
        }
    }

    fn first_scratch_word(&mut self, scratch: bool) -> Option<Ex> {
        scratch.then(|| self.scratch_word())
    }

    pub(super) fn store_general(&mut self, reach: &Reach<'p>, values: &[Ex], check: bool) {
        let any = self.any_valid(reach);
        self.guard(any, |l| match reach.access.space {
            Space::Lds => l.store_local(reach, values, Helper::LdsStore),
            Space::Scratch => l.store_local(reach, values, Helper::ScratchStore),
            _ => l.store_global(reach, values, check),
        });
    }

    fn store_local(&mut self, reach: &Reach<'p>, values: &[Ex], unit: Helper) {
        let function = self.helper(unit);
        let first = self.first_scratch_word(unit == Helper::ScratchStore);
        for (i, value) in (0..).zip(values) {
            let (at, bytes) = (self.f.add_u32(reach.address, i * reach.width()), self.f.u32(reach.width()));
            let arguments = first.into_iter().chain([at, bytes, *value]).collect();
            let exists = self.unit_valid(reach, i);
            self.guard(exists, |l| l.f.call(function, arguments));
        }
    }

    /// Whole words in a slot's window are stored directly, since stores elsewhere have their marks by page.
    fn store_global(&mut self, reach: &Reach<'p>, values: &[Ex], check: bool) {
        let site = self.access_site(SiteKind::Write, reach.access);
        let words = matches!(reach.access.width, Width::W32 | Width::W64);
        let found = match self.window_of(reach.access) {
            Some(index) if words => Some(self.find_in_window(reach, index, SiteKind::Write)),
            _ => None,
        };
        let Some(Found { mut good, at, marks: Some(marks) }) = found else {
            return self.store_units(reach, values, check, site);
        };
        if let Some(all) = self.all_valid(reach) {
            good = self.f.both(good, all);
        }
        self.f.open();
        for (i, value) in (0..).zip(values) {
            let byte = self.f.add_u32(at, i * reach.width());
            let word = self.f.shr_u32(byte, 2);
            self.f.set_element(self.buffers.arena, word, *value);
        }
        self.mark_direct(reach, at, marks, check);
        let accept = self.f.close();
        self.f.open();
        self.store_units(reach, values, check, site);
        let reject = self.f.close();
        self.f.if_else(good, accept, reject);
    }

    fn store_units(&mut self, reach: &Reach<'p>, values: &[Ex], check: bool, site: u32) {
        self.note_escape(reach, site);
        let size = self.existing_bytes(reach);
        self.unit_by_unit(reach, |l, number, address| {
            let [low, high] = l.halves(address);
            let (bytes, site) = (l.f.u32(reach.width()), l.f.u32(site));
            let (value, check) = (l.pick(values, number), l.f.u32(u32::from(check)));
            let unit = l.helper(Helper::StoreUnit);
            l.f.call(unit, vec![low, high, bytes, value, site, size, check]);
        });
    }

    /// Finds an aligned unit through the page table, at the edges of mappings too; notes what is missing.
    pub(super) fn find_unit(&mut self, reach: &Reach<'p>) -> Found {
        let site = self.access_site(SiteKind::Atomic, reach.access);
        self.note_escape(reach, site);
        let (u32, none) = (self.types.u32, self.f.u32(NONE));
        let marks = self.f.local(u32, None);
        self.f.store(marks, none);
        let [low, high] = self.halves(reach.address);
        let last = self.f.add_u32(low, reach.width() - 1);
        let (walk, missed) = (self.helper(Helper::Walk), self.helper(Helper::Missed));
        let [first, end] = [low, last].map(|low| self.f.call_value(walk, vec![low, high]));
        let (size, number) = (self.f.u32(reach.width()), self.f.u32(site));
        for (at, low) in [(first, low), (end, last)] {
            let absent = self.f.is_u32(at, NONE);
            self.f.when(absent, |f| f.call(missed, vec![low, high, number, size]));
        }
        let [here, there] = [first, end].map(|at| self.f.isnt_u32(at, NONE));
        let both = self.f.both(here, there);
        self.f.open();
        let mark_word = self.helper(Helper::MarkWord);
        let word = self.f.call_value(mark_word, vec![first, low, high, number, size]);
        self.f.store(marks, word);
        let accept = self.f.close();
        self.f.if_else(both, accept, Block::new());
        let word = self.f.load(marks);
        Found { good: self.f.isnt_u32(word, NONE), at: first, marks: Some(word) }
    }
}
