//! Descriptors by table: decode, encode, and the text of each field.

mod table;

use crate::Refusal;
use crate::mali::Version;
use table::{Field, Kind, LAYOUTS, Layout};

/// A decoded descriptor: a layout of the table and the values of its fields.
#[derive(Clone, Debug)]
pub struct Record {
    layout: &'static Layout,
    values: Vec<u64>,
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.layout, other.layout) && self.values == other.values
    }
}

/// Names of the records whose name begins with `prefix` that `version` has.
fn layouts(prefix: &str, version: Version) -> impl Iterator<Item = &'static Layout> {
    LAYOUTS.0.iter().filter(move |l| l.name.starts_with(prefix) && l.versions.contains(&version.number()))
}

impl Record {
    /// Decodes the record called `name`.
    ///
    /// # Errors
    /// [`Refusal::DescriptorName`] if the version has no such record, [`Refusal::DescriptorLength`] for too few words, or
    /// the word and bit that have no meaning.
    pub fn decode(name: &str, version: Version, words: &[u32]) -> Result<Record, Refusal> {
        let unknown = || Refusal::DescriptorName { name: name.to_owned(), version: version.number() };
        Record::read(layouts(name, version).find(|l| l.name == name).ok_or_else(unknown)?, words)
    }

    /// Decodes the first of the records whose name begins with one of `prefixes` that the words can be: the fields that
    /// tell records apart choose.
    ///
    /// # Errors
    /// As [`Record::decode`], and [`Refusal::DescriptorKind`] if the words are none of them.
    pub fn decode_any(prefixes: &[&str], version: Version, words: &[u32]) -> Result<Record, Refusal> {
        let named = prefixes.iter().flat_map(|prefix| layouts(prefix, version));
        // Records with more fields that tell them apart first: a special input also looks like a type.
        let fits = named.filter(|layout| layout.is(words));
        match fits.max_by_key(|layout| layout.told()) {
            Some(layout) => Record::read(layout, words),
            None => Err(Refusal::DescriptorKind {
                kinds: prefixes.join(", "),
                version: version.number(),
                value: words.first().copied().unwrap_or(0),
            }),
        }
    }

    fn read(layout: &'static Layout, words: &[u32]) -> Result<Record, Refusal> {
        let record = layout.name;
        let needed = layout.words();
        let words =
            words.get(..needed).ok_or(Refusal::DescriptorLength { record, words: words.len(), needed })?;
        layout.check_reserved(words)?;
        let values = layout.fields.iter().map(|f| f.checked(record, words)).collect::<Result<_, _>>()?;
        Ok(Record { layout, values })
    }

    /// A record of zeros but for the fields that must hold something else.
    ///
    /// # Errors
    /// [`Refusal::DescriptorName`] if the version has no such record.
    pub fn blank(name: &str, version: Version) -> Result<Record, Refusal> {
        let unknown = || Refusal::DescriptorName { name: name.to_owned(), version: version.number() };
        let layout = layouts(name, version).find(|l| l.name == name).ok_or_else(unknown)?;
        let value = |f: &Field| match &f.kind {
            Kind::Is(value) => *value,
            Kind::Plus1 => 1,
            Kind::Names(names) => names.first().map_or(0, |n| n.0),
            _ => 0,
        };
        Ok(Record { layout, values: layout.fields.iter().map(value).collect() })
    }

    /// The record with another value in a field; signed fields take the value's two's complement.
    ///
    /// # Errors
    /// [`Refusal::DescriptorField`] if there is no such field or it cannot hold the value.
    pub fn with(mut self, field: &str, value: u64) -> Result<Record, Refusal> {
        let record = self.layout.name;
        let refused = || Refusal::DescriptorField { record, field: field.to_owned(), value };
        let place = self.layout.fields.iter().position(|f| f.name == field && f.holds(value));
        *place.and_then(|p| self.values.get_mut(p)).ok_or_else(refused)? = value;
        Ok(self)
    }

    /// The record's name in the table.
    pub fn name(&self) -> &'static str {
        self.layout.name
    }

    /// The value of a field; signed fields as two's complement of 64 bits. `None` if the record has no such field.
    pub fn get(&self, field: &str) -> Option<u64> {
        let place = self.layout.fields.iter().position(|f| f.name == field)?;
        self.values.get(place).copied()
    }

    /// The value of a field, 0 for one that the record lacks.
    pub fn value(&self, field: &str) -> u64 {
        self.get(field).unwrap_or(0)
    }

    /// Name and text of each field, in the order of the table.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.layout.fields.iter().zip(&self.values).map(|(field, value)| (field.name, field.text(*value)))
    }

    /// The words.
    pub fn encode(&self) -> Vec<u32> {
        let mut words = vec![0; self.layout.words()];
        for (field, value) in self.layout.fields.iter().zip(&self.values) {
            field.put(*value, &mut words);
        }
        words
    }
}

