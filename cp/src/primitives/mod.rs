//! Primitive assembly: which vertices make up each primitive of a topology, in the order in which a streamout unit
//! stores them.
//!
//! A topology is a row of data. Primitives follow a *cycle* of orders (a strip's even and odd triangles, the two
//! triangles of a quad): primitive `p` is number `p % cycle` of turn `p / cycle`, and each of its corners is the vertex
//! `step * turn + offset`, or the vertex `offset` itself for a corner that all primitives share (the hub of a fan). A
//! loop counts vertices around its end.
//!
//! Vertices are counted within a run: from the draw's first vertex (or from a restart) on. Vertices that do not complete
//! a primitive belong to none. [`Drawn`] cuts a draw's indices into its runs and strings their primitives together.
//!
//! A geometry program gets the same primitives in the same order, with adjacency also the neighbours' vertices
//! ([`Topology::inputs`]); a tessellator gets patches ([`Drawn::patches`]).

mod inputs;
mod runs;
mod table;

pub use inputs::MOST_INPUTS;
pub use runs::{Drawn, Restart};
pub use table::Topology;

/// Which vertex of a primitive carries its flat attributes; it decides the order of strips, fans and quads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Provoking {
    /// The first one.
    #[default]
    First,
    /// The last one.
    Last,
}

/// One corner: a vertex that moves on with each turn of the cycle, or one that all primitives share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corner {
    /// `step * (turns of the cycle) + offset`.
    Moving(u8),
    /// The vertex of that number in the run.
    Shared(u8),
}

/// The corners of each primitive of a cycle; points and lines repeat their last one.
pub(crate) type Cycle = &'static [[Corner; 3]];

/// How the primitives of a topology take their vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The corners of each primitive of a turn; points and lines repeat their last one.
    pub orders: &'static [[Corner; 3]],
    /// Vertices that moving corners move on with each turn.
    pub step: u32,
    /// Whether vertices are counted around the end of the run.
    pub closed: bool,
}

/// What makes a topology.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) topology: Topology,
    pub(crate) name: &'static str,
    /// Vertices of a primitive as it is stored: 1, 2 or 3.
    pub(crate) corners: u8,
    /// Vertices of the run that the first group needs.
    pub(crate) first: u8,
    /// Further vertices of the run that each next group needs.
    pub(crate) next: u8,
    /// Primitives of a group whose vertices have come.
    pub(crate) per_group: u8,
    /// Vertices that the corners move on with each turn of the cycle.
    pub(crate) step: u8,
    /// A last primitive leads back to vertex 0.
    pub(crate) closed: bool,
    /// Orders when the first vertex provokes.
    pub(crate) first_order: Cycle,
    /// Orders when the last vertex provokes.
    pub(crate) last_order: Cycle,
}

impl Topology {
    /// Every topology.
    pub fn all() -> impl Iterator<Item = Topology> {
        table::ROWS.iter().map(|row| row.topology)
    }

    fn row(self) -> &'static Row {
        &table::ROWS[self as usize]
    }

    /// Its name, as public documents call it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Vertices of one primitive as it is stored: 1 for points, 2 for lines, 3 for triangles.
    pub fn corners(self) -> u32 {
        u32::from(self.row().corners)
    }

    /// Whether each drawn primitive is stored as more than one: quadrilaterals and polygons become triangles.
    pub fn is_split(self) -> bool {
        self.row().per_group > 1 || self == Topology::Polygon
    }

    /// Whether the stored vertices are the drawn ones in their own order.
    pub fn is_natural(self) -> bool {
        let row = self.row();
        row.corners == row.first && row.first == row.next && row.per_group == 1 && row.step == row.corners
    }

    /// Whole groups of a run of `vertices` vertices.
    fn groups(self, vertices: u32) -> u64 {
        let row = self.row();
        match vertices.checked_sub(u32::from(row.first)) {
            Some(more) => u64::from(more / u32::from(row.next)) + 1,
            None => 0,
        }
    }

    /// Primitives that a run of `vertices` vertices completes.
    pub fn primitives(self, vertices: u32) -> u64 {
        let row = self.row();
        let groups = self.groups(vertices);
        groups * u64::from(row.per_group) + u64::from(row.closed && groups > 0)
    }

    /// Vertices at the start of a run of `vertices` vertices that belong to whole primitives.
    pub fn used(self, vertices: u32) -> u32 {
        let row = self.row();
        match vertices.checked_sub(u32::from(row.first)) {
            Some(more) => vertices - more % u32::from(row.next),
            None => 0,
        }
    }

    /// How its primitives take their vertices.
    pub fn turn(self, provoking: Provoking) -> Turn {
        let row = self.row();
        let orders = match provoking {
            Provoking::First => row.first_order,
            Provoking::Last => row.last_order,
        };
        Turn { orders, step: u32::from(row.step), closed: row.closed }
    }

    /// The vertices, within a run of `vertices` vertices, of its primitive number `primitive`; entries past
    /// [`Topology::corners`] repeat the last one. `None` past the run's last primitive.
    pub fn vertices(self, primitive: u64, vertices: u32, provoking: Provoking) -> Option<[u32; 3]> {
        if primitive >= self.primitives(vertices) {
            return None;
        }
        let Turn { orders, step, .. } = self.turn(provoking);
        let cycle = orders.len() as u64;
        let moved = primitive / cycle * u64::from(step);
        let vertex = |corner: Corner| match corner {
            Corner::Moving(offset) => (moved + u64::from(offset)) % u64::from(vertices),
            Corner::Shared(offset) => u64::from(offset),
        };
        Some(orders[(primitive % cycle) as usize].map(|corner| vertex(corner) as u32))
    }
}

#[cfg(test)]
mod tests;
