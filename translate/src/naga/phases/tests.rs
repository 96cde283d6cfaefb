//! Programs with phases do what they did before.

#[path = "programs.rs"]
mod programs;

use std::collections::HashSet;

use super::cut::Cutter;
use super::order::Order;
use super::{paused, phased, with_words};
use crate::backend::{Fidelity, Holding};
use crate::naga::hoist::Hoists;
use crate::naga::plan::Plan;
use crate::naga::{FloatCaps, HostCaps, Options, codes, lower, shares};
use crate::program as form;
use crate::program::eval::tests::{Flat, block, launch, run_on, store_lanes};
use crate::program::{BinOp, Builder, Builtin, Program, Stmt, verify};
use programs::{BYTES, GROUP, Parted, WAVES};

/// Workgroups that may lack waves.
fn options(holding: Holding, resumes: bool) -> Options {
    Options {
        holding,
        fidelity: Fidelity::Exact,
        waves_per_group: GROUP,
        ragged: true,
        slots_apart: false,
        direct: true,
        hoisted: false,
        pointers: false,
        resumes,
        quiet: false,
        workgroups: None,
    }
}

/// A program with phases, of lanes in invocations of their own, such that they tell each other nothing but by words.
fn of_words(program: &Program, resumes: bool) -> Program {
    let plan = Plan::new(program, Holding::Lane, false, &Hoists::default());
    with_words(program, &plan, GROUP, &options(Holding::Lane, resumes)).0
}

/// A program with phases in which waves can be held back.
fn held(program: &Program) -> Program {
    let plan = |program: &Program| Plan::of_words(program, &HashSet::new());
    paused(program, &plan(program), &plan).0
}

/// What a program leaves, which is held to the rules of all programs.
fn left(program: &Program) -> Vec<u8> {
    verify(program).unwrap();
    let memory = Flat::new(BYTES);
    run_on(program, &launch(WAVES, GROUP), &memory).unwrap();
    memory.0.into_inner().unwrap()
}

#[test]
fn programs_with_phases_leave_what_they_left_before() {
    for Parted { program, goes_back } in programs::all() {
        assert!(shares(&program));
        assert_eq!(Order::new(&Cutter::segments(&program.body, &|_| false)).goes_back, goes_back);
        let before = left(&program);
        assert_ne!(before, Flat::new(BYTES).0.into_inner().unwrap(), "it stores something");
        assert_eq!(before, left(&phased(&program, 0, &|_| false)));
        assert_eq!(before, left(&held(&program)));
        for resumes in [false, true] {
            let told = of_words(&program, resumes);
            assert_eq!(before, left(&told));
            let waves = told.body.iter().any(|s| s.any(&|s| matches!(s, Stmt::Let(_, form::Expr::Wave(_)))));
            assert!(!waves, "lanes tell each other something other than by words");
        }
    }
}

#[test]
fn a_wave_that_never_ends_uses_up_its_budget() {
    let program = phased(&programs::endless(), 0, &|_| false);
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
    let changed = phased(&program, from, &|_| false);
    verify(&changed).unwrap();
    assert_eq!(changed.body[..from], program.body[..from]);
    assert!(matches!(changed.body.last(), Some(Stmt::Loop { body }) if super::has_phases(body)));
}

/// A host with nothing of its own.
fn caps() -> HostCaps {
    HostCaps {
        floats: FloatCaps::default(),
        atomics64: false,
        subgroup: None,
        loops: None,
        workgroup_bytes: 1 << 15,
        workgroup_invocations: 1024,
        slow_integer_division: false,
        runs_all_branches: false,
        fours: false,
        preferred_invocations: 64,
    }
}

/// Its waves part at a barrier, and behind it lanes end by themselves.
#[test]
fn lanes_that_end_before_waves_that_part_are_refused() {
    let mut b = Builder::new("ends", 32);
    let (wave, lane, one) = (b.builtin(Builtin::WaveInGroup), b.builtin(Builtin::Lane), b.c32(1));
    let then = block(&mut b, |b| b.push(Stmt::Barrier { pc: 4 }));
    let first = b.bin(BinOp::LtU, wave, one);
    b.push(Stmt::If { cond: first, then, otherwise: Vec::new() });
    let cond = b.bin(BinOp::LtU, lane, one);
    b.push(Stmt::If { cond, then: vec![Stmt::Return], otherwise: Vec::new() });
    store_lanes(&mut b, lane);
    let program = b.finish();
    verify(&program).unwrap();
    let lower = |holding| lower(&program, &caps(), &options(holding, false));
    for holding in [Holding::Lane, Holding::Pair] {
        assert_eq!(lower(holding).unwrap_err().code, codes::FLOW);
    }
}
