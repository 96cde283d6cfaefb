//! Intel batches from packet to bytes: captured ones, worked examples, and random declaration lists, on every executor.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what cannot be read or set up has to stop the test")]

mod batches;
mod copy;
mod examples;
mod hostile;
mod random;
mod stage;
mod support;
