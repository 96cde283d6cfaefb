//! The tables of opcodes and of compaction.

use std::sync::LazyLock;

/// How the interpreter takes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Channel by channel.
    Alu,
    /// Over the components of a vertex.
    Dot,
    /// It changes which channels run.
    Flow,
    /// A message to a shared function.
    Send,
    /// No effect.
    Nothing,
    /// Not run, for this reason.
    Refused(&'static str),
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub opcode: u8,
    /// Its name.
    pub mnemonic: &'static str,
    /// Its sources.
    pub sources: u8,
    /// How the interpreter takes it.
    pub kind: Kind,
}

static OPCODES: LazyLock<Vec<Row>> = LazyLock::new(|| {
    cells(include_str!("../../tables/gen7/opcodes.tsv")).filter_map(|c| parse(&c)).collect()
});

/// The rows of a table, without comments and the row of names.
fn cells(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|l| !l.starts_with('#')).skip(1).map(|l| l.split('\t').collect())
}

fn parse(cells: &[&'static str]) -> Option<Row> {
    let [number, mnemonic, sources, kind] = cells else { return None };
    let kind = match kind.split_once(' ') {
        Some(("refuse", reason)) => Kind::Refused(reason),
        _ => *KINDS.iter().find(|(name, _)| name == kind).map(|(_, kind)| kind)?,
    };
    let opcode = u8::from_str_radix(number.strip_prefix("0x")?, 16).ok()?;
    Some(Row { opcode, mnemonic, sources: sources.parse().ok()?, kind })
}

const KINDS: [(&str, Kind); 5] = [
    ("alu", Kind::Alu),
    ("dot", Kind::Dot),
    ("flow", Kind::Flow),
    ("send", Kind::Send),
    ("nothing", Kind::Nothing),
];

/// The row of an opcode.
pub(super) fn row(opcode: u8) -> Option<&'static Row> {
    OPCODES.iter().find(|row| row.opcode == opcode)
}

/// What the four indices of a compacted instruction stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compaction {
    pub(super) control: u32,
    pub(super) datatype: u32,
    pub(super) subreg: u32,
    pub(super) source: u32,
}

static COMPACTION: LazyLock<Vec<Compaction>> = LazyLock::new(|| {
    cells(include_str!("../../tables/gen7/compaction.tsv")).filter_map(|c| compaction(&c)).collect()
});

fn compaction(cells: &[&str]) -> Option<Compaction> {
    let [_, control, datatype, subreg, source] = cells else { return None };
    let bits = |text: &str| u32::from_str_radix(text, 2).ok();
    Some(Compaction {
        control: bits(control)?,
        datatype: bits(datatype)?,
        subreg: bits(subreg)?,
        source: bits(source)?,
    })
}

/// The row of an index, 0 to 31.
pub(super) fn compaction_of(index: u32) -> Compaction {
    const NONE: Compaction = Compaction { control: 0, datatype: 0, subreg: 0, source: 0 };
    COMPACTION.get(index as usize).copied().unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_tables_is_read() {
        let lines = |table: &str| table.lines().filter(|l| !l.starts_with('#')).count() - 1;
        assert_eq!(OPCODES.len(), lines(include_str!("../../tables/gen7/opcodes.tsv")));
        assert_eq!(COMPACTION.len(), 32);
        assert!(OPCODES.is_sorted_by_key(|row| row.opcode));
    }
}
