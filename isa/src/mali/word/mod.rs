//! Instruction words as rows of a table: decode, encode, print and parse from one description.

mod rows;
mod text;

use std::ops::RangeInclusive;

use super::WordError;

pub(super) use rows::Sources;
pub(super) use text::number;

/// A run of bits of a word, 1 to 32 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bits {
    lowest: u32,
    width: u32,
}

impl Bits {
    fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.width.clamp(1, 64))) << self.lowest
    }

    fn get(self, word: u64) -> u32 {
        ((word & self.mask()) >> self.lowest) as u32
    }
}

/// How a field's value is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// `0x1F`.
    Hex,
    /// `31`, at most the number given.
    Decimal(u32),
    /// Two's complement in the field's width, in decimal.
    Signed,
    /// A code with a name; codes without one are reserved. A name may have two parts, shown in two places.
    Names(Vec<(u32, [&'static str; 2])>),
    /// What the generation's [`Operands`] show under this name.
    Operand(&'static str),
}

/// A field: its bits from low to high, which need not be neighbours, and how it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: &'static str,
    pieces: Vec<Bits>,
    kind: Kind,
}

impl Field {
    fn width(&self) -> u32 {
        self.pieces.iter().map(|p| p.width).sum()
    }

    fn mask(&self) -> u64 {
        self.pieces.iter().fold(0, |mask, p| mask | p.mask())
    }

    fn lowest(&self) -> u32 {
        self.pieces.first().map_or(0, |p| p.lowest)
    }

    fn get(&self, word: u64) -> u32 {
        let mut shift = 0;
        self.pieces.iter().fold(0, |value, piece| {
            let part = piece.get(word).checked_shl(shift).unwrap_or(0);
            shift += piece.width;
            value | part
        })
    }

    /// The word's bits that hold `value`.
    fn put(&self, value: u32) -> u64 {
        let mut rest = u64::from(value);
        self.pieces.iter().fold(0, |word, piece| {
            let part = (rest << piece.lowest) & piece.mask();
            rest >>= piece.width;
            word | part
        })
    }

    fn allows(&self, value: u32, operands: &dyn Operands) -> bool {
        let fits = self.width() >= 32 || value >> self.width() == 0;
        fits && match &self.kind {
            Kind::Names(names) => names.iter().any(|(code, _)| *code == value),
            Kind::Decimal(most) => value <= *most,
            Kind::Operand(kind) => operands.knows(kind, value),
            Kind::Hex | Kind::Signed => true,
        }
    }
}

/// A piece of the text of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(&'static str),
    /// Field by its place in the row, and the part of its name.
    Field(usize, usize),
}

/// One instruction: its identifying bits, its fields and its text.
#[derive(Debug)]
struct Row {
    operands: &'static dyn Operands,
    name: &'static str,
    versions: RangeInclusive<u8>,
    /// Identifying bits and where they are.
    fixed: (u64, u64),
    fields: Vec<Field>,
    text: Vec<Piece>,
}

impl Row {
    /// Bits with a meaning.
    fn known(&self) -> u64 {
        self.fields.iter().fold(self.fixed.1, |mask, f| mask | f.mask())
    }

    fn fits(&self, version: u8, word: u64) -> bool {
        self.versions.contains(&version) && word & self.fixed.1 == self.fixed.0
    }

    /// Nothing if `word` is this instruction, else what is wrong with it.
    fn check(&self, word: u64) -> Result<(), WordError> {
        let name = self.name;
        let unknown = word & !self.known();
        if unknown != 0 {
            return Err(WordError::Reserved { name, bit: unknown.trailing_zeros(), word });
        }
        match self.fields.iter().find(|f| !f.allows(f.get(word), self.operands)) {
            Some(f) => Err(WordError::Code { name, field: f.name, code: f.get(word), bit: f.lowest(), word }),
            None => Ok(()),
        }
    }
}

/// A decoded instruction word: a row of the table and the values of its fields.
#[derive(Clone, Debug)]
pub struct Inst {
    row: &'static Row,
    values: Vec<u32>,
}

impl PartialEq for Inst {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.row, other.row) && self.values == other.values
    }
}

impl Eq for Inst {}

