//! Everything about draws, dispatches and streamout that is refused, and by which code.

use std::collections::BTreeSet;

use guestwave_cp::amd::{Config, Limits, Register, Ring, SubmitReport, reg};
use guestwave_cp::refusal::CATALOGUE;
use guestwave_cp::{Isa, Refusal};

use crate::compute::{SHADER_EN, compute, dispatch};
use crate::draw::{KILL, POINTS, TRIANGLE_STRIP, TRIANGLES, draw, set_up, streaming, user_sgprs};
use crate::support::{DATA, Machine};
use crate::{geometry_programs, tessellation};

/// A code, what brings it about, and how.
type Row = (&'static str, &'static str, fn(&mut Machine) -> &mut Machine);

/// Each starts from a streaming draw of points that is set up and not yet drawn.
const DRAWS: &[Row] = &[
    ("CP-DRAW-005", "a primitive shader", |m| stages(m, 1 << 13)),
    ("CP-DRAW-011", "dispatch draws", |m| stages(m, 1 << 9)),
    ("CP-DRAW-011", "vertex wave ids", |m| stages(m, 1 << 12)),
    ("CP-DRAW-011", "FP16_OVFL", |m| rsrc(m, 1 << 31, 0)),
    ("CP-DRAW-011", "a trap handler", |m| rsrc(m, 0, 1 << 6)),
    ("CP-DRAW-011", "PC_BASE_EN", |m| rsrc(m, 0, 1 << 22)),
    ("CP-DRAW-011", "DISPATCH_DRAW_EN", |m| rsrc(m, 0, 1 << 24)),
    ("CP-DRAW-011", "shared VGPRs", |m| rsrc(m, 0, 1 << 28)),
    ("CP-DRAW-011", "EN_PRIMS_NEEDED_CNT", |m| draw(m.set(reg::VGT_STRMOUT_CONFIG, 1 << 7), 3)),
    ("CP-DRAW-011", "vertex ids above the highest", |m| draw(m.set(reg::GE_MAX_VTX_INDX, 1), 3)),
    ("CP-DRAW-011", "vertex ids below the lowest", |m| draw(m.set(reg::GE_MIN_VTX_INDX, 1), 3)),
    ("CP-DRAW-011", "vertex ids that wrap past the lowest", |m| {
        draw(m.set(reg::GE_MIN_VTX_INDX, 1).set(reg::GE_INDX_OFFSET, u32::MAX), 3)
    }),
    ("CP-DRAW-014", "patches", |m| topology(m, 9)),
    ("CP-DRAW-014", "no primitive type", |m| topology(m, 0)),
    ("CP-DRAW-015", "rectangle list", |m| topology(m, 0x11)),
    ("CP-DRAW-016", "primitive ids of quads", |m| topology(primitive_ids(m), 0x13)),
    ("CP-DRAW-016", "primitive ids of a quad strip", |m| topology(primitive_ids(m), 0x14)),
    ("CP-DRAW-016", "primitive ids of a polygon", |m| topology(primitive_ids(m), 0x15)),
    ("CP-DRAW-011", "a base of instance ids", |m| draw(m.set(reg::VGT_INSTANCE_BASE_ID, 1), 3)),
    ("CP-DRAW-011", "primitive ids with NOT_EOP", |m| primitive_ids(m).packet(0x2d, &[3, 0x22])),
    ("CP-DRAW-017", "2^32 - 1 vertices", |m| draw(m, u32::MAX)),
    ("CP-DRAW-017", "2^30 vertices of instances", |m| draw(m.packet(0x2f, &[1 << 15]), 1 << 15)),
    ("CP-DRAW-017", "2^64 vertices of instances", |m| draw(m.packet(0x2f, &[u32::MAX]), u32::MAX)),
    ("CP-DRAW-017", "2^25 indices", |m| m.packet(0x27, &[0, 0, 0, 1 << 25, 0])),
    ("CP-DRAW-017", "2^25 vertices twice", |m| draw(m.packet(0x2f, &[2]), 1 << 25)),
    ("CP-DRAW-018", "33 words of user data", |m| rsrc(m, 0, user_sgprs(33))),
    ("CP-DRAW-019", "scratch without a ring", |m| rsrc(m, 0, 1)),
    ("CP-DRAW-020", "2^20 + 1 indirect draws", |m| m.packet(0x2c, &[0, 0, 0, 0, (1 << 20) + 1, 0, 0, 0, 2])),
    ("CP-DRAW-021", "no index type", |m| m.set(reg::VGT_INDEX_TYPE, 3).packet(0x27, &[3, 0, 0, 3, 0])),
    ("CP-DRAW-022", "a local shader alone", |m| stages(m, 1)),
    ("CP-DRAW-022", "a hull shader alone", |m| stages(m, 1 << 2)),
    ("CP-DRAW-022", "an export shader alone", |m| stages(m, 2 << 3)),
    ("CP-DRAW-022", "a geometry shader alone", |m| stages(m, 1 << 5)),
    ("CP-DRAW-022", "an evaluation program without patches", |m| stages(m, 1 << 6)),
    ("CP-DRAW-022", "a copy program without a ring", |m| stages(m, 2 << 6)),
    ("CP-DRAW-022", "a vertex program after a geometry program", |m| stages(m, 2 << 3 | 1 << 5)),
    ("CP-DRAW-014", "patches before a geometry program", |m| gs(m, reg::VGT_PRIMITIVE_TYPE, 9)),
    ("CP-DRAW-011", "FP16_OVFL of a geometry program", |m| gs(m, reg::SPI_SHADER_PGM_RSRC1_GS, 1 << 31)),
    ("CP-DRAW-011", "a geometry program's trap handler", |m| gs(m, reg::SPI_SHADER_PGM_RSRC2_GS, 1 << 6)),
    ("CP-DRAW-011", "a geometry program's shared VGPRs", |m| gs(m, reg::SPI_SHADER_PGM_RSRC2_GS, 1 << 28)),
    ("CP-DRAW-011", "geometry waves of 32 lanes", |m| {
        gs(m, reg::VGT_SHADER_STAGES_EN, geometry_programs::STAGES | 1 << 22)
    }),
    ("CP-DRAW-011", "another geometry mode", |m| gs(m, reg::VGT_GS_MODE, 1)),
    ("CP-DRAW-011", "the geometry ring in LDS", |m| gs(m, reg::VGT_GS_MODE, 3 << 21 | 3)),
    ("CP-DRAW-011", "ES_PASSTHRU", |m| gs(m, reg::VGT_GS_MODE, 1 << 13 | 3)),
    ("CP-DRAW-011", "COMPUTE_MODE", |m| gs(m, reg::VGT_GS_MODE, 1 << 14 | 3)),
    ("CP-DRAW-011", "SUPPRESS_CUTS", |m| gs(m, reg::VGT_GS_MODE, 1 << 18 | 3)),
    ("CP-DRAW-011", "EN_MAX_VERT_OUT_PER_GS_INSTANCE", |m| gs(m, reg::VGT_GS_INSTANCE_CNT, 1 << 31)),
    ("CP-DRAW-011", "a geometry draw's vertex ids above the highest", |m| gs(m, reg::GE_MAX_VTX_INDX, 1)),
    ("CP-DRAW-017", "2^25 vertices of a geometry draw", |m| {
        geometry_programs::set_up(m, [100; 4]);
        draw(m, 1 << 25)
    }),
    ("CP-DRAW-017", "2^28 geometry threads and more", |m| {
        geometry_programs::set_up(m, [100; 4]);
        m.set(reg::VGT_GS_INSTANCE_CNT, 64 << 2 | 1);
        draw(m.packet(0x2f, &[3]), 1 << 21)
    }),
    ("CP-DRAW-017", "2^28 control threads and more", |m| {
        tessellation::set_up(m, 100);
        m.set(reg::VGT_LS_HS_CONFIG, 32 << 14 | 1 << 8 | 4);
        draw(m.packet(0x2f, &[3]), 1 << 22)
    }),
    ("CP-DRAW-018", "33 words of a geometry program's user data", |m| {
        gs(m, reg::SPI_SHADER_PGM_RSRC2_GS, user_sgprs(33))
    }),
    ("CP-DRAW-018", "33 words of a copy program's user data", |m| {
        gs(m, reg::SPI_SHADER_PGM_RSRC2_VS, user_sgprs(33))
    }),
    ("CP-DRAW-019", "a geometry program's scratch without a ring", |m| {
        gs(m, reg::SPI_SHADER_PGM_RSRC2_GS, 1)
    }),
    ("CP-DRAW-023", "quads into a geometry program", |m| gs(m, reg::VGT_PRIMITIVE_TYPE, 0x13)),
    ("CP-DRAW-023", "a polygon into a geometry program", |m| gs(m, reg::VGT_PRIMITIVE_TYPE, 0x15)),
    ("CP-DRAW-023", "rectangles into a geometry program", |m| gs(m, reg::VGT_PRIMITIVE_TYPE, 0x11)),
    ("CP-DRAW-024", "no geometry ring", |m| gs(m, reg::VGT_GSVS_RING_SIZE, 0)),
    ("CP-DRAW-024", "a geometry ring of less than a slot", |m| gs(m, reg::VGT_GSVS_RING_SIZE, 31)),
    ("CP-DRAW-025", "an output primitive that does not exist", |m| gs(m, reg::VGT_GS_OUT_PRIM_TYPE, 3)),
    ("CP-DRAW-025", "one of a further stream", |m| gs(m, reg::VGT_GS_OUT_PRIM_TYPE, 1 << 31 | 4 << 16)),
    ("CP-DRAW-026", "two streams with one buffer", |m| gs(m, reg::VGT_STRMOUT_BUFFER_CONFIG, 0x3021)),
    ("CP-DRAW-028", "more LDS than there is", |m| gs(m, reg::SPI_SHADER_PGM_RSRC2_GS, 129 << 19)),
    ("CP-DRAW-011", "FP16_OVFL of a control program", |m| tess(m, reg::SPI_SHADER_PGM_RSRC1_HS, 1 << 30)),
    ("CP-DRAW-011", "a control program's trap handler", |m| tess(m, reg::SPI_SHADER_PGM_RSRC2_HS, 1 << 6)),
    ("CP-DRAW-011", "a control program's TG_SIZE", |m| tess(m, reg::SPI_SHADER_PGM_RSRC2_HS, 1 << 8)),
    ("CP-DRAW-011", "a control program's shared VGPRs", |m| tess(m, reg::SPI_SHADER_PGM_RSRC2_HS, 1 << 28)),
    ("CP-DRAW-011", "another greatest level", |m| tess(m, reg::VGT_HOS_MAX_TESS_LEVEL, 32f32.to_bits())),
    ("CP-DRAW-011", "a patch's vertex ids above the highest", |m| tess(m, reg::GE_MAX_VTX_INDX, 1)),
    ("CP-DRAW-018", "33 words of a control program's user data", |m| {
        tess(m, reg::SPI_SHADER_PGM_RSRC2_HS, user_sgprs(33))
    }),
    ("CP-DRAW-018", "33 words of an evaluation program's user data", |m| {
        tess(m, reg::SPI_SHADER_PGM_RSRC2_VS, user_sgprs(33))
    }),
    ("CP-DRAW-019", "a control program's scratch without a ring", |m| {
        tess(m, reg::SPI_SHADER_PGM_RSRC2_HS, 1)
    }),
    ("CP-DRAW-028", "more LDS of a control program", |m| tess(m, reg::SPI_SHADER_PGM_RSRC2_HS, 129 << 18)),
    ("CP-DRAW-029", "patches of no vertices", |m| tess(m, reg::VGT_LS_HS_CONFIG, 3 << 14 | 4)),
    ("CP-DRAW-029", "patches of 33 vertices", |m| tess(m, reg::VGT_LS_HS_CONFIG, 3 << 14 | 33 << 8 | 4)),
    ("CP-DRAW-029", "patches of no vertices out", |m| tess(m, reg::VGT_LS_HS_CONFIG, 3 << 8 | 4)),
    ("CP-DRAW-029", "patches of 33 vertices out", |m| tess(m, reg::VGT_LS_HS_CONFIG, 33 << 14 | 3 << 8 | 4)),
    ("CP-DRAW-030", "groups of no patches", |m| tess(m, reg::VGT_LS_HS_CONFIG, 3 << 14 | 3 << 8)),
    ("CP-DRAW-030", "no ring of levels", |m| tess(m, reg::VGT_TF_RING_SIZE, 0)),
    ("CP-DRAW-030", "a ring of less than a group's levels", |m| tess(m, reg::VGT_TF_RING_SIZE, 15)),
    ("CP-DRAW-031", "no domain", |m| tess(m, reg::VGT_TF_PARAM, 3 << 5 | 3)),
    ("CP-DRAW-031", "powers of two", |m| tess(m, reg::VGT_TF_PARAM, 3 << 5 | 1 << 2 | 1)),
    ("CP-DRAW-031", "no output", |m| tess(m, reg::VGT_TF_PARAM, 4 << 5 | 1)),
    ("CP-DRAW-031", "lines of triangles", |m| tess(m, reg::VGT_TF_PARAM, 1 << 5 | 1)),
    ("CP-DRAW-031", "triangles of isolines", |m| tess(m, reg::VGT_TF_PARAM, 2 << 5)),
    ("CP-DRAW-032", "tessellated triangles", |m| tess(m, reg::VGT_PRIMITIVE_TYPE, 4)),
    ("CP-MEM-001", "a ring of levels nowhere", |m| tess(m, reg::VGT_TF_MEMORY_BASE, 0x10)),
    ("CP-MEM-001", "indices nowhere", |m| m.packet(0x27, &[3, 0x10, 0, 3, 0])),
    ("CP-MEM-001", "arguments nowhere", |m| m.packet(0x24, &[0x10, 0, 0, 2])),
    ("CP-MEM-001", "a count nowhere", |m| m.packet(0x2c, &[0, 0, 0, 1 << 30, 1, 0x10, 0, 16, 2])),
    ("CP-MEM-003", "indices at an odd address", |m| m.packet(0x27, &[3, DATA as u32 + 1, 0, 3, 0])),
    ("CP-MEM-003", "arguments between dwords", |m| m.packet(0x24, &[2, 0, 0, 2])),
    ("CP-MEM-003", "a count between dwords", |m| m.packet(0x2c, &[0, 0, 0, 1 << 30, 1, 2, 0, 16, 2])),
    ("CP-PKT-006", "a first vertex outside of user data", |m| m.packet(0x24, &[0, 0x48, 0, 2])),
    ("CP-PKT-006", "a first instance outside of its space", |m| m.packet(0x24, &[0, 0, 0xffff, 2])),
    ("CP-PKT-006", "a draw number outside of user data", |m| {
        m.packet(0x2c, &[0, 0, 0, 1 << 31 | 0x48, 0, 0, 0, 16, 2])
    }),
    ("CP-PKT-006", "indices in an auto draw", |m| m.packet(0x2d, &[3, 0])),
    ("CP-PKT-006", "no indices in an indexed draw", |m| m.packet(0x27, &[3, 0, 0, 3, 2])),
    ("CP-PKT-006", "UNROLLED_INST", |m| m.packet(0x2d, &[3, 0x82])),
    ("CP-PKT-006", "MAJOR_MODE 1", |m| m.packet(0x2d, &[3, 6])),
    ("CP-STRM-001", "a position between dwords", |m| m.packet(0x34, &[0x80, 0, 0, 6, 0])),
    ("CP-STRM-001", "one in memory", |m| {
        m.memory.put(DATA, &[1]);
        m.packet(0x34, &[0x84, 0, 0, DATA as u32, 0])
    }),
    ("CP-STRM-002", "a written position", |m| m.set(reg::VGT_STRMOUT_BUFFER_OFFSET.at(3), 0)),
    ("CP-STRM-002", "a run over a position", |m| m.packet(0x69, &[0x2b4, 1, 2, 3, 4])),
    ("CP-STRM-002", "a changed position", |m| m.packet(0x51, &[0x2b7, 0, 0])),
    ("CP-STRM-002", "a loaded position", |m| m.packet(0x9f, &[DATA as u32, 0, 0x2b7, 1])),
    ("CP-STRM-002", "a filled size read", |m| {
        m.packet(0x40, &[5 << 8, reg::VGT_STRMOUT_BUFFER_FILLED_SIZE.at(1).0 / 4, 0, DATA as u32, 0])
    }),
    ("CP-PKT-006", "a control bit without a meaning", |m| m.packet(0x34, &[0x8, 0, 0, 0, 0])),
    ("CP-MEM-001", "a position from nowhere", |m| m.packet(0x34, &[4, 0, 0, 0x10, 0])),
    ("CP-PKT-006", "a sample of another generation", |m| m.event(32, 8, Some(DATA))),
    ("CP-EVT-003", "a sample without an address", |m| m.event(32, 3, None)),
    ("CP-MEM-001", "a sample to nowhere", |m| m.event(32, 3, Some(0x10))),
];

