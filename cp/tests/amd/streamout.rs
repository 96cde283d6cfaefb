//! Positions across packets, draws and submissions.

use guestwave_cp::amd::reg;

use crate::draw::{POINTS, TRIANGLES, draw, streaming, user_sgprs};
use crate::support::{DATA, Machine, PROGRAM_USER_DATA};

/// Control bits of STRMOUT_BUFFER_UPDATE.
const STORE: u32 = 1;
const FILLED_SIZE: u32 = 1 << 1;
const MEMORY: u32 = 2 << 1;
const NONE: u32 = 3 << 1;
const BYTES: u32 = 1 << 7;

const SAVED: u64 = DATA + 0x8000;

const fn buffer(n: u32) -> u32 {
    n << 8
}

/// STRMOUT_BUFFER_UPDATE with the position in the packet.
fn begin(m: &mut Machine, control: u32, position: u32) -> &mut Machine {
    m.packet(0x34, &[control, 0, 0, position, 0])
}

/// STRMOUT_BUFFER_UPDATE with the position in memory.
fn resume(m: &mut Machine, control: u32, from: u64) -> &mut Machine {
    m.packet(0x34, &[control | MEMORY, 0, 0, from as u32, (from >> 32) as u32])
}

/// STRMOUT_BUFFER_UPDATE that stores the position.
fn end(m: &mut Machine, control: u32, to: u64) -> &mut Machine {
    m.packet(0x34, &[control | NONE | STORE, to as u32, (to >> 32) as u32, 0, 0])
}

/// The stored position of buffer `n`, in dwords.
fn position(m: &mut Machine, n: u32) -> u32 {
    end(m, buffer(n), SAVED + 0x100).run();
    m.memory.words(SAVED + 0x100, 1)[0]
}

#[test]
fn draws_append() {
    let mut m = streaming(POINTS, 100);
    begin(&mut m, 0, 0);
    draw(draw(&mut m, 3), 2).run();
    assert_eq!(m.memory.words(DATA, 6), [0, 1, 2, 0, 1, 0]);
    assert_eq!(position(&mut m, 0), 5);
}

#[test]
fn positions_outlive_a_submission() {
    let mut m = streaming(POINTS, 100);
    draw(&mut m, 3).run();
    draw(&mut m, 2).run();
    assert_eq!(m.memory.words(DATA, 6), [0, 1, 2, 0, 1, 0]);
}

#[test]
fn a_begin_at_zero_overwrites() {
    let mut m = streaming(POINTS, 100);
    draw(&mut m, 5).run();
    draw(begin(&mut m, 0, 0), 2).run();
    assert_eq!(position(&mut m, 0), 2);
}

#[test]
fn a_packets_position_need_not_be_zero() {
    for (control, packet) in [(0, 3), (BYTES, 12)] {
        let mut m = streaming(POINTS, 100);
        draw(begin(&mut m, control, packet), 2).run();
        assert_eq!(m.memory.words(DATA, 6), [0, 0, 0, 0, 1, 0]);
        assert_eq!(position(&mut m, 0), 5);
    }
}

#[test]
fn the_position_counts_against_the_size() {
    // A range of a buffer: the size is counted from the base, as the position is.
    let mut m = streaming(POINTS, 5);
    draw(begin(&mut m, 0, 3), 10).run();
    assert_eq!(position(&mut m, 0), 5);
    assert_eq!(m.memory.words(DATA, 6), [0, 0, 0, 0, 1, 0]);
}

#[test]
fn positions_are_loaded_and_stored_in_the_packets_unit() {
    for (control, loaded, stored) in [(0, 7, 9), (BYTES, 28, 36)] {
        let mut m = streaming(POINTS, 100);
        m.memory.put(SAVED, &[loaded, 0x5555]);
        resume(&mut m, control, SAVED);
        end(draw(&mut m, 2), control, SAVED + 8).run();
        assert_eq!(m.memory.words(SAVED, 4), [loaded, 0x5555, stored, 0]);
    }
}

#[test]
fn rule_5_a_paused_draw_is_not_stored_and_the_next_one_appends() {
    let mut m = streaming(POINTS, 100);
    end(draw(begin(&mut m, 0, 0), 3), 0, SAVED);
    m.set(reg::VGT_STRMOUT_CONFIG, 0);
    draw(&mut m, 4);
    m.set(reg::VGT_STRMOUT_CONFIG, 0xf);
    draw(resume(&mut m, 0, SAVED), 2).run();
    assert_eq!(m.memory.words(DATA, 6), [0, 1, 2, 0, 1, 0]);
}

#[test]
fn rule_5_another_capture_in_the_pause_does_not_move_the_first() {
    let mut m = streaming(POINTS, 100);
    end(draw(begin(&mut m, 0, 0), 3), 0, SAVED);
    draw(begin(&mut m, 0, 20), 7);
    draw(resume(&mut m, 0, SAVED), 2).run();
    assert_eq!(m.memory.words(DATA, 6), [0, 1, 2, 0, 1, 0]);
    assert_eq!(m.memory.words(DATA + 80, 8), [0, 1, 2, 3, 4, 5, 6, 0]);
}

