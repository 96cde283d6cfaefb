//! Waves whose last lanes have no item.

#[cfg(test)]
mod support;

use guestwave_translate::backend::Launch;
use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, ParamSource, Program, Space, UnOp, Value, WaveOp, Width,
};
use support::{Arena, agree, launch};

const BASE: u64 = 0x1_0000;

/// Lanes with an item store what `value` gives for them; those without store too if `all`.
fn program(all: bool, value: impl FnOnce(&mut Builder, Value) -> Value) -> Program {
    let mut b = Builder::new("tail", 32);
    let (wave, lane) = (b.builtin(Builtin::Wave), b.builtin(Builtin::Lane));
    let (items, per_wave) = (b.param(ParamSource::Items), b.param(ParamSource::ItemsPerWave));
    let first = b.bin(BinOp::Mul, wave, per_wave);
    let item = b.bin(BinOp::Add, first, lane);
    let (in_wave, in_items) = (b.bin(BinOp::LtU, lane, per_wave), b.bin(BinOp::LtU, item, items));
    let exec = b.bin(BinOp::And, in_wave, in_items);
    let stored = value(&mut b, exec);
    let (four, zero) = (b.c32(4), b.c32(0));
    let offset = b.bin(BinOp::Mul, item, four);
    let (base, offset) = (b.c64(BASE), b.un(UnOp::Extend, offset));
    let address = b.bin(BinOp::Add, base, offset);
    let valid = if all { four } else { b.select(exec, four, zero) };
    let access = Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None };
    b.store(vec![stored], access);
    b.finish()
}

/// Holds a program to the evaluator for each number of items in waves of 30 of them.
fn holds(program: &Program) {
    for items in 0..70u32 {
        let launch = Launch { params: vec![items, 30], ..launch(items.div_ceil(30).max(1), 1) };
        let (outcome, memory) = agree(program, &launch, &Arena::new().with(BASE, &[0xee; 512]));
        assert!(outcome.is_ok());
        assert_eq!(memory.word(BASE + 4 * 100), 0xeeee_eeee);
    }
}

#[test]
fn lanes_with_an_item_do_all_that_they_do() {
    holds(&program(false, |b, _| b.builtin(Builtin::Lane)));
}

#[test]
fn votes_count_the_lanes_with_an_item() {
    holds(&program(false, |b, exec| {
        let votes = b.wave(WaveOp::Ballot(exec));
        b.un(UnOp::Low, votes)
    }));
    holds(&program(false, |b, exec| {
        let not = b.un(UnOp::Not, exec);
        let votes = b.wave(WaveOp::Ballot(not));
        b.un(UnOp::Low, votes)
    }));
}

#[test]
fn lanes_without_an_item_run_where_they_do_something() {
    holds(&program(true, |b, _| b.builtin(Builtin::Lane)));
    holds(&program(false, |b, _| {
        let (value, lane) = (b.builtin(Builtin::Lane), b.c32(31));
        b.wave(WaveOp::ReadLane { value, lane })
    }));
}
