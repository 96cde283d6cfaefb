//! Reads the tables of `tables/mali`.

/// The lines of a table that are rows, split into columns.
pub(super) fn rows<const N: usize>(table: &'static str) -> impl Iterator<Item = Option<[&'static str; N]>> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}
