//! Where the accesses of random programs go.
//!
//! In uniform control flow accesses go anywhere in the wave's part of a memory, so that lanes meet each other's. In varying
//! control flow, where the order of lanes is open, each lane keeps to its own bytes.

use guestwave_translate::program::{
    Access, AtomicOp, BinOp, Builtin, Rate, Slot, Space, Stmt, Trace, Type, UnOp, Value, Width,
};

use super::memory::Memory;
use super::random::{Generator, Menu};
use super::tape;

/// First guest address of the memory that programs work on, and its bytes.
pub(crate) const HEAP: u64 = 0x7fff_1234_5000;
pub(crate) const HEAP_BYTES: u64 = 0x4000;
/// First guest address of what is only read, and its bytes.
pub(crate) const INPUT: u64 = 0x12_3450_0000;
pub(crate) const INPUT_BYTES: u64 = 0x1000;
/// More bytes than any access has.
const MOST_BYTES: u32 = 128;
/// Bytes of each wave's part of the heap that any of its lanes may touch; behind them each lane has its own.
const SHARED: u32 = 0x400;
/// Bytes of a wave's part of the heap.
const PART: u32 = SHARED + 64 * OWN;
/// Bytes of each lane's own memory, in the heap and in LDS.
const OWN: u32 = 32;
/// Bytes of a wave's part of LDS that any of its lanes may touch, before the lanes' own.
const LDS_SHARED: u32 = 96;
/// Bytes of a wave's part of LDS.
pub(super) const LDS_PART: u32 = LDS_SHARED + 64 * OWN;
/// Waves of a launch, and of its workgroups, at most.
pub(crate) const WAVES: u32 = 5;
pub(super) const GROUP: u32 = 2;

/// Memory for a program: the heap of random bytes, and the input.
pub(crate) fn memory(seed: u64) -> Memory {
    let bytes = |seed: u64, n: u64| -> Vec<u8> {
        let words = tape::words(seed, n as usize / 4);
        words.iter().flat_map(|w| if w & 3 == 0 { w & 0xff } else { *w }.to_le_bytes()).collect()
    };
    Memory::default().map(HEAP, bytes(seed, HEAP_BYTES)).map(INPUT, bytes(!seed, INPUT_BYTES))
}

const ATOMICS: [AtomicOp; 16] = [
    AtomicOp::Add,
    AtomicOp::Sub,
    AtomicOp::Swap,
    AtomicOp::CompareSwap,
    AtomicOp::MinS,
    AtomicOp::MinU,
    AtomicOp::MaxS,
    AtomicOp::MaxU,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
    AtomicOp::IncWrap,
    AtomicOp::DecWrap,
    AtomicOp::SubClamp,
    AtomicOp::MinF,
    AtomicOp::MaxF,
];

