//! One row a vector operation: how its result is computed, and of what type it is.

use std::cell::RefCell;
use std::sync::LazyLock;

use guestwave_isa::gfx10::{Op, VopMods};

use super::Mode;
use super::facts::Facts;
use super::format::Format;
use crate::backend::Fidelity;
use crate::program::{Builder, Value};

/// Source values in arithmetic order, masks left out: `B32` (a 16-bit source in the low half, the high half 0) or `B64`. NEG and ABS
/// have been applied, except for [`VectorKind::Packed`]. Sources that the operation has not are 0.
pub(crate) type Sources = [Value; 3];

/// What sequences are built with. Its methods take it shared, so that calls can be nested as the expressions are.
pub(crate) struct Exact<'b> {
    pub(super) b: RefCell<&'b mut Builder>,
    pub(super) facts: RefCell<&'b mut Facts>,
    pub(super) mode: Mode,
    pub(super) fidelity: Fidelity,
}

impl<'b> Exact<'b> {
    /// `facts` are those of the builder's program.
    pub(crate) fn new(b: &'b mut Builder, facts: &'b mut Facts, mode: Mode, fidelity: Fidelity) -> Self {
        Exact { b: RefCell::new(b), facts: RefCell::new(facts), mode, fidelity }
    }

    /// A sequence in a mode that flushes f32 denormals at both ends.
    pub(super) fn flushing32<R>(&mut self, sequence: impl FnOnce(&mut Self) -> R) -> R {
        let mode = self.mode.flushing32();
        self.in_mode(mode, sequence)
    }

    /// A sequence in a mode that rounds to nearest and flushes all denormals.
    pub(super) fn flushing<R>(&mut self, sequence: impl FnOnce(&mut Self) -> R) -> R {
        let mode = Mode { float: 0, ..self.mode };
        self.in_mode(mode, sequence)
    }

    fn in_mode<R>(&mut self, other: Mode, sequence: impl FnOnce(&mut Self) -> R) -> R {
        let mode = self.mode;
        self.mode = other;
        let result = sequence(self);
        self.mode = mode;
        result
    }
}

/// The type of a vector operation's destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Output {
    F16,
    /// f16 that goes to the high half whatever OP_SEL says.
    F16High,
    F32,
    F64,
    /// 16 bits of any other kind.
    B16,
    B32,
    B64,
}

impl Output {
    /// The float format, if it is a float.
    pub(super) fn format(self) -> Option<Format> {
        match self {
            Output::F16 | Output::F16High => Some(Format::F16),
            Output::F32 => Some(Format::F32),
            Output::F64 => Some(Format::F64),
            Output::B16 | Output::B32 | Output::B64 => None,
        }
    }

    pub(crate) fn bits(self) -> u16 {
        match self {
            Output::F16 | Output::F16High | Output::B16 => 16,
            Output::F32 | Output::B32 => 32,
            Output::F64 | Output::B64 => 64,
        }
    }
}

/// What an operation computes, at the width of its output (16 bits: in the low half, the high half does not matter).
#[derive(Clone, Copy)]
pub(crate) enum VectorKind {
    /// The result; OMOD and CLAMP are applied to floats behind it.
    Value(fn(&mut Exact<'_>, Sources) -> Value),
    /// The result of integers, told whether CLAMP saturates it.
    Clamped(fn(&mut Exact<'_>, Sources, bool) -> Value),
    /// Result and carry out (a `Bool`) from the carry in (a `Bool`, false without a source mask), told of CLAMP.
    Carry(fn(&mut Exact<'_>, Sources, Value, bool) -> (Value, Value)),
    /// The result, from the lane's bit of the source mask too (VCC if none is named).
    MaskIn(fn(&mut Exact<'_>, Sources, Value) -> Value),
    /// Result and destination bit.
    MaskOut(fn(&mut Exact<'_>, Sources) -> (Value, Value)),
    /// The lane's bit of the destination mask.
    Compare(fn(&mut Exact<'_>, Sources) -> Value),
    /// Whole dwords and all modifiers; the result is a dword.
    Packed(fn(&mut Exact<'_>, Sources, &VopMods) -> Value),
    /// Operands too wide for the others.
    Quad(QuadFn),
}

/// Four dwords from a `B64`, a `B32` and four accumulators, told of CLAMP.
pub(crate) type QuadFn = fn(&mut Exact<'_>, (Value, Value), [Value; 4], bool) -> [Value; 4];

/// One vector operation.
#[derive(Clone, Copy)]
pub(crate) struct VectorRow {
    pub(crate) op: Op,
    pub(crate) kind: VectorKind,
    pub(crate) output: Output,
    /// Public documents give only an error bound.
    pub(crate) approximate: bool,
}

/// A row whose result OMOD and CLAMP act on, if it is a float.
pub(super) const fn value(op: Op, f: fn(&mut Exact<'_>, Sources) -> Value, output: Output) -> VectorRow {
    VectorRow { op, kind: VectorKind::Value(f), output, approximate: false }
}

/// A row of any other kind.
pub(super) const fn row(op: Op, kind: VectorKind, output: Output) -> VectorRow {
    VectorRow { op, kind, output, approximate: false }
}

const SUBJECTS: &[&[VectorRow]] = &[
    super::approx::ROWS,
    super::arith::ROWS,
    super::bits::ROWS,
    super::compare::CLASSES,
    super::compare::ROWS,
    super::convert::ROWS,
    super::cube::ROWS,
    super::division::ROWS,
    super::dot::ROWS,
    super::extremes::ROWS,
    super::integer::ROWS,
    super::integral::ROWS,
    super::packed::ROWS,
    super::preop::ROWS,
    super::sad::ROWS,
];

static TABLE: LazyLock<Vec<Option<VectorRow>>> = LazyLock::new(|| {
    let mut table = vec![None; Op::COUNT];
    for row in SUBJECTS.iter().copied().flatten() {
        table[row.op.index()] = Some(*row);
    }
    table
});

/// The row of `op`, if it is a vector operation that has one.
pub(crate) fn vector_row(op: Op) -> Option<VectorRow> {
    TABLE[op.index()]
}
