//! Rings of domain points around the middle of a triangle or a square.

use super::Point;
use super::axis::{Axis, Level, ONE};
use super::levels::Clamped;

/// Two thirds, by which a triangle's rings approach its middle.
const TWO_THIRDS: u64 = 0xaaaa;
const THIRD: u32 = 0x5555;

/// The points of each edge of a ring, its end included, as numbers.
pub(super) type Ring = Vec<Vec<u32>>;

/// The points of a patch, and the rings that they lie on from outside to inside. Where the middle is a row or a point, it
/// is the last ring: each edge has the part of it that lies opposite.
#[derive(Default)]
pub(super) struct Rings {
    pub(super) points: Vec<Point>,
    pub(super) rings: Vec<Ring>,
    /// Inner axes: along u and along v, or the triangle's one twice.
    pub(super) axes: Vec<Axis>,
    /// Outer axes, one an edge.
    pub(super) edges: Vec<Axis>,
}

impl Rings {
    /// Adds a ring from the points of its edges without their ends.
    fn add(&mut self, edges: &[Vec<Point>]) {
        let first = self.points.len() as u32;
        let mut ring: Ring = Vec::with_capacity(edges.len());
        for edge in edges {
            let start = self.points.len() as u32;
            self.points.extend(edge);
            ring.push((start..self.points.len() as u32).collect());
        }
        for edge in 0..ring.len() {
            let end = ring.get(edge + 1).and_then(|next| next.first()).copied().unwrap_or(first);
            ring[edge].push(end);
        }
        self.rings.push(ring);
    }

    /// Adds a point of the middle.
    fn point(&mut self, u: u32, v: u32) -> u32 {
        self.points.push(Point { u, v });
        self.points.len() as u32 - 1
    }
}

/// The places of an edge's points without its end: those of an axis from point `first` to point `last`, upwards or
/// downwards.
fn run(axis: &Axis, first: u32, last: u32, up: bool) -> impl Iterator<Item = u32> {
    (0..last - first).map(move |step| axis.at(if up { first + step } else { last - step }))
}

/// An axis for inner points, which needs room for at least one of them.
fn inner(level: Level) -> Axis {
    Axis::new(Level { fixed: level.fixed.max(ONE + u32::from(level.odd)), ..level })
}

/// The rings of a square: its edges are u = 0 from v = 1 down, v = 0 up, u = 1 up, v = 1 down.
pub(super) fn square(clamped: &Clamped) -> Rings {
    let [u, v] = clamped.inner.map(inner);
    let edges = clamped.outer.map(Axis::new);
    let mut rings = Rings { axes: vec![u, v], edges: edges.to_vec(), ..Rings::default() };
    let [left, low, right, high] = [(0, false), (1, true), (2, true), (3, false)]
        .map(|(e, up)| run(&edges[e], 0, edges[e].points() - 1, up));
    rings.add(&[
        left.map(|v| Point { u: 0, v }).collect(),
        low.map(|u| Point { u, v: 0 }).collect(),
        right.map(|v| Point { u: ONE, v }).collect(),
        high.map(|u| Point { u, v: ONE }).collect(),
    ]);
    let count = u.points().min(v.points()) / 2;
    for ring in 1..count {
        let (last_u, last_v) = (u.points() - 1 - ring, v.points() - 1 - ring);
        rings.add(&[
            run(&v, ring, last_v, false).map(|v| Point { u: u.at(ring), v }).collect(),
            run(&u, ring, last_u, true).map(|u| Point { u, v: v.at(ring) }).collect(),
            run(&v, ring, last_v, true).map(|v| Point { u: u.at(last_u), v }).collect(),
            run(&u, ring, last_u, false).map(|u| Point { u, v: v.at(last_v) }).collect(),
        ]);
    }
    square_middle(&mut rings, u, v, count);
    rings
}

/// The row in the middle of a square whose shorter axis has an even number of segments: v = 1/2 with u upwards, or
/// u = 1/2 with v downwards.
fn square_middle(rings: &mut Rings, u: Axis, v: Axis, first: u32) {
    let lies = u.points() > v.points();
    let (long, short) = if lies { (u, v) } else { (v, u) };
    if short.is_odd() {
        return;
    }
    let last = long.points() - 1 - first;
    let row: Vec<_> = match lies {
        true => (first..=last).map(|k| rings.point(u.at(k), ONE / 2)).collect(),
        false => (first..=last).rev().map(|k| rings.point(ONE / 2, v.at(k))).collect(),
    };
    let back = row.iter().rev().copied().collect();
    let (start, end) = (row[..1].to_vec(), row[row.len() - 1..].to_vec());
    rings.rings.push(match lies {
        true => vec![start, row, end, back],
        false => vec![row, end, back, start],
    });
}

/// The rings of a triangle: its edges are u = 0 from v = 1 down, v = 0 with u upwards, w = 0 with u downwards.
pub(super) fn triangle(clamped: &Clamped) -> Rings {
    let axis = inner(clamped.inner[0]);
    let edges: Vec<_> = clamped.outer[..3].iter().map(|level| Axis::new(*level)).collect();
    let mut rings = Rings { axes: vec![axis, axis], ..Rings::default() };
    rings.add(&triangle_ring(0, [0, 1, 2].map(|e| (edges[e], 0))));
    rings.edges = edges;
    let count = axis.points() / 2;
    for ring in 1..count {
        let away = ((u64::from(axis.at(ring)) * TWO_THIRDS + u64::from(ONE / 2)) >> 16) as u32;
        rings.add(&triangle_ring(away, [(axis, ring); 3]));
    }
    if !axis.is_odd() {
        let middle = rings.point(THIRD, THIRD);
        rings.rings.push(vec![vec![middle]; 3]);
    }
    rings
}

/// A triangle's ring at the distance `away` from the edges, of which each leaves out as many points at both ends of its
/// axis.
fn triangle_ring(away: u32, edges: [(Axis, u32); 3]) -> [Vec<Point>; 3] {
    let along = |edge: usize| {
        let (axis, out) = edges[edge];
        run(&axis, out, axis.points() - 1 - out, edge == 1)
            .map(|place| place.saturating_sub(away.div_ceil(2)))
            .collect::<Vec<_>>()
    };
    [
        along(0).into_iter().map(|v| Point { u: away, v }).collect(),
        along(1).into_iter().map(|u| Point { u, v: away }).collect(),
        along(2).into_iter().map(|u| Point { u, v: ONE.saturating_sub(u + away) }).collect(),
    ]
}
