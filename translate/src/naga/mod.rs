//! Programs as naga modules.
//!
//! [`lower`] makes a module from a [`Program`] for one [`Holding`] and one host; [`spirv`] writes it as SPIR-V with the decorations
//! that keep drivers from changing floats. What a module expects from its host is in [`layout`].
//!
//! # Invariants
//!
//! 1. A module never indexes outside a buffer: every index is checked against what the launch block, the page table or the
//!    module's own sizes say.
//! 2. Barriers stand in control flow that is the same for the whole workgroup; where that cannot be shown the holding is
//!    refused.
//! 3. Every loop counts its iterations and ends by itself, before a host that ends loops in silence would.
//! 4. A fault is recorded, never acted upon: the host discards what a faulted launch did.
//! 5. Lanes may run in any order only where the order cannot be seen. Where two lanes might store one byte, the marks tell, and
//!    the launch is run again in the whole-wave holding.

mod ahead;
mod atomic;
mod bounds;
mod caps;
mod convert;
mod counts;
mod course;
mod direct;
mod events;
mod float;
mod flow;
mod fma64;
mod fours;
mod func;
mod general;
mod group;
mod harden;
mod helpers;
mod hoist;
mod int;
pub mod layout;
mod local;
mod lower;
mod memory;
mod opaque;
mod ops;
mod pages;
mod parts;
mod phases;
mod plan;
mod remake;
mod report;
mod segment;
mod shape;
mod spill;
mod spread;
mod wave;
mod zeros;

pub use caps::*;
pub use harden::{spirv, validate};
pub use hoist::Hoists;

use crate::backend::{Fidelity, Holding};
use crate::program::{Program, Workgroups};

/// How a program is to be lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// How a wave is held.
    pub holding: Holding,
    /// How exact floats are.
    pub fidelity: Fidelity,
    /// Waves of a workgroup (the most that any has), for programs whose waves have something in common.
    pub waves_per_group: u32,
    /// Whether workgroups have different numbers of waves, the last one perhaps.
    pub ragged: bool,
    /// Whether different slots may be taken to be apart in guest memory.
    pub slots_apart: bool,
    /// Whether accesses are done the direct way only: aligned, in their slot's window or in one whole 4 KiB part. Modules are small
    /// then; a launch that needs more says so and is run again the general way.
    pub direct: bool,
    /// Whether the launch block has the words of [`Hoists`].
    pub hoisted: bool,
    /// Whether accesses through slots of unknown size go to their window (they are only guessed to lie there) or by the page table.
    pub pointers: bool,
    /// Whether waves are held back where the host would soon end their loops, and taken up again by another dispatch of the launch.
    pub resumes: bool,
    /// Whether a launch that went wrong is told of without saying how, which the same module without this says.
    pub quiet: bool,
    /// The workgroups that the program was made for ([`crate::program::specialize`]), if it was.
    pub workgroups: Option<Workgroups>,
}

/// A module and what its host must know of it.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The module; its entry point is [`ENTRY`].
    pub module: naga::Module,
    /// What the host must know.
    pub facts: Facts,
}

/// Name of the entry point.
pub const ENTRY: &str = "main";

/// What a host must know of a module to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Waves that a host workgroup runs.
    pub waves_per_workgroup: u32,
    /// Invocations of a host workgroup.
    pub invocations: u32,
    /// Whether a host workgroup is a guest workgroup.
    pub grouped: bool,
    /// Words of the spill buffer that each wave needs.
    pub spill_words: u32,
    /// Places in the program that a record may speak of.
    pub sites: Vec<Site>,
    /// Whether it was used that slots are apart.
    pub slots_apart: bool,
    /// Whether 64-bit atomics are used.
    pub atomics64: bool,
    /// Bytes of workgroup memory.
    pub shared_bytes: u32,
    /// Whether workgroup memory starts as 0.
    pub zeroed: bool,
}

/// A place in a program that may stop a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// What it is.
    pub kind: SiteKind,
    /// Byte offset of the guest instruction.
    pub pc: u32,
    /// Whether it is an access to guest memory.
    pub global: bool,
}

/// What a [`Site`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// A read-modify-write.
    Atomic,
    /// A trap with its code.
    Trap(&'static str),
    /// A loop.
    Loop,
}

/// Why a program cannot be lowered so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {reason}")]
pub struct Unsupported {
    /// Stable code.
    pub code: &'static str,
    /// A sentence.
    pub reason: String,
}

/// Codes of [`Unsupported`].
pub mod codes {
    /// The module does not pass naga's validation, or the program breaks its own rules: a fault of the translator.
    pub const INTERNAL: &str = "NAGA-INT-001";
    /// A barrier or wave operation stands where the waves of a workgroup may go different ways.
    pub const FLOW: &str = "NAGA-FLOW-001";
    /// More workgroup memory than the host has.
    pub const SHARED: &str = "NAGA-SHARED-001";
    /// More waves in a workgroup than the host runs.
    pub const GROUP: &str = "NAGA-GROUP-001";
    /// 64-bit atomics, which the host lacks: on guest memory, or on LDS that several waves have in common.
    pub const ATOMICS64: &str = "NAGA-ATOMIC-001";
    /// More parameters or slots than a launch block holds.
    pub const PARAMS: &str = "NAGA-PARAM-001";
}

/// Makes a module of a verified program.
///
/// # Errors
/// What the host or the holding cannot do.
pub fn lower(program: &Program, caps: &HostCaps, options: &Options) -> Result<Lowered, Unsupported> {
    lower::lower(program, caps, options)
}

/// Whether the waves of a workgroup have something in common: LDS or barriers.
pub fn shares(program: &Program) -> bool {
    plan::shares(&program.body)
}
