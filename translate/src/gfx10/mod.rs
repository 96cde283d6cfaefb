//! The AMD GFX10 front end: machine code to [`Program`](crate::program::Program).
//!
//! code -> [`flow::Graph`] (basic blocks) -> [`flow::Tree`] (structured control) -> emission, which walks the tree and lowers one
//! instruction after the other with the rows of `ops`.
//!
//! # Masks and the wave's way
//!
//! A guest wave has one program counter; which lanes take part stands in EXEC. Emission keeps EXEC, VCC and every
//! other lane mask as one varying `Bool` for as long as nobody wants the number, and decides for each branch how it is taken:
//!
//! - **uniform**: the condition is a number that every lane computes alike (SCC of scalar arithmetic);
//! - **lane**: the condition is whether EXEC has any lane, and the code that it skips or repeats has no effect that an
//!   inactive lane could see, so each lane goes its own way by its own EXEC bit;
//! - **vote**: the real wave-wide question, a wave operation.
//!
//! Which of these holds is decided by analysis on the guest's code alone, so that every backend
//! runs the same program.

pub mod flow;

mod emit;
mod error;
mod event;
mod exact;
mod ops;
mod plan;
mod shape;
mod translation;

/// Whether an operation is translated; all others are refused by name.
pub fn translates(op: guestwave_isa::gfx10::Op) -> bool {
    flow::follows(op) || ops::lowering(op).is_some() || exact::vector_row(op).is_some()
}

pub(crate) use emit::lane_value;
pub use error::Refusal;
pub use event::{Event, EventKind, OVERFLOW};
pub use shape::{GridShape, LaneShape, LaunchShape, LaunchWords, ScalarShape};
pub use translation::{Assumption, Known, Source, Translation, translate};
