//! Memory statements.
//!
//! An access to guest memory finds its place in the arena: through its slot's window, or through the page table if all of it
//! lies in one whole 4 KiB part. Then its units are reached directly. Otherwise it goes unit by unit through the page table.

use naga::{Block, MathFunction as M, Statement};

use super::func::Ex;
use super::helpers::{Helper, spin};
use super::layout::{NONE, flag, header, slot, slot_start};
use super::lower::Lower;
use crate::program::{Access, Expr, Space, Value, Width};

/// An access in the lane that is being emitted for.
#[derive(Clone, Copy)]
pub(super) struct Reach<'p> {
    pub(super) access: &'p Access,
    pub(super) address: Ex,
    pub(super) valid: Ex,
    pub(super) units: u32,
    /// Whether `valid` is known to cover all units.
    pub(super) whole: bool,
}

/// Where an access stands in the arena and in the marks: pointers to numbers, the first [`NONE`] if it must go unit by unit.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) at: Ex,
    pub(super) marks: Option<Ex>,
    /// What a fault says: 1 read, 2 write, 3 atomic.
    kind: u32,
}

impl Reach<'_> {
    fn bytes(&self) -> u32 {
        self.units * self.access.width.bytes()
    }
}

impl<'p> Lower<'p> {
    /// The access, with what has ended masked out.
    pub(super) fn reach(&mut self, access: &'p Access, units: usize) -> Reach<'p> {
        let (address, valid) = (self.get(access.address), self.get(access.valid));
        let units = units as u32;
        let covered =
            self.constant(access.valid).is_some_and(|v| v >= u64::from(units * access.width.bytes()));
        match self.running() {
            Some(running) => {
                let zero = self.f.u32(0);
                let valid = self.f.select(running, valid, zero);
                Reach { access, address, valid, units, whole: false }
            }
            None => Reach { access, address, valid, units, whole: covered },
        }
    }

    fn constant(&self, value: Value) -> Option<u64> {
        match self.exprs.get(&value)? {
            Expr::Const32(c) => Some(u64::from(*c)),
            Expr::Const64(c) => Some(*c),
            _ => None,
        }
    }

    /// Runs what `then` emits if any unit exists.
    pub(super) fn if_any(&mut self, reach: &Reach<'p>, then: impl FnOnce(&mut Self)) {
        if reach.whole {
            return then(self);
        }
        let some = self.f.isnt_u32(reach.valid, 0);
        self.f.open();
        then(self);
        let accept = self.f.close();
        self.f.if_else(some, accept, Block::new());
    }

    /// Whether all units exist.
    fn all_valid(&mut self, reach: &Reach<'p>) -> Option<Ex> {
        if reach.whole || reach.units == 1 {
            return None;
        }
        // Unit i exists if i * width < valid.
        let last = self.f.u32((reach.units - 1) * reach.access.width.bytes());
        Some(self.f.gt(reach.valid, last))
    }

    /// The bytes of the units that exist.
    fn existing_bytes(&mut self, reach: &Reach<'p>) -> Ex {
        let all = self.f.u32(reach.bytes());
        if reach.whole || reach.units == 1 {
            return all;
        }
        let width = reach.access.width.bytes();
        let up = self.f.add_u32(reach.valid, width - 1);
        // `valid` may be so large that this went round.
        let large = self.f.gt(reach.valid, all);
        let up = self.f.select(large, all, up);
        let rounded = self.f.and_u32(up, !(width - 1));
        self.f.math(M::Min, &[rounded, all])
    }

    fn word_of(&mut self, index: u16, word: u32) -> Ex {
        let start = slot_start(self.program.params.len(), usize::from(index));
        self.launch_word(start + word)
    }

    /// Finds where a guest access of a kind (1 read, 2 write, 3 atomic) stands.
    pub(super) fn place(&mut self, reach: &Reach<'p>, align: u32, kind: u32) -> Place {
        let none = self.f.u32(NONE);
        let u32 = self.types.u32;
        let mut pointer = || {
            let pointer = self.f.local(u32, None);
            self.f.store(pointer, none);
            pointer
        };
        let place = Place { at: pointer(), marks: (kind != 1).then(&mut pointer), kind };
        let valid = self.all_valid(reach);
        if let Some(valid) = valid {
            self.f.open();
            self.place_valid(reach, align, place);
            let accept = self.f.close();
            self.f.if_else(valid, accept, Block::new());
        } else {
            self.place_valid(reach, align, place);
        }
        place
    }

    fn place_valid(&mut self, reach: &Reach<'p>, align: u32, place: Place) {
        match reach.access.slot {
            Some(slot) => self.place_in_slot(reach, slot, align, place),
            None => self.place_in_page(reach, align, place),
        }
    }

    fn place_in_slot(&mut self, reach: &Reach<'p>, index: u16, align: u32, place: Place) {
        let size = if place.marks.is_some() { slot::WRITABLE } else { slot::BYTES };
        let [low, high, size, arena] =
            [slot::LOW, slot::HIGH, size, slot::ARENA].map(|w| self.word_of(index, w));
        let f = &mut self.f;
        let base = f.pack(low, high);
        let mask = f.u64(0xffff_ffff_ffff);
        let address = f.and(reach.address, mask);
        let offset = f.sub(address, base);
        // First bytes that leave room: size - bytes + 1 of them.
        let bytes = f.u32(reach.bytes() - 1);
        let zero = f.u32(0);
        let (fits, room) = (f.gt(size, bytes), f.sub(size, bytes));
        let room = f.select(fits, room, zero);
        let room = f.widen(room);
        let mut good = f.lt(offset, room);
        let offset = f.low(offset);
        if align > 1 {
            let rest = f.and_u32(offset, align - 1);
            let aligned = f.is_u32(rest, 0);
            good = f.both(good, aligned);
        }
        f.when(good, |f| {
            let at = f.add(arena, offset);
            f.store(place.at, at);
        });
        if let Some(marks) = place.marks {
            let start = self.word_of(index, slot::MARKS);
            let word = self.f.shr_u32(offset, 5);
            let word = self.f.add(start, word);
            self.f.store(marks, word);
        }
    }

    fn place_in_page(&mut self, reach: &Reach<'p>, align: u32, place: Place) {
        let low = self.f.low(reach.address);
        let high = self.f.high(reach.address);
        let offset = self.f.and_u32(low, 0xfff);
        let last = self.f.u32(0x1000 - reach.bytes());
        let mut good = self.f.le(offset, last);
        if align > 1 {
            let rest = self.f.and_u32(low, align - 1);
            let aligned = self.f.is_u32(rest, 0);
            good = self.f.both(good, aligned);
        }
        self.f.open();
        let walk = self.helper(Helper::WalkPart);
        let at = self.f.call_value(walk, vec![low, high]);
        match place.marks {
            None => self.f.store(place.at, at),
            Some(marks) => {
                let found = self.f.isnt_u32(at, NONE);
                self.f.open();
                self.place_marked(reach, at, [low, high], Place { marks: Some(marks), ..place });
                let accept = self.f.close();
                self.f.if_else(found, accept, Block::new());
            }
        }
        let accept = self.f.close();
        self.f.if_else(good, accept, Block::new());
    }

    /// Takes arena byte `at` as the place if it has marks; without them nothing may be stored.
    pub(super) fn place_marked(&mut self, reach: &Reach<'p>, at: Ex, [low, high]: [Ex; 2], place: Place) {
        let Some(marks) = place.marks else { return };
        let size = self.existing_bytes(reach);
        let (pc, kind) = (self.f.u32(reach.access.pc), self.f.u32(place.kind));
        let high = self.f.and_u32(high, 0xffff);
        let mark_word = self.helper(Helper::MarkWord);
        let word = self.f.call_value(mark_word, vec![at, low, high, pc, size, kind]);
        self.f.store(marks, word);
        let some = self.f.isnt_u32(word, NONE);
        self.f.when(some, |f| f.store(place.at, at));
    }

    /// Notes that an access left its slot's window, where others rely on slots being apart.
    pub(super) fn note_escape(&mut self, reach: &Reach<'p>) {
        if !self.plan.slots_apart || reach.access.slot.is_none() {
            return;
        }
        let blame = self.helper(Helper::Blame);
        let (cause, pc, zero) = (self.f.u32(flag::ESCAPE), self.f.u32(reach.access.pc), self.f.u32(0));
        self.f.call(blame, vec![cause, pc, zero, zero, zero, zero]);
    }

    /// Runs `each` for the units that exist, with the number of the unit and its address.
    fn unit_by_unit(&mut self, reach: &Reach<'p>, each: impl FnOnce(&mut Self, Option<Ex>, Ex)) {
        if reach.units == 1 {
            return each(self, None, reach.address);
        }
        let (zero, spins, width) = (self.f.u32(0), self.helpers.spins, reach.access.width.bytes());
        let number = self.f.local(self.types.u32, None);
        self.f.store(number, zero);
        self.f.open();
        let i = self.f.load(number);
        let bytes = self.f.u32(width);
        let offset = self.f.mul(i, bytes);
        let (end, beyond) = (self.f.u32(reach.units), self.f.ge(offset, reach.valid));
        let last = self.f.ge(i, end);
        let done = self.f.either(last, beyond);
        self.f.when(done, |f| f.push(Statement::Break));
        let offset = self.f.widen(offset);
        let address = self.f.add(reach.address, offset);
        each(self, Some(i), address);
        let next = self.f.add_u32(i, 1);
        self.f.store(number, next);
        spin(&mut self.f, spins, 1);
        let body = self.f.close();
        self.f.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
    }

    /// A `u64` address as the helpers take it.
    pub(super) fn halves(&mut self, address: Ex) -> [Ex; 2] {
        let high = self.f.high(address);
        [self.f.low(address), self.f.and_u32(high, 0xffff)]
    }

    /// Loads units; gives their values.
    pub(super) fn load(&mut self, reach: &Reach<'p>) -> Vec<Ex> {
        if reach.access.space == Space::Table {
            return self.load_table(reach);
        }
        let (zero, u32) = (self.f.u32(0), self.types.u32);
        let outs: Vec<Ex> = (0..reach.units)
            .map(|_| {
                let out = self.f.local(u32, None);
                self.f.store(out, zero);
                out
            })
            .collect();
        self.if_any(reach, |l| match reach.access.space {
            Space::Global => l.load_global(reach, &outs),
            Space::Lds => l.load_local(reach, &outs, Helper::LdsLoad),
            _ => l.load_local(reach, &outs, Helper::ScratchLoad),
        });
        outs.into_iter().map(|out| self.f.load(out)).collect()
    }

    /// Loads from the tables; what does not exist reads as 0 there anyway.
    fn load_table(&mut self, reach: &Reach<'p>) -> Vec<Ex> {
        let unit = self.helper(Helper::TableUnit);
        let bytes = self.f.u32(reach.access.width.bytes());
        (0..reach.units)
            .map(|i| {
                let offset = i * reach.access.width.bytes();
                let at = self.f.add_u32(reach.address, offset);
                let value = self.f.call_value(unit, vec![at, bytes]);
                let (start, zero) = (self.f.u32(offset), self.f.u32(0));
                let exists = self.f.gt(reach.valid, start);
                self.f.select(exists, value, zero)
            })
            .collect()
    }

    fn load_global(&mut self, reach: &Reach<'p>, outs: &[Ex]) {
        let width = reach.access.width;
        let place = self.place(reach, width.bytes(), 1);
        let at = self.f.load(place.at);
        let direct = self.f.isnt_u32(at, NONE);
        self.f.open();
        let source = if self.only_read(reach.access) { self.buffers.reads } else { self.buffers.arena };
        for (i, out) in (0..).zip(outs) {
            let byte = self.f.add_u32(at, i * width.bytes());
            let word = self.f.shr_u32(byte, 2);
            let word = self.f.element(source, word);
            let value = self.unit_of(word, byte, width);
            self.f.store(*out, value);
        }
        let accept = self.f.close();
        self.f.open();
        self.note_escape(reach);
        let size = self.existing_bytes(reach);
        self.unit_by_unit(reach, |l, number, address| {
            let [low, high] = l.halves(address);
            let (bytes, pc) = (l.f.u32(width.bytes()), l.f.u32(reach.access.pc));
            let unit = l.helper(Helper::LoadUnit);
            let value = l.f.call_value(unit, vec![low, high, bytes, pc, size]);
            l.put(outs, number, value);
        });
        let reject = self.f.close();
        self.f.if_else(direct, accept, reject);
    }

    /// Whether a slot is only read, so that loads need not see stores.
    fn only_read(&self, access: &Access) -> bool {
        let written = |s: u16| self.program.slots.get(usize::from(s)).is_none_or(|s| s.written);
        self.options.slots_apart && self.plan.slots_apart && access.slot.is_some_and(|s| !written(s))
    }

    /// A unit of less than a word that lies in a word.
    fn unit_of(&mut self, word: Ex, byte: Ex, width: Width) -> Ex {
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

    /// Loads from LDS or scratch.
    fn load_local(&mut self, reach: &Reach<'p>, outs: &[Ex], unit: Helper) {
        let function = self.helper(unit);
        let first = self.first_scratch_word(unit == Helper::ScratchLoad);
        let width = reach.access.width.bytes();
        for (i, out) in (0..).zip(outs) {
            let (at, bytes) = (self.f.add_u32(reach.address, i * width), self.f.u32(width));
            let arguments = first.into_iter().chain([at, bytes]).collect();
            let value = self.f.call_value(function, arguments);
            let (start, zero) = (self.f.u32(i * width), self.f.u32(0));
            let exists = self.f.gt(reach.valid, start);
            let value = self.f.select(exists, value, zero);
            self.f.store(*out, value);
        }
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

    /// Stores units.
    pub(super) fn store(&mut self, reach: &Reach<'p>, values: &[Ex], check: bool) {
        self.if_any(reach, |l| match reach.access.space {
            Space::Global => l.store_global(reach, values, check),
            Space::Lds => l.store_local(reach, values, Helper::LdsStore),
            Space::Scratch => l.store_local(reach, values, Helper::ScratchStore),
            Space::Table => {}
        });
    }

    fn store_local(&mut self, reach: &Reach<'p>, values: &[Ex], unit: Helper) {
        let function = self.helper(unit);
        let first = self.first_scratch_word(unit == Helper::ScratchStore);
        let width = reach.access.width.bytes();
        for (i, value) in (0..).zip(values) {
            let start = self.f.u32(i * width);
            let exists = self.f.gt(reach.valid, start);
            let (at, bytes) = (self.f.add_u32(reach.address, i * width), self.f.u32(width));
            let arguments = first.into_iter().chain([at, bytes, *value]).collect();
            self.f.when(exists, |f| f.call(function, arguments));
        }
    }

    fn store_global(&mut self, reach: &Reach<'p>, values: &[Ex], check: bool) {
        let width = reach.access.width;
        let place = self.place(reach, width.bytes(), 2);
        let at = self.f.load(place.at);
        let direct = self.f.isnt_u32(at, NONE);
        self.f.open();
        for (i, value) in (0..).zip(values) {
            let byte = self.f.add_u32(at, i * width.bytes());
            self.store_in_word(byte, *value, width);
        }
        let word = place.marks.map(|marks| self.f.load(marks));
        if let Some(word) = word {
            self.mark(at, word, reach.bytes(), check);
        }
        let accept = self.f.close();
        self.f.open();
        self.note_escape(reach);
        let size = self.existing_bytes(reach);
        self.unit_by_unit(reach, |l, number, address| {
            let [low, high] = l.halves(address);
            let (bytes, pc) = (l.f.u32(width.bytes()), l.f.u32(reach.access.pc));
            let (value, check) = (l.pick(values, number), l.f.u32(u32::from(check)));
            let unit = l.helper(Helper::StoreUnit);
            l.f.call(unit, vec![low, high, bytes, value, pc, size, check]);
        });
        let reject = self.f.close();
        self.f.if_else(direct, accept, reject);
    }

    /// Stores a unit that lies in one word of the arena.
    fn store_in_word(&mut self, byte: Ex, value: Ex, width: Width) {
        let word = self.f.shr_u32(byte, 2);
        let mask = match width {
            Width::W8 => 0xff,
            Width::W16 => 0xffff,
            _ => return self.f.set_element(self.buffers.arena, word, value),
        };
        let place = self.f.and_u32(byte, 3);
        let shift = self.f.shl_u32(place, 3);
        let low = self.f.and_u32(value, mask);
        let mask = self.f.u32(mask);
        let (mask, bits) = (self.f.shl(mask, shift), self.f.shl(low, shift));
        let merge = self.helper(Helper::Merge);
        self.f.call(merge, vec![word, mask, bits]);
    }

    /// Marks `bytes` bytes (64 at most) from arena byte `at`, whose marks are in `word`.
    pub(super) fn mark(&mut self, at: Ex, word: Ex, bytes: u32, check: bool) {
        let (mark, check) = (self.helper(Helper::Mark), self.f.u32(u32::from(check)));
        let place = self.f.and_u32(at, 31);
        let mut start = 0;
        while start < bytes {
            let now = (bytes - start).min(32);
            let bits = self.f.u32(u32::MAX >> (32 - now));
            let here = self.f.shl(bits, place);
            let word = self.f.add_u32(word, start / 32);
            self.f.call(mark, vec![word, here, check]);
            // What does not fit the word; a single aligned word always does.
            if now > 4 {
                let above = super::pages::below_shifted(&mut self.f, bits, place);
                let some = self.f.isnt_u32(above, 0);
                let next = self.f.add_u32(word, 1);
                self.f.when(some, |f| f.call(mark, vec![next, above, check]));
            }
            start += now;
        }
    }

    /// First word of the lane's scratch in the spill buffer.
    fn scratch_word(&mut self) -> Ex {
        let start = self.wave_spill();
        let offset = self.spill.scratch_start() * self.shape.lanes;
        let start = self.f.add_u32(start, offset);
        let lane = self.at.lane[self.k];
        self.f.add(start, lane)
    }

    /// First word of the wave's part of the spill buffer.
    pub(super) fn wave_spill(&mut self) -> Ex {
        let first = self.launch_word(header::FIRST);
        let number = self.f.sub(self.at.workgroup, first);
        let waves = self.f.u32(self.shape.waves);
        let before = self.f.mul(number, waves);
        let wave = self.f.add(before, self.at.local_wave);
        let words = self.f.u32(self.spill.storage_words());
        self.f.mul(wave, words)
    }
}
