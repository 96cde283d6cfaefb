//! What a wave starts with: the dispatch's rules, read from the parameter block.

use guestwave_isa::gfx10::sreg;

use super::Emit;
use super::registers::Cell;
use crate::gfx10::shape::{GridShape, LaneShape, ScalarShape};
use crate::program::{Access, BinOp, Builder, Builtin, ParamSource, Space, UnOp, Value, Width};

/// This lane's place in the grid.
struct Place {
    /// Item (linear) or lane of the dispatch, for tables.
    item: Value,
    /// First item of the wave.
    first: Value,
    /// Thread id in the group.
    thread: [Value; 3],
    /// Workgroup id.
    group: [Value; 3],
}

impl Emit<'_> {
    pub(super) fn prologue(&mut self) {
        let place = match self.input.source.shape.grid {
            GridShape::Linear => self.linear(),
            GridShape::Groups => self.groups(),
            GridShape::Subgroups => self.subgroups(),
        };
        for (n, shape) in (0u8..).zip(self.input.source.shape.sgprs.clone()) {
            let value = self.first_sgpr(n, shape, &place);
            self.put(Cell::Sgpr { register: n, zone: false }, value);
        }
        for (n, shape) in (0u8..).zip(self.input.source.shape.vgprs.clone()) {
            let value = self.first_vgpr(n, shape, &place);
            self.put(Cell::Vgpr(n), value);
        }
    }

    fn linear(&mut self) -> Place {
        let (wave, lane) = (self.b.builtin(Builtin::Wave), self.b.builtin(Builtin::Lane));
        let per_wave = self.b.param(ParamSource::ItemsPerWave);
        let items = self.b.param(ParamSource::Items);
        let first = self.b.bin(BinOp::Mul, wave, per_wave);
        let item = self.b.bin(BinOp::Add, first, lane);
        let in_wave = self.b.bin(BinOp::LtU, lane, per_wave);
        let in_items = self.b.bin(BinOp::LtU, item, items);
        let exec = self.b.bin(BinOp::And, in_wave, in_items);
        self.put(Cell::Mask(sreg::EXEC_LO), exec);
        let zero = self.b.c32(0);
        Place { item, first, thread: [zero; 3], group: [zero; 3] }
    }

    fn groups(&mut self) -> Place {
        let (group, lane) = (self.b.builtin(Builtin::Group), self.b.builtin(Builtin::Lane));
        let within = self.b.builtin(Builtin::WaveInGroup);
        let size = self.b.c32(self.input.source.wave.lanes());
        let base = self.b.bin(BinOp::Mul, within, size);
        let linear = self.b.bin(BinOp::Add, base, lane);
        let counts: [Value; 3] = std::array::from_fn(|a| self.b.param(ParamSource::GroupCount(a as u8)));
        let at = self.split(group, counts[0], counts[1]);
        let threads: [Value; 3] = std::array::from_fn(|a| self.threads_of(a as u8, at[a], counts[a]));
        let thread = self.split(linear, threads[0], threads[1]);
        let plane = self.b.bin(BinOp::Mul, threads[0], threads[1]);
        let volume = self.b.bin(BinOp::Mul, plane, threads[2]);
        let exec = self.b.bin(BinOp::LtU, linear, volume);
        self.put(Cell::Mask(sreg::EXEC_LO), exec);
        let ids = std::array::from_fn(|a| {
            let start = self.b.param(ParamSource::GroupStart(a as u8));
            self.b.bin(BinOp::Add, start, at[a])
        });
        Place { item: linear, first: base, thread, group: ids }
    }

    /// Threads of this group along an axis: the last group may have fewer.
    fn threads_of(&mut self, axis: u8, at: Value, count: Value) -> Value {
        let full = self.b.param(ParamSource::GroupThreads(axis));
        let last = self.b.param(ParamSource::LastThreads(axis));
        let one = self.b.c32(1);
        let after = self.b.bin(BinOp::Add, at, one);
        let is_last = self.b.bin(BinOp::Eq, after, count);
        self.b.select(is_last, last, full)
    }

    /// `[n % x, n / x % y, n / x / y]`.
    fn split(&mut self, n: Value, x: Value, y: Value) -> [Value; 3] {
        let row = self.b.bin(BinOp::DivU, n, x);
        [self.b.bin(BinOp::RemU, n, x), self.b.bin(BinOp::RemU, row, y), self.b.bin(BinOp::DivU, row, y)]
    }

    fn subgroups(&mut self) -> Place {
        let (wave, lane) = (self.b.builtin(Builtin::Wave), self.b.builtin(Builtin::Lane));
        let size = self.b.c32(self.input.source.wave.lanes());
        let first = self.b.bin(BinOp::Mul, wave, size);
        let item = self.b.bin(BinOp::Add, first, lane);
        let exec = self.b.cbool(true);
        // EXEC is a lane's own Bool even where it starts alike in all.
        self.put(Cell::Mask(sreg::EXEC_LO), exec);
        let zero = self.b.c32(0);
        Place { item, first, thread: [zero; 3], group: [zero; 3] }
    }

    fn first_sgpr(&mut self, n: u8, shape: ScalarShape, place: &Place) -> Value {
        let wave = self.b.builtin(Builtin::Wave);
        let base = |e: &mut Self| e.b.param(ParamSource::Sgpr(n));
        match shape {
            ScalarShape::Word => base(self),
            ScalarShape::ItemCount { shift } => {
                let base = base(self);
                self.item_count(n, base, shift, place)
            }
            ScalarShape::FirstItem => {
                let base = base(self);
                self.b.bin(BinOp::Add, base, place.first)
            }
            ScalarShape::GroupId(axis) => place.group[usize::from(axis.min(2))],
            ScalarShape::GroupSize => self.group_size(),
            ScalarShape::ScratchOffset => {
                let slots = self.b.param(ParamSource::SgprLimit(n));
                let slot = self.b.bin(BinOp::RemU, wave, slots);
                let per_wave = base(self);
                self.b.bin(BinOp::Mul, slot, per_wave)
            }
            ScalarShape::PerWave => {
                let start = self.b.param(ParamSource::SgprTable(n));
                table_word(&mut self.b, start, wave)
            }
        }
    }

    /// Items of this wave below the limit.
    fn item_count(&mut self, n: u8, base: Value, shift: u8, place: &Place) -> Value {
        let items = self.b.param(ParamSource::Items);
        let limit = self.b.param(ParamSource::SgprLimit(n));
        let per_wave = self.b.param(ParamSource::ItemsPerWave);
        let end = self.b.bin(BinOp::MinU, items, limit);
        let start = self.b.bin(BinOp::MinU, place.first, end);
        let left = self.b.bin(BinOp::Sub, end, start);
        let count = self.b.bin(BinOp::MinU, left, per_wave);
        let amount = self.b.c32(u32::from(shift));
        let field = self.b.bin(BinOp::Shl, count, amount);
        self.b.bin(BinOp::Or, base, field)
    }

    /// TG_SIZE: waves of the group in 5:0, this wave's number in 11:6, bit 31 in a group's first wave.
    fn group_size(&mut self) -> Value {
        let waves = self.b.param(ParamSource::WavesPerGroup);
        let within = self.b.builtin(Builtin::WaveInGroup);
        let (six, thirty_one, zero) = (self.b.c32(6), self.b.c32(31), self.b.c32(0));
        let number = self.b.bin(BinOp::Shl, within, six);
        let is_first = self.b.bin(BinOp::Eq, within, zero);
        let is_first = self.b.un(UnOp::FromBool, is_first);
        let first = self.b.bin(BinOp::Shl, is_first, thirty_one);
        let low = self.b.bin(BinOp::Or, waves, number);
        self.b.bin(BinOp::Or, low, first)
    }

    fn first_vgpr(&mut self, n: u8, shape: LaneShape, place: &Place) -> Value {
        lane_value(&mut self.b, n, shape, place.item, place.thread)
    }
}

