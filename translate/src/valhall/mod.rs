//! The Arm Valhall (v9) front end: machine code to [`Program`](crate::program::Program).
//!
//! Threads are independent of each other, so a lane of a wave is a thread, and a branch is taken by each lane alone. Code becomes
//! basic blocks and structured control by the same analysis as AMD's; emission walks the control and lowers one instruction
//! after the other by the rows of its subject.
//!
//! # Invariants
//!
//! 1. The choices that public documents leave open are those of the reference interpreter; the code is not.
//! 2. Descriptors that decide conversions (formats, divisors, tables) are read when the program is translated and become
//!    assumptions; addresses, strides, sizes and offsets are read by the program as it runs.
//! 3. A register is a variable; what is known to be in it is remembered within the open blocks.

mod alu;
mod attribute;
mod control;
mod emit;
mod error;
mod fragment;
mod graph;
mod memory;
mod operand;
mod prologue;
mod resource;
mod translation;
mod varying;

pub use error::Refusal;
pub use translation::{Source, translate};
