//! Reads a generation's tables.
//!
//! `names.tsv`: list, code, name (`-` for none; two parts are separated by `|`). `fields.tsv`: field, its bits from low to
//! high as `lowest+width`, kind. Instruction files: name, versions, identifying bits as `lowest+width=value`, text with
//! `{field}` or `{field.1}` (the second part of its name) where a value is shown.

use std::ops::RangeInclusive;

use super::{Bits, Field, Kind, Operands, Piece, Row, Table};

/// Texts of a generation's tables.
pub(in crate::mali) struct Sources {
    /// What one word is called in messages.
    pub(in crate::mali) unit: &'static str,
    pub(in crate::mali) operands: &'static dyn Operands,
    pub(in crate::mali) names: &'static str,
    pub(in crate::mali) fields: &'static str,
    pub(in crate::mali) rows: &'static [&'static str],
}

impl Table {
    /// Reads the tables; what cannot be read is listed in [`Table::faults`].
    pub(in crate::mali) fn read(sources: &Sources) -> Self {
        let mut faults = Vec::new();
        let names = all(sources.names, name, &mut faults);
        let fields = all(sources.fields, |line| field(line, &names), &mut faults);
        let read = |text: &&'static str| all(text, |line| row(line, &fields, sources.operands), &mut faults);
        let rows = sources.rows.iter().flat_map(read).collect();
        Table { unit: sources.unit, rows, faults }
    }
}

/// Every line that is neither a comment nor blank.
fn all<T>(text: &'static str, read: impl Fn(&'static str) -> Option<T>, faults: &mut Vec<String>) -> Vec<T> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let mut items = Vec::new();
    for line in lines {
        match read(line) {
            Some(item) => items.push(item),
            None => faults.push(line.to_owned()),
        }
    }
    items
}

/// List, code, name.
type Name = (&'static str, u32, [&'static str; 2]);

fn name(line: &'static str) -> Option<Name> {
    let [list, code, text] = columns(line)?;
    let text = if text == "-" { "" } else { text };
    Some((list, number(code)?, text.split_once('|').map_or([text, ""], |(a, b)| [a, b])))
}

fn field(line: &'static str, names: &[Name]) -> Option<Field> {
    let [name, bits, kind] = columns(line)?;
    let pieces = bits.split(' ').filter(|b| *b != "-").map(run).collect::<Option<_>>()?;
    Some(Field { name, pieces, kind: self::kind(kind, names)? })
}

fn kind(text: &'static str, names: &[Name]) -> Option<Kind> {
    Some(match text.split_once(':') {
        None if text == "hex" => Kind::Hex,
        None if text == "signed" => Kind::Signed,
        None if text == "decimal" => Kind::Decimal(u32::MAX),
        Some(("decimal", most)) => Kind::Decimal(number(most)?),
        Some(("operand", operand)) => Kind::Operand(operand),
        Some(("names", list)) => {
            let of_list = names.iter().filter(|(l, ..)| *l == list);
            let found: Vec<_> = of_list.map(|(_, code, text)| (*code, *text)).collect();
            (!found.is_empty()).then_some(Kind::Names(found))?
        }
        _ => return None,
    })
}

fn row(line: &'static str, fields: &[Field], operands: &'static dyn Operands) -> Option<Row> {
    let [name, versions, bits, text] = columns(line)?;
    let mut fixed = (0, 0);
    for token in bits.split(' ') {
        let (bits, value) = token.split_once('=')?;
        let bits = run(bits)?;
        fixed.0 |= (u64::from(number(value)?) << bits.lowest) & bits.mask();
        fixed.1 |= bits.mask();
    }
    let versions = self::versions(versions)?;
    let mut row = Row { operands, name, versions, fixed, fields: Vec::new(), text: Vec::new() };
    for piece in pieces(text) {
        row.push(piece, fields)?;
    }
    Some(row)
}

impl Row {
    fn push(&mut self, piece: &'static str, fields: &[Field]) -> Option<()> {
        let Some(place) = piece.strip_prefix('{') else {
            self.text.push(Piece::Literal(piece));
            return Some(());
        };
        let (name, part) = place.split_once('.').unwrap_or((place, "0"));
        let known = self.fields.iter().position(|f| f.name == name);
        let index = known.unwrap_or(self.fields.len());
        if known.is_none() {
            self.fields.push(fields.iter().find(|f| f.name == name)?.clone());
        }
        self.text.push(Piece::Field(index, usize::from(part == "1")));
        Some(())
    }
}

/// Literals as they stand, places with their opening brace.
fn pieces(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split('}').flat_map(|run| {
        let at = run.find('{').unwrap_or(run.len());
        let (literal, place) = run.split_at(at);
        [literal, place].into_iter().filter(|piece| !piece.is_empty())
    })
}

fn versions(text: &str) -> Option<RangeInclusive<u8>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

/// `lowest+width`.
fn run(text: &str) -> Option<Bits> {
    let (lowest, width) = text.split_once('+')?;
    let bits = Bits { lowest: lowest.parse().ok()?, width: width.parse().ok()? };
    ((1..=32).contains(&bits.width) && bits.lowest + bits.width <= 64).then_some(bits)
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn columns<const N: usize>(line: &'static str) -> Option<[&'static str; N]> {
    line.split('\t').collect::<Vec<_>>().try_into().ok()
}
