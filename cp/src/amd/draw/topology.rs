//! VGT_PRIMITIVE_TYPE.

use crate::Refusal;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::field;
use crate::primitives::Topology;

/// What a value of PRIM_TYPE means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    code: u32,
    pub(super) topology: Topology,
    /// Whether a draw of it can be stored.
    pub(super) stored: bool,
}

const fn row(code: u32, topology: Topology, stored: bool) -> Row {
    Row { code, topology, stored }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row(0x01, Topology::Points,                 true),
    row(0x02, Topology::Lines,                  true),
    row(0x03, Topology::LineStrip,              false),
    row(0x04, Topology::Triangles,              true),
    row(0x05, Topology::TriangleFan,            false),
    row(0x06, Topology::TriangleStrip,          false),
    row(0x0a, Topology::LinesAdjacency,         false),
    row(0x0b, Topology::LineStripAdjacency,     false),
    row(0x0c, Topology::TrianglesAdjacency,     false),
    row(0x0d, Topology::TriangleStripAdjacency, false),
    row(0x11, Topology::Rectangles,             false),
    row(0x12, Topology::LineLoop,               false),
    row(0x13, Topology::Quads,                  false),
    row(0x14, Topology::QuadStrip,              false),
    row(0x15, Topology::Polygon,                false),
];

/// The row of the present primitive type.
///
/// # Errors
/// There is none.
pub(super) fn current(registers: &RegisterFile) -> Result<Row, Refusal> {
    let value = registers.field(field::VGT_PRIMITIVE_TYPE::PRIM_TYPE);
    ROWS.iter().find(|row| row.code == value).copied().ok_or(Refusal::Topology { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_stored_in_its_own_order() {
        for row in ROWS.iter().filter(|row| row.stored) {
            assert!(row.topology.is_natural(), "{}", row.topology.name());
        }
    }

    #[test]
    fn every_topology_has_one_code() {
        for topology in Topology::all() {
            assert_eq!(ROWS.iter().filter(|row| row.topology == topology).count(), 1, "{}", topology.name());
        }
        assert!(ROWS.is_sorted_by_key(|row| row.code));
    }
}