/// Each starts from a dispatch that is set up and not yet launched.
const DISPATCHES: &[Row] = &[
    ("CP-DISP-001", "no COMPUTE_SHADER_EN", |m| initiator(m, 0)),
    ("CP-DISP-001", "ordered append", |m| initiator(m, SHADER_EN | 1 << 3)),
    ("CP-DISP-001", "tunnelling", |m| initiator(m, SHADER_EN | 1 << 13)),
    ("CP-DISP-001", "restoring", |m| initiator(m, SHADER_EN | 1 << 14)),
    ("CP-DISP-001", "FP16_OVFL", |m| initiator(m.set(reg::COMPUTE_PGM_RSRC1, 1 << 26), SHADER_EN)),
    ("CP-DISP-001", "a trap handler", |m| rsrc2(m, 1 << 6)),
    ("CP-DISP-001", "shared VGPRs", |m| initiator(m.set(reg::COMPUTE_PGM_RSRC3, 1), SHADER_EN)),
    ("CP-DISP-001", "a fourth thread id", |m| rsrc2(m, 3 << 11)),
    ("CP-DISP-002", "no threads", |m| initiator(m.set(reg::COMPUTE_NUM_THREAD_Y, 0), SHADER_EN)),
    ("CP-DISP-002", "1032 threads", |m| initiator(m.set(reg::COMPUTE_NUM_THREAD_X, 129), SHADER_EN)),
    ("CP-DISP-002", "more threads than 64 bits", |m| {
        m.set(reg::COMPUTE_NUM_THREAD_X, 0xffff).set(reg::COMPUTE_NUM_THREAD_Y, 0xffff);
        initiator(m.set(reg::COMPUTE_NUM_THREAD_Z, 0xffff), SHADER_EN)
    }),
    ("CP-DISP-003", "a last group of 9 of 8", |m| {
        initiator(m.set(reg::COMPUTE_NUM_THREAD_X, 9 << 16 | 8), SHADER_EN | 2)
    }),
    ("CP-DISP-004", "2^96 groups", |m| dispatch(m, [u32::MAX; 3], SHADER_EN)),
    ("CP-DISP-005", "17 words of user data", |m| rsrc2(m, 17 << 1)),
    ("CP-DISP-006", "scratch without a ring", |m| rsrc2(m, 1)),
    ("CP-DISP-007", "more than 64 KiB of LDS", |m| rsrc2(m, 129 << 15)),
    ("CP-MEM-001", "indirect dims nowhere", |m| m.packet(0x16, &[0, SHADER_EN])),
];

