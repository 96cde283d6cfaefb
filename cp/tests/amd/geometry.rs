//! How the primitives of a draw reach its geometry program.

use guestwave_cp::amd::{Config, Ring, reg};
use guestwave_cp::{ExactDispatch, Grid, Isa, Outputs, Stage};

use crate::draw::{LINES, POINTS, TRIANGLE_STRIP, TRIANGLES, draw};
use crate::geometry_programs::*;
use crate::support::{Machine, waves};

/// VGT_PRIMITIVE_TYPE.
const TRIANGLE_STRIP_ADJACENCY: u32 = 0xd;

/// (subgroup's waves, (ES, GS) threads of each wave)
fn shape(dispatch: &ExactDispatch) -> (Vec<u32>, Vec<(u32, u32)>) {
    let Grid::Subgroups { waves: groups } = &dispatch.grid else { panic!("{:?}", dispatch.grid) };
    let threads = waves(dispatch).iter().map(|w| (w.sgprs[3] & 0xff, w.sgprs[3] >> 8 & 0xff)).collect();
    (groups.to_vec(), threads)
}

#[test]
fn the_program_is_the_export_half_with_the_modes_of_the_geometry_half() {
    let mut m = machine(one_each, [100; 4]);
    m.set(reg::SPI_SHADER_PGM_LO_ES, 0x1234_5678)
        .set(reg::SPI_SHADER_PGM_HI_ES, 0x9a)
        .set(reg::SPI_SHADER_PGM_LO_GS, 0x5555_5555)
        .set(reg::SPI_SHADER_PGM_RSRC1_GS, 0xc0 << 12 | 1 << 21 | 1 << 23);
    draw(&mut m, 1).run();
    let d = m.ran().remove(0);
    assert_eq!((d.stage, d.outputs, d.lds_bytes), (Stage::EsGs, Outputs::Recorded, 64 * 512));
    assert_eq!((d.program.address, d.program.wave_lanes), (0x9a12_3456_7800, 64));
    assert!(d.program.float_mode == 0xc0 && d.program.dx10_clamp && d.program.ieee);
}

#[test]
fn both_generations_run_it() {
    for isa in [Isa::Gfx1010, Isa::Gfx1013, Isa::Gfx1030] {
        let mut m = Machine::with(Config::new(isa), Ring::Gfx);
        set_up(&mut m, [100; 4]);
        m.executor.programs = Some(Box::new(|dispatch, memory| play(dispatch, memory, one_each)));
        draw(&mut m, 3).run();
        assert!(m.ran().iter().all(|d| d.program.isa == isa));
        assert_eq!(counters(&mut m)[0], (3, 3));
    }
}

#[test]
fn system_registers_come_before_user_data_at_fixed_places() {
    let mut m = machine(one_each, [100; 4]);
    m.set(reg::SPI_SHADER_USER_DATA_ADDR_LO_GS, 0xaa)
        .set(reg::SPI_SHADER_USER_DATA_ADDR_HI_GS, 0xbb)
        .set(reg::SPI_SHADER_USER_DATA_GS.at(0), 0x100)
        .set(reg::SPI_SHADER_USER_DATA_GS.at(1), 0x101)
        .set(reg::SPI_SHADER_PGM_RSRC2_GS, 64 << 19 | 2 << 1 | 1)
        .set(reg::SPI_TMPRING_SIZE, 4 << 12 | 8);
    draw(&mut m, 65).run();
    let waves = waves(&m.ran()[0]);
    let [first, second] = &waves[..] else { panic!("two subgroups of a wave each: {waves:?}") };
    assert_eq!(first.sgprs, [0xaa, 0xbb, 0, 1 << 28 | 64 << 8 | 64, 0, 0, 0, 0, 0x100, 0x101]);
    let slot = 64 * 4 * ITEM;
    assert_eq!(second.sgprs, [0xaa, 0xbb, slot, 1 << 28 | 1 << 8 | 1, 0, 4096, 0, 0, 0x100, 0x101]);
}

