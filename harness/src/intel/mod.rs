//! Intel batches: captures of them, worked examples, and the machine that runs both.
//!
//! A capture is a JSON file of one submission: buffer objects with their addresses, the batch's packets, and the memory
//! that stood behind them ([`IntelCapture`]). [`IntelMachine`] puts it into guest memory and runs it on the command
//! processor, with vertex programs on the reference interpreter ([`KernelStage`]). [`Example`]s are stream-output draws whose
//! vertices are given.

mod capture;
mod error;
mod example;
mod machine;
mod vertices;

pub use capture::{IntelBuffer, IntelCapture, is_intel};
pub use error::{INTEL_ERRORS, IntelError};
pub use example::{Example, ExampleRun};
pub use machine::IntelMachine;
pub use vertices::KernelStage;