fn stages(m: &mut Machine, bits: u32) -> &mut Machine {
    draw(m.set(reg::VGT_SHADER_STAGES_EN, bits), 3)
}

/// A geometry draw but for one register.
fn gs(m: &mut Machine, register: Register, value: u32) -> &mut Machine {
    geometry_programs::set_up(m, [100; 4]);
    draw(m.set(register, value), 12)
}

/// A tessellated draw but for one register.
fn tess(m: &mut Machine, register: Register, value: u32) -> &mut Machine {
    tessellation::set_up(m, 100);
    draw(m.set(register, value), 12)
}

fn rsrc(m: &mut Machine, rsrc1: u32, rsrc2: u32) -> &mut Machine {
    draw(m.set(reg::SPI_SHADER_PGM_RSRC1_VS, rsrc1).set(reg::SPI_SHADER_PGM_RSRC2_VS, rsrc2), 3)
}

fn topology(m: &mut Machine, value: u32) -> &mut Machine {
    draw(m.set(reg::VGT_PRIMITIVE_TYPE, value), 12)
}

fn primitive_ids(m: &mut Machine) -> &mut Machine {
    m.set(reg::VGT_PRIMITIVEID_EN, 1)
}

fn initiator(m: &mut Machine, initiator: u32) -> &mut Machine {
    dispatch(m, [1, 1, 1], initiator)
}

