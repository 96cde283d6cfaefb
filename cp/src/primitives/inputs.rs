//! What a geometry program gets of each primitive: its vertices, and with adjacency those of its neighbours.
//!
//! Orders are those of OpenGL's adjacency tables, measured on a public software implementation with both provoking
//! vertices and with restarts.

use super::{Provoking, Topology};

/// The most vertices that a geometry program gets of a primitive.
pub const MOST_INPUTS: usize = 6;

/// A vertex, counted from the primitive's first one in the run; negative ones lie before it.
type Order = [i8; MOST_INPUTS];

/// A topology with adjacency.
struct Row {
    topology: Topology,
    /// Vertices of a primitive.
    inputs: u32,
    /// Vertices from one primitive to the next.
    step: u32,
    /// Orders of even and odd primitives when the first vertex provokes, and when the last does.
    orders: [[Order; 2]; 2],
}

/// The neighbour of a strip's triangle across its first side; the first triangle has [`FIRST_BEFORE`] there.
const BEFORE: i8 = -2;
const FIRST_BEFORE: i8 = 1;
/// The neighbour across its last side; the last triangle has [`LAST_AFTER`] there.
const AFTER: i8 = 6;
const LAST_AFTER: i8 = 5;

const AS_DRAWN: [[Order; 2]; 2] = [[[0, 1, 2, 3, 4, 5]; 2]; 2];
const LINE: [[Order; 2]; 2] = [[[0, 1, 2, 3, 0, 0]; 2]; 2];
const STRIP_EVEN: Order = [0, BEFORE, 2, AFTER, 4, 3];
const STRIP_ODD_FIRST: Order = [0, 3, 4, AFTER, 2, BEFORE];
const STRIP_ODD_LAST: Order = [2, BEFORE, 0, 3, 4, AFTER];

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { topology: Topology::LinesAdjacency,         inputs: 4, step: 4, orders: LINE },
    Row { topology: Topology::LineStripAdjacency,     inputs: 4, step: 1, orders: LINE },
    Row { topology: Topology::TrianglesAdjacency,     inputs: 6, step: 6, orders: AS_DRAWN },
    Row { topology: Topology::TriangleStripAdjacency, inputs: 6, step: 2,
          orders: [[STRIP_EVEN, STRIP_ODD_FIRST], [STRIP_EVEN, STRIP_ODD_LAST]] },
];

impl Topology {
    /// Vertices of a primitive as a geometry program gets it: with adjacency 4 or 6, else [`Topology::corners`].
    pub fn inputs(self) -> u32 {
        adjacency(self).map_or(self.corners(), |row| row.inputs)
    }

    /// The vertices, within a run of `vertices` vertices, of its primitive number `primitive` as a geometry program gets
    /// them; entries past [`Topology::inputs`] are vertices of the run too. `None` past the run's last primitive.
    pub fn input_vertices(
        self,
        primitive: u64,
        vertices: u32,
        provoking: Provoking,
    ) -> Option<[u32; MOST_INPUTS]> {
        let corners = self.vertices(primitive, vertices, provoking)?;
        let Some(row) = adjacency(self) else {
            let [a, b, c] = corners;
            return Some([a, b, c, c, c, c]);
        };
        let last = primitive + 1 == self.primitives(vertices);
        let first = primitive * u64::from(row.step);
        let order = row.orders[usize::from(provoking == Provoking::Last)][(primitive % 2) as usize];
        Some(
            order
                .map(|offset| first.saturating_add_signed(i64::from(at_end(offset, primitive, last))) as u32),
        )
    }
}

/// The offset that a strip's first and last triangle have in place of a neighbour that is not there.
fn at_end(offset: i8, primitive: u64, last: bool) -> i8 {
    match offset {
        BEFORE if primitive == 0 => FIRST_BEFORE,
        AFTER if last => LAST_AFTER,
        _ => offset,
    }
}

