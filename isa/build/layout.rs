//! `layout/encodings.tsv` and `layout/fields.tsv`: where an encoding keeps its opcode and its fields.

use std::{fs, path::Path};

/// A run of bits of the 64-bit instruction.
#[derive(Clone, Copy)]
pub(crate) struct Bits {
    pub(crate) lsb: u32,
    pub(crate) width: u32,
}

impl Bits {
    pub(crate) fn mask(self) -> u64 {
        ((1 << self.width) - 1) << self.lsb
    }
}

pub(crate) struct Field {
    pub(crate) encoding: String,
    pub(crate) name: String,
    pub(crate) bits: Bits,
    pub(crate) coding: String,
    /// The bits must be zero where an operation does not use the field.
    pub(crate) absent_zero: bool,
}

pub(crate) struct Encoding {
    pub(crate) name: String,
    pub(crate) mask: u64,
    pub(crate) value: u64,
    pub(crate) opcode: Vec<Bits>,
    pub(crate) dwords: u32,
    /// Fields that a row's dst and src tokens stand for.
    pub(crate) dst: Vec<String>,
    pub(crate) src: Vec<String>,
}

pub(crate) struct Layout {
    pub(crate) encodings: Vec<Encoding>,
    pub(crate) fields: Vec<Field>,
}

/// The data rows of a tab-separated file.
pub(crate) fn tsv(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let row = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().filter(|l| !l.starts_with('#')).map(row).collect()
}

/// A column of space-separated words; `-` is none.
pub(crate) fn words(column: &str) -> Vec<String> {
    column.split(' ').filter(|w| *w != "-").map(str::to_owned).collect()
}

pub(crate) fn number(text: &str) -> u64 {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn bits(text: &str) -> Bits {
    let (lsb, width) = text.split_once(':').expect("lsb:width");
    Bits { lsb: number(lsb) as u32, width: number(width) as u32 }
}

impl Layout {
    pub(crate) fn read(tables: &Path) -> Self {
        let encoding = |r: Vec<String>| Encoding {
            name: r[0].clone(),
            mask: number(&r[1]),
            value: number(&r[2]),
            opcode: words(&r[3]).iter().map(|w| bits(w)).collect(),
            dwords: number(&r[4]) as u32,
            dst: words(&r[5]),
            src: words(&r[6]),
        };
        let field = |r: Vec<String>| Field {
            encoding: r[0].clone(),
            name: r[1].clone(),
            bits: Bits { lsb: number(&r[2]) as u32, width: number(&r[3]) as u32 },
            coding: r[4].clone(),
            absent_zero: r[5] == "zero",
        };
        Layout {
            encodings: tsv(&tables.join("layout/encodings.tsv")).into_iter().map(encoding).collect(),
            fields: tsv(&tables.join("layout/fields.tsv")).into_iter().map(field).collect(),
        }
    }

    pub(crate) fn fields_of<'a>(&'a self, encoding: &'a str) -> impl Iterator<Item = &'a Field> {
        self.fields.iter().filter(move |f| f.encoding == encoding)
    }

    pub(crate) fn field(&self, encoding: &str, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.encoding == encoding && f.name == name)
    }
}
