//! Loads and stores of guest memory.

use guestwave_isa::mali::valhall::{Inst, Op, field};

use super::Refusal;
use super::emit::{Emit, Lower};
use crate::program::{Access, BinOp, Space, UnOp, Value, Width};

/// Unit and number of units of an access by its width code.
const UNITS: [(Width, usize); 8] = [
    (Width::W8, 1),
    (Width::W16, 1),
    (Width::W8, 3),
    (Width::W32, 1),
    (Width::W16, 3),
    (Width::W32, 2),
    (Width::W32, 3),
    (Width::W32, 4),
];

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Lower)] = &[(Op::Load, load), (Op::Store, store)];

/// The unit in which an element of so many bytes is accessed, and how many there are.
pub(super) fn units(bytes: usize) -> (Width, usize) {
    match bytes {
        n if n % 4 == 0 => (Width::W32, n / 4),
        n if n % 2 == 0 => (Width::W16, n / 2),
        n => (Width::W8, n),
    }
}

impl Emit<'_> {
    /// An access to guest memory, of `valid` bytes. An address with bit 63 set is out of range by design.
    pub(super) fn global(&mut self, address: Value, valid: Value, width: Width, pc: u32) -> Access {
        let high = self.b.un(UnOp::High, address);
        let sink = self.b.with_constant(BinOp::LtS, high, 0);
        let zero = self.b.c32(0);
        let valid = self.b.select(sink, zero, valid);
        Access { space: Space::Global, address, valid, width, pc, slot: None }
    }

    /// Words of which each is loaded from `width` units, low ones first.
    pub(super) fn load_units(
        &mut self,
        address: Value,
        valid: Value,
        (width, count): (Width, usize),
        pc: u32,
    ) -> Vec<Value> {
        let access = self.global(address, valid, width, pc);
        let units = self.b.load(count, access);
        let per_word = 4 / width.bytes() as usize;
        units.chunks(per_word).map(|chunk| self.joined(chunk, 8 * width.bytes())).collect()
    }

    /// Units of `bits` bits side by side.
    fn joined(&mut self, units: &[Value], bits: u32) -> Value {
        let mut word = units[0];
        for (i, unit) in (1u32..).zip(&units[1..]) {
            let placed = self.b.shift(BinOp::Shl, *unit, bits * i);
            word = self.b.bin(BinOp::Or, word, placed);
        }
        word
    }

    /// Stores units of the words.
    pub(super) fn store_units(
        &mut self,
        address: Value,
        words: &[Value],
        (width, count): (Width, usize),
        pc: u32,
    ) {
        let bytes = self.b.c32(count as u32 * width.bytes());
        let access = self.global(address, bytes, width, pc);
        let per_word = 4 / width.bytes();
        let unit = |e: &mut Self, i: u32| {
            let word = words.get((i / per_word) as usize).copied();
            let word = word.unwrap_or_else(|| e.b.c32(0));
            e.b.shift(BinOp::ShrU, word, i % per_word * 8 * width.bytes())
        };
        let src = (0..count as u32).map(|i| unit(self, i)).collect();
        self.b.store(src, access);
    }

    fn address(&mut self, inst: &Inst) -> Result<Value, Refusal> {
        let base = self.pair(inst, 0)?;
        let offset = i64::from(inst.immediate("offset") as i32);
        Ok(self.b.with_constant(BinOp::Add, base, offset as u64))
    }
}

fn code(inst: &Inst) -> usize {
    (inst.word >> 27) as usize & 7
}

fn load(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Refusal> {
    let address = e.address(inst)?;
    let (width, count) = UNITS[code(inst)];
    let valid = e.b.c32(count as u32 * width.bytes());
    let words = e.load_units(address, valid, (width, count), inst.offset);
    e.place(inst, &words);
    Ok(())
}

fn store(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Refusal> {
    let address = e.address(inst)?;
    let words: Vec<Value> = (0..inst.staging_count().min(4)).map(|i| e.staged(inst, i)).collect();
    e.store_units(address, &words, UNITS[code(inst)], inst.offset);
    Ok(())
}

/// First bit and bits written, by the lane code of loads of 8, 16 and 32 bits.
const BYTE_LANES: [(u32, u32); 8] = [(0, 8), (8, 8), (16, 8), (24, 8), (0, 16), (16, 16), (0, 32), (0, 64)];
const HALF_LANES: [(u32, u32); 4] = [(0, 16), (16, 16), (0, 32), (0, 64)];
const WORD_LANES: [(u32, u32); 2] = [(0, 32), (0, 64)];

impl Emit<'_> {
    /// Puts a load's words where its lane says.
    fn place(&mut self, inst: &Inst, words: &[Value]) {
        let lane = field::LANE_8.of(inst.word) as usize;
        let (narrow, bits) = match code(inst) {
            0 => (BYTE_LANES.get(lane), 8),
            1 => (HALF_LANES.get(lane), 16),
            3 => (WORD_LANES.get(lane), 32),
            _ => (None, 0),
        };
        let Some((shift, width)) = narrow else { return self.set_staged(inst, words) };
        let signed = inst.code(&field::UNSIGNED) == 0;
        let value = match (bits, signed) {
            (8, true) => self.b.un(UnOp::Sext8, words[0]),
            (16, true) => self.b.un(UnOp::Sext16, words[0]),
            _ => words[0],
        };
        if *width < 32 {
            let mask = u64::from((1u32 << width) - 1);
            let part = self.b.with_constant(BinOp::And, value, mask);
            let placed = self.b.shift(BinOp::Shl, part, *shift);
            let old = self.staged(inst, 0);
            let kept = self.b.with_constant(BinOp::And, old, u64::from(!((mask as u32) << shift)));
            let merged = self.b.bin(BinOp::Or, kept, placed);
            return self.set_staged(inst, &[merged]);
        }
        let high = if signed { self.b.shift(BinOp::ShrS, value, 31) } else { self.b.c32(0) };
        let pair = [value, high];
        self.set_staged(inst, &pair[..(*width / 32) as usize]);
    }
}
