//! What any tessellator has to fulfil, and the orders of this one.

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;

use super::*;

const SPACINGS: [Spacing; 3] = [Spacing::Equal, Spacing::FractionalOdd, Spacing::FractionalEven];

fn tessellate(
    domain: Domain,
    spacing: Spacing,
    primitives: Primitives,
    outer: [f32; 4],
    inner: [f32; 2],
) -> Tessellated {
    Tessellator { domain, spacing, primitives }.tessellate(&Levels { outer, inner })
}

fn triangles(t: &Tessellated) -> &[[u32; 3]] {
    t.indices.as_chunks().0
}

/// Twice the area of a triangle of points, positive if it is listed clockwise with v pointing down.
fn area(t: &Tessellated, [a, b, c]: [u32; 3]) -> i64 {
    let [a, b, c] = [a, b, c].map(|n| {
        let p = t.points[n as usize];
        (i64::from(p.u), i64::from(p.v))
    });
    (b.0 - a.0) * (c.1 - a.1) - (c.0 - a.0) * (b.1 - a.1)
}

/// A level in the precision of the spacing.
fn fixed(spacing: Spacing, level: f32) -> f64 {
    match spacing {
        Spacing::Equal => f64::from(level),
        _ => (f64::from(level).min(65.0) * 65536.0).round_ties_even() / 65536.0,
    }
}

/// Segments that a level comes to.
fn segments(spacing: Spacing, level: f32) -> u32 {
    let (least, most) = match spacing {
        Spacing::Equal => (1.0, 64.0),
        Spacing::FractionalOdd => (1.0, 63.0),
        Spacing::FractionalEven => (2.0, 64.0),
    };
    let whole = fixed(spacing, level).max(least).min(most).ceil() as u32;
    match spacing {
        Spacing::Equal => whole,
        Spacing::FractionalOdd => whole + (whole + 1) % 2,
        Spacing::FractionalEven => whole + whole % 2,
    }
}

/// Points of the outer ring: they come first, and there are as many as it has segments.
fn rim(domain: Domain, spacing: Spacing, outer: [f32; 4]) -> usize {
    let used = if domain == Domain::Quads { 4 } else { 3 };
    outer[..used].iter().map(|level| segments(spacing, *level) as usize).sum()
}

