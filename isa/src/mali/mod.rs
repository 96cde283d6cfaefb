//! Arm Mali: the instruction words that move attributes and varyings, of three generations.
//!
//! | module | versions | unit of decoding |
//! |---|---|---|
//! | [`midgard`] | v4, v5 | a 60-bit load/store word, two to a 128-bit bundle |
//! | [`bifrost`] | v6, v7 | a 20-bit ADD word, a 23-bit FMA word, and the clause around them |
//! | [`valhall::words`] | v9 to v14 | a 64-bit word that reaches memory, or stands beside one in a captured program |
//!
//! # Invariants
//!
//! 1. An instruction is a row of `tables/mali`: the bits that identify it, its fields, and the text that shows them. The
//!    same row decodes, encodes, prints and parses.
//! 2. Decoding is total: any word gives an instruction or an error that names the word and the bit at fault. Encoding
//!    what was decoded gives the same word.
//! 3. A word with a bit that its row does not know, or a field with a code that its list does not know, is refused.

pub mod bifrost;
mod error;
pub mod interpolate;
pub mod midgard;
pub mod valhall;
mod word;

pub use error::{CATALOGUE, WordError};
pub use word::{Inst, Table};
