//! The evaluator on programs small enough to work out by hand.

use std::ops::Range;
use std::sync::Mutex;

use guestwave_cp::{AccessKind, DispatchId, Generation, GuestMemory, MemoryFault};

use super::run;
use crate::backend::{Launch, LaunchDone, LaunchFault, ProgramId, codes};
use crate::program::{
    Access, AtomicOp, BinOp, Builder, Builtin, Program, Rate, Space, Stmt, Type, UnOp, Value, WaveOp, Width,
    verify,
};

const BASE: u64 = 0x1000;

/// Guest memory from `BASE` on.
pub(crate) struct Flat(pub(crate) Mutex<Vec<u8>>);

impl Flat {
    pub(crate) fn new(bytes: usize) -> Self {
        Flat(Mutex::new((0..bytes).map(|i| i as u8).collect()))
    }

    fn word(&self, at: usize) -> u32 {
        let bytes = self.0.lock().unwrap();
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    fn place(&self, address: u64, len: usize, kind: AccessKind) -> Result<Range<usize>, MemoryFault> {
        let start = address.wrapping_sub(BASE) as usize;
        let inside = start.checked_add(len).is_some_and(|end| end <= self.0.lock().unwrap().len());
        if inside { Ok(start..start + len) } else { Err(MemoryFault { address, size: len as u64, kind }) }
    }
}

impl GuestMemory for Flat {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let place = self.place(address, into.len(), AccessKind::Read)?;
        into.copy_from_slice(&self.0.lock().unwrap()[place]);
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let place = self.place(address, bytes.len(), AccessKind::Write)?;
        self.0.lock().unwrap()[place].copy_from_slice(bytes);
        Ok(())
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        let all = BASE..BASE + self.0.lock().unwrap().len() as u64;
        all.contains(&address).then_some(all)
    }

    fn generation(&self) -> Generation {
        Generation::default()
    }

    fn changed_since(&self, _: Generation, _: &mut dyn FnMut(Range<u64>)) -> Generation {
        Generation::default()
    }
}

/// One launch of `waves` waves in groups of `per_group`.
pub(crate) fn launch(waves: u32, per_group: u32) -> Launch {
    Launch {
        id: DispatchId(7),
        program: ProgramId(0),
        params: Vec::new(),
        tables: [11, 22].into(),
        waves,
        waves_per_group: per_group,
        group_waves: None,
        budget: 1000,
    }
}

pub(crate) fn run_on(program: &Program, launch: &Launch, memory: &Flat) -> Result<LaunchDone, LaunchFault> {
    verify(program).unwrap();
    run(program, launch, memory)
}

/// `BASE + offset` where the offset is a `B32`.
fn global(b: &mut Builder, offset: Value) -> Value {
    let (base, offset) = (b.c64(BASE), b.un(UnOp::Extend, offset));
    b.bin(BinOp::Add, base, offset)
}

fn access(space: Space, address: Value, valid: Value) -> Access {
    Access { space, address, valid, width: Width::W32, pc: 0x40, slot: None }
}

/// Stores a `B32` of each lane at word `lane`.
pub(crate) fn store_lanes(b: &mut Builder, value: Value) {
    let (lane, four) = (b.builtin(Builtin::Lane), b.c32(4));
    let offset = b.bin(BinOp::Mul, lane, four);
    let address = global(b, offset);
    b.store(vec![value], access(Space::Global, address, four));
}

/// A block built by `f`.
pub(crate) fn block(b: &mut Builder, f: impl FnOnce(&mut Builder)) -> Vec<Stmt> {
    b.open();
    f(b);
    b.close()
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
    let (program, memory) = (b.finish(), Flat::new(128));
    let done = run_on(&program, &launch(1, 1), &memory).unwrap();
    assert_eq!(done.stored, vec![BASE..BASE + 128]);
    assert!((0..32).all(|i| memory.word(4 * i) == i as u32));

    let short = Launch { budget: 31, ..launch(1, 1) };
    assert_eq!(run_on(&program, &short, &memory).unwrap_err().code, codes::BUDGET);
    assert!(run_on(&program, &Launch { budget: 32, ..short }, &memory).is_ok());
}

