//! What a run has met, and what of it is told at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use guestwave_cp::Refused;
use guestwave_cp::amd::SubmitReport;

use serde::Serialize;

use super::lock;
use crate::replay::{RefusalReport, Stats};

/// Where a report comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The submission.
    pub(super) submission: u32,
}

/// Something that was met, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// The first one.
    pub first: RefusalReport,
    /// How many there were.
    pub times: u64,
}

/// What a run came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Submissions.
    pub submissions: u64,
    /// Counts; the seconds are those that rings worked.
    pub stats: Stats,
    /// What was refused, by code.
    pub refusals: BTreeMap<&'static str, Seen>,
    /// What was left out without harm to memory, by code.
    pub not_drawn: BTreeMap<&'static str, Seen>,
    /// Mnemonics of executed instructions whose result public documents leave open within a bound.
    pub inexact: BTreeSet<&'static str>,
    /// What the kernel interface was asked and is not answered here.
    pub unanswered: BTreeSet<String>,
}

/// How many different questions without an answer are told: a program can make up any number.
const MOST_UNANSWERED: usize = 100;

/// Called when something was refused.
pub(super) type OnRefusal = Box<dyn Fn() + Send + Sync>;

/// The summary as it grows.
pub(super) struct Report {
    summary: Mutex<Summary>,
    on_refusal: Option<OnRefusal>,
}

fn count(seen: &mut BTreeMap<&'static str, Seen>, report: RefusalReport) -> bool {
    let entry = seen.entry(report.code).or_insert(Seen { first: report, times: 0 });
    entry.times += 1;
    entry.times == 1
}

impl Report {
    /// An empty one.
    pub(super) fn new(on_refusal: Option<OnRefusal>) -> Report {
        Report { summary: Mutex::default(), on_refusal }
    }

    /// What has been met so far.
    pub(super) fn summary(&self) -> Summary {
        lock(&self.summary).clone()
    }

    /// A submission was carried out, as far as it went.
    pub(super) fn submission(&self, source: Source, done: &SubmitReport, took: Duration) {
        let mut summary = lock(&self.summary);
        summary.submissions += 1;
        summary.stats.add(done);
        summary.stats.wall_seconds += took.as_secs_f64();
        summary.inexact.extend(done.inexact.iter().copied());
        drop(summary);
        for refused in &done.refusals {
            self.refused(source, refused);
        }
    }

    fn refused(&self, source: Source, refused: &Refused) {
        let report = RefusalReport::new(refused, source.submission);
        match refused.stopped {
            true => self.refusal(report),
            false => drop(count(&mut lock(&self.summary).not_drawn, report)),
        }
    }

    /// A submission was refused as a whole.
    pub(super) fn refused_whole(&self, source: Source, code: &'static str, error: &dyn std::error::Error) {
        lock(&self.summary).submissions += 1;
        self.refusal(RefusalReport::whole(code, error, source.submission));
    }

    /// Tells the first of each code at once.
    fn refusal(&self, report: RefusalReport) {
        let RefusalReport { code, submission, packet_offset, .. } = report;
        let text = report.text.clone();
        if count(&mut lock(&self.summary).refusals, report) {
            anstream::eprintln!(
                "guestwave: refused {code}: {text} (submission {submission}, packet at byte {packet_offset:#x})"
            );
        }
        if let Some(act) = &self.on_refusal {
            act();
        }
    }

    /// The kernel interface was asked something that is not answered here. Tells the first time.
    pub(super) fn unanswered(&self, what: &str) {
        let mut summary = lock(&self.summary);
        if summary.unanswered.len() < MOST_UNANSWERED && summary.unanswered.insert(what.to_owned()) {
            anstream::eprintln!("guestwave: the virtual GPU does not answer {what}");
        }
    }

    /// Adds what a translating executor counted.
    pub(super) fn modules(&self, stats: &guestwave_translate::executor::Stats) {
        let mut summary = lock(&self.summary);
        summary.stats.modules += stats.modules;
        summary.stats.module_hits += stats.module_hits;
    }
}
