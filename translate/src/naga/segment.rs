//! A program cut into what happens once a wave and stretches of what happens in each lane.

use super::phases::has_phases;
use super::plan::{Class, Plan};
use crate::program::{Block, Expr, Rate, Space, Stmt, Value, Var, WaveOp};

/// A part of a block of uniform control flow.
pub(super) enum Piece<'p> {
    /// A statement of the wave that has no blocks.
    Once(&'p Stmt),
    /// Statements that each lane does, one lane after another or side by side.
    Lanes(Stretch<'p>),
    /// The lanes meet: what each did before is done before what any does after.
    Meet,
    /// A uniform `If`.
    If { cond: Value, then: Vec<Piece<'p>>, otherwise: Vec<Piece<'p>> },
    /// A loop that the wave leaves as one.
    Loop {
        body: Vec<Piece<'p>>,
        /// The statements that it is made of.
        stmts: &'p [Stmt],
        /// Whether invocations meet in it.
        meets: bool,
    },
    /// A loop that the waves of a workgroup leave together; see [`super::phases`].
    Phases(Vec<Piece<'p>>),
}

/// Statements of lanes, and the votes taken at their end.
#[derive(Default)]
pub(super) struct Stretch<'p> {
    /// In order.
    pub(super) stmts: Vec<&'p Stmt>,
    /// Ballots of the whole-wave holding: result and what is voted on.
    pub(super) votes: Vec<(Value, WaveOp)>,
}

/// Cuts blocks; `whole`: for the whole-wave holding.
pub(super) struct Cutter<'p, 'a> {
    pub(super) plan: &'a Plan,
    pub(super) rates: &'a dyn Fn(Value) -> Rate,
    pub(super) whole: bool,
    pub(super) _program: std::marker::PhantomData<&'p ()>,
}

impl<'p> Cutter<'p, '_> {
    /// The pieces of a block.
    pub(super) fn block(&self, block: &'p Block) -> Vec<Piece<'p>> {
        let mut pieces = Vec::new();
        let mut open = Stretch::default();
        for stmt in block {
            self.stmt(stmt, &mut open, &mut pieces);
        }
        flush(&mut open, &mut pieces);
        pieces
    }

    fn stmt(&self, stmt: &'p Stmt, open: &mut Stretch<'p>, pieces: &mut Vec<Piece<'p>>) {
        let need = self.plan.need(stmt);
        if need.cut {
            flush(open, pieces);
            pieces.push(Piece::Meet);
        }
        match (stmt, need.class) {
            (_, Class::Lanes) => {
                // Votes come last in their stretch, and what is done lane by lane is one by itself.
                if !open.votes.is_empty() || need.serial {
                    flush(open, pieces);
                }
                open.stmts.push(stmt);
                if need.serial {
                    flush(open, pieces);
                }
            }
            (Stmt::If { cond, then, otherwise }, Class::Wave) => {
                flush(open, pieces);
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                pieces.push(Piece::If { cond: *cond, then, otherwise });
            }
            (Stmt::Loop { body }, Class::Wave) if has_phases(body) => {
                flush(open, pieces);
                pieces.push(Piece::Phases(self.block(body)));
            }
            (Stmt::Loop { body }, Class::Wave) => {
                flush(open, pieces);
                pieces.push(Piece::Loop { body: self.block(body), stmts: body, meets: need.meets });
            }
            (Stmt::Let(value, Expr::Wave(op)), _) if self.whole => {
                self.whole_wave(stmt, *value, *op, open, pieces);
            }
            _ => {
                if !passes(stmt, need.class, open) {
                    flush(open, pieces);
                }
                pieces.push(Piece::Once(stmt));
            }
        }
    }

    fn whole_wave(
        &self,
        stmt: &'p Stmt,
        value: Value,
        op: WaveOp,
        open: &mut Stretch<'p>,
        pieces: &mut Vec<Piece<'p>>,
    ) {
        match op {
            WaveOp::Ballot(v) | WaveOp::Any(v) if (self.rates)(v) == Rate::Varying => {
                open.votes.push((value, op));
                // The result is there once the stretch has ended.
                flush(open, pieces);
            }
            WaveOp::Shuffle { .. } => {
                flush(open, pieces);
                open.stmts.push(stmt);
            }
            _ => {
                flush(open, pieces);
                pieces.push(Piece::Once(stmt));
            }
        }
    }
}

fn flush<'p>(open: &mut Stretch<'p>, pieces: &mut Vec<Piece<'p>>) {
    let stretch = std::mem::take(open);
    if !(stretch.stmts.is_empty() && stretch.votes.is_empty()) {
        pieces.push(Piece::Lanes(stretch));
    }
}

/// Whether a statement of the wave may run before the open stretch.
fn passes(stmt: &Stmt, class: Class, open: &Stretch<'_>) -> bool {
    match stmt {
        _ if class == Class::Free => true,
        Stmt::Set(var, _) => !open.stmts.iter().any(|s| reads(s, *var)),
        Stmt::Load { access, .. } => {
            access.space == Space::Table || !open.stmts.iter().any(|s| stores(s, access.space))
        }
        _ => false,
    }
}

/// Whether `stmt` reads a variable.
fn reads(stmt: &Stmt, var: Var) -> bool {
    stmt.any(&|s| matches!(s, Stmt::Let(_, Expr::Get(v)) if *v == var))
}

/// Whether `stmt` stores to a memory.
fn stores(stmt: &Stmt, space: Space) -> bool {
    stmt.any(&|s| match s {
        Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => access.space == space,
        _ => false,
    })
}
