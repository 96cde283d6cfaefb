//! What each operation means: the dense table that decoded instructions are looked up in.

use super::StopKind;
use super::alu::{self, ScalarFn, VectorRow};
use super::image::ImageAccess;
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
    /// An access to an image by each lane.
    Image(ImageAccess),
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
    super::lds::LANE_ROWS,
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
        .or_else(|| super::image::meaning(op))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations without a meaning, by the beginning of their mnemonics or by what they contain.
    const REFUSED: [&str; 19] = [
        "image_sample",
        "image_gather4",
        "image_get_lod",
        "image_msaa_load",
        "image_bvh",
        "_pck",
        "_intersect_ray",
        "v_interp_",
        "_src2_",
        "ds_append",
        "ds_consume",
        "ds_condxchg32",
        "ds_gws_",
        "ds_ordered_count",
        "s_scratch_",
        "s_code_end",
        "s_endpgm_",
        "s_rfe_b64",
        "s_sendmsghalt",
    ];

    #[test]
    fn every_operation_has_a_meaning_or_is_refused_by_name() {
        for op in Op::all().filter(|op| *op != Op::S_SETKILL) {
            let refused = REFUSED.iter().any(|part| op.name().contains(part));
            assert_eq!(meaning(op).is_none(), refused, "{op:?}");
        }
        assert!(meaning(Op::S_SETKILL).is_none());
    }

    #[test]
    fn no_operation_means_two_things() {
        for op in Op::all() {
            let special = SPECIAL[op.index()].is_some();
            let value = alu::scalar_op(op).is_some() || alu::vector_op(op).is_some();
            assert!(!(special && value), "{op:?}");
        }
    }
}
