//! Words in both directions, fields, word and text: those that reach memory, in every version from v9 to v14, and the
//! others of captured v9 programs. Whole programs are decoded by [`Inst`](super::Inst).
//!
//! Which bits hold a byte offset, and how many, differs by version; a row of the table says for which it stands.

mod operands;

use std::sync::LazyLock;

use crate::mali::word::{Sources, Table};
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

/// The words of v9 to v14 that are known.
pub fn table() -> &'static Table {
    &TABLE
}
