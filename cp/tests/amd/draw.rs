//! What a draw asks the executor: waves, registers, and which vertices are stored.

use guestwave_cp::amd::{Config, Ring, reg};
use guestwave_cp::{Grid, Isa, LaneRule, Outputs, ScalarRule, Scratch, Stage};

use crate::support::{DATA, Machine, PROGRAM_USER_DATA, Wave, waves};

/// VGT_PRIMITIVE_TYPE.
pub(crate) const POINTS: u32 = 1;
pub(crate) const LINES: u32 = 2;
pub(crate) const TRIANGLES: u32 = 4;
pub(crate) const TRIANGLE_STRIP: u32 = 6;

/// DX_RASTERIZATION_KILL.
pub(crate) const KILL: u32 = 1 << 22;
/// VS_W32_EN.
pub(crate) const WAVE32: u32 = 1 << 23;
pub(crate) const SO_EN: u32 = 1 << 12;

/// SO_BASEn_EN.
pub(crate) const fn so_base(buffer: u32) -> u32 {
    1 << (8 + buffer)
}

/// USER_SGPR.
pub(crate) const fn user_sgprs(count: u32) -> u32 {
    (count & 0x1f) << 1 | (count >> 5) << 27
}

/// A machine set up to store one dword a vertex of `topology` into buffer 0 at [`DATA`], with room for `room` dwords,
/// by the program that the test executor plays.
pub(crate) fn streaming(topology: u32, room: u32) -> Machine {
    let mut m = Machine::new();
    set_up(&mut m, topology, room);
    m
}

pub(crate) fn set_up(m: &mut Machine, topology: u32, room: u32) {
    m.set(reg::VGT_SHADER_STAGES_EN, WAVE32)
        .set(reg::VGT_PRIMITIVE_TYPE, topology)
        .set(reg::PA_CL_CLIP_CNTL, KILL)
        .set(reg::SPI_SHADER_PGM_RSRC2_VS, user_sgprs(PROGRAM_USER_DATA) | SO_EN | so_base(0))
        .set(reg::SPI_SHADER_USER_DATA_VS.at(0), DATA as u32)
        .set(reg::SPI_SHADER_USER_DATA_VS.at(2), 4)
        .set(reg::VGT_STRMOUT_CONFIG, 0xf)
        .set(reg::VGT_STRMOUT_BUFFER_CONFIG, 1)
        .set(reg::VGT_STRMOUT_BUFFER_SIZE.at(0), room)
        .set(reg::VGT_STRMOUT_VTX_STRIDE.at(0), 1);
}

/// DRAW_INDEX_AUTO.
pub(crate) fn draw(m: &mut Machine, vertices: u32) -> &mut Machine {
    m.packet(0x2d, &[vertices, 2])
}

/// The waves of the one dispatch of a draw of `vertices` vertices.
fn draw_waves(m: &mut Machine, vertices: u32) -> Vec<Wave> {
    draw(m, vertices).run();
    let ran = m.ran();
    assert_eq!(ran.len(), 1);
    waves(&ran[0])
}

/// (first item, items, vertices stored) of each wave.
fn shape(waves: &[Wave]) -> Vec<(u32, u32, u32)> {
    waves.iter().map(|w| (w.first, w.items, w.sgprs[PROGRAM_USER_DATA as usize] >> 16)).collect()
}

#[test]
fn the_dispatch_is_the_vertex_program_of_the_registers() {
    let mut m = streaming(POINTS, 100);
    m.set(reg::SPI_SHADER_PGM_LO_VS, 0x1234_5678)
        .set(reg::SPI_SHADER_PGM_HI_VS, 0xff9a)
        .set(reg::SPI_SHADER_PGM_RSRC1_VS, 0xc0 << 12 | 1 << 21 | 1 << 23);
    draw(&mut m, 1).run();
    let d = m.ran().remove(0);
    assert_eq!((d.stage, d.outputs, d.lds_bytes, d.scratch), (Stage::Vertex, Outputs::Dropped, 0, None));
    assert_eq!(d.program.address, 0x9a12_3456_7800);
    assert_eq!((d.program.isa, d.program.wave_lanes, d.program.float_mode), (Isa::Gfx1030, 32, 0xc0));
    assert!(d.program.dx10_clamp && d.program.ieee);
}