/// Places of some points on an edge of the domain, in order.
fn on_edge(points: &[Point], place: impl Fn(&Point) -> Option<u32>) -> Vec<u32> {
    points.iter().filter_map(place).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The places along each edge of a quadrilateral (u = 0, v = 0, u = 1, v = 1) or a triangle (u = 0, v = 0, w = 0) of
/// the points of its outer ring.
fn edges(domain: Domain, points: &[Point]) -> Vec<Vec<u32>> {
    let left = on_edge(points, |p| (p.u == 0).then_some(p.v));
    let low = on_edge(points, |p| (p.v == 0).then_some(p.u));
    match domain {
        Domain::Quads => vec![
            left,
            low,
            on_edge(points, |p| (p.u == ONE).then_some(p.v)),
            on_edge(points, |p| (p.v == ONE).then_some(p.u)),
        ],
        _ => vec![left, low, on_edge(points, |p| (p.u + p.v == ONE).then_some(p.u))],
    }
}

/// Each side of each triangle, counted.
fn sides(t: &Tessellated) -> HashMap<(u32, u32), u32> {
    let mut sides = HashMap::new();
    for [a, b, c] in triangles(t) {
        for side in [(*a, *b), (*b, *c), (*c, *a)] {
            *sides.entry(side).or_insert(0) += 1;
        }
    }
    sides
}

/// The mesh is one sheet that covers the domain once and is open at its `rim` outer segments alone.
fn assert_sheet(domain: Domain, t: &Tessellated, rim: usize) {
    let sides = sides(t);
    assert!(sides.values().all(|count| *count == 1), "a side is used twice in one direction");
    let open = sides.keys().filter(|(a, b)| !sides.contains_key(&(*b, *a))).count();
    assert_eq!(open, rim, "the mesh is open where the domain is not");
    let (vertices, faces) = (t.points.len(), triangles(t).len());
    assert_eq!(vertices + faces, (sides.len() + open) / 2 + 1, "Euler's formula of a disc");
    let whole = i64::from(ONE) * i64::from(ONE) * if domain == Domain::Quads { 2 } else { 1 };
    assert_eq!(triangles(t).iter().map(|t3| area(t, *t3)).sum::<i64>(), whole);
}

/// No two points lie in one place. Fractional levels may have such: points that have only just split.
fn assert_distinct(t: &Tessellated) {
    assert_eq!(t.points.iter().collect::<BTreeSet<_>>().len(), t.points.len(), "two points in one place");
}

#[test]
fn equal_spacing_has_the_triangles_of_the_closed_formula() {
    for level in 2..=64u32 {
        let f = level as f32;
        let t = tessellate(Domain::Quads, Spacing::Equal, Primitives::Clockwise, [f; 4], [f; 2]);
        assert_eq!(t.points.len() as u32, (level + 1) * (level + 1));
        assert_eq!(triangles(&t).len() as u32, 2 * level * level);
        let t = tessellate(Domain::Triangles, Spacing::Equal, Primitives::Clockwise, [f; 4], [f; 2]);
        // A ring has six segments less than the one around it.
        let rings = |n: u32| (0..=n / 2).map(move |ring| n - 2 * ring);
        let points: u32 = rings(level).map(|n| if n == 0 { 1 } else { 3 * n }).sum();
        assert_eq!(t.points.len() as u32, points);
        let rim: u32 = 3 * level;
        assert_eq!(triangles(&t).len() as u32, 2 * points - rim - 2);
        assert_sheet(Domain::Triangles, &t, rim as usize);
        assert_distinct(&t);
    }
}

#[test]
fn a_square_with_other_outer_levels_has_the_triangles_of_the_closed_formula() {
    for (outer, [u, v]) in [([1, 2, 3, 4], [5, 6]), ([64, 1, 9, 33], [2, 64]), ([7, 7, 1, 1], [3, 3])] {
        let t = tessellate(
            Domain::Quads,
            Spacing::Equal,
            Primitives::Clockwise,
            outer.map(|n| n as f32),
            [u as f32, v as f32],
        );
        let rim: u32 = outer.iter().sum();
        let inside = 2 * (u - 2) * (v - 2);
        let inner_rim = 2 * (u - 2) + 2 * (v - 2);
        assert_eq!(triangles(&t).len() as u32, rim + inner_rim + inside, "{outer:?} {u} {v}");
    }
}

#[test]
fn nothing_subdivided_is_one_triangle_or_two() {
    let t = tessellate(Domain::Triangles, Spacing::Equal, Primitives::Clockwise, [1.0; 4], [1.0; 2]);
    assert_eq!(t.points, corners(&[(0, ONE), (0, 0), (ONE, 0)]));
    assert_eq!(t.indices, [0, 1, 2]);
    let t =
        tessellate(Domain::Quads, Spacing::FractionalOdd, Primitives::CounterClockwise, [1.0; 4], [1.0; 2]);
    assert_eq!(t.points, corners(&[(0, 0), (ONE, 0), (ONE, ONE), (0, ONE)]));
    assert_eq!(t.indices, [0, 3, 1, 1, 3, 2]);
    // Even spacing has no single segment.
    let t = tessellate(Domain::Quads, Spacing::FractionalEven, Primitives::Clockwise, [1.0; 4], [1.0; 2]);
    assert_eq!((t.points.len(), triangles(&t).len()), (9, 8));
}

#[test]
fn an_inner_level_of_one_is_raised_where_an_outer_one_is_above_it() {
    for (spacing, points) in [(Spacing::Equal, 1), (Spacing::FractionalOdd, 3), (Spacing::FractionalEven, 1)]
    {
        let outer = [2.0, 1.0, 1.0, 1.0];
        let t = tessellate(Domain::Triangles, spacing, Primitives::Clockwise, outer, [1.0; 2]);
        let rim = rim(Domain::Triangles, spacing, outer);
        assert_eq!(t.points.len(), rim + points, "{spacing:?}");
        assert_sheet(Domain::Triangles, &t, rim);
    }
}

#[test]
fn an_outer_level_that_is_not_above_zero_discards_the_patch() {
    for bad in [0.0, -0.0, -1.0, f32::NAN, f32::NEG_INFINITY] {
        for (domain, used) in [(Domain::Isolines, 2), (Domain::Triangles, 3), (Domain::Quads, 4)] {
            for place in 0..4 {
                let mut outer = [3.0; 4];
                outer[place] = bad;
                let t = tessellate(domain, Spacing::Equal, Primitives::Points, outer, [3.0; 2]);
                assert_eq!(t.points.is_empty(), place < used, "{domain:?} {place} {bad}");
            }
        }
    }
    let t = tessellate(Domain::Quads, Spacing::Equal, Primitives::Clockwise, [2.0; 4], [f32::NAN, -1.0]);
    assert_sheet(Domain::Quads, &t, 8);
}

#[test]
fn levels_are_clamped_to_what_the_spacing_has() {
    for spacing in SPACINGS {
        let most = segments(spacing, 1e9);
        for level in [65.0, 1e30, f32::INFINITY] {
            let t = tessellate(Domain::Quads, spacing, Primitives::Clockwise, [level; 4], [level; 2]);
            assert_eq!(t.points.len() as u32, (most + 1) * (most + 1), "{spacing:?}");
        }
        let least = segments(spacing, 1.0);
        let t = tessellate(Domain::Quads, spacing, Primitives::Clockwise, [f32::MIN_POSITIVE; 4], [0.0; 2]);
        assert_eq!(edges(Domain::Quads, &t.points)[0].len() as u32, least + 1, "{spacing:?}");
    }
}

#[test]
fn isolines_are_their_number_of_lines_with_the_spacing_along_them() {
    for spacing in SPACINGS {
        let t = tessellate(Domain::Isolines, spacing, Primitives::Lines, [3.5, 2.5, 0.0, 0.0], [0.0; 2]);
        let (lines, along) = (4, segments(spacing, 2.5));
        assert_eq!(t.points.len() as u32, lines * (along + 1));
        assert_eq!(t.indices.len() as u32, 2 * lines * along);
        assert_eq!(on_edge(&t.points, |p| (p.u == 0).then_some(p.v)), [0, ONE / 4, ONE / 2, 3 * ONE / 4]);
        assert_eq!(t.points[0], Point { u: 0, v: 0 });
        assert_eq!(t.points[along as usize], Point { u: ONE, v: 0 });
        assert!(t.indices.as_chunks::<2>().0.iter().all(|[a, b]| a + 1 == *b));
    }
}

#[test]
fn point_mode_lists_each_point_once() {
    for domain in [Domain::Isolines, Domain::Triangles, Domain::Quads] {
        let t = tessellate(domain, Spacing::Equal, Primitives::Points, [3.0, 4.0, 5.0, 2.0], [3.0, 4.0]);
        assert_eq!(t.indices, (0..t.points.len() as u32).collect::<Vec<_>>());
    }
}

/// (level, spacing, places of the first half as 16.16)
const PLACES: &[(f32, Spacing, &[u32])] = &[
    (1.0, Spacing::Equal, &[0]),
    (2.0, Spacing::Equal, &[0, 0x8000]),
    (3.0, Spacing::Equal, &[0, 0x5555]),
    (5.0, Spacing::Equal, &[0, 0x3333, 0x6666]),
    // Half way from two segments to four, and from one to three.
    (3.0, Spacing::FractionalEven, &[0, 0x4000 + 0x2000, 0x8000]),
    (2.0, Spacing::FractionalOdd, &[0, 0x2aab]),
    (4.0, Spacing::FractionalEven, &[0, 0x4000, 0x8000]),
    (7.0, Spacing::FractionalOdd, &[0, 0x2492, 0x4924, 0x6db6]),
];

#[test]
fn fractional_points_lie_between_those_of_the_whole_levels() {
    for (level, spacing, places) in PLACES {
        let t = tessellate(Domain::Isolines, *spacing, Primitives::Points, [1.0, *level, 0.0, 0.0], [0.0; 2]);
        let line: Vec<_> = t.points.iter().map(|p| p.u).collect();
        assert_eq!(line[..places.len()], **places, "{level} {spacing:?}");
    }
}

#[test]
fn impossible_combinations_are_known() {
    use Primitives::{Clockwise, CounterClockwise, Lines, Points};
    for (domain, possible) in [
        (Domain::Isolines, &[Points, Lines][..]),
        (Domain::Triangles, &[Points, Clockwise, CounterClockwise]),
        (Domain::Quads, &[Points, Clockwise, CounterClockwise]),
    ] {
        for primitives in [Points, Lines, Clockwise, CounterClockwise] {
            let tessellator = Tessellator { domain, spacing: Spacing::Equal, primitives };
            assert_eq!(tessellator.is_possible(), possible.contains(&primitives));
        }
    }
}

/// Levels of all kinds: whole, between, near whole ones, and out of range.
fn level() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => 0.5f32..65.0,
        3 => (1u32..=65).prop_map(|n| n as f32),
        2 => (1u32..=64, -3i32..=3).prop_map(|(n, ulps)| f32::from_bits((n as f32).to_bits().wrapping_add_signed(ulps))),
        1 => Just(f32::INFINITY),
        1 => Just(1.0),
    ]
}