impl Generator<'_> {
    /// The slots of the input and of the heap.
    pub(super) fn make_slots(&mut self) -> [u16; 2] {
        let ranges = [(INPUT, INPUT_BYTES, false), (HEAP, HEAP_BYTES, true)];
        ranges.map(|(base, bytes, written)| {
            self.b.slot(Slot { base: Trace::Const(base), size: Some(Trace::Const(bytes)), written })
        })
    }

    fn c32(&mut self, c: u32) -> Value {
        self.b.c32(c)
    }

    fn masked(&mut self, x: Value, mask: u32) -> Value {
        let mask = self.b.c32(mask);
        self.b.bin(BinOp::And, x, mask)
    }

    /// Where units go; `reads`: to where only reads may go, now and then.
    fn access(&mut self, space: Space, width: Width, count: u32, reads: bool) -> Access {
        let bytes = width.bytes() * count;
        let shared = !self.diverged && self.tape.below(4) != 0;
        let (address, slot) = match space {
            Space::Global if reads && !self.menu.hostile && self.tape.once_in(4) => self.input(bytes),
            Space::Global => {
                let offset = if shared { self.shared(SHARED, bytes) } else { self.own(SHARED, bytes) };
                let offset = if self.menu.in_common && shared { offset } else { self.in_part(offset) };
                self.heap(offset)
            }
            Space::Lds => {
                let offset =
                    if shared { self.shared(LDS_SHARED, bytes) } else { self.own(LDS_SHARED, bytes) };
                (self.in_lds_part(offset), None)
            }
            Space::Scratch | Space::Table | Space::Exchange => (self.shared(48, bytes), None),
        };
        let valid = self.valid(bytes);
        Access { space, address, valid, width, pc: self.tape.below(1000), slot }
    }

    /// A mask for offsets of units that keeps them in their natural places, unless the menu has others.
    fn places(&mut self, bytes: u32) -> u32 {
        let anywhere = self.menu.odd && self.tape.once_in(2);
        if anywhere { u32::MAX } else { !(bytes.next_power_of_two().min(4) - 1) }
    }

    /// An offset among so many bytes that lanes share, uniform now and then; without odd ones `bytes` fit behind it.
    fn shared(&mut self, size: u32, bytes: u32) -> Value {
        let uniform = self.tape.below(4) == 0;
        let x = self.value(Type::B32, uniform);
        let room = if self.menu.odd { size } else { size - bytes };
        let mask = (room + 1).next_power_of_two() / 2;
        let places = self.places(bytes);
        self.masked(x, (mask.max(1) - 1) & places)
    }

    /// An offset of the lane's own bytes behind `start`.
    fn own(&mut self, start: u32, bytes: u32) -> Value {
        let (lane, own) = (self.b.builtin(Builtin::Lane), self.b.c32(OWN));
        let first = self.b.bin(BinOp::Mul, lane, own);
        let within = self.tape.below(OWN - bytes + 1) & self.places(bytes);
        let within = self.c32(start + within);
        self.b.bin(BinOp::Add, first, within)
    }

    /// An offset in the wave's part of the heap.
    fn in_part(&mut self, offset: Value) -> Value {
        let (wave, part) = (self.b.builtin(Builtin::Wave), self.b.c32(PART));
        let start = self.b.bin(BinOp::Mul, wave, part);
        self.b.bin(BinOp::Add, start, offset)
    }

    fn in_lds_part(&mut self, offset: Value) -> Value {
        if self.menu.in_common && !self.diverged {
            return offset;
        }
        let (wave, part) = (self.b.builtin(Builtin::WaveInGroup), self.b.c32(LDS_PART));
        let start = self.b.bin(BinOp::Mul, wave, part);
        self.b.bin(BinOp::Add, start, offset)
    }

    /// An address of the input, by its slot or not.
    fn input(&mut self, bytes: u32) -> (Value, Option<u16>) {
        // Also what begins at an odd place ends inside.
        let offset = self.shared(INPUT_BYTES as u32 - MOST_BYTES, bytes);
        let (base, offset) = (self.b.c64(INPUT), self.b.un(UnOp::Extend, offset));
        (self.b.bin(BinOp::Add, base, offset), self.by_slot(0))
    }

    fn by_slot(&mut self, index: usize) -> Option<u16> {
        (self.tape.below(3) != 0).then_some(self.slots[index])
    }

    /// Guest address of a byte of the heap, now and then one that is nowhere; and its slot.
    fn heap(&mut self, offset: Value) -> (Value, Option<u16>) {
        let wide = self.b.un(UnOp::Extend, offset);
        let wild = self.menu.hostile && self.tape.once_in(12);
        let base = match wild.then(|| self.tape.below(4)) {
            Some(0) => self.value(Type::B64, false),
            Some(1) => self.b.c64(HEAP + HEAP_BYTES - 8),
            Some(2) => self.b.c64(u64::MAX - 6),
            // The upper 16 bits do not count.
            Some(_) => self.b.c64(HEAP | 0xffff << 48),
            None => self.b.c64(HEAP),
        };
        let slot = if wild { None } else { self.by_slot(1) };
        (self.b.bin(BinOp::Add, base, wide), slot)
    }

    /// Mostly all units or none.
    fn valid(&mut self, bytes: u32) -> Value {
        let whole = self.c32(bytes);
        match self.tape.below(5) {
            3 if self.menu.odd => {
                let x = self.value(Type::B32, false);
                self.masked(x, 15)
            }
            1 | 2 => {
                let (on, none) = (self.value(Type::Bool, false), self.b.c32(0));
                self.b.select(on, whole, none)
            }
            _ => whole,
        }
    }

    fn space(&mut self, reads: bool) -> Space {
        match self.tape.below(8) {
            5 | 6 if self.menu.lds => Space::Lds,
            7 => Space::Scratch,
            4 if reads => Space::Table,
            _ => Space::Global,
        }
    }

    fn units(&mut self) -> (Width, u32) {
        let widths = [Width::W32, Width::W32, Width::W32, Width::W8, Width::W16];
        let width = self.tape.pick(&widths);
        let several = self.menu.odd || width == Width::W32;
        (width, if several { 1 + self.tape.below(4) } else { 1 })
    }

    pub(super) fn load(&mut self) {
        let (space, (width, count)) = (self.space(true), self.units());
        let access = self.access(space, width, count, true);
        for v in self.b.load(count as usize, access) {
            self.put(v);
        }
    }

    pub(super) fn store(&mut self) {
        let (space, (width, count)) = (self.space(false), self.units());
        let access = self.access(space, width, count, false);
        let uniform = self.b.program().access_rate(&access) == Rate::Uniform;
        let units = (0..count).map(|_| self.value(Type::B32, uniform)).collect();
        self.b.store(units, access);
    }

    pub(super) fn atomic(&mut self) {
        let (space, op) = (self.space(false), self.tape.pick(&ATOMICS));
        // Modules do those on LDS in two halves, which only one wave may see.
        let wide = (space != Space::Lds || self.menu.in_common) && self.tape.once_in(4);
        let (width, ty) = if wide { (Width::W64, Type::B64) } else { (Width::W32, Type::B32) };
        let access = self.access(space, width, 1, false);
        let uniform = self.b.program().access_rate(&access) == Rate::Uniform;
        if uniform && self.diverged {
            return;
        }
        let data = self.value(ty, uniform);
        let compare = (op == AtomicOp::CompareSwap).then(|| self.value(ty, uniform));
        if self.tape.once_in(3) {
            return self.b.push(Stmt::Atomic { dst: None, op, data, compare, access });
        }
        let old = self.b.atomic(op, data, compare, access);
        self.put(old);
    }

    /// Stores to the lane's own bytes.
    pub(super) fn own_store(&mut self, units: Vec<Value>) {
        let bytes = 4 * units.len() as u32;
        let offset = self.own(SHARED, bytes);
        let offset = self.in_part(offset);
        let (wide, base) = (self.b.un(UnOp::Extend, offset), self.b.c64(HEAP));
        let (address, valid) = (self.b.bin(BinOp::Add, base, wide), self.c32(bytes));
        let access = Access {
            space: Space::Global,
            address,
            valid,
            width: Width::W32,
            pc: 0,
            slot: Some(self.slots[1]),
        };
        self.b.store(units, access);
    }

    /// Waves of a workgroup see each other's LDS between barriers.
    pub(super) fn share(&mut self) {
        let (value, four) = (self.value(Type::B32, false), self.c32(4));
        let lane = self.b.builtin(Builtin::Lane);
        let place = self.b.bin(BinOp::And, lane, four);
        let mine = self.in_lds_part(place);
        let access =
            Access { space: Space::Lds, address: mine, valid: four, width: Width::W32, pc: 4, slot: None };
        self.b.push(Stmt::Barrier { pc: 12 });
        self.b.store(vec![value], access);
        self.b.push(Stmt::Barrier { pc: 16 });
        let theirs = self.value(Type::B32, false);
        let theirs = self.masked(theirs, 0xffc);
        let loaded = self.b.load(1, Access { address: theirs, ..access });
        self.put(loaded[0]);
        self.b.push(Stmt::Barrier { pc: 20 });
    }
}

impl Menu {
    /// Bytes of LDS that a program has.
    pub(super) fn lds_bytes(self) -> u32 {
        if self.lds { LDS_PART * GROUP } else { 0 }
    }
}
