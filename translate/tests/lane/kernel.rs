//! A kernel that asks which thread each lane is, and the workgroups that it runs in.

use guestwave_translate::program::{
    Access, AtomicOp, BinOp, Builder, Builtin, ParamSource, Program, Slot, Space, Stmt, Trace, UnOp, Value,
    Width,
};

/// Lanes of a wave.
pub(crate) const LANES: u32 = 64;
/// Where the counter stands that all threads share.
pub(crate) const COUNTER: u64 = 0x12_3000_0000;
/// Where the threads' dwords stand.
pub(crate) const BASE: u64 = 0x12_3450_0000;

/// Workgroups whose threads fill their waves or do not: how many there are, threads of each, and of the last.
pub(crate) const SHAPES: [(u32, u32, u32); 5] =
    [(5, 128, 128), (3, 64, 64), (4, 100, 37), (3, 192, 192), (2, 40, 40)];

/// Parameters in the order in which [`kernel`] asks for them.
pub(crate) fn params(groups: u32, threads: u32, last: u32) -> Vec<u32> {
    vec![groups, 1, 1, threads, 1, 1, last, 1, 1]
}

/// The number of the thread, and whether it is one; workgroups stand in one row.
fn thread(b: &mut Builder) -> (Value, Value) {
    let axes = |b: &mut Builder, of: fn(u8) -> ParamSource| [0, 1, 2].map(|axis| b.param(of(axis)));
    let [count, ..] = axes(b, ParamSource::GroupCount);
    let [threads, ..] = axes(b, ParamSource::GroupThreads);
    let [last, ..] = axes(b, ParamSource::LastThreads);
    let (group, wave, lane) =
        (b.builtin(Builtin::Group), b.builtin(Builtin::WaveInGroup), b.builtin(Builtin::Lane));
    let first = b.with_constant(BinOp::Mul, wave, u64::from(LANES));
    let flat = b.bin(BinOp::Add, first, lane);
    let x = b.bin(BinOp::RemU, flat, threads);
    let column = b.bin(BinOp::RemU, group, count);
    let next = b.with_constant(BinOp::Add, column, 1);
    let is_last = b.bin(BinOp::Eq, next, count);
    let here = b.select(is_last, last, threads);
    let present = b.bin(BinOp::LtU, flat, here);
    let before = b.bin(BinOp::Mul, column, threads);
    (b.bin(BinOp::Add, before, x), present)
}

/// A dword of threads that are `present`.
pub(crate) fn dword(b: &mut Builder, base: u64, offset: Value, present: Value, slot: bool) -> Access {
    let slot = slot.then(|| b.slot(Slot { base: Trace::Const(base), size: None, written: true }));
    let (start, offset) = (b.c64(base), b.un(UnOp::Extend, offset));
    let address = b.bin(BinOp::Add, start, offset);
    let (four, zero) = (b.c32(4), b.c32(0));
    let valid = b.select(present, four, zero);
    Access { space: Space::Global, address, valid, width: Width::W32, pc: 4, slot }
}

/// Each thread adds 1 to its dword, `ahead` bytes behind [`BASE`], and 1 to a counter that all share.
pub(crate) fn kernel(ahead: u32, slot: bool) -> Program {
    let mut b = Builder::new("kernel", LANES as u8);
    let (number, present) = thread(&mut b);
    let offset = b.shift(BinOp::Shl, number, 2);
    let offset = b.with_constant(BinOp::Add, offset, u64::from(ahead));
    let access = dword(&mut b, BASE, offset, present, slot);
    let old = b.load(1, access)[0];
    let new = b.with_constant(BinOp::Add, old, 1);
    b.store(vec![new], access);
    let (zero, one) = (b.c32(0), b.c32(1));
    let counter = dword(&mut b, COUNTER, zero, present, true);
    b.push(Stmt::Atomic { dst: None, op: AtomicOp::Add, data: one, compare: None, access: counter });
    b.finish()
}