fn surface() -> impl Strategy<Value = (Domain, Spacing, [f32; 4], [f32; 2])> {
    let domain = prop_oneof![Just(Domain::Triangles), Just(Domain::Quads)];
    (domain, prop::sample::select(&SPACINGS), prop::array::uniform4(level()), prop::array::uniform2(level()))
}

proptest! {
    #[test]
    fn every_surface_is_one_sheet((domain, spacing, outer, inner) in surface()) {
        let t = tessellate(domain, spacing, Primitives::Clockwise, outer, inner);
        prop_assert!(t.points.len() <= 65 * 65);
        assert_sheet(domain, &t, rim(domain, spacing, outer));
        if spacing == Spacing::Equal {
            assert_distinct(&t);
        }
    }

    #[test]
    fn an_edge_depends_on_its_own_level_and_mirrors((domain, spacing, outer, inner) in surface(), other in level()) {
        let edges = |outer, inner| {
            let t = tessellate(domain, spacing, Primitives::Points, outer, inner);
            edges(domain, &t.points[..rim(domain, spacing, outer)])
        };
        for (number, edge) in edges(outer, inner).into_iter().enumerate() {
            let mirrored: Vec<_> = edge.iter().rev().map(|place| ONE - place).collect();
            prop_assert_eq!(&edge, &mirrored);
            let mut changed = [other; 4];
            changed[number] = outer[number];
            prop_assert_eq!(&edge, &edges(changed, [other; 2])[number]);
        }
    }

    #[test]
    fn windings_are_each_others_mirror((domain, spacing, outer, inner) in surface()) {
        let cw = tessellate(domain, spacing, Primitives::Clockwise, outer, inner);
        let ccw = tessellate(domain, spacing, Primitives::CounterClockwise, outer, inner);
        prop_assert_eq!(&cw.points, &ccw.points);
        for ([a, b, c], mirrored) in triangles(&cw).iter().zip(triangles(&ccw)) {
            prop_assert_eq!(&[*a, *c, *b], mirrored);
        }
    }

    #[test]
    fn any_bits_are_levels(outer in prop::array::uniform4(any::<u32>()), inner in prop::array::uniform2(any::<u32>()),
                           spacing in prop::sample::select(&SPACINGS)) {
        for domain in [Domain::Isolines, Domain::Triangles, Domain::Quads] {
            let t = tessellate(domain, spacing, Primitives::Points, outer.map(f32::from_bits), inner.map(f32::from_bits));
            prop_assert!(t.points.iter().all(|p| p.u <= ONE && p.v <= ONE));
        }
    }
}
