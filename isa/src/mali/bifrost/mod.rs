//! Bifrost (v6, v7): 20-bit words of the ADD unit, which passes the messages for attributes and varyings, and the clauses
//! around them.
//!
//! Of the FMA and ADD units' arithmetic, the tables hold what stands beside attribute and varying accesses in drivers'
//! shaders; other words are refused by number.

pub mod clause;
mod operands;

use std::sync::LazyLock;

use super::WordError;
use super::word::{Inst, Sources, Table};
use operands::Ports;

static ADD: LazyLock<Table> = LazyLock::new(|| {
    Table::read(&Sources {
        unit: "Bifrost ADD word",
        operands: &Ports,
        names: include_str!("../../../tables/mali/bifrost/names.tsv"),
        fields: include_str!("../../../tables/mali/bifrost/fields.tsv"),
        rows: &[
            include_str!("../../../tables/mali/bifrost/add_message.tsv"),
            include_str!("../../../tables/mali/bifrost/add.tsv"),
        ],
    })
});

/// Every ADD word that is known.
pub fn add_table() -> &'static Table {
    &ADD
}

/// The instruction that the 20-bit `word` of the ADD unit is in `version` (6 or 7).
///
/// # Errors
/// [`WordError`] with the word and the bit at fault.
pub fn decode_add(version: u8, word: u32) -> Result<Inst, WordError> {
    ADD.decode(version, word.into())
}

/// The word of an instruction.
///
/// # Errors
/// [`WordError::Conflict`]; what was decoded always encodes.
pub fn encode(inst: &Inst) -> Result<u32, WordError> {
    inst.encode().map(|word| word as u32)
}

/// The text of an ADD word by itself. Its sources name ports of the clause's register block, shown as `r0`, `r1` and
/// `r2`; its staging register is the clause's, shown as `r8`.
pub fn disassemble_add(inst: &Inst) -> String {
    ADD.print(inst)
}

/// The ADD word that `text` shows: the inverse of [`disassemble_add`].
///
/// # Errors
/// [`WordError::Text`] with the place where nothing fits.
pub fn assemble_add(version: u8, text: &str) -> Result<Inst, WordError> {
    ADD.parse(version, text)
}
