//! Draws whose arguments come from memory or from a captured buffer, and draws that depend on a predicate.

use guestwave_cp::amd::reg;

use crate::assembly::{U16, UNSET, indices, marked, stored};
use crate::draw::{KILL, POINTS, SO_EN, draw, so_base, streaming, user_sgprs};
use crate::support::{DATA, Machine, PROGRAM_USER_DATA, waves};

/// Where arguments are, and where a number of draws is.
const ARGUMENTS: u64 = DATA + 0x5000;
const COUNT: u64 = DATA + 0x5800;

/// DRAW_INDIRECT and its kin.
const INDIRECT: u32 = 0x24;
const INDEX_INDIRECT: u32 = 0x25;
const INDIRECT_MULTI: u32 = 0x2c;
const INDEX_INDIRECT_MULTI: u32 = 0x38;

/// The places, in the shader space, of user data words 3, 4 and 5 of the vertex program.
const FIRST_VERTEX: u32 = 0x4c + PROGRAM_USER_DATA;
const FIRST_INSTANCE: u32 = FIRST_VERTEX + 1;
const DRAW_INDEX: u32 = FIRST_VERTEX + 2;

const COUNT_INDIRECT: u32 = 1 << 30;
const DRAW_INDEX_ENABLE: u32 = 1 << 31;

/// A machine that stores points, with arguments in memory at an offset of 16 from SET_BASE.
fn indirect(arguments: &[u32]) -> Machine {
    let mut m = marked(POINTS);
    m.memory.put(ARGUMENTS, arguments);
    m.packet(0x11, &[1, ARGUMENTS as u32 - 16, 0]);
    m
}

/// The same, and indices 10, 11, ... 19.
fn indirect_indexed(arguments: &[u32]) -> Machine {
    let mut m = indirect(arguments);
    indices(&mut m, U16, &(10..20).collect::<Vec<_>>());
    m.packet(0x26, &[crate::assembly::INDICES as u32, 0]).packet(0x13, &[10]);
    m
}

/// Gives the program three more words of user data, which the packets below set.
fn told(m: &mut Machine) -> &mut Machine {
    m.set(reg::SPI_SHADER_PGM_RSRC2_VS, user_sgprs(PROGRAM_USER_DATA + 3) | SO_EN | so_base(0))
}

/// The three words, for each draw.
fn words(m: &mut Machine) -> Vec<Vec<u32>> {
    let first = PROGRAM_USER_DATA as usize;
    m.run().ran().iter().map(|d| waves(d)[0].sgprs[first..first + 3].to_vec()).collect()
}

