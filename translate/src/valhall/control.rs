//! Structured control: every branch is taken by each lane alone.

use guestwave_isa::mali::valhall::field;

use super::Refusal;
use super::emit::{Cell, Emit};
use crate::gfx10::flow::{BlockId, End, Exit, Node};
use crate::program::{BinOp, Stmt, Value};

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
            Node::Loop { body, .. } => self.repeat(|e| e.nodes(body))?,
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

    fn exit(&mut self, exit: Exit) {
        self.b.push(match exit {
            Exit::Break => Stmt::Break,
            Exit::Continue => Stmt::Continue,
        });
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

    /// An `If` whose branches know what is known here; behind it what neither has set still is.
    pub(super) fn choose(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self) -> Result<(), Refusal>,
        otherwise: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let known = self.known.clone();
        let set = std::mem::take(&mut self.set);
        self.b.open();
        then(self)?;
        let then = self.b.close();
        self.known.clone_from(&known);
        self.b.open();
        otherwise(self)?;
        let otherwise = self.b.close();
        self.known = known;
        self.known.retain(|cell, _| !self.set.contains(cell));
        self.set.extend(set);
        self.b.push(Stmt::If { cond, then, otherwise });
        Ok(())
    }

    /// A `Loop`. What its body will set is not known before it, nor behind it.
    fn repeat(&mut self, body: impl FnOnce(&mut Self) -> Result<(), Refusal>) -> Result<(), Refusal> {
        self.known.clear();
        self.b.open();
        body(self)?;
        let body = self.b.close();
        self.known.clear();
        self.b.push(Stmt::Loop { body });
        Ok(())
    }

    /// Irreducible control: in each round the block whose number is next runs and names the one after it.
    fn chain(&mut self, blocks: &[BlockId]) -> Result<(), Refusal> {
        self.repeat(|e| {
            for b in blocks {
                let next = e.get(Cell::Next);
                let number = e.b.c32(b.0 as u32);
                let here = e.b.bin(BinOp::Eq, next, number);
                e.choose(here, |e| e.chain_link(*b), |_| Ok(()))?;
            }
            Ok(())
        })
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
