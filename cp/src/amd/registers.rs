//! The registers of GFX10 by name, from `tables/amd/registers.tsv`.

use crate::words::extract;

/// A register, by its byte address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u32);

impl Register {
    /// The register that packets address by the absolute dword `index`.
    pub const fn from_dword_index(index: u32) -> Register {
        Register(index.wrapping_mul(4))
    }

    /// The space it lies in, if any.
    pub fn space(self) -> Option<Space> {
        match self.0 {
            0x8000..0xb000 => Some(Space::Config),
            0xb000..0xc000 => Some(Space::Sh),
            0x2_8000..0x3_0000 => Some(Space::Context),
            0x3_0000..0x4_0000 => Some(Space::Uconfig),
            _ => None,
        }
    }
}

impl std::fmt::Display for Register {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match describe(*self) {
            Some(d) => d.fmt(f),
            None => write!(f, "register {:#07x}", self.0),
        }
    }
}

/// Equal registers at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterArray {
    /// Element 0.
    pub first: Register,
    /// Elements.
    pub count: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
}

impl RegisterArray {
    /// Element `i`, or the last one where there are fewer.
    pub const fn at(self, i: u32) -> Register {
        let i = if i < self.count { i } else { self.count - 1 };
        Register(self.first.0 + i * self.stride)
    }
}

/// A span of bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The register; element 0 of an array.
    pub register: Register,
    /// Highest bit.
    pub hi: u8,
    /// Lowest bit.
    pub lo: u8,
}

impl Field {
    pub(crate) const fn new(register: Register, hi: u8, lo: u8) -> Field {
        Field { register, hi, lo }
    }

    /// The field's value in the register value `word`.
    pub const fn of(self, word: u32) -> u32 {
        extract(word, self.hi, self.lo)
    }
}

/// A register space: what one kind of SET packet reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global, from older generations.
    Config,
    /// Shader programs and user data.
    Sh,
    /// Draw state, cleared by CLEAR_STATE.
    Context,
    /// Global, reachable by user packets.
    Uconfig,
}

impl Space {
    /// All spaces, by address.
    pub const ALL: [Space; 4] = [Space::Config, Space::Sh, Space::Context, Space::Uconfig];

    /// Byte addresses: first, and one past the last.
    pub const fn bounds(self) -> (u32, u32) {
        match self {
            Space::Config => (0x8000, 0xb000),
            Space::Sh => (0xb000, 0xc000),
            Space::Context => (0x2_8000, 0x3_0000),
            Space::Uconfig => (0x3_0000, 0x4_0000),
        }
    }

    /// The register at dword `offset`, which lies outside of the space if the offset does.
    pub const fn at(self, offset: u32) -> Register {
        Register(self.bounds().0.wrapping_add(offset.wrapping_mul(4)))
    }

    /// Whether `register` lies in it.
    pub const fn contains(self, register: Register) -> bool {
        let (first, end) = self.bounds();
        first <= register.0 && register.0 < end
    }
}

/// One row of the register table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name; `#` stands for the index in an array.
    pub name: &'static str,
    /// Byte address of the first.
    pub address: u32,
    /// Elements.
    pub count: u32,
    /// Bytes from one to the next.
    pub stride: u32,
    /// Value after CLEAR_STATE, where public documents give it.
    pub reset: Option<u32>,
    /// Where the row comes from.
    pub source: &'static str,
    /// Fields, from the low bits up as a rule.
    pub fields: &'static [FieldRow],
}

/// One field of a [`Row`].
#[derive(Clone, Copy, Debug)]
pub struct FieldRow {
    /// Name.
    pub name: &'static str,
    /// Highest bit.
    pub hi: u8,
    /// Lowest bit.
    pub lo: u8,
}

impl FieldRow {
    /// The field's value in `word`.
    pub const fn of(self, word: u32) -> u32 {
        extract(word, self.hi, self.lo)
    }
}

/// What the table says about one register.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Its row.
    pub row: &'static Row,
    /// Its element in the row's array.
    pub index: u32,
}

impl std::fmt::Display for Description {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.row.name.split_once('#') {
            Some((before, after)) => write!(f, "{before}{}{after}", self.index),
            None => f.write_str(self.row.name),
        }
    }
}

/// Name and fields of a register, if the table has it.
pub fn describe(register: Register) -> Option<Description> {
    // Arrays interleave, so the nearest row below is not always the one: look back as far as an array can reach.
    let end = ROWS.partition_point(|row| row.address <= register.0);
    ROWS[..end].iter().rev().take_while(|row| register.0 - row.address < 0x400).find_map(|row| {
        let distance = register.0 - row.address;
        let index = distance / row.stride;
        (distance.is_multiple_of(row.stride) && index < row.count).then_some(Description { row, index })
    })
}

/// The name of a register for sentences that need a `&'static str`.
pub(crate) fn family(register: Register) -> &'static str {
    describe(register).map_or("without a name", |d| d.row.name)
}

include!(concat!(env!("OUT_DIR"), "/amd_registers.rs"));
