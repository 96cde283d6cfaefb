//! SAMPLE_STREAMOUTSTATS and what it samples.

use guestwave_cp::amd::reg;

use crate::draw::{POINTS, TRIANGLE_STRIP, TRIANGLES, draw, streaming};
use crate::support::{DATA, Machine};

const START: u32 = 25;
const STOP: u32 = 26;
const SAMPLE: u64 = DATA + 0x8000;
/// Each sampled word has its last bit set.
const WRITTEN: u64 = 1 << 63;

/// (needed, written) of stream 0.
fn sample(m: &mut Machine) -> (u64, u64) {
    m.event(32, 3, Some(SAMPLE)).run();
    let words = m.memory.words(SAMPLE, 4);
    let [needed, written] = [0, 2].map(|n| u64::from(words[n]) | u64::from(words[n + 1]) << 32);
    assert_eq!([needed & WRITTEN, written & WRITTEN], [WRITTEN; 2]);
    (needed & !WRITTEN, written & !WRITTEN)
}

#[test]
fn needed_counts_every_primitive_and_written_those_that_fit() {
    let mut m = streaming(TRIANGLES, 7);
    draw(m.event(START, 0, None), 12);
    assert_eq!(sample(&mut m), (4, 2));
}

#[test]
fn counters_run_between_start_and_stop_only() {
    let mut m = streaming(POINTS, 100);
    draw(&mut m, 1);
    draw(m.event(START, 0, None), 2).event(STOP, 0, None);
    draw(&mut m, 4);
    draw(m.event(START, 0, None), 8);
    assert_eq!(sample(&mut m), (10, 10));
    // All of them were stored.
    m.packet(0x34, &[7, SAMPLE as u32, 0, 0, 0]).run();
    assert_eq!(m.memory.words(SAMPLE, 1), [15]);
}

#[test]
fn a_start_lasts_into_later_submissions() {
    let mut m = streaming(POINTS, 100);
    m.event(START, 0, None).run();
    draw(&mut m, 3).run();
    assert_eq!(sample(&mut m), (3, 3));
}

#[test]
fn without_a_buffer_primitives_are_needed_and_not_written() {
    let mut m = streaming(TRIANGLE_STRIP, 100);
    m.set(reg::VGT_STRMOUT_BUFFER_CONFIG, 0);
    draw(m.event(START, 0, None), 10);
    assert_eq!(sample(&mut m), (8, 0));
}

#[test]
fn with_streamout_off_nothing_counts() {
    let mut m = streaming(POINTS, 100);
    m.set(reg::VGT_STRMOUT_CONFIG, 0);
    draw(m.event(START, 0, None), 10);
    assert_eq!(sample(&mut m), (0, 0));
}

#[test]
fn each_stream_has_its_event() {
    let mut m = streaming(POINTS, 100);
    draw(m.event(START, 0, None), 3);
    for (n, event) in [(0, 32), (1, 1), (2, 2), (3, 3)] {
        m.event(event, 3, Some(SAMPLE + 16 * n));
    }
    m.run();
    let low: Vec<_> = m.memory.words(SAMPLE, 17).into_iter().step_by(2).collect();
    assert_eq!(low, [3, 3, 0, 0, 0, 0, 0, 0, 0]);
    let high: Vec<_> = m.memory.words(SAMPLE, 18).into_iter().skip(1).step_by(2).collect();
    assert_eq!(high[..8], [1 << 31; 8]);
    assert_eq!(high[8], 0, "nothing is written past the last sample");
}

#[test]
fn a_faulted_draw_is_not_counted() {
    let mut m = streaming(POINTS, 100);
    m.executor.fault = Some(0);
    draw(m.event(START, 0, None), 3).submit();
    assert_eq!(sample(&mut m), (0, 0));
}
