//! Runs guest programs on wgpu.
//!
//! [`WgpuBackend`] takes programs in the translator's lane-level form, lowers them to naga modules, and runs batches of launches
//! against guest memory that its arena on the device mirrors page by page.
//!
//! # Invariants
//!
//! 1. Guest memory is written only after a whole launch went well, and only where its lanes stored: the modules mark every
//!    byte that they store, and nothing else is read back.
//! 2. A launch that misses a page is run again from the state before it; what it stored on the device is discarded.
//! 3. One thread owns the device and its queue; orders go to it through a channel, and it never sees guest memory.
//! 4. What the device does to floats, loops and subgroups is found by running programs at the start, not assumed.

mod backend;
mod cache;
pub mod codes;
mod device;
mod flight;
mod gpu;
mod judge;
mod marks;
mod page_table;
mod plain;
mod prepare;
mod probe;
mod raw;
mod residency;
mod stamps;
mod variants;
mod windows;
mod worker;

pub use backend::{Options, Stats, WgpuBackend};
pub use device::OpenError;
pub use plain::{Measured, PlainProgram};
pub use probe::{Check, Probe};
pub use stamps::DeviceClock;