/// What the rule of VGPR `n` gives a lane: `item` is its item, `thread` its thread in the workgroup.
pub(crate) fn lane_value(b: &mut Builder, n: u8, shape: LaneShape, item: Value, thread: [Value; 3]) -> Value {
    let (base, limit) = (ParamSource::Vgpr(n), ParamSource::VgprLimit(n));
    let after_base = |b: &mut Builder, offset: Value| {
        let base = b.param(base);
        b.bin(BinOp::Add, base, offset)
    };
    match shape {
        LaneShape::Word => b.param(base),
        LaneShape::Item => after_base(b, item),
        LaneShape::Primitive => {
            let items = b.param(limit);
            let primitive = b.bin(BinOp::DivU, item, items);
            after_base(b, primitive)
        }
        LaneShape::Cycle => {
            let items = b.param(limit);
            let place = b.bin(BinOp::RemU, item, items);
            after_base(b, place)
        }
        LaneShape::ThreadId(axis) => thread[usize::from(axis.min(2))],
        LaneShape::PerItem => {
            let (start, words) = (b.param(ParamSource::VgprTable(n)), b.param(limit));
            let word = b.bin(BinOp::RemU, item, words);
            table_word(b, start, word)
        }
    }
}

/// The word of this index of a table.
fn table_word(b: &mut Builder, start: Value, index: Value) -> Value {
    let four = b.c32(4);
    let offset = b.shift(BinOp::Shl, index, 2);
    let address = b.bin(BinOp::Add, start, offset);
    let access = Access { space: Space::Table, address, valid: four, width: Width::W32, pc: 0, slot: None };
    b.load(1, access)[0]
}
