//! Intel's Gen7 execution unit (Ivy Bridge, Haswell): decoder, disassembler, and a reference interpreter for the vertex
//! programs that store their results by URB writes.
//!
//! Instructions have 16 bytes, or 8 where they are compacted; [`decode`] takes both and gives an [`Inst`]. Facts stand in
//! tables: `tables/gen7/opcodes.tsv` and `compaction.tsv`.
//!
//! [`vertex`] runs a program in the form that vertex programs of these generations have: two vertices a thread, eight
//! channels, each register holding a vector of four of either vertex (align16).

mod compact;
mod decode;
mod disasm;
mod error;
mod inst;
pub mod interp;
mod table;

pub use decode::decode;
pub use error::{CATALOGUE, Refusal};
pub use inst::{AccessMode, Condition, Dst, File, Inst, Region, Src, Type};
pub use interp::{VertexLaunch, vertex};
pub use table::{Kind, Row};
