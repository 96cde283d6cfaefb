//! The executors that a replay can choose.
//!
//! [`ReferenceExecutor`] joins the interpreter of `guestwave-isa` to the executor seam of `guestwave-cp`: it runs
//! every wave in order against an overlay of guest memory and commits, when all of them have ended, exactly the bytes
//! that they stored.

mod fallback;
mod grid;
mod overlay;
mod reference;
mod rules;
mod valhall;

pub use fallback::Fallback;
pub(crate) use reference::target;
pub use reference::{DEFAULT_STEPS, EXECUTOR_ERRORS, ExecutorError, ReferenceExecutor};

#[cfg(test)]
mod tests;
