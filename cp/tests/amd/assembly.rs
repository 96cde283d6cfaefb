//! Draws of every form: what is run, in which order, and with which ids.

use guestwave_cp::amd::reg;
use guestwave_cp::{Grid, LaneRule};

use crate::draw::{LINES, POINTS, TRIANGLE_STRIP, TRIANGLES, draw, streaming};
use crate::support::{DATA, Machine, Wave, waves};

const LINE_STRIP: u32 = 3;
const TRIANGLE_FAN: u32 = 5;
const LINE_LOOP: u32 = 0x12;

/// Where indices are.
pub(crate) const INDICES: u64 = DATA + 0x4000;
/// VGT_INDEX_TYPE, and the bytes of an index.
pub(crate) const U16: (u32, u32) = (0, 2);
const U32: (u32, u32) = (1, 4);
const U8: (u32, u32) = (2, 1);

/// PROVOKING_VTX_LAST.
const LAST: u32 = 1 << 19;

/// Puts indices of a type into memory and chooses the type.
pub(crate) fn indices<'m>(m: &'m mut Machine, kind: (u32, u32), indices: &[u32]) -> &'m mut Machine {
    let bytes: Vec<u8> =
        indices.iter().flat_map(|i| i.to_le_bytes().into_iter().take(kind.1 as usize)).collect();
    m.memory.put_bytes(INDICES, &bytes);
    m.set(reg::VGT_INDEX_TYPE, kind.0)
}

/// DRAW_INDEX_2 of `count` of `limit` indices.
pub(crate) fn draw_indexed(m: &mut Machine, limit: u32, count: u32) -> &mut Machine {
    m.packet(0x27, &[limit, INDICES as u32, 0, count, 0])
}

/// GE_MULTI_PRIM_IB_RESET_EN with or without MATCH_ALL_BITS.
fn restart(m: &mut Machine, index: u32, all_bits: bool) -> &mut Machine {
    m.set(reg::GE_MULTI_PRIM_IB_RESET_EN, 1 | u32::from(all_bits) << 1)
        .set(reg::VGT_MULTI_PRIM_IB_RESET_INDX, index)
}

/// The stored dwords, up to the first that was never stored.
pub(crate) fn stored(m: &mut Machine) -> Vec<u32> {
    let words = m.run().memory.words(DATA, 64);
    words.into_iter().take_while(|word| *word != UNSET).collect()
}

pub(crate) const UNSET: u32 = 0xeeee_eeee;

/// A machine with room for 60 points that marks what is not stored.
pub(crate) fn marked(topology: u32) -> Machine {
    let m = streaming(topology, 60);
    m.memory.put(DATA, &[UNSET; 64]);
    m
}

/// Every VGPR of every lane.
fn lanes(m: &mut Machine) -> Vec<Vec<u32>> {
    m.run().ran().iter().flat_map(waves).flat_map(|wave: Wave| wave.lanes).collect()
}

#[test]
fn shared_vertices_run_once_for_each_primitive() {
    for (topology, mode, vertices, expected) in [
        (TRIANGLE_STRIP, 0, 5, &[0, 1, 2, 1, 3, 2, 2, 3, 4][..]),
        (TRIANGLE_STRIP, LAST, 5, &[0, 1, 2, 2, 1, 3, 2, 3, 4]),
        (TRIANGLE_FAN, 0, 4, &[1, 2, 0, 2, 3, 0]),
        (TRIANGLE_FAN, LAST, 4, &[0, 1, 2, 0, 2, 3]),
        (LINE_LOOP, 0, 3, &[0, 1, 1, 2, 2, 0]),
    ] {
        let mut m = marked(topology);
        draw(m.set(reg::PA_SU_SC_MODE_CNTL, mode), vertices);
        assert_eq!(stored(&mut m), expected, "topology {topology}, mode {mode:#x}");
    }
}

#[test]
fn assembled_waves_hold_whole_primitives() {
    let mut m = streaming(TRIANGLE_STRIP, 1000);
    draw(&mut m, 40).run();
    assert_eq!(m.ran()[0].grid, Grid::Linear { items: 38 * 3, per_wave: 30 });
}

