//! What a replay reports, in the shape of `replay --json`.

use std::collections::BTreeMap;

use guestwave_cp::Refused;
use guestwave_cp::amd::SubmitReport;
use serde::Serialize;

use super::GoldenDifference;

/// One file's result.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The file as it was named.
    pub file: String,
    /// The GPU that the capture is of.
    pub gpu: String,
    /// Submissions carried out, the refused one included.
    pub submissions: u32,
    /// Whether all expectations hold, golden pages are equal, and nothing was refused.
    pub ok: bool,
    /// What the program stated.
    pub expectations: Vec<ExpectationReport>,
    /// What was refused or faulted and ended the replay, and what could not be checked.
    pub refusals: Vec<RefusalReport>,
    /// What was left out without harm to memory: the raster half of draws.
    pub not_drawn: Vec<RefusalReport>,
    /// Counts.
    pub stats: Stats,
    /// The comparison with recorded pages, all zero without `--golden`.
    pub golden: GoldenReport,
    /// Mnemonics of executed instructions whose result public documents leave open within a bound.
    pub inexact: Vec<String>,
}

/// One expectation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExpectationReport {
    /// Its text.
    pub text: String,
    /// Whether it holds.
    pub ok: bool,
    /// Why it does not, empty if it does.
    pub detail: String,
}

/// What the detail of an expectation begins with if the replay ended before it could be checked.
pub const NOT_REACHED: &str = "not reached";

/// What became of an expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// It holds.
    Holds,
    /// It does not, and how.
    Fails(String),
    /// It cannot be checked, and why.
    Refused(&'static str),
}

/// One refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusalReport {
    /// Stable code.
    pub code: &'static str,
    /// Submission, as the capture numbers it.
    pub submission: u32,
    /// Byte offset of the packet in its indirect buffer, 0 where no packet is at fault.
    pub packet_offset: u32,
    /// What was met and what is missing.
    pub text: String,
}

impl RefusalReport {
    /// A refusal of something other than a packet. Its text is the error's without the code.
    pub fn whole(code: &'static str, error: &dyn std::error::Error, submission: u32) -> Self {
        let text = error.to_string();
        let text = text
            .strip_prefix(code)
            .and_then(|t| t.strip_prefix(": "))
            .map_or(text.as_str(), |t| t)
            .to_owned();
        RefusalReport { code, submission, packet_offset: 0, text }
    }

    /// A refusal inside a submission.
    pub fn new(refused: &Refused, submission: u32) -> Self {
        RefusalReport {
            code: refused.refusal.code(),
            submission,
            packet_offset: refused.at.packet_offset,
            text: refused.refusal.to_string(),
        }
    }
}

/// Counts over the whole replay.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Packets carried out.
    pub packets: u64,
    /// Draw packets.
    pub draws: u64,
    /// Compute dispatch packets.
    pub dispatches: u64,
    /// Waves that ran.
    pub waves: u64,
    /// Guest instructions that they executed.
    pub instructions: u64,
    /// Modules that were translated.
    pub modules: u64,
    /// Dispatches that found their module translated.
    pub module_hits: u64,
    /// How programs were held, why, and how many of them, where the backend has a choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldReport>,
    /// Bytes that programs and packets stored.
    pub bytes_stored: u64,
    /// Seconds of wall-clock time.
    pub wall_seconds: f64,
}

/// Programs that were held alike for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldReport {
    /// `wave`, `lane` or `pair`.
    pub holding: &'static str,
    /// Why: a clause.
    pub why: &'static str,
    /// How many.
    pub programs: u64,
}

impl Stats {
    /// Adds what a submission came to.
    pub fn add(&mut self, done: &SubmitReport) {
        self.packets += done.work.packets;
        self.draws += done.work.draws;
        self.dispatches += done.work.dispatches;
        self.waves += done.ran.waves;
        self.instructions += done.ran.instructions;
        self.bytes_stored += done.ran.bytes_stored + done.work.bytes_written;
    }
}

/// The comparison with recorded pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GoldenReport {
    /// Pages compared.
    pub pages: u64,
    /// Those that differ.
    pub differ: Vec<GoldenDifference>,
}

impl Report {
    /// Takes over what a translating executor counted.
    pub fn count_modules(&mut self, stats: Option<&std::sync::Mutex<guestwave_translate::executor::Stats>>) {
        let Some(stats) = stats else { return };
        let stats = stats.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (self.stats.modules, self.stats.module_hits) = (stats.modules, stats.module_hits);
        let mut counted = BTreeMap::new();
        for held in stats.held.values() {
            *counted.entry((held.holding.name(), held.why)).or_default() += 1;
        }
        let report = |((holding, why), programs)| HeldReport { holding, why, programs };
        self.stats.held = counted.into_iter().map(report).collect();
    }

    /// The exit status that this result asks for: 0, 1 or 2.
    pub fn exit_status(&self) -> u8 {
        if !self.refusals.is_empty() {
            2
        } else if self.expectations.iter().any(|e| !e.ok) || !self.golden.differ.is_empty() {
            1
        } else {
            0
        }
    }
}
