//! Every executor leaves the same bytes: translated programs on each backend against the reference interpreter, over every
//! capture.
#![expect(clippy::unwrap_used, reason = "what cannot be read or set up has to stop the test")]

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;

use guestwave_backend_soft::SoftBackend;
use guestwave_harness::capture::{Capture, load};
use guestwave_harness::replay::{Outcome, ReplayOptions, replay};
use guestwave_translate::backend::Backend;
use guestwave_translate::executor::{Options, Stats, TranslatingExecutor};
use guestwave_translate::plain::PlainBackend;

/// Captures that the translator refuses, with the code.
fn untranslated() -> BTreeMap<&'static str, &'static str> {
    let rows = include_str!("../captures/untranslated.tsv").lines().filter(|l| !l.starts_with('#'));
    rows.skip(1).filter_map(|l| l.split_once('\t')).collect()
}

fn plain() -> Box<dyn Backend> {
    Box::new(PlainBackend::new())
}

fn soft() -> Box<dyn Backend> {
    Box::new(SoftBackend::new(Default::default()).unwrap())
}

fn translated(capture: &Capture, backend: Box<dyn Backend>) -> (Outcome, Stats) {
    let executor = TranslatingExecutor::new(backend, Options::default());
    let stats = executor.stats();
    let options = ReplayOptions { golden: true, keep_freed: true, rows: 2 };
    let outcome = replay(capture, Box::new(executor), options);
    let stats = stats.lock().unwrap().clone();
    (outcome, stats)
}

/// What differs from the reference, if anything.
fn difference(name: &str, capture: &Capture, backend: Box<dyn Backend>) -> Option<String> {
    let reference = common::run(capture);
    let (outcome, _) = translated(capture, backend);
    let (wanted, found) = (common::verdict(&reference), common::verdict(&outcome));
    if let Some(code) = untranslated().get(name) {
        let refused = format!("refused {code}");
        return (found.own != refused).then(|| format!("{name}\t{found:?}\t(expected: {refused})"));
    }
    if wanted != found {
        return Some(format!("{name}\t{found:?}\t(reference: {wanted:?})"));
    }
    let same = common::contents(&reference) == common::contents(&outcome);
    (!same).then(|| format!("{name}\tmemory differs from the reference's"))
}

fn all_agree(paths: &[PathBuf], backend: fn() -> Box<dyn Backend>) {
    let wrong: Vec<String> =
        paths.iter().filter_map(|p| difference(&common::name_of(p), &load(p).unwrap(), backend())).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_evaluator_leaves_the_references_bytes() {
    all_agree(&common::own_captures(), plain);
}

#[test]
fn native_code_leaves_the_references_bytes() {
    all_agree(&common::own_captures(), soft);
}

#[test]
fn native_code_leaves_the_references_bytes_over_the_shared_captures() {
    all_agree(&common::shared_captures(), soft);
}

/// 1,000 vertices in 16 waves at least, from one module and in one launch.
#[test]
fn every_wave_of_every_draw_shares_one_module() {
    let (outcome, stats) = translated(&common::own("many_points"), soft());
    assert_eq!(common::verdict(&outcome).own, "pass");
    assert_eq!((outcome.report.stats.draws, stats.modules), (1, 2), "the draw's module and the clear's");
    assert_eq!(stats.launches, outcome.report.stats.draws + outcome.report.stats.dispatches);
    assert!(outcome.report.stats.waves > 16);
}