#[test]
fn provoking_comes_from_clear_state_where_nothing_sets_it() {
    let mut m = marked(TRIANGLE_FAN);
    m.set(reg::PA_SU_SC_MODE_CNTL, LAST).packet(0x12, &[0]).run();
    crate::draw::set_up(&mut m, TRIANGLE_FAN, 60);
    draw(&mut m, 3);
    assert_eq!(stored(&mut m), [1, 2, 0]);
}

#[test]
fn indices_have_one_two_or_four_bytes() {
    for (kind, top) in [(U8, 0xff), (U16, 0xffff), (U32, u32::MAX)] {
        let mut m = marked(POINTS);
        draw_indexed(indices(&mut m, kind, &[7, top, 0, 9]), 4, 4);
        assert_eq!(stored(&mut m), [7, top, 0, 9]);
    }
}

#[test]
fn short_indices_need_no_more_than_their_own_alignment() {
    let mut m = marked(POINTS);
    indices(&mut m, U8, &[1, 2, 3]).packet(0x27, &[2, INDICES as u32 + 1, 0, 2, 0]);
    assert_eq!(stored(&mut m), [2, 3]);
}

#[test]
fn indices_past_the_buffer_are_zero_and_are_not_read() {
    let mut m = marked(POINTS);
    draw_indexed(indices(&mut m, U32, &[7, 8, 9, 10]), 2, 4);
    assert_eq!(stored(&mut m), [7, 8, 0, 0]);
    // Not even where nothing is mapped.
    let mut m = marked(POINTS);
    m.packet(0x27, &[0, 0x10, 0, 3, 0]);
    assert_eq!(stored(&mut m), [0, 0, 0]);
}

#[test]
fn an_offset_draw_counts_from_the_index_base_and_is_bound_from_there() {
    let mut m = marked(POINTS);
    indices(&mut m, U16, &[5, 6, 7, 8, 9]);
    m.packet(0x26, &[INDICES as u32, 0]).packet(0x35, &[4, 2, 3, 0]);
    assert_eq!(stored(&mut m), [7, 8, 0]);
}

#[test]
fn the_index_offset_is_added_after_the_restart_is_recognized() {
    let mut m = marked(POINTS);
    restart(m.set(reg::GE_INDX_OFFSET, 100), 7, true);
    draw_indexed(indices(&mut m, U32, &[6, 7, 107, u32::MAX]), 4, 4);
    assert_eq!(stored(&mut m), [106, 207, 99]);
}

/// (index type, restart index, all bits, whether 0xff, 0xffff, 0xffffffff restart)
type Match = ((u32, u32), u32, bool, [bool; 3]);

const MATCHES: &[Match] = &[
    (U8, 0xff, false, [true, true, true]),
    (U8, u32::MAX, false, [true, true, true]),
    // All bits: a short index is extended by zeros first.
    (U8, u32::MAX, true, [false, false, false]),
    (U16, u32::MAX, false, [false, true, true]),
    (U16, 0xffff, true, [false, true, true]),
    (U16, u32::MAX, true, [false, false, false]),
    (U32, u32::MAX, false, [false, false, true]),
    (U32, 0xffff, false, [false, true, false]),
    (U32, 0xff, true, [true, false, false]),
];

#[test]
fn a_restart_is_recognized_in_the_bits_of_an_index_or_in_all() {
    for (kind, index, all_bits, restarts) in MATCHES {
        for (value, cuts) in [0xff, 0xffff, u32::MAX].into_iter().zip(restarts) {
            let mut m = marked(LINES);
            draw_indexed(indices(restart(&mut m, *index, *all_bits), *kind, &[1, value, 2, 3]), 4, 4);
            let mask = u32::MAX >> (32 - 8 * kind.1);
            let whole = vec![1, value & mask, 2, 3];
            let expected = if *cuts { vec![2, 3] } else { whole };
            assert_eq!(stored(&mut m), expected, "{kind:?} {index:#x} {all_bits} {value:#x}");
        }
    }
}

