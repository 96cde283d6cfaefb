//! The instructions that generated programs are made of: several of every operation that the reference runs, with random
//! operands and modifiers.

use guestwave_isa::gfx10::{Encoding, Inst, Op, OpRow, Operand, Target, WaveSize, decode, sreg};

use super::dice::Dice;
use super::encode::{registers, words};
use super::environment::{Setting, guest};
use crate::reference;

const TARGET: Target = Target::Gfx1030;

/// Tries and instructions of each opcode of an encoding.
const TRIES: usize = 24;
const WANTED: usize = 5;

/// Parts of mnemonics that are left out, and why: control that programs get as a whole, what the wave's own counters would
/// have to be kept from, indices that would have to be in range, and what is another in every executor.
const LEFT_OUT: [&str; 22] = [
    "branch",
    "setpc",
    "swappc",
    "getpc",
    "call",
    "endpgm",
    "barrier",
    "sendmsg",
    "trap",
    "subvector",
    "movrel",
    "swaprel",
    "memtime",
    "memrealtime",
    "setreg",
    "getreg",
    "round_mode",
    "denorm_mode",
    "sethalt",
    "waveid",
    "s_version",
    "dcache_discard",
];

/// Parts of the mnemonics of what reaches memory, and of what is long or has many rows: both have their place in programs, but a
/// smaller one than by their number.
const MEMORY: [&str; 7] = ["global_", "buffer_", "ds_", "scratch_", "flat_", "s_load", "s_store"];
const RARE: [&str; 13] = [
    "f64", "div_", "rcp_", "rsq_", "sqrt_", "exp_", "log_", "sin_", "cos_", "image_", "atomic", "format",
    "trig_",
];
/// Of so many instructions, those of the three kinds: plain ones, accesses, rare ones.
const OF: usize = 32;
const SHARES: [usize; 3] = [27, 4, 1];

/// One instruction.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) words: Vec<u32>,
    /// Lanes may meet in memory, or their order shows: only where they go together.
    pub(super) together: bool,
    /// It compares into VCC.
    pub(super) compares: bool,
    /// It compares into SCC.
    pub(super) compares_scalars: bool,
}

/// The instructions for one wave size.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub(super) entries: Vec<Entry>,
    /// Places of the entries of each kind.
    kinds: [Vec<usize>; 3],
    pub(super) compares: Vec<usize>,
    pub(super) scalar_compares: Vec<usize>,
}

impl Pool {
    /// The same pool for the same wave size.
    pub(super) fn new(wave: WaveSize) -> Pool {
        let mut dice = Dice::new(wave.lanes().into());
        let rows = Op::all().flat_map(Op::rows).filter(|row| row.on(TARGET));
        let rows = rows.filter(|row| !LEFT_OUT.iter().any(|part| row.op.name().contains(part)));
        let mut kinds = [const { Vec::new() }; 3];
        let mut entries: Vec<Entry> = Vec::new();
        for row in rows {
            let made = of_row(row, wave, &mut dice);
            kinds[kind(row.op)].extend(entries.len()..entries.len() + made.len());
            entries.extend(made);
        }
        let places = |f: fn(&Entry) -> bool| (0..entries.len()).filter(|i| f(&entries[*i])).collect();
        let (compares, scalar_compares) = (places(|e| e.compares), places(|e| e.compares_scalars));
        Pool { compares, scalar_compares, kinds, entries }
    }

    /// The entry that a random number chooses.
    pub(super) fn pick(&self, number: usize) -> &Entry {
        let place = number % OF;
        let kind = if place < SHARES[0] {
            0
        } else if place < SHARES[0] + SHARES[1] {
            1
        } else {
            2
        };
        let places = &self.kinds[kind];
        &self.entries[places[number / OF % places.len()]]
    }
}

fn kind(op: Op) -> usize {
    let has = |parts: &[&str]| parts.iter().any(|part| op.name().contains(part));
    if has(&RARE) { 2 } else { usize::from(has(&MEMORY)) }
}

fn of_row(row: &'static OpRow, wave: WaveSize, dice: &mut Dice) -> Vec<Entry> {
    let candidates = (0..TRIES).filter_map(|_| words(row, dice)).collect::<Vec<_>>();
    let fitting = candidates.iter().filter_map(|words| entry(row, words, wave));
    fitting.take(WANTED).collect()
}

/// The instruction that words are, if it is of the row, keeps to its registers, and the reference runs it.
fn entry(row: &OpRow, words: &[u32], wave: WaveSize) -> Option<Entry> {
    let inst = decode(words, 0, TARGET).ok().filter(|i| i.op == row.op && i.encoding == row.encoding)?;
    let words = &words[..usize::from(inst.len).min(words.len())];
    let lanes = wave.lanes() as u8;
    let setting = Setting { wave_lanes: lanes, waves: 1, mode: 0xf0, seed: 1 };
    (keeps_to_its_registers(&inst, wave) && reference(&guest(setting, words)).is_ok()).then(|| Entry {
        words: words.to_vec(),
        together: order_shows(&inst),
        compares: inst.encoding == Encoding::Vopc && inst.dst[0] == Operand::Sgpr(sreg::VCC_LO),
        compares_scalars: inst.encoding == Encoding::Sopc,
    })
}

fn keeps_to_its_registers(inst: &Inst, wave: WaveSize) -> bool {
    let row = inst.op.row(inst.encoding);
    inst.dst.iter().enumerate().all(|(place, operand)| {
        let spec = row.and_then(|r| r.dst[place]);
        let count = u32::from(spec.map_or(1, |s| s.dwords(wave)).max(inst.data_dwords()).max(1));
        let inside = |first: u8, range: &std::ops::Range<u32>| {
            range.start <= first.into() && u32::from(first) + count <= range.end
        };
        match *operand {
            Operand::Vgpr(n) => inside(n, &registers::DATA),
            Operand::Sgpr(sreg::NULL) => true,
            Operand::Sgpr(n @ (sreg::VCC_LO | sreg::EXEC_LO)) => u32::from(n) + count <= u32::from(n) + 2,
            Operand::Sgpr(n) => inside(n, &registers::SCALARS),
            _ => true,
        }
    }) && swaps_inside(inst)
}

/// A swap writes its source too.
fn swaps_inside(inst: &Inst) -> bool {
    inst.op != Op::V_SWAP_B32
        || matches!(inst.src[0], Operand::Vgpr(n) if registers::DATA.contains(&u32::from(n)))
}

/// Stores to memory that lanes share, and atomics.
fn order_shows(inst: &Inst) -> bool {
    let name = inst.op.name();
    let writes = ["store", "atomic", "ds_"].iter().any(|part| name.contains(part)) && !name.contains("read");
    let shared = matches!(inst.src[0], Operand::Vgpr(n) if u32::from(n) == registers::SHARED);
    let lds = inst.encoding == Encoding::Ds;
    name.contains("atomic") || writes && (shared || lds && !name.starts_with("ds_write"))
}
