//! Intel's surface formats, as vertex fetch reads them.

use std::sync::LazyLock;

use super::{Format, rows};

/// Number, format and name, by number.
static FORMATS: LazyLock<Vec<(u32, Format, &'static str)>> = LazyLock::new(|| {
    rows::split(include_str!("../../tables/formats/intel.tsv")).filter_map(|row| parse(&row)).collect()
});

/// The surface format `number` (SURFACE_FORMAT of a surface state, source format of a vertex element) and its name; `None`
/// for numbers that vertex fetch does not read, or not by components: compressed, depth, sRGB, pass-through.
pub fn intel(number: u32) -> Option<(Format, &'static str)> {
    let place = FORMATS.binary_search_by_key(&number, |f| f.0).ok()?;
    FORMATS.get(place).map(|f| (f.1, f.2))
}

fn parse(row: &[&'static str]) -> Option<(u32, Format, &'static str)> {
    let [number, name, bytes, kind, components] = row else { return None };
    Some((rows::number(number)?, rows::format(bytes, kind, components)?, name))
}
