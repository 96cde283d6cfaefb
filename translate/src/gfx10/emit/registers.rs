//! The guest's registers as variables of the program.

use guestwave_isa::gfx10::{Inst, WaveSize, sreg};

use std::collections::HashSet;

use super::Emit;
use crate::gfx10::error::{Refusal, Stop};
use crate::gfx10::flow::BlockId;
use crate::gfx10::plan::{RegisterSet, SCC, effects};
use crate::program::{BinOp, Rate, Type, UnOp, Value, Var, WaveOp};

/// A variable by what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cell {
    Vgpr(u8),
    /// A scalar register as a number; in the zone each lane has its own copy of those that the zone writes.
    Sgpr {
        register: u8,
        zone: bool,
    },
    /// The mask that starts at a scalar register (or at [`SCC`]: SCC is whether it has any lane).
    Mask(u8),
    Scc {
        zone: bool,
    },
    Flag {
        index: usize,
        zone: bool,
    },
    /// The next block of a chain.
    Next,
    /// Instructions that were executed.
    Clock,
    /// A half of FLAT_SCRATCH.
    FlatScratch(u8),
    /// Bytes of the lane's row of the record that are written.
    Record,
}

impl Cell {
    fn shape(self) -> (Type, Rate) {
        let rate = |zone| if zone { Rate::Varying } else { Rate::Uniform };
        match self {
            Cell::Vgpr(_) | Cell::Record => (Type::B32, Rate::Varying),
            Cell::Sgpr { zone, .. } => (Type::B32, rate(zone)),
            Cell::Mask(_) => (Type::Bool, Rate::Varying),
            Cell::Scc { zone } | Cell::Flag { zone, .. } => (Type::Bool, rate(zone)),
            Cell::Next | Cell::Clock | Cell::FlatScratch(_) => (Type::B32, Rate::Uniform),
        }
    }

    fn name(self) -> String {
        let lane = |zone| if zone { "'" } else { "" };
        match self {
            Cell::Vgpr(n) => format!("v{n}"),
            Cell::Sgpr { register, zone } => format!("s{register}{}", lane(zone)),
            Cell::Mask(SCC) => "scc.mask".into(),
            Cell::Mask(n) => format!("m{n}"),
            Cell::Scc { zone } => format!("scc{}", lane(zone)),
            Cell::Flag { index, zone } => format!("flag{index}{}", lane(zone)),
            Cell::Next => "next".into(),
            Cell::Clock => "clock".into(),
            Cell::FlatScratch(half) => format!("flat_scratch{half}"),
            Cell::Record => "record".into(),
        }
    }
}

