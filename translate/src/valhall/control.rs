//! Structured control: every branch is taken by each lane alone.

use guestwave_isa::mali::valhall::field;

use super::Refusal;
use super::emit::{Cell, Emit};
use crate::gfx10::flow::{BlockId, End};
use crate::program::{BinOp, Builder, Value, Var};
use crate::ways::{Contents, Ways};

impl Ways for Emit<'_> {
    type Stop = Refusal;

    fn parts(&mut self) -> (&mut Builder, &mut Contents) {
        (&mut self.b, &mut self.contents)
    }

    fn flag(&mut self, index: usize) -> Var {
        self.var(Cell::Flag(index))
    }

    fn next_block(&mut self) -> Var {
        self.var(Cell::Next)
    }

    fn basic_block(&mut self, b: BlockId) -> Result<(), Refusal> {
        let graph = self.graph;
        let block = graph.block(b);
        block.insts.iter().try_for_each(|i| self.inst(i))?;
        if let End::Branch { condition: branch, .. } = &block.end {
            let looked_at = self.components(branch)?[0][0];
            let zero = self.b.c32(0);
            let op = if branch.code(&field::EQ) != 0 { BinOp::Eq } else { BinOp::Ne };
            let taken = self.b.bin(op, looked_at, zero);
            self.conditions.insert(b, taken);
        }
        Ok(())
    }

    fn end_of(&self, b: BlockId) -> End<()> {
        self.graph.block(b).end.ways()
    }

    fn condition_of(&mut self, b: BlockId) -> Value {
        match self.conditions.get(&b) {
            Some(condition) => *condition,
            None => self.b.cbool(false),
        }
    }

    /// Which variables the blocks set is not looked at.
    fn forget_for_loop(&mut self, _: &[BlockId]) {
        self.contents.forget(|_| false);
    }
}
