//! The streamout state machine's rules.

use proptest::prelude::*;

use super::*;

const S0: Slot = Slot(0);

/// A unit whose stream 0 stores to one buffer a row of (size, stride, position).
fn unit(buffers: &[(u64, u64, u64)]) -> Streamout {
    let mut unit = Streamout::default();
    for (slot, (size, stride, position)) in Slot::ALL.into_iter().zip(buffers) {
        unit.bind(slot, 0, *size, *stride, true);
        unit.set_position(slot, *position);
    }
    unit.route(S0, (1 << buffers.len()) - 1);
    unit
}

/// (buffers, primitives, vertices each, primitives that fit)
type Row = (&'static [(u64, u64, u64)], u64, u32, u64);

const ROOM: &[Row] = &[
    (&[(96, 16, 0)], 2, 3, 2),
    (&[(96, 16, 0)], 3, 3, 2),
    // One byte short of the second triangle.
    (&[(95, 16, 0)], 2, 3, 1),
    // The tighter buffer decides.
    (&[(96, 16, 0), (47, 8, 0)], 2, 3, 1),
    (&[(96, 16, 90)], 1, 1, 0),
    // A position at or past the end.
    (&[(96, 16, 96)], 1, 1, 0),
    (&[(96, 16, 97)], 1, 1, 0),
    (&[(96, 16, u64::MAX)], 1, 1, 0),
    (&[(0, 16, 0)], 1, 1, 0),
    // A stride of 0 sets no limit.
    (&[(0, 0, 0)], 7, 3, 7),
    (&[(0, 0, 0), (96, 16, 0)], 7, 3, 2),
    // No buffer stores nothing.
    (&[], 7, 3, 0),
    // Nothing here wraps.
    (&[(u64::MAX, u64::MAX, 0)], 2, 3, 1),
    (&[(u64::MAX, 1, 0)], u64::MAX, 1, u64::MAX),
];

#[test]
fn whole_primitives_that_fit_every_buffer() {
    for (buffers, primitives, vertices, fit) in ROOM {
        let plan = unit(buffers).plan(S0, *primitives, *vertices);
        assert_eq!(plan.fit(), *fit, "{buffers:?} {primitives} x {vertices}");
        assert_eq!(plan.primitives(), *primitives);
    }
}

#[test]
fn a_commit_moves_the_buffers_and_counts() {
    let mut unit = unit(&[(96, 16, 16), (96, 4, 8)]);
    let plan = unit.plan(S0, 5, 3);
    assert_eq!((plan.start(S0), plan.start(Slot(1)), plan.fit()), (16, 8, 1));
    unit.commit(&plan, Counting::On);
    assert_eq!(unit.buffer(S0).position, 64);
    assert_eq!(unit.buffer(Slot(1)).position, 20);
    assert_eq!(unit.counters(S0), Counters { needed: 5, written: 1 });
}

#[test]
fn positions_move_while_the_counters_stand_still() {
    let mut unit = unit(&[(96, 16, 0)]);
    unit.commit(&unit.plan(S0, 2, 3), Counting::Off);
    assert_eq!(unit.buffer(S0).position, 96);
    assert_eq!(unit.counters(S0), Counters::default());
}

#[test]
fn a_stream_without_buffers_only_needs() {
    let mut unit = unit(&[]);
    unit.commit(&unit.plan(S0, 4, 1), Counting::On);
    assert_eq!(unit.counters(S0), Counters { needed: 4, written: 0 });
}

#[test]
fn streams_have_their_own_buffers_and_counters() {
    let mut unit = Streamout::default();
    for slot in [Slot(1), Slot(2)] {
        unit.bind(slot, 0, 100, 4, true);
    }
    unit.route(S0, 0b0010);
    unit.route(Slot(3), 0b0100);
    unit.commit(&unit.plan(Slot(3), 30, 1), Counting::On);
    assert_eq!(unit.buffer(Slot(1)).position, 0);
    assert_eq!(unit.buffer(Slot(2)).position, 100);
    assert_eq!(unit.counters(S0), Counters::default());
    assert_eq!(unit.counters(Slot(3)), Counters { needed: 30, written: 25 });
}

#[test]
fn a_disabled_buffer_neither_limits_nor_moves() {
    let mut unit = unit(&[(96, 16, 0), (0, 16, 0)]);
    unit.bind(Slot(1), 0, 0, 16, false);
    unit.commit(&unit.plan(S0, 2, 3), Counting::On);
    assert_eq!(unit.buffer(S0).position, 96);
    assert_eq!(unit.buffer(Slot(1)).position, 0);
}

#[test]
fn binding_keeps_the_position() {
    let mut unit = unit(&[(96, 16, 32)]);
    unit.bind(S0, 0x1000, 48, 8, true);
    assert_eq!(*unit.buffer(S0), Buffer { base: 0x1000, size: 48, stride: 8, position: 32, enabled: true });
}

prop_compose! {
    fn any_unit()(
        buffers in prop::collection::vec((edgy(), edgy(), edgy(), any::<bool>()), 4),
        mask in 0u8..16,
    ) -> Streamout {
        let mut unit = Streamout::default();
        for (slot, (size, stride, position, enabled)) in Slot::ALL.into_iter().zip(buffers) {
            unit.bind(slot, 0, size, stride, enabled);
            unit.set_position(slot, position);
        }
        unit.route(S0, mask);
        unit
    }
}

/// Small numbers mostly, and now and then one that would wrap.
fn edgy() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..200, 1 => any::<u64>(), 1 => (u64::MAX - 3)..=u64::MAX]
}

