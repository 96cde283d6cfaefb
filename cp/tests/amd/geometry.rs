//! Geometry draws: how primitives reach the program, and what becomes of what it emits.

use guestwave_cp::amd::{Config, Ring, reg};
use guestwave_cp::{ExactDispatch, Grid, GuestMemory, Isa, Message, Outputs, Stage, WaveRecord, read_u32};
use proptest::prelude::*;

use crate::draw::{KILL, LINES, POINTS, SO_EN, TRIANGLE_STRIP, TRIANGLES, draw, so_base};
use crate::support::{DATA, Machine, Wave, waves};

/// VGT_PRIMITIVE_TYPE.
const TRIANGLE_STRIP_ADJACENCY: u32 = 0xd;
/// ES, GS, and a copy program.
pub(crate) const STAGES: u32 = 2 << 3 | 1 << 5 | 2 << 6;
/// VGT_GS_OUT_PRIM_TYPE.
const OUT_POINTS: u32 = 0;
const OUT_LINES: u32 = 1;
const OUT_TRIANGLES: u32 = 2;

const RING: u64 = DATA + 0x8_0000;
const SAMPLE: u64 = DATA + 0x7_0000;
/// Vertices of a thread in each stream, and dwords of a vertex.
const MOST_VERTICES: u32 = 8;
const VERTEX: u32 = 1;
const ITEM: u32 = 4 * MOST_VERTICES * VERTEX;

/// Where stream `s` stores.
fn buffer(s: usize) -> u64 {
    DATA + 0x4000 * s as u64
}

/// What a thread does: (stream, vertices of a strip), one after another. Every strip is cut but the last.
type Emits = fn(primitive: u32, invocation: u32) -> Vec<(usize, u32)>;

/// A machine set up for geometry draws of points into the stream `s`'s buffer `s`, with room for `room` dwords each.
fn machine(emits: Emits, room: [u32; 4]) -> Machine {
    let mut m = Machine::new();
    set_up(&mut m, room);
    m.executor.programs = Some(Box::new(move |dispatch, memory| play(dispatch, memory, emits)));
    m
}

/// Registers of a geometry draw.
pub(crate) fn set_up(m: &mut Machine, room: [u32; 4]) {
    m.set(reg::VGT_SHADER_STAGES_EN, STAGES)
        .set(reg::VGT_PRIMITIVE_TYPE, POINTS)
        .set(reg::PA_CL_CLIP_CNTL, KILL)
        .set(reg::VGT_GS_MODE, 0x30_0033)
        .set(reg::VGT_GS_ONCHIP_CNTL, 64 << 22 | 64 << 11 | 64)
        .set(reg::VGT_ESGS_RING_ITEMSIZE, 5)
        .set(reg::VGT_GSVS_RING_ITEMSIZE, ITEM)
        .set(reg::VGT_GSVS_RING_SIZE, 4 * 64 * 4 * ITEM / 256)
        .set(reg::VGT_GS_MAX_VERT_OUT, MOST_VERTICES)
        .set(reg::SPI_SHADER_PGM_RSRC2_GS, 64 << 19)
        .set(reg::SPI_SHADER_PGM_RSRC2_VS, SO_EN | (0..4).map(so_base).sum::<u32>())
        .set(reg::VGT_STRMOUT_CONFIG, 0xf)
        .set(reg::VGT_STRMOUT_BUFFER_CONFIG, 0x8421);
    for s in 0..4 {
        m.set(reg::VGT_GS_VERT_ITEMSIZE.at(s), VERTEX)
            .set(reg::VGT_STRMOUT_BUFFER_SIZE.at(s), room[s as usize])
            .set(reg::VGT_STRMOUT_VTX_STRIDE.at(s), 1);
    }
    for s in 1..4 {
        m.set(reg::VGT_GSVS_RING_OFFSET.at(s - 1), s * MOST_VERTICES * VERTEX);
    }
    m.event(25, 0, None);
}

/// What a vertex holds: its thread, stream and number.
fn tag(primitive: u32, invocation: u32, stream: usize, vertex: u32) -> u32 {
    1 << 31 | primitive << 12 | invocation << 8 | (stream as u32) << 4 | vertex
}