impl Inst {
    /// The instruction's name, with the parts of it that its identifying bits choose: `LD_VAR_BUF_IMM.f16`.
    pub fn name(&self) -> &'static str {
        self.row.name
    }

    /// The value of a field by its name in the generation's `fields.tsv`; `None` if the instruction has no such field.
    pub fn field(&self, name: &str) -> Option<u32> {
        let place = self.row.fields.iter().position(|f| f.name == name)?;
        self.values.get(place).copied()
    }

    /// The fields and their values, in the order of the text.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        self.row.fields.iter().zip(&self.values).map(|(f, value)| (f.name, *value))
    }

    /// The first part of the name that a field's value has in its list (`.f32`, `.v4`); `None` for fields that are
    /// numbers or operands.
    pub fn named(&self, name: &str) -> Option<&'static str> {
        let place = self.row.fields.iter().position(|f| f.name == name)?;
        let value = self.values.get(place)?;
        match &self.row.fields.get(place)?.kind {
            Kind::Names(names) => names.iter().find(|(code, _)| code == value).map(|(_, text)| text[0]),
            _ => None,
        }
    }

    /// The same instruction with another value in a field.
    ///
    /// # Errors
    /// [`WordError::Value`] if there is no such field or it cannot hold the value.
    pub fn with(mut self, field: &str, value: u32) -> Result<Self, WordError> {
        let fits = |f: &Field| f.name == field && f.allows(value, self.row.operands);
        let place = self.row.fields.iter().position(fits);
        let name = self.row.name;
        let refused = || WordError::Value { name, field: field.to_owned(), value };
        *place.and_then(|p| self.values.get_mut(p)).ok_or_else(refused)? = value;
        Ok(self)
    }

    /// The word.
    ///
    /// # Errors
    /// [`WordError::Conflict`] if fields that share bits disagree; what was decoded always encodes.
    pub fn encode(&self) -> Result<u64, WordError> {
        let (mut word, mut known) = self.row.fixed;
        for (field, value) in self.row.fields.iter().zip(&self.values) {
            let bits = field.put(*value);
            if (word ^ bits) & known & field.mask() != 0 {
                return Err(WordError::Conflict { name: self.row.name, field: field.name });
            }
            word |= bits;
            known |= field.mask();
        }
        Ok(word)
    }
}

/// How a generation shows registers and the like.
pub(super) trait Operands: std::fmt::Debug + Sync {
    /// Whether `value` stands for anything.
    fn knows(&self, kind: &str, value: u32) -> bool {
        let _ = (kind, value);
        true
    }

    /// Appends the text of an operand; nothing if the value stands for nothing.
    fn print(&self, kind: &str, value: u32, out: &mut String);

    /// The operand at the start of `text`: its value, which of its bits the text tells, and the length of the text.
    fn parse(&self, kind: &str, text: &str) -> Option<(u32, u32, usize)>;
}

/// The instructions of a generation.
#[derive(Debug)]
pub struct Table {
    unit: &'static str,
    rows: Vec<Row>,
    /// Lines that could not be read; a test keeps this empty.
    faults: Vec<String>,
}

impl Table {
    /// The instruction that `word` is in `version`.
    ///
    /// # Errors
    /// [`WordError::Unknown`], [`WordError::Reserved`] or [`WordError::Code`].
    pub fn decode(&'static self, version: u8, word: u64) -> Result<Inst, WordError> {
        let mut refused = None;
        for row in self.rows.iter().filter(|row| row.fits(version, word)) {
            match row.check(word) {
                Ok(()) => {
                    let values = row.fields.iter().map(|f| f.get(word)).collect();
                    return Ok(Inst { row, values });
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or(WordError::Unknown { unit: self.unit, version, word }))
    }

    /// Names of the instructions that `version` has, in the table's order.
    pub fn names(&self, version: u8) -> impl Iterator<Item = &'static str> + '_ {
        self.rows.iter().filter(move |row| row.versions.contains(&version)).map(|row| row.name)
    }

    /// Lines of the table that could not be read.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// The text of an instruction.
    pub fn disassemble(&self, inst: &Inst) -> String {
        self.print_with(inst, inst.row.operands)
    }

    /// As [`Table::disassemble`], with operands that know more of where the instruction stands.
    pub(super) fn print_with(&self, inst: &Inst, operands: &dyn Operands) -> String {
        text::print(inst, operands)
    }

    /// The instruction that `line` shows in `version`: the inverse of [`Table::disassemble`].
    ///
    /// # Errors
    /// [`WordError::Text`] with the place where nothing fits.
    pub fn assemble(&'static self, version: u8, line: &str) -> Result<Inst, WordError> {
        let mut furthest = line;
        for row in self.rows.iter().filter(|row| row.versions.contains(&version)) {
            match text::parse(row, line) {
                Ok(inst) => return Ok(inst),
                Err(rest) if rest.len() < furthest.len() => furthest = rest,
                Err(_) => {}
            }
        }
        Err(WordError::Text { unit: self.unit, version, at: furthest.chars().take(40).collect() })
    }
}
