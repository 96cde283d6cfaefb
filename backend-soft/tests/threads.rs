//! Large launches on several threads: what one thread does, whatever the waves do to each other.
#![expect(clippy::unwrap_used, reason = "what cannot be compiled or run has to stop the test")]

#[cfg(test)]
mod support;

use std::sync::Arc;

use guestwave_backend_soft::{SoftBackend, SoftOptions};
use guestwave_translate::backend::{Backend, Batch, Holding, Launch, codes};
use guestwave_translate::program::{
    Access, AtomicOp, BinOp, Builder, Builtin, Program, Space, UnOp, Value, Width,
};
use proptest::prelude::*;
use support::{Arena, ONE_THREAD, agree, launch};

const BASE: u64 = 0x10_0000;
const WAVES: u32 = 2000;
/// One dword a lane.
const BYTES: u64 = WAVES as u64 * 32 * 4;

fn access(address: Value, valid: Value) -> Access {
    Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None }
}

/// Number of the lane in the launch, divided by `among`.
fn item(b: &mut Builder, among: u32) -> Value {
    let (lane, wave) = (b.builtin(Builtin::Lane), b.builtin(Builtin::Wave));
    let (lanes, among) = (b.c32(32), b.c32(among));
    let first = b.bin(BinOp::Mul, wave, lanes);
    let item = b.bin(BinOp::Add, first, lane);
    b.bin(BinOp::DivU, item, among)
}

/// The dword number `item`, plus `offset` bytes.
fn place(b: &mut Builder, item: Value, offset: u32) -> Value {
    let (four, offset) = (b.c32(4), b.c32(offset));
    let byte = b.bin(BinOp::Mul, item, four);
    let byte = b.bin(BinOp::Add, byte, offset);
    let (base, byte) = (b.c64(BASE), b.un(UnOp::Extend, byte));
    b.bin(BinOp::Add, base, byte)
}

/// Adds 3 to the dword of each lane, or of `among` lanes.
fn adder(among: u32, from: u32, to: u32) -> Program {
    let mut b = Builder::new("adder", 32);
    let item = item(&mut b, among);
    let (from, to, whole, three) = (place(&mut b, item, from), place(&mut b, item, to), b.c32(4), b.c32(3));
    let old = b.load(1, access(from, whole))[0];
    let new = b.bin(BinOp::Add, old, three);
    b.store(vec![new], access(to, whole));
    b.finish()
}

fn arena() -> Arena {
    let bytes: Vec<u8> = (0..BYTES + 4096).map(|i| (i * i / 7) as u8).collect();
    Arena::new().with(BASE, &bytes)
}

fn large() -> Launch {
    launch(WAVES, 4)
}

/// Whether threads share a launch of a program.
fn is_shared(program: &Program) -> bool {
    let options = SoftOptions { threads: 3, split_waves: 2, ..ONE_THREAD };
    let (mut backend, memory) = (SoftBackend::new(options).unwrap(), arena());
    let id = backend.compile(&Arc::new(program.clone()), Holding::Wave).unwrap();
    backend.submit(Batch { launches: vec![Launch { program: id, ..large() }] }, &memory).unwrap();
    backend.shared_launches() == 1
}

#[test]
fn threads_share_what_they_may() {
    assert!(is_shared(&adder(1, 0, 0)));
    assert!(!is_shared(&adder(16384, 0, 0)), "waves of different threads store to one dword");
    assert!(!is_shared(&adder(1, 0, 128)), "waves load what others store");
}

#[test]
fn lanes_that_keep_to_their_own_bytes() {
    let (outcome, memory) = agree(&adder(1, 0, 0), &large(), &arena());
    assert_eq!(outcome.unwrap().stored, vec![BASE..BASE + BYTES]);
    let last = BASE + BYTES - 4;
    assert_eq!(memory.word(last), arena().word(last).wrapping_add(3));
}

/// Each wave adds to what the waves before it left: the order shows.
#[test]
fn lanes_that_share_bytes() {
    let (outcome, memory) = agree(&adder(16384, 0, 0), &large(), &arena());
    outcome.unwrap();
    assert_eq!(memory.word(BASE), arena().word(BASE).wrapping_add(3 * 512));
}

/// Each lane loads what an earlier lane stored.
#[test]
fn lanes_that_load_what_others_stored() {
    let (outcome, memory) = agree(&adder(1, 0, 128), &large(), &arena());
    outcome.unwrap();
    assert_eq!(memory.word(BASE + 128 * 500), arena().word(BASE).wrapping_add(3 * 500));
}

#[test]
fn atomics_that_commute() {
    let mut b = Builder::new("atomics", 32);
    let item = item(&mut b, 1);
    let (spread, whole) = (b.c32(7), b.c32(4));
    let bin = b.bin(BinOp::And, item, spread);
    let place = place(&mut b, bin, 0);
    b.atomic(AtomicOp::Add, item, None, access(place, whole));
    let (outcome, memory) = agree(&b.finish(), &large(), &Arena::new().with(BASE, &[0; 64]));
    assert_eq!(outcome.unwrap().stored, vec![BASE..BASE + 32]);
    let sum: u32 = (0..WAVES * 32).filter(|i| i % 8 == 5).fold(0, u32::wrapping_add);
    assert_eq!(memory.word(BASE + 20), sum);
}

/// The fault that is reported is that of the first wave in order, and nothing is left of the others.
#[test]
fn a_fault_in_a_late_wave() {
    let short = Arena::new().with(BASE, &vec![9; (BYTES - 4000) as usize]);
    let (outcome, memory) = agree(&adder(1, 0, 0), &large(), &short);
    let fault = outcome.unwrap_err();
    assert_eq!((fault.code, fault.fault.unwrap().address), (codes::MEMORY, BASE + BYTES - 4000));
    assert_eq!(memory.bytes(), short.bytes());
}

/// The last lanes of each wave are away, as in draws whose primitives do not fill a wave.
#[test]
fn waves_that_are_not_full() {
    let mut b = Builder::new("triangles", 32);
    let (lane, lanes) = (b.builtin(Builtin::Lane), b.c32(30));
    let here = b.bin(BinOp::LtU, lane, lanes);
    let (whole, none) = (b.c32(4), b.c32(0));
    let valid = b.select(here, whole, none);
    let (wave, item) = (b.builtin(Builtin::Wave), b.c32(30));
    let first = b.bin(BinOp::Mul, wave, item);
    let item = b.bin(BinOp::Add, first, lane);
    let place = place(&mut b, item, 0);
    let old = b.load(1, access(place, valid))[0];
    let new = b.bin(BinOp::Add, old, lane);
    b.store(vec![new], access(place, valid));
    let program = b.finish();
    assert!(is_shared(&program));
    let (outcome, _) = agree(&program, &large(), &arena());
    assert_eq!(outcome.unwrap().stored, vec![BASE..BASE + u64::from(WAVES) * 30 * 4]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Loads and stores at any distance, shared by any number of lanes.
    #[test]
    fn any_pattern(among in 1u32..70, from in 0u32..600, to in 0u32..600, waves in 1u32..600, per_group in 1u32..9) {
        agree(&adder(among, from, to), &launch(waves, per_group), &arena()).0.unwrap();
    }
}
