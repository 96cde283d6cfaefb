//! Mali's descriptors, formats and linker where they meet: captured draws, random sets of varyings, generated programs.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop")]

mod attributes;
mod captured;
mod command;
mod linker;
mod programs;
