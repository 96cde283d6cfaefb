//! Mali's 22-bit format words.
//!
//! | bits | v4 to v6 | v7 and later |
//! |---|---|---|
//! | 0..11 | four 3-bit selectors: channel 0 to 3, 4 for 0, 5 for 1 | a component order |
//! | 12..19 | format number | format number |
//! | 20 | sRGB | sRGB |
//! | 21 | big endian | zero |

use std::sync::LazyLock;

use super::{Fill, Format, rows};

/// Number of the format without memory, whose components are the constants that the selectors name.
const CONSTANT: u32 = 95;

/// A decoded format word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaliFormat {
    /// What it describes.
    pub format: Format,
    /// Name of its number.
    pub name: &'static str,
    /// Its number.
    pub number: u8,
    /// Whether it is the Constant format: no memory behind it.
    pub constant: bool,
}

/// Why a format word describes no format that attributes and varyings have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MaliFormatError {
    /// A number without a row.
    #[error(
        "format number {number} of word {word:#x} (bits 12 to 19) is none that attributes and varyings have on v{version}"
    )]
    Number {
        /// The number.
        number: u8,
        /// The word.
        word: u32,
        /// Version of the architecture.
        version: u8,
    },
    /// A selector or an order without a row.
    #[error(
        "selection {code:#x} of format word {word:#x} (from bit {bit}) is reserved or not public on v{version}"
    )]
    Selection {
        /// The code.
        code: u32,
        /// First bit of the code.
        bit: u8,
        /// The word.
        word: u32,
        /// Version of the architecture.
        version: u8,
    },
    /// A flag that attributes and varyings do not carry out.
    #[error("{flag} (bit {bit} of format word {word:#x}) is not carried out for attributes and varyings")]
    Flag {
        /// Its name.
        flag: &'static str,
        /// Its bit.
        bit: u8,
        /// The word.
        word: u32,
    },
}

/// A row of the format table.
struct Row {
    number: u8,
    name: &'static str,
    versions: (u8, u8),
    format: Format,
}

static FORMATS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    rows::split(include_str!("../../tables/formats/mali.tsv")).filter_map(|row| parse(&row)).collect()
});

/// Code and selections of each component order.
static ORDERS: LazyLock<Vec<(u32, [Select; 4])>> = LazyLock::new(|| {
    rows::split(include_str!("../../tables/formats/mali-orders.tsv")).filter_map(|row| order(&row)).collect()
});

/// What a component reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Select {
    Channel(usize),
    Fill(Fill),
}

fn parse(row: &[&'static str]) -> Option<Row> {
    let [number, name, versions, bytes, kind, components] = row else { return None };
    let (first, last) = versions.split_once('-')?;
    let versions = (first.parse().ok()?, last.parse().ok()?);
    Some(Row { number: number.parse().ok()?, name, versions, format: rows::format(bytes, kind, components)? })
}

fn order(row: &[&'static str]) -> Option<(u32, [Select; 4])> {
    let [code, _, list] = row else { return None };
    let selects: Vec<_> = list.split(' ').map(select).collect::<Option<_>>()?;
    Some((rows::number(code)?, selects.try_into().ok()?))
}

fn select(text: &str) -> Option<Select> {
    match text {
        "zero" => Some(Select::Fill(Fill::Zero)),
        "one" => Some(Select::Fill(Fill::One)),
        channel => Some(Select::Channel(channel.parse().ok()?)),
    }
}

/// The format that the low 22 bits of `word` describe in `version` (4 to 14).
///
/// # Errors
/// [`MaliFormatError`], naming the word and the bit.
pub fn mali(version: u8, word: u32) -> Result<MaliFormat, MaliFormatError> {
    for (bit, flag) in [(20, "sRGB"), (21, "big endian")] {
        if word >> bit & 1 != 0 {
            return Err(MaliFormatError::Flag { flag, bit, word });
        }
    }
    let selects = selects(version, word)?;
    let number = (word >> 12) as u8;
    if u32::from(number) == CONSTANT {
        let format =
            Format::constant(selects.map(|s| if let Select::Fill(fill) = s { fill } else { Fill::Zero }));
        return Ok(MaliFormat { format, name: "CONSTANT", number, constant: true });
    }
    let known = |row: &&Row| row.number == number && (row.versions.0..=row.versions.1).contains(&version);
    let row = FORMATS.iter().find(known).ok_or(MaliFormatError::Number { number, word, version })?;
    Ok(MaliFormat { format: selected(row.format, selects), name: row.name, number, constant: false })
}

fn selects(version: u8, word: u32) -> Result<[Select; 4], MaliFormatError> {
    if version >= 7 {
        let code = word & 0xfff;
        let found = ORDERS.iter().find(|(c, _)| *c == code).map(|(_, selects)| *selects);
        return found.ok_or(MaliFormatError::Selection { code, bit: 0, word, version });
    }
    let mut selects = [Select::Fill(Fill::Zero); 4];
    for (bit, slot) in (0u8..12).step_by(3).zip(&mut selects) {
        *slot = match word >> bit & 7 {
            code @ 0..=3 => Select::Channel(code as usize),
            4 => Select::Fill(Fill::Zero),
            5 => Select::Fill(Fill::One),
            code => return Err(MaliFormatError::Selection { code, bit, word, version }),
        };
    }
    Ok(selects)
}

/// The channels of a format in the places where the selections put them. A channel that the format lacks reads as in any
/// other format: 0, 0, 0, 1.
fn selected(format: Format, selects: [Select; 4]) -> Format {
    let mut out = format;
    for (i, select) in selects.into_iter().enumerate() {
        (out.components[i], out.fill[i]) = match select {
            Select::Channel(c) => (format.components[c & 3], format.fill[c & 3]),
            Select::Fill(fill) => (None, fill),
        };
    }
    out
}
