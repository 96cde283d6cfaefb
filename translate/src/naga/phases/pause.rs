//! Loops in which a wave may pause: where it is soon to be held back, it leaves them, and comes back in the next phase.
//!
//! A phase for each iteration is dear where iterations are short. An innermost loop stays one, inside another whose iterations end
//! phases:
//!
//! ```text
//! loop {                              // an iteration ends a phase
//!     loop { if pausing { break }; ... }
//!     if !pausing { break }
//! }
//! ```
//!
//! Modules set the variable `pausing` at the start of each iteration.

use super::super::plan::Plan;
use super::{fresh, is_wave_loop, variable};
use crate::program::{Block, Expr, Program, Rate, Stmt, Type, UnOp, Value, Var};

/// Whether iterations of a loop end phases: there is a loop or a barrier inside that the wave comes to as one.
pub(super) fn ends_phases(stmt: &Stmt, plan: &Plan) -> bool {
    let stops = |s: &Stmt| is_wave_loop(s, plan) || matches!(s, Stmt::Barrier { .. });
    is_wave_loop(stmt, plan) && stmt.blocks().into_iter().flatten().any(|s| s.any(&stops))
}

/// The program with pauses in its innermost loops, and the variable that says whether the wave pauses. `plan` is the program's.
pub(super) fn with_pauses(program: &Program, plan: &Plan) -> (Program, Var) {
    let mut made = Program { body: Block::new(), ..program.clone() };
    let pausing = variable(&mut made, "pausing".into(), Type::Bool, Rate::Uniform);
    let mut maker = Maker { made, plan, pausing };
    let body = maker.stmts(&program.body);
    maker.made.body = body;
    (maker.made, pausing)
}

struct Maker<'p> {
    made: Program,
    plan: &'p Plan,
    pausing: Var,
}

impl Maker<'_> {
    fn stmts(&mut self, block: &[Stmt]) -> Block {
        block.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::If { cond, then, otherwise } => {
                let [then, otherwise] = [then, otherwise].map(|way| self.stmts(way));
                Stmt::If { cond: *cond, then, otherwise }
            }
            Stmt::Loop { body } if is_wave_loop(stmt, self.plan) && !ends_phases(stmt, self.plan) => {
                self.paused(body)
            }
            Stmt::Loop { body } => Stmt::Loop { body: self.stmts(body) },
            other => other.clone(),
        }
    }

    fn value(&mut self, expr: Expr, block: &mut Block) -> Value {
        let value = fresh(&mut self.made, Type::Bool, Rate::Uniform);
        block.push(Stmt::Let(value, expr));
        value
    }

    fn leave_if(cond: Value) -> Stmt {
        Stmt::If { cond, then: vec![Stmt::Break], otherwise: Block::new() }
    }

    fn paused(&mut self, body: &[Stmt]) -> Stmt {
        let (mut inner, mut outer) = (Block::new(), Block::new());
        let pausing = self.value(Expr::Get(self.pausing), &mut inner);
        inner.push(Self::leave_if(pausing));
        inner.extend_from_slice(body);
        outer.push(Stmt::Loop { body: inner });
        let paused = self.value(Expr::Get(self.pausing), &mut outer);
        let over = self.value(Expr::Un(UnOp::Not, paused), &mut outer);
        outer.push(Self::leave_if(over));
        Stmt::Loop { body: outer }
    }
}
