//! Mali programs as exact dispatches: the captured jobs, random programs, and hostile ones, on every executor.
#![expect(clippy::unwrap_used, reason = "what cannot be set up has to stop the test")]

mod attributes;
mod command;
mod hostile;
mod jobs;
mod programs;
mod support;
mod varyings;
