//! What the integration tests share.
#![expect(clippy::unwrap_used, reason = "a test that cannot list or read its inputs has to stop")]
#![allow(dead_code, reason = "each test binary uses its part")]

pub(crate) mod guest;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use guestwave_harness::capture::{Capture, Record, load};
use guestwave_harness::executor::{DEFAULT_STEPS, ReferenceExecutor};
use guestwave_harness::replay::{Outcome, ReplayOptions, replay};
use guestwave_translate::backend::Backend;
use guestwave_translate::executor::{Options, Stats as ExecutorStats, TranslatingExecutor};

/// The captures that stand in the repository.
pub(crate) fn own_captures() -> Vec<PathBuf> {
    captures_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("captures"))
}

/// One of them by name.
pub(crate) fn own(name: &str) -> Capture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures").join(format!("{name}.cap.zst"));
    load(&path).unwrap()
}

/// The repository's captures, and those in the folder `amd` of the one that `GUESTWAVE_CAPTURES` names where it is set.
pub(crate) fn all_captures() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("GUESTWAVE_CAPTURES") else { return own_captures() };
    let more = captures_in(&Path::new(&folder).join("amd"));
    assert!(!more.is_empty(), "GUESTWAVE_CAPTURES is set, and its folder amd has no captures");
    [own_captures(), more].concat()
}

/// Captures that state nothing and whose recorded pages are wrong, because the executor that recorded them had no
/// geometry pipeline: `outputs.rs` says what they must store.
pub(crate) const STATED_ELSEWHERE: [&str; 3] =
    ["piglit_gs_basic", "piglit_overflow_query", "piglit_xfb_streams"];

/// A capture's name: its file name without the extensions.
pub(crate) fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    name.trim_end_matches(".zst").trim_end_matches(".cap").to_owned()
}

fn captures_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.to_string_lossy().ends_with(".cap.zst"));
    paths.sort();
    paths
}

/// Replays with golden pages compared and freed buffer objects kept.
pub(crate) fn run(capture: &Capture) -> Outcome {
    run_with(capture, DEFAULT_STEPS)
}

/// As [`run`] with another step budget.
pub(crate) fn run_with(capture: &Capture, steps: u64) -> Outcome {
    let options = ReplayOptions { golden: true, keep_freed: true, rows: 2 };
    replay(capture, Box::new(ReferenceExecutor::with_steps(steps)), options)
}

/// What a replay came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// `pass`, `fail`, or `refused CODE` with the first refusal's code; recorded pages do not count here.
    pub(crate) own: String,
    /// `equal`, `differ` or `none`: the recorded pages.
    pub(crate) recorded: String,
}

/// What a replay came to.
pub(crate) fn verdict(outcome: &Outcome) -> Verdict {
    let report = &outcome.report;
    let own = match (report.refusals.first(), report.expectations.iter().all(|e| e.ok)) {
        (Some(refusal), _) => format!("refused {}", refusal.code),
        (None, true) => "pass".to_owned(),
        (None, false) => "fail".to_owned(),
    };
    let recorded = match (report.golden.pages, report.golden.differ.is_empty()) {
        (0, _) => "none",
        (_, true) => "equal",
        (_, false) => "differ",
    };
    Verdict { own, recorded: recorded.to_owned() }
}

/// A hash of each buffer object's bytes.
pub(crate) fn contents(outcome: &Outcome) -> BTreeMap<u32, u64> {
    let hash = |bytes: &[u8]| {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        hasher.finish()
    };
    outcome.buffers.iter().map(|b| (b.bo, b.with_bytes(hash))).collect()
}

/// The capture up to the packet that a replay refused: the records before the refused submission, and of that the
/// packets before the refused one.
pub(crate) fn before_the_refusal(capture: &Capture, outcome: &Outcome) -> Capture {
    let refusal = &outcome.report.refusals[0];
    let is_refused = |r: &Record| matches!(r, Record::Submit(s) if s.index == refusal.submission);
    let at = capture.records.iter().position(is_refused).unwrap();
    let mut records = capture.records[..=at].to_vec();
    if let Some(Record::Submit(submit)) = records.last_mut() {
        let place = submit.ibs.iter().rposition(|ib| ib.bytes > refusal.packet_offset).unwrap();
        submit.ibs.truncate(place + 1);
        submit.ibs[place].bytes = refusal.packet_offset;
    }
    Capture { gpu: capture.gpu.clone(), records }
}

/// Captures that the translator refuses, with the code.
fn untranslated() -> BTreeMap<&'static str, &'static str> {
    let rows = include_str!("../../captures/untranslated.tsv").lines().filter(|l| !l.starts_with('#'));
    rows.skip(1).filter_map(|l| l.split_once('\t')).collect()
}

/// Replays with translated programs on a backend.
pub(crate) fn translated(
    capture: &Capture,
    backend: Box<dyn Backend>,
    options: Options,
) -> (Outcome, ExecutorStats) {
    let executor = TranslatingExecutor::new(backend, options);
    let stats = executor.stats();
    let options = ReplayOptions { golden: true, keep_freed: true, rows: 2 };
    let outcome = replay(capture, Box::new(executor), options);
    let stats = stats.lock().unwrap().clone();
    (outcome, stats)
}

/// What differs from the reference, if anything.
pub(crate) fn difference(path: &Path, backend: Box<dyn Backend>, options: Options) -> Option<String> {
    let (name, capture) = (&*name_of(path), &load(path).unwrap());
    let reference = run(capture);
    let (outcome, _) = translated(capture, backend, options);
    let (wanted, found) = (verdict(&reference), verdict(&outcome));
    if let Some(code) = untranslated().get(name) {
        let refused = format!("refused {code}");
        return (found.own != refused).then(|| format!("{name}\t{found:?}\t(expected: {refused})"));
    }
    if wanted != found {
        return Some(format!("{name}\t{found:?}\t(reference: {wanted:?})"));
    }
    let same = contents(&reference) == contents(&outcome);
    (!same).then(|| format!("{name}\tmemory differs from the reference's"))
}
