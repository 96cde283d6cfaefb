//! What becomes of what geometry programs emit: streams, room, counters, and what faults leave.

use guestwave_cp::amd::reg;
use guestwave_cp::{Outputs, Stage};
use proptest::prelude::*;

use crate::draw::{SO_EN, TRIANGLE_STRIP, TRIANGLES, draw, so_base};
use crate::geometry_programs::*;
use crate::support::{DATA, waves};

#[test]
fn a_copy_wave_is_of_one_stream_which_its_config_names() {
    let mut m = machine(mixed, [1000; 4]);
    draw(&mut m, 20).run();
    let ran = m.ran();
    let copies: Vec<_> = ran.iter().filter(|d| d.stage == Stage::Vertex).collect();
    let streams: Vec<_> = copies.iter().map(|d| waves(d)[0].sgprs[0] >> 24).collect();
    assert_eq!(streams, [0, 1, 2, 3]);
    assert!(copies.iter().all(|d| d.outputs == Outputs::Dropped && d.vgprs.len() == 1));
}

#[test]
fn rule_1_a_copy_program_is_given_the_positions_of_enabled_buffers_alone() {
    let mut m = machine(|_, _| vec![(1, 1)], [1000; 4]);
    for b in 0..4 {
        m.packet(0x34, &[b << 8, 0, 0, 0x10 * (b + 1), 0]);
    }
    m.set(reg::SPI_SHADER_PGM_RSRC2_VS, SO_EN | so_base(1) | so_base(2) | so_base(3));
    // The test's copy program would take the wrong one.
    m.executor.programs = Some(Box::new(|dispatch, memory| match dispatch.stage {
        Stage::EsGs => play(dispatch, memory, |_, _| vec![(1, 1)]),
        _ => Vec::new(),
    }));
    draw(&mut m, 3).run();
    let ran = m.ran();
    let copy = waves(ran.iter().find(|d| waves(d)[0].sgprs[0] >> 24 == 1).unwrap());
    assert_eq!(copy[0].sgprs, [1 << 24 | 3 << 16, 0, 0x20, 0x30, 0x40]);
}

/// The indices of the report, drawn as strip, list and strip.
#[test]
fn rule_3_partial_primitives_vanish_before_a_geometry_program_and_positions_append() {
    const RESTART: u32 = 0xffff;
    const INDICES: [u32; 9] = [0, 1, RESTART, 9, RESTART, RESTART, 2000, 3000, 4000];
    let mut m = machine(one_each, [1000; 4]);
    m.memory.put(DATA + 0x6_0000, &INDICES);
    m.set(reg::VGT_INDEX_TYPE, 1)
        .set(reg::GE_MULTI_PRIM_IB_RESET_EN, 1)
        .set(reg::VGT_MULTI_PRIM_IB_RESET_INDX, RESTART);
    for topology in [TRIANGLE_STRIP, TRIANGLES, TRIANGLE_STRIP] {
        m.set(reg::VGT_PRIMITIVE_TYPE, topology).packet(0x27, &[9, (DATA + 0x6_0000) as u32, 0, 9, 0]).run();
        let wave = waves(&m.ran()[0]).remove(0);
        assert_eq!(wave.sgprs[3] & 0xffff, 1 << 8 | 3);
        assert_eq!(wave.lanes[..3].iter().map(|v| v[5]).collect::<Vec<_>>(), [2000, 3000, 4000]);
    }
    assert_eq!((counters(&mut m)[0], positions(&mut m)[0]), ((3, 3), 3));
}

#[test]
fn rule_5_what_is_drawn_after_a_pause_appends_to_what_was_before_it() {
    let mut m = machine(one_each, [1000; 4]);
    draw(&mut m, 3).packet(0x34, &[7, SAMPLE as u32, 0, 0, 0]);
    // Paused: another draw, and another user of the unit.
    draw(m.set(reg::VGT_STRMOUT_BUFFER_CONFIG, 0), 5).packet(0x34, &[0, 0, 0, 77, 0]);
    m.packet(0x34, &[4, 0, 0, SAMPLE as u32, 0]);
    draw(m.set(reg::VGT_STRMOUT_BUFFER_CONFIG, 1), 2).run();
    let expected: Vec<_> = [0, 1, 2, 0, 1].map(|p| tag(p, 0, 0, 0)).to_vec();
    assert_eq!((m.memory.words(buffer(0), 5), positions(&mut m)[0]), (expected, 5));
    assert_eq!(counters(&mut m)[0], (10, 5));
}

#[test]
fn rule_8_a_buffer_one_byte_short_of_a_primitive_has_nothing_of_it() {
    let mut m = machine(|_, _| vec![(0, 3)], [0; 4]);
    // A stride of three dwords, and room for two triangles but for one dword.
    m.set(reg::VGT_GS_OUT_PRIM_TYPE, OUT_TRIANGLES)
        .set(reg::VGT_STRMOUT_VTX_STRIDE.at(0), 3)
        .set(reg::VGT_STRMOUT_BUFFER_SIZE.at(0), 17);
    draw(&mut m, 2).run();
    assert_eq!((counters(&mut m)[0], positions(&mut m)[0]), ((2, 1), 9));
    let copy = m.ran().into_iter().find(|d| d.stage == Stage::Vertex).unwrap();
    assert_eq!(waves(&copy)[0].sgprs[0], 3 << 16, "the others run and are not stored");
}

