//! Memory statements: what they reach, and the way they take.
//!
//! The *direct* way does what most accesses are: units in their natural places, in the slot's window or in one whole 4 KiB part
//! of a page. The *general* way goes unit by unit where the direct way does not serve. A module that has only the direct
//! way notes what it cannot do.

use naga::{Block, MathFunction as M, Statement};

use super::func::Ex;
use super::helpers::spin;
use super::layout::{flag, slot, slot_start};
use super::lower::Lower;
use super::plan::Marking;
use super::spread::{FAR, Step};
use super::{Options, SiteKind};
use crate::program::{Access, BinOp, Expr, Program, Space, Stmt, Value};

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

impl Reach<'_> {
    pub(super) fn width(&self) -> u32 {
        self.access.width.bytes()
    }

    pub(super) fn bytes(&self) -> u32 {
        self.units * self.width()
    }
}

/// Whether all stores go to the windows of their slots.
pub(super) fn settled(program: &Program, options: &Options) -> bool {
    let elsewhere = |stmt: &Stmt| match stmt {
        Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => {
            access.space == Space::Global && window_of(program, options, access).is_none()
        }
        _ => false,
    };
    options.direct && !program.body.iter().any(|stmt| stmt.any(&elsewhere))
}

/// The slot in whose window an access is looked for.
fn window_of(program: &Program, options: &Options, access: &Access) -> Option<u16> {
    let slot = access.slot?;
    let bounded = program.slots.get(usize::from(slot)).is_some_and(|s| s.size.is_some());
    (bounded || options.pointers).then_some(slot)
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

    /// Whether any unit exists; `None`: certainly.
    pub(super) fn any_valid(&mut self, reach: &Reach<'p>) -> Option<Ex> {
        (!reach.whole).then(|| self.f.isnt_u32(reach.valid, 0))
    }

    /// Whether all units exist; `None`: if any does.
    pub(super) fn all_valid(&mut self, reach: &Reach<'p>) -> Option<Ex> {
        if reach.whole || reach.units == 1 {
            return None;
        }
        let last = self.f.u32((reach.units - 1) * reach.width());
        Some(self.f.gt(reach.valid, last))
    }

    /// Whether unit `i` exists; `None`: certainly.
    pub(super) fn unit_valid(&mut self, reach: &Reach<'p>, i: u32) -> Option<Ex> {
        if reach.whole {
            return None;
        }
        let start = self.f.u32(i * reach.width());
        Some(self.f.gt(reach.valid, start))
    }

    /// The bytes of the units that exist, as far as any does.
    pub(super) fn existing_bytes(&mut self, reach: &Reach<'p>) -> Ex {
        let all = self.f.u32(reach.bytes());
        if reach.whole || reach.units == 1 {
            return all;
        }
        let width = reach.width();
        let least = self.f.math(M::Min, &[reach.valid, all]);
        let up = self.f.add_u32(least, width - 1);
        self.f.and_u32(up, !(width - 1))
    }

    /// Runs what `then` emits where `condition` holds.
    pub(super) fn guard(&mut self, condition: Option<Ex>, then: impl FnOnce(&mut Self)) {
        let Some(condition) = condition else { return then(self) };
        self.f.open();
        then(self);
        let accept = self.f.close();
        self.f.if_else(condition, accept, Block::new());
    }

    /// `a && b`, where `None` is true.
    pub(super) fn all_of(&mut self, a: Option<Ex>, b: Option<Ex>) -> Option<Ex> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.f.both(a, b)),
            (one, other) => one.or(other),
        }
    }

    /// Word of a slot's record.
    pub(super) fn word_of(&mut self, index: u16, word: u32) -> Ex {
        let start = slot_start(self.program.params.len(), usize::from(index));
        self.launch_word(start + word)
    }

    /// Byte in a slot's window of an address, if the window is large, and as a `u64`.
    pub(super) fn window_offset(&mut self, index: u16, address: Ex) -> Ex {
        let [low, high] = [slot::LOW, slot::HIGH].map(|w| self.word_of(index, w));
        let base = self.f.pack(low, high);
        let mask = self.f.u64(0xffff_ffff_ffff);
        let address = self.f.and(address, mask);
        self.f.sub(address, base)
    }

    /// A `u64` address as two words, the high one of 16 bits.
    pub(super) fn halves(&mut self, address: Ex) -> [Ex; 2] {
        let high = self.f.high(address);
        [self.f.low(address), self.f.and_u32(high, 0xffff)]
    }

    /// The halves of an access' address, the high one of 16 bits.
    pub(super) fn address_halves(&mut self, reach: &Reach<'p>) -> [Ex; 2] {
        match self.exprs.get(&reach.access.address).copied() {
            // In the whole-wave holding only what later statements name is at hand.
            Some(Expr::Bin(BinOp::Pack, low, high)) if !self.shape.whole => {
                let (low, high) = (self.get(low), self.get(high));
                [low, self.f.and_u32(high, 0xffff)]
            }
            _ => self.halves(reach.address),
        }
    }

    /// The slot in whose window an access is looked for.
    pub(super) fn window_of(&self, access: &Access) -> Option<u16> {
        window_of(self.program, &self.options, access)
    }

    /// Whether a slot is only read, so that loads need not see stores.
    pub(super) fn only_read(&self, access: &Access) -> bool {
        let written = |s: u16| self.program.slots.get(usize::from(s)).is_none_or(|s| s.written);
        self.plan.slots_apart && access.slot.is_some_and(|s| !written(s))
    }

    /// Loads units; gives their values.
    pub(super) fn load(&mut self, reach: &Reach<'p>) -> Vec<Ex> {
        if reach.access.space == Space::Exchange {
            return self.told(reach).into_iter().collect();
        }
        if self.options.direct { self.load_direct(reach) } else { self.load_general(reach) }
    }

    /// Notes it if lanes that are a step apart store what others do.
    fn note_overlap(&mut self, reach: &Reach<'p>, step: Step) {
        let (of, times) = (self.get(step.of), self.f.u32(step.times));
        let (step, bytes) = (self.f.mul(of, times), self.f.u32(reach.bytes()));
        let room = self.f.u32(FAR - reach.bytes().min(FAR));
        let beyond = self.f.sub(step, bytes);
        let close = self.f.ge(beyond, room);
        let any = self.any_valid(reach);
        let happened = self.all_of(any, Some(close)).unwrap_or(close);
        let site = self.access_site(SiteKind::Write, reach.access);
        self.note(happened, flag::ORDER, site, None);
    }

    /// Stores units.
    pub(super) fn store(&mut self, reach: &Reach<'p>, values: &[Ex], marking: Marking) {
        if let Marking::Stepped(step) = marking {
            self.note_overlap(reach, step);
        }
        match reach.access.space {
            Space::Table => {}
            Space::Exchange => self.tell(reach, values),
            _ if self.options.direct => self.store_direct(reach, values, marking),
            _ => self.store_general(reach, values, marking == Marking::Checked),
        }
    }

    /// The word that a lane finds in the exchange.
    fn told(&mut self, reach: &Reach<'p>) -> Option<Ex> {
        let exchanged = self.exchanged?;
        let word = self.f.shr_u32(reach.address, 2);
        Some(self.f.element(exchanged, word))
    }

    /// Leaves a word in the exchange.
    fn tell(&mut self, reach: &Reach<'p>, values: &[Ex]) {
        let (Some(exchanged), [what]) = (self.exchanged, values) else { return };
        let any = self.any_valid(reach);
        self.guard(any, |l| {
            let word = l.f.shr_u32(reach.address, 2);
            l.f.set_element(exchanged, word, *what);
        });
    }

    /// Runs `each` for the units that exist, with the number of the unit and its address.
    pub(super) fn unit_by_unit(&mut self, reach: &Reach<'p>, each: impl FnOnce(&mut Self, Option<Ex>, Ex)) {
        if reach.units == 1 {
            return each(self, None, reach.address);
        }
        let (zero, spins, width) = (self.f.u32(0), self.helpers.spins, reach.width());
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

    /// First word of the lane's scratch in the spill buffer.
    pub(super) fn scratch_word(&mut self) -> Ex {
        let start = self.wave_spill();
        let offset = self.spill.scratch_start() * self.shape.lanes;
        let start = self.f.add_u32(start, offset);
        let lane = self.at.lane[self.k];
        self.f.add(start, lane)
    }

    /// First word of the wave's part of the spill buffer.
    pub(super) fn wave_spill(&mut self) -> Ex {
        let first = self.launch_word(super::layout::header::FIRST);
        let number = self.f.sub(self.at.workgroup, first);
        let waves = self.f.u32(self.shape.waves);
        let before = self.f.mul(number, waves);
        let wave = self.f.add(before, self.at.local_wave);
        let words = self.f.u32(self.spill.storage_words());
        self.f.mul(wave, words)
    }
}
