//! Orders of every topology, as the transform-feedback tables of OpenGL and the provoking vertex give them.

use proptest::prelude::*;

use super::*;

/// One row a case: topology, provoking vertex, vertices drawn, primitives.
const ORDERS: &str = include_str!("../../tables/primitive-orders.tsv");

fn topology(name: &str) -> Topology {
    Topology::all().find(|t| t.name() == name).unwrap_or_else(|| panic!("no topology {name}"))
}

/// The primitives in the form "0 1 2, 1 3 2".
fn listed(topology: Topology, vertices: u32, provoking: Provoking) -> String {
    (0..topology.primitives(vertices))
        .map(|p| {
            let corners = topology.vertices(p, vertices, provoking).unwrap();
            corners[..topology.corners() as usize].iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
        })
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn orders_match_the_table() {
    let mut seen = std::collections::BTreeSet::new();
    for line in ORDERS.lines().filter(|l| !l.starts_with('#')) {
        let [name, provoking, vertices, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {line}");
        };
        let both: &[Provoking] = match provoking {
            "first" => &[Provoking::First],
            "last" => &[Provoking::Last],
            _ => &[Provoking::First, Provoking::Last],
        };
        for p in both {
            assert_eq!(listed(topology(name), vertices.parse().unwrap(), *p), expected, "{line} ({p:?})");
            seen.insert((topology(name), *p == Provoking::First));
        }
    }
    assert_eq!(seen.len(), table::ROWS.len() * 2, "every topology has a case for both provoking vertices");
}

#[test]
fn rows_stand_in_the_order_of_the_enum() {
    for (n, row) in table::ROWS.iter().enumerate() {
        assert_eq!(row.topology as usize, n, "{}", row.name);
        assert!(row.first > 0 && row.next > 0);
        assert_eq!(row.first_order.len(), row.last_order.len());
    }
}

#[test]
fn points_and_lists_are_stored_as_they_are_drawn() {
    let natural: Vec<_> = Topology::all().filter(|t| t.is_natural()).collect();
    assert_eq!(natural, [Topology::Points, Topology::Lines, Topology::Triangles, Topology::Rectangles]);
}

fn any_topology() -> impl Strategy<Value = Topology> {
    (0..table::ROWS.len()).prop_map(|n| table::ROWS[n].topology)
}

proptest! {
    #[test]
    fn corners_are_vertices_that_are_used(topology in any_topology(), vertices in 0u32..60, last in any::<bool>()) {
        let provoking = if last { Provoking::Last } else { Provoking::First };
        for p in 0..topology.primitives(vertices) {
            for v in topology.vertices(p, vertices, provoking).unwrap() {
                prop_assert!(v < topology.used(vertices));
            }
        }
        prop_assert_eq!(topology.vertices(topology.primitives(vertices), vertices, provoking), None);
    }

    #[test]
    fn the_provoking_vertex_only_turns_a_primitive(topology in any_topology(), vertices in 0u32..60, p in 0u64..60) {
        prop_assume!(!matches!(topology, Topology::Quads | Topology::QuadStrip));
        let sorted = |provoking| topology.vertices(p, vertices, provoking).map(|mut v| { v.sort(); v });
        prop_assert_eq!(sorted(Provoking::First), sorted(Provoking::Last));
    }

    #[test]
    fn no_run_is_too_long(topology in any_topology(), vertices in (u32::MAX - 9)..=u32::MAX, back in 1u64..9) {
        let primitives = topology.primitives(vertices);
        prop_assert!(topology.used(vertices) <= vertices);
        let corners = topology.vertices(primitives - back, vertices, Provoking::Last);
        prop_assert!(corners.is_some_and(|c| c.iter().all(|v| *v < topology.used(vertices))));
    }
}
