//! Bifrost (v6, v7): 20-bit words of the ADD unit, which passes the messages for attributes and varyings, and the clauses
//! around them.
//!
//! Of the FMA and ADD units' arithmetic, the tables hold what stands beside attribute and varying accesses in drivers'
//! shaders; other words are refused by number.

pub mod clause;
mod operands;

use std::sync::LazyLock;

use super::word::{Sources, Table};
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

/// The 20-bit words of the ADD unit in v6 and v7 that are known. Outside a clause the text of their sources names ports of the
/// clause's register block, shown as `r0`, `r1` and `r2`; their staging register is the clause's, shown as `r8`.
pub fn add_table() -> &'static Table {
    &ADD
}