fn adjacency(topology: Topology) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.topology == topology)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::{Drawn, Restart};

    /// (topology, provoking, vertices drawn, inputs of each primitive)
    type Case = (Topology, Provoking, u32, &'static [&'static [u32]]);

    use Provoking::{First, Last};
    const CASES: &[Case] = &[
        (Topology::Points, First, 2, &[&[0], &[1]]),
        (Topology::LineLoop, First, 3, &[&[0, 1], &[1, 2], &[2, 0]]),
        (Topology::TriangleStrip, First, 4, &[&[0, 1, 2], &[1, 3, 2]]),
        (Topology::TriangleStrip, Last, 4, &[&[0, 1, 2], &[2, 1, 3]]),
        (Topology::TriangleFan, Last, 4, &[&[0, 1, 2], &[0, 2, 3]]),
        (Topology::LinesAdjacency, First, 9, &[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
        (Topology::LineStripAdjacency, Last, 5, &[&[0, 1, 2, 3], &[1, 2, 3, 4]]),
        (Topology::TrianglesAdjacency, Last, 13, &[&[0, 1, 2, 3, 4, 5], &[6, 7, 8, 9, 10, 11]]),
        (Topology::TriangleStripAdjacency, First, 5, &[]),
        (Topology::TriangleStripAdjacency, First, 6, &[&[0, 1, 2, 5, 4, 3]]),
        (Topology::TriangleStripAdjacency, First, 8, &[&[0, 1, 2, 6, 4, 3], &[2, 5, 6, 7, 4, 0]]),
        (Topology::TriangleStripAdjacency, Last, 8, &[&[0, 1, 2, 6, 4, 3], &[4, 0, 2, 5, 6, 7]]),
        (
            Topology::TriangleStripAdjacency,
            Last,
            10,
            &[&[0, 1, 2, 6, 4, 3], &[4, 0, 2, 5, 6, 8], &[4, 2, 6, 9, 8, 7]],
        ),
    ];

    #[test]
    fn inputs_are_in_the_order_of_the_tables() {
        for (topology, provoking, vertices, expected) in CASES {
            let count = topology.inputs() as usize;
            let inputs: Vec<_> = (0..topology.primitives(*vertices))
                .map(|p| topology.input_vertices(p, *vertices, *provoking).unwrap()[..count].to_vec())
                .collect();
            assert_eq!(inputs, *expected, "{} {provoking:?}", topology.name());
        }
    }

    #[test]
    fn inputs_are_vertices_of_the_run_and_hold_the_corners() {
        for topology in Topology::all() {
            for (vertices, provoking) in (0..40).flat_map(|n| [(n, First), (n, Last)]) {
                for p in 0..topology.primitives(vertices) {
                    let inputs = topology.input_vertices(p, vertices, provoking).unwrap();
                    let corners = topology.vertices(p, vertices, provoking).unwrap();
                    assert!(inputs.iter().all(|v| *v < vertices), "{} {p} of {vertices}", topology.name());
                    assert!(corners.iter().all(|v| inputs.contains(v)), "{} {p}", topology.name());
                    if topology.inputs() == 6 {
                        assert_eq!([inputs[0], inputs[2], inputs[4]], corners, "{} {p}", topology.name());
                    }
                }
                assert_eq!(topology.input_vertices(topology.primitives(vertices), vertices, First), None);
            }
        }
    }

    #[test]
    fn restarts_cut_inputs_and_patches() {
        let indices = [9, 8, 7, 99, 6, 5, 4, 3, 2];
        let restart = Some(Restart::new(99, u32::MAX));
        let drawn = Drawn { topology: Topology::TriangleStrip, indices: &indices, restart };
        let inputs: Vec<_> = drawn.inputs(First).map(|i| [i[0], i[1], i[2]]).collect();
        assert_eq!(inputs, [[9, 8, 7], [6, 5, 4], [5, 3, 4], [4, 3, 2]]);
        let patches: Vec<_> = drawn.patches(2).collect();
        assert_eq!(patches, [[9, 8], [6, 5], [4, 3]]);
    }
}
