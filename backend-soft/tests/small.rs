//! Programs small enough to work out by hand.

#[cfg(test)]
mod support;

use guestwave_cp::{AccessKind, MemoryFault};
use guestwave_translate::backend::codes;
use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, Rate, Space, Stmt, Type, UnOp, Value, WaveOp, Width,
};
use support::{Arena, agree, launch};

const BASE: u64 = 0x1_0000;

fn access(space: Space, address: Value, valid: Value) -> Access {
    Access { space, address, valid, width: Width::W32, pc: 0x40, slot: None }
}

/// Stores a `B32` of each lane at word `lane` from `BASE`.
fn store_lanes(b: &mut Builder, value: Value) {
    let (lane, four) = (b.builtin(Builtin::Lane), b.c32(4));
    let offset = b.bin(BinOp::Mul, lane, four);
    let (base, offset) = (b.c64(BASE), b.un(UnOp::Extend, offset));
    let address = b.bin(BinOp::Add, base, offset);
    b.store(vec![value], access(Space::Global, address, four));
}

fn block(b: &mut Builder, f: impl FnOnce(&mut Builder)) -> Vec<Stmt> {
    b.open();
    f(b);
    b.close()
}

#[test]
fn lanes_store_their_numbers() {
    let mut b = Builder::new("lanes", 64);
    let lane = b.builtin(Builtin::Lane);
    store_lanes(&mut b, lane);
    let (outcome, memory) = agree(&b.finish(), &launch(1, 1), &Arena::new().with(BASE, &[0xaa; 300]));
    assert_eq!(outcome.unwrap().stored, vec![BASE..BASE + 256]);
    assert_eq!([0, 4, 252, 256].map(|at| memory.word(BASE + at)), [0, 1, 63, 0xaaaa_aaaa]);
}

#[test]
fn lanes_leave_a_loop_by_themselves() {
    let mut b = Builder::new("loop", 32);
    let (count, one) = (b.var("count", Type::B32, Rate::Varying), b.c32(1));
    let lane = b.builtin(Builtin::Lane);
    let body = block(&mut b, |b| {
        let old = b.get(count);
        let done = b.bin(BinOp::Eq, old, lane);
        let then = block(b, |b| b.push(Stmt::Break));
        b.push(Stmt::If { cond: done, then, otherwise: vec![] });
        let next = b.bin(BinOp::Add, old, one);
        b.set(count, next);
    });
    b.push(Stmt::Loop { body });
    let total = b.get(count);
    store_lanes(&mut b, total);
    let program = b.finish();
    let arena = Arena::new().with(BASE, &[0; 128]);
    let (_, memory) = agree(&program, &launch(1, 1), &arena);
    assert!((0..32).all(|i| memory.word(BASE + 4 * i) == i as u32));
    for (budget, fine) in [(31, false), (32, true)] {
        let mut short = launch(1, 1);
        short.budget = budget;
        let (outcome, _) = agree(&program, &short, &arena);
        assert_eq!(outcome.map_err(|f| f.code).err(), (!fine).then_some(codes::BUDGET));
    }
}

#[test]
fn wave_operations_see_all_lanes() {
    let mut b = Builder::new("wave", 32);
    let (lane, five, zero, one) = (b.builtin(Builtin::Lane), b.c32(5), b.c32(0), b.c32(1));
    let twice = b.bin(BinOp::Add, lane, lane);
    let low = b.bin(BinOp::LtU, lane, five);
    let ballot = b.wave(WaveOp::Ballot(low));
    let bits = b.un(UnOp::Low, ballot);
    let half = b.bin(BinOp::ShrU, lane, one);
    let sent = b.wave(WaveOp::Send { value: lane, lane: half, active: low });
    let read = b.wave(WaveOp::ReadLane { value: twice, lane: five });
    let spread = b.wave(WaveOp::Shuffle { value: twice, lane: zero });
    let sum = [sent, read, spread].into_iter().fold(bits, |sum, v| b.bin(BinOp::Add, sum, v));
    store_lanes(&mut b, sum);
    let (_, memory) = agree(&b.finish(), &launch(1, 1), &Arena::new().with(BASE, &[0; 128]));
    let words = [0, 4, 8, 12].map(|at| memory.word(BASE + at));
    assert_eq!(words, [1, 3, 4, 0].map(|sent| 0b11111 + sent + 10));
}

