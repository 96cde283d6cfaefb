//! Scalar arithmetic.

use super::Row;

/// Rows of this subject.
pub(super) const ROWS: &[Row] = &[];