impl Emit<'_> {
    /// The scalar registers that no loop of these blocks changes.
    pub(super) fn kept_in_loop(&self, blocks: &[BlockId]) -> HashSet<Var> {
        let wave = self.input.source.wave;
        let graph = self.input.graph;
        let written = blocks
            .iter()
            .flat_map(|b| &graph.block(*b).insts)
            .fold(RegisterSet::default(), |all, i| all.union(effects(i, wave).writes));
        let in_mask =
            |r: u8| blocks.iter().any(|b| self.input.kinds.entry(*b).masks_in(r, 1).next().is_some());
        let stays = |r: u8| !written.contains(r) && !in_mask(r);
        self.vars
            .iter()
            .filter(|(cell, _)| matches!(cell, Cell::Sgpr { register, zone: false } if stays(*register)))
            .map(|(_, var)| *var)
            .collect()
    }

    pub(super) fn cell(&mut self, cell: Cell) -> Var {
        if let Some(var) = self.vars.get(&cell) {
            return *var;
        }
        let (ty, rate) = cell.shape();
        let var = self.b.var(cell.name(), ty, rate);
        self.vars.insert(cell, var);
        var
    }

    pub(super) fn get(&mut self, cell: Cell) -> Value {
        let var = self.cell(cell);
        self.contents.get(&mut self.b, var)
    }

    pub(super) fn put(&mut self, cell: Cell, value: Value) {
        let var = self.cell(cell);
        self.contents.set(&mut self.b, var, value);
    }

    /// Whether the zone's copy of a scalar register counts here.
    fn zoned(&self, register: u8) -> bool {
        self.input.plan.in_zone(self.block) && self.input.plan.written_in_zone().contains(register)
    }

    /// A vector register.
    pub(in crate::gfx10) fn vgpr(&mut self, n: u8) -> Value {
        self.get(Cell::Vgpr(n))
    }

    /// Writes a vector register in the lanes of EXEC.
    pub(in crate::gfx10) fn set_vgpr(&mut self, n: u8, value: Value) {
        let exec = self.exec();
        if self.b.constant(exec) == Some(1) {
            return self.put(Cell::Vgpr(n), value);
        }
        let old = self.vgpr(n);
        let new = self.b.select(exec, value, old);
        self.put(Cell::Vgpr(n), new);
    }

    /// Writes a vector register in every lane.
    pub(in crate::gfx10) fn set_vgpr_all(&mut self, n: u8, value: Value) {
        self.put(Cell::Vgpr(n), value);
    }

    /// EXEC, one `Bool` a lane.
    pub(in crate::gfx10) fn exec(&mut self) -> Value {
        self.get(Cell::Mask(sreg::EXEC_LO))
    }

    /// EXEC as a value that varies even where it is known to be the same in all lanes.
    pub(in crate::gfx10) fn exec_lanes(&mut self) -> Value {
        let var = self.cell(Cell::Mask(sreg::EXEC_LO));
        self.b.get(var)
    }

    /// Writes EXEC.
    pub(in crate::gfx10) fn set_exec(&mut self, lanes: Value) {
        self.put(Cell::Mask(sreg::EXEC_LO), lanes);
    }

    /// A scalar register as a number.
    ///
    /// # Errors
    /// It holds a mask, and lanes go their own ways here.
    pub(in crate::gfx10) fn sgpr(&mut self, n: u8) -> Result<Value, Stop> {
        if n == sreg::NULL {
            return Ok(self.b.c32(0));
        }
        let Some(head) = self.state.masks_in(n, 1).next() else {
            let zone = self.zoned(n);
            return Ok(self.get(Cell::Sgpr { register: n, zone }));
        };
        let number = self.mask_number(head)?;
        Ok(self.b.un(if head == n { UnOp::Low } else { UnOp::High }, number))
    }

    /// The number that a mask is, a `B64`.
    fn mask_number(&mut self, head: u8) -> Result<Value, Stop> {
        let lanes = self.get(Cell::Mask(head));
        self.ballot(lanes)
    }

    /// The lanes' `Bool`s as a number, a `B64`. Where lanes go their own ways a constant is only this lane's.
    pub(in crate::gfx10) fn ballot(&mut self, lanes: Value) -> Result<Value, Stop> {
        self.want_wave()?;
        match self.b.constant(lanes) {
            Some(0) => Ok(self.b.c64(0)),
            Some(_) => Ok(self.b.c64(u64::MAX >> (64 - self.input.source.wave.lanes()))),
            None => Ok(self.b.wave(WaveOp::Ballot(lanes))),
        }
    }

    /// Whether any lane's `Bool` is true.
    pub(in crate::gfx10) fn any(&mut self, lanes: Value) -> Result<Value, Stop> {
        self.want_wave()?;
        if self.b.constant(lanes).is_some() { Ok(lanes) } else { Ok(self.b.wave(WaveOp::Any(lanes))) }
    }

    /// Writes scalar registers from `first` on as numbers.
    ///
    /// # Errors
    /// They cut a mask whose other half would have to become a number where lanes go their own ways.
    pub(in crate::gfx10) fn set_sgprs(&mut self, first: u8, values: &[Value]) -> Result<(), Stop> {
        let count = values.len() as u8;
        if first == sreg::NULL {
            return Ok(());
        }
        if first != sreg::EXEC_LO {
            self.uncover(first, count)?;
        }
        for (r, value) in (first..).zip(values) {
            self.set_sgpr(r, *value)?;
        }
        Ok(())
    }

    fn set_sgpr(&mut self, n: u8, value: Value) -> Result<(), Stop> {
        if n == sreg::NULL {
            return Ok(());
        }
        if n == sreg::EXEC_LO || (n == sreg::EXEC_HI && self.input.source.wave == WaveSize::W64) {
            return self.set_exec_half(n, value);
        }
        let zone = self.zoned(n);
        self.put(Cell::Sgpr { register: n, zone }, value);
        self.state.set_numbers(n, 1);
        Ok(())
    }

    /// Turns what lies outside `count` registers from `first` on of masks that they cut into numbers.
    fn uncover(&mut self, first: u8, count: u8) -> Result<(), Stop> {
        if self.input.source.wave == WaveSize::W32 {
            return Ok(());
        }
        let heads: Vec<u8> = self.state.masks_in(first, count).collect();
        for head in heads {
            for r in [head, head + 1] {
                let outside = r < first || r >= first.saturating_add(count);
                if outside && self.input.live.may_be_read(self.input.graph, self.block, r) {
                    let value = self.sgpr(r)?;
                    let zone = self.zoned(r);
                    self.put(Cell::Sgpr { register: r, zone }, value);
                }
            }
        }
        Ok(())
    }

    fn set_exec_half(&mut self, n: u8, value: Value) -> Result<(), Stop> {
        let number = if self.input.source.wave == WaveSize::W32 {
            self.b.un(UnOp::Extend, value)
        } else if n == sreg::EXEC_LO {
            let high = self.sgpr(sreg::EXEC_HI)?;
            self.b.bin(BinOp::Pack, value, high)
        } else {
            let low = self.sgpr(sreg::EXEC_LO)?;
            self.b.bin(BinOp::Pack, low, value)
        };
        let lanes = self.lane_bits(number);
        self.set_exec(lanes);
        Ok(())
    }

    /// Each lane's bit of a `B64` number.
    pub(in crate::gfx10) fn lane_bits(&mut self, number: Value) -> Value {
        let all = u64::MAX >> (64 - self.input.source.wave.lanes());
        match self.b.constant(number).map(|c| c & all) {
            Some(0) => return self.b.cbool(false),
            Some(c) if c == all => return self.b.cbool(true),
            _ => {}
        }
        let lane = self.b.builtin(crate::program::Builtin::Lane);
        let shifted = self.b.bin(BinOp::ShrU, number, lane);
        let bit = self.b.un(UnOp::Low, shifted);
        let one = self.b.c32(1);
        let bit = self.b.bin(BinOp::And, bit, one);
        self.b.bin(BinOp::Eq, bit, one)
    }

    /// A mask operand: the register's lanes, whatever it holds.
    ///
    /// # Errors
    /// Never so far; callers pass it on with those of numbers.
    pub(in crate::gfx10) fn mask(&mut self, n: u8) -> Result<Value, Stop> {
        if n == sreg::NULL {
            return Ok(self.b.cbool(false));
        }
        if self.state.is_mask(n) {
            return Ok(self.get(Cell::Mask(n)));
        }
        let low = self.sgpr(n)?;
        let number = if self.input.source.wave == WaveSize::W32 {
            self.b.un(UnOp::Extend, low)
        } else {
            let high = self.sgpr(n.saturating_add(1))?;
            self.b.bin(BinOp::Pack, low, high)
        };
        Ok(self.lane_bits(number))
    }

    /// Writes a mask.
    pub(in crate::gfx10) fn set_mask(&mut self, n: u8, lanes: Value) -> Result<(), Stop> {
        if n == sreg::NULL {
            return Ok(());
        }
        if self.input.source.wave == WaveSize::W64 && n != sreg::EXEC_LO && n != SCC {
            self.uncover(n, 2)?;
        }
        self.put(Cell::Mask(n), lanes);
        self.state.set_mask(n, self.input.source.wave);
        Ok(())
    }

    /// SCC, a `Bool` that all lanes share.
    ///
    /// # Errors
    /// It asks for any lane of a mask where lanes go their own ways.
    pub(in crate::gfx10) fn scc(&mut self) -> Result<Value, Stop> {
        if self.state.is_mask(SCC) {
            let lanes = self.get(Cell::Mask(SCC));
            return self.any(lanes);
        }
        let zone = self.zoned(SCC);
        Ok(self.get(Cell::Scc { zone }))
    }

    /// Writes SCC.
    pub(in crate::gfx10) fn set_scc(&mut self, value: Value) {
        let zone = self.zoned(SCC);
        self.put(Cell::Scc { zone }, value);
        self.state.set_numbers(SCC, 1);
    }

    /// The first of `count` scalar registers, checked.
    ///
    /// # Errors
    /// They run past the last scalar register.
    pub(in crate::gfx10) fn within(&self, inst: &Inst, first: u8, count: u8) -> Result<u8, Stop> {
        match first.checked_add(count) {
            Some(end) if end <= 128 => Ok(first),
            _ => Err(Refusal::Registers { mnemonic: inst.op.name(), pc: inst.offset }.into()),
        }
    }

    /// Brings the registers into the form in which the blocks that follow want them.
    pub(super) fn hand_over(&mut self) -> Result<(), Stop> {
        let successors: Vec<_> = self.input.graph.block(self.block).end.successors().collect();
        for s in successors {
            let (live, kinds) = (self.input.live.entry(s), self.input.kinds.entry(s));
            for r in live.iter() {
                // A mask is handed over as a whole though only one half of it may be live.
                let head = if kinds.is_mask(r) { Some(r) } else { kinds.masks_in(r, 1).next() };
                self.convert(head.unwrap_or(r), head.is_some())?;
            }
            if self.input.plan.in_zone(s) && !self.input.plan.in_zone(self.block) {
                self.enter_zone(live.iter())?;
            }
        }
        Ok(())
    }

    /// Makes a register a mask that starts there, or a number.
    fn convert(&mut self, r: u8, to_mask: bool) -> Result<(), Stop> {
        let is = if self.state.is_mask(r) { Some(r) } else { self.state.masks_in(r, 1).next() };
        if to_mask && is != Some(r) {
            let lanes = if r == SCC { self.scc()? } else { self.mask(r)? };
            self.put(Cell::Mask(r), lanes);
        } else if !to_mask && is.is_some() {
            let zone = self.zoned(r);
            if r == SCC {
                let value = self.scc()?;
                self.put(Cell::Scc { zone }, value);
            } else {
                let value = self.sgpr(r)?;
                self.put(Cell::Sgpr { register: r, zone }, value);
            }
        }
        Ok(())
    }

    /// The same before the first block, which may stand in the zone.
    pub(super) fn enter_entry(&mut self) -> Result<(), Stop> {
        let live = self.input.live.entry(self.block);
        if self.input.plan.in_zone(self.block) { self.enter_zone(live.iter()) } else { Ok(()) }
    }

    /// Gives each lane its copy of the registers that the zone writes.
    fn enter_zone(&mut self, live: impl Iterator<Item = u8>) -> Result<(), Stop> {
        let written = self.input.plan.written_in_zone();
        for r in live.filter(|r| written.contains(*r)) {
            if self.state.masks_in(r, 1).next().is_some() || r == sreg::EXEC_LO || r == sreg::EXEC_HI {
                continue;
            }
            if r == SCC {
                let value = self.get(Cell::Scc { zone: false });
                self.put(Cell::Scc { zone: true }, value);
            } else {
                let value = self.get(Cell::Sgpr { register: r, zone: false });
                self.put(Cell::Sgpr { register: r, zone: true }, value);
            }
        }
        Ok(())
    }
}
