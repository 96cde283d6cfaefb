//! AMD's format numbers.

use std::sync::LazyLock;

use super::{Component, Format, Numeric};

/// Rows of number, name, bytes, numeric kind and components.
const GFX10_ROWS: &str = include_str!("../../tables/formats/gfx10.tsv");

/// A unified format of GFX10 with its name.
static GFX10: LazyLock<[Option<(Format, &'static str)>; 128]> = LazyLock::new(|| {
    let mut table = [None; 128];
    for row in GFX10_ROWS.lines().filter(|l| !l.starts_with('#')) {
        if let Some((number, name, format)) = parse(row)
            && let Some(slot) = table.get_mut(number)
        {
            *slot = Some((format, name));
        }
    }
    table
});

/// The unified buffer format `number` of GFX10 (the FORMAT field of a buffer descriptor or of MTBUF) and its name;
/// `None` for numbers that are not buffer formats.
pub fn gfx10(number: u8) -> Option<(Format, &'static str)> {
    *GFX10.get(usize::from(number))?
}

fn parse(row: &'static str) -> Option<(usize, &'static str, Format)> {
    let mut columns = row.split('\t');
    let number = columns.next()?.parse().ok()?;
    let name = columns.next()?;
    let bytes = columns.next()?.parse().ok()?;
    let numeric = Numeric::named(columns.next()?)?;
    let mut components = [None; 4];
    for (slot, text) in components.iter_mut().zip(columns.next()?.split(' ')) {
        let (shift, width) = text.split_once(':')?;
        *slot = Some(Component { shift: shift.parse().ok()?, width: width.parse().ok()?, numeric });
    }
    Some((number, name, Format::new(bytes, components)?))
}
