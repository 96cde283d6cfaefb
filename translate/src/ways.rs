//! Emitting structured control, and what is known of variables on each way through it.

use std::collections::{HashMap, HashSet};

use crate::gfx10::flow::{BlockId, End, Exit, Node};
use crate::program::{BinOp, Builder, Stmt, Value, Var};

/// What variables hold where an emitter stands: reading one again, or after setting it, is no statement.
#[derive(Default)]
pub(crate) struct Contents {
    known: HashMap<Var, Value>,
    /// Variables that were set since a nested block was opened.
    set: HashSet<Var>,
}

impl Contents {
    /// A variable's value.
    pub(crate) fn get(&mut self, b: &mut Builder, var: Var) -> Value {
        *self.known.entry(var).or_insert_with(|| b.get(var))
    }

    /// Sets a variable.
    pub(crate) fn set(&mut self, b: &mut Builder, var: Var, value: Value) {
        b.set(var, value);
        self.set.insert(var);
        self.known.insert(var, value);
    }

    /// Takes a variable to hold a value from here on.
    pub(crate) fn assume(&mut self, var: Var, value: Value) {
        self.known.insert(var, value);
    }

    /// Forgets all variables but those that stay.
    pub(crate) fn forget(&mut self, stays: impl Fn(Var) -> bool) {
        self.known.retain(|var, _| stays(*var));
    }
}

/// An emitter of structured control.
pub(crate) trait Ways: Sized {
    /// Why emission ends early.
    type Stop;

    /// What the program is made with, and what variables hold here.
    fn parts(&mut self) -> (&mut Builder, &mut Contents);

    /// The variable of a flag.
    fn flag(&mut self, index: usize) -> Var;

    /// The variable that holds the number of the block that runs next, of irreducible control.
    fn next_block(&mut self) -> Var;

    /// The instructions of a block.
    fn basic_block(&mut self, b: BlockId) -> Result<(), Self::Stop>;

    /// How a block ends.
    fn end_of(&self, b: BlockId) -> End<()>;

    /// Whether the branch that ends a block is taken; the block has been emitted.
    fn condition_of(&mut self, b: BlockId) -> Value;

    /// Forgets what a loop of these blocks may set.
    fn forget_for_loop(&mut self, blocks: &[BlockId]);

    /// The branch that ends a block.
    fn branch(&mut self, b: BlockId, taken: &[Node], next: &[Node]) -> Result<(), Self::Stop> {
        let condition = self.condition_of(b);
        self.choose(condition, |e| e.nodes(taken), |e| e.nodes(next))
    }

    fn builder(&mut self) -> &mut Builder {
        self.parts().0
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<(), Self::Stop> {
        nodes.iter().try_for_each(|n| self.node(n))
    }

    fn node(&mut self, node: &Node) -> Result<(), Self::Stop> {
        match node {
            Node::Block(b) => self.basic_block(*b)?,
            Node::If { block, taken, next } => self.branch(*block, taken, next)?,
            Node::Loop { body, .. } => {
                let mut blocks = Vec::new();
                collect(body, &mut blocks);
                self.repeat(&blocks, |e| e.nodes(body))?;
            }
            Node::Exit(exit) => self.exit(*exit),
            Node::End => self.builder().push(Stmt::Return),
            Node::Lower(flag) => self.set_flag(*flag, false),
            Node::Raise(flag) => self.set_flag(*flag, true),
            Node::IfRaised(flag, exit) => self.exit_if_raised(*flag, *exit)?,
            Node::Chain(blocks) => self.chain(blocks)?,
        }
        Ok(())
    }

    /// The statements that `body` emits.
    fn block(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<(), Self::Stop>,
    ) -> Result<Vec<Stmt>, Self::Stop> {
        self.builder().open();
        body(self)?;
        Ok(self.builder().close())
    }

    /// An `If` whose branches know what is known here; behind it what neither has set still is.
    fn choose(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self) -> Result<(), Self::Stop>,
        otherwise: impl FnOnce(&mut Self) -> Result<(), Self::Stop>,
    ) -> Result<(), Self::Stop> {
        let contents = self.parts().1;
        let known = contents.known.clone();
        let set = std::mem::take(&mut contents.set);
        let then = self.block(then)?;
        self.parts().1.known.clone_from(&known);
        let otherwise = self.block(otherwise)?;
        let (b, contents) = self.parts();
        contents.known = known;
        contents.known.retain(|var, _| !contents.set.contains(var));
        contents.set.extend(set);
        b.push(Stmt::If { cond, then, otherwise });
        Ok(())
    }

    /// A `Loop` of these blocks.
    fn repeat(
        &mut self,
        blocks: &[BlockId],
        body: impl FnOnce(&mut Self) -> Result<(), Self::Stop>,
    ) -> Result<(), Self::Stop> {
        self.forget_for_loop(blocks);
        let known = self.parts().1.known.clone();
        let body = self.block(body)?;
        let (b, contents) = self.parts();
        contents.known = known;
        b.push(Stmt::Loop { body });
        Ok(())
    }

    fn exit(&mut self, exit: Exit) {
        self.builder().push(match exit {
            Exit::Break => Stmt::Break,
            Exit::Continue => Stmt::Continue,
        });
    }

    fn exit_if_raised(&mut self, flag: usize, exit: Exit) -> Result<(), Self::Stop> {
        let flag = self.flag(flag);
        let (b, contents) = self.parts();
        let raised = contents.get(b, flag);
        let leave = |e: &mut Self| {
            e.exit(exit);
            Ok(())
        };
        self.choose(raised, leave, |_| Ok(()))
    }

    fn set_flag(&mut self, flag: usize, raised: bool) {
        let flag = self.flag(flag);
        let (b, contents) = self.parts();
        let raised = b.cbool(raised);
        contents.set(b, flag, raised);
    }

    /// Irreducible control: in each round the block whose number is next runs and names the one after it.
    fn chain(&mut self, blocks: &[BlockId]) -> Result<(), Self::Stop> {
        self.repeat(blocks, |e| {
            for block in blocks {
                let next = e.next_block();
                let (b, contents) = e.parts();
                let next = contents.get(b, next);
                let number = b.c32(block.0 as u32);
                let here = b.bin(BinOp::Eq, next, number);
                e.choose(here, |e| e.chain_link(*block), |_| Ok(()))?;
            }
            Ok(())
        })
    }

    fn chain_link(&mut self, block: BlockId) -> Result<(), Self::Stop> {
        self.basic_block(block)?;
        let to = match self.end_of(block) {
            End::Program => {
                self.builder().push(Stmt::Return);
                return Ok(());
            }
            End::To(to) => self.builder().c32(to.0 as u32),
            End::Branch { taken, next, .. } => {
                let condition = self.condition_of(block);
                let b = self.builder();
                let (taken, next) = (b.c32(taken.0 as u32), b.c32(next.0 as u32));
                b.select(condition, taken, next)
            }
        };
        let next = self.next_block();
        let (b, contents) = self.parts();
        contents.set(b, next, to);
        Ok(())
    }
}

/// The blocks of some nodes.
fn collect(nodes: &[Node], blocks: &mut Vec<BlockId>) {
    for node in nodes {
        match node {
            Node::Block(b) => blocks.push(*b),
            Node::If { taken, next, .. } => {
                collect(taken, blocks);
                collect(next, blocks);
            }
            Node::Loop { body, .. } => collect(body, blocks),
            Node::Chain(all) => blocks.extend(all),
            _ => {}
        }
    }
}
