//! The fixed-function tessellator: domain points and primitives of one patch, from its levels.
//!
//! Public APIs fix how many segments each edge has, that edges are symmetric and where a patch is discarded; they leave
//! the order of the points, the diagonals and the exact places of fractional segments open. AMD documents that its unit
//! follows Direct3D 11, whose reference tessellator decides all of that, so the policy is: **what Direct3D 11's
//! reference tessellator gives, bit for bit**. This module states that algorithm anew on lists of points.
//!
//! # How a patch is made
//!
//! - Levels are clamped, and for equal spacing rounded up. A patch with an outer level that is not above 0 (NaN among
//!   them) is discarded.
//! - An [`Axis`] places the points of one level along 0 to 1, as 16.16 fixed point.
//! - The points of triangles and quadrilaterals lie on *rings*: the outer ring has the outer levels, the others have the
//!   inner ones. Even inner levels leave a row (or a point) in the middle, odd ones a strip (or a triangle).
//! - Each ring is stitched to the next edge by edge; the first stitch joins different numbers of points.
//!
//! # Invariants
//!
//! 1. All places are integers below 2^17 and exact in single precision.
//! 2. The triangles cover the domain once: each inner side is shared by two triangles in opposite directions.
//! 3. An edge's points depend on its own level alone, and mirror to themselves, so that patches that share an edge meet.

mod axis;
mod levels;
mod rings;
mod stitch;

use axis::{Axis, ONE};
use levels::Clamped;

/// What is subdivided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Lines of constant v.
    Isolines,
    /// A triangle; the third coordinate is `1 - u - v`.
    Triangles,
    /// A unit square.
    Quads,
}

/// How a level becomes segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spacing {
    /// The level rounded up, 1 to 64, all of one length.
    Equal,
    /// An odd number, 1 to 63, two of them shorter.
    FractionalOdd,
    /// An even number, 2 to 64, two of them shorter.
    FractionalEven,
}

/// What is made of the points. Windings are as Direct3D names them, where v points down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitives {
    /// Each domain point once.
    Points,
    /// The segments of isolines.
    Lines,
    /// Clockwise triangles.
    Clockwise,
    /// Counter-clockwise triangles.
    CounterClockwise,
}

impl Primitives {
    /// Vertices of a primitive.
    pub const fn corners(self) -> u32 {
        match self {
            Primitives::Points => 1,
            Primitives::Lines => 2,
            Primitives::Clockwise | Primitives::CounterClockwise => 3,
        }
    }
}

/// The levels of a patch. Isolines have their number in `outer[0]` and their segments in `outer[1]`; triangles use three
/// outer levels and one inner.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Levels {
    /// Outer levels, in the order of OpenGL.
    pub outer: [f32; 4],
    /// Inner levels: along u, along v.
    pub inner: [f32; 2],
}

/// A point of the domain; both coordinates are 16.16 fixed point, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    /// Along the first axis.
    pub u: u32,
    /// Along the second axis.
    pub v: u32,
}

impl Point {
    /// u and v as the bits of single-precision numbers, which hold them exactly.
    pub fn float_bits(self) -> [u32; 2] {
        [self.u, self.v].map(|fixed| (fixed as f32 / ONE as f32).to_bits())
    }
}

/// A subdivided patch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Tessellated {
    /// Every domain point, once.
    pub points: Vec<Point>,
    /// Primitives as numbers of points, [`Primitives::corners`] each. Empty for a discarded patch.
    pub indices: Vec<u32>,
}

/// How patches are subdivided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tessellator {
    /// What is subdivided.
    pub domain: Domain,
    /// How levels become segments.
    pub spacing: Spacing,
    /// What is made of the points.
    pub primitives: Primitives,
}

impl Tessellator {
    /// Whether the domain has such primitives: lines are only made of isolines, and triangles never.
    pub fn is_possible(&self) -> bool {
        match self.primitives {
            Primitives::Points => true,
            Primitives::Lines => self.domain == Domain::Isolines,
            Primitives::Clockwise | Primitives::CounterClockwise => self.domain != Domain::Isolines,
        }
    }

    /// Subdivides one patch. Any levels will do; the result has at most 65 x 65 points.
    pub fn tessellate(&self, levels: &Levels) -> Tessellated {
        let Some(clamped) = levels::clamp(self.domain, self.spacing, levels) else {
            return Tessellated::default();
        };
        match self.domain {
            Domain::Isolines => self.isolines(&clamped),
            Domain::Triangles if clamped.is_least() => {
                self.surface(corners(&[(0, ONE), (0, 0), (ONE, 0)]), &[[0, 1, 2]])
            }
            Domain::Quads if clamped.is_least() => {
                let square = corners(&[(0, 0), (ONE, 0), (ONE, ONE), (0, ONE)]);
                self.surface(square, &[[0, 1, 3], [1, 2, 3]])
            }
            Domain::Triangles => self.stitched(rings::triangle(&clamped)),
            Domain::Quads => self.stitched(rings::square(&clamped)),
        }
    }

    /// Lines from v = 0 on; the last one, at v = 1, is left out.
    fn isolines(&self, clamped: &Clamped) -> Tessellated {
        let [number, segments] = [0, 1].map(|edge| Axis::new(clamped.outer[edge]));
        let points = (0..number.points() - 1)
            .flat_map(|line| (0..segments.points()).map(move |point| (point, line)))
            .map(|(point, line)| Point { u: segments.at(point), v: number.at(line) })
            .collect::<Vec<_>>();
        let all = points.len() as u32;
        let starts_segment = |point: &u32| point % segments.points() != segments.points() - 1;
        let indices = match self.primitives {
            Primitives::Points => (0..all).collect(),
            _ => (0..all).filter(starts_segment).flat_map(|point| [point, point + 1]).collect(),
        };
        Tessellated { points, indices }
    }

    fn stitched(&self, rings: rings::Rings) -> Tessellated {
        let triangles = stitch::triangles(&rings);
        self.surface(rings.points, &triangles)
    }

    /// Points, and triangles that are listed clockwise.
    fn surface(&self, points: Vec<Point>, clockwise: &[[u32; 3]]) -> Tessellated {
        let indices = match self.primitives {
            Primitives::Points | Primitives::Lines => (0..points.len() as u32).collect(),
            Primitives::Clockwise => clockwise.as_flattened().to_vec(),
            Primitives::CounterClockwise => clockwise.iter().flat_map(|[a, b, c]| [*a, *c, *b]).collect(),
        };
        Tessellated { points, indices }
    }
}

fn corners(places: &[(u32, u32)]) -> Vec<Point> {
    places.iter().map(|(u, v)| Point { u: *u, v: *v }).collect()
}

#[cfg(test)]
mod tests;
