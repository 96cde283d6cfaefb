//! Every executor leaves the same bytes: translated programs on each backend against the reference interpreter, over every
//! capture.
#![expect(clippy::unwrap_used, reason = "what cannot be read or set up has to stop the test")]

mod common;

use std::path::PathBuf;

use guestwave_backend_soft::SoftBackend;
use guestwave_translate::backend::Backend;
use guestwave_translate::executor::Options;
use guestwave_translate::plain::PlainBackend;

fn plain() -> Box<dyn Backend> {
    Box::new(PlainBackend::new())
}

fn soft() -> Box<dyn Backend> {
    Box::new(SoftBackend::new(Default::default()).unwrap())
}

fn all_agree(paths: &[PathBuf], backend: fn() -> Box<dyn Backend>) {
    let wrong: Vec<String> =
        paths.iter().filter_map(|p| common::difference(p, backend(), Options::default())).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_evaluator_leaves_the_references_bytes() {
    all_agree(&common::own_captures(), plain);
}

#[test]
fn native_code_leaves_the_references_bytes() {
    all_agree(&common::all_captures(), soft);
}

/// 1,000 vertices in 16 waves at least, from one module and in one launch.
#[test]
fn every_wave_of_every_draw_shares_one_module() {
    let (outcome, stats) = common::translated(&common::own("many_points"), soft(), Options::default());
    assert_eq!(common::verdict(&outcome).own, "pass");
    assert_eq!((outcome.report.stats.draws, stats.modules), (1, 2), "the draw's module and the clear's");
    assert_eq!(stats.launches, outcome.report.stats.draws + outcome.report.stats.dispatches);
    assert!(outcome.report.stats.waves > 16);
}
