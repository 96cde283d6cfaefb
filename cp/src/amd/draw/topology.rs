//! VGT_PRIMITIVE_TYPE.

use crate::Refusal;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::field;
use crate::primitives::Topology;

/// Values of PRIM_TYPE.
#[rustfmt::skip]
const ROWS: &[(u32, Topology)] = &[
    (0x01, Topology::Points),
    (0x02, Topology::Lines),
    (0x03, Topology::LineStrip),
    (0x04, Topology::Triangles),
    (0x05, Topology::TriangleFan),
    (0x06, Topology::TriangleStrip),
    (0x0a, Topology::LinesAdjacency),
    (0x0b, Topology::LineStripAdjacency),
    (0x0c, Topology::TrianglesAdjacency),
    (0x0d, Topology::TriangleStripAdjacency),
    (0x11, Topology::Rectangles),
    (0x12, Topology::LineLoop),
    (0x13, Topology::Quads),
    (0x14, Topology::QuadStrip),
    (0x15, Topology::Polygon),
];

/// The present primitive type.
///
/// # Errors
/// It has no row.
pub(super) fn current(registers: &RegisterFile) -> Result<Topology, Refusal> {
    let value = registers.field(field::VGT_PRIMITIVE_TYPE::PRIM_TYPE);
    ROWS.iter().find(|row| row.0 == value).map(|row| row.1).ok_or(Refusal::Topology { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topology_has_one_code() {
        for topology in Topology::all() {
            assert_eq!(ROWS.iter().filter(|row| row.1 == topology).count(), 1, "{}", topology.name());
        }
        assert!(ROWS.is_sorted_by_key(|row| row.0));
    }
}
