//! Programs made smaller without changing what they do.
//!
//! What exact float sequences leave behind is the main thing: a value that was flushed once (denormals made zeros of their
//! sign) is flushed again by each operation that takes it. Facts about values show where that does nothing. Registers under a
//! mask are the other: each write chooses between the new value and the old, also where all lanes are known to take the new.

mod conditions;
mod facts;
mod stores;
mod uses;

use std::collections::HashMap;

use self::facts::Facts;
use super::{Block, Program, Stmt, Value};

/// The same program without steps that do nothing, and values and variables that nobody uses. Values keep their numbers.
pub fn simplify(program: &Program) -> Program {
    let facts = Facts::new(program);
    let mut same = HashMap::new();
    let body = renamed(&program.body, &facts, &mut same);
    let mut body = conditions::settled(program, &body);
    uses::drop_unused(program, &mut body);
    stores::drop_unread(&mut body);
    // What only those took.
    uses::drop_unused(program, &mut body);
    Program { body, ..program.clone() }
}

/// `block` with each value that equals an earlier one replaced by that; `same` collects them.
fn renamed(block: &Block, facts: &Facts, same: &mut HashMap<Value, Value>) -> Block {
    let mut out = Vec::with_capacity(block.len());
    for stmt in block {
        if let Stmt::Let(v, expr) = stmt
            && let Some(known) = facts.flush_of_flushed(expr)
        {
            let known = same.get(&known).copied().unwrap_or(known);
            same.insert(*v, known);
            continue;
        }
        out.push(statement(stmt, facts, same));
    }
    out
}

fn statement(stmt: &Stmt, facts: &Facts, same: &mut HashMap<Value, Value>) -> Stmt {
    match stmt {
        Stmt::If { cond, then, otherwise } => {
            let cond = same.get(cond).copied().unwrap_or(*cond);
            let then = renamed(then, facts, same);
            Stmt::If { cond, then, otherwise: renamed(otherwise, facts, same) }
        }
        Stmt::Loop { body } => Stmt::Loop { body: renamed(body, facts, same) },
        other => other.renamed(&|v| same.get(&v).copied().unwrap_or(v)),
    }
}

#[cfg(test)]
mod tests {
    use super::simplify;
    use crate::program::{
        Access, BinOp, Builder, Builtin, Expr, Rate, Space, Stmt, TriOp, Type, UnOp, Value, Width, verify,
    };

    fn flush(b: &mut Builder, x: Value) -> Value {
        let (mask, zero, sign) = (b.c32(0x7f80_0000), b.c32(0), b.c32(1 << 31));
        let exponent = b.bin(BinOp::And, x, mask);
        let tiny = b.bin(BinOp::Eq, exponent, zero);
        let signed = b.bin(BinOp::And, x, sign);
        b.select(tiny, signed, x)
    }

    fn flush_sum(b: &mut Builder, x: Value, y: Value) -> Value {
        let (p, q) = (flush(b, x), flush(b, y));
        let sum = b.bin(BinOp::AddF32, p, q);
        flush(b, sum)
    }

    fn store(b: &mut Builder, value: Value) {
        let (address, valid) = (b.c64(0), b.c32(4));
        let lane = b.builtin(Builtin::Lane);
        let wide = b.un(UnOp::Extend, lane);
        let address = b.bin(BinOp::Add, address, wide);
        b.store(
            vec![value],
            Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None },
        );
    }

    fn selects(block: &[Stmt]) -> usize {
        count(block, &|s| matches!(s, Stmt::Let(_, Expr::Tri(TriOp::Select, ..))))
    }

    #[test]
    fn what_was_flushed_is_not_flushed_again() {
        let mut b = Builder::new("sums", 32);
        let x = b.builtin(Builtin::Lane);
        let once = flush_sum(&mut b, x, x);
        let twice = flush_sum(&mut b, once, x);
        store(&mut b, twice);
        let program = b.finish();
        assert_eq!(selects(&program.body), 4);
        let small = simplify(&program);
        verify(&small).unwrap();
        assert_eq!(selects(&small.body), 3);
    }

    #[test]
    fn a_variable_is_flushed_if_all_that_is_set_is() {
        for clean in [true, false] {
            let mut b = Builder::new("loop", 32);
            let (sum, lane) = (b.var("sum", Type::B32, Rate::Varying), b.builtin(Builtin::Lane));
            if !clean {
                b.set(sum, lane);
            }
            b.open();
            let old = b.get(sum);
            let new = flush_sum(&mut b, old, lane);
            b.set(sum, new);
            b.push(Stmt::Break);
            let body = b.close();
            b.push(Stmt::Loop { body });
            let total = b.get(sum);
            store(&mut b, total);
            let small = simplify(&b.finish());
            verify(&small).unwrap();
            assert_eq!(selects(&small.body), if clean { 2 } else { 3 });
        }
    }

    fn count(block: &[Stmt], wanted: &impl Fn(&Stmt) -> bool) -> usize {
        let mut found = 0;
        block.iter().for_each(|s| s.each(&mut |s| found += usize::from(wanted(s))));
        found
    }

    /// A register is written under a mask, and read where the mask holds, does not hold, or may.
    #[test]
    fn choices_are_settled_by_the_branch_around_them() {
        let mut b = Builder::new("masks", 32);
        let (lane, three) = (b.builtin(Builtin::Lane), b.c32(3));
        let (mask, other) = (b.bin(BinOp::LtU, lane, three), b.bin(BinOp::Eq, lane, three));
        let old = b.bin(BinOp::Mul, lane, lane);
        let new = b.select(mask, lane, old);
        let both = b.bin(BinOp::And, mask, other);
        let neither = b.un(UnOp::Not, both);
        b.open();
        store(&mut b, new);
        let inside = b.close();
        b.open();
        store(&mut b, new);
        let outside = b.close();
        b.push(Stmt::If { cond: neither, then: outside, otherwise: inside });
        let small = simplify(&b.finish());
        verify(&small).unwrap();
        let stores = |v: Value| count(&small.body, &|s| matches!(s, Stmt::Store { src, .. } if *src == [v]));
        assert_eq!((stores(lane), stores(new), stores(old)), (1, 1, 0));
    }

    #[test]
    fn variables_that_only_feed_themselves_go() {
        let mut b = Builder::new("counter", 32);
        let (dead, live) = (b.var("dead", Type::B32, Rate::Varying), b.var("live", Type::B32, Rate::Varying));
        let lane = b.builtin(Builtin::Lane);
        b.open();
        for var in [dead, live] {
            let old = b.get(var);
            let new = b.bin(BinOp::Add, old, lane);
            b.set(var, new);
        }
        b.push(Stmt::Break);
        let body = b.close();
        b.push(Stmt::Loop { body });
        let sum = b.get(live);
        store(&mut b, sum);
        let small = simplify(&b.finish());
        verify(&small).unwrap();
        let sets = |var| count(&small.body, &|s| matches!(s, Stmt::Set(v, _) if *v == var));
        assert_eq!((sets(dead), sets(live)), (0, 1));
    }
}