/// Plays a geometry program that emits what `emits` says, or a copy program that stores what it reads from the ring.
fn play(dispatch: &ExactDispatch, memory: &dyn GuestMemory, emits: Emits) -> Vec<WaveRecord> {
    match dispatch.stage {
        Stage::EsGs => waves(dispatch).iter().map(|wave| emit(wave, memory, emits)).collect(),
        _ => {
            waves(dispatch).iter().for_each(|wave| copy(wave, memory));
            Vec::new()
        }
    }
}

fn emit(wave: &Wave, memory: &dyn GuestMemory, emits: Emits) -> WaveRecord {
    let threads = wave.sgprs[3] >> 8 & 0xff;
    let mut messages = Vec::new();
    for lane in 0..threads {
        let vgprs = &wave.lanes[lane as usize];
        let mut counts = [0; 4];
        let strips = emits(vgprs[2], vgprs[3]);
        for (n, (stream, vertices)) in strips.iter().enumerate() {
            let mut send = |operation: u16| {
                messages.push(Message { simm16: operation | (*stream as u16) << 8, m0: 0, exec: 1 << lane });
            };
            for _ in 0..*vertices {
                let place = u64::from(wave.sgprs[2])
                    + 256 * u64::from(*stream as u32 * MOST_VERTICES * VERTEX)
                    + u64::from(
                        lane / 16 * 64 * VERTEX * MOST_VERTICES + counts[*stream] * 64 + lane % 16 * 4,
                    );
                let word = tag(vgprs[2], vgprs[3], *stream, counts[*stream]);
                memory.write(RING + place, &word.to_le_bytes()).unwrap();
                counts[*stream] += 1;
                send(0x22);
            }
            if n + 1 < strips.len() {
                send(0x12);
            }
        }
    }
    WaveRecord { exports: Vec::new(), messages }
}

fn copy(wave: &Wave, memory: &dyn GuestMemory) {
    let [config, write_index, offsets @ ..] = wave.sgprs.as_slice() else { return };
    let stream = (config >> 24 & 3) as usize;
    for (lane, vgprs) in wave.lanes.iter().take((config >> 16 & 0x7f) as usize).enumerate() {
        let word = read_u32(memory, RING + 4 * u64::from(vgprs[0])).unwrap();
        let vertex = u64::from(offsets[stream]) + u64::from(*write_index) + lane as u64;
        memory.write(buffer(stream) + 4 * vertex, &word.to_le_bytes()).unwrap();
    }
}

/// The strips of one thread as they are stored in a stream, as vertex numbers (last vertex provokes).
fn assembled(strips: &[(usize, u32)], stream: usize, out: u32) -> Vec<Vec<u32>> {
    let mut first = 0;
    let mut primitives = Vec::new();
    for (s, vertices) in strips.iter().filter(|(s, _)| *s == stream) {
        assert_eq!(*s, stream);
        for n in first..first + vertices {
            let from = n - first;
            match out {
                OUT_POINTS => primitives.push(vec![n]),
                OUT_LINES if from >= 1 => primitives.push(vec![n - 1, n]),
                OUT_TRIANGLES if from >= 2 && from % 2 == 0 => primitives.push(vec![n - 2, n - 1, n]),
                OUT_TRIANGLES if from >= 2 => primitives.push(vec![n - 1, n - 2, n]),
                _ => {}
            }
        }
        first += vertices;
    }
    primitives
}

/// Needed and written of each stream.
fn counters(m: &mut Machine) -> [(u32, u32); 4] {
    [32, 1, 2, 3].map(|event| {
        m.event(event, 3, Some(SAMPLE)).run();
        let words = m.memory.words(SAMPLE, 4);
        (words[0], words[2])
    })
}

/// Where each buffer stands, in dwords.
fn positions(m: &mut Machine) -> [u32; 4] {
    [0, 1, 2, 3].map(|b| {
        m.packet(0x34, &[7 | b << 8, SAMPLE as u32, 0, 0, 0]).run();
        m.memory.words(SAMPLE, 1)[0]
    })
}

fn one_each(_: u32, _: u32) -> Vec<(usize, u32)> {
    vec![(0, 1)]
}

/// Strips of all sizes in all streams, some of them interleaved.
fn mixed(primitive: u32, invocation: u32) -> Vec<(usize, u32)> {
    let n = primitive * 3 + invocation;
    vec![(1, n % 4), (0, 1), (3, 3 + n % 2), (1, 2), (2, (primitive + invocation) % 3), (3, n % 4)]
}

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
