//! What executors keep from one draw to the next is not used where it does not hold any more.

use clap::Parser;
use guestwave_cp::read_u32;

use super::draws::{CODE, Draws, INPUT, OUTPUT, draws};
use super::{EngineArgs, Work};
use crate::capture::{VaKind, VaOp};
use crate::memory::CaptureMemory;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    engine: EngineArgs,
}

/// Three points, captured by as many draws of one submission as `count` says, on every executor.
fn each(count: u32, test: impl Fn(&mut Draws)) {
    for executor in ["reference", "translate"] {
        let engine = Cli::parse_from(["bench", "--executor", executor]).engine;
        let mut points = draws(&engine, 1, 3, count).unwrap();
        for _ in 0..2 {
            points.run().unwrap();
            points.check().unwrap();
        }
        test(&mut points);
    }
}

/// The buffer object that is mapped at an address.
fn bo(memory: &CaptureMemory, address: u64) -> u32 {
    let starts = |bo: u32| memory.address_of(bo, 0) == Some(address);
    memory.buffers().iter().map(|b| b.bo).find(|bo| starts(*bo)).unwrap()
}

/// Component 2 of the second vertex.
fn third(memory: &CaptureMemory) -> f32 {
    f32::from_bits(read_u32(memory, OUTPUT + 32 + 8).unwrap())
}

/// Replaces the constant of the program that is added to component 2.
fn set_constant(memory: &CaptureMemory, to: f32) {
    let code = bo(memory, CODE);
    let mut bytes = vec![0; 4096];
    memory.buffer(code).unwrap().read(0, &mut bytes).unwrap();
    // s_mov_b32 s3 and a literal.
    let is_move = |word: &[u8]| word == 0xbe83_03ffu32.to_le_bytes();
    let at = (0..4092).step_by(4).find(|at| is_move(&bytes[*at..*at + 4])).unwrap();
    memory.fill(code, at as u64 + 4, &to.to_le_bytes()).unwrap();
}

#[test]
fn code_that_changed_at_its_address_is_the_code_that_runs() {
    each(1, |points| {
        let before = third(&points.guest.memory);
        set_constant(&points.guest.memory, 5.0);
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), before + 2.0);
        // The module of the old code is at hand; the new code is what lies there.
        set_constant(&points.guest.memory, 3.0);
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), before);
    });
}

#[test]
fn addresses_that_mean_other_memory_are_read_and_written_there() {
    each(2, |points| {
        let memory = &points.guest.memory;
        let old = memory.buffer(bo(memory, OUTPUT)).unwrap();
        memory.fill(old.bo, 0, &[0xee; 96]).unwrap();
        memory.place(OUTPUT, 96, &[], true).unwrap();
        memory.place(INPUT, 48, &[0; 48], false).unwrap();
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), 3.0);
        assert!(old.with_bytes(|bytes| bytes[..96].iter().all(|b| *b == 0xee)));
    });
}

#[test]
fn what_the_embedder_writes_between_draws_is_seen() {
    each(2, |points| {
        let memory = &points.guest.memory;
        memory.fill(bo(memory, INPUT), 0, &[0; 48]).unwrap();
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), 3.0);
    });
}

/// Runs what must fault now; nothing may be stored.
fn faults(points: &mut Draws) {
    let stored = points.guest.memory.buffers();
    let bytes = |all: &[std::sync::Arc<crate::memory::Buffer>]| -> Vec<Vec<u8>> {
        all.iter().map(|b| b.with_bytes(<[u8]>::to_vec)).collect()
    };
    let before = bytes(&stored);
    assert!(points.run().is_err());
    assert!(bytes(&stored) == before, "a draw that faulted stored something");
}

#[test]
fn addresses_that_mean_nothing_any_more_fault() {
    for address in [INPUT, OUTPUT] {
        each(1, |points| {
            let memory = &points.guest.memory;
            let op = VaOp { bo: 0, kind: VaKind::Clear, flags: 0, va: address, offset: 0, size: 4096 };
            memory.va(&op).unwrap();
            faults(points);
        });
    }
}

#[test]
fn stores_to_what_became_read_only_fault() {
    each(1, |points| {
        let memory = &points.guest.memory;
        let bo = bo(memory, OUTPUT);
        let op = VaOp { bo, kind: VaKind::Replace, flags: 0, va: OUTPUT, offset: 0, size: 4096 };
        memory.va(&op).unwrap();
        faults(points);
    });
}