#[test]
fn a_fault_puts_back_what_was_stored() {
    let mut b = Builder::new("fault", 32);
    let lane = b.builtin(Builtin::Lane);
    store_lanes(&mut b, lane);
    let arena = Arena::new().with(BASE, &[7; 66]);
    let (outcome, memory) = agree(&b.finish(), &launch(1, 1), &arena);
    let fault = outcome.unwrap_err();
    assert_eq!((fault.code, fault.pc), (codes::MEMORY, Some(0x40)));
    let expected = MemoryFault { address: BASE + 66, size: 4, kind: AccessKind::Write };
    assert_eq!(fault.fault, Some(expected));
    assert_eq!(memory.bytes(), [7; 66]);
}

#[test]
fn waves_of_a_group_meet_at_barriers() {
    let mut b = Builder::new("barrier", 32);
    b.program_mut().lds_bytes = 8;
    let (wave, four, one) = (b.builtin(Builtin::WaveInGroup), b.c32(4), b.c32(1));
    let (mine, other) = (b.bin(BinOp::Mul, wave, four), b.bin(BinOp::Sub, one, wave));
    let theirs = b.bin(BinOp::Mul, other, four);
    let hundred = b.c32(100);
    let value = b.bin(BinOp::Add, wave, hundred);
    b.store(vec![value], access(Space::Lds, mine, four));
    b.push(Stmt::Barrier { pc: 8 });
    let seen = b.load(1, access(Space::Lds, theirs, four))[0];
    let number = b.builtin(Builtin::Wave);
    let offset = b.bin(BinOp::Mul, number, four);
    let (base, offset) = (b.c64(BASE), b.un(UnOp::Extend, offset));
    let address = b.bin(BinOp::Add, base, offset);
    b.store(vec![seen], access(Space::Global, address, four));
    let (_, memory) = agree(&b.finish(), &launch(4, 2), &Arena::new().with(BASE, &[0; 64]));
    assert_eq!([0, 4, 8, 12].map(|at| memory.word(BASE + at)), [101, 100, 101, 100]);
}

#[test]
fn an_access_behind_a_barrier_needs_no_more_than_its_own_operands() {
    let mut b = Builder::new("valid", 32);
    let (wave, four, none) = (b.builtin(Builtin::WaveInGroup), b.c32(4), b.c32(0));
    let first = b.bin(BinOp::Eq, wave, none);
    let valid = b.select(first, four, none);
    b.push(Stmt::Barrier { pc: 0 });
    let (address, seven) = (b.c64(BASE), b.c32(7));
    b.store(vec![seven], access(Space::Global, address, valid));
    let (outcome, memory) = agree(&b.finish(), &launch(2, 2), &Arena::new().with(BASE, &[0; 8]));
    assert_eq!(outcome.unwrap().stored, vec![BASE..BASE + 4]);
    assert_eq!(memory.word(BASE), 7);
}

/// Whether an f32 is a NaN, as translations ask it.
fn is_nan(b: &mut Builder, x: Value) -> Value {
    let (mask, infinity) = (b.c32(0x7fff_ffff), b.c32(0x7f80_0000));
    let size = b.bin(BinOp::And, x, mask);
    b.bin(BinOp::LtU, infinity, size)
}

#[test]
fn what_is_computed_for_nans_only_may_be_wanted_twice_there() {
    let mut b = Builder::new("rare", 32);
    let (lane, step, five) = (b.builtin(Builtin::Lane), b.c32(0x07ff_ffff), b.c32(5));
    let x = b.bin(BinOp::Mul, lane, step);
    let y = b.bin(BinOp::Sub, x, five);
    let (x_is_nan, y_is_nan) = (is_nan(&mut b, x), is_nan(&mut b, y));
    let rare = b.bin(BinOp::Add, x, five);
    let inner = b.select(y_is_nan, rare, y);
    let arm = b.bin(BinOp::Sub, inner, rare);
    let result = b.select(x_is_nan, arm, x);
    store_lanes(&mut b, result);
    let (outcome, memory) = agree(&b.finish(), &launch(1, 1), &Arena::new().with(BASE, &[0; 128]));
    outcome.unwrap();
    assert_eq!([15, 16].map(|lane| memory.word(BASE + 4 * lane)), [15 * 0x07ff_ffff, 0]);
}
