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
//!
//! # Choices
//!
//! Where public documents are silent or leave room, this is what the interpreter does. A translator that is to agree
//! with it makes the same choices.
//!
//! | matter | choice | reason |
//! |---|---|---|
//! | SOFFSET in a buffer's range check | does not count | LLVM's text on the buffer intrinsics; drivers pass ring offsets in it |
//! | offset of the later dwords of a buffer access | does not wrap at 32 bits | inferred: only the register's sum is known to wrap |
//! | elements of swizzled buffers | 4 bytes | GFX10 descriptors have no ELEMENT_SIZE; drivers lay rings out so |
//! | range check of scalar buffer loads and of DS | each dword by itself | inferred from the vector path |
//! | a formatted store with fewer registers than components | stores 0 in the others | inferred: drivers never do it |
//! | components that a format lacks | 0, 0, 0, 1 | the rule of every graphics API |
//! | 16-bit formatted loads of integers | keep the low 16 bits | inferred |
//! | narrow integer stores out of range | clamp | the rule of D3D; Vulkan leaves it undefined |
//! | DPP8 from an inactive lane without FI | 0 | it has no BOUND_CTRL; compilers take it so |
//! | SDWA `dst_sel:DWORD` of a 16-bit result | zero-extended | the selector says what is written |
//! | several lanes store to one place | the last lane stands | lanes act in order everywhere here |
//! | atomics of lanes at one place | in the order of the lanes | as above |
//! | float atomics and NaN | a NaN wins nothing | they compare as numbers |
//! | the clock | counts the group's instructions | results are the same in every run |
//! | LDS and scratch at the start | zeros | undefined on hardware |

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
mod image;
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

/// Whether an operation has a meaning here; all others are refused by name.
pub fn interprets(op: super::Op) -> bool {
    meaning::meaning(op).is_some()
}

pub use bus::{Bus, BusFault};
pub use code::CodeCache;
pub use group::run_group;
pub use launch::{Apertures, Export, GroupResult, Message, ProgramInfo, WaveInit, WaveOutcome};
pub use stop::{CATALOGUE, Stop, StopKind};
pub use wave::Wave;
