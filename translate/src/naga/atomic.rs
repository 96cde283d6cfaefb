//! Atomics, and statements that are done lane by lane because the order of lanes can be seen.

use naga::{
    AtomicFunction as A, BinaryOperator as N, Block, GlobalVariable, Handle, ScalarKind as K, Statement,
};

use super::direct::Found;
use super::func::{Ex, Func};
use super::helpers::spin;
use super::layout::NONE;
use super::lower::Lower;
use super::memory::Reach;
use super::ops::viewed;
use super::plan::Marking;
use super::{SiteKind, int, parts};
use crate::program::{Access, AtomicOp, Space, Stmt, Type, Value, Width};

/// What an atomic does with what.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    pub(super) op: AtomicOp,
    pub(super) data: Value,
    pub(super) compare: Option<Value>,
}

/// The same with operands at hand.
#[derive(Clone, Copy)]
struct Ready {
    op: AtomicOp,
    ty: Type,
    data: Ex,
    compare: Ex,
}

/// naga's own atomics on unsigned numbers.
const NATIVE: &[(AtomicOp, A)] = &[
    (AtomicOp::Swap, A::Exchange { compare: None }),
    (AtomicOp::Add, A::Add),
    (AtomicOp::Sub, A::Subtract),
    (AtomicOp::MinU, A::Min),
    (AtomicOp::MaxU, A::Max),
    (AtomicOp::And, A::And),
    (AtomicOp::Or, A::InclusiveOr),
    (AtomicOp::Xor, A::ExclusiveOr),
];

fn one(f: &mut Func, ty: Type) -> Ex {
    if ty == Type::B64 { f.u64(1) } else { f.u32(1) }
}

fn zero(f: &mut Func, ty: Type) -> Ex {
    if ty == Type::B64 { f.u64(0) } else { f.u32(0) }
}

/// What an atomic leaves where `old` was.
fn combine(f: &mut Func, x: Ready, old: Ex) -> Ex {
    let pair = [old, x.data];
    match x.op {
        AtomicOp::Swap => x.data,
        AtomicOp::CompareSwap => {
            let same = f.eq(old, x.compare);
            f.select(same, x.data, old)
        }
        AtomicOp::Add => f.add(old, x.data),
        AtomicOp::Sub => f.sub(old, x.data),
        AtomicOp::And => f.and(old, x.data),
        AtomicOp::Or => f.or(old, x.data),
        AtomicOp::Xor => f.xor(old, x.data),
        AtomicOp::MinS => int::min_s(f, pair, x.ty),
        AtomicOp::MinU => int::min_u(f, pair, x.ty),
        AtomicOp::MaxS => int::max_s(f, pair, x.ty),
        AtomicOp::MaxU => int::max_u(f, pair, x.ty),
        AtomicOp::IncWrap | AtomicOp::DecWrap => wrap(f, x, old),
        AtomicOp::SubClamp => {
            let (less, none) = (f.sub(old, x.data), zero(f, x.ty));
            let enough = f.ge(old, x.data);
            f.select(enough, less, none)
        }
        AtomicOp::MinF | AtomicOp::MaxF => float_pick(f, x, old),
    }
}

fn wrap(f: &mut Func, x: Ready, old: Ex) -> Ex {
    let (one, none) = (one(f, x.ty), zero(f, x.ty));
    if x.op == AtomicOp::IncWrap {
        let (at_end, more) = (f.ge(old, x.data), f.add(old, one));
        return f.select(at_end, none, more);
    }
    let (empty, above) = (f.eq(old, none), f.gt(old, x.data));
    let (restart, less) = (f.either(empty, above), f.sub(old, one));
    f.select(restart, x.data, less)
}

/// The smaller or larger of two floats as sign-magnitude numbers; a NaN loses, and of two NaNs the old one stays.
fn float_pick(f: &mut Func, x: Ready, old: Ex) -> Ex {
    let [(old_key, old_nan), (key, nan)] = [old, x.data].map(|v| float_key(f, v, x.ty));
    let test = if x.op == AtomicOp::MinF { N::Less } else { N::Greater };
    let better = viewed(f, K::Sint, test, [key, old_key]);
    let better = f.either(better, old_nan);
    let number = f.not(nan);
    let taken = f.both(better, number);
    f.select(taken, x.data, old)
}