#[test]
fn vertices_lie_in_lds_at_their_number_times_the_item_size() {
    let mut m = machine(one_each, [100; 4]);
    m.set(reg::VGT_PRIMITIVE_TYPE, TRIANGLE_STRIP).set(reg::VGT_GS_ONCHIP_CNTL, 64 << 22 | 64 << 11 | 200);
    draw(m.packet(0x2f, &[2]), 5).run();
    let wave = waves(&m.ran()[0]).remove(0);
    assert_eq!(wave.sgprs[3] & 0xffff, 6 << 8 | 10, "a vertex runs once in a subgroup and instance");
    let threads: Vec<_> = wave.lanes[..6].iter().map(|v| v[..5].to_vec()).collect();
    let thread = |a: u32, b: u32, c: u32, id: u32| vec![(5 * a) | (5 * b) << 16, 5 * c, id, 0, 0];
    assert_eq!(threads[..3], [thread(0, 1, 2, 0), thread(1, 3, 2, 1), thread(2, 3, 4, 2)]);
    // The ids of primitives start again in the next instance.
    assert_eq!(threads[3], thread(5, 6, 7, 0));
    let vertices: Vec<_> = wave.lanes[..10].iter().map(|v| (v[5], v[8])).collect();
    assert_eq!(vertices[..5], [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]);
    assert!(vertices[5..].iter().all(|v| v.1 == 1));
}

#[test]
fn adjacency_fills_all_six_places() {
    let mut m = machine(one_each, [100; 4]);
    m.set(reg::VGT_PRIMITIVE_TYPE, TRIANGLE_STRIP_ADJACENCY);
    draw(&mut m, 6).run();
    let wave = waves(&m.ran()[0]).remove(0);
    let ids: Vec<_> = wave.lanes[..6].iter().map(|v| v[5]).collect();
    assert_eq!(ids, [0, 1, 2, 5, 4, 3], "in the order in which the primitive has them");
    assert_eq!(wave.lanes[0][..5], [5 << 16, 15 << 16 | 10, 0, 0, 25 << 16 | 20]);
}

