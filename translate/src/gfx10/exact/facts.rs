//! What is known of values that earlier sequences made, so that later ones need not ask again.

use std::collections::{HashMap, HashSet};

use super::Exact;
use super::format::Format;
use crate::program::{BinOp, Expr, TriOp, UnOp, Value};

/// What is known of the values of one program.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// f32 or f64 results whose NaNs, if any, are quiet.
    settled: HashMap<Value, Settled>,
    /// f32 or f64 that are not denormal.
    flushed: HashSet<Value>,
    /// Values that differ from another at most in being flushed.
    origins: HashMap<Value, Value>,
}

/// A result taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled {
    /// Whether it is a NaN.
    pub(super) is_nan: Value,
    /// Its value where it is none; where it is, any NaN.
    pub(super) number: Value,
}

/// How many modifiers and selections are looked through.
const DEPTH: u32 = 4;

impl Exact<'_> {
    fn definition(&self, value: Value) -> Option<Expr> {
        self.b.borrow().definition(value)
    }

    /// Records `value` as `number`, or as a quiet NaN where `is_nan`.
    pub(super) fn record(&self, value: Value, settled: Settled) {
        self.facts.borrow_mut().settled.insert(value, settled);
    }

    /// Records a value as not denormal.
    pub(super) fn record_flushed(&self, value: Value) {
        self.facts.borrow_mut().flushed.insert(value);
    }

    /// Records `flushed` as `origin` without its denormals.
    pub(super) fn record_origin(&self, flushed: Value, origin: Value) {
        self.facts.borrow_mut().origins.insert(flushed, origin);
    }

    /// A value that is a NaN or an infinity just where `value` is.
    pub(super) fn origin(&self, value: Value) -> Value {
        self.facts.borrow().origins.get(&value).copied().unwrap_or(value)
    }

    /// A value taken apart, if it is a recorded one, perhaps with another sign.
    pub(super) fn settled(&self, f: Format, value: Value) -> Option<Settled> {
        if f == Format::F16 {
            return None;
        }
        if let Some(known) = self.facts.borrow().settled.get(&value) {
            return Some(*known);
        }
        let (op, inner, mask) = match self.definition(value)? {
            Expr::Bin(op @ (BinOp::Xor | BinOp::And), x, y) => (op, x, self.known(y)?),
            _ => return None,
        };
        let of_sign = mask == if op == BinOp::Xor { f.sign() } else { f.magnitude() };
        let known = of_sign.then(|| self.facts.borrow().settled.get(&inner).copied()).flatten()?;
        Some(Settled { number: self.bin(op, known.number, mask), ..known })
    }

    /// Whether a value is known not to be denormal.
    pub(super) fn is_flushed(&self, f: Format, value: Value) -> bool {
        f != Format::F16 && self.flushed_to_depth(f, value, DEPTH)
    }

    fn flushed_to_depth(&self, f: Format, value: Value, depth: u32) -> bool {
        if self.facts.borrow().flushed.contains(&value) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let inner = |x| self.flushed_to_depth(f, x, depth);
        match self.definition(value) {
            Some(Expr::Un(UnOp::F32FromU32 | UnOp::F32FromS32 | UnOp::F32FromF16, _)) => f == Format::F32,
            Some(Expr::Un(UnOp::F64FromU32 | UnOp::F64FromS32 | UnOp::F64FromF32, _)) => f == Format::F64,
            Some(Expr::Bin(BinOp::Xor, x, y)) => self.known(y) == Some(f.sign()) && inner(x),
            Some(Expr::Bin(BinOp::And, x, y)) => self.known(y) == Some(f.magnitude()) && inner(x),
            Some(Expr::Tri(TriOp::Select, _, x, y)) => inner(x) && inner(y),
            _ => false,
        }
    }

    /// Whether a value is known not to be a signalling NaN.
    pub(super) fn is_quiet(&self, f: Format, value: Value) -> bool {
        let constant = self.known(value).is_some_and(|c| c & f.magnitude() <= f.infinity());
        constant || self.settled(f, value).is_some()
    }
}
