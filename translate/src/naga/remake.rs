//! Values of lanes that the whole-wave holding computes anew in each stretch rather than keep them: what takes a few operations on
//! the lane's number and on what the wave has in common.

use std::collections::{HashMap, HashSet};

use super::func::Ex;
use super::lower::Lower;
use crate::program::{Builtin, Expr, Program, Rate, Value};

/// Operations that are not more than a word that is kept and read again.
const OPERATIONS: u32 = 4;

/// The values that are computed anew.
pub(super) fn cheap(program: &Program, exprs: &HashMap<Value, Expr>) -> HashSet<Value> {
    let cheap = |v: &&Value| varies(program, **v) && cost(program, exprs, **v, OPERATIONS).is_some();
    exprs.keys().filter(cheap).copied().collect()
}

fn varies(program: &Program, value: Value) -> bool {
    program.info(value).rate == Rate::Varying
}

/// Operations that a value takes, if they are at most `most`.
fn cost(program: &Program, exprs: &HashMap<Value, Expr>, value: Value, most: u32) -> Option<u32> {
    if !varies(program, value) {
        return Some(0);
    }
    let expr = exprs.get(&value)?;
    if *expr == Expr::Builtin(Builtin::Lane) {
        return Some(0);
    }
    if !matches!(expr, Expr::Un(..) | Expr::Bin(..) | Expr::Tri(..)) {
        return None;
    }
    let (mut left, mut fits) = (most.checked_sub(1)?, true);
    expr.operands(|v| match cost(program, exprs, v, left) {
        Some(taken) => left -= taken,
        None => fits = false,
    });
    fits.then_some(most - left)
}

impl Lower<'_> {
    /// Brings a value that is computed anew to hand, in the lane that is being emitted for.
    pub(super) fn make_anew(&mut self, value: Value) -> Ex {
        if let Some(known) = self.values[value.0 as usize][self.k] {
            return known;
        }
        let Some(expr) = self.exprs.get(&value).copied() else {
            return self.trouble(format!("{value:?} has no expression"));
        };
        let mut operands = Vec::new();
        expr.operands(|v| operands.push(v));
        operands.into_iter().filter(|v| varies(self.program, *v)).for_each(|v| _ = self.make_anew(v));
        let what = self.expr(value, &expr);
        self.values[value.0 as usize][self.k] = Some(what);
        what
    }
}