fn rsrc2(m: &mut Machine, bits: u32) -> &mut Machine {
    initiator(m.set(reg::COMPUTE_PGM_RSRC2, bits), SHADER_EN)
}

/// Gives buffer 3 a position that [`witness`] can store.
fn prepare(m: &mut Machine) {
    m.packet(0x34, &[3 << 8, 0, 0, 0x99, 0]).run();
}

/// A packet that writes 0x99 to memory if the stream comes to it.
fn witness(m: &mut Machine) -> &mut Machine {
    m.packet(0x34, &[3 << 8 | 7, WITNESS as u32, 0, 0, 0])
}

/// Where it writes.
const WITNESS: u64 = DATA + 0x80;

fn code(report: &SubmitReport) -> Option<&'static str> {
    report.stopped().map(|refused| refused.refusal.code())
}

#[test]
fn each_is_refused_by_its_code_and_has_no_effect() {
    let draws = DRAWS.iter().map(|row| (row, streaming(POINTS, 100)));
    let dispatches = DISPATCHES.iter().map(|row| (row, compute()));
    for ((expected, what, act), mut m) in draws.chain(dispatches) {
        prepare(&mut m);
        act(&mut m);
        let before = m.memory.words(DATA, 64);
        let report = witness(&mut m).submit();
        assert_eq!(code(&report), Some(*expected), "{what}");
        assert_eq!(m.ran(), [], "{what}");
        assert_eq!(m.memory.words(DATA, 64), before, "{what}: what follows does not happen");
    }
}

