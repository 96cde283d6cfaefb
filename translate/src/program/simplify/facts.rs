//! What is known of the bits of 32-bit values, taken as floats.

use crate::program::{BinOp, Expr, Program, Stmt, TriOp, UnOp, Value};

const EXPONENT: u32 = 0x7f80_0000;
const SIGN: u32 = 0x8000_0000;
const MAGNITUDE: u32 = !SIGN;
const QUIET: u32 = 0x0040_0000;

/// A fact about a value; later ones say more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fact {
    None,
    /// Not a denormal, so flushing it does nothing.
    Flushed,
    /// A NaN.
    Nan,
}

/// Facts about the values of a program.
pub(super) struct Facts {
    definitions: Vec<Option<Expr>>,
    values: Vec<Fact>,
    vars: Vec<Fact>,
}

impl Facts {
    pub(super) fn new(program: &Program) -> Self {
        let mut facts = Facts {
            definitions: vec![None; program.values.len()],
            values: vec![Fact::None; program.values.len()],
            // Variables start as 0, which is flushed; what is set then takes away.
            vars: vec![Fact::Flushed; program.vars.len()],
        };
        loop {
            let before = facts.vars.clone();
            facts.block(&program.body);
            if before == facts.vars {
                return facts;
            }
        }
    }

    fn block(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::Let(v, expr) => {
                    let at = v.0 as usize;
                    self.definitions[at] = Some(*expr);
                    self.values[at] = self.fact(expr);
                }
                Stmt::Set(var, v) => {
                    let (new, known) = (self.of(*v), &mut self.vars[var.0 as usize]);
                    *known = new.min(*known);
                }
                Stmt::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                Stmt::Loop { body } => self.block(body),
                _ => {}
            }
        }
    }

    fn of(&self, value: Value) -> Fact {
        self.values[value.0 as usize]
    }

    fn definition(&self, value: Value) -> Option<Expr> {
        self.definitions[value.0 as usize]
    }

    fn is(&self, value: Value, constant: u32) -> bool {
        self.definition(value) == Some(Expr::Const32(constant))
    }

    fn fact(&self, expr: &Expr) -> Fact {
        match *expr {
            Expr::Const32(bits) => of_bits(bits),
            Expr::Get(var) => self.vars[var.0 as usize],
            Expr::Un(UnOp::F32FromU32 | UnOp::F32FromS32, _) => Fact::Flushed,
            // A NaN made quiet is one still.
            Expr::Bin(BinOp::Or, a, b) if self.of(a) == Fact::Nan && self.is(b, QUIET) => Fact::Nan,
            Expr::Tri(TriOp::Select, c, a, b) => self.of_select(c, a, b),
            _ => Fact::None,
        }
    }

    fn of_select(&self, cond: Value, a: Value, b: Value) -> Fact {
        let first = match () {
            () if self.nan_test(cond) == Some(a) => Fact::Nan,
            () if self.flush(cond, a, b).is_some() => return Fact::Flushed,
            () => self.of(a),
        };
        first.min(self.of(b))
    }

    /// The value that `cond` asks whether it is a NaN.
    fn nan_test(&self, cond: Value) -> Option<Value> {
        let Some(Expr::Bin(BinOp::LtU, infinity, size)) = self.definition(cond) else { return None };
        let Some(Expr::Bin(BinOp::And, x, mask)) = self.definition(size) else { return None };
        (self.is(infinity, EXPONENT) && self.is(mask, MAGNITUDE)).then_some(x)
    }

    /// The value that `cond ? a : b` flushes.
    fn flush(&self, cond: Value, a: Value, b: Value) -> Option<Value> {
        let Some(Expr::Bin(BinOp::Eq, exponent, zero)) = self.definition(cond) else { return None };
        let Some(Expr::Bin(BinOp::And, x, mask)) = self.definition(exponent) else { return None };
        let Some(Expr::Bin(BinOp::And, y, sign)) = self.definition(a) else { return None };
        let constants = self.is(zero, 0) && self.is(mask, EXPONENT) && self.is(sign, SIGN);
        (constants && x == b && y == b).then_some(b)
    }

    /// The value that `expr` flushes although it is flushed already.
    pub(super) fn flush_of_flushed(&self, expr: &Expr) -> Option<Value> {
        let Expr::Tri(TriOp::Select, cond, a, b) = *expr else { return None };
        let x = self.flush(cond, a, b)?;
        (self.of(x) != Fact::None).then_some(x)
    }
}

fn of_bits(bits: u32) -> Fact {
    match (bits & EXPONENT, bits & !(EXPONENT | SIGN)) {
        (0, 1..) => Fact::None,
        (EXPONENT, 1..) => Fact::Nan,
        _ => Fact::Flushed,
    }
}
