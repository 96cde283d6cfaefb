//! A decoded instruction.

use super::table::{Kind, Row};

/// How registers are addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessMode {
    /// By regions of elements.
    Align1,
    /// By vectors of four components, with swizzles and write masks.
    Align16,
}

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum File {
    /// The null register and other architecture registers, by number.
    Architecture,
    /// General registers, 32 bytes each.
    General,
    /// The instruction's own 32 bits.
    Immediate,
}

/// An operand's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the types' names in assembly")]
pub enum Type {
    Ud,
    D,
    Uw,
    W,
    Ub,
    B,
    Df,
    F,
    /// Four 8-bit floats (immediates).
    Vf,
    /// Eight signed 4-bit integers (immediates).
    V,
    /// Eight unsigned 4-bit integers (immediates).
    Uv,
}

impl Type {
    /// Bytes of an element; of a packed immediate, those of an element that it stands for.
    pub const fn bytes(self) -> u32 {
        match self {
            Type::Ud | Type::D | Type::F | Type::Vf => 4,
            Type::Uw | Type::W | Type::V | Type::Uv => 2,
            Type::Ub | Type::B => 1,
            Type::Df => 8,
        }
    }

    /// Whether it is a float.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F | Type::Df | Type::Vf)
    }

    /// Its name in assembly.
    pub const fn name(self) -> &'static str {
        match self {
            Type::Ud => "UD",
            Type::D => "D",
            Type::Uw => "UW",
            Type::W => "W",
            Type::Ub => "UB",
            Type::B => "B",
            Type::Df => "DF",
            Type::F => "F",
            Type::Vf => "VF",
            Type::V => "V",
            Type::Uv => "UV",
        }
    }
}

/// What a conditional modifier asks of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the modifiers' names in assembly")]
pub enum Condition {
    Z,
    Nz,
    G,
    Ge,
    L,
    Le,
    O,
    U,
}

/// A destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dst {
    /// Its file; [`File::Architecture`] number 0 takes nothing.
    pub file: File,
    /// Its type.
    pub ty: Type,
    /// Register.
    pub register: u8,
    /// Byte in the register.
    pub byte: u8,
    /// Components that are written, for align16.
    pub mask: u8,
    /// Elements from one channel to the next, for align1.
    pub stride: u8,
}

/// How a source's elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// Rows of `width` elements, `horizontal` apart, rows `vertical` elements apart.
    Elements {
        /// Elements from row to row.
        vertical: u8,
        /// Elements of a row.
        width: u8,
        /// Elements from one to the next.
        horizontal: u8,
    },
    /// A vector of four a vertex, `vertical` elements apart: 4, or 0 for the same one.
    Vectors {
        /// Elements from vertex to vertex.
        vertical: u8,
        /// Component that each component reads.
        swizzle: [u8; 4],
    },
}

/// A source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Src {
    /// Its file.
    pub file: File,
    /// Its type.
    pub ty: Type,
    /// Register.
    pub register: u8,
    /// Byte in the register.
    pub byte: u8,
    /// Its elements.
    pub region: Region,
    /// The absolute value is taken, before a negation.
    pub absolute: bool,
    /// It is negated.
    pub negate: bool,
    /// The bits of an immediate.
    pub immediate: u32,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    /// Byte offset in the program.
    pub pc: u32,
    /// Bytes: 8 or 16.
    pub bytes: u32,
    /// The operation.
    pub row: &'static Row,
    /// How registers are addressed.
    pub access: AccessMode,
    /// Channels, 1 to 32.
    pub channels: u8,
    /// Whether it runs in channels that are off.
    pub no_mask: bool,
    /// Predicate control, 0 for none, and whether it is inverted.
    pub predicate: (u8, bool),
    /// Flag register and subregister.
    pub flag: (u8, u8),
    /// Conditional modifier.
    pub condition: Option<Condition>,
    /// Results are clamped: floats to 0 to 1, integers to the type's range.
    pub saturate: bool,
    /// Destination.
    pub dst: Dst,
    /// Sources; as many as the row says count.
    pub src: [Src; 3],
    /// For a message: shared function, and the descriptor where it is an immediate.
    pub message: (u8, Option<u32>),
    /// For branches: bytes from the instruction to where disabled channels wait, and to where the block ends.
    pub jumps: (i32, i32),
}

/// Bit of a message's descriptor that ends the thread.
const END_OF_THREAD: u32 = 1 << 31;

impl Inst {
    /// Whether it is a message that ends the thread.
    pub fn ends_thread(&self) -> bool {
        self.row.kind == Kind::Send
            && self.message.1.is_some_and(|descriptor| descriptor & END_OF_THREAD != 0)
    }
}