impl Layout {
    /// Whether the fields that tell records apart say that this is one.
    fn is(&self, words: &[u32]) -> bool {
        let mut telling = self.fields.iter().filter_map(|f| match (&f.kind, f.name) {
            (Kind::Is(value), _) => Some(f.bits(words) == *value),
            (Kind::Names(names), "attribute_type") => Some(names.iter().any(|n| n.0 == f.bits(words))),
            _ => None,
        });
        telling.all(|holds| holds)
    }

    /// Bits that tell it from others.
    fn told(&self) -> u32 {
        self.fields.iter().filter(|f| matches!(f.kind, Kind::Is(_))).map(Field::width).sum()
    }

    fn check_reserved(&self, words: &[u32]) -> Result<(), Refusal> {
        for (word, value) in (0u32..).zip(words) {
            let pieces = self.fields.iter().flat_map(|f| &f.pieces).filter(|p| p.word == word);
            let unknown = value & !pieces.fold(0, |mask, p| mask | p.mask());
            if unknown != 0 {
                let bit = unknown.trailing_zeros();
                return Err(Refusal::DescriptorReserved { record: self.name, word, bit, value: *value });
            }
        }
        Ok(())
    }
}

impl Field {
    fn bits(&self, words: &[u32]) -> u64 {
        let mut shift = 0;
        self.pieces.iter().fold(0, |value, piece| {
            let word = words.get(piece.word as usize).copied().unwrap_or(0);
            let part = u64::from((word & piece.mask()) >> piece.lowest) << shift;
            shift += piece.width;
            value | part
        })
    }

    fn checked(&self, record: &'static str, words: &[u32]) -> Result<u64, Refusal> {
        let bits = self.bits(words);
        let known = match &self.kind {
            Kind::Is(value) => bits == *value,
            Kind::Names(names) => names.iter().any(|n| n.0 == bits),
            _ => true,
        };
        let (word, bit) = self.place();
        let refused = Refusal::DescriptorCode { record, field: self.name, code: bits, word, bit };
        known.then(|| self.value(bits)).ok_or(refused)
    }

    fn value(&self, bits: u64) -> u64 {
        let unused = 64 - self.width().clamp(1, 64);
        match self.kind {
            Kind::Int => ((bits << unused) as i64 >> unused) as u64,
            Kind::Times64 => bits << 6,
            Kind::Plus1 => bits + 1,
            _ => bits,
        }
    }

    fn stored(&self, value: u64) -> u64 {
        let ones = u64::MAX >> (64 - self.width().clamp(1, 64));
        match self.kind {
            Kind::Int => value & ones,
            Kind::Times64 => value >> 6,
            Kind::Plus1 => value.wrapping_sub(1),
            _ => value,
        }
    }

    fn holds(&self, value: u64) -> bool {
        let stored = self.stored(value);
        let fits = self.width() >= 64 || stored >> self.width() == 0;
        let known = match &self.kind {
            Kind::Is(only) => value == *only,
            Kind::Names(names) => names.iter().any(|n| n.0 == value),
            _ => true,
        };
        fits && known && self.value(stored) == value
    }

    fn put(&self, value: u64, words: &mut [u32]) {
        let mut rest = self.stored(value);
        for piece in &self.pieces {
            if let Some(word) = words.get_mut(piece.word as usize) {
                *word |= ((rest as u32) << piece.lowest) & piece.mask();
            }
            rest >>= piece.width;
        }
    }

    fn text(&self, value: u64) -> String {
        match &self.kind {
            Kind::Int => (value as i64).to_string(),
            Kind::Hex | Kind::Times64 => format!("{value:#x}"),
            Kind::Names(names) => {
                names.iter().find(|n| n.0 == value).map_or_else(String::new, |n| n.1.to_owned())
            }
            Kind::Uint | Kind::Plus1 | Kind::Is(_) => value.to_string(),
        }
    }
}

/// Lines of the table that could not be read; a test keeps this 0.
pub fn faults() -> usize {
    LAYOUTS.1
}

/// Names of every record that `version` has.
pub fn names(version: Version) -> impl Iterator<Item = &'static str> {
    layouts("", version).map(|l| l.name)
}
