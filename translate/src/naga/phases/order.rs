//! The order in which segments stand: one in which a wave goes forward, as far as there is one.

use std::collections::BTreeSet;

use super::cut::{End, Segment};

/// Segments that a wave can come to, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The first is not always the one that waves begin with, which is segment 0.
    pub(super) places: Vec<usize>,
    /// Whether a wave may go back without a barrier.
    pub(super) goes_back: bool,
}

impl Order {
    pub(super) fn new(segments: &[Segment]) -> Self {
        let reached = reached(segments);
        let mut before = vec![0usize; segments.len()];
        reached.iter().flat_map(|at| segments[*at].end.successors()).for_each(|to| before[to] += 1);
        let mut ready: BTreeSet<usize> = reached.iter().copied().filter(|at| before[*at] == 0).collect();
        let mut places = Vec::with_capacity(reached.len());
        while let Some(at) = ready.pop_first() {
            places.push(at);
            for to in segments[at].end.successors() {
                before[to] -= 1;
                if before[to] == 0 {
                    ready.insert(to);
                }
            }
        }
        if places.len() == reached.len() {
            return Order { places, goes_back: false };
        }
        Order { places: reached.into_iter().collect(), goes_back: true }
    }
}

/// Segments that a wave can come to from the first.
fn reached(segments: &[Segment]) -> BTreeSet<usize> {
    let (mut found, mut todo) = (BTreeSet::from([0]), vec![0]);
    while let Some(at) = todo.pop() {
        let end = segments[at].end;
        let behind = if let End::Barrier(to) | End::Pause(to) = end { Some(to) } else { None };
        todo.extend(end.successors().chain(behind).filter(|to| found.insert(*to)));
    }
    found
}
