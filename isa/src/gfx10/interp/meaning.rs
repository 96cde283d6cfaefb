//! What each operation means: the dense table that decoded instructions are looked up in.

use super::StopKind;
use super::alu::{self, ScalarFn, VectorRow};
use super::lds::LdsAccess;
use super::machine::{Flow, Machine};
use super::memory::{Access, Family};
use super::slot::Slot;
use super::smem::ScalarAtomic;
use crate::gfx10::Op;

/// A meaning that needs more of the machine than values.
pub(super) type Special = fn(&mut Machine<'_>, &Slot) -> Result<Flow, StopKind>;

/// How an operation is carried out.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// No effect that can be seen here.
    Nothing,
    /// From scalar values to a scalar value and SCC.
    Scalar(ScalarFn),
    /// From values to values, lane by lane.
    Vector(&'static VectorRow),
    /// A function of the whole wave.
    Special(Special),
    /// An access to memory by each lane.
    Memory(Family, Access),
    /// An access to the group's LDS by each lane.
    Lds(LdsAccess),
    /// A read-modify-write by the whole wave.
    ScalarAtomic(ScalarAtomic),
}

/// The tables of the subjects.
const SUBJECTS: &[&[(Op, Meaning)]] = &[
    super::control::ROWS,
    super::hints::ROWS,
    super::exec_mask::ROWS,
    super::hwreg::ROWS,
    super::scalar::ROWS,
    super::cross_lane::ROWS,
    super::move_relative::ROWS,
    super::export::ROWS,
    super::smem::ROWS,
    super::lds::ROWS,
    super::lds_lanes::ROWS,
];

static SPECIAL: [Option<Meaning>; Op::COUNT] = {
    let mut table = [None; Op::COUNT];
    let mut subject = 0;
    while subject < SUBJECTS.len() {
        let rows = SUBJECTS[subject];
        let mut i = 0;
        while i < rows.len() {
            let (op, meaning) = rows[i];
            assert!(table[op.index()].is_none(), "an operation has two rows");
            table[op.index()] = Some(meaning);
            i += 1;
        }
        subject += 1;
    }
    table
};

/// The meaning of an operation, `None` if it is refused.
pub(super) fn meaning(op: Op) -> Option<Meaning> {
    SPECIAL[op.index()]
        .or_else(|| alu::scalar_op(op).map(Meaning::Scalar))
        .or_else(|| alu::vector_op(op).map(Meaning::Vector))
        .or_else(|| super::smem::atomic_meaning(op))
        .or_else(|| super::memory::meaning(op))
}
