//! What a row of the instruction table says.

use std::sync::LazyLock;

use super::fields::Field;
use super::lanes::{self, Lanes};
use super::rows as all;

/// What an operation does; a row adds the type that it does it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are the instructions' own names")]
pub enum Op {
    Nop,
    BranchZ,
    BranchZIndirect,
    Discard,
    Barrier,
    Csel,
    /// From the source's type to the row's.
    Convert,
    Fround,
    Mov,
    Clz,
    Iabs,
    Popcount,
    BitReverse,
    Not,
    Wmask,
    Flush,
    Frexpm,
    Frexpe,
    Frcp,
    Frsq,
    /// A step of a transcendental function, of which public documents give no values.
    Table,
    Fadd,
    Fmin,
    Fmax,
    Fma,
    /// Two f32 to a pair of f16.
    PackHalves,
    Ldexp,
    Iadd,
    Isub,
    Imul,
    /// The 64-bit product of two 32-bit numbers.
    ImulWide,
    Hadd,
    /// `a + (b << shift)`.
    ShiftAdd,
    SegAdd,
    MakeHalves,
    MakeBytes,
    Permute,
    LshiftAnd,
    LshiftOr,
    LshiftXor,
    RshiftAnd,
    RshiftOr,
    RshiftXor,
    Mux,
    Cube,
    DotProduct,
    IcmpOr,
    IcmpAnd,
    IcmpMulti,
    FcmpOr,
    FcmpAnd,
    Load,
    Store,
    LoadBuffer,
    LeaBuffer,
    LeaBuf,
    LeaBufImm,
    LoadAttr,
    LoadAttrImm,
    LeaAttr,
    LeaAttrImm,
    StoreConvert,
    LoadConvert,
    LoadVar,
    LoadVarImm,
    LoadVarFlat,
    LoadVarFlatImm,
    LoadVarBuf,
    LoadVarBufImm,
    LoadVarSpecial,
    Atest,
    Blend,
    /// Textures, the tile buffer, depth and stencil, atomics.
    Message,
}

/// Type of an operation: of its result, and of its sources where a row does not say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are the instructions' own suffixes")]
pub enum Ty {
    F16,
    F32,
    V2F16,
    S8,
    S16,
    S32,
    S64,
    V2S8,
    V2S16,
    V4S8,
    U8,
    U16,
    U32,
    U64,
    V2U8,
    V2U16,
    V4U8,
}

impl Ty {
    /// Bits of a component, components, whether it is signed, whether it is a float.
    const fn row(self) -> (u8, u8, bool, bool) {
        match self {
            Ty::F16 => (16, 1, true, true),
            Ty::F32 => (32, 1, true, true),
            Ty::V2F16 => (16, 2, true, true),
            Ty::S8 => (8, 1, true, false),
            Ty::S16 => (16, 1, true, false),
            Ty::S32 => (32, 1, true, false),
            Ty::S64 => (64, 1, true, false),
            Ty::V2S8 => (8, 2, true, false),
            Ty::V2S16 => (16, 2, true, false),
            Ty::V4S8 => (8, 4, true, false),
            Ty::U8 => (8, 1, false, false),
            Ty::U16 => (16, 1, false, false),
            Ty::U32 => (32, 1, false, false),
            Ty::U64 => (64, 1, false, false),
            Ty::V2U8 => (8, 2, false, false),
            Ty::V2U16 => (16, 2, false, false),
            Ty::V4U8 => (8, 4, false, false),
        }
    }

    /// Bits of a component.
    pub const fn bits(self) -> u8 {
        self.row().0
    }

    /// Components.
    pub const fn count(self) -> usize {
        self.row().1 as usize
    }

    /// Whether components widen with their sign.
    pub const fn signed(self) -> bool {
        self.row().2
    }

    /// Whether components are floats.
    pub const fn float(self) -> bool {
        self.row().3
    }
}

/// Shape of a source: which modifiers it can have. Where its fields lie follows from its place among the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// 32 bits as they are.
    Word,
    /// 64 bits as they are: a register pair from an even number on.
    Pair,
    /// f32 with sign modifiers and a half selection.
    Single,
    /// f32 with sign modifiers.
    SingleWhole,
    /// Two f16 with sign modifiers and a swizzle.
    HalfPair,
    /// One f16 with sign modifiers and a swizzle.
    HalfOne,
    /// One f16 with sign modifiers and a lane at bit 28.
    HalfLane,
    /// A 32-bit integer, whole or a part.
    Int,
    /// Two 16-bit integers from halves or bytes.
    IntPair,
    /// Four bytes.
    IntQuad,
    /// A 64-bit integer, whole or a part.
    IntDouble,
    /// Two 16-bit numbers with a swizzle and no sign modifiers.
    Swizzle,
    /// One 16-bit number with a swizzle and no sign modifiers.
    SwizzleOne,
    /// A byte lane at bit 28.
    ByteLane28,
    /// A byte lane of a vector made of bytes.
    ByteLane,
    /// A half lane of a vector made of halves.
    HalfLanes,
    /// Two bytes in any combination.
    BytePair,
    /// A byte that says how far to shift.
    Shift,
    /// 32 bits, perhaps inverted.
    Invert,
    /// 64 bits, perhaps inverted.
    InvertPair,
    /// What a branch looks at.
    Combine,
}

impl Kind {
    /// Whether it is a register pair.
    pub const fn is_pair(self) -> bool {
        matches!(self, Kind::Pair | Kind::IntDouble | Kind::InvertPair)
    }

