//! Arithmetic: what each operation computes from the components of its sources.

mod bits;
mod compare;
mod convert;
mod float;
mod integer;

pub(super) use float::encoded;

use guestwave_isa::mali::valhall::{Inst, Op, Ty};

use super::Refusal;
use super::emit::Emit;
use super::operand::Components;
use crate::program::{BinOp, Builder, UnOp, Value};

/// One component of each source, and what an expression is made with.
pub(super) struct Lane<'a> {
    b: &'a mut Builder,
    inst: &'a Inst,
    s: [Value; 4],
}

/// How an operation is carried out.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// Component by component.
    Each(fn(&mut Lane<'_>) -> Value),
    /// The whole result from the components of all sources.
    Whole(fn(&mut Builder, &Inst, [Components; 4]) -> Value),
}

const SUBJECTS: &[&[(Op, Meaning)]] = &[bits::ROWS, compare::ROWS, convert::ROWS, float::ROWS, integer::ROWS];

/// The meaning of an arithmetic operation, `None` if it has none.
pub(super) fn meaning(op: Op) -> Option<Meaning> {
    SUBJECTS.iter().copied().flatten().find(|row| row.0 == op).map(|row| row.1)
}

/// The result of an instruction, as wide as its destination.
pub(super) fn result(e: &mut Emit<'_>, inst: &Inst, meaning: Meaning) -> Result<Value, Refusal> {
    let sources = e.components(inst)?;
    let f = match meaning {
        Meaning::Whole(f) => return Ok(f(&mut e.b, inst, sources)),
        Meaning::Each(f) => f,
    };
    let ty = inst.row.ty;
    let lanes: Vec<Value> =
        (0..ty.count()).map(|k| f(&mut Lane { b: &mut e.b, inst, s: sources.map(|s| s[k]) })).collect();
    Ok(packed(&mut e.b, ty, &lanes))
}

/// Components side by side; a single one of 16 bits stands in both halves, as the destination chooses one.
fn packed(b: &mut Builder, ty: Ty, lanes: &[Value]) -> Value {
    let bits = u32::from(ty.bits());
    if bits >= 32 {
        return lanes[0];
    }
    let places = if ty == Ty::F16 { 2 } else { lanes.len() };
    let mut all = b.c32(0);
    for (k, lane) in (0u32..).zip(lanes.iter().cycle().take(places)) {
        let low = b.with_constant(BinOp::And, *lane, (1 << bits) - 1);
        let placed = b.shift(BinOp::Shl, low, k * bits);
        all = b.bin(BinOp::Or, all, placed);
    }
    all
}

impl Lane<'_> {
    fn ty(&self) -> Ty {
        self.inst.row.ty
    }

    fn bits(&self) -> u32 {
        self.ty().bits().into()
    }

    fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        self.b.bin(op, a, b)
    }

    fn un(&mut self, op: UnOp, a: Value) -> Value {
        self.b.un(op, a)
    }

    fn with(&mut self, op: BinOp, a: Value, bits: u64) -> Value {
        self.b.with_constant(op, a, bits)
    }

    fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.b.select(cond, a, b)
    }
}
