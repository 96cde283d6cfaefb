//! The table of descriptors.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::super::codes::rows;

/// A run of bits of a 32-bit word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    pub(super) word: u32,
    pub(super) lowest: u32,
    pub(super) width: u32,
}

impl Bits {
    pub(super) fn mask(self) -> u32 {
        (u32::MAX >> (32 - self.width.clamp(1, 32))) << self.lowest
    }
}

/// How a field's bits become its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Uint,
    Int,
    Hex,
    Times64,
    Plus1,
    Is(u64),
    Names(Vec<(u64, &'static str)>),
}

/// A field of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) pieces: Vec<Bits>,
    pub(super) kind: Kind,
}

impl Field {
    /// Word and bit where it begins.
    pub(super) fn place(&self) -> (u32, u32) {
        self.pieces.first().map_or((0, 0), |p| (p.word, p.lowest))
    }

    /// Bits that it has.
    pub(super) fn width(&self) -> u32 {
        self.pieces.iter().map(|p| p.width).sum()
    }
}

/// The layout of a descriptor.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) name: &'static str,
    pub(super) versions: RangeInclusive<u8>,
    pub(super) fields: Vec<Field>,
}

/// Words of a descriptor by its name's beginning and version: 2 or 4 on v4 to v7, 8 later, 4 for a table's entry, 1 for the
/// conversion that LEA_ATTR gives to ST_CVT.
const WORDS: [(&str, RangeInclusive<u8>, usize); 5] = [
    ("conversion", 4..=14, 1),
    ("resource_entry", 9..=14, 4),
    ("attribute", 4..=7, 2),
    ("", 4..=7, 4),
    ("", 9..=14, 8),
];

impl Layout {
    /// 32-bit words of the descriptor.
    pub(super) fn words(&self) -> usize {
        let fits = |(prefix, versions, _): &&(&str, RangeInclusive<u8>, usize)| {
            self.name.starts_with(prefix) && versions.contains(self.versions.start())
        };
        WORDS.iter().find(fits).map_or(0, |row| row.2)
    }
}

/// Every layout, and the lines that could not be read.
pub(super) static LAYOUTS: LazyLock<(Vec<Layout>, usize)> = LazyLock::new(|| {
    let mut layouts: Vec<Layout> = Vec::new();
    let mut faults = 0;
    for row in rows(include_str!("../../../tables/mali/descriptors.tsv")) {
        match row.and_then(parse) {
            Some((name, versions, field)) => match layouts.last_mut() {
                Some(last) if (last.name, &last.versions) == (name, &versions) => last.fields.push(field),
                _ => layouts.push(Layout { name, versions, fields: vec![field] }),
            },
            None => faults += 1,
        }
    }
    (layouts, faults)
});

fn parse(columns: [&'static str; 5]) -> Option<(&'static str, RangeInclusive<u8>, Field)> {
    let [record, versions, name, bits, kind] = columns;
    let (first, last) = versions.split_once('-')?;
    let pieces = bits.split(' ').map(run).collect::<Option<_>>()?;
    Some((record, first.parse().ok()?..=last.parse().ok()?, Field { name, pieces, kind: self::kind(kind)? }))
}

fn kind(text: &'static str) -> Option<Kind> {
    Some(match text.split_once(':') {
        Some(("is", value)) => Kind::Is(value.parse().ok()?),
        Some(("names", list)) => Kind::Names(names(list)),
        _ => match text {
            "uint" => Kind::Uint,
            "int" => Kind::Int,
            "hex" => Kind::Hex,
            "times64" => Kind::Times64,
            "plus1" => Kind::Plus1,
            _ => return None,
        },
    })
}

fn names(list: &str) -> Vec<(u64, &'static str)> {
    let all = rows::<3>(include_str!("../../../tables/mali/codes.tsv")).flatten();
    let of_list = all.filter(|[l, ..]| *l == list);
    of_list.filter_map(|[_, code, name]| Some((code.parse().ok()?, name))).collect()
}

/// `word:lowest+width`.
fn run(text: &str) -> Option<Bits> {
    let (word, rest) = text.split_once(':')?;
    let (lowest, width) = rest.split_once('+')?;
    let bits = Bits { word: word.parse().ok()?, lowest: lowest.parse().ok()?, width: width.parse().ok()? };
    (bits.width >= 1 && bits.lowest + bits.width <= 32).then_some(bits)
}
