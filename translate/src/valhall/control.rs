//! Structured control: every branch is taken by each lane alone.

use guestwave_isa::mali::valhall::field;

use super::Refusal;
use super::emit::{Cell, Emit};
use crate::gfx10::flow::{BlockId, End, Node};
use crate::program::{BinOp, Builder, Stmt, Value};
use crate::ways::{Contents, Ways};

impl Ways for Emit<'_> {
    type Stop = Refusal;

    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    fn contents(&mut self) -> &mut Contents {
        &mut self.contents
    }
}

impl Emit<'_> {
    pub(super) fn nodes(&mut self, nodes: &[Node]) -> Result<(), Refusal> {
        nodes.iter().try_for_each(|n| self.node(n))
    }

    fn node(&mut self, node: &Node) -> Result<(), Refusal> {
        match node {
            Node::Block(b) => self.basic_block(*b)?,
            Node::If { block, taken, next } => {
                let condition = self.condition_of(*block);
                self.choose(condition, |e| e.nodes(taken), |e| e.nodes(next))?;
            }
            Node::Loop { body, .. } => self.forget_and_repeat(|e| e.nodes(body))?,
            Node::Exit(exit) => self.exit(*exit),
            Node::End => self.b.push(Stmt::Return),
            Node::Lower(flag) => self.flag(*flag, false),
            Node::Raise(flag) => self.flag(*flag, true),
            Node::IfRaised(flag, exit) => {
                let raised = self.get(Cell::Flag(*flag));
                let leave = |e: &mut Self| {
                    e.exit(*exit);
                    Ok(())
                };
                self.choose(raised, leave, |_| Ok(()))?;
            }
            Node::Chain(blocks) => self.chain(blocks)?,
        }
        Ok(())
    }

    fn flag(&mut self, flag: usize, raised: bool) {
        let value = self.b.cbool(raised);
        self.put(Cell::Flag(flag), value);
    }

    fn condition_of(&mut self, block: BlockId) -> Value {
        match self.conditions.get(&block) {
            Some(condition) => *condition,
            None => self.b.cbool(false),
        }
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

    /// A `Loop`, of whose body it is not known what it sets.
    fn forget_and_repeat(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.contents.forget(|_| false);
        self.repeat(body)
    }

    /// Irreducible control: in each round the block whose number is next runs and names the one after it.
    fn chain(&mut self, blocks: &[BlockId]) -> Result<(), Refusal> {
        self.forget_and_repeat(|e| e.round(blocks, |e| e.get(Cell::Next), Self::chain_link))
    }

    fn chain_link(&mut self, b: BlockId) -> Result<(), Refusal> {
        self.basic_block(b)?;
        let to = match self.graph.block(b).end {
            End::Program => {
                self.b.push(Stmt::Return);
                return Ok(());
            }
            End::To(to) => self.b.c32(to.0 as u32),
            End::Branch { taken, next, .. } => {
                let (taken, next) = (self.b.c32(taken.0 as u32), self.b.c32(next.0 as u32));
                let condition = self.condition_of(b);
                self.b.select(condition, taken, next)
            }
        };
        self.put(Cell::Next, to);
        Ok(())
    }
}
