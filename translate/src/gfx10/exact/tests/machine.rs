//! Programs of one operation, run by the plain evaluator.

use std::ops::Range;
use std::sync::Mutex;

use guestwave_cp::{DispatchId, Generation, GuestMemory, MemoryFault};
use guestwave_isa::gfx10::{NumberKind, VopMods};

use crate::backend::{Fidelity, Launch, ProgramId};
use crate::gfx10::exact::{Exact, Facts, Mode, VectorKind, VectorRow};
use crate::program::{
    Access, BinOp, Builder, Builtin, Program, Space, Type, UnOp, Value, Width, eval, verify,
};

/// Sources and source mask of a lane, or its result in the first source and its destination mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) sources: [u64; 3],
    pub(super) mask: bool,
}

/// Dwords of a lane in the table, and of its result in memory.
const IN_DWORDS: u32 = 7;
const OUT_DWORDS: u32 = 3;

/// Guest memory from address 0 on.
struct Flat(Mutex<Vec<u8>>);

impl GuestMemory for Flat {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let at = address as usize;
        into.copy_from_slice(&self.0.lock().unwrap()[at..at + into.len()]);
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let at = address as usize;
        self.0.lock().unwrap()[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        let all = 0..self.0.lock().unwrap().len() as u64;
        all.contains(&address).then_some(all)
    }

    fn generation(&self) -> Generation {
        Generation::default()
    }

    fn changed_since(&self, _: Generation, _: &mut dyn FnMut(Range<u64>)) -> Generation {
        Generation::default()
    }
}

/// The results of a row.
pub(super) fn run(row: &VectorRow, mode: &Mode, mods: &VopMods, widths: &[u16], lanes: &[Lane]) -> Vec<Lane> {
    run_as(Fidelity::Exact, row, mode, mods, widths, lanes)
}

/// The same in either fidelity.
pub(super) fn run_as(
    fidelity: Fidelity,
    row: &VectorRow,
    mode: &Mode,
    mods: &VopMods,
    widths: &[u16],
    lanes: &[Lane],
) -> Vec<Lane> {
    let words = launch(&program(fidelity, row, mode, mods, widths), lanes, OUT_DWORDS);
    let result = |out: &[u32]| Lane {
        sources: [u64::from(out[0]) | u64::from(out[1]) << 32, 0, 0],
        mask: out[2] != 0,
    };
    words.chunks(OUT_DWORDS as usize).map(result).collect()
}

/// The dwords that a program stores for each lane.
pub(super) fn launch(program: &Program, lanes: &[Lane], out_dwords: u32) -> Vec<u32> {
    verify(program).unwrap();
    let padded = lanes.len().next_multiple_of(32);
    let memory = Flat(Mutex::new(vec![0; padded * 4 * out_dwords as usize]));
    let mut tables: Vec<u32> = lanes.iter().flat_map(words).collect();
    tables.resize(padded * IN_DWORDS as usize, 0);
    let launch = Launch {
        id: DispatchId(0),
        program: ProgramId(0),
        params: Vec::new(),
        tables: tables.into(),
        waves: (padded / 32) as u32,
        waves_per_group: 1,
        group_waves: None,
        budget: 1,
    };
    eval::run(program, &launch, &memory).unwrap();
    let bytes = memory.0.into_inner().unwrap();
    let stored = bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap()));
    stored.take(lanes.len() * out_dwords as usize).collect()
}

fn words(lane: &Lane) -> [u32; IN_DWORDS as usize] {
    let [a, b, c] = lane.sources;
    let (low, high) = (|s: u64| s as u32, |s: u64| (s >> 32) as u32);
    [low(a), high(a), low(b), high(b), low(c), high(c), lane.mask.into()]
}