#[test]
fn a_strip_that_is_stored_may_be_shorter_than_a_list() {
    let mut m = streaming(TRIANGLE_STRIP, 100);
    assert_eq!(code(&draw(&mut m, 1 << 24).submit()), Some("CP-DRAW-017"));
    assert_eq!(m.ran(), []);
}

#[test]
fn lists_of_vertices_count_as_moved_bytes() {
    let limits = Limits { bytes: 1000, ..Limits::DEFAULT };
    let mut m = Machine::with(Config { limits, ..Config::new(Isa::Gfx1030) }, Ring::Gfx);
    set_up(&mut m, POINTS, 100);
    for _ in 0..3 {
        m.packet(0x27, &[0, 0, 0, 100, 0]);
    }
    assert_eq!(code(&m.submit()), Some("CP-PKT-011"));
    assert_eq!(m.ran().len(), 2);
}

/// The draw that rasterizes too; its code is [`Refusal::NotDrawn`]'s.
#[test]
fn the_raster_half_is_refused_and_the_rest_goes_on() {
    let mut m = streaming(POINTS, 100);
    prepare(m.set(reg::PA_CL_CLIP_CNTL, 0));
    let report = witness(draw(&mut m, 3)).submit();
    let [refused] = &report.refusals[..] else { panic!("{:?}", report.refusals) };
    assert_eq!((&refused.refusal, refused.stopped), (&Refusal::NotDrawn {}, false));
    assert_eq!(m.memory.words(DATA, 4), [0, 1, 2, 0]);
    assert_eq!(m.memory.words(WITNESS, 1), [0x99]);
}

