//! From guest programs to programs that a host can run.
//!
//! A guest program is decoded by `guestwave-isa`, turned into a [`program::Program`] (typed values, structured control
//! flow, explicit wave operations), and run by a [`backend::Backend`]: `guestwave-backend-soft` compiles the form
//! itself, `guestwave-backend-wgpu` takes the naga module made from it.
//!
//! # Invariants
//!
//! 1. The crate shares no code with the reference interpreter of `guestwave-isa`, only the decoded instructions.
//! 2. A program is refused by name before anything of it runs; nothing is guessed.
//! 3. What varies from dispatch to dispatch is read from the parameter block; what is compiled in is in the key.

pub mod backend;
pub mod codes;
mod convert;
pub mod executor;
pub mod gfx10;
pub mod naga;
pub mod plain;
pub mod program;
pub mod sol;
pub mod valhall;
pub mod varying;
mod ways;
