//! Tessellated draws: how patches reach the control program, and how their domain points are evaluated.

use guestwave_cp::amd::reg;
use guestwave_cp::tessellator::{Domain, Levels, Primitives, Spacing, Tessellator};
use guestwave_cp::{ExactDispatch, Grid, GuestMemory, Message, Stage, WaveRecord, read_u32};
use proptest::prelude::*;

use crate::draw::{KILL, SO_EN, draw, so_base};
use crate::support::{DATA, Machine, Wave, waves};

/// VGT_PRIMITIVE_TYPE.
const PATCHES: u32 = 9;
/// LS, HS, and an evaluation program in the hardware VS.
pub(crate) const STAGES: u32 = 1 | 1 << 2 | 1 << 6;
/// The same before a geometry program.
pub(crate) const STAGES_GEOMETRY: u32 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 2 << 6;
const HS_WAVE32: u32 = 1 << 21;
const VS_WAVE32: u32 = 1 << 23;
/// RSRC2_VS.
const OC_LDS_EN: u32 = 1 << 7;

/// The ring of levels, the tessellation buffer, and the geometry ring.
pub(crate) const LEVELS: u64 = DATA + 0x8_0000;
const OFF_CHIP: u64 = DATA + 0x9_0000;
const RING: u64 = DATA + 0xe_0000;
const SAMPLE: u64 = DATA + 0x7_0000;

/// VGT_TF_PARAM.
const fn param(domain: u32, spacing: u32, output: u32) -> u32 {
    domain | spacing << 2 | output << 5
}

/// (VGT_TF_PARAM, what it means, dwords of a patch's levels)
const PARAMS: &[(u32, Domain, Spacing, Primitives, usize)] = &[
    (param(0, 0, 1), Domain::Isolines, Spacing::Equal, Primitives::Lines, 2),
    (param(0, 2, 0), Domain::Isolines, Spacing::FractionalOdd, Primitives::Points, 2),
    (param(1, 0, 2), Domain::Triangles, Spacing::Equal, Primitives::Clockwise, 4),
    (param(1, 2, 3), Domain::Triangles, Spacing::FractionalOdd, Primitives::CounterClockwise, 4),
    (param(1, 3, 0), Domain::Triangles, Spacing::FractionalEven, Primitives::Points, 4),
    (param(2, 0, 3), Domain::Quads, Spacing::Equal, Primitives::CounterClockwise, 6),
    (param(2, 3, 2), Domain::Quads, Spacing::FractionalEven, Primitives::Clockwise, 6),
    (param(2, 2, 0), Domain::Quads, Spacing::FractionalOdd, Primitives::Points, 6),
];

/// The levels of a patch, in the order of the ring.
fn ring_levels(patch: u32) -> [f32; 6] {
    [1.5, 3.0, 2.25, 4.0, 2.0, 3.5].map(|level| if patch % 5 == 3 { 0.0 } else { level + (patch % 3) as f32 })
}

/// The same for the tessellator. The segments of isolines come before their number.
fn levels(domain: Domain, patch: u32) -> Levels {
    let [a, b, c, d, e, f] = ring_levels(patch);
    match domain {
        Domain::Isolines => Levels { outer: [b, a, 0.0, 0.0], inner: [0.0; 2] },
        Domain::Triangles => Levels { outer: [a, b, c, 0.0], inner: [d, 0.0] },
        Domain::Quads => Levels { outer: [a, b, c, d], inner: [e, f] },
    }
}

/// A machine set up for tessellated draws of patches of three vertices, whose evaluation program stores u and v.
fn machine(params: usize, room: u32) -> Machine {
    let mut m = Machine::new();
    set_up(&mut m, room);
    let (param, .., dwords) = PARAMS[params];
    m.set(reg::VGT_TF_PARAM, param);
    m.executor.programs = Some(Box::new(move |dispatch, memory| play(dispatch, memory, dwords)));
    m
}