/// A signed number that orders as the float does, -0 below 0, and whether it is a NaN.
fn float_key(f: &mut Func, v: Ex, ty: Type) -> (Ex, Ex) {
    let (top, infinity) = if ty == Type::B64 {
        (f.u64(u64::MAX >> 1), f.u64(0x7ff0_0000_0000_0000))
    } else {
        (f.u32(u32::MAX >> 1), f.u32(0x7f80_0000))
    };
    let magnitude = f.and(v, top);
    let negative = f.gt(v, top);
    let flipped = f.un(naga::UnaryOperator::BitwiseNot, magnitude);
    (f.select(negative, flipped, magnitude), f.gt(magnitude, infinity))
}

impl<'p> Lower<'p> {
    fn ready(&mut self, operands: Operands) -> Ready {
        let data = self.get(operands.data);
        let compare = operands.compare.map_or(data, |c| self.get(c));
        Ready { op: operands.op, ty: self.program.info(operands.data).ty, data, compare }
    }

    /// An atomic of the lane that is being emitted for.
    pub(super) fn atomic_lane(&mut self, dst: Option<Value>, operands: Operands, access: &'p Access) {
        let reach = self.reach(access, 1);
        let ready = self.ready(operands);
        let old = self.atomic(&reach, ready);
        if let Some(dst) = dst {
            self.set(dst, old);
        }
    }

    /// An atomic of the wave: one invocation does it and tells the others.
    pub(super) fn atomic_once(&mut self, dst: Option<Value>, operands: Operands, access: &'p Access) {
        if self.shape.invocations == 1 {
            return self.atomic_lane(dst, operands, access);
        }
        let reach = self.reach(access, 1);
        let ready = self.ready(operands);
        let (ty, none) = (self.ty(ready.ty), self.zero(ready.ty));
        let result = self.f.local(ty, None);
        self.f.store(result, none);
        let first = self.f.is_u32(self.at.invocation, 0);
        self.f.open();
        let old = self.atomic(&reach, ready);
        self.f.store(result, old);
        let accept = self.f.close();
        self.f.if_else(first, accept, Block::new());
        if let Some(dst) = dst {
            let mine = self.f.load(result);
            let all = self.broadcast(mine, ready.ty);
            self.set(dst, all);
        }
    }

    /// Does an atomic; gives the old value, 0 where there is none.
    fn atomic(&mut self, reach: &Reach<'p>, x: Ready) -> Ex {
        let (ty, none) = (self.ty(x.ty), self.zero(x.ty));
        let result = self.f.local(ty, None);
        self.f.store(result, none);
        let any = self.any_valid(reach);
        match reach.access.space {
            Space::Global => self.atomic_global(reach, any, x, result),
            _ => self.guard(any, |l| l.atomic_local(reach, x, result)),
        }
        self.f.load(result)
    }

    fn atomic_global(&mut self, reach: &Reach<'p>, any: Option<Ex>, x: Ready, result: Ex) {
        let mask = self.f.u64(0xffff_ffff_ffff & !u64::from(reach.width() - 1));
        let reach = Reach { address: self.f.and(reach.address, mask), ..*reach };
        if !self.options.direct {
            return self.guard(any, |l| {
                let found = l.find_unit(&reach);
                l.guard(Some(found.good), |l| l.atomic_found(&reach, &found, x, result));
            });
        }
        let found = self.find(&reach, SiteKind::Atomic);
        let good = self.noted(&reach, any, &found, SiteKind::Atomic);
        let mut good = self.all_of(any, Some(good));
        if let Some(marks) = found.marks {
            let marked = self.f.isnt_u32(marks, NONE);
            good = self.all_of(good, Some(marked));
        }
        self.guard(good, |l| l.atomic_found(&reach, &found, x, result));
    }

    fn atomic_found(&mut self, reach: &Reach<'p>, found: &Found, x: Ready, result: Ex) {
        let wide = reach.access.width == Width::W64;
        let (array, word) = match (wide, self.buffers.arena64) {
            (true, Some(array)) => (array, self.f.shr_u32(found.at, 3)),
            _ => (self.buffers.arena, self.f.shr_u32(found.at, 2)),
        };
        let old = self.atomic_word(array, word, x);
        self.f.store(result, old);
        if let Some(marks) = found.marks {
            self.mark_direct(reach, found.at, marks, false);
        }
    }

