//! What each vector operation computes, as sequences of the program's operations.
//!
//! # Exactness
//!
//! The program's float operations are IEEE with unspecified NaN bits. A sequence here adds what the guest has besides:
//! denormals flushed as MODE says (sources before, results after, the sign kept), the NaN rule (the first NaN source in source
//! order, quieted; a NaN that no source brought is the default one), and the guest's own rules for min, max, clamp, conversions
//! and the approximate instructions. The rules are those of the reference; the code is not.

mod approx;
mod arith;
mod bits;
mod compare;
mod convert;
mod cube;
mod division;
mod dot;
mod extremes;
mod facts;
mod finish;
mod format;
mod fused64;
mod integer;
mod integral;
mod mode;
mod packed;
mod preop;
mod round;
mod row;
mod sad;
mod term;

pub(crate) use facts::Facts;
pub(crate) use mode::{Mode, Rounding};
pub(crate) use row::{Exact, Output, QuadFn, VectorKind, VectorRow, vector_row};
#[cfg(test)]
mod tests;