    /// The bits of ABS and NEG of source `index`, if it has them.
    pub(super) const fn signs(self, index: usize) -> Option<[u64; 2]> {
        let neg = 38 - 2 * index as u64;
        match self {
            Kind::Single | Kind::SingleWhole | Kind::HalfPair | Kind::HalfOne | Kind::HalfLane => {
                Some([1 << (neg + 1), 1 << neg])
            }
            _ => None,
        }
    }

    /// The bit of NOT, if it has one.
    pub(super) const fn not(self) -> Option<u64> {
        match self {
            Kind::Invert | Kind::InvertPair => Some(1 << 35),
            _ => None,
        }
    }

    /// The field that selects parts of source `index`, if it has one.
    pub const fn lanes(self, index: usize) -> Option<Lanes> {
        let two = 28 - 2 * index as u8;
        let four = if index == 1 { 26 } else { 36 };
        let lane = 38 - 2 * index as u8;
        let (lsb, width, picks) = match self {
            Kind::Word | Kind::Pair | Kind::SingleWhole | Kind::Invert | Kind::InvertPair => return None,
            Kind::Single => (two, 2, lanes::SINGLE),
            Kind::HalfPair | Kind::Swizzle => (two, 2, lanes::SWIZZLE),
            Kind::HalfOne | Kind::SwizzleOne => (two, 2, lanes::SWIZZLE_ONE),
            Kind::HalfLane => (28, 1, lanes::HALF),
            Kind::Int => (four, 4, lanes::WORD),
            Kind::IntPair => (four, 4, lanes::HALVES),
            Kind::IntQuad => (four, 4, lanes::QUADS),
            Kind::IntDouble => (four, 4, lanes::DOUBLE),
            Kind::ByteLane28 => (28, 2, lanes::BYTE),
            Kind::ByteLane => (lane, 2, lanes::BYTE),
            Kind::HalfLanes => (lane, 1, lanes::HALF),
            Kind::BytePair => (four, 4, lanes::BYTE_PAIRS),
            Kind::Shift => (26, 3, lanes::SHIFTS),
            Kind::Combine => (37, 3, lanes::COMBINE),
        };
        Some(Lanes { lsb, width, picks })
    }
}

/// What is written besides staging registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dst {
    /// Nothing.
    None,
    /// A register, or halves of it.
    Word,
    /// A register pair.
    Pair,
}

/// What staging registers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Staging {
    /// There are none.
    None,
    /// Read.
    Read,
    /// Written.
    Write,
}

/// An immediate number in the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Immediate {
    /// What it is; empty for the constant of an addition.
    pub name: &'static str,
    /// Lowest bit.
    pub lsb: u8,
    /// Bits, at most 32.
    pub width: u8,
    /// Whether it is sign-extended.
    pub signed: bool,
}

impl Immediate {
    /// Its bits in the word.
    pub const fn mask(&self) -> u64 {
        ((1 << self.width) - 1) << self.lsb
    }

    /// Its value in `word`, extended to 32 bits.
    pub const fn of(&self, word: u64) -> u32 {
        let bits = ((word & self.mask()) >> self.lsb) as u32;
        let unused = 32 - self.width as u32;
        if self.signed { ((bits << unused) as i32 >> unused) as u32 } else { bits }
    }
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Its name in listings.
    pub name: &'static str,
    /// What it does.
    pub op: Op,
    /// Type of the result, and of the sources but for [`Op::Convert`].
    pub ty: Ty,
    /// Type of the sources.
    pub from: Ty,
    /// Bits 48 to 56.
    pub opcode: u16,
    /// Further bits that tell it from others, and their values.
    pub second: (u64, u64),
    /// Its destination.
    pub dst: Dst,
    /// Its staging registers.
    pub staging: Staging,
    /// Its sources: the byte of the word, and the shape.
    pub sources: &'static [(u8, Kind)],
    /// Its modifiers, in the order of listings.
    pub fields: &'static [Field],
    /// Its immediates, in the order of listings.
    pub immediates: &'static [Immediate],
    /// Whether its other bits are known; where not, only its name is.
    pub known: bool,
}

impl Row {
    /// Whether it sends a message: then it has staging registers and no destination.
    pub fn is_message(&self) -> bool {
        self.staging != Staging::None
    }

    /// The bits of the word that it gives a meaning to.
    pub(super) fn meant(&self) -> u64 {
        let lanes = |i, k: Kind| {
            let signs = k.signs(i).map_or(0, |[a, n]| a | n);
            k.lanes(i).map_or(0, |l| l.mask()) | signs | k.not().unwrap_or(0)
        };
        let sources = self.sources.iter().enumerate();
        let sources = sources.fold(0, |m, (i, (byte, k))| m | 0xff << (8 * byte) | lanes(i, *k));
        let fields = self.fields.iter().fold(0, |m, f| m | f.mask());
        let immediates = self.immediates.iter().fold(0, |m, i| m | i.mask());
        let staging = if self.is_message() { 7 << 33 } else { 0 };
        const COMMON: u64 = 0x7fff << 48 | 0xff << 40;
        sources | fields | immediates | staging | self.second.0 | COMMON
    }
}

/// The rows by opcode.
static BY_OPCODE: LazyLock<Vec<Vec<&'static Row>>> = LazyLock::new(|| {
    let mut table = vec![Vec::new(); 512];
    for row in rows() {
        table[usize::from(row.opcode & 0x1ff)].push(row);
    }
    table
});

/// The row of a word.
pub(super) fn row_of(word: u64) -> Option<&'static Row> {
    let opcode = (word >> 48) as usize & 0x1ff;
    BY_OPCODE[opcode].iter().copied().find(|r| word & r.second.0 == r.second.1)
}

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    all::SUBJECTS.iter().copied().flatten()
}
