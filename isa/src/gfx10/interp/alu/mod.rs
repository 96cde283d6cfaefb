//! The value-level meaning of scalar and vector ALU operations: destination bits from source bits.
//!
//! Nothing here knows registers, lanes or EXEC. The wave fetches the sources and calls a row; the tables are lists of
//! rows by subject, one row an operation.
//!
//! # The rules
//!
//! These hold for every operation, so that any other executor can be held to the same bits.
//!
//! **Floats.** An operation computes the exact value and rounds it once to the destination's format: f32 by
//! FP_ROUND's low field, f16 and f64 by its high field. Only `v_mad` and `v_mac` round twice, after the product and
//! after the sum. Conversions from f64 round by the high field, the fused mix to f16 rounds once.
//!
//! **Denormals.** Each format's FP_DENORM field rules the values of that format: sources are flushed before anything
//! is computed, results when their *rounded* encoding is denormal; both keep the sign. Exceptions: `v_mad` and
//! `v_mac` of f32 and the f32 approximations always flush, float dot products always flush and round to nearest,
//! `v_div_fmas` keeps denormal sources, class tests see the encoding as it is, cube operations compare with denormals
//! as zeros.
//!
//! **NaN.** If any source is a NaN, the result is the first one in source order (for reversed operations too), with
//! its quiet bit set; a signalling NaN never comes out of a float operation. An invalid operation (infinity minus
//! infinity, zero times infinity, the root or logarithm of a negative number, the sine of an infinity, the fraction
//! of an infinity, 0/0) gives the quiet NaN without payload and with the *sign set*, as AMD's manuals print it:
//! `0xfe00`, `0xffc00000`, `0xfff8000000000000`. Moves, `v_cndmask` and other untyped operations keep all bits.
//!
//! **Minimum and maximum.** -0 is below +0. A NaN loses to a number; of two NaNs the first wins; with MODE's IEEE bit
//! a signalling NaN wins over all. `v_med3` with a NaN is the minimum of the three. `*_legacy` products with a zero
//! factor are +0 whatever the other factor is, and their sums are then the addend.
//!
//! **To integers.** Out-of-range values saturate, a NaN gives 0.
//!
//! **Output modifiers.** OMOD acts on f16, f32 and f64 results, after their rounding, if MODE flushes denormal
//! results of the format and does not set IEEE; zeros and denormals become +0. CLAMP then takes floats to `[+0, 1]`
//! (a NaN to 0 with DX10_CLAMP, else it stays) and integers with a saturating meaning to the destination's range.
//! Carries and borrows are those of the unsaturated result.
//!
//! **Approximations** are described in their own module; rows mark them, and operations whose intermediate rounding
//! documents leave open, as [`VectorRow::approximate`].
//!
//! # Choices
//!
//! What GFX10's public documents leave open is settled as newer manuals or published observations of newer AMD
//! hardware have it: the scale of `v_div_fmas` goes by the size of its addend, `v_div_scale` decides by exponent
//! fields, `s_max` sets SCC only if the first source is greater, `v_fma_mixlo` rounds once, normalized conversions
//! round by MODE, `v_cvt_pk` saturates, sine and cosine reduce their whole range exactly.

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
mod host;
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