/// Registers of a tessellated draw.
pub(crate) fn set_up(m: &mut Machine, room: u32) {
    m.set(reg::VGT_SHADER_STAGES_EN, STAGES)
        .set(reg::VGT_PRIMITIVE_TYPE, PATCHES)
        .set(reg::PA_CL_CLIP_CNTL, KILL)
        .set(reg::VGT_LS_HS_CONFIG, 4 << 14 | 3 << 8 | 4)
        .set(reg::VGT_TF_PARAM, PARAMS[2].0)
        .set(reg::VGT_TF_RING_SIZE, 0x400)
        .set(reg::VGT_TF_MEMORY_BASE, (LEVELS >> 8) as u32)
        .set(reg::VGT_HS_OFFCHIP_PARAM, 3 << 10 | 1)
        .set(reg::VGT_HOS_MAX_TESS_LEVEL, 64f32.to_bits())
        .set(reg::SPI_SHADER_PGM_RSRC2_HS, 64 << 18)
        .set(reg::SPI_SHADER_PGM_RSRC2_VS, SO_EN | so_base(0) | OC_LDS_EN)
        .set(reg::VGT_STRMOUT_CONFIG, 0xf)
        .set(reg::VGT_STRMOUT_BUFFER_CONFIG, 1)
        .set(reg::VGT_STRMOUT_BUFFER_SIZE.at(0), room)
        .set(reg::VGT_STRMOUT_VTX_STRIDE.at(0), 2);
    m.event(25, 0, None);
}

/// Plays a control program that stores each patch's levels and its id, an evaluation program that finds the id where
/// the control program left it and stores u and v, or, between them, a geometry program that emits each primitive.
fn play(dispatch: &ExactDispatch, memory: &dyn GuestMemory, dwords: usize) -> Vec<WaveRecord> {
    let waves = waves(dispatch);
    match dispatch.stage {
        Stage::LsHs => waves.iter().map(|wave| control(wave, memory, dwords)).collect(),
        Stage::EsGs => waves.iter().map(|wave| geometry(wave, memory)).collect(),
        _ => {
            waves.iter().for_each(|wave| evaluate(wave, memory));
            Vec::new()
        }
    }
}

fn control(wave: &Wave, memory: &dyn GuestMemory, dwords: usize) -> WaveRecord {
    for vgprs in wave.lanes.iter().take((wave.sgprs[3] >> 8 & 0xff) as usize).filter(|v| v[1] >> 8 == 0) {
        let (patch, number) = (vgprs[0], u64::from(vgprs[1] & 0xff));
        let bytes: Vec<_> =
            ring_levels(patch)[..dwords].iter().flat_map(|level| level.to_le_bytes()).collect();
        let place = u64::from(wave.sgprs[4]) + number * 4 * dwords as u64;
        memory.write(LEVELS + place, &bytes).unwrap();
        memory.write(OFF_CHIP + u64::from(wave.sgprs[2]) + 4 * number, &patch.to_le_bytes()).unwrap();
    }
    WaveRecord::default()
}

/// The patch id that the control program left for a patch of a group.
fn left(memory: &dyn GuestMemory, off_chip: u32, number: u32) -> u32 {
    read_u32(memory, OFF_CHIP + u64::from(off_chip) + 4 * u64::from(number)).unwrap()
}

fn evaluate(wave: &Wave, memory: &dyn GuestMemory) {
    let [config, write_index, offset, off_chip] = wave.sgprs[..] else { return };
    let stored = (config >> 16 & 0x7f) as usize;
    for (lane, vgprs) in wave.lanes.iter().enumerate() {
        // The copy program of a geometry pipeline has no patches.
        if let [u, v, number, patch] = vgprs[..] {
            assert_eq!(left(memory, off_chip, number), patch);
            store(memory, offset + 2 * (write_index + lane as u32), lane < stored, [u, v]);
        } else {
            let words = [0, 1].map(|n| read_u32(memory, RING + 4 * u64::from(vgprs[0]) + 4096 * n).unwrap());
            store(memory, offset + 2 * (write_index + lane as u32), lane < stored, words);
        }
    }
}

fn store(memory: &dyn GuestMemory, dword: u32, stored: bool, words: [u32; 2]) {
    if stored {
        let bytes = words.map(u32::to_le_bytes);
        memory.write(DATA + 4 * u64::from(dword), bytes.as_flattened()).unwrap();
    }
}

/// Emits the vertices of each primitive as they are, u and v of each: three at most, in a ring of two dwords each.
fn geometry(wave: &Wave, memory: &dyn GuestMemory) -> WaveRecord {
    let [vertices, threads] = [0, 8].map(|shift| wave.sgprs[3] >> shift & 0xff);
    for vgprs in &wave.lanes[..vertices as usize] {
        assert_eq!(left(memory, wave.sgprs[4], vgprs[7]), vgprs[8]);
    }
    let mut messages = Vec::new();
    for lane in 0..threads {
        let thread = &wave.lanes[lane as usize];
        let places = [thread[0] & 0xffff, thread[0] >> 16, thread[1] & 0xffff];
        for (n, place) in (0..3).zip(places) {
            let vertex = &wave.lanes[place as usize];
            assert_eq!(vertex[8], thread[2], "a primitive's id is its patch's");
            for c in 0..2 {
                let place = wave.sgprs[2] + lane / 16 * 64 * 2 * 64 + (c * 64 + n) * 64 + lane % 16 * 4;
                memory.write(RING + u64::from(place), &vertex[5 + c as usize].to_le_bytes()).unwrap();
            }
            messages.push(Message { simm16: 0x22, m0: 0, exec: 1 << lane });
        }
    }
    WaveRecord { exports: Vec::new(), messages }
}

