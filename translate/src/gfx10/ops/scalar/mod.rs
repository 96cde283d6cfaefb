//! Scalar arithmetic: SOP1, SOP2, SOPC and SOPK on numbers.

mod arithmetic;
mod bits;
mod compare;
mod logic;

use super::{Lower, Row, ScalarResult};
use crate::gfx10::emit::Emit;
use crate::program::{BinOp, Type, UnOp, Value};

/// Rows of this subject, by file.
pub(super) const ROWS: [&[Row]; 4] = [arithmetic::ROWS, bits::ROWS, compare::ROWS, logic::ROWS];

/// A scalar operation from its sources. SOP1: SSRC0 and the destination's old number; SOPK: the destination's old number and SIMM16,
/// sign-extended.
type Scalar = fn(&mut Emit<'_>, [Value; 2]) -> ScalarResult;

const fn row(f: Scalar) -> Lower {
    Lower::Scalar(f)
}

/// A result that leaves SCC.
fn plain(value: Value) -> ScalarResult {
    ScalarResult { value: Some(value), scc: None }
}

/// A result with its SCC.
fn with(value: Value, scc: Value) -> ScalarResult {
    ScalarResult { value: Some(value), scc: Some(scc) }
}

/// SCC alone.
fn condition(scc: Value) -> ScalarResult {
    ScalarResult { value: None, scc: Some(scc) }
}

impl Emit<'_> {
    /// A result with SCC telling whether it is not zero.
    fn nonzero(&mut self, value: Value) -> ScalarResult {
        let zero = self.like(value, 0);
        let scc = self.b.bin(BinOp::Ne, value, zero);
        with(value, scc)
    }

    /// A constant of the type of `value`.
    pub(in crate::gfx10) fn like(&mut self, value: Value, bits: u64) -> Value {
        self.b.like(value, bits)
    }

    /// `op` with a constant second operand of the type of the first.
    pub(in crate::gfx10) fn with_constant(&mut self, op: BinOp, a: Value, bits: u64) -> Value {
        self.b.with_constant(op, a, bits)
    }

    /// A shift by a constant.
    pub(in crate::gfx10) fn shift(&mut self, op: BinOp, a: Value, by: u32) -> Value {
        self.b.shift(op, a, by)
    }

    /// The low dword: shift amounts and counts are 32-bit whatever the source is.
    fn dword(&mut self, v: Value) -> Value {
        if self.b.info(v).ty == Type::B64 { self.b.un(UnOp::Low, v) } else { v }
    }
}
