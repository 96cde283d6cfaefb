//! Waves that are held back where the host would soon end their loops by itself, and go on in the next dispatch of their workgroup.
//!
//! Between phases all that a wave has is in variables, in LDS, in the exchange and in scratch. What is not in the spill buffer anyway
//! is put there at the end of a dispatch and taken from there at the start of the next: first a word that says whether the
//! wave was held back, then the variables, then the workgroup's memory, of which each wave's part of the buffer has a share.

use naga::{Barrier, Block, GlobalVariable, Handle, Statement};

use super::super::SiteKind;
use super::super::func::Ex;
use super::super::helpers::spin;
use super::super::int;
use super::super::layout::{flag, header};
use super::super::lower::{Lower, PerLane};
use super::super::shape::Shape;
use crate::program::{Program, Rate, Type};

/// Words a lane of what is no variable of the program: whether it was held back, counters, what has ended.
const OWN_WORDS: u32 = 6;

/// Words a lane that a wave needs to be held back.
pub(in super::super) fn words(program: &Program, shape: &Shape) -> u32 {
    let vars = program.vars.iter().filter(|v| !(shape.whole && v.rate == Rate::Varying));
    OWN_WORDS + vars.map(|v| v.ty.words()).sum::<u32>() + shared_rows(program, shape)
}

/// Rows of a word a lane that hold a wave's share of the workgroup's memory.
fn shared_rows(program: &Program, shape: &Shape) -> u32 {
    let words = program.lds_bytes.div_ceil(4) + program.exchange_bytes / 4;
    words.div_ceil(shape.waves).div_ceil(shape.lanes)
}

/// Something that a wave has in a variable.
#[derive(Clone, Copy)]
struct Cell {
    pointers: PerLane<Ex>,
    ty: Type,
    /// Whether each lane that an invocation holds has one.
    each: bool,
}