/// u and v of the vertices that patches come to, in the order of storage, and primitives.
fn expected(params: usize, patches: impl Iterator<Item = u32>) -> (Vec<u32>, u32) {
    let (_, domain, spacing, primitives, _) = PARAMS[params];
    let tessellator = Tessellator { domain, spacing, primitives };
    let made = patches.map(|patch| tessellator.tessellate(&levels(domain, patch)));
    let words: Vec<_> = made
        .flat_map(|t| t.indices.iter().flat_map(|n| t.points[*n as usize].float_bits()).collect::<Vec<_>>())
        .collect();
    let count = words.len() as u32 / 2 / primitives.corners();
    (words, count)
}

/// (needed, written) of stream 0, and where buffer 0 stands in dwords.
fn outcome(m: &mut Machine) -> ((u32, u32), u32) {
    m.event(32, 3, Some(SAMPLE)).packet(0x34, &[7, SAMPLE as u32 + 16, 0, 0, 0]).run();
    let words = m.memory.words(SAMPLE, 5);
    ((words[0], words[2]), words[4])
}

#[test]
fn every_domain_spacing_and_output_stores_what_the_tessellator_makes() {
    for (params, row) in PARAMS.iter().enumerate() {
        for stages in [0, HS_WAVE32, VS_WAVE32, HS_WAVE32 | VS_WAVE32] {
            let mut m = machine(params, 0x8000);
            draw(m.set(reg::VGT_SHADER_STAGES_EN, STAGES | stages), 3 * 11 + 2).run();
            let (words, count) = expected(params, 0..11);
            assert_eq!(m.memory.words(DATA, words.len()), words, "{row:?}");
            assert_eq!(outcome(&mut m), ((count, count), words.len() as u32));
        }
    }
}

#[test]
fn the_control_program_starts_with_its_patches() {
    let mut m = machine(2, 0x8000);
    m.set(reg::SPI_SHADER_PGM_LO_LS, 0x1234_5678)
        .set(reg::SPI_SHADER_PGM_LO_HS, 0x5555_5555)
        .set(reg::SPI_SHADER_PGM_RSRC1_HS, 0xc0 << 12)
        .set(reg::SPI_SHADER_USER_DATA_ADDR_LO_HS, 0xaa)
        .set(reg::SPI_SHADER_USER_DATA_ADDR_HI_HS, 0xbb)
        .set(reg::SPI_SHADER_USER_DATA_HS.at(0), 0x100)
        .set(reg::SPI_SHADER_PGM_RSRC2_HS, 64 << 18 | 1 << 1 | 1)
        .set(reg::SPI_TMPRING_SIZE, 4 << 12 | 8)
        .set(reg::GE_USER_VGPR_EN, 1)
        .set(reg::GE_USER_VGPR1, 0x77)
        .set(reg::GE_INDX_OFFSET, 50);
    draw(m.packet(0x2f, &[2]), 9).run();
    let d = m.ran().remove(0);
    assert_eq!((d.stage, d.program.address, d.program.float_mode), (Stage::LsHs, 0x12_3456_7800, 0xc0));
    assert_eq!((d.lds_bytes, d.program.wave_lanes), (64 * 512, 64));
    let waves = waves(&d);
    // Four patches a group: the second one's are the last two of the second instance.
    let info = 1 << 28 | 16 << 8 | 12;
    assert_eq!(waves[0].sgprs, [0xaa, 0xbb, 0, info, 0, 0, 0, 0, 0x100]);
    let info = 1 << 28 | 8 << 8 | 6;
    assert_eq!(waves[1].sgprs, [0xaa, 0xbb, 0x1000, info, 4 * 4 * 4, 4096, 0, 0, 0x100]);
    let hull: Vec<_> = waves[0].lanes[..16].iter().map(|v| (v[0], v[1])).collect();
    assert_eq!(hull[..5], [(0, 0), (0, 0x100), (0, 0x200), (0, 0x300), (1, 1)]);
    assert_eq!(hull[12], (0, 3), "patch ids start again in the next instance");
    let local: Vec<_> = waves[0].lanes[..12].iter().map(|v| v[2..6].to_vec()).collect();
    assert_eq!(local[8], [58, 8, 0x77, 0]);
    assert_eq!(local[9], [50, 9, 0x77, 1]);
}

