//! Replaying a capture: records in order, submissions to the command processor, expectations against what came out.
//!
//! A replay ends at the first submission that is refused or faults: nothing after it takes effect, and memory is as
//! the packets before the refusal left it. What the walk goes on after (the pixels of a draw that also captures) is
//! reported apart, as not drawn.
//!
//! # When expectations are checked
//!
//! `buf` expectations speak of a buffer that the program reads back once it has stated them. They are checked when
//! the buffer object is freed, or else at the end of the capture, so that a later store into the wrong place shows.
//! A buffer is found by the trailer in its last 64 bytes; see [`tracked`] for which copy counts where there are
//! several.
//!
//! `teximage` expectations are stated once the program has read the image back, and are checked there: the last
//! compute dispatch of the submission before that stored rows of that size is the driver's copy to staging memory.

mod expect;
mod golden;
mod machine;
mod queries;
mod report;
mod run;
mod texels;
mod trace;
pub mod tracked;

pub use expect::{
    EXPECTATION_REFUSALS, Expectation, ExpectationRefusal, QueryKind, Texels, Which, parse_expectation,
};
pub use golden::GoldenDifference;
pub use machine::{GPUS, Machine, Prepare, Processors, REPLAY_ERRORS, ReplayError, isa_of};
pub use report::{
    Checked, ExpectationReport, GoldenReport, HeldReport, NOT_REACHED, RefusalReport, Report, Stats,
};
pub use run::{Outcome, ReplayOptions, replay, replay_watched};
pub use trace::{CapturedRows, Launch, Sample, Trace};

#[cfg(test)]
mod tests;