#[test]
fn each_primitive_has_as_many_threads_as_instances_invocation_fastest() {
    let mut m = machine(|_, _| vec![(0, 2)], [100; 4]);
    m.set(reg::VGT_GS_INSTANCE_CNT, 3 << 2 | 1);
    draw(&mut m, 2).run();
    let wave = waves(&m.ran()[0]).remove(0);
    let threads: Vec<_> = wave.lanes[..6].iter().map(|v| (v[2], v[3])).collect();
    assert_eq!(threads, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    let expected: Vec<_> = threads.iter().flat_map(|(p, i)| [0, 1].map(|n| tag(*p, *i, 0, n))).collect();
    assert_eq!(m.memory.words(buffer(0), 12), expected);
    // Without ENABLE the count says nothing.
    m.set(reg::VGT_GS_INSTANCE_CNT, 3 << 2);
    draw(&mut m, 2).run();
    assert_eq!(waves(&m.ran()[0])[0].sgprs[3] >> 8 & 0xff, 2);
}

#[test]
fn primitive_ids_count_from_the_reset_value_in_every_instance() {
    let mut m = machine(one_each, [100; 4]);
    m.set(reg::VGT_PRIMITIVEID_RESET, 7).packet(0x2f, &[2]);
    draw(&mut m, 2).run();
    let wave = waves(&m.ran()[0]).remove(0);
    assert_eq!(wave.lanes[..4].iter().map(|v| v[2]).collect::<Vec<_>>(), [7, 8, 7, 8]);
}

/// (topology, vertices, instances of a primitive, ES_VERTS, GS_PRIMS, GS_INST_PRIMS, subgroups by their primitives)
type Grouping = (u32, u32, u32, u32, u32, u32, &'static [u32]);

const GROUPINGS: &[Grouping] = &[
    (POINTS, 10, 1, 64, 4, 64, &[4, 4, 2]),
    (POINTS, 10, 1, 3, 64, 64, &[3, 3, 3, 1]),
    (POINTS, 10, 4, 64, 64, 9, &[2, 2, 2, 2, 2]),
    (LINES, 10, 1, 4, 64, 64, &[2, 2, 1]),
    // A primitive goes in however small the limits are.
    (TRIANGLES, 9, 1, 0, 0, 0, &[1, 1, 1]),
    (POINTS, 300, 1, 2047, 2047, 1023, &[256, 44]),
    (POINTS, 3, 127, 2047, 2047, 1023, &[2, 1]),
];

#[test]
fn subgroups_keep_to_the_limits_of_the_registers() {
    for (topology, vertices, instances, es, prims, inst, expected) in GROUPINGS {
        let mut m = machine(one_each, [1000; 4]);
        m.set(reg::VGT_PRIMITIVE_TYPE, *topology)
            .set(reg::VGT_GS_INSTANCE_CNT, instances << 2 | 1)
            .set(reg::VGT_GSVS_RING_SIZE, 16 * 64 * 4 * ITEM / 256)
            .set(reg::VGT_GS_ONCHIP_CNTL, inst << 22 | prims << 11 | es);
        draw(&mut m, *vertices).run();
        let (groups, threads) = shape(&m.ran()[0]);
        let mut waves = threads.iter();
        let primitives: Vec<u32> = groups
            .iter()
            .map(|n| waves.by_ref().take(*n as usize).map(|(_, gs)| gs).sum::<u32>() / instances)
            .collect();
        assert_eq!(primitives, *expected, "{topology} {vertices} x {instances}: {es} {prims} {inst}");
    }
}

#[test]
fn a_subgroup_may_have_waves_with_threads_of_one_half_only() {
    let mut m = machine(one_each, [1000; 4]);
    m.set(reg::VGT_PRIMITIVE_TYPE, TRIANGLES).set(reg::VGT_GS_ONCHIP_CNTL, 64 << 22 | 64 << 11 | 200);
    draw(&mut m, 90).run();
    assert_eq!(shape(&m.ran()[0]), (vec![2], vec![(64, 30), (26, 0)]));
    let mut m = machine(one_each, [1000; 4]);
    m.set(reg::VGT_GS_INSTANCE_CNT, 100 << 2 | 1).set(reg::VGT_GS_ONCHIP_CNTL, 127 << 22 | 1 << 11 | 64);
    draw(&mut m, 1).run();
    let ran = m.ran();
    assert_eq!(shape(&ran[0]), (vec![2], vec![(1, 64), (0, 36)]));
    let info: Vec<_> = waves(&ran[0]).iter().map(|w| w.sgprs[3] >> 24).collect();
    assert_eq!(info, [2 << 4, 2 << 4 | 1], "waves of the subgroup, and which one it is");
}

#[test]
fn lds_bounds_the_vertices_of_a_subgroup() {
    let mut m = machine(one_each, [1000; 4]);
    // One unit of 512 bytes holds 25 vertices of five dwords.
    m.set(reg::SPI_SHADER_PGM_RSRC2_GS, 1 << 19);
    draw(&mut m, 30).run();
    assert_eq!(shape(&m.ran()[0]).1, [(25, 25), (5, 5)]);
}

#[test]
fn a_draw_of_more_waves_than_the_ring_has_slots_runs_in_parts() {
    for slots in [1, 2, 3] {
        let mut m = machine(one_each, [1000; 4]);
        m.set(reg::VGT_GSVS_RING_SIZE, slots * 64 * 4 * ITEM / 256);
        draw(&mut m, 64 * 5 + 1).run();
        let ran = m.ran();
        let parts: Vec<_> = ran.iter().filter(|d| d.stage == Stage::EsGs).map(|d| shape(d).0.len()).collect();
        assert_eq!(parts.iter().sum::<usize>(), 6);
        assert!(parts.iter().all(|waves| *waves <= slots as usize), "{parts:?}");
        let expected: Vec<_> = (0..321).map(|p| tag(p, 0, 0, 0)).collect();
        assert_eq!(m.memory.words(buffer(0), 321), expected);
        assert_eq!(positions(&mut m), [321, 0, 0, 0]);
    }
}

#[test]
fn threads_of_one_primitive_that_do_not_fit_the_ring_are_refused() {
    let mut m = machine(one_each, [1000; 4]);
    m.set(reg::VGT_GSVS_RING_SIZE, 64 * 4 * ITEM / 256).set(reg::VGT_GS_INSTANCE_CNT, 65 << 2 | 1);
    let report = draw(&mut m, 1).submit();
    assert_eq!(report.refusals[0].refusal.code(), "CP-DRAW-024");
    assert_eq!(m.ran(), []);
}