#[test]
fn restart_off_leaves_every_index_a_vertex() {
    let mut m = marked(POINTS);
    m.set(reg::VGT_MULTI_PRIM_IB_RESET_INDX, 7);
    draw_indexed(indices(&mut m, U32, &[6, 7]), 2, 2);
    assert_eq!(stored(&mut m), [6, 7]);
}

#[test]
fn a_draw_without_indices_never_restarts() {
    let mut m = marked(POINTS);
    draw(restart(&mut m, 1, true), 3);
    assert_eq!(stored(&mut m), [0, 1, 2]);
}

#[test]
fn rule_3_partial_primitives_vanish_at_restarts_and_positions_append() {
    const R: u32 = 0xffff;
    let mut m = marked(TRIANGLE_STRIP);
    let list = [0, 1, R, 9, R, R, 2000, 3000, 4000];
    indices(restart(&mut m, R, false), U16, &list);
    for topology in [TRIANGLE_STRIP, TRIANGLES, TRIANGLE_STRIP] {
        draw_indexed(m.set(reg::VGT_PRIMITIVE_TYPE, topology), 9, 9);
    }
    assert_eq!(stored(&mut m), [2000, 3000, 4000].repeat(3));
}

#[test]
fn parity_starts_again_after_a_restart() {
    let mut m = marked(TRIANGLE_STRIP);
    draw_indexed(indices(restart(&mut m, 99, false), U8, &[0, 1, 2, 3, 99, 4, 5, 6, 7]), 9, 9);
    assert_eq!(stored(&mut m), [0, 1, 2, 1, 3, 2, 4, 5, 6, 5, 7, 6]);
}

#[test]
fn a_restart_closes_a_loop_and_gives_a_fan_a_new_hub() {
    for (topology, expected) in [
        (LINE_LOOP, &[0, 1, 1, 2, 2, 0, 4, 5, 5, 4][..]),
        (TRIANGLE_FAN, &[1, 2, 0]),
        (LINE_STRIP, &[0, 1, 1, 2, 4, 5]),
    ] {
        let mut m = marked(topology);
        draw_indexed(indices(restart(&mut m, 99, false), U8, &[0, 1, 2, 99, 4, 5]), 6, 6);
        assert_eq!(stored(&mut m), expected, "topology {topology}");
    }
}

#[test]
fn instances_repeat_the_draw_and_append_its_outputs() {
    let mut m = marked(TRIANGLE_STRIP);
    draw(m.packet(0x2f, &[3]), 4);
    assert_eq!(stored(&mut m), [0, 1, 2, 1, 3, 2].repeat(3));
    assert_eq!(m.ran().len(), 1, "one dispatch for all instances");
}

#[test]
fn the_instance_id_counts_from_zero_in_v3() {
    for listed in [false, true] {
        let mut m = streaming(POINTS, 100);
        m.packet(0x2f, &[3]);
        match listed {
            true => draw_indexed(indices(&mut m, U16, &[8, 9]), 2, 2),
            false => draw(m.set(reg::GE_INDX_OFFSET, 8), 2),
        };
        let ids: Vec<_> = lanes(&mut m).iter().map(|v| (v[0], v[3])).collect();
        assert_eq!(ids, [(8, 0), (9, 0), (8, 1), (9, 1), (8, 2), (9, 2)]);
    }
}

#[test]
fn a_run_of_instances_stops_at_the_buffers_end() {
    let mut m = streaming(LINES, 5);
    m.memory.put(DATA, &[UNSET; 64]);
    draw(m.packet(0x2f, &[4]), 3);
    assert_eq!(stored(&mut m), [0, 1, 0, 1]);
}

