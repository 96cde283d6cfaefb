//! The command processor of AMD GFX10: type 0, 2 and 3 packets.
//!
//! Facts stand in tables: `tables/amd/registers.tsv` (names, fields, reset values), `packets.tsv` (names, body fields,
//! what is done) and `events.tsv`. A packet's row names the function that carries it out, so a row without a handler
//! or a handler without a row does not build.
//!
//! # How a stream is walked
//!
//! Packets are carried out one after another in the order of the buffers, and each sees what all before it did. A
//! handler either carries its packet out whole or refuses it without effect; a refused packet ends the submission, and
//! state and memory stay as the packets before it left them. What a packet leaves undone without harm to what follows
//! (the pixels of a draw) is refused by name and the walk goes on.
//!
//! Programs may run late: the executor may hold dispatches back. Before a packet reads or writes memory, and at the
//! end of a submission, the executor is flushed. A dispatch that faults then takes back everything after its launch:
//! registers, streamout positions, counters and the report's figures are those from before it.
//!
//! An indirect buffer is read in windows ahead of the walk. A window that a packet or a program has written to is
//! read again before the next packet.

mod access;
pub(crate) mod atomic_mem;
pub(crate) mod compute;
pub(crate) mod conditions;
pub(crate) mod context;
pub(crate) mod copy_data;
pub(crate) mod counters;
pub mod decode;
pub(crate) mod dma;
pub(crate) mod draw;
pub(crate) mod events;
pub(crate) mod indirect;
mod launch;
mod ledger;
pub(crate) mod load_registers;
mod packet;
mod place;
pub(crate) mod predication;
mod processor;
mod register_file;
pub mod registers;
pub(crate) mod release_mem;
pub(crate) mod set_registers;
pub(crate) mod state_packets;
pub(crate) mod streamout_packets;
pub(crate) mod streamout_unit;
pub(crate) mod wait;
mod walk;
pub(crate) mod write_data;

pub use packet::Header;
pub use processor::{
    CommandProcessor, Config, IndirectBuffer, Limits, RanCounts, Ring, Submission, SubmitReport, WorkCounts,
};
pub use register_file::RegisterFile;
pub use registers::{Register, describe, field, reg};
