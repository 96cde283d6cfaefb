//! Primitives gathered into subgroups, which share the vertices that they have in common.

use std::collections::HashMap;

use super::state::State;
use crate::amd::draw::merged::Group;
use crate::primitives::MOST_INPUTS;

/// VGPRs of an export thread: a vertex id, two words and an instance id, or a domain point and its patch.
pub(super) const EXPORT_VGPRS: usize = 4;
/// VGPRs of a geometry thread: vertices 0 and 1, 2 and 3, the primitive id, the invocation id, vertices 4 and 5.
pub(super) const GEOMETRY_VGPRS: usize = 5;
/// Lanes of a wave.
const LANES: usize = 64;

/// What an export thread starts with.
pub(in crate::amd::draw) type Vertex = [u32; EXPORT_VGPRS];

/// A primitive on its way into the geometry program.
#[derive(Clone, Copy, Debug)]
pub(in crate::amd::draw) struct Primitive {
    /// Its id, or that of its patch.
    pub(in crate::amd::draw) id: u32,
    /// Its vertices, as many as the topology has.
    pub(in crate::amd::draw) vertices: [Vertex; MOST_INPUTS],
    /// Where its patch's group lies in the tessellation buffer.
    pub(in crate::amd::draw) off_chip: u32,
}

/// The subgroup that is being filled. A vertex runs once in it (policy: the hardware's reuse depends on its caches).
#[derive(Default)]
pub(super) struct Subgroup {
    vertices: Vec<Vertex>,
    numbers: HashMap<Vertex, u32>,
    threads: Vec<[u32; GEOMETRY_VGPRS]>,
    primitives: u32,
    off_chip: u32,
}

impl Subgroup {
    pub(super) fn is_empty(&self) -> bool {
        self.primitives == 0
    }

    pub(super) fn off_chip(&self) -> u32 {
        self.off_chip
    }

    pub(super) fn group(&self) -> Group<'_, EXPORT_VGPRS, GEOMETRY_VGPRS> {
        Group { first: &self.vertices, second: &self.threads }
    }

    /// Waves that it comes to.
    pub(super) fn waves(&self) -> u32 {
        self.vertices.len().max(self.threads.len()).div_ceil(LANES) as u32
    }

    /// Waves of it that have geometry threads.
    pub(super) fn geometry_waves(&self) -> u32 {
        self.threads.len().div_ceil(LANES) as u32
    }

    pub(super) fn clear(&mut self) {
        self.vertices.clear();
        self.numbers.clear();
        self.threads.clear();
        self.primitives = 0;
    }

    /// Whether a further primitive of `inputs` vertices goes in. The first one always does.
    pub(super) fn takes(&self, state: &State, primitive: &Primitive, inputs: usize) -> bool {
        let new = primitive.vertices[..inputs].iter().filter(|v| !self.numbers.contains_key(*v)).count();
        self.is_empty()
            || self.off_chip == primitive.off_chip
                && self.primitives < state.limits.primitives
                && self.vertices.len() + new <= state.limits.vertices as usize
    }

    /// Adds a primitive: its vertices that are not there yet, and its threads.
    pub(super) fn add(&mut self, state: &State, primitive: &Primitive, inputs: usize) {
        self.off_chip = primitive.off_chip;
        self.primitives += 1;
        let mut places = [0; MOST_INPUTS];
        for (place, vertex) in places.iter_mut().zip(&primitive.vertices[..inputs]) {
            // Places have 16 bits; a larger one would lie outside of LDS.
            *place = self.number(vertex).wrapping_mul(state.vertex_item) & 0xffff;
        }
        let [a, b, c, d, e, f] = places;
        let pair = |low: u32, high: u32| low | high << 16;
        for invocation in 0..state.invocations {
            self.threads.push([pair(a, b), pair(c, d), primitive.id, invocation, pair(e, f)]);
        }
    }

    fn number(&mut self, vertex: &Vertex) -> u32 {
        let next = self.vertices.len() as u32;
        let number = *self.numbers.entry(*vertex).or_insert(next);
        if number == next {
            self.vertices.push(*vertex);
        }
        number
    }
}