#[test]
fn rule_7_a_buffer_exchanged_at_resume_has_its_own_room_and_position() {
    let mut m = streaming(POINTS, 3);
    draw(begin(&mut m, 0, 0), 10);
    // Another buffer, larger, that already holds one vertex.
    m.memory.put(SAVED, &[1]);
    m.set(reg::SPI_SHADER_USER_DATA_VS.at(0), DATA as u32 + 0x1000)
        .set(reg::VGT_STRMOUT_BUFFER_SIZE.at(0), 6);
    draw(resume(&mut m, 0, SAVED), 10).run();
    assert_eq!(m.memory.words(DATA, 4), [0, 1, 2, 0]);
    assert_eq!(m.memory.words(DATA + 0x1000, 7), [0, 0, 1, 2, 3, 4, 0]);
    assert_eq!(position(&mut m, 0), 6);
}

#[test]
fn rule_10_the_buffer_is_a_number_and_the_source_two_bits() {
    let mut m = streaming(POINTS, 100);
    for n in 0..4 {
        begin(&mut m, buffer(n), 10 + n);
    }
    begin(&mut m, buffer(3), 77).run();
    assert_eq!([0, 1, 2, 3].map(|n| position(&mut m, n)), [10, 11, 12, 77]);
    // Without bit 0 nothing is stored, and with source "none" nothing is set.
    m.memory.put(SAVED, &[0x5555]);
    m.packet(0x34, &[buffer(2) | NONE, SAVED as u32, 0, 99, 0]).run();
    assert_eq!(m.memory.words(SAVED, 1), [0x5555]);
    assert_eq!(position(&mut m, 2), 12);
}

#[test]
fn the_units_own_filled_size_is_the_position_it_has() {
    let mut m = streaming(POINTS, 100);
    draw(begin(&mut m, 0, 4), 2);
    m.packet(0x34, &[FILLED_SIZE, 0, 0, 99, 0]).run();
    assert_eq!(position(&mut m, 0), 6);
}

#[test]
fn a_packet_that_stores_and_sets_stores_the_old_position() {
    let mut m = streaming(POINTS, 100);
    begin(&mut m, 0, 4);
    m.packet(0x34, &[STORE, SAVED as u32, 0, 9, 0]).run();
    assert_eq!(m.memory.words(SAVED, 1), [4]);
    assert_eq!(position(&mut m, 0), 9);
}

#[test]
fn a_position_past_the_end_leaves_no_room() {
    let mut m = streaming(POINTS, 100);
    draw(begin(&mut m, 0, u32::MAX), 10).run();
    assert_eq!(position(&mut m, 0), u32::MAX);
}

#[test]
fn two_buffers_stop_together() {
    let mut m = streaming(TRIANGLES, 9);
    m.set(reg::VGT_STRMOUT_BUFFER_CONFIG, 0b0101)
        .set(reg::VGT_STRMOUT_BUFFER_SIZE.at(2), 13)
        .set(reg::VGT_STRMOUT_VTX_STRIDE.at(2), 2);
    draw(&mut m, 12).run();
    assert_eq!([0, 1, 2, 3].map(|n| position(&mut m, n)), [6, 0, 12, 0]);
}

#[test]
fn a_buffer_that_the_program_does_not_use_moves_all_the_same() {
    let mut m = streaming(POINTS, 9);
    m.set(reg::SPI_SHADER_PGM_RSRC2_VS, user_sgprs(PROGRAM_USER_DATA));
    draw(&mut m, 4).run();
    assert_eq!(position(&mut m, 0), 4);
}

#[test]
fn only_the_first_stream_has_draws_without_a_geometry_program() {
    let mut m = streaming(POINTS, 9);
    m.set(reg::VGT_STRMOUT_CONFIG, 0b1110).set(reg::VGT_STRMOUT_BUFFER_CONFIG, 0x1111);
    draw(&mut m, 4).run();
    assert_eq!(position(&mut m, 0), 0);
    assert_eq!(m.memory.words(DATA, 2), [0, 0]);
}

#[test]
fn a_zero_stride_sets_no_limit() {
    let mut m = streaming(POINTS, 0);
    m.set(reg::VGT_STRMOUT_VTX_STRIDE.at(0), 0);
    draw(&mut m, 4).run();
    assert_eq!(position(&mut m, 0), 0);
    assert_eq!(m.memory.words(DATA, 5), [0, 1, 2, 3, 0]);
}

#[test]
fn a_draw_that_faults_moves_nothing_and_what_follows_does_not_happen() {
    let mut m = streaming(POINTS, 100);
    draw(begin(&mut m, 0, 0), 3).run();
    m.executor.fault = Some(1);
    let report = end(draw(&mut m, 2), 0, SAVED).submit();
    assert_eq!(report.stopped().map(|r| r.refusal.code()), Some("TEST"));
    assert_eq!(m.memory.words(SAVED, 1), [0], "nothing is stored after the fault");
    assert_eq!(position(&mut m, 0), 3);
}

#[test]
fn an_update_that_cannot_store_sets_nothing() {
    let mut m = streaming(POINTS, 100);
    begin(&mut m, 0, 4).run();
    let report = m.packet(0x34, &[STORE, 0x10, 0, 9, 0]).submit();
    assert_eq!(report.stopped().map(|r| r.refusal.code()), Some("CP-MEM-001"));
    assert_eq!(position(&mut m, 0), 4);
}

#[test]
fn the_streamout_flush_says_that_offsets_are_done() {
    let mut m = streaming(POINTS, 100);
    // WRITE_DATA clears CP_STRMOUT_CNTL, the event sets bit 0, WAIT_REG_MEM waits for it.
    m.set(reg::CP_STRMOUT_CNTL, 0).event(31, 0, None).run();
    assert_eq!(m.register(reg::CP_STRMOUT_CNTL), 1);
}
