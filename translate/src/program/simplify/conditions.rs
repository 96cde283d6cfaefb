//! Choices that the branch around them has settled: where a lane only comes if a condition holds, what it would choose by that
//! condition is one of the two.

use std::collections::HashMap;

use crate::program::{BinOp, Block, Expr, Program, Stmt, TriOp, UnOp, Value};

/// Choices that are looked through, one behind the other.
const CHAIN: usize = 16;

/// Conditions that are taken apart, one inside the other.
const DEPTH: u32 = 8;

/// The same program with settled choices replaced by what they choose, where that is as often there: once a wave or once a lane.
pub(super) fn settled(program: &Program, body: &Block) -> Block {
    let mut known = Known { program, definitions: vec![None; program.values.len()], facts: HashMap::new() };
    known.block(body)
}

struct Known<'p> {
    program: &'p Program,
    definitions: Vec<Option<Expr>>,
    /// What holds of conditions where the statement at hand stands.
    facts: HashMap<Value, bool>,
}

impl Known<'_> {
    fn block(&mut self, block: &Block) -> Block {
        block.iter().map(|s| self.statement(s)).collect()
    }

    fn statement(&mut self, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::If { cond, then, otherwise } => Stmt::If {
                cond: self.at(*cond),
                then: self.branch(*cond, true, then),
                otherwise: self.branch(*cond, false, otherwise),
            },
            Stmt::Loop { body } => Stmt::Loop { body: self.block(body) },
            Stmt::Let(v, expr) => {
                self.definitions[v.0 as usize] = Some(*expr);
                Stmt::Let(*v, expr.renamed(|v| self.at(v)))
            }
            other => other.renamed(&|v| self.at(v)),
        }
    }

    /// A block that is only reached where `cond` is `truth`.
    fn branch(&mut self, cond: Value, truth: bool, block: &Block) -> Block {
        let mut learnt = Vec::new();
        self.learn(cond, truth, DEPTH, &mut learnt);
        let settled = self.block(block);
        for cond in &learnt {
            self.facts.remove(cond);
        }
        settled
    }

    /// Adds that `cond` is `truth` and what follows from it; `learnt` are the conditions that nothing was known of.
    fn learn(&mut self, cond: Value, truth: bool, depth: u32, learnt: &mut Vec<Value>) {
        if depth == 0 || self.facts.contains_key(&cond) {
            return;
        }
        self.facts.insert(cond, truth);
        learnt.push(cond);
        match (self.definitions[cond.0 as usize], truth) {
            (Some(Expr::Un(UnOp::Not, x)), _) => self.learn(x, !truth, depth - 1, learnt),
            (Some(Expr::Bin(BinOp::And, x, y)), true) | (Some(Expr::Bin(BinOp::Or, x, y)), false) => {
                [x, y].into_iter().for_each(|v| self.learn(v, truth, depth - 1, learnt));
            }
            _ => {}
        }
    }

    /// What a value is where the statement at hand stands.
    fn at(&self, value: Value) -> Value {
        std::iter::successors(Some(value), |v| self.chosen(*v)).take(CHAIN).last().unwrap_or(value)
    }

    fn chosen(&self, value: Value) -> Option<Value> {
        let Some(Expr::Tri(TriOp::Select, cond, yes, no)) = self.definitions[value.0 as usize] else {
            return None;
        };
        let arm = if *self.facts.get(&cond)? { yes } else { no };
        (self.program.info(arm) == self.program.info(value)).then_some(arm)
    }
}
