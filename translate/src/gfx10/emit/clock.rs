//! What the wave keeps besides its registers: FLAT_SCRATCH, and the clock, which is how many instructions it has executed,
//! counted where a program asks for it.

use guestwave_isa::gfx10::{Inst, Mods, Op};

use super::Emit;
use super::registers::Cell;
use crate::gfx10::error::Stop;
use crate::gfx10::flow::Graph;
use crate::program::{BinOp, Value};

/// HW_REG_SHADER_CYCLES.
pub(super) const SHADER_CYCLES: u16 = 29;

/// Whether a program looks at a clock.
pub(in crate::gfx10) fn reads_clock(graph: &Graph) -> bool {
    graph.blocks.iter().flat_map(|b| &b.insts).any(is_clock)
}

fn is_clock(inst: &Inst) -> bool {
    match (inst.op, inst.mods) {
        (Op::S_MEMTIME | Op::S_MEMREALTIME, _) => true,
        (Op::S_GETREG_B32, Mods::Simm(simm)) => simm & 0x3f == SHADER_CYCLES,
        _ => false,
    }
}

impl Emit<'_> {
    /// Counts what a block executed, if anybody wants to know.
    pub(super) fn count(&mut self, instructions: u32) {
        if self.clocked {
            let before = self.get(Cell::Clock);
            let after = self.with_constant(BinOp::Add, before, u64::from(instructions));
            self.put(Cell::Clock, after);
        }
    }

    /// A half of FLAT_SCRATCH.
    pub(in crate::gfx10) fn flat_scratch(&mut self, half: u8) -> Value {
        self.get(Cell::FlatScratch(half))
    }

    /// Writes it.
    ///
    /// # Errors
    /// Lanes go their own ways here.
    pub(in crate::gfx10) fn set_flat_scratch(&mut self, half: u8, value: Value) -> Result<(), Stop> {
        self.want_wave()?;
        self.put(Cell::FlatScratch(half), value);
        Ok(())
    }

    /// The clock at the instruction under way, a `B32`.
    ///
    /// # Errors
    /// Lanes go their own ways here.
    pub(in crate::gfx10) fn clock(&mut self) -> Result<Value, Stop> {
        self.want_wave()?;
        let before = self.get(Cell::Clock);
        Ok(self.with_constant(BinOp::Add, before, u64::from(self.executed)))
    }
}
