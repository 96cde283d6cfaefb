//! What geometry draws of captures stored, where the capture states nothing and the executor that recorded it had no
//! geometry pipeline. The values are what the programs themselves ask for.

mod common;

use guestwave_harness::executor::ReferenceExecutor;
use guestwave_harness::replay::{CapturedRows, Outcome, ReplayOptions, replay};

fn run(name: &str) -> Outcome {
    assert!(common::STATED_ELSEWHERE.contains(&name), "{name} states something itself");
    let options = ReplayOptions { golden: false, keep_freed: true, rows: 64 };
    replay(&common::own(name), Box::new(ReferenceExecutor::default()), options)
}

/// What each draw stored: submission, buffer, rows.
fn stored(outcome: &Outcome) -> Vec<(u32, &CapturedRows)> {
    let launches = outcome.trace.launches.iter();
    launches.flat_map(|launch| launch.rows.iter().map(|rows| (launch.submission, rows))).collect()
}

/// Rows of one buffer: each dword of row `r` and column `c` as `value` gives it.
fn assert_rows(rows: &CapturedRows, count: u64, value: impl Fn(u32, u32) -> u32) {
    assert_eq!(rows.count, count);
    for (r, row) in (0..).zip(&rows.rows) {
        let expected: Vec<_> = (0..row.len() as u32).map(|c| Some(value(r, c))).collect();
        assert_eq!(*row, expected, "row {r} of buffer {}", rows.buffer);
    }
}

fn float(value: u32) -> u32 {
    (value as f32).to_bits()
}

/// Values count up from another number in each stream, by one from vertex to vertex and from component to component.
#[test]
fn four_streams_store_each_into_its_own_buffer() {
    const FIRST: [u32; 4] = [1, 2, 7, 12];
    const COMPONENTS: [usize; 4] = [1, 5, 5, 3];
    let outcome = run("piglit_xfb_streams");
    let stored = stored(&outcome);
    assert_eq!(
        stored.iter().map(|(s, rows)| (*s, rows.buffer)).collect::<Vec<_>>(),
        [(2, 0), (2, 1), (2, 2), (2, 3), (3, 0), (3, 1), (3, 2), (3, 3)]
    );
    for (_, rows) in stored {
        let buffer = usize::from(rows.buffer);
        assert!(rows.rows.iter().all(|row| row.len() == COMPONENTS[buffer]));
        assert_rows(rows, 32, |r, c| float(FIRST[buffer] + r + c));
    }
}

#[test]
fn one_point_becomes_ten() {
    let outcome = run("piglit_gs_basic");
    let stored = stored(&outcome);
    let [(2, rows)] = stored[..] else { panic!("{stored:?}") };
    assert_rows(rows, 10, |r, _| r);
}

/// Stream 1's values are 20 above stream 0's. Three points overflow a buffer with room for two; the draw of one point
/// that a submission ends with depends on that.
#[test]
fn what_overflows_stops_its_own_stream_and_decides_later_draws() {
    let outcome = run("piglit_overflow_query");
    let stored = stored(&outcome);
    for (submission, rows) in &stored {
        assert!((1..=3).contains(&rows.count), "{submission}");
        let first = if rows.buffer == 1 { 20 } else { 0 };
        assert_rows(rows, rows.count, |r, _| float(first + r));
    }
    let draws =
        outcome.trace.launches.iter().filter_map(|launch| launch.draw.map(|draw| (launch.submission, draw)));
    let overflows: Vec<_> =
        draws.filter(|(_, d)| d.primitives_written < d.primitives_needed).map(|(s, _)| s).collect();
    assert_eq!(overflows, [2, 4, 6, 9, 10, 11, 12, 14, 15, 16, 17, 18, 20, 21, 22, 23]);
}
