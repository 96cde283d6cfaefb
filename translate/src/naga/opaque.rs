//! Which values reach float operations, so that zeros among them must be kept from the driver's compiler.
//!
//! Drivers fold `x + 0.0` and `x * 0.0` with a constant zero even where NoContraction forbids it; a constant that the compiler
//! cannot see is left alone. Zeros are constants for it too that follow from shifts and masks, see [`Zeros`].

use std::collections::HashMap;

use super::zeros::Zeros;
use crate::program::{BinOp, Expr, Program, Stmt, TriOp, UnOp, Value, Var};

/// For each value, whether it is to be hidden: it reaches a float operation as it is, and is a constant or always 0.
pub(super) fn floats(program: &Program) -> Vec<bool> {
    let mut finder = Finder { known: vec![false; program.values.len()], ..Finder::default() };
    finder.block(&program.body);
    while let Some(value) = finder.todo.pop() {
        finder.through(value);
    }
    let Finder { mut known, exprs, sets, .. } = finder;
    let mut zeros = Zeros { program, exprs: &exprs, sets: &sets, found: HashMap::new() };
    for (value, hidden) in (0..).map(Value).zip(&mut known) {
        let constant = matches!(exprs.get(&value), Some(Expr::Const32(_) | Expr::Const64(_)));
        *hidden &= constant || zeros.always(value);
    }
    known
}

#[derive(Default)]
struct Finder {
    known: Vec<bool>,
    todo: Vec<Value>,
    exprs: HashMap<Value, Expr>,
    sets: HashMap<Var, Vec<Value>>,
}

impl Finder {
    fn mark(&mut self, value: Value) {
        if let Some(known) = self.known.get_mut(value.0 as usize)
            && !*known
        {
            *known = true;
            self.todo.push(value);
        }
    }

    fn block(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, expr) => self.define(*value, expr),
                Stmt::Set(var, value) => self.sets.entry(*var).or_default().push(*value),
                Stmt::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                Stmt::Loop { body } => self.block(body),
                _ => {}
            }
        }
    }

    fn define(&mut self, value: Value, expr: &Expr) {
        self.exprs.insert(value, *expr);
        if takes_floats(expr) {
            expr.operands(|v| self.mark(v));
        }
    }

    /// Follows a value back through what passes it on unchanged.
    fn through(&mut self, value: Value) {
        match self.exprs.get(&value).copied() {
            Some(Expr::Tri(TriOp::Select, _, a, b)) => [a, b].into_iter().for_each(|v| self.mark(v)),
            Some(Expr::Bin(BinOp::Pack | BinOp::Or | BinOp::Xor | BinOp::And, a, b)) => {
                [a, b].into_iter().for_each(|v| self.mark(v));
            }
            Some(Expr::Un(UnOp::Low | UnOp::High, a)) => self.mark(a),
            Some(Expr::Get(var)) => {
                let set = self.sets.get(&var).cloned().unwrap_or_default();
                set.into_iter().for_each(|v| self.mark(v));
            }
            _ => {}
        }
    }
}

fn takes_floats(expr: &Expr) -> bool {
    use BinOp as B;
    match expr {
        Expr::Un(op, _) => *op >= UnOp::SqrtF32 && !from_integer(*op),
        Expr::Bin(op, ..) => {
            matches!(op, B::AddF32 | B::SubF32 | B::MulF32 | B::DivF32 | B::EqF32 | B::LtF32 | B::LeF32)
                || matches!(
                    op,
                    B::AddF64 | B::SubF64 | B::MulF64 | B::DivF64 | B::EqF64 | B::LtF64 | B::LeF64
                )
        }
        Expr::Tri(op, ..) => *op != TriOp::Select,
        _ => false,
    }
}

fn from_integer(op: UnOp) -> bool {
    matches!(op, UnOp::F32FromU32 | UnOp::F32FromS32 | UnOp::F64FromU32 | UnOp::F64FromS32)
}