proptest! {
    #[test]
    fn a_plan_never_exceeds_the_room(unit in any_unit(), primitives in edgy(), vertices in 1u32..7) {
        let plan = unit.plan(S0, primitives, vertices);
        prop_assert!(plan.fit() <= primitives);
        for slot in Slot::ALL.into_iter().filter(|b| b.is_in(plan.buffers())) {
            let b = unit.buffer(slot);
            let end = u128::from(b.position) + u128::from(plan.fit()) * u128::from(vertices) * u128::from(b.stride);
            prop_assert!(plan.fit() == 0 || b.stride == 0 || end <= u128::from(b.size));
        }
    }

    #[test]
    fn one_more_primitive_would_not_fit(unit in any_unit(), primitives in edgy(), vertices in 1u32..7) {
        let plan = unit.plan(S0, primitives, vertices);
        prop_assume!(plan.fit() < primitives && plan.buffers() != 0);
        let tight = Slot::ALL.into_iter().filter(|b| b.is_in(plan.buffers())).any(|slot| {
            let b = unit.buffer(slot);
            let more = (u128::from(plan.fit()) + 1) * u128::from(vertices) * u128::from(b.stride);
            u128::from(b.position) + more > u128::from(b.size)
        });
        prop_assert!(tight);
    }

    #[test]
    fn room_is_monotonic(unit in any_unit(), primitives in edgy(), vertices in 1u32..7, grow in 0u64..64) {
        let before = unit.plan(S0, primitives, vertices).fit();
        let mut larger = unit.clone();
        for slot in Slot::ALL {
            let b = *unit.buffer(slot);
            larger.bind(slot, b.base, b.size.saturating_add(grow), b.stride, b.enabled);
        }
        prop_assert!(larger.plan(S0, primitives, vertices).fit() >= before);
        prop_assert!(unit.plan(S0, primitives.saturating_add(grow), vertices).fit() >= before);
    }

    #[test]
    fn two_draws_store_what_one_of_both_would(
        unit in any_unit(), first in 0u64..100, second in 0u64..100, vertices in 1u32..4
    ) {
        let whole = unit.plan(S0, first + second, vertices);
        let mut stepped = unit.clone();
        for primitives in [first, second] {
            stepped.commit(&stepped.plan(S0, primitives, vertices), Counting::On);
        }
        let mut at_once = unit.clone();
        at_once.commit(&whole, Counting::On);
        prop_assert_eq!(stepped, at_once);
    }

    #[test]
    fn streams_that_share_no_buffer_do_not_see_one_another(
        buffers in prop::collection::vec((0u64..200, 0u64..20), 4),
        draws in prop::collection::vec((0usize..4, 0u64..20, 1u32..4), 0..12),
    ) {
        // Each stream with its own buffer, all four in one unit, and each in a unit of its own.
        let mut all = Streamout::default();
        let mut alone: [Streamout; 4] = Default::default();
        for (slot, (size, stride)) in Slot::ALL.into_iter().zip(buffers) {
            for unit in [&mut all, &mut alone[slot.index()]] {
                unit.bind(slot, 0, size, stride, true);
                unit.route(slot, 1 << slot.index());
            }
        }
        for (stream, primitives, vertices) in draws {
            for unit in [&mut all, &mut alone[stream]] {
                unit.commit(&unit.plan(Slot::ALL[stream], primitives, vertices), Counting::On);
            }
        }
        for slot in Slot::ALL {
            prop_assert_eq!(all.buffer(slot), alone[slot.index()].buffer(slot));
            prop_assert_eq!(all.counters(slot), alone[slot.index()].counters(slot));
        }
    }

    #[test]
    fn streams_that_share_a_buffer_store_into_it_one_after_another(
        room in 0u64..100, stride in 1u64..9, draws in prop::collection::vec((0usize..4, 0u64..9), 0..12),
    ) {
        let mut unit = Streamout::default();
        unit.bind(S0, 0, room, stride, true);
        Slot::ALL.into_iter().for_each(|stream| unit.route(stream, 1));
        let mut stored = 0;
        for (stream, primitives) in draws {
            let plan = unit.plan(Slot::ALL[stream], primitives, 1);
            prop_assert_eq!((plan.start(S0), plan.fit()), (stored * stride, primitives.min(room / stride - stored)));
            stored += plan.fit();
            unit.commit(&plan, Counting::On);
        }
        let counted: u64 = Slot::ALL.into_iter().map(|stream| unit.counters(stream).written).sum();
        prop_assert_eq!((unit.buffer(S0).position, counted), (stored * stride, stored));
    }

    #[test]
    fn written_never_passes_needed(unit in any_unit(), draws in prop::collection::vec(edgy(), 0..6)) {
        let mut unit = unit;
        let mut last = Counters::default();
        for primitives in draws {
            unit.commit(&unit.plan(S0, primitives, 3), Counting::On);
            let now = unit.counters(S0);
            prop_assert!(now.written <= now.needed && now.needed >= last.needed && now.written >= last.written);
            last = now;
        }
    }
}
