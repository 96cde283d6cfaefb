//! Intel batches: captures of them, worked examples, and the machine that runs both.
//!
//! A capture is a JSON file of one submission: buffer objects with their addresses, the batch's packets, and the memory
//! that stood behind them ([`IntelCapture`]). [`IntelMachine`] puts it into guest memory and runs it on the command
//! processor. [`Example`]s are stream-output draws whose vertices are given.

mod capture;
mod error;
mod example;
mod machine;

pub use capture::{IntelBuffer, IntelCapture, is_intel};
pub use error::{INTEL_ERRORS, IntelError};
pub use example::{Example, ExampleRun};
pub use machine::IntelMachine;

use guestwave_cp::intel::{NoPrograms, VertexStage};

/// What runs vertex programs here.
pub fn vertex_stage() -> Box<dyn VertexStage> {
    Box::new(NoPrograms)
}