#[test]
fn rule_9_a_base_index_moves_the_vertex_id_and_not_the_output() {
    let mut m = machine(one_each, [1000; 4]);
    draw(m.set(reg::GE_INDX_OFFSET, 5), 2).run();
    let wave = waves(&m.ran()[0]).remove(0);
    assert_eq!([wave.lanes[0][5], wave.lanes[1][5]], [5, 6]);
    assert_eq!(m.memory.words(buffer(0), 2), [tag(0, 0, 0, 0), tag(1, 0, 0, 0)]);
}

#[test]
fn streams_without_a_buffer_are_counted_and_not_copied() {
    let mut m = machine(mixed, [1000; 4]);
    m.set(reg::VGT_STRMOUT_BUFFER_CONFIG, 0x20);
    draw(&mut m, 4).run();
    assert_eq!(m.ran().len(), 2);
    let counted = counters(&mut m);
    assert_eq!(counted[0], (4, 0));
    assert!(counted[1].0 > 0 && counted[1].0 == counted[1].1);
}

#[test]
fn without_streams_the_program_runs_for_its_other_stores() {
    let mut m = machine(mixed, [1000; 4]);
    draw(m.set(reg::VGT_STRMOUT_CONFIG, 0), 4).run();
    let ran = m.ran();
    assert_eq!((ran.len(), ran[0].outputs), (1, Outputs::Dropped));
    assert_eq!((counters(&mut m), positions(&mut m)), ([(0, 0); 4], [0; 4]));
}

#[test]
fn a_fault_leaves_the_unit_as_it_was_before_the_draw() {
    for fault in 0..5 {
        let mut m = machine(mixed, [1000; 4]);
        m.run();
        m.executor.fault = Some(fault);
        let report = draw(&mut m, 4).submit();
        assert_eq!(report.refusals[0].refusal.code(), "TEST", "dispatch {fault}");
        assert_eq!((counters(&mut m), positions(&mut m)), ([(0, 0); 4], [0; 4]));
    }
}

#[test]
fn an_executor_that_records_nothing_is_found_out() {
    let mut m = machine(one_each, [1000; 4]);
    m.executor.programs = Some(Box::new(|_, _| Vec::new()));
    let report = draw(&mut m, 1).submit();
    assert_eq!(report.refusals[0].refusal.code(), "CP-DRAW-027");
}

#[test]
fn the_output_primitive_of_a_further_stream_counts_only_if_each_has_its_own() {
    for (own, expected) in [(0, [4, 5, 6, 1]), (1 << 31, [4, 4, 6, 0])] {
        let mut m = machine(|_, _| vec![(0, 4), (1, 5), (2, 6), (3, 1)], [1000; 4]);
        draw(m.set(reg::VGT_GS_OUT_PRIM_TYPE, own | OUT_TRIANGLES << 22 | OUT_LINES << 8), 1).run();
        assert_eq!(counters(&mut m).map(|c| c.0), expected);
    }
}

proptest! {
    /// Four streams of different topologies, each with room from nothing to more than enough, in two draws.
    #[test]
    fn streams_clamp_and_count_each_by_its_own_buffers(
        room in prop::array::uniform4(0u32..140),
        outs in prop::array::uniform4(0u32..3),
        draws in prop::array::uniform2(0u32..12),
        invocations in 1u32..4,
        slots in 1u32..3,
    ) {
        let mut m = machine(mixed, room);
        let types = [0, 8, 16, 22].iter().zip(outs).map(|(shift, out)| out << shift).sum::<u32>();
        m.set(reg::VGT_GS_OUT_PRIM_TYPE, 1 << 31 | types)
            .set(reg::VGT_GS_INSTANCE_CNT, invocations << 2 | 1)
            .set(reg::VGT_GS_ONCHIP_CNTL, 64 << 22 | 3 << 11 | 64)
            .set(reg::VGT_GSVS_RING_SIZE, slots * 64 * 4 * ITEM / 256)
            .set(reg::PA_SU_SC_MODE_CNTL, 1 << 19);
        let mut stored = [const { Vec::new() }; 4];
        let mut counted = [(0, 0); 4];
        for vertices in draws {
            draw(&mut m, vertices).run();
            for s in 0..4 {
                let threads = (0..vertices).flat_map(|p| (0..invocations).map(move |i| (p, i)));
                let mut open = true;
                for (p, i) in threads {
                    for primitive in assembled(&mixed(p, i), s, outs[s]) {
                        counted[s].0 += 1;
                        open &= stored[s].len() + primitive.len() <= room[s] as usize;
                        if open {
                            counted[s].1 += 1;
                            stored[s].extend(primitive.iter().map(|n| tag(p, i, s, *n)));
                        }
                    }
                }
            }
        }
        prop_assert_eq!(counters(&mut m), counted);
        prop_assert_eq!(positions(&mut m), stored.each_ref().map(|words| words.len() as u32));
        for (s, words) in stored.iter().enumerate() {
            let mut expected = words.clone();
            expected.resize(words.len() + 8, 0);
            prop_assert_eq!(&m.memory.words(buffer(s), words.len() + 8), &expected, "stream {}", s);
        }
    }

    /// Two buffers of one stream stop together, and the other streams go on.
    #[test]
    fn the_buffers_of_one_stream_stop_together(room in prop::array::uniform4(0u32..40), vertices in 0u32..40) {
        let mut m = machine(|_, _| vec![(0, 1), (2, 1)], room);
        draw(m.set(reg::VGT_STRMOUT_BUFFER_CONFIG, 0x0c03), vertices).run();
        let fit = |a: usize, b: usize| vertices.min(room[a]).min(room[b]);
        let (first, third) = (fit(0, 1), fit(2, 3));
        prop_assert_eq!(positions(&mut m), [first, first, third, third]);
        prop_assert_eq!(counters(&mut m), [(vertices, first), (0, 0), (vertices, third), (0, 0)]);
    }
}
