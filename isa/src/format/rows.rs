//! Rows of the format tables.

use super::{Component, Format, Numeric};

/// The lines of a table that are rows, split into columns.
pub(super) fn split(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

/// The format that the columns bytes, numeric kind and components describe.
pub(super) fn format(bytes: &str, kind: &str, components: &str) -> Option<Format> {
    let numeric = Numeric::named(kind)?;
    let mut places = components.split(' ').map(place).collect::<Option<Vec<_>>>()?;
    let shared = if numeric == Numeric::Shared { places.pop() } else { None };
    let mut list = [None; 4];
    for (slot, (shift, width)) in list.iter_mut().zip(places) {
        *slot = Some(Component { shift, width, numeric });
    }
    let format = Format::new(bytes.parse().ok()?, list)?;
    Some(Format { shared, ..format })
}

/// `shift:width`.
fn place(text: &str) -> Option<(u8, u8)> {
    let (shift, width) = text.split_once(':')?;
    Some((shift.parse().ok()?, width.parse().ok()?))
}

/// A number in decimal or after `0x`.
pub(super) fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