#[test]
fn primitive_ids_count_primitives_of_every_topology() {
    let mut m = streaming(TRIANGLE_STRIP, 100);
    m.set(reg::VGT_PRIMITIVEID_EN, 1).set(reg::VGT_PRIMITIVEID_RESET, 40);
    draw_indexed(indices(restart(&mut m, 99, false), U8, &[0, 1, 2, 99, 3, 4, 5, 6]), 8, 8);
    let ids: Vec<_> = lanes(&mut m).iter().map(|v| v[2]).collect();
    assert_eq!(ids, [40, 40, 40, 41, 41, 41, 42, 42, 42]);
}

#[test]
fn primitive_ids_start_again_in_each_instance_unless_they_are_told_not_to() {
    for (enable, second) in [(1, [40, 40, 41, 41]), (3, [42, 42, 43, 43])] {
        let mut m = streaming(LINES, 100);
        m.set(reg::VGT_PRIMITIVEID_EN, enable).set(reg::VGT_PRIMITIVEID_RESET, 40).packet(0x2f, &[2]);
        draw(&mut m, 5);
        let ids: Vec<_> = lanes(&mut m).iter().map(|v| v[2]).collect();
        assert_eq!(ids, [[40, 40, 41, 41], second].concat());
    }
}

#[test]
fn vertices_with_primitive_ids_run_once_for_each_primitive_without_streamout_too() {
    let mut m = streaming(LINE_STRIP, 100);
    m.set(reg::VGT_STRMOUT_CONFIG, 0).set(reg::VGT_PRIMITIVEID_EN, 1);
    draw(&mut m, 3);
    let ids: Vec<_> = lanes(&mut m).iter().map(|v| (v[0], v[2])).collect();
    assert_eq!(ids, [(0, 0), (1, 0), (1, 1), (2, 1)]);
}

#[test]
fn without_streamout_each_index_of_a_whole_primitive_runs_once_as_drawn() {
    let mut m = streaming(TRIANGLE_STRIP, 100);
    m.set(reg::VGT_STRMOUT_CONFIG, 0);
    draw_indexed(indices(restart(&mut m, 99, false), U8, &[5, 4, 99, 7, 8, 9, 7]), 7, 7);
    let ids: Vec<_> = lanes(&mut m).iter().map(|v| v[0]).collect();
    assert_eq!(ids, [7, 8, 9, 7]);
}

#[test]
fn a_plain_draw_needs_no_list() {
    let mut m = streaming(TRIANGLES, 100);
    draw(&mut m, 9).run();
    assert_eq!(m.ran()[0].vgprs[0], LaneRule::Item { base: 0 });
}

#[test]
fn the_ids_of_indices_are_held_against_the_bounds() {
    let mut m = streaming(POINTS, 100);
    m.set(reg::GE_MIN_VTX_INDX, 2).set(reg::GE_MAX_VTX_INDX, 5);
    draw_indexed(indices(&mut m, U16, &[5, 2, 4]), 3, 3).run();
    let report = draw_indexed(indices(&mut m, U16, &[5, 2, 6]), 3, 3).submit();
    assert_eq!(report.stopped().map(|r| r.refusal.code()), Some("CP-DRAW-011"));
}

#[test]
fn indices_are_read_after_what_earlier_programs_stored() {
    let mut m = marked(POINTS);
    // The first draw stores 0, 1, 2, which the second takes as its indices, the last first.
    draw(&mut m, 3);
    m.set(reg::VGT_INDEX_TYPE, U32.0).packet(0x27, &[2, DATA as u32 + 4, 0, 2, 0]);
    assert_eq!(stored(&mut m), [0, 1, 2, 1, 2]);
}

#[test]
fn an_earlier_fault_that_reading_indices_brings_to_light_ends_the_stream() {
    let mut m = streaming(POINTS, 100);
    m.executor.fault = Some(0);
    draw(&mut m, 1);
    m.set(reg::VGT_STRMOUT_CONFIG, 0).set(reg::PA_CL_CLIP_CNTL, 0);
    let report = draw_indexed(indices(&mut m, U16, &[0]), 1, 1).submit();
    assert_eq!(report.stopped().map(|r| r.refusal.code()), Some("TEST"));
    assert_eq!(report.refusals.len(), 1);
}
