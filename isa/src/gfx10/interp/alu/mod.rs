//! The value-level meaning of scalar and vector ALU operations: destination bits from source bits.
//!
//! Nothing here knows registers, lanes or EXEC. The wave fetches the sources and calls a row; the tables are lists of
//! rows by subject, one row an operation.

mod approx;
mod arith;
mod bits;
mod compare;
mod convert;
mod cube;
mod division;
mod dot;
mod exact;
mod format;
mod integer;
mod mode;
mod output;
mod packed;
mod row;
mod sad;
mod scalar;
mod select;
mod split;
mod trig;

pub use mode::{Mode, Rounding};
pub use output::{Output, finish};
pub use row::{Outcome, Sources, VectorOp, VectorRow};
pub use scalar::{ScalarFn, ScalarOut};

use crate::gfx10::Op;

const VECTOR_SUBJECTS: &[&[VectorRow]] = &[
    approx::ROWS,
    arith::ROWS,
    bits::ROWS,
    bits::ROWS_32,
    compare::CLASSES,
    compare::F16S,
    compare::F32S,
    compare::F64S,
    compare::I16S,
    compare::I32S,
    compare::I64S,
    compare::U16S,
    compare::U32S,
    compare::U64S,
    convert::ROWS,
    cube::ROWS,
    division::ROWS,
    dot::ROWS,
    integer::CARRYING,
    integer::SATURATING,
    integer::WRAPPING,
    packed::ROWS,
    sad::ROWS,
    select::ROWS,
    split::ROWS,
    trig::ROWS,
];
const SCALAR_SUBJECTS: &[&[(Op, ScalarFn)]] =
    &[scalar::BINARY, scalar::UNARY, scalar::COMPARE, scalar::IMMEDIATE];

static VECTOR: [Option<&VectorRow>; Op::COUNT] = {
    let mut table = [None; Op::COUNT];
    let mut subject = 0;
    while subject < VECTOR_SUBJECTS.len() {
        let mut i = 0;
        while i < VECTOR_SUBJECTS[subject].len() {
            let row = &VECTOR_SUBJECTS[subject][i];
            assert!(table[row.op.index()].is_none(), "an operation has two rows");
            table[row.op.index()] = Some(row);
            i += 1;
        }
        subject += 1;
    }
    table
};

static SCALAR: [Option<ScalarFn>; Op::COUNT] = {
    let mut table = [None; Op::COUNT];
    let mut subject = 0;
    while subject < SCALAR_SUBJECTS.len() {
        let mut i = 0;
        while i < SCALAR_SUBJECTS[subject].len() {
            let (op, f) = SCALAR_SUBJECTS[subject][i];
            assert!(table[op.index()].is_none(), "an operation has two rows");
            table[op.index()] = Some(f);
            i += 1;
        }
        subject += 1;
    }
    table
};

/// The meaning of a vector ALU operation, or `None` if it has none at the level of values.
///
/// Lane-crossing operations (`v_readlane`, `v_permlane`, `v_mbcnt`, `v_movrel`, `v_swap`) belong to the wave.
pub fn vector_op(op: Op) -> Option<&'static VectorRow> {
    VECTOR[op.index()]
}

/// The meaning of a scalar ALU operation, or `None` if it has none at the level of values.
///
/// Control flow, EXEC and the hardware registers belong to the wave.
pub fn scalar_op(op: Op) -> Option<ScalarFn> {
    SCALAR[op.index()]
}
