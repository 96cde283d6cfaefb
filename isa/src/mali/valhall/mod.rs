//! Valhall (v9): decode, disassemble, and the reference meaning of shader programs.
//!
//! Every instruction is one 64-bit little-endian word. A [`Row`] says which bits tell an instruction from others and what its
//! fields are; [`Inst`] is a word with its row. Threads are independent of each other in everything that is interpreted
//! here: what reaches across the 16 lanes of a warp is refused by name.
//!
//! # Word
//!
//! | bits | field |
//! |---|---|
//! | 0..7, 8..15, 16..23, 24..31 | sources, as far as the instruction has them ([`Source`]) |
//! | 24..39 | modifiers, immediates, secondary opcode |
//! | 40..45 | destination or first staging register |
//! | 46..47 | destination halves, or whether staging registers are read and written |
//! | 48..56 | opcode |
//! | 57..58 | page of uniforms and special constants |
//! | 59..62 | flow: what the instruction waits for, and the end of the program |
//! | 63 | zero |
//!
//! The encodings follow Mesa's public descriptions of the instruction set; Arm publishes none of this core.

mod disasm;
mod fields;
mod formats;
mod forms;
mod inst;
pub mod interp;
mod lanes;
mod operand;
mod rows;
mod table;
pub mod words;

pub use fields::{Field, field};
pub use formats::Conversion;
pub use inst::{DECODE_CATALOGUE, DecodeError, DecodeErrorKind, Flow, Inst};
pub use lanes::{Lanes, Pick, Piece};
pub use operand::{CONSTANTS, Source, SourceMods};
pub use table::{Dst, Immediate, Kind, Op, Row, Staging, Ty, rows};
