//! What a backend keeps from one launch to the next holds only while the memory's mappings do.
#![expect(clippy::unwrap_used, reason = "what cannot be set up has to stop the test")]

#[cfg(test)]
mod support;

use std::ops::Range;
use std::sync::Arc;

use guestwave_backend_soft::SoftBackend;
use guestwave_cp::{AccessKind, GuestMemory};
use guestwave_translate::backend::{Backend, Batch, Completion, Holding, Launch, ProgramId, codes};
use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, ParamSource, Program, Space, UnOp, Width,
};
use support::memory::Offer;
use support::{Arena, ONE_THREAD, launch};

const FROM: u64 = 0x1_0000;
const TO: u64 = 0x2_0000;

/// Stores what each lane loads from its dword at `FROM` to its dword at `TO`.
fn copy() -> Program {
    let mut b = Builder::new("copy", 32);
    let (lane, four) = (b.builtin(Builtin::Lane), b.c32(4));
    let offset = b.bin(BinOp::Mul, lane, four);
    let offset = b.un(UnOp::Extend, offset);
    let access = |b: &mut Builder, base: u64| {
        let base = b.c64(base);
        let address = b.bin(BinOp::Add, base, offset);
        Access { space: Space::Global, address, valid: four, width: Width::W32, pc: 0, slot: None }
    };
    let from = access(&mut b, FROM);
    let loaded = b.load(1, from);
    let to = access(&mut b, TO);
    b.store(loaded, to);
    b.finish()
}

fn one(range: Range<u64>) -> Vec<Range<u64>> {
    std::iter::once(range).collect()
}

/// A backend and the program in it.
struct Copier {
    backend: SoftBackend,
    program: ProgramId,
}

impl Copier {
    fn new() -> Self {
        let mut backend = SoftBackend::new(ONE_THREAD).unwrap();
        let program = backend.compile(&Arc::new(copy()), Holding::Wave).unwrap();
        Copier { backend, program }
    }

    fn run(&mut self, memory: &Arena) -> Completion {
        let launch = Launch { program: self.program, ..launch(1, 1) };
        let ticket = self.backend.submit(Batch { launches: vec![launch.clone(), launch] }, memory).unwrap();
        self.backend.poll(ticket, memory).unwrap().unwrap()
    }

    /// Runs it; all is stored, and gives the first byte stored.
    fn copied(&mut self, memory: &Arena) -> u8 {
        let completion = self.run(memory);
        assert_eq!(completion.fault, None);
        assert!(completion.done.iter().all(|done| done.stored == one(TO..TO + 128)));
        memory.word(TO + 124) as u8
    }
}

fn arena(first: u8) -> Arena {
    Arena::new().with(FROM, &[first; 128]).with(TO, &[0; 128])
}

#[test]
fn memory_in_place_of_other_memory_is_what_launches_reach() {
    let (mut copier, mut memory) = (Copier::new(), arena(1));
    assert_eq!(copier.copied(&memory), 1);
    memory.replace(0, &[2; 128], true, Offer::InPlace);
    assert_eq!(copier.copied(&memory), 2);
    memory.replace(1, &[0; 128], true, Offer::InPlace);
    assert_eq!(copier.copied(&memory), 2);
}

#[test]
fn launches_reach_the_memory_that_they_are_given() {
    let (mut copier, [a, b]) = (Copier::new(), [arena(1), arena(2)]);
    for _ in 0..2 {
        assert_eq!([copier.copied(&a), copier.copied(&b)], [1, 2]);
    }
}

#[test]
fn copies_are_made_anew() {
    for (from, to) in [(Offer::Copied, Offer::InPlace), (Offer::InPlace, Offer::Copied)] {
        let mut copier = Copier::new();
        let memory = Arena::new().with_segment(FROM, &[1; 128], true, from);
        let memory = memory.with_segment(TO, &[0; 128], true, to);
        assert_eq!(copier.copied(&memory), 1);
        GuestMemory::write(&memory, FROM, &[2; 128]).unwrap();
        GuestMemory::write(&memory, TO, &[0; 128]).unwrap();
        assert_eq!(copier.copied(&memory), 2);
    }
}

#[test]
fn what_is_not_there_any_more_faults() {
    let mut copier = Copier::new();
    for (kind, at) in [(AccessKind::Read, 0), (AccessKind::Write, 1)] {
        let mut memory = arena(1);
        copier.copied(&memory);
        memory.replace(at, &[0; 64], true, Offer::InPlace);
        let before = memory.bytes();
        let completion = copier.run(&memory);
        let fault = completion.fault.unwrap();
        assert_eq!((fault.code, fault.fault.map(|f| f.kind)), (codes::MEMORY, Some(kind)));
        assert!(completion.done.is_empty() && memory.bytes() == before);
    }
}

/// Lanes below word 0 of the parameters store their numbers at `TO`; then a dword is loaded whose address is word 1.
fn store_and_load() -> Program {
    let mut b = Builder::new("store", 32);
    let (lane, four, zero) = (b.builtin(Builtin::Lane), b.c32(4), b.c32(0));
    let (count, from) = (b.param(ParamSource::Own(0)), b.param(ParamSource::Own(1)));
    let offset = b.bin(BinOp::Mul, lane, four);
    let (base, offset) = (b.c64(TO), b.un(UnOp::Extend, offset));
    let address = b.bin(BinOp::Add, base, offset);
    let stores = b.bin(BinOp::LtU, lane, count);
    let valid = b.select(stores, four, zero);
    let access = Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None };
    b.store(vec![lane], access);
    let address = b.un(UnOp::Extend, from);
    b.load(1, Access { address, valid: four, ..access });
    b.finish()
}

#[test]
fn each_launch_tells_and_takes_back_its_own_stores() {
    let mut backend = SoftBackend::new(ONE_THREAD).unwrap();
    let program = backend.compile(&Arc::new(store_and_load()), Holding::Wave).unwrap();
    let memory = arena(1);
    let mut run = |count: u32, from: u64| {
        let launch = Launch { program, params: vec![count, from as u32], ..launch(1, 1) };
        let ticket = backend.submit(Batch { launches: vec![launch] }, &memory).unwrap();
        backend.poll(ticket, &memory).unwrap().unwrap()
    };
    for count in [8, 3, 0, 32, 5] {
        let wanted = if count > 0 { one(TO..TO + 4 * u64::from(count)) } else { vec![] };
        assert_eq!(run(count, FROM).done[0].stored, wanted);
    }
    GuestMemory::write(&memory, TO, &[9; 128]).unwrap();
    let before = memory.bytes();
    // Nothing is mapped there.
    assert_eq!(run(5, 0x9_0000).fault.unwrap().code, codes::MEMORY);
    assert_eq!(memory.bytes(), before);
    assert_eq!(run(2, FROM).done[0].stored, one(TO..TO + 8));
    assert_eq!([memory.word(TO + 4), memory.word(TO + 8)], [1, 0x0909_0909]);
}

#[test]
fn what_became_read_only_faults() {
    let (mut copier, mut memory) = (Copier::new(), arena(1));
    copier.copied(&memory);
    memory.replace(1, &[0; 128], false, Offer::InPlace);
    assert_eq!(copier.run(&memory).fault.unwrap().code, codes::MEMORY);
    assert_eq!(memory.word(TO), 0);
}
