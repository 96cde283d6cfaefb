//! Programs with phases do what they did before.

#[path = "programs.rs"]
mod programs;

use super::cut::Cutter;
use super::order::Order;
use super::phased;
use crate::program as form;
use crate::program::eval::tests::{Flat, block, launch, run_on, store_lanes};
use crate::program::{BinOp, Builder, Builtin, Program, Stmt, verify};
use programs::{BYTES, GROUP, Parted, WAVES};

/// What both forms of a program leave; the program with phases is held to the rules of all programs.
fn left(program: &Program) -> [Vec<u8>; 2] {
    let changed = phased(program, 0);
    verify(&changed).unwrap();
    [program, &changed].map(|program| {
        let memory = Flat::new(BYTES);
        run_on(program, &launch(WAVES, GROUP), &memory).unwrap();
        memory.0.into_inner().unwrap()
    })
}

#[test]
fn programs_with_phases_leave_what_they_left_before() {
    for Parted { program, goes_back } in programs::all() {
        assert_eq!(Order::new(&Cutter::segments(&program.body)).goes_back, goes_back);
        let [before, with_phases] = left(&program);
        assert_eq!(before, with_phases);
        assert_ne!(before, Flat::new(BYTES).0.into_inner().unwrap(), "it stores something");
    }
}

#[test]
fn a_wave_that_never_ends_uses_up_its_budget() {
    let program = phased(&programs::endless(), 0);
    let fault = run_on(&program, &launch(WAVES, GROUP), &Flat::new(BYTES)).unwrap_err();
    assert_eq!(fault.code, crate::backend::codes::BUDGET);
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
