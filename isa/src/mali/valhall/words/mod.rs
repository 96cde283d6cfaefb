//! Words in both directions, fields, word and text: those that reach memory, in every version from v9 to v14, and the
//! others of captured v9 programs. Whole programs are decoded by [`Inst`](super::Inst).
//!
//! Which bits hold a byte offset, and how many, differs by version; a row of the table says for which it stands.

mod operands;

use std::sync::LazyLock;

use crate::mali::WordError;
use crate::mali::word::{Inst, Sources, Table};
use operands::ValhallOperands;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    Table::read(&Sources {
        unit: "Valhall word",
        operands: &ValhallOperands,
        names: include_str!("../../../../tables/mali/valhall/names.tsv"),
        fields: include_str!("../../../../tables/mali/valhall/fields.tsv"),
        rows: &[
            include_str!("../../../../tables/mali/valhall/load_store.tsv"),
            include_str!("../../../../tables/mali/valhall/arithmetic.tsv"),
        ],
    })
});

/// Every instruction that is known.
pub fn table() -> &'static Table {
    &TABLE
}

/// The instruction that `word` is in `version` (9 to 14).
///
/// # Errors
/// [`WordError`] with the word and the bit at fault.
pub fn decode(version: u8, word: u64) -> Result<Inst, WordError> {
    TABLE.decode(version, word)
}

/// The word of an instruction.
///
/// # Errors
/// [`WordError::Conflict`] if two sources need different pages.
pub fn encode(inst: &Inst) -> Result<u64, WordError> {
    inst.encode()
}

/// The text of an instruction.
pub fn disassemble(inst: &Inst) -> String {
    TABLE.print(inst)
}

/// The instruction that `text` shows in `version`: the inverse of [`disassemble`].
///
/// # Errors
/// [`WordError::Text`] with the place where nothing fits.
pub fn assemble(version: u8, text: &str) -> Result<Inst, WordError> {
    TABLE.parse(version, text)
}