    /// Does an atomic on an element of an array of atomics; gives the old value.
    fn atomic_word(&mut self, array: Handle<GlobalVariable>, index: Ex, x: Ready) -> Ex {
        let (ty, swapped) = match x.ty {
            Type::B64 => (self.types.u64, self.types.swapped64),
            _ => (self.types.u32, self.types.swapped),
        };
        if let Some((_, fun)) = NATIVE.iter().find(|(op, _)| *op == x.op) {
            return self.f.atomic(array, index, *fun, x.data, ty);
        }
        if x.op == AtomicOp::CompareSwap {
            let fun = A::Exchange { compare: Some(x.compare) };
            let result = self.f.atomic(array, index, fun, x.data, swapped);
            return self.f.field(result, 0);
        }
        let spins = self.helpers.spins;
        let kept = self.f.local(ty, None);
        self.f.forever(|f| {
            let old = f.element(array, index);
            f.store(kept, old);
            let new = combine(f, x, old);
            let fun = A::Exchange { compare: Some(old) };
            let result = f.atomic(array, index, fun, new, swapped);
            let done = f.field(result, 1);
            f.when(done, |f| f.push(Statement::Break));
            spin(f, spins, 1);
        });
        self.f.load(kept)
    }

    /// An atomic on LDS or scratch.
    fn atomic_local(&mut self, reach: &Reach<'p>, x: Ready, result: Ex) {
        let bytes = reach.access.width.bytes();
        let mask = self.f.u32(!(bytes - 1));
        let at = self.f.and(reach.address, mask);
        if let (Space::Exchange, Some(exchanged)) = (reach.access.space, self.exchanged) {
            let word = self.f.shr_u32(at, 2);
            let old = self.atomic_word(exchanged, word, x);
            return self.f.store(result, old);
        }
        if reach.access.space == Space::Lds && x.ty == Type::B32 {
            return self.atomic_lds(at, x, result);
        }
        // Nobody else reaches these bytes now.
        let reach = Reach { address: at, units: bytes / 4, access: reach.access, ..*reach };
        let size = if reach.access.space == Space::Lds {
            self.program.lds_bytes
        } else {
            self.program.scratch_bytes
        };
        let inside = self.inside_local(at, bytes, size);
        self.f.open();
        let words = self.local_words(&reach);
        let old = self.word_value(&words);
        self.f.store(result, old);
        let new = combine(&mut self.f, x, old);
        let halves = if x.ty == Type::B64 { vec![self.f.low(new), self.f.high(new)] } else { vec![new] };
        self.store_local_words(&reach, &halves);
        let accept = self.f.close();
        self.f.if_else(inside, accept, Block::new());
    }

    fn inside_local(&mut self, at: Ex, bytes: u32, size: u32) -> Ex {
        match size.checked_sub(bytes) {
            Some(room) => {
                let room = self.f.u32(room);
                self.f.le(at, room)
            }
            None => self.f.bool(false),
        }
    }

    fn word_value(&mut self, words: &[Ex]) -> Ex {
        match words {
            [low, high] => self.f.pack(*low, *high),
            [word] => *word,
            _ => self.f.u32(0),
        }
    }

    fn atomic_lds(&mut self, at: Ex, x: Ready, result: Ex) {
        let Some(lds) = self.helpers.lds else { return };
        let inside = self.inside_local(at, 4, self.program.lds_bytes);
        self.f.open();
        let word = self.f.shr_u32(at, 2);
        let old = self.atomic_word(lds, word, x);
        self.f.store(result, old);
        let accept = self.f.close();
        self.f.if_else(inside, accept, Block::new());
    }

    /// A value that the wave's first invocation has, for all.
    fn broadcast(&mut self, mine: Ex, ty: Type) -> Ex {
        let zero = self.f.u32(0);
        if ty != Type::B64 {
            return self.first_word(mine, zero);
        }
        let (low, high) = (self.f.low(mine), self.f.high(mine));
        let (low, high) = (self.first_word(low, zero), self.first_word(high, zero));
        self.f.pack(low, high)
    }

    fn first_word(&mut self, mine: Ex, zero: Ex) -> Ex {
        let words = vec![mine; self.shape.components];
        let array = self.publish(&words);
        self.read_lane(array, zero)
    }

