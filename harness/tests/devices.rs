//! Captures on whatever graphics device there is, in every holding, against the reference interpreter. Without a device these
//! tests fail: install a Vulkan driver (mesa-vulkan-drivers has one for the CPU).
#![expect(clippy::unwrap_used, reason = "what cannot be read or set up has to stop the test")]

mod common;

use std::path::PathBuf;
use std::sync::OnceLock;

use guestwave_backend_wgpu::{Options as WgpuOptions, WgpuBackend};
use guestwave_harness::shared_backend::SharedBackend;
use guestwave_translate::backend::{Backend, Holding};
use guestwave_translate::executor::Options;

/// Captures that stand for the others: few enough for every change. `GUESTWAVE_ALL_CAPTURES` runs all that there are.
const CHOSEN: [&str; 9] = [
    "draw_tf",
    "gs_invocations",
    "instanced",
    "int_mix",
    "n_compute",
    "points_interleaved",
    "rv_indirect",
    "tri_strip",
    "tris_partial",
];

/// The device, opened once. `GUESTWAVE_ADAPTER` chooses the adapter.
fn device() -> Box<dyn Backend> {
    static DEVICE: OnceLock<SharedBackend> = OnceLock::new();
    let open = || {
        let adapter = std::env::var("GUESTWAVE_ADAPTER").ok();
        let options = WgpuOptions { adapter, ..WgpuOptions::default() };
        SharedBackend::new(Box::new(WgpuBackend::open(&options).unwrap()))
    };
    Box::new(DEVICE.get_or_init(open).clone())
}

fn captures() -> Vec<PathBuf> {
    if std::env::var_os("GUESTWAVE_ALL_CAPTURES").is_some() {
        return common::all_captures();
    }
    let chosen = |p: &PathBuf| CHOSEN.contains(&&*common::name_of(p));
    let captures: Vec<_> = common::own_captures().into_iter().filter(chosen).collect();
    assert_eq!(captures.len(), CHOSEN.len());
    captures
}

fn all_agree(holding: Option<Holding>) {
    let options = Options { holding, ..Options::default() };
    let wrong: Vec<String> =
        captures().iter().filter_map(|p| common::difference(p, device(), options)).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn programs_leave_the_references_bytes_in_the_best_holding() {
    all_agree(None);
}

#[test]
fn programs_leave_the_references_bytes_with_the_whole_wave_in_an_invocation() {
    all_agree(Some(Holding::Wave));
}

#[test]
fn programs_leave_the_references_bytes_with_one_lane_an_invocation() {
    all_agree(Some(Holding::Lane));
}

#[test]
fn programs_leave_the_references_bytes_with_two_lanes_an_invocation() {
    all_agree(Some(Holding::Pair));
}

/// Its waves meet where each may go its own way.
#[test]
fn waves_that_part_are_held_as_was_asked() {
    let capture = common::own("n_compute");
    for holding in [Holding::Lane, Holding::Pair, Holding::Wave] {
        let options = Options { holding: Some(holding), ..Options::default() };
        let (outcome, stats) = common::translated(&capture, device(), options);
        assert_eq!(common::verdict(&outcome).own, "pass");
        assert!(stats.held.values().any(|h| h.holding == holding), "{holding:?}");
    }
}

/// 1,000 vertices in 16 waves at least: one module and one launch in each holding.
#[test]
fn every_wave_of_every_draw_shares_one_module() {
    for holding in [Holding::Lane, Holding::Pair, Holding::Wave] {
        let options = Options { holding: Some(holding), ..Options::default() };
        let (outcome, stats) = common::translated(&common::own("many_points"), device(), options);
        assert_eq!(common::verdict(&outcome).own, "pass");
        assert_eq!((outcome.report.stats.draws, stats.modules), (1, 2), "the draw's module and the clear's");
        assert_eq!(stats.launches, outcome.report.stats.draws + outcome.report.stats.dispatches);
        assert!(outcome.report.stats.waves > 16);
    }
}
