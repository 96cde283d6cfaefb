//! Values that are the same in every iteration of a loop, made before it.

use std::collections::HashSet;

use super::{Block, Expr, Program, Stmt, Value, Var};

/// The same program with the values that are the same in every iteration of a loop made before the loop. Values keep their numbers.
pub fn lift(program: &Program) -> Program {
    Program { body: block(&program.body), ..program.clone() }
}

fn block(stmts: &[Stmt]) -> Block {
    let mut out = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            Stmt::If { cond, then, otherwise } => {
                out.push(Stmt::If { cond: *cond, then: block(then), otherwise: block(otherwise) });
            }
            Stmt::Loop { body } => {
                let body = lifted(block(body), &mut out);
                out.push(Stmt::Loop { body });
            }
            other => out.push(other.clone()),
        }
    }
    out
}

/// Moves what is the same in every iteration from the body of a loop to `before`; gives what is left.
fn lifted(body: Block, before: &mut Block) -> Block {
    let (mut sets, mut inside) = (HashSet::new(), HashSet::new());
    body.iter().for_each(|stmt| stmt.each(&mut |s| look(s, &mut sets, &mut inside)));
    let mut left = Vec::with_capacity(body.len());
    for stmt in body {
        match &stmt {
            Stmt::Let(value, expr) if stays(expr, &sets, &inside) => {
                inside.remove(value);
                before.push(stmt);
            }
            _ => left.push(stmt),
        }
    }
    left
}

/// Notes what a statement sets and defines.
fn look(stmt: &Stmt, sets: &mut HashSet<Var>, inside: &mut HashSet<Value>) {
    if let Stmt::Set(var, _) = stmt {
        sets.insert(*var);
    }
    stmt.defines(|v| {
        inside.insert(v);
    });
}

fn stays(expr: &Expr, sets: &HashSet<Var>, inside: &HashSet<Value>) -> bool {
    let mut stays = match expr {
        Expr::Get(var) => !sets.contains(var),
        Expr::Wave(_) => false,
        _ => true,
    };
    expr.operands(|v| stays &= !inside.contains(&v));
    stays
}

#[cfg(test)]
mod tests {
    use super::lift;
    use crate::program::{BinOp, Builder, Builtin, Rate, Stmt, Type, verify};

    #[test]
    fn what_no_iteration_changes_is_made_before_the_loop() {
        let mut b = Builder::new("lift", 32);
        let (still, moving) =
            (b.var("still", Type::B32, Rate::Varying), b.var("moving", Type::B32, Rate::Varying));
        let lane = b.builtin(Builtin::Lane);
        b.set(still, lane);
        b.open();
        let (x, y) = (b.get(still), b.get(moving));
        let twice = b.bin(BinOp::Add, x, x);
        let next = b.bin(BinOp::Add, y, twice);
        b.set(moving, next);
        b.push(Stmt::Break);
        let body = b.close();
        b.push(Stmt::Loop { body });
        let lifted = lift(&b.finish());
        verify(&lifted).unwrap();
        let Some(Stmt::Loop { body }) = lifted.body.last() else { panic!("{lifted}") };
        let defined: Vec<_> =
            body.iter().filter_map(|s| if let Stmt::Let(v, _) = s { Some(*v) } else { None }).collect();
        assert_eq!(defined, [y, next]);
    }
}
