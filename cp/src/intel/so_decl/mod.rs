//! SO_DECL lists: which components of a vertex go to which buffer, and which dwords of a record stay as they are.
//!
//! Intel's stream-output stage (SOL) knows no destination offsets. For each vertex it walks its stream's list with one
//! write pointer a buffer: a declaration stores consecutive components of one VUE slot at its buffer's pointer and moves
//! the pointer on, a *hole* only moves it. A record with a gap therefore needs a hole for each gap, in the buffer whose
//! gap it is; what follows a buffer's last declaration needs none, since the next record starts a pitch further on.
//!
//! - [`SoDecl`] is one entry, [`DeclList`] the packet's content, decoded and encoded without loss.
//! - [`Record`] is what an API wants captured, with destination offsets; [`Record::link`] finds the list with the fewest
//!   entries.
//! - [`varyings`] makes a record of OpenGL's varying names.

mod entry;
mod error;
mod link;
mod list;
pub mod varyings;

pub use entry::{HoleMasks, SoDecl};
pub use error::{SO_DECL_ERRORS, SoDeclError};
pub use link::{Linked, Output, Record};
pub use list::DeclList;

/// Entries of one stream at most.
pub const MAX_ENTRIES: usize = 128;
/// VUE slots that an entry can name: the header slot and 32 attributes.
pub const MAX_REGISTERS: u32 = 33;
/// Bytes of a record at most.
pub const MAX_PITCH: u32 = 2048;
/// Bytes of a component, of which everything is a multiple.
pub const DWORD: u32 = 4;

#[cfg(test)]
mod tests;