impl Lower<'_> {
    /// What an invocation has in variables between phases.
    fn cells(&self) -> Vec<Cell> {
        let cell = |pointer, ty| Cell { pointers: [pointer; 2], ty, each: false };
        let mut cells = vec![cell(self.counters.wave, Type::B32)];
        cells.push(Cell { pointers: self.counters.lane, ty: Type::B32, each: true });
        cells.extend(self.wave_alive.map(|alive| cell(alive, Type::Bool)));
        cells.extend(self.tally.map(|tally| cell(tally.counted, Type::Bool)));
        if let (Some(pointers), false) = (self.alive, self.shape.whole) {
            cells.push(Cell { pointers, ty: Type::Bool, each: true });
        }
        let vars = self.program.vars.iter().zip(&self.vars);
        cells.extend(vars.filter_map(|(var, pointers)| match (var.rate, *pointers) {
            (Rate::Uniform, [Some(pointer), _]) => Some(cell(pointer, var.ty)),
            // The whole-wave holding keeps these in the spill buffer.
            (Rate::Varying, [Some(first), second]) if !self.shape.whole => {
                Some(Cell { pointers: [first, second.unwrap_or(first)], ty: var.ty, each: true })
            }
            _ => None,
        }));
        cells
    }

    /// Place in the spill buffer of word `word` of what lane `k` of the invocation leaves.
    fn held_place(&mut self, word: u32, k: usize) -> Ex {
        let start = self.wave_spill();
        let offset = (self.spill.held_start() + word) * self.shape.lanes;
        let start = self.f.add_u32(start, offset);
        self.f.add(start, self.at.lane[k])
    }

    /// Runs `each` for the cells, with the first word of each and the lane of the invocation.
    fn each_cell(&mut self, each: impl Fn(&mut Self, Cell, usize, u32)) {
        let mut word = 1;
        for cell in self.cells() {
            let held = if cell.each { self.shape.components } else { 1 };
            (0..held).for_each(|k| each(self, cell, k, word));
            word += cell.ty.words();
        }
    }

    fn leave_cell(&mut self, cell: Cell, k: usize, word: u32) {
        let what = self.f.load(cell.pointers[k]);
        let halves = match cell.ty {
            Type::Bool => vec![int::from_bool(&mut self.f, what)],
            Type::B32 => vec![what],
            Type::B64 => vec![self.f.low(what), self.f.high(what)],
        };
        for (i, half) in (word..).zip(halves) {
            let place = self.held_place(i, k);
            self.f.set_element(self.buffers.spill, place, half);
        }
    }

    fn take_cell(&mut self, cell: Cell, k: usize, word: u32) {
        let place = self.held_place(word, k);
        let low = self.f.element(self.buffers.spill, place);
        let what = match cell.ty {
            Type::Bool => self.f.isnt_u32(low, 0),
            Type::B32 => low,
            Type::B64 => {
                let place = self.held_place(word + 1, k);
                let high = self.f.element(self.buffers.spill, place);
                self.f.pack(low, high)
            }
        };
        self.f.store(cell.pointers[k], what);
    }

    /// In a dispatch that is not the workgroup's first: goes on where it was held back, or ends if it was not.
    pub(super) fn take_up(&mut self) {
        let (round, place) = (self.launch_word(header::ROUND), self.held_place(0, 0));
        let again = self.f.isnt_u32(round, 0);
        self.f.open();
        let held = self.f.element(self.buffers.spill, place);
        let ended = self.f.is_u32(held, 0);
        self.f.when(ended, |f| f.ret(None));
        self.each_cell(Self::take_cell);
        let before = self.host_count();
        self.f.store(self.counters.before, before);
        self.copy_shared(true);
        if let Some(tally) = self.tally {
            // It had ended before and is counted once more.
            let counted = self.f.load(tally.counted);
            self.count_wave(tally, counted);
        }
        if self.shape.workgroup() > 1 {
            self.f.barrier(Barrier::WORK_GROUP);
        }
        let accept = self.f.close();
        self.f.if_else(again, accept, Block::new());
    }

    /// Behind the phases: leaves what the wave has if it is held back.
    pub(super) fn put_down(&mut self) {
        let Some(held) = self.tally.and_then(|t| t.held) else { return };
        let held = self.f.load(held);
        let (place, word) = (self.held_place(0, 0), int::from_bool(&mut self.f, held));
        self.f.set_element(self.buffers.spill, place, word);
        self.f.open();
        self.each_cell(Self::leave_cell);
        self.copy_shared(false);
        let accept = self.f.close();
        self.f.if_else(held, accept, Block::new());
        let last = self.launch_word(header::LAST_ROUND);
        let last = self.f.isnt_u32(last, 0);
        let over = self.f.both(held, last);
        let site = self.site(SiteKind::Loop, 0, false);
        self.note(over, flag::HOST_LOOPS, site, None);
    }

    /// Copies the workgroup's memory to the spill buffer, or from there (`back`).
    fn copy_shared(&mut self, back: bool) {
        let lds = (self.helpers.lds, self.program.lds_bytes.div_ceil(4));
        let told = (self.exchanged, self.program.exchange_bytes / 4);
        let mut start = 0;
        for (array, words) in [lds, told] {
            if let Some(array) = array {
                self.copy_array(array, start, words, back);
            }
            start += words;
        }
    }

    fn copy_array(&mut self, array: Handle<GlobalVariable>, start: u32, words: u32, back: bool) {
        let spins = self.helpers.spins;
        let invocations = self.f.u32(self.shape.invocations);
        let first = self.f.mul(self.at.local_wave, invocations);
        let first = self.f.add(first, self.at.invocation);
        let body = self.each_from(first, [words, self.shape.workgroup()], |l, word| {
            let place = l.shared_place(start, word);
            if back {
                let what = l.f.element(l.buffers.spill, place);
                l.f.set_element(array, word, what);
            } else {
                let what = l.f.element(array, word);
                l.f.set_element(l.buffers.spill, place, what);
            }
            spin(&mut l.f, spins, 1);
        });
        self.f.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
    }

    /// Place in the spill buffer of word `start + word` of the workgroup's memory.
    fn shared_place(&mut self, start: u32, word: Ex) -> Ex {
        let rows = shared_rows(self.program, &self.shape);
        let share = self.f.u32(rows * self.shape.lanes);
        let word = self.f.add_u32(word, start);
        let (wave, rest) = (self.f.div(word, share), self.f.rem(word, share));
        let own = std::mem::replace(&mut self.at.local_wave, wave);
        let spill = self.wave_spill();
        self.at.local_wave = own;
        let behind = (self.spill.held_start() + self.spill.held_words() - rows) * self.shape.lanes;
        let place = self.f.add_u32(spill, behind);
        self.f.add(place, rest)
    }
}