#[test]
fn a_strict_processor_refuses_the_whole_of_such_a_draw() {
    let mut m = Machine::with(Config { strict: true, ..Config::new(Isa::Gfx1030) }, Ring::Gfx);
    set_up(&mut m, POINTS, 100);
    m.set(reg::PA_CL_CLIP_CNTL, 0);
    assert_eq!(code(&draw(&mut m, 3).submit()), Some("CP-DRAW-002"));
    assert_eq!(m.ran(), []);
}

/// What ends a stream where streamout is on or nothing is rasterized, and else leaves one draw out.
#[test]
fn a_draw_that_only_rasterizes_is_left_out_whole() {
    for (inner, what, act) in
        DRAWS.iter().filter(|row| row.0.starts_with("CP-DRAW") && row.0 != "CP-DRAW-015")
    {
        let mut m = streaming(POINTS, 100);
        m.set(reg::VGT_STRMOUT_CONFIG, 0).set(reg::PA_CL_CLIP_CNTL, !KILL);
        act(&mut m);
        // A test may turn a stream back on; then the draw is more than rasterizing.
        let report = m.submit();
        if m.register(reg::VGT_STRMOUT_CONFIG) != 0 {
            continue;
        }
        let [refused] = &report.refusals[..] else { panic!("{what}: {:?}", report.refusals) };
        let Refusal::DrawLeftOut { why } = &refused.refusal else { panic!("{what}: {refused}") };
        assert_eq!((why.code(), refused.stopped), (*inner, false), "{what}");
        assert_eq!(m.ran(), [], "{what}");
    }
}