/// Each lane's sources from the table, the row's sequence, and the results to memory.
pub(super) fn program(
    fidelity: Fidelity,
    row: &VectorRow,
    mode: &Mode,
    mods: &VopMods,
    widths: &[u16],
) -> Program {
    let mut b = Builder::new(row.op.name(), 32);
    let (sources, mask) = loaded(&mut b, widths, matches!(row.kind, VectorKind::Packed(_)));
    // The driver's carry without a source mask.
    let no = b.cbool(false);
    let reads_mask = row.op.rows().any(|r| r.src.iter().flatten().any(|s| s.kind == NumberKind::Mask));
    let mask = if matches!(row.kind, VectorKind::Carry(_)) && !reads_mask { no } else { mask };
    let mut facts = Facts::default();
    let mut e = Exact::new(&mut b, &mut facts, *mode, fidelity);
    let (value, out) = outcome(&mut e, row, sources, mask, mods);
    let out = b.un(UnOp::FromBool, out.unwrap_or(no));
    let zero = b.c32(0);
    let stored = match value {
        None => vec![zero, zero, out],
        Some(v) if b.info(v).ty == Type::B64 => vec![b.un(UnOp::Low, v), b.un(UnOp::High, v), out],
        Some(v) => vec![v, zero, out],
    };
    store(&mut b, stored);
    b.finish()
}

/// Stores a lane's dwords.
pub(super) fn store(b: &mut Builder, dwords: Vec<Value>) {
    let bytes = 4 * dwords.len() as u32;
    let offset = item(b, bytes);
    let (address, valid) = (b.un(UnOp::Extend, offset), b.c32(bytes));
    b.store(dwords, access(Space::Global, address, valid));
}

fn access(space: Space, address: Value, valid: Value) -> Access {
    Access { space, address, valid, width: Width::W32, pc: 0, slot: None }
}

/// Byte offset of the lane's item.
fn item(b: &mut Builder, bytes: u32) -> Value {
    let (wave, lane) = (b.builtin(Builtin::Wave), b.builtin(Builtin::Lane));
    let (lanes, bytes) = (b.c32(32), b.c32(bytes));
    let first = b.bin(BinOp::Mul, wave, lanes);
    let number = b.bin(BinOp::Add, first, lane);
    b.bin(BinOp::Mul, number, bytes)
}

/// A lane's sources, of so many bits each, and its mask.
pub(super) fn loaded(b: &mut Builder, widths: &[u16], packed: bool) -> ([Value; 3], Value) {
    let (offset, valid) = (item(b, 4 * IN_DWORDS), b.c32(4 * IN_DWORDS));
    let words = b.load(IN_DWORDS as usize, access(Space::Table, offset, valid));
    let (half, zero) = (b.c32(0xffff), b.c32(0));
    let sources = std::array::from_fn(|i| match widths.get(i) {
        None => zero,
        Some(64) => b.bin(BinOp::Pack, words[2 * i], words[2 * i + 1]),
        Some(16) if !packed => b.bin(BinOp::And, words[2 * i], half),
        Some(_) => words[2 * i],
    });
    let mask = b.bin(BinOp::Ne, words[6], zero);
    (sources, mask)
}

/// What the driver makes of a row.
pub(super) fn outcome(
    e: &mut Exact<'_>,
    row: &VectorRow,
    s: [Value; 3],
    mask: Value,
    mods: &VopMods,
) -> (Option<Value>, Option<Value>) {
    match row.kind {
        VectorKind::Value(f) => {
            let v = f(e, s);
            (Some(e.finish(row.output, v, mods.omod, mods.clamp)), None)
        }
        VectorKind::Clamped(f) => (Some(f(e, s, mods.clamp)), None),
        VectorKind::Carry(f) => {
            let (v, m) = f(e, s, mask, mods.clamp);
            (Some(v), Some(m))
        }
        VectorKind::MaskIn(f) => {
            let v = f(e, s, mask);
            (Some(e.finish(row.output, v, mods.omod, mods.clamp)), None)
        }
        VectorKind::MaskOut(f) => {
            let (v, m) = f(e, s);
            (Some(e.finish(row.output, v, mods.omod, mods.clamp)), Some(m))
        }
        VectorKind::Compare(f) => (None, Some(f(e, s))),
        VectorKind::Packed(f) => (Some(f(e, s, mods)), None),
        VectorKind::Quad(_) => (None, None),
    }
}
