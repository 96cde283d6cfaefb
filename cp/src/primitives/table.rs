//! The topologies, one row each.
//!
//! Orders are those of the transform-feedback tables of OpenGL, fixed to a rotation by the provoking vertex; the rows
//! were measured on two public software implementations. That a hardware unit stores quads, quad strips and polygons
//! in the same order is inferred.

use super::{Corner, Cycle, Row};

/// A primitive topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topology {
    /// Each vertex is a point.
    Points,
    /// Each two vertices are a line.
    Lines,
    /// Each vertex after the first ends a line.
    LineStrip,
    /// A line strip and a line from its last vertex to its first.
    LineLoop,
    /// Each three vertices are a triangle.
    Triangles,
    /// Each vertex after the second ends a triangle.
    TriangleStrip,
    /// Each vertex after the second ends a triangle with the first one.
    TriangleFan,
    /// Each four vertices are a line with a neighbour on either side.
    LinesAdjacency,
    /// A line strip with a neighbour at either end.
    LineStripAdjacency,
    /// Each six vertices are a triangle and its three neighbours.
    TrianglesAdjacency,
    /// A triangle strip, each second vertex a neighbour.
    TriangleStripAdjacency,
    /// Each four vertices are a quadrilateral, stored as two triangles.
    Quads,
    /// Each two vertices after the second end a quadrilateral, stored as two triangles.
    QuadStrip,
    /// One polygon, stored as triangles; its first vertex provokes.
    Polygon,
    /// Each three vertices are three corners of an upright rectangle.
    Rectangles,
}

/// A corner that moves on.
const fn m(offset: u8) -> Corner {
    Corner::Moving(offset)
}

/// The first vertex of the run.
const HUB: Corner = Corner::Shared(0);

const POINT: Cycle = &[[m(0), m(0), m(0)]];
const LINE: Cycle = &[[m(0), m(1), m(1)]];
const INNER_LINE: Cycle = &[[m(1), m(2), m(2)]];
const TRIANGLE: Cycle = &[[m(0), m(1), m(2)]];
const STRIP_FIRST: Cycle = &[[m(0), m(1), m(2)], [m(1), m(3), m(2)]];
const STRIP_LAST: Cycle = &[[m(0), m(1), m(2)], [m(2), m(1), m(3)]];
const FAN_HUB_FIRST: Cycle = &[[HUB, m(1), m(2)]];
const FAN_HUB_LAST: Cycle = &[[m(1), m(2), HUB]];
const TRIANGLE_ADJ: Cycle = &[[m(0), m(2), m(4)]];
const STRIP_ADJ_FIRST: Cycle = &[[m(0), m(2), m(4)], [m(2), m(6), m(4)]];
const STRIP_ADJ_LAST: Cycle = &[[m(0), m(2), m(4)], [m(4), m(2), m(6)]];
const QUAD_FIRST: Cycle = &[[m(0), m(1), m(2)], [m(0), m(2), m(3)]];
const QUAD_LAST: Cycle = &[[m(0), m(1), m(3)], [m(1), m(2), m(3)]];
const QUAD_STRIP_FIRST: Cycle = &[[m(0), m(3), m(2)], [m(0), m(1), m(3)]];
const QUAD_STRIP_LAST: Cycle = &[[m(2), m(0), m(3)], [m(0), m(1), m(3)]];

/// A row whose groups need `[first, next]` vertices and give `[primitives]` each.
const fn row(
    topology: Topology,
    name: &'static str,
    corners: u8,
    [first, next, per_group, step]: [u8; 4],
    first_order: Cycle,
    last_order: Cycle,
) -> Row {
    let closed = matches!(topology, Topology::LineLoop);
    Row { topology, name, corners, first, next, per_group, step, closed, first_order, last_order }
}

/// One row a topology, in the order of the enum.
#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    //  topology                                                   corners [first, next, primitives, step]
    row(Topology::Points,                 "point list",                  1, [1, 1, 1, 1], POINT,            POINT),
    row(Topology::Lines,                  "line list",                   2, [2, 2, 1, 2], LINE,             LINE),
    row(Topology::LineStrip,              "line strip",                  2, [2, 1, 1, 1], LINE,             LINE),
    row(Topology::LineLoop,               "line loop",                   2, [2, 1, 1, 1], LINE,             LINE),
    row(Topology::Triangles,              "triangle list",               3, [3, 3, 1, 3], TRIANGLE,         TRIANGLE),
    row(Topology::TriangleStrip,          "triangle strip",              3, [3, 1, 1, 2], STRIP_FIRST,      STRIP_LAST),
    row(Topology::TriangleFan,            "triangle fan",                3, [3, 1, 1, 1], FAN_HUB_LAST,     FAN_HUB_FIRST),
    row(Topology::LinesAdjacency,         "line list with adjacency",    2, [4, 4, 1, 4], INNER_LINE,       INNER_LINE),
    row(Topology::LineStripAdjacency,     "line strip with adjacency",   2, [4, 1, 1, 1], INNER_LINE,       INNER_LINE),
    row(Topology::TrianglesAdjacency,     "triangle list with adjacency", 3, [6, 6, 1, 6], TRIANGLE_ADJ,    TRIANGLE_ADJ),
    row(Topology::TriangleStripAdjacency, "triangle strip with adjacency", 3, [6, 2, 1, 4], STRIP_ADJ_FIRST, STRIP_ADJ_LAST),
    row(Topology::Quads,                  "quad list",                   3, [4, 4, 2, 4], QUAD_FIRST,       QUAD_LAST),
    row(Topology::QuadStrip,              "quad strip",                  3, [4, 2, 2, 2], QUAD_STRIP_FIRST, QUAD_STRIP_LAST),
    row(Topology::Polygon,                "polygon",                     3, [3, 1, 1, 1], FAN_HUB_FIRST,    FAN_HUB_LAST),
    row(Topology::Rectangles,             "rectangle list",              3, [3, 3, 1, 3], TRIANGLE,         TRIANGLE),
];
