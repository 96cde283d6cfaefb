//! Rows of the opcode tables: which opcode of which encoding is which operation, and what its operands are.
//!
//! The rows are generated from `tables/gfx10`, one text row an opcode of an encoding.

use super::{Encoding, Op, Target, WaveSize};

/// What the bits of an operand are: decides how an inline constant or a literal widens to the operand's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NumberKind {
    /// Untyped bits. An inline integer is sign-extended to the width, a literal zero-extended.
    Bits,
    /// Signed integer. Inline integers and literals are sign-extended.
    Int,
    /// Unsigned integer. An inline integer is sign-extended, a literal zero-extended.
    Uint,
    /// Float of the operand's width. Inline floats take the width's own encoding; a literal of a 16-bit operand is
    /// its low half, a literal of a 64-bit operand is the *high* dword (the low one is zero).
    Float,
    /// Two 16-bit integers in a dword.
    PackedInt,
    /// Two 16-bit floats in a dword.
    PackedFloat,
    /// A lane mask: one bit a lane, [`WaveSize::mask_dwords`] registers.
    Mask,
}

/// Which registers an operand can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegisterFile {
    /// Vector or scalar registers or constants, as far as the encoding's field reaches.
    Any,
    /// Vector registers only.
    Vector,
    /// Scalar registers and constants only.
    Scalar,
}

/// Shape of the operand in one place of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OperandSpec {
    /// Meaning of the bits.
    pub kind: NumberKind,
    /// Width in bits; 0 for a mask (the wave size decides) and where the instruction's fields decide
    /// (image addresses and data).
    pub bits: u16,
    /// Registers that can stand here.
    pub file: RegisterFile,
}

impl OperandSpec {
    /// Registers that the operand takes in a wave of this size; 0 where the instruction's fields decide.
    pub const fn dwords(&self, wave: WaveSize) -> u8 {
        match self.kind {
            NumberKind::Mask => wave.mask_dwords(),
            _ => self.bits.div_ceil(32) as u8,
        }
    }
}

/// One opcode of one encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRow {
    /// The operation.
    pub op: Op,
    /// The encoding.
    pub encoding: Encoding,
    /// The number in the encoding's opcode field.
    pub opcode: u16,
    /// Shapes of [`Inst::dst`](super::Inst::dst); `None` where the operation has no operand.
    pub dst: [Option<OperandSpec>; 2],
    /// Shapes of [`Inst::src`](super::Inst::src).
    pub src: [Option<OperandSpec>; 4],
    targets: u8,
}

impl OpRow {
    /// Whether the target has this opcode.
    pub const fn on(&self, target: Target) -> bool {
        self.targets & (1 << target as u8) != 0
    }
}

impl Op {
    /// The operation's row in an encoding, or `None` if it has none there.
    ///
    /// The shapes of an operation are the same on every target that has it.
    pub fn row(self, _encoding: Encoding) -> Option<&'static OpRow> {
        None
    }
}