    /// Does a statement lane by lane, in order: the first invocation does it for all.
    pub(super) fn serial(&mut self, stmt: &'p Stmt) {
        let (access, dst, units) = match stmt {
            Stmt::Store { src, access } => (access, None, src.len()),
            Stmt::Atomic { dst, access, .. } => (access, *dst, 1),
            _ => return,
        };
        self.meet(true);
        self.inside = true;
        for k in 0..self.shape.components {
            self.k = k;
            let words = self.serial_words(stmt, access);
            for (word, what) in (0..).zip(words) {
                let lane = self.at.lane[k];
                self.write_serial(word, lane, what);
            }
        }
        self.k = 0;
        self.inside = false;
        self.meet(true);
        let first = self.f.is_u32(self.at.invocation, 0);
        self.f.open();
        self.for_each_lane(|l| l.serial_lane(stmt, access, units));
        let accept = self.f.close();
        self.f.if_else(first, accept, Block::new());
        self.meet(true);
        if let Some(dst) = dst {
            self.serial_results(dst);
        }
    }

    /// Operands of a serial statement: address, `valid`, data, comparand.
    fn serial_words(&mut self, stmt: &'p Stmt, access: &'p Access) -> Vec<Ex> {
        let reach = self.reach(access, 1);
        let mut words = match access.space {
            Space::Global => vec![self.f.low(reach.address), self.f.high(reach.address), reach.valid],
            _ => vec![reach.address, reach.address, reach.valid],
        };
        let values: Vec<Value> = match stmt {
            Stmt::Store { src, .. } => src.clone(),
            Stmt::Atomic { data, compare, .. } => std::iter::once(*data).chain(*compare).collect(),
            _ => Vec::new(),
        };
        for value in values {
            let what = self.get(value);
            match self.program.info(value).ty {
                Type::B64 => words.extend([self.f.low(what), self.f.high(what)]),
                _ => words.push(what),
            }
        }
        words
    }

    fn serial_lane(&mut self, stmt: &'p Stmt, access: &'p Access, units: usize) {
        let lane = self.at.lane[0];
        let [low, high, valid] = [0, 1, 2].map(|w| self.read_serial(w, lane));
        let address = if access.space == Space::Global { self.f.pack(low, high) } else { low };
        let reach = Reach { access, address, valid, units: units as u32, whole: false };
        match stmt {
            Stmt::Atomic { op, data, compare, .. } => {
                let ty = self.program.info(*data).ty;
                let data = self.serial_value(3, lane, ty);
                let compare =
                    if compare.is_some() { self.serial_value(3 + ty.words(), lane, ty) } else { data };
                let old = self.atomic(&reach, Ready { op: *op, ty, data, compare });
                let words = if ty == Type::B64 { vec![self.f.low(old), self.f.high(old)] } else { vec![old] };
                (0..).zip(words).for_each(|(word, what)| self.write_serial(word, lane, what));
            }
            _ => {
                let values: Vec<Ex> = (0..units as u32).map(|i| self.read_serial(3 + i, lane)).collect();
                self.store(&reach, &values, Marking::Lanes);
            }
        }
    }

    fn serial_value(&mut self, word: u32, lane: Ex, ty: Type) -> Ex {
        let low = self.read_serial(word, lane);
        if ty != Type::B64 {
            return low;
        }
        let high = self.read_serial(word + 1, lane);
        self.f.pack(low, high)
    }

    fn serial_results(&mut self, dst: Value) {
        let ty = self.program.info(dst).ty;
        self.inside = true;
        for k in 0..self.shape.components {
            self.k = k;
            let lane = self.at.lane[k];
            let old = self.serial_value(0, lane, ty);
            self.set(dst, old);
        }
        self.k = 0;
        self.inside = false;
    }

    fn serial_place(&mut self, word: u32, lane: Ex) -> (Handle<GlobalVariable>, Ex) {
        const WORDS: u32 = 8;
        let count = WORDS * self.shape.lanes * self.shape.waves;
        let (module, u32) = (&mut self.module, self.types.u32);
        let array = *self.serial_array.get_or_insert_with(|| parts::shared(module, "serial", u32, count));
        let wave = self.f.u32(WORDS * self.shape.lanes);
        let start = self.f.mul(self.at.local_wave, wave);
        let start = self.f.add_u32(start, word.min(WORDS - 1) * self.shape.lanes);
        (array, self.f.add(start, lane))
    }

    fn read_serial(&mut self, word: u32, lane: Ex) -> Ex {
        let (array, place) = self.serial_place(word, lane);
        self.f.element(array, place)
    }

    fn write_serial(&mut self, word: u32, lane: Ex, what: Ex) {
        let (array, place) = self.serial_place(word, lane);
        self.f.set_element(array, place, what);
    }
}
