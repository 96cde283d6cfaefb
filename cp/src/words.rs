//! Named bits of packets' dwords, for every guest.

/// Bits `hi` to `lo` of a dword.
pub(crate) const fn extract(word: u32, hi: u8, lo: u8) -> u32 {
    (word << (31 - hi as u32)) >> (31 - hi as u32 + lo as u32)
}

/// A span of bits of one dword of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordField {
    dword: u8,
    hi: u8,
    lo: u8,
}

impl WordField {
    pub(crate) const fn new(dword: u8, hi: u8, lo: u8) -> WordField {
        WordField { dword, hi, lo }
    }

    /// The dword it is in.
    pub(crate) const fn dword(self) -> usize {
        self.dword as usize
    }

    /// The field's value in `words`; 0 where there are too few to have it.
    pub(crate) fn of(self, words: &[u32]) -> u32 {
        words.get(self.dword()).map_or(0, |word| extract(*word, self.hi, self.lo))
    }
}

/// One field of a packet table's row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordFieldRow {
    /// Dword, from 0.
    pub(crate) dword: u8,
    /// Whether every dword from here to the packet's end is one.
    pub(crate) repeats: bool,
    pub(crate) name: &'static str,
    pub(crate) hi: u8,
    pub(crate) lo: u8,
}

impl WordFieldRow {
    fn view(&self, dword: u32, words: &[u32]) -> Option<FieldView> {
        let value = extract(*words.get(dword as usize)?, self.hi, self.lo);
        Some(FieldView { name: self.name, dword, hi: self.hi, lo: self.lo, value })
    }
}

/// One field of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldView {
    /// Name.
    pub name: &'static str,
    /// Dword: of the body for AMD, of the packet for Intel.
    pub dword: u32,
    /// Highest bit.
    pub hi: u8,
    /// Lowest bit.
    pub lo: u8,
    /// Value.
    pub value: u32,
}

/// The fields of `rows` in `words`, as far as these reach. Fields that repeat come once a dword.
pub(crate) fn views<'a>(
    rows: &'static [WordFieldRow],
    words: &'a [u32],
) -> impl Iterator<Item = FieldView> + use<'a> {
    rows.iter().flat_map(move |row| {
        let first = u32::from(row.dword);
        let end = if row.repeats { (words.len() as u32).max(first) } else { first + 1 };
        (first..end).filter_map(move |dword| row.view(dword, words))
    })
}