#[test]
fn rule_1_an_evaluation_program_is_given_enabled_positions_and_then_the_group() {
    let mut m = machine(2, 0x8000);
    for b in 0..4 {
        m.packet(0x34, &[b << 8, 0, 0, 0x10 * (b + 1), 0]);
    }
    m.set(reg::SPI_SHADER_PGM_RSRC2_VS, SO_EN | so_base(1) | so_base(3) | OC_LDS_EN);
    // The test's evaluation program asks for one buffer.
    m.executor.programs = Some(Box::new(|dispatch, memory| match dispatch.stage {
        Stage::LsHs => play(dispatch, memory, 4),
        _ => Vec::new(),
    }));
    draw(&mut m, 3 * 5).run();
    let ran = m.ran();
    let second = waves(ran.last().unwrap()).remove(0);
    assert_eq!(second.sgprs[2..], [0x20, 0x40, 0x1000]);
}

#[test]
fn groups_keep_to_what_a_wave_can_be_told() {
    let mut m = machine(2, 0x8000);
    m.set(reg::VGT_LS_HS_CONFIG, 32 << 14 | 3 << 8 | 255)
        .set(reg::VGT_TF_RING_SIZE, 0x4000)
        .set(reg::VGT_SHADER_STAGES_EN, STAGES | HS_WAVE32);
    draw(&mut m, 3 * 16).run();
    let d = m.ran().remove(0);
    let Grid::Subgroups { waves: groups } = &d.grid else { panic!("{:?}", d.grid) };
    assert_eq!(**groups, [15, 1], "15 patches of 32 output vertices");
    let threads: Vec<_> = waves(&d).iter().map(|w| (w.sgprs[3] & 0xff, w.sgprs[3] >> 8 & 0xff)).collect();
    assert_eq!(threads[..3], [(32, 32), (13, 32), (0, 32)]);
}

#[test]
fn a_draw_of_more_groups_than_the_rings_have_places_runs_in_parts() {
    // Two places in the tessellation buffer, then one in the ring of levels.
    for (buffers, ring, most) in [(1, 0x400, 2), (511, 17, 1), (511, 16 * 3, 3)] {
        let mut m = machine(2, 0x8000);
        m.set(reg::VGT_HS_OFFCHIP_PARAM, 3 << 10 | buffers).set(reg::VGT_TF_RING_SIZE, ring);
        draw(&mut m, 3 * 30).run();
        let ran = m.ran();
        let groups: Vec<_> = ran.iter().filter(|d| d.stage == Stage::LsHs).map(|d| waves(d).len()).collect();
        assert_eq!((groups.iter().sum::<usize>(), *groups.iter().max().unwrap()), (8, most));
        let (words, _) = expected(2, 0..30);
        assert_eq!(m.memory.words(DATA, words.len()), words);
    }
}

/// A level of 64 makes 8192 triangles of each patch.
#[test]
fn a_group_of_very_many_points_is_evaluated_in_parts() {
    let mut m = machine(5, 0);
    m.executor.programs = Some(Box::new(|dispatch, memory| {
        if dispatch.stage == Stage::LsHs {
            let levels = 64f32.to_le_bytes().repeat(6 * 40);
            memory.write(LEVELS, &levels).unwrap();
        }
        Vec::new()
    }));
    m.set(reg::VGT_LS_HS_CONFIG, 4 << 14 | 3 << 8 | 40);
    draw(&mut m, 3 * 40).run();
    let parts: Vec<_> =
        m.ran().iter().filter(|d| d.stage == Stage::Vertex).map(ExactDispatch::items).collect();
    assert!(parts.len() > 2, "{parts:?}");
    assert_eq!(parts.iter().sum::<u64>(), 40 * 3 * 8192);
    assert_eq!(outcome(&mut m), ((40 * 8192, 0), 0));
}

#[test]
fn without_a_buffer_each_point_runs_once() {
    let mut m = machine(2, 0x8000);
    m.set(reg::VGT_STRMOUT_BUFFER_CONFIG, 0);
    draw(&mut m, 3 * 2).run();
    let (words, count) = expected(2, 0..2);
    let points: u64 = m.ran().iter().filter(|d| d.stage == Stage::Vertex).map(ExactDispatch::items).sum();
    assert!(points < words.len() as u64 / 2);
    assert_eq!(outcome(&mut m), ((count, 0), 0));
}

