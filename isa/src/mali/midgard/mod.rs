//! Midgard (v4, v5): load/store words of 60 bits, two to a 128-bit bundle.

mod operands;

use std::sync::LazyLock;

use super::WordError;
use super::word::{Inst, Sources, Table};
use operands::MidgardOperands;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    Table::read(&Sources {
        unit: "Midgard load/store word",
        operands: &MidgardOperands,
        names: include_str!("../../../tables/mali/midgard/names.tsv"),
        fields: include_str!("../../../tables/mali/midgard/fields.tsv"),
        rows: &[include_str!("../../../tables/mali/midgard/load_store.tsv")],
    })
});

/// Bits of a load/store word.
const WORD_BITS: u32 = 60;
/// The tag of a bundle of load/store words.
const LOAD_STORE_TAG: u8 = 5;

/// The 60-bit load/store words of v4 and v5 that are known.
pub fn table() -> &'static Table {
    &TABLE
}

/// A 128-bit bundle of two load/store words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadStoreBundle {
    /// Tag of the bundle that follows.
    pub next_tag: u8,
    /// The two words, in order; [`Inst::name`] of one without work is `UNUSED`.
    pub words: [Inst; 2],
}

/// The bundle that `bits` are, or nothing if its tag is not that of load/store words.
///
/// # Errors
/// [`WordError`] with the first word at fault and its bit.
pub fn decode_bundle(version: u8, bits: u128) -> Result<Option<LoadStoreBundle>, WordError> {
    let tag = (bits & 15) as u8;
    if tag != LOAD_STORE_TAG {
        return Ok(None);
    }
    let word = |at: u32| (bits >> at) as u64 & ((1 << WORD_BITS) - 1);
    let words = [TABLE.decode(version, word(8))?, TABLE.decode(version, word(8 + WORD_BITS))?];
    Ok(Some(LoadStoreBundle { next_tag: (bits >> 4 & 15) as u8, words }))
}

/// The 128 bits of a bundle.
///
/// # Errors
/// [`WordError::Conflict`]; what was decoded always encodes.
pub fn encode_bundle(bundle: &LoadStoreBundle) -> Result<u128, WordError> {
    let words = [bundle.words[0].encode()?, bundle.words[1].encode()?].map(u128::from);
    let head = u128::from(LOAD_STORE_TAG) | u128::from(bundle.next_tag & 15) << 4;
    Ok(head | words[0] << 8 | words[1] << (8 + WORD_BITS))
}
