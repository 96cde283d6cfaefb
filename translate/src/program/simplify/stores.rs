//! Settings of variables that nobody reads.
//!
//! Each lane has its own way through the program and its own copy of what varies, so that what is true of one way is true of
//! all: a variable that is set again, or that the way ends without reading, need not be set.

use std::collections::HashSet;

use crate::program::{Block, Expr, Stmt, Var};

/// Drops each `Set` whose variable is not read before it is set again.
pub(super) fn drop_unread(body: &mut Block) {
    let mut sweep = Sweep::default();
    sweep.block(body, HashSet::new());
}

/// What is read where a loop goes on and where it is left, of the loops around.
#[derive(Default)]
struct Sweep {
    loops: Vec<[HashSet<Var>; 2]>,
}

impl Sweep {
    /// Goes through a block from its end, where the variables in `live` will be read; gives those that are read from its
    /// start on.
    fn block(&mut self, block: &mut Block, mut live: HashSet<Var>) -> HashSet<Var> {
        let mut kept = Vec::with_capacity(block.len());
        while let Some(mut stmt) = block.pop() {
            if self.stmt(&mut stmt, &mut live) {
                kept.push(stmt);
            }
        }
        kept.reverse();
        *block = kept;
        live
    }

    /// Whether the statement stays; brings what is read from behind it to before it.
    fn stmt(&mut self, stmt: &mut Stmt, live: &mut HashSet<Var>) -> bool {
        match stmt {
            Stmt::Let(_, Expr::Get(var)) => _ = live.insert(*var),
            Stmt::Set(var, _) => return live.remove(var),
            Stmt::If { then, otherwise, .. } => {
                let after = live.clone();
                *live = self.block(then, after.clone());
                live.extend(self.block(otherwise, after));
            }
            Stmt::Loop { body } => {
                // Every iteration but the first follows another: what any of them reads is read at its end.
                let mut again = live.clone();
                reads(body, &mut again);
                self.loops.push([again.clone(), live.clone()]);
                *live = self.block(body, again);
                self.loops.pop();
            }
            Stmt::Continue => self.leave(0, live),
            Stmt::Break => self.leave(1, live),
            Stmt::Return | Stmt::Trap { .. } => live.clear(),
            _ => {}
        }
        true
    }

    fn leave(&self, how: usize, live: &mut HashSet<Var>) {
        if let Some(around) = self.loops.last() {
            live.clone_from(&around[how]);
        }
    }
}

/// Adds the variables that a block reads.
fn reads(block: &[Stmt], into: &mut HashSet<Var>) {
    let mut note = |stmt: &Stmt| {
        if let Stmt::Let(_, Expr::Get(var)) = stmt {
            into.insert(*var);
        }
    };
    block.iter().for_each(|stmt| stmt.each(&mut note));
}

#[cfg(test)]
mod tests {
    use super::drop_unread;
    use crate::program::{Block, Builder, Builtin, Program, Rate, Stmt, Type, Value, Var};

    fn sets(block: &[Stmt]) -> usize {
        let mut sets = 0;
        block.iter().for_each(|s| s.each(&mut |s| sets += usize::from(matches!(s, Stmt::Set(..)))));
        sets
    }

    /// A program with a variable, a number and a condition; gives how many settings it has before and after.
    fn counted(make: impl FnOnce(&mut Builder, Var, Value, Value)) -> [usize; 2] {
        let mut b = Builder::new("sets", 32);
        let (var, lane) = (b.var("x", Type::B32, Rate::Varying), b.builtin(Builtin::Lane));
        let five = b.c32(5);
        let cond = b.bin(crate::program::BinOp::LtU, lane, five);
        make(&mut b, var, lane, cond);
        let mut program: Program = b.finish();
        let before = sets(&program.body);
        drop_unread(&mut program.body);
        [before, sets(&program.body)]
    }

    fn block(b: &mut Builder, f: impl FnOnce(&mut Builder)) -> Block {
        b.open();
        f(b);
        b.close()
    }

    #[test]
    fn what_is_set_again_or_never_read_is_not_set() {
        let found = counted(|b, x, v, _| {
            b.set(x, v);
            b.set(x, v);
            let _ = b.get(x);
            b.set(x, v);
        });
        assert_eq!(found, [3, 1]);
    }

    #[test]
    fn what_one_way_reads_is_set() {
        let found = counted(|b, x, v, cond| {
            b.set(x, v);
            let then = block(b, |b| b.set(x, v));
            b.push(Stmt::If { cond, then, otherwise: Vec::new() });
            let _ = b.get(x);
        });
        assert_eq!(found, [2, 2]);
        let found = counted(|b, x, v, cond| {
            b.set(x, v);
            let (then, otherwise) = (block(b, |b| b.set(x, v)), block(b, |b| b.set(x, v)));
            b.push(Stmt::If { cond, then, otherwise });
            let _ = b.get(x);
        });
        assert_eq!(found, [3, 2]);
    }

    #[test]
    fn what_the_next_iteration_reads_is_set() {
        let found = counted(|b, x, v, cond| {
            b.set(x, v);
            let body = block(b, |b| {
                let _ = b.get(x);
                b.set(x, v);
                let then = block(b, |b| b.push(Stmt::Break));
                b.push(Stmt::If { cond, then, otherwise: Vec::new() });
                b.set(x, v);
            });
            b.push(Stmt::Loop { body });
        });
        assert_eq!(found, [3, 2]);
    }

    #[test]
    fn what_is_read_behind_a_loop_is_set_before_it_is_left() {
        let found = counted(|b, x, v, cond| {
            let body = block(b, |b| {
                let then = block(b, |b| {
                    b.set(x, v);
                    b.push(Stmt::Break);
                });
                b.push(Stmt::If { cond, then, otherwise: Vec::new() });
                let then = block(b, |b| {
                    b.set(x, v);
                    b.push(Stmt::Return);
                });
                b.push(Stmt::If { cond, then, otherwise: Vec::new() });
            });
            b.push(Stmt::Loop { body });
            let _ = b.get(x);
        });
        assert_eq!(found, [2, 1]);
    }
}
