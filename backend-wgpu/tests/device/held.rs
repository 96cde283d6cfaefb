//! Loops of more iterations than a device may run by itself.

use std::sync::Arc;

use guestwave_translate::backend::{Launch, codes};
use guestwave_translate::program::eval;
use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, Program, Rate, Space, Stmt, Type, UnOp, Value, Var, WaveOp, Width,
};

use crate::support::lane::memory::Memory;
use crate::support::{HOLDINGS, compile, launch, open, run};

const BASE: u64 = 0x1000;
/// Iterations in all: more than Mesa's software Vulkan makes.
const MANY: u32 = 70_000;
const WAVES: u32 = 3;

fn access(space: Space, address: Value, valid: Value) -> Access {
    Access { space, address, valid, width: Width::W32, pc: 0x40, slot: None }
}

struct Maker {
    b: Builder,
    sum: Var,
}

impl Maker {
    fn new(lanes: u8) -> Self {
        let mut b = Builder::new("held", lanes);
        b.program_mut().lds_bytes = 4 * u32::from(lanes);
        b.program_mut().scratch_bytes = 4;
        b.program_mut().together = true;
        let sum = b.var("sum", Type::B32, Rate::Varying);
        Maker { b, sum }
    }

    /// Runs `body` so many times, with the number.
    fn times(&mut self, times: u32, body: impl FnOnce(&mut Self, Value)) {
        let (count, one, zero) =
            (self.b.var("count", Type::B32, Rate::Uniform), self.b.c32(1), self.b.c32(0));
        self.b.set(count, zero);
        let end = self.b.c32(times);
        self.b.open();
        let now = self.b.get(count);
        let over = self.b.bin(BinOp::LeU, end, now);
        self.b.open();
        self.b.push(Stmt::Break);
        let then = self.b.close();
        self.b.push(Stmt::If { cond: over, then, otherwise: Vec::new() });
        let next = self.b.bin(BinOp::Add, now, one);
        self.b.set(count, next);
        body(self, now);
        let body = self.b.close();
        self.b.push(Stmt::Loop { body });
    }

    /// Mixes a number into each lane's sum.
    fn mix(&mut self, number: Value) {
        let (sum, factor) = (self.b.get(self.sum), self.b.c32(0x9e37_79b1));
        let (lane, wave) = (self.b.builtin(Builtin::Lane), self.b.builtin(Builtin::Wave));
        let more = self.b.bin(BinOp::Add, sum, number);
        let more = self.b.bin(BinOp::Add, more, lane);
        let more = self.b.bin(BinOp::Xor, more, wave);
        let new = self.b.bin(BinOp::Mul, more, factor);
        self.b.set(self.sum, new);
    }

    /// What another lane's sum is.
    fn ask(&mut self) {
        let (lane, one, sum) = (self.b.builtin(Builtin::Lane), self.b.c32(1), self.b.get(self.sum));
        let other = self.b.bin(BinOp::Xor, lane, one);
        let told = self.b.wave(WaveOp::Shuffle { value: sum, lane: other });
        self.mix(told);
    }

    /// Changes a word of a memory of the lane's.
    fn remember(&mut self, space: Space) {
        let (lane, two, four) = (self.b.builtin(Builtin::Lane), self.b.c32(2), self.b.c32(4));
        let zero = self.b.c32(0);
        let place = if space == Space::Lds { self.b.bin(BinOp::Shl, lane, two) } else { zero };
        let before = self.b.load(1, access(space, place, four))[0];
        self.mix(before);
        let sum = self.b.get(self.sum);
        self.b.store(vec![sum], access(space, place, four));
    }

    fn finish(mut self) -> Program {
        let (lane, wave) = (self.b.builtin(Builtin::Lane), self.b.builtin(Builtin::Wave));
        let (six, two, four, base) = (self.b.c32(6), self.b.c32(2), self.b.c32(4), self.b.c64(BASE));
        let row = self.b.bin(BinOp::Shl, wave, six);
        let item = self.b.bin(BinOp::Add, row, lane);
        let offset = self.b.bin(BinOp::Shl, item, two);
        let offset = self.b.un(UnOp::Extend, offset);
        let address = self.b.bin(BinOp::Add, base, offset);
        let sum = self.b.get(self.sum);
        self.b.store(vec![sum], access(Space::Global, address, four));
        self.b.finish()
    }
}