#[test]
fn the_instruction_set_is_the_configured_one() {
    let mut m = Machine::with(Config::new(Isa::Gfx1013), Ring::Gfx);
    set_up(&mut m, POINTS, 100);
    draw(&mut m, 1).run();
    assert_eq!(m.ran()[0].program.isa, Isa::Gfx1013);
}

#[test]
fn a_wave_is_as_wide_as_vs_w32_en_says() {
    for (stages, lanes) in [(WAVE32, 32), (0, 64)] {
        let mut m = streaming(POINTS, 1000);
        m.set(reg::VGT_SHADER_STAGES_EN, stages | 2 << 15);
        draw(&mut m, 100).run();
        let d = m.ran().remove(0);
        assert_eq!(d.program.wave_lanes, lanes);
        assert_eq!(d.grid, Grid::Linear { items: 100, per_wave: u32::from(lanes) });
    }
}

/// (topology, vertices, stages, items of each wave)
type Edge = (u32, u32, u32, &'static [u32]);

const WAVE_EDGES: &[Edge] = &[
    (POINTS, 31, WAVE32, &[31]),
    (POINTS, 32, WAVE32, &[32]),
    (POINTS, 33, WAVE32, &[32, 1]),
    (POINTS, 63, WAVE32, &[32, 31]),
    (POINTS, 64, WAVE32, &[32, 32]),
    (POINTS, 65, WAVE32, &[32, 32, 1]),
    (POINTS, 63, 0, &[63]),
    (POINTS, 64, 0, &[64]),
    (POINTS, 65, 0, &[64, 1]),
    (LINES, 65, WAVE32, &[32, 32]),
    // A wave32 holds ten triangles, a wave64 21.
    (TRIANGLES, 93, WAVE32, &[30, 30, 30, 3]),
    (TRIANGLES, 96, WAVE32, &[30, 30, 30, 6]),
    (TRIANGLES, 99, WAVE32, &[30, 30, 30, 9]),
    (TRIANGLES, 129, 0, &[63, 63, 3]),
    // Vertices that complete no triangle do not run.
    (TRIANGLES, 8, WAVE32, &[6]),
    (TRIANGLES, 32, WAVE32, &[30]),
];

#[test]
fn each_wave_takes_whole_primitives_and_counts_them_stored() {
    for (topology, vertices, stages, items) in WAVE_EDGES {
        let mut m = streaming(*topology, 1000);
        m.set(reg::VGT_SHADER_STAGES_EN, *stages);
        let waves = draw_waves(&mut m, *vertices);
        assert_eq!(waves.iter().map(|w| w.items).collect::<Vec<_>>(), *items, "{vertices} vertices");
        assert!(shape(&waves).iter().all(|(_, items, stored)| items == stored), "{vertices} vertices");
    }
}

#[test]
fn every_wave_past_the_first_knows_its_first_vertex() {
    let mut m = streaming(TRIANGLES, 1000);
    m.set(reg::GE_INDX_OFFSET, 700);
    for wave in draw_waves(&mut m, 99) {
        assert_eq!(wave.sgprs[PROGRAM_USER_DATA as usize + 1], wave.first, "streamout_write_index");
        let ids: Vec<_> = wave.lanes.iter().map(|v| v[0]).collect();
        assert_eq!(ids, (700 + wave.first..700 + wave.first + wave.items).collect::<Vec<_>>());
    }
}

#[test]
fn rule_9_a_base_index_moves_the_vertex_id_and_not_the_output() {
    let mut m = streaming(POINTS, 100);
    m.set(reg::GE_INDX_OFFSET, 5);
    draw(&mut m, 3).run();
    assert_eq!(m.memory.words(DATA, 4), [5, 6, 7, 0]);
}

#[test]
fn a_clamped_draw_runs_every_vertex_and_stores_the_first_whole_primitives() {
    // Room for 34 vertices is room for 11 triangles: the second wave stores one, the third none.
    let waves = draw_waves(&mut streaming(TRIANGLES, 34), 75);
    assert_eq!(shape(&waves), [(0, 30, 30), (30, 30, 3), (60, 15, 0)]);
}

#[test]
fn rule_8_a_buffer_short_of_a_primitive_takes_nothing_of_it() {
    let mut m = streaming(TRIANGLES, 5);
    draw(&mut m, 9).run();
    assert_eq!(m.memory.words(DATA, 6), [0, 1, 2, 0, 0, 0]);
}

#[test]
fn vertex_ids_may_reach_the_bounds_and_wrap_where_there_are_none() {
    let mut m = streaming(POINTS, 100);
    m.set(reg::GE_INDX_OFFSET, 5).set(reg::GE_MIN_VTX_INDX, 5).set(reg::GE_MAX_VTX_INDX, 7);
    draw(&mut m, 3).run();
    m.set(reg::GE_MIN_VTX_INDX, 0).set(reg::GE_MAX_VTX_INDX, u32::MAX).set(reg::GE_INDX_OFFSET, u32::MAX);
    draw(&mut m, 2).run();
    assert_eq!(m.memory.words(DATA, 6), [5, 6, 7, u32::MAX, 0, 0]);
}

/// RSRC2 bits besides user data, and the SGPRs after the user data of the second wave of 40 points.
type Layout = (u32, &'static [u32]);

const STORED: u32 = 8 << 16;

const LAYOUTS: &[Layout] = &[
    (0, &[]),
    (SO_EN, &[STORED, 32]),
    (SO_EN | so_base(0), &[STORED, 32, 0x100]),
    // Rule 1: positions exist for enabled buffers only, packed.
    (SO_EN | so_base(1) | so_base(2) | so_base(3), &[STORED, 32, 0x101, 0x102, 0x103]),
    (SO_EN | so_base(3), &[STORED, 32, 0x103]),
    (SO_EN | so_base(0) | so_base(2), &[STORED, 32, 0x100, 0x102]),
    // The tessellation ring's offset comes after the positions, the scratch offset last.
    (SO_EN | so_base(0) | 1 << 7, &[STORED, 32, 0x100, 0]),
    (1 << 7, &[STORED, 0]),
    (1, &[0x800]),
    (SO_EN | so_base(0) | 1 << 7 | 1, &[STORED, 32, 0x100, 0, 0x800]),
];

#[test]
fn rule_1_sgprs_after_user_data_are_packed() {
    for (bits, expected) in LAYOUTS {
        let mut m = streaming(POINTS, 1 << 20);
        m.set(reg::SPI_SHADER_PGM_RSRC2_VS, user_sgprs(2) | bits)
            .set(reg::SPI_SHADER_USER_DATA_VS.at(0), 0xaaaa)
            .set(reg::SPI_SHADER_USER_DATA_VS.at(1), 0xbbbb)
            .set(reg::SPI_TMPRING_SIZE, 2 << 12 | 64);
        for buffer in 0..4 {
            m.packet(0x34, &[buffer << 8, 0, 0, 0x100 + buffer, 0]);
        }
        let waves = draw_waves(&mut m, 40);
        assert_eq!(waves[1].sgprs, [&[0xaaaa, 0xbbbb], *expected].concat(), "RSRC2 {bits:#x}");
    }
}

#[test]
fn user_sgprs_have_a_sixth_bit() {
    let mut m = streaming(POINTS, 100);
    m.set(reg::SPI_SHADER_PGM_RSRC2_VS, user_sgprs(32) | SO_EN)
        .set(reg::SPI_SHADER_USER_DATA_VS.at(31), 0x31);
    let waves = draw_waves(&mut m, 5);
    assert_eq!(waves[0].sgprs.len(), 34);
    assert_eq!(waves[0].sgprs[31..], [0x31, 5 << 16, 0]);
}

#[test]
fn scratch_offsets_stay_in_the_ring() {
    let mut m = streaming(POINTS, 1000);
    m.set(reg::SPI_SHADER_PGM_RSRC2_VS, 1).set(reg::SPI_TMPRING_SIZE, 3 << 12 | 2);
    draw(&mut m, 100).run();
    let d = m.ran().remove(0);
    assert_eq!(d.scratch, Some(Scratch { bytes_per_wave: 0xc00 }));
    assert_eq!(waves(&d).iter().map(|w| w.sgprs[0]).collect::<Vec<_>>(), [0, 0xc00, 0, 0xc00]);
}

#[test]
fn vector_registers_are_vertex_user_primitive_and_instance() {
    let mut m = streaming(LINES, 100);
    m.set(reg::GE_USER_VGPR1, 0x77)
        .set(reg::GE_USER_VGPR_EN, 1)
        .set(reg::VGT_PRIMITIVEID_EN, 1)
        .set(reg::VGT_PRIMITIVEID_RESET, 40);
    let waves = draw_waves(&mut m, 4);
    assert_eq!(waves[0].lanes, [[0, 0x77, 40, 0], [1, 0x77, 40, 0], [2, 0x77, 41, 0], [3, 0x77, 41, 0]]);
}

#[test]
fn vector_registers_that_are_not_enabled_are_zero() {
    let mut m = streaming(POINTS, 100);
    m.set(reg::GE_USER_VGPR1, 0x77).set(reg::VGT_PRIMITIVEID_RESET, 40);
    draw(&mut m, 4).run();
    let zero = LaneRule::Word(0);
    assert_eq!(m.ran()[0].vgprs, [LaneRule::Item { base: 0 }, zero.clone(), zero.clone(), zero]);
}

#[test]
fn a_paused_draw_keeps_its_registers_places_and_stores_nothing() {
    let mut m = streaming(POINTS, 100);
    draw(&mut m, 3).run();
    m.ran();
    m.set(reg::VGT_STRMOUT_CONFIG, 0);
    let waves = draw_waves(&mut m, 40);
    assert_eq!(waves[1].sgprs, [DATA as u32, 0, 4, 0, 32, 3]);
    assert_eq!(m.memory.words(DATA, 4), [0, 1, 2, 0]);
}

#[test]
fn a_draw_for_a_query_alone_runs_and_stores_nothing() {
    let mut m = streaming(TRIANGLE_STRIP, 100);
    m.set(reg::VGT_STRMOUT_BUFFER_CONFIG, 0).set(reg::SPI_SHADER_PGM_RSRC2_VS, user_sgprs(0));
    draw(&mut m, 10).run();
    let d = m.ran().remove(0);
    assert_eq!((d.grid, d.sgprs), (Grid::Linear { items: 10, per_wave: 32 }, vec![]));
}

#[test]
fn without_streamout_the_vertex_program_runs_for_its_other_stores() {
    let mut m = streaming(TRIANGLE_STRIP, 100);
    m.set(reg::VGT_STRMOUT_CONFIG, 0).set(reg::SPI_SHADER_PGM_RSRC2_VS, user_sgprs(1));
    draw(&mut m, 40).run();
    let d = m.ran().remove(0);
    assert_eq!(d.grid, Grid::Linear { items: 40, per_wave: 32 });
    assert_eq!(d.sgprs, [ScalarRule::Word(DATA as u32)]);
}

#[test]
fn a_draw_without_a_whole_primitive_runs_nothing() {
    for (topology, vertices) in [(POINTS, 0), (LINES, 1), (TRIANGLES, 2)] {
        let mut m = streaming(topology, 100);
        draw(&mut m, vertices).run();
        assert_eq!(m.ran(), [], "{vertices} vertices of {topology}");
    }
}
