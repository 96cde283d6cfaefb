//! Runs: what restarts leave of a draw's indices, and the primitives in them.

use super::{MOST_INPUTS, Provoking, Topology};

/// The index that ends a run instead of naming a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Restart {
    index: u32,
    mask: u32,
}

impl Restart {
    /// Restart at indices that equal `index` in the bits of `mask`.
    pub fn new(index: u32, mask: u32) -> Restart {
        Restart { index, mask }
    }

    /// Whether `index` ends a run.
    pub fn ends_at(self, index: u32) -> bool {
        (index ^ self.index) & self.mask == 0
    }
}

/// The indices of a draw, one instance of it, before they are made into primitives. They are cut into runs at each
/// restart, whatever the topology; a run's primitives are made from its vertices alone, and those that it leaves
/// incomplete are dropped.
#[derive(Clone, Copy, Debug)]
pub struct Drawn<'a> {
    /// What is drawn.
    pub topology: Topology,
    /// The indices in the order drawn.
    pub indices: &'a [u32],
    /// The index that ends a run, if one does.
    pub restart: Option<Restart>,
}

impl<'a> Drawn<'a> {
    fn runs(self) -> impl Iterator<Item = &'a [u32]> {
        self.indices.split(move |index| self.restart.is_some_and(|restart| restart.ends_at(*index)))
    }

    /// Primitives as they are stored.
    pub fn primitives(self) -> u64 {
        self.runs().map(|run| self.topology.primitives(length(run))).sum()
    }

    /// The vertices of every primitive, in the order in which they are stored: [`Topology::corners`] for each.
    pub fn stored(self, provoking: Provoking) -> Vec<u32> {
        let corners = self.topology.corners() as usize;
        let mut stored = Vec::with_capacity(self.primitives() as usize * corners);
        for run in self.runs() {
            let vertices =
                |primitive| self.topology.vertices(primitive, length(run), provoking).unwrap_or_default();
            for primitive in 0..self.topology.primitives(length(run)) {
                stored.extend(vertices(primitive)[..corners].iter().map(|vertex| run[*vertex as usize]));
            }
        }
        stored
    }

    /// The vertices of every primitive as a geometry program gets them: [`Topology::inputs`] for each, the others 0.
    pub fn inputs(self, provoking: Provoking) -> impl Iterator<Item = [u32; MOST_INPUTS]> + 'a {
        self.runs().flat_map(move |run| {
            let vertices = length(run);
            (0..self.topology.primitives(vertices)).map(move |primitive| {
                let places = self.topology.input_vertices(primitive, vertices, provoking).unwrap_or_default();
                places.map(|vertex| run[vertex as usize])
            })
        })
    }

    /// The vertices of every patch of `vertices` vertices, whatever the topology; `vertices` is at least 1.
    pub fn patches(self, vertices: usize) -> impl Iterator<Item = &'a [u32]> {
        self.runs().flat_map(move |run| run.chunks_exact(vertices.max(1)))
    }

    /// The vertices that belong to whole primitives, each index once, in the order drawn.
    pub fn used(self) -> Vec<u32> {
        self.runs().flat_map(|run| &run[..self.topology.used(length(run)) as usize]).copied().collect()
    }
}

/// Vertices of a run. Runs are shorter than 2^32: nothing draws more.
fn length(run: &[u32]) -> u32 {
    u32::try_from(run.len()).unwrap_or(u32::MAX)
}
