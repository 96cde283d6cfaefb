//! Scalar arithmetic: SOP1, SOP2, SOPC and SOPK.

use crate::gfx10::Op;

/// What a scalar operation leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarOut {
    /// The destination's bits, zero-extended; 0 for comparisons.
    pub value: u64,
    /// The new SCC, or `None` if it is left as it was.
    pub scc: Option<bool>,
}

/// The function of a scalar operation: of `a`, `b` and SCC.
///
/// | encoding | `a` | `b` |
/// |---|---|---|
/// | SOP1 | SSRC0 | the destination's old bits (`s_cmov`, `s_bitset`) |
/// | SOP2, SOPC | SSRC0 | SSRC1 |
/// | SOPK | the old bits of SDST | SIMM16, zero-extended (the function extends the sign where the operation does) |
///
/// Operands are zero-extended from their width.
pub type ScalarFn = fn(a: u64, b: u64, scc: bool) -> ScalarOut;

pub(super) const ROWS: &[(Op, ScalarFn)] = &[(Op::S_MOV_B32, |a, _, _| ScalarOut { value: a, scc: None })];
