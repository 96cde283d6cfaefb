//! Programs with phases do what they did before.

use super::cut::Cutter;
use super::order::Order;
use super::phased;
use crate::program::eval::tests::{Flat, access, block, launch, run_on, store_lanes};
use crate::program::{BinOp, Builder, Builtin, Program, Rate, Space, Stmt, Type, UnOp, Value, Var, verify};

const WAVES: u32 = 4;
const BYTES: usize = 128 * WAVES as usize;

/// A program under construction: each wave has a number and a sum a lane, which it stores at the end.
struct Maker {
    b: Builder,
    wave: Value,
    sum: Var,
}

impl Maker {
    fn new() -> Self {
        let mut b = Builder::new("parted", 32);
        b.program_mut().lds_bytes = 4 * WAVES;
        let (wave, lane) = (b.builtin(Builtin::WaveInGroup), b.builtin(Builtin::Lane));
        let sum = b.var("sum", Type::B32, Rate::Varying);
        b.set(sum, lane);
        Maker { b, wave, sum }
    }

    fn when(&mut self, cond: Value, then: impl FnOnce(&mut Self)) {
        self.b.open();
        then(self);
        let then = self.b.close();
        self.b.push(Stmt::If { cond, then, otherwise: Vec::new() });
    }

    fn around(&mut self, body: impl FnOnce(&mut Self)) {
        self.b.open();
        body(self);
        let body = self.b.close();
        self.b.push(Stmt::Loop { body });
    }

    /// Whether the wave's number is below `n`.
    fn below(&mut self, n: u32) -> Value {
        let n = self.b.c32(n);
        self.b.bin(BinOp::LtU, self.wave, n)
    }

    fn place(&mut self, wave: Value) -> Value {
        let (four, last) = (self.b.c32(4), self.b.c32(WAVES - 1));
        let wave = self.b.bin(BinOp::And, wave, last);
        self.b.bin(BinOp::Mul, wave, four)
    }

    /// Tells the next wave its number and what was told it by the wave before, with a barrier between; adds all that is told
    /// to the sum. What stands before the barrier is used behind it.
    fn meet(&mut self) {
        let one = self.b.c32(1);
        let (here, before) = (self.place(self.wave), self.b.bin(BinOp::Sub, self.wave, one));
        let (there, four) = (self.place(before), self.b.c32(4));
        let old = self.b.load(1, access(Space::Lds, here, four))[0];
        let sum = self.b.get(self.sum);
        let mine = self.b.bin(BinOp::Add, old, self.wave);
        let told = self.b.bin(BinOp::Add, mine, one);
        self.b.store(vec![told], access(Space::Lds, here, four));
        self.b.push(Stmt::Barrier { pc: 4 });
        let seen = self.b.load(1, access(Space::Lds, there, four))[0];
        let both = self.b.bin(BinOp::Add, seen, mine);
        let new = self.b.bin(BinOp::Add, sum, both);
        self.b.set(self.sum, new);
        self.b.push(Stmt::Barrier { pc: 8 });
    }

    fn finish(mut self) -> Program {
        let sum = self.b.get(self.sum);
        let (lane, wave, five) = (self.b.builtin(Builtin::Lane), self.wave, self.b.c32(5));
        let row = self.b.bin(BinOp::Shl, wave, five);
        let word = self.b.bin(BinOp::Add, row, lane);
        let (four, base) = (self.b.c32(4), self.b.c64(crate::program::eval::tests::BASE));
        let offset = self.b.bin(BinOp::Mul, word, four);
        let offset = self.b.un(UnOp::Extend, offset);
        let address = self.b.bin(BinOp::Add, base, offset);
        self.b.store(vec![sum], access(Space::Global, address, four));
        self.b.finish()
    }
}

/// What both forms of a program leave; the program with phases is held to the rules of all programs.
fn left(program: &Program) -> [Vec<u8>; 2] {
    let changed = phased(program, 0);
    verify(&changed).unwrap();
    [program, &changed].map(|program| {
        let memory = Flat::new(BYTES);
        run_on(program, &launch(WAVES, WAVES), &memory).unwrap();
        memory.0.into_inner().unwrap()
    })
}

fn agree(program: &Program, goes_back: bool) {
    assert_eq!(Order::new(&Cutter::segments(&program.body)).goes_back, goes_back);
    let [before, with_phases] = left(program);
    assert_eq!(before, with_phases);
    assert_ne!(before, Flat::new(BYTES).0.into_inner().unwrap(), "it stores something");
}

#[test]
fn a_barrier_in_a_branch_that_some_waves_take() {
    let mut m = Maker::new();
    let low = m.below(2);
    m.when(low, |m| {
        m.meet();
        let lowest = m.below(1);
        m.when(lowest, Maker::meet);
    });
    m.meet();
    agree(&m.finish(), false);
}

#[test]
fn a_wave_that_ends_before_a_barrier() {
    let mut m = Maker::new();
    m.meet();
    let low = m.below(1);
    m.when(low, |m| m.b.push(Stmt::Return));
    m.meet();
    agree(&m.finish(), false);
}

/// Each wave makes its own number of iterations; `meets`: whether each of them has a barrier, or every other one.
fn iterations(always: bool) -> Program {
    let mut m = Maker::new();
    let (count, one) = (m.b.var("count", Type::B32, Rate::Uniform), m.b.c32(1));
    m.around(|m| {
        let done = m.b.get(count);
        let enough = m.b.bin(BinOp::Eq, done, m.wave);
        m.when(enough, |m| m.b.push(Stmt::Break));
        let next = m.b.bin(BinOp::Add, done, one);
        m.b.set(count, next);
        let odd = m.b.bin(BinOp::And, done, one);
        let even = m.b.bin(BinOp::Ne, odd, one);
        if always {
            return m.meet();
        }
        m.when(even, |m| {
            m.meet();
            m.b.push(Stmt::Continue);
        });
        let (sum, five) = (m.b.get(m.sum), m.b.c32(5));
        let more = m.b.bin(BinOp::Mul, sum, five);
        m.b.set(m.sum, more);
    });
    m.meet();
    m.finish()
}

#[test]
fn loops_of_different_lengths() {
    agree(&iterations(true), false);
    agree(&iterations(false), true);
}

#[test]
fn what_comes_before_is_left_as_it_is() {
    let mut b = Builder::new("before", 32);
    let wave = b.builtin(Builtin::WaveInGroup);
    let then = block(&mut b, |b| b.push(Stmt::Barrier { pc: 4 }));
    let (zero, at) = (b.c32(0), b.program().body.len());
    let cond = b.bin(BinOp::Eq, wave, zero);
    b.push(Stmt::If { cond, then, otherwise: Vec::new() });
    store_lanes(&mut b, wave);
    let program = b.finish();
    let from = program.body.iter().position(|s| matches!(s, Stmt::If { .. })).unwrap();
    assert!(from > at);
    let changed = phased(&program, from);
    verify(&changed).unwrap();
    assert_eq!(changed.body[..from], program.body[..from]);
    assert!(matches!(changed.body.last(), Some(Stmt::Loop { body }) if super::has_phases(body)));
}
