//! AMD's format numbers.

use std::sync::LazyLock;

use super::{Format, rows};

/// The unified formats of GFX10 with their names.
static GFX10: LazyLock<[Option<(Format, &'static str)>; 128]> = LazyLock::new(|| {
    let mut table = [None; 128];
    for row in rows::split(include_str!("../../tables/formats/gfx10.tsv")) {
        if let Some((number, entry)) = parse(&row)
            && let Some(slot) = table.get_mut(number)
        {
            *slot = Some(entry);
        }
    }
    table
});

/// The unified buffer format `number` of GFX10 (the FORMAT field of a buffer descriptor or of MTBUF) and its name;
/// `None` for numbers that are not buffer formats.
pub fn gfx10(number: u8) -> Option<(Format, &'static str)> {
    *GFX10.get(usize::from(number))?
}

fn parse(row: &[&'static str]) -> Option<(usize, (Format, &'static str))> {
    let [number, name, bytes, kind, components] = row else { return None };
    Some((number.parse().ok()?, (rows::format(bytes, kind, components)?, name)))
}