/// One long loop, and what lanes of the wave know of it.
fn long(lanes: u8) -> Program {
    let mut m = Maker::new(lanes);
    m.remember(Space::Lds);
    m.times(MANY, Maker::mix);
    m.remember(Space::Scratch);
    m.remember(Space::Lds);
    m.ask();
    m.finish()
}

/// Loops in loops that are long together, in which lanes ask each other and remember.
fn nested(lanes: u8) -> Program {
    let mut m = Maker::new(lanes);
    m.times(MANY / 350, |m, _| {
        m.times(350, Maker::mix);
        m.remember(Space::Scratch);
        m.remember(Space::Lds);
        m.ask();
    });
    m.finish()
}

fn memory() -> Memory {
    Memory::default().map(BASE, vec![0x5a; 256 * WAVES as usize])
}

fn job(id: guestwave_translate::backend::ProgramId, per_group: u32) -> Launch {
    Launch { budget: 1 << 26, ..launch(id, WAVES, per_group) }
}

#[test]
fn long_loops_leave_what_they_leave_on_the_evaluator() {
    let mut backend = open();
    // Two waves share LDS, and the third has its own.
    for (lanes, program) in [(32, long(32)), (64, nested(64))] {
        let (program, wanted) = (Arc::new(program), memory());
        let mut expected = None;
        for holding in HOLDINGS {
            let id = compile(&mut backend, (*program).clone(), holding);
            if expected.is_none() {
                eval::run(&program, &job(id, 1), &wanted).unwrap();
                expected = Some(wanted.all());
            }
            let found = memory();
            let completion = run(&mut backend, vec![job(id, 1)], &found);
            assert_eq!(completion.fault, None, "{lanes} lanes, {holding:?}");
            assert_eq!(Some(found.all()), expected, "{lanes} lanes, {holding:?}");
        }
    }
}

/// One whose iterations never end.
fn endless() -> Program {
    let mut m = Maker::new(32);
    m.b.open();
    let one = m.b.c32(1);
    m.mix(one);
    let body = m.b.close();
    m.b.push(Stmt::Loop { body });
    m.finish()
}

#[test]
fn a_loop_that_never_ends_is_refused_by_name() {
    let mut backend = open();
    for holding in HOLDINGS {
        let id = compile(&mut backend, endless(), holding);
        let found = memory();
        let fault = run(&mut backend, vec![job(id, 1)], &found).fault.unwrap();
        assert!([codes::HOST_LOOPS, codes::BUDGET].contains(&fault.code), "{holding:?}: {fault:?}");
        assert_eq!(found.all(), memory().all(), "{holding:?}");
    }
}

/// A loop of the wave in which a branch is never taken that has many loops over lanes.
fn idle() -> Program {
    let mut m = Maker::new(32);
    m.b.program_mut().together = false;
    let wave = m.b.builtin(Builtin::Wave);
    let total = m.b.var("total", Type::B32, Rate::Uniform);
    m.times(20_000, |m, number| {
        let many = m.b.c32(1 << 30);
        let never = m.b.bin(BinOp::LtU, many, wave);
        m.b.open();
        for _ in 0..4 {
            m.ask();
        }
        let then = m.b.close();
        m.b.push(Stmt::If { cond: never, then, otherwise: Vec::new() });
        let before = m.b.get(total);
        let after = m.b.bin(BinOp::Add, before, number);
        m.b.set(total, after);
    });
    let total = m.b.get(total);
    m.mix(total);
    m.finish()
}

#[test]
fn loops_that_nobody_comes_to_count() {
    let mut backend = open();
    for holding in HOLDINGS {
        let id = compile(&mut backend, idle(), holding);
        let (wanted, found) = (memory(), memory());
        eval::run(&idle(), &job(id, 1), &wanted).unwrap();
        match run(&mut backend, vec![job(id, 1)], &found).fault {
            None => assert_eq!(found.all(), wanted.all(), "{holding:?}"),
            Some(fault) => assert_eq!(fault.code, codes::HOST_LOOPS, "{holding:?}: {fault:?}"),
        }
    }
}