#[test]
fn a_draw_that_counts_or_stores_is_never_left_out() {
    for (expected, what, act) in DRAWS.iter().filter(|row| row.0.starts_with("CP-DRAW")) {
        let mut m = streaming(POINTS, 100);
        m.set(reg::PA_CL_CLIP_CNTL, !KILL);
        act(&mut m);
        let report = m.submit();
        if m.register(reg::VGT_STRMOUT_CONFIG) != 0 {
            assert_eq!(code(&report), Some(*expected), "{what}");
        }
    }
}

#[test]
fn a_draw_on_a_compute_ring_is_refused() {
    let mut m = Machine::with(Config::new(Isa::Gfx1030), Ring::Compute);
    set_up(&mut m, TRIANGLES, 100);
    assert_eq!(code(&draw(&mut m, 3).submit()), Some("CP-DRAW-001"));
}

#[test]
fn an_indirect_dispatch_on_a_compute_ring_needs_three_dwords() {
    let mut m = Machine::with(Config::new(Isa::Gfx1030), Ring::Compute);
    assert_eq!(code(&m.packet(0x16, &[DATA as u32, 0]).submit()), Some("CP-PKT-005"));
}

#[test]
fn this_is_every_refusal_of_draws_dispatches_and_streamout() {
    let ours = |code: &str| ["CP-DRAW", "CP-DISP", "CP-STRM"].iter().any(|group| code.starts_with(group));
    let tested: BTreeSet<_> = DRAWS
        .iter()
        .chain(DISPATCHES)
        .map(|row| row.0)
        .chain(["CP-DRAW-001", "CP-DRAW-002", "CP-DRAW-004", "CP-DRAW-027"])
        .filter(|code| ours(code))
        .collect();
    let named: BTreeSet<_> = CATALOGUE.iter().map(|entry| entry.code).filter(|code| ours(code)).collect();
    assert_eq!(tested, named);
}
