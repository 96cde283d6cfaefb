//! Why words are not an instruction.

use crate::CatalogueEntry;
use crate::gfx10::{Encoding, Op};

/// Why words are not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{kind} (byte offset {offset:#x}, word {word:#010x})")]
pub struct DecodeError {
    /// Byte offset of the instruction from the start of the code.
    pub offset: u32,
    /// The first word of the instruction; 0 if there is none.
    pub word: u32,
    /// What is wrong.
    pub kind: DecodeErrorKind,
}

/// What is wrong with the words of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum DecodeErrorKind {
    /// The code ends inside the instruction.
    #[error("the code ends inside an instruction that needs {needed} words")]
    Truncated {
        /// Words that the instruction needs, as far as is known.
        needed: u8,
    },
    /// No encoding has these high bits.
    #[error("no GFX10 encoding begins with these bits")]
    UnknownEncoding,
    /// The encoding has no such opcode on this target.
    #[error("{encoding:?} has no opcode {opcode:#x} on this target")]
    UnknownOpcode {
        /// The encoding.
        encoding: Encoding,
        /// The number in its opcode field.
        opcode: u16,
    },
    /// A field that the operation lacks is not zero.
    #[error("{op:?} has no meaning for the bits {bits:#018x} of its words")]
    ReservedBits {
        /// The operation.
        op: Op,
        /// The offending bits, counted from bit 0 of the first word.
        bits: u64,
    },
    /// An operand field holds a code that the operation cannot have there.
    #[error("{op:?} cannot have operand code {code}")]
    Operand {
        /// The operation.
        op: Op,
        /// The code in the field.
        code: u16,
    },
    /// An operand reaches past the last vector register.
    #[error("{op:?} takes {dwords} registers from v{first}, past the last one")]
    RegisterRange {
        /// The operation.
        op: Op,
        /// First register.
        first: u8,
        /// Registers from there.
        dwords: u8,
    },
    /// An operand of several scalar registers begins where there are not so many.
    #[error("{op:?} takes {dwords} scalar registers, there are none at code {code}")]
    ScalarRange {
        /// The operation.
        op: Op,
        /// The code in the field.
        code: u16,
        /// Registers from there.
        dwords: u8,
    },
    /// An image operation cannot have so many address registers: the dimension is none of its own, or the
    /// non-sequential form names too few or too many.
    #[error("{op:?} has {needed} address registers where {given} are possible")]
    ImageAddress {
        /// The operation.
        op: Op,
        /// Registers that the operation, its dimension and its packing have.
        needed: u8,
        /// Registers that the operation or its words can name.
        given: u8,
    },
    /// A DPP control or an SDWA selector without a meaning.
    #[error("{op:?} cannot have the DPP control or SDWA selector {code:#x}")]
    LaneControl {
        /// The operation.
        op: Op,
        /// The control or selector.
        code: u16,
    },
    /// An image atomic whose DMASK is not one or two whole values.
    #[error("{op:?} cannot have DMASK {dmask:#x}")]
    ImageData {
        /// The operation.
        op: Op,
        /// The components that it names.
        dmask: u8,
    },
    /// DPP moves one dword.
    #[error("{op:?} reads 64 bits a lane, DPP moves 32")]
    LaneWidth {
        /// The operation.
        op: Op,
    },
}

impl DecodeErrorKind {
    /// The stable refusal code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "ISA-DEC-001",
            Self::UnknownEncoding => "ISA-DEC-002",
            Self::UnknownOpcode { .. } => "ISA-DEC-003",
            Self::ReservedBits { .. } => "ISA-DEC-004",
            Self::Operand { .. } => "ISA-DEC-005",
            Self::RegisterRange { .. } => "ISA-DEC-006",
            Self::ImageAddress { .. } => "ISA-DEC-007",
            Self::LaneControl { .. } => "ISA-DEC-008",
            Self::LaneWidth { .. } => "ISA-DEC-009",
            Self::ImageData { .. } => "ISA-DEC-010",
            Self::ScalarRange { .. } => "ISA-DEC-011",
        }
    }
}

const fn entry(code: &'static str, sentence: &'static str) -> CatalogueEntry {
    CatalogueEntry { code, sentence }
}

/// Every code of [`DecodeErrorKind`] with its sentence.
pub const CATALOGUE: &[CatalogueEntry] = &[
    entry("ISA-DEC-001", "the code ends inside an instruction that needs {needed} words"),
    entry("ISA-DEC-002", "no GFX10 encoding begins with these bits"),
    entry("ISA-DEC-003", "{encoding} has no opcode {opcode} on this target"),
    entry("ISA-DEC-004", "{op} has no meaning for the bits {bits} of its words"),
    entry("ISA-DEC-005", "{op} cannot have operand code {code}"),
    entry("ISA-DEC-006", "{op} takes {dwords} registers from v{first}, past the last one"),
    entry("ISA-DEC-007", "{op} has {needed} address registers where {given} are possible"),
    entry("ISA-DEC-008", "{op} cannot have the DPP control or SDWA selector {code}"),
    entry("ISA-DEC-009", "{op} reads 64 bits a lane, DPP moves 32"),
    entry("ISA-DEC-010", "{op} cannot have DMASK {dmask}"),
    entry("ISA-DEC-011", "{op} takes {dwords} scalar registers, there are none at code {code}"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_in_the_catalogue() {
        let op = Op::S_MOV_B32;
        let kinds = [
            DecodeErrorKind::Truncated { needed: 2 },
            DecodeErrorKind::UnknownEncoding,
            DecodeErrorKind::UnknownOpcode { encoding: Encoding::Sop1, opcode: 1 },
            DecodeErrorKind::ReservedBits { op, bits: 1 },
            DecodeErrorKind::Operand { op, code: 1 },
            DecodeErrorKind::RegisterRange { op, first: 255, dwords: 2 },
            DecodeErrorKind::ImageAddress { op, needed: 1, given: 2 },
            DecodeErrorKind::LaneControl { op, code: 1 },
            DecodeErrorKind::LaneWidth { op },
            DecodeErrorKind::ImageData { op, dmask: 3 },
            DecodeErrorKind::ScalarRange { op, code: 1, dwords: 2 },
        ];
        let codes: Vec<_> = CATALOGUE.iter().map(|e| e.code).collect();
        assert_eq!(kinds.map(|k| k.code()).to_vec(), codes);
    }
}
