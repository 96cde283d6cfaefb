//! The reference meaning of GFX10 code: an interpreter that runs one workgroup of waves at a time.
//!
//! [`run_group`] takes the waves' first registers, runs them to their ends against a [`Bus`], and returns what they
//! exported and sent. It shares no code with any translator.
//!
//! # Invariants
//!
//! 1. An instruction that has no meaning here is refused by name before it has any effect ([`Stop`]).
//! 2. Every run ends: each executed instruction takes one from the caller's budget.
//! 3. Nothing panics, whatever the code, the registers and the descriptors hold.
//! 4. Waves of a group take turns in the order of their numbers: a wave runs until it ends, waits at a barrier, or
//!    has executed many instructions. Results that depend on another order the hardware does not promise either.
//! 5. A [`Stop`] leaves what was stored before it in the [`Bus`]; whoever gives the bus undoes that.

pub mod alu;
mod atomic;
mod bus;
mod code;
mod control;
mod cross_lane;
mod exec_mask;
mod export;
mod group;
mod hints;
mod hwreg;
mod launch;
mod lds;
mod machine;
mod meaning;
mod memory;
mod move_relative;
mod operand;
mod registers;
mod scalar;
mod slot;
mod smem;
mod stop;
mod vector;
mod wave;

pub use bus::{Bus, BusFault};
pub use code::CodeCache;
pub use group::run_group;
pub use launch::{Apertures, Export, GroupResult, Message, ProgramInfo, WaveInit, WaveOutcome};
pub use stop::{Stop, StopKind};
pub use wave::Wave;