#[test]
fn an_indirect_draw_reads_vertices_and_instances() {
    let mut m = indirect(&[3, 2, 70, 80]);
    m.packet(INDIRECT, &[16, 0, 0, 2]);
    assert_eq!(stored(&mut m), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn the_first_vertex_and_instance_go_to_the_user_data_that_the_packet_names() {
    let mut m = indirect(&[3, 1, 70, 80]);
    told(&mut m).packet(INDIRECT, &[16, FIRST_VERTEX, FIRST_INSTANCE, 2]);
    assert_eq!(words(&mut m), [[70, 80, 0]]);
    assert_eq!(m.register(reg::SPI_SHADER_USER_DATA_VS.at(PROGRAM_USER_DATA)), 70);
    // A later draw still has them.
    draw(&mut m, 1);
    assert_eq!(words(&mut m), [[70, 80, 0]]);
}

#[test]
fn place_zero_names_no_user_data() {
    let mut m = indirect(&[3, 1, 70, 80]);
    told(&mut m).packet(INDIRECT, &[16, 0, FIRST_INSTANCE, 2]);
    assert_eq!(words(&mut m), [[0, 80, 0]]);
}

#[test]
fn an_indexed_indirect_draw_starts_at_its_first_index() {
    let mut m = indirect_indexed(&[3, 2, 4, 70, 80]);
    m.packet(INDEX_INDIRECT, &[16, 0, 0, 0]);
    assert_eq!(stored(&mut m), [14, 15, 16, 14, 15, 16]);
    let mut m = indirect_indexed(&[3, 1, 4, 70, 80]);
    told(&mut m).packet(INDEX_INDIRECT, &[16, FIRST_VERTEX, FIRST_INSTANCE, 0]);
    assert_eq!(words(&mut m), [[70, 80, 0]]);
}

#[test]
fn an_indexed_indirect_draw_is_bound_by_the_index_buffers_size() {
    for (first, expected) in [(8, [18, 19, 0]), (10, [0; 3]), (u32::MAX, [0; 3])] {
        let mut m = indirect_indexed(&[3, 1, first, 0, 0]);
        m.packet(INDEX_INDIRECT, &[16, 0, 0, 0]);
        assert_eq!(stored(&mut m), expected, "from index {first}");
    }
}

#[test]
fn no_instance_is_no_draw_where_memory_says_so() {
    let mut m = indirect(&[3, 0, 0, 0]);
    m.packet(INDIRECT, &[16, 0, 0, 2]);
    assert_eq!(stored(&mut m), []);
    assert_eq!(m.ran(), []);
}

#[test]
fn several_draws_are_told_their_numbers() {
    let mut m = indirect(&[1, 1, 70, 80, 99, 2, 1, 71, 81, 99, 1, 2, 72, 82, 99]);
    told(&mut m).packet(
        INDIRECT_MULTI,
        &[16, FIRST_VERTEX, FIRST_INSTANCE, DRAW_INDEX | DRAW_INDEX_ENABLE, 3, 0, 0, 20, 2],
    );
    assert_eq!(words(&mut m), [[70, 80, 0], [71, 81, 1], [72, 82, 2]]);
}

#[test]
fn several_draws_append() {
    let mut m = indirect(&[1, 1, 0, 0, 2, 1, 0, 0, 1, 2, 0, 0]);
    m.packet(INDIRECT_MULTI, &[16, 0, 0, 0, 3, 0, 0, 16, 2]);
    assert_eq!(stored(&mut m), [0, 0, 1, 0, 0]);
    let mut m = indirect_indexed(&[1, 1, 3, 0, 0, 2, 1, 5, 0, 0]);
    m.packet(INDEX_INDIRECT_MULTI, &[16, 0, 0, 0, 2, 0, 0, 20, 0]);
    assert_eq!(stored(&mut m), [13, 15, 16]);
}

#[test]
fn a_number_without_its_enable_is_not_told() {
    let mut m = indirect(&[1, 1, 70, 80]);
    told(&mut m).packet(INDIRECT_MULTI, &[16, 0, 0, DRAW_INDEX, 1, 0, 0, 16, 2]);
    assert_eq!(words(&mut m), [[0, 0, 0]]);
}

#[test]
fn a_count_in_memory_lowers_the_packets() {
    for (count, draws) in [(0, 0), (2, 2), (3, 3), (7, 3)] {
        let mut m = indirect(&[1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0]);
        m.memory.put(COUNT, &[count]);
        m.packet(INDIRECT_MULTI, &[16, 0, 0, COUNT_INDIRECT, 3, COUNT as u32, 0, 16, 2]);
        assert_eq!(stored(&mut m).len(), draws, "count {count}");
    }
}

#[test]
fn arguments_are_read_before_the_first_of_several_draws() {
    // The first draw's vertex 0 overwrites the second draw's number of vertices.
    let mut m = indirect(&[1, 1, 0, 0, 2, 1, 0, 0]);
    m.set(reg::SPI_SHADER_USER_DATA_VS.at(0), ARGUMENTS as u32 + 16);
    m.packet(INDIRECT_MULTI, &[16, 0, 0, 0, 2, 0, 0, 16, 2]).run();
    assert_eq!(m.memory.words(ARGUMENTS + 16, 4), [0, 0, 1, 0]);
}

#[test]
fn arguments_are_read_after_what_earlier_draws_stored() {
    let mut m = indirect(&[9, 1, 0, 0]);
    m.set(reg::SPI_SHADER_USER_DATA_VS.at(0), ARGUMENTS as u32);
    draw(&mut m, 1);
    m.packet(INDIRECT, &[16, 0, 0, 2]).run();
    assert_eq!(m.ran().len(), 1, "the draw has 0 vertices by then");
}

#[test]
fn a_refused_draw_of_several_leaves_those_before_it() {
    let mut m = indirect(&[1, 1, 0, 0, u32::MAX, 1, 0, 0, 1, 1, 0, 0]);
    let report = m.packet(INDIRECT_MULTI, &[16, 0, 0, 0, 3, 0, 0, 16, 2]).submit();
    assert_eq!(report.stopped().map(|r| r.refusal.code()), Some("CP-DRAW-017"));
    assert_eq!(m.memory.words(DATA, 2), [0, UNSET]);
}

#[test]
fn several_draws_that_rasterize_are_reported_once() {
    let mut m = indirect(&[1, 1, 0, 0, 1, 1, 0, 0]);
    m.set(reg::PA_CL_CLIP_CNTL, !KILL);
    let report = m.packet(INDIRECT_MULTI, &[16, 0, 0, 0, 2, 0, 0, 16, 2]).submit();
    let codes: Vec<_> = report.refusals.iter().map(|r| r.refusal.code()).collect();
    assert_eq!((codes, report.work.draws), (vec!["CP-DRAW-002"], 1));
    // Nothing is left undone of no draw.
    let report = m.packet(INDIRECT_MULTI, &[16, 0, 0, 0, 0, 0, 0, 16, 2]).submit();
    assert_eq!(report.refusals, []);
}

/// (filled size, offset, stride, vertices)
type Opaque = (u32, u32, u32, usize);

const OPAQUE: &[Opaque] = &[
    (12, 0, 4, 3),
    (15, 0, 4, 3),
    (12, 4, 4, 2),
    (3, 4, 4, 0),
    (12, 0, 0, 0),
    // VERTEX_STRIDE has nine bits.
    (0x400, 0, 0x200 | 0x100, 4),
];

/// DRAW_INDEX_AUTO with USE_OPAQUE; its own count does not matter.
fn draw_opaque(m: &mut Machine) -> &mut Machine {
    m.packet(0x2d, &[77, 0x42])
}

#[test]
fn an_opaque_draw_has_as_many_vertices_as_were_filled() {
    for (filled, offset, stride, vertices) in OPAQUE {
        let mut m = marked(POINTS);
        m.set(reg::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE, *filled)
            .set(reg::VGT_STRMOUT_DRAW_OPAQUE_OFFSET, *offset)
            .set(reg::VGT_STRMOUT_DRAW_OPAQUE_VERTEX_STRIDE, *stride);
        draw_opaque(&mut m);
        assert_eq!(stored(&mut m).len(), *vertices, "({filled} - {offset}) / {stride}");
    }
}

#[test]
fn an_opaque_draw_has_instances() {
    let mut m = marked(POINTS);
    m.set(reg::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE, 2)
        .set(reg::VGT_STRMOUT_DRAW_OPAQUE_VERTEX_STRIDE, 1)
        .packet(0x2f, &[2]);
    draw_opaque(&mut m);
    assert_eq!(stored(&mut m), [0, 1, 0, 1]);
}

#[test]
fn rule_4_a_captured_count_survives_other_work() {
    const SAVED: u64 = DATA + 0x6000;
    let filled = reg::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE;
    let loads: [fn(&mut Machine, u32) -> &mut Machine; 2] = [
        |m, register| m.packet(0x9f, &[SAVED as u32, 0, (register - 0x28000) / 4, 1]),
        |m, register| m.packet(0x40, &[1, SAVED as u32, 0, register / 4, 0]),
    ];
    for load in loads {
        let mut m = marked(POINTS);
        // Five points are captured and their position saved; two points go elsewhere, in another submission.
        draw(m.packet(0x34, &[0, 0, 0, 0, 0]), 5).packet(0x34, &[7, SAVED as u32, 0, 0, 0]).run();
        m.set(reg::SPI_SHADER_USER_DATA_VS.at(0), DATA as u32 + 0x200);
        draw(m.packet(0x34, &[0, 0, 0, 0, 0]), 2).run();
        m.set(reg::SPI_SHADER_USER_DATA_VS.at(0), DATA as u32 + 0x300)
            .set(reg::VGT_STRMOUT_DRAW_OPAQUE_VERTEX_STRIDE, 1)
            .packet(0x34, &[0, 0, 0, 0, 0]);
        draw_opaque(load(&mut m, filled.0)).run();
        assert_eq!(m.memory.words(DATA + 0x300, 6), [0, 1, 2, 3, 4, 0]);
    }
}

/// SET_PREDICATION by a dword: DRAW_IF.
const BOOL32: u32 = 4 << 16;
const DRAW_IF: u32 = 1 << 8;

/// Every draw packet, drawing two points or the indices 10 and 11.
const PACKETS: &[(u32, &[u32])] = &[
    (0x2d, &[2, 2]),
    (0x27, &[10, crate::assembly::INDICES as u32, 0, 2, 0]),
    (0x35, &[10, 0, 2, 0]),
    (INDIRECT, &[16, 0, 0, 2]),
    (INDEX_INDIRECT, &[36, 0, 0, 0]),
    (INDIRECT_MULTI, &[16, 0, 0, 0, 1, 0, 0, 16, 2]),
    (INDEX_INDIRECT_MULTI, &[36, 0, 0, 0, 1, 0, 0, 20, 0]),
];

#[test]
fn draws_with_the_predicate_bit_depend_on_the_predicate() {
    for (opcode, body) in PACKETS {
        for (flags, value, predicated, drawn) in [
            (BOOL32 | DRAW_IF, 0, true, false),
            (BOOL32 | DRAW_IF, 5, true, true),
            (BOOL32, 0, true, true),
            (BOOL32, 5, true, false),
            (BOOL32 | DRAW_IF, 0, false, true),
            (0, 0, true, true),
        ] {
            let mut m = indirect_indexed(&[2, 1, 0, 0, 99, 2, 1, 0, 0, 0]);
            m.memory.put(COUNT, &[value]);
            m.packet(0x20, &[flags, COUNT as u32, 0]);
            m.header_bits(u32::from(predicated)).packet(*opcode, body).header_bits(0);
            let count = stored(&mut m).len();
            assert_eq!(count, if drawn { 2 } else { 0 }, "{opcode:#x} {flags:#x} {value} {predicated}");
        }
    }
}

#[test]
fn a_skipped_draw_moves_and_counts_nothing() {
    let mut m = streaming(POINTS, 100);
    m.event(25, 0, None).packet(0x20, &[BOOL32 | DRAW_IF, COUNT as u32, 0]);
    draw(m.header_bits(1), 3).header_bits(0);
    m.event(32, 3, Some(DATA + 0x100)).packet(0x34, &[7, DATA as u32 + 0x120, 0, 0, 0]).run();
    assert_eq!(m.memory.words(DATA + 0x100, 4), [0, 1 << 31, 0, 1 << 31]);
    assert_eq!(m.memory.words(DATA + 0x120, 1), [0]);
}
