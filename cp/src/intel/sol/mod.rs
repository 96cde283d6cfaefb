//! The stream-output stage (SOL).
//!
//! # What it does
//!
//! The vertices of each stream's primitives come in the order of [`Strips`](super::topology::Strips). For each primitive
//! the stage asks whether every selected buffer has room for the pitches of all its vertices; if so it walks the
//! stream's declarations once a vertex and moves each selected buffer on by its pitch, else nothing of the primitive
//! is stored and no buffer moves. Every primitive counts as needed, a stored one as written, where statistics are on.
//! Holes store nothing: whatever those bytes held, they hold.
//!
//! The room of a draw is planned by the streamout core that all guests share ([`crate::streamout`]); what is left is a
//! copy with fixed offsets, [`SolJob`], which [`copy`] carries out plainly and a [`StreamOut`] of the embedder's may carry
//! out otherwise: `guestwave-translate` makes a program of each [`SolShape`].
//!
//! # Policies
//!
//! Public documents leave these open; [`Policies`] names them and the defaults come first.
//!
//! - *Room*: [`Room::Pitch`] tests `offset + pitch * vertices <= size`; [`Room::LastDword`] lets a record whose pitch
//!   ends in a hole lie on the buffer's end, as one software implementation does.
//! - *Unbound*: a selected buffer that is not enabled, or has a pitch of 0, has no room ([`Unbound::Overflows`]), or is left
//!   out ([`Unbound::Ignored`]).
//! - *Hole masks*: see [`HoleMasks`].
//!
//! Fixed choices: fans and polygons are cut into triangles from their first vertex whatever the reorder mode says, and quads
//! as `tables/intel/topologies.tsv` says; a stream that selects no buffer writes no primitive and needs each; SO_WRITE_OFFSET is stored to a buffer's offset
//! address after each draw.

mod control;
mod job;
mod plan;
mod shape;

pub use control::{Reorder, SoBuffer, StreamReads, StreamoutControl};
pub use job::{SolJob, Vues, copy};
pub use plan::{DrawnStream, StreamPlan};
pub use shape::{Copy, SolOrder, SolShape};

pub(crate) use plan::plan;

use std::ops::Range;

use super::so_decl::{DeclList, HoleMasks};
use crate::streamout::Streamout;
use crate::{DispatchError, GuestMemory};

/// How the room of a buffer is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Room {
    /// By whole pitches.
    #[default]
    Pitch,
    /// By the last dword that is stored.
    LastDword,
}

/// What a selected buffer does that cannot be stored to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Unbound {
    /// It has no room: nothing of the stream is stored.
    #[default]
    Overflows,
    /// It is as if it were not selected.
    Ignored,
}

/// Choices that public documents leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Policies {
    /// How the room of a buffer is tested.
    pub room: Room,
    /// What a selected buffer does that cannot be stored to.
    pub unbound: Unbound,
    /// Which component masks of holes are taken.
    pub hole_masks: HoleMasks,
}

/// The stage's state: what packets set, and what it keeps.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SolState {
    /// 3DSTATE_STREAMOUT.
    pub control: StreamoutControl,
    /// 3DSTATE_SO_BUFFER of each buffer.
    pub buffers: [SoBuffer; 4],
    /// 3DSTATE_SO_DECL_LIST.
    pub list: DeclList,
    /// Write offsets and counters.
    pub unit: Streamout,
}

/// Carries out the copies of a draw.
pub trait StreamOut: Send {
    /// Stores what `jobs` say, in order: all of it or, with an error, nothing. Every byte they store is mapped.
    /// Returns the ranges stored, sorted and disjoint.
    ///
    /// # Errors
    /// What stopped it, as of any dispatch.
    fn run(&mut self, jobs: &[SolJob], memory: &dyn GuestMemory) -> Result<Vec<Range<u64>>, DispatchError>;
}

/// Carries the copies out plainly, on the caller's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainStreamOut;

impl StreamOut for PlainStreamOut {
    fn run(&mut self, jobs: &[SolJob], memory: &dyn GuestMemory) -> Result<Vec<Range<u64>>, DispatchError> {
        copy(jobs, memory)
    }
}