#[test]
fn wave_operations_see_all_lanes() {
    let mut b = Builder::new("wave", 32);
    let (lane, five, zero) = (b.builtin(Builtin::Lane), b.c32(5), b.c32(0));
    let low = b.bin(BinOp::LtU, lane, five);
    let ballot = b.wave(WaveOp::Ballot(low));
    let bits = b.un(UnOp::Low, ballot);
    let one = b.c32(1);
    let third = b.bin(BinOp::ShrU, lane, one);
    // Lanes 0 to 4 send to half their number: 2k + 1 wins over 2k.
    let sent = b.wave(WaveOp::Send { value: lane, lane: third, active: low });
    let read = b.wave(WaveOp::ReadLane { value: lane, lane: five });
    let spread = b.wave(WaveOp::Shuffle { value: lane, lane: zero });
    let sum = [sent, read, spread].into_iter().fold(bits, |sum, v| b.bin(BinOp::Add, sum, v));
    store_lanes(&mut b, sum);
    let (program, memory) = (b.finish(), Flat::new(128));
    run_on(&program, &launch(1, 1), &memory).unwrap();
    let expected = |sent: u32| 0b11111 + sent + 5;
    let words: Vec<u32> = (0..4).map(|i| memory.word(4 * i)).collect();
    assert_eq!(words, [expected(1), expected(3), expected(4), expected(0)]);
}

#[test]
fn units_beyond_valid_are_zero_and_not_stored() {
    let mut b = Builder::new("valid", 32);
    let (base, five, eight) = (b.c64(BASE), b.c32(5), b.c32(8));
    let loaded = b.load(3, access(Space::Global, base, five));
    let away = b.c64(BASE + 64);
    let sum = b.bin(BinOp::Or, loaded[1], loaded[2]);
    b.store(vec![loaded[0], sum, loaded[0]], access(Space::Global, away, eight));
    let zero = b.c32(0);
    let nowhere = b.c64(1);
    b.store(vec![zero], access(Space::Global, nowhere, zero));
    let (program, memory) = (b.finish(), Flat::new(128));
    let done = run_on(&program, &launch(1, 1), &memory).unwrap();
    assert_eq!(done.stored, vec![BASE + 64..BASE + 72]);
    assert_eq!([memory.word(64), memory.word(68)], [0x0302_0100, 0x0706_0504]);
}

#[test]
fn a_fault_leaves_memory_as_it_was() {
    let mut b = Builder::new("fault", 32);
    let (lane, four) = (b.builtin(Builtin::Lane), b.c32(4));
    let offset = b.bin(BinOp::Mul, lane, four);
    let address = global(&mut b, offset);
    b.store(vec![lane], access(Space::Global, address, four));
    let (program, memory) = (b.finish(), Flat::new(66));
    let fault = run_on(&program, &launch(1, 1), &memory).unwrap_err();
    assert_eq!((fault.code, fault.pc), (codes::MEMORY, Some(0x40)));
    let expected = MemoryFault { address: BASE + 66, size: 4, kind: AccessKind::Write };
    assert_eq!(fault.fault, Some(expected));
    assert_eq!(memory.word(0), 0x0302_0100);
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
    let address = global(&mut b, offset);
    b.store(vec![seen], access(Space::Global, address, four));
    let (program, memory) = (b.finish(), Flat::new(64));
    run_on(&program, &launch(4, 2), &memory).unwrap();
    assert_eq!([0, 4, 8, 12].map(|at| memory.word(at)), [101, 100, 101, 100]);
}

#[test]
fn tables_local_bounds_and_atomics() {
    let mut b = Builder::new("local", 32);
    b.program_mut().lds_bytes = 8;
    let (lane, four, six) = (b.builtin(Builtin::Lane), b.c32(4), b.c32(6));
    let (one, sixty_four) = (b.c32(1), b.c32(64));
    let table = b.load(2, access(Space::Table, four, sixty_four));
    let old = b.atomic(AtomicOp::Add, one, None, access(Space::Lds, six, sixty_four));
    let varying = b.bin(BinOp::And, lane, four);
    let mine = b.atomic(AtomicOp::Add, one, None, access(Space::Lds, varying, four));
    let sum = [table[0], table[1], old].into_iter().fold(mine, |sum, v| b.bin(BinOp::Add, sum, v));
    store_lanes(&mut b, sum);
    let (program, memory) = (b.finish(), Flat::new(128));
    run_on(&program, &launch(1, 1), &memory).unwrap();
    // Lanes 0-3 count byte 0 from 0; lanes 4-7 count byte 4, where the uniform atomic (at 6, so 4) has left 1.
    let words: Vec<u32> = (0..6).map(|i| memory.word(4 * i) - 22).collect();
    assert_eq!(words, [0, 1, 2, 3, 1, 2]);
}
