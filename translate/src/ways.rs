//! Emitting structured control, and what is known of variables on each way through it.

use std::collections::{HashMap, HashSet};

use crate::gfx10::flow::{BlockId, Exit};
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

    fn builder(&mut self) -> &mut Builder;

    fn contents(&mut self) -> &mut Contents;

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
        let known = self.contents().known.clone();
        let set = std::mem::take(&mut self.contents().set);
        let then = self.block(then)?;
        self.contents().known.clone_from(&known);
        let otherwise = self.block(otherwise)?;
        let contents = self.contents();
        contents.known = known;
        contents.known.retain(|var, _| !contents.set.contains(var));
        contents.set.extend(set);
        self.builder().push(Stmt::If { cond, then, otherwise });
        Ok(())
    }

    /// A `Loop`. What its body may set must have been forgotten before.
    fn repeat(&mut self, body: impl FnOnce(&mut Self) -> Result<(), Self::Stop>) -> Result<(), Self::Stop> {
        let known = self.contents().known.clone();
        let body = self.block(body)?;
        self.contents().known = known;
        self.builder().push(Stmt::Loop { body });
        Ok(())
    }

    /// Leaves a loop or a round of it.
    fn exit(&mut self, exit: Exit) {
        self.builder().push(match exit {
            Exit::Break => Stmt::Break,
            Exit::Continue => Stmt::Continue,
        });
    }

    /// The round of an irreducible region's loop: of the blocks the one whose number `next` is runs, as `link` emits it.
    fn round(
        &mut self,
        blocks: &[BlockId],
        next: impl Fn(&mut Self) -> Value,
        link: impl Fn(&mut Self, BlockId) -> Result<(), Self::Stop>,
    ) -> Result<(), Self::Stop> {
        for b in blocks {
            let next = next(self);
            let number = self.builder().c32(b.0 as u32);
            let here = self.builder().bin(BinOp::Eq, next, number);
            self.choose(here, |e| link(e, *b), |_| Ok(()))?;
        }
        Ok(())
    }
}
