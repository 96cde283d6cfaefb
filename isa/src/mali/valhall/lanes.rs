//! Which parts of a 32-bit or 64-bit source an instruction takes, and how they widen.

/// A run of bits of a source that becomes one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Lowest bit.
    pub shift: u8,
    /// Bits; fewer than the component's are extended to it.
    pub width: u8,
}

/// A selection of pieces by its name in listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pick {
    /// The suffix of the source; empty for the whole source.
    pub name: &'static str,
    /// One piece a component, from the lowest on; of the others the width is 0.
    pub pieces: [Piece; 4],
}

/// A field that selects pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Lowest bit of the field in the word.
    pub lsb: u8,
    /// Bits of the field.
    pub width: u8,
    /// The selection of each code; `None` where it is reserved.
    pub picks: &'static [Option<Pick>],
}

impl Lanes {
    /// Its bits in the word.
    pub const fn mask(&self) -> u64 {
        ((1 << self.width) - 1) << self.lsb
    }

    /// The selection in `word`; `None` if the code is reserved.
    pub fn pick(&self, word: u64) -> Option<Pick> {
        let code = (word & self.mask()) >> self.lsb;
        *self.picks.get(code as usize)?
    }
}

const NO_PIECE: Piece = Piece { shift: 0, width: 0 };

const fn byte(n: u8) -> Piece {
    Piece { shift: 8 * n, width: 8 }
}

const fn half(n: u8) -> Piece {
    Piece { shift: 16 * n, width: 16 }
}

const fn pick(name: &'static str, pieces: [Piece; 4]) -> Option<Pick> {
    Some(Pick { name, pieces })
}

const fn one(name: &'static str, piece: Piece) -> Option<Pick> {
    pick(name, [piece, NO_PIECE, NO_PIECE, NO_PIECE])
}

const fn halves(name: &'static str, a: u8, b: u8) -> Option<Pick> {
    pick(name, [half(a), half(b), NO_PIECE, NO_PIECE])
}

const fn bytes(name: &'static str, a: u8, b: u8) -> Option<Pick> {
    pick(name, [byte(a), byte(b), NO_PIECE, NO_PIECE])
}

const fn quad(name: &'static str, [a, b, c, d]: [u8; 4]) -> Option<Pick> {
    pick(name, [byte(a), byte(b), byte(c), byte(d)])
}

/// One 32-bit number: whole, or a half or byte of it.
pub(super) const WORD: &[Option<Pick>] = &[
    one("", Piece { shift: 0, width: 32 }),
    None,
    one("h0", half(0)),
    one("h1", half(1)),
    one("b0", byte(0)),
    one("b1", byte(1)),
    one("b2", byte(2)),
    one("b3", byte(3)),
];

/// One 64-bit number: whole, or a part of its low word.
pub(super) const DOUBLE: &[Option<Pick>] = &[
    one("", Piece { shift: 0, width: 64 }),
    None,
    one("h0", half(0)),
    one("h1", half(1)),
    one("b0", byte(0)),
    one("b1", byte(1)),
    one("b2", byte(2)),
    one("b3", byte(3)),
    one("w0", Piece { shift: 0, width: 32 }),
];

/// A 32-bit float: whole, or a half of it as an f16.
pub(super) const SINGLE: &[Option<Pick>] =
    &[one("", Piece { shift: 0, width: 32 }), one("h0", half(0)), one("h1", half(1)), None];

/// Two 16-bit numbers, from halves or bytes.
pub(super) const HALVES: &[Option<Pick>] = &[
    halves("h00", 0, 0),
    halves("h10", 1, 0),
    halves("", 0, 1),
    halves("h11", 1, 1),
    bytes("b00", 0, 0),
    bytes("b20", 2, 0),
    bytes("b02", 0, 2),
    bytes("b22", 2, 2),
    bytes("b11", 1, 1),
    bytes("b31", 3, 1),
    bytes("b13", 1, 3),
    bytes("b33", 3, 3),
    bytes("b01", 0, 1),
    bytes("b23", 2, 3),
];

/// Two 16-bit numbers, from halves, where conversions and floats name them.
pub(super) const SWIZZLE: &[Option<Pick>] =
    &[halves("h00", 0, 0), halves("h10", 1, 0), halves("", 0, 1), halves("h11", 1, 1)];

/// One 16-bit number of an instruction whose field could name two: the first of them counts.
pub(super) const SWIZZLE_ONE: &[Option<Pick>] =
    &[one("h00", half(0)), one("h10", half(1)), one("", half(0)), one("h11", half(1))];

/// Four bytes.
pub(super) const QUADS: &[Option<Pick>] = &[
    quad("", [0, 1, 2, 3]),
    quad("b3210", [3, 2, 1, 0]),
    quad("b0101", [0, 1, 0, 1]),
    quad("b2323", [2, 3, 2, 3]),
    quad("b0000", [0; 4]),
    quad("b1111", [1; 4]),
    quad("b2222", [2; 4]),
    quad("b3333", [3; 4]),
    quad("b2301", [2, 3, 0, 1]),
    quad("b1032", [1, 0, 3, 2]),
    quad("b0011", [0, 0, 1, 1]),
    quad("b2233", [2, 2, 3, 3]),
];

/// Two bytes, in any combination.
pub(super) const BYTE_PAIRS: &[Option<Pick>] = &[
    bytes("b00", 0, 0),
    bytes("b10", 1, 0),
    bytes("b20", 2, 0),
    bytes("b30", 3, 0),
    bytes("b01", 0, 1),
    bytes("b11", 1, 1),
    bytes("b21", 2, 1),
    bytes("b31", 3, 1),
    bytes("b02", 0, 2),
    bytes("b12", 1, 2),
    bytes("b22", 2, 2),
    bytes("b32", 3, 2),
    bytes("b03", 0, 3),
    bytes("b13", 1, 3),
    bytes("b23", 2, 3),
    bytes("b33", 3, 3),
];

/// The byte that says how far every component is shifted.
pub(super) const SHIFTS: &[Option<Pick>] = &[
    None,
    None,
    None,
    None,
    quad("b00", [0; 4]),
    quad("b11", [1; 4]),
    quad("b22", [2; 4]),
    quad("b33", [3; 4]),
];

/// One byte.
pub(super) const BYTE: &[Option<Pick>] =
    &[one("b0", byte(0)), one("b1", byte(1)), one("b2", byte(2)), one("b3", byte(3))];

/// One half.
pub(super) const HALF: &[Option<Pick>] = &[one("h0", half(0)), one("h1", half(1))];

/// What a conditional branch looks at. `and` and `lowbits` have no public meaning and are reserved here.
pub(super) const COMBINE: &[Option<Pick>] =
    &[one("", Piece { shift: 0, width: 32 }), one("h0", half(0)), one("h1", half(1))];
