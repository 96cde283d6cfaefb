//! The text of an instruction, and the instruction of a text.

use super::{Field, Inst, Kind, Operands, Piece, Row};

pub(super) fn print(inst: &Inst, operands: &dyn Operands) -> String {
    let mut out = String::new();
    for piece in &inst.row.text {
        match piece {
            Piece::Literal(text) => out.push_str(text),
            Piece::Field(index, part) => {
                if let (Some(field), Some(value)) = (inst.row.fields.get(*index), inst.values.get(*index)) {
                    show(field, *value, *part, operands, &mut out);
                }
            }
        }
    }
    out
}

fn show(field: &Field, value: u32, part: usize, operands: &dyn Operands, out: &mut String) {
    match &field.kind {
        Kind::Hex => *out += &format!("0x{value:X}"),
        Kind::Decimal(_) => *out += &value.to_string(),
        Kind::Signed => *out += &sign_extended(value, field.width()).to_string(),
        Kind::Names(names) => {
            let name = names.iter().find(|(code, _)| *code == value);
            *out += name.map_or("", |(_, parts)| parts[part.min(1)]);
        }
        Kind::Operand(kind) => operands.print(kind, value, out),
    }
}

fn sign_extended(value: u32, width: u32) -> i32 {
    let unused = 32 - width.clamp(1, 32);
    ((value << unused) as i32) >> unused
}

/// What a text tells of a field.
#[derive(Clone, Default)]
struct Told {
    value: u32,
    /// Bits of the value that the text tells.
    known: u32,
    /// For named fields, the codes that are still possible.
    codes: Option<Vec<u32>>,
}

/// The instruction of `row` that `line` shows, or the rest of the line where it stops fitting.
pub(super) fn parse<'a>(row: &'static Row, line: &'a str) -> Result<Inst, &'a str> {
    let mut told = vec![Told::default(); row.fields.len()];
    let mut rest = line;
    for piece in &row.text {
        let length = match piece {
            Piece::Literal(text) => rest.starts_with(text).then_some(text.len()),
            Piece::Field(index, part) => match (row.fields.get(*index), told.get_mut(*index)) {
                (Some(field), Some(told)) => told.read(field, *part, rest, row.operands),
                _ => None,
            },
        };
        rest = length.and_then(|l| rest.get(l..)).ok_or(rest)?;
    }
    if !rest.trim().is_empty() {
        return Err(rest);
    }
    settle(row, &told).ok_or(rest)
}

impl Told {
    /// Takes in the text of a field; gives its length.
    fn read(&mut self, field: &Field, part: usize, text: &str, operands: &dyn Operands) -> Option<usize> {
        if let Kind::Names(names) = &field.kind {
            return self.name(names, part.min(1), text);
        }
        let (value, known, length) = match &field.kind {
            Kind::Operand(kind) => operands.parse(kind, text)?,
            Kind::Signed => {
                let length =
                    text.len() - text.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit()).len();
                let value: i32 = text.get(..length)?.parse().ok()?;
                let fits = sign_extended(value as u32, field.width()) == value;
                (fits.then_some(value as u32 & ones(field.width()))?, u32::MAX, length)
            }
            _ => {
                let (value, length) = number(text)?;
                (value, u32::MAX, length)
            }
        };
        (self.value, self.known) = (value, known);
        Some(length)
    }

    /// The longest name that stands at the start of `text`, of the codes that are still possible.
    fn name(&mut self, names: &[(u32, [&'static str; 2])], part: usize, text: &str) -> Option<usize> {
        let open = |code: &u32| self.codes.as_ref().is_none_or(|codes| codes.contains(code));
        let candidates = names.iter().filter(|(code, _)| open(code));
        let fitting = candidates.filter(|(_, parts)| stands(parts[part], text));
        let longest = fitting.map(|(_, parts)| parts[part]).max_by_key(|name| name.len())?;
        let codes = names.iter().filter(|(code, parts)| open(code) && parts[part] == longest);
        self.codes = Some(codes.map(|(code, _)| *code).collect());
        Some(longest.len())
    }
}

/// Whether `name` stands at the start of `text` and ends there.
fn stands(name: &str, text: &str) -> bool {
    let end =
        text.strip_prefix(name).map(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
    name.is_empty() || end == Some(false)
}

fn ones(width: u32) -> u32 {
    u32::MAX >> (32 - width.clamp(1, 32))
}

/// A number in decimal or after `0x`, and its length.
pub(in crate::mali) fn number(text: &str) -> Option<(u32, usize)> {
    let (digits, radix, skipped) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16, 2),
        None => (text, 10, 0),
    };
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    Some((u32::from_str_radix(digits.get(..length)?, radix).ok()?, length + skipped))
}

/// Values for all fields, shared bits taken from whichever field tells them.
fn settle(row: &'static Row, told: &[Told]) -> Option<Inst> {
    let (mut word, mut known) = row.fixed;
    for (field, told) in row.fields.iter().zip(told) {
        let (value, tells) = match &told.codes {
            Some(codes) => (*codes.first()?, u32::MAX),
            None => (told.value, told.known),
        };
        let (bits, mask) = (field.put(value & tells), field.put(tells));
        if !field.allows(value, row.operands) || (word ^ bits) & known & mask != 0 {
            return None;
        }
        word |= bits;
        known |= mask;
    }
    let values = row.fields.iter().map(|f| f.get(word)).collect();
    Some(Inst { row, values })
}
