//! Triangles between rings. All are listed clockwise.

use super::axis::Axis;
use super::rings::{Ring, Rings};

type Triangle = [u32; 3];

/// Points of half the finest edge.
const MOST_HALF: u32 = 32;

/// The triangles of a patch, ring by ring and edge by edge, from the outside in.
pub(super) fn triangles(rings: &Rings) -> Vec<Triangle> {
    let mut triangles = Vec::new();
    for (number, pair) in rings.rings.windows(2).enumerate() {
        let [outer, inner] = pair else { continue };
        for (edge, (outer, inner)) in outer.iter().zip(inner).enumerate() {
            match number {
                // Edges 0 and 2 run along v.
                0 => transition(
                    &mut triangles,
                    [outer, inner],
                    [&rings.edges[edge], &rings.axes[1 - edge % 2]],
                ),
                _ => regular(&mut triangles, outer, inner),
            }
        }
    }
    middle(&mut triangles, rings);
    triangles
}

/// Two lists of points that are walked side by side.
struct Walk<'a> {
    triangles: &'a mut Vec<Triangle>,
    lists: [&'a [u32]; 2],
    at: [usize; 2],
}

const OUTER: usize = 0;
const INNER: usize = 1;

impl Walk<'_> {
    /// The present point of a list, or the one after it.
    fn point(&self, list: usize, after: usize) -> u32 {
        self.lists[list].get(self.at[list] + after).copied().unwrap_or_default()
    }

    /// A triangle with a side on the outer list.
    fn step_out(&mut self) {
        self.triangles.push([self.point(OUTER, 0), self.point(OUTER, 1), self.point(INNER, 0)]);
        self.at[OUTER] += 1;
    }

    /// A triangle with a side on the inner list.
    fn step_in(&mut self) {
        self.triangles.push([self.point(INNER, 0), self.point(OUTER, 0), self.point(INNER, 1)]);
        self.at[INNER] += 1;
    }

    /// A quadrilateral with a side on each list, its diagonal from the outer list's start to the inner list's end.
    fn quad_to_inner_end(&mut self) {
        let [o, o1] = [0, 1].map(|n| self.point(OUTER, n));
        let [i, i1] = [0, 1].map(|n| self.point(INNER, n));
        self.triangles.extend([[o, i1, i], [o, o1, i1]]);
        self.at = self.at.map(|at| at + 1);
    }

    /// The same with the other diagonal.
    fn quad_to_outer_end(&mut self) {
        let [o, o1] = [0, 1].map(|n| self.point(OUTER, n));
        let [i, i1] = [0, 1].map(|n| self.point(INNER, n));
        self.triangles.extend([[i, o, o1], [i, o1, i1]]);
        self.at = self.at.map(|at| at + 1);
    }
}

/// The order in which points split off as a level grows: half an edge of `n` points has those of a rank below `n`.
fn rank(place: u32) -> u32 {
    let zeros = place.trailing_zeros();
    (1 << 4u32.saturating_sub(zeros)) + (place >> zeros) / 2
}

/// Joins an outer edge to the first ring, whose number of points is another.
fn transition(triangles: &mut Vec<Triangle>, lists: [&[u32]; 2], axes: [&Axis; 2]) {
    let [outer, inner] = axes.map(Axis::half_segments);
    let [outer_odd, inner_odd] = axes.map(Axis::is_odd);
    let mut walk = Walk { triangles, lists, at: [0; 2] };
    if outer > 0 {
        walk.step_out();
    }
    for place in 1..MOST_HALF {
        if rank(place) < inner {
            walk.step_in();
        }
        if rank(place) < outer {
            walk.step_out();
        }
    }
    transition_middle(&mut walk, outer_odd, inner_odd);
    for place in (1..MOST_HALF).rev() {
        if rank(place) < outer {
            walk.step_out();
        }
        if rank(place) < inner {
            walk.step_in();
        }
    }
    if outer > 0 {
        walk.step_out();
    }
}

/// The middle segment of each odd number.
fn transition_middle(walk: &mut Walk<'_>, outer_odd: bool, inner_odd: bool) {
    if inner_odd {
        walk.step_in();
    }
    if outer_odd {
        // As a step out, listed from the inner point.
        walk.triangles.push([walk.point(INNER, 0), walk.point(OUTER, 0), walk.point(OUTER, 1)]);
        walk.at[OUTER] += 1;
    }
}

/// Joins an edge of a ring to that of the next, which has two points less. The diagonals mirror.
fn regular(triangles: &mut Vec<Triangle>, outer: &[u32], inner: &[u32]) {
    let mut walk = Walk { triangles, lists: [outer, inner], at: [0; 2] };
    walk.step_out();
    for quad in 1..inner.len() {
        match quad <= inner.len() / 2 {
            true => walk.quad_to_inner_end(),
            false => walk.quad_to_outer_end(),
        }
    }
    walk.step_out();
}

/// What odd numbers of segments leave in the middle: a triangle, or a strip of quadrilaterals.
fn middle(triangles: &mut Vec<Triangle>, rings: &Rings) {
    let [u, v] = [0, 1].map(|axis| rings.axes[axis]);
    let Some(last) = rings.rings.last() else { return };
    let lies = u.points() > v.points();
    let short_is_odd = if lies { v.is_odd() } else { u.is_odd() };
    match (short_is_odd, last.as_slice()) {
        (true, [a, b, c]) => triangles.push([a[0], b[0], c[0]]),
        (true, [..]) => strip(triangles, last, lies, !lies && v.is_odd()),
        (false, _) => {}
    }
}

/// The strip in the middle of a square: from its low to its high side with u upwards, or from left to right with v
/// downwards. With `mirrored` diagonals the quadrilateral in the middle has the other one.
fn strip(triangles: &mut Vec<Triangle>, ring: &Ring, lies: bool, mirrored: bool) {
    let (near, far) = if lies { (1, 3) } else { (0, 2) };
    let back: Vec<_> = ring[far].iter().rev().copied().collect();
    let quads = ring[near].len() - 1;
    let mut walk = Walk { triangles, lists: [&ring[near], &back], at: [0; 2] };
    for quad in 0..quads {
        if mirrored && quad == quads / 2 {
            walk.quad_to_inner_end();
        } else if mirrored {
            strip_quad(&mut walk);
        } else {
            walk.quad_to_outer_end();
        }
    }
}

/// As [`Walk::quad_to_outer_end`], its first triangle listed from the outer side.
fn strip_quad(walk: &mut Walk<'_>) {
    walk.quad_to_outer_end();
    if let [.., first, _] = walk.triangles.as_mut_slice() {
        first.rotate_left(1);
    }
}