#[test]
fn restarts_cut_patches() {
    let mut m = machine(2, 0x8000);
    m.memory.put(DATA + 0x6_0000, &[0, 1, 2, 3, 99, 4, 5, 6]);
    m.set(reg::VGT_INDEX_TYPE, 1)
        .set(reg::GE_MULTI_PRIM_IB_RESET_EN, 1)
        .set(reg::VGT_MULTI_PRIM_IB_RESET_INDX, 99)
        .packet(0x27, &[8, (DATA + 0x6_0000) as u32, 0, 8, 0])
        .run();
    let wave = waves(&m.ran()[0]).remove(0);
    let ids: Vec<_> = wave.lanes[..6].iter().map(|v| v[2]).collect();
    assert_eq!((ids, wave.sgprs[3] & 0xff), (vec![0, 1, 2, 4, 5, 6], 6));
}

#[test]
fn a_fault_leaves_the_unit_as_it_was_before_the_draw() {
    for fault in 0..4 {
        let mut m = machine(2, 0x8000);
        m.run();
        m.executor.fault = Some(fault);
        let report = draw(&mut m, 3 * 12).submit();
        assert_eq!(report.refusals[0].refusal.code(), "TEST", "dispatch {fault}");
        assert_eq!(outcome(&mut m), ((0, 0), 0));
    }
}

/// Sets a geometry program up that takes the triangles that the tessellator makes.
fn add_geometry(m: &mut Machine) {
    m.set(reg::VGT_SHADER_STAGES_EN, STAGES_GEOMETRY)
        .set(reg::VGT_GS_MODE, 3)
        .set(reg::VGT_GS_ONCHIP_CNTL, 64 << 22 | 64 << 11 | 64)
        .set(reg::VGT_ESGS_RING_ITEMSIZE, 1)
        .set(reg::VGT_GSVS_RING_ITEMSIZE, 2 * 64)
        .set(reg::VGT_GSVS_RING_SIZE, 2 * 64 * 64 * 4 * 2 / 256)
        .set(reg::VGT_GS_MAX_VERT_OUT, 64)
        .set(reg::VGT_GS_VERT_ITEMSIZE.at(0), 2)
        .set(reg::VGT_GS_OUT_PRIM_TYPE, 2)
        .set(reg::SPI_SHADER_PGM_RSRC2_GS, 64 << 19);
}

#[test]
fn a_geometry_program_takes_the_primitives_of_the_tessellator() {
    for params in [2, 3, 5, 6] {
        let mut m = machine(params, 0x8000);
        add_geometry(&mut m);
        // One lane a vertex, so that the test's programs find a vertex by its place.
        m.set(reg::VGT_GS_ONCHIP_CNTL, 20 << 22 | 20 << 11 | 60);
        draw(&mut m, 3 * 11).run();
        let (words, count) = expected(params, 0..11);
        assert_eq!(outcome(&mut m), ((count, count), words.len() as u32), "{:?}", PARAMS[params]);
        assert_eq!(m.memory.words(DATA, words.len()), words, "{:?}", PARAMS[params]);
    }
}

proptest! {
    /// What fits of tessellated patches, from nothing to all, over two draws and any grouping.
    #[test]
    fn what_does_not_fit_is_needed_and_not_stored(
        params in 0..PARAMS.len(),
        room in 0u32..400,
        patches in prop::array::uniform2(0u32..8),
        group in 1u32..6,
    ) {
        let mut m = machine(params, 2 * room);
        m.set(reg::VGT_LS_HS_CONFIG, 4 << 14 | 3 << 8 | group);
        for patches in patches {
            draw(&mut m, 3 * patches);
        }
        m.run();
        let all = patches.into_iter().flat_map(|patches| 0..patches);
        let (words, count) = expected(params, all);
        let corners = PARAMS[params].3.corners();
        let fit = (room / corners).min(count);
        prop_assert_eq!(outcome(&mut m), ((count, fit), 2 * fit * corners));
        let stored = (2 * fit * corners) as usize;
        prop_assert_eq!(&m.memory.words(DATA, stored + 4)[..stored], &words[..stored]);
        prop_assert_eq!(&m.memory.words(DATA + 4 * stored as u64, 4), &[0; 4]);
    }
}
