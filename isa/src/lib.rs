//! Guest GPU instruction sets: decode, disassemble, and the reference meaning of each instruction.
//!
//! The crate stands on the ground: it sees neither guest memory traits nor any GPU API. A decoded program is plain
//! data ([`gfx10::Inst`]); the reference interpreter in [`gfx10::interp`] gives it meaning one wave at a time and
//! shares no code with the translator, so that the two can be held against each other.
//!
//! # Invariants
//!
//! 1. Decoding is total: any words at any offset give an instruction or an error that carries the byte offset and
//!    the raw word; nothing panics.
//! 2. An instruction's length comes from its encoding, never from a re-assembled form.
//! 3. Opcodes, operand shapes and targets are rows of `tables/`; code never restates them.
//! 4. The interpreter takes a step budget and ends; an instruction without a meaning is refused by name before it
//!    has any effect.

mod coded;
pub mod format;
pub mod gen7;
pub mod gfx10;
pub mod mali;

/// Code and sentence of one refusal; braces in the sentence name what a report fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Stable code.
    pub code: &'static str,
    /// The sentence.
    pub sentence: &'static str,
}
