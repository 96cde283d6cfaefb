//! Why a group did not run to its end.

use super::BusFault;
use crate::gfx10::DecodeErrorKind;

/// A group that did not run to its end, and the instruction at which it stood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (byte {pc:#x} of the program, word {word:#010x})")]
pub struct Stop {
    /// Byte offset of the instruction from the program's address, wrapped to 32 bits.
    pub pc: u32,
    /// First word of the instruction, 0 where none could be fetched.
    pub word: u32,
    /// What was met.
    pub kind: StopKind,
}

/// What stopped a group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopKind {
    /// No instruction could be fetched.
    #[error("the program counter has left the mapped code: {0}")]
    CodeFault(BusFault),
    /// The words are not an instruction of the target.
    #[error("{0}")]
    Undecodable(DecodeErrorKind),
    /// The instruction has no meaning in the interpreter.
    #[error("{mnemonic} is not interpreted")]
    Unimplemented {
        /// The instruction.
        mnemonic: &'static str,
    },
    /// An image instruction that samples, or one of the rare ones.
    #[error(
        "{mnemonic} is not interpreted: of image instructions only loads, stores, atomics and queries of texels are"
    )]
    Image {
        /// The instruction.
        mnemonic: &'static str,
    },
    /// The instruction has a meaning but not in this form.
    #[error("{mnemonic} is not interpreted with {form}")]
    Form {
        /// The instruction.
        mnemonic: &'static str,
        /// The form, as a noun.
        form: &'static str,
    },
    /// A memory access failed.
    #[error(transparent)]
    MemoryFault(#[from] BusFault),
    /// A scratch access outside the wave's scratch memory.
    #[error("scratch access at byte {offset:#x} of a lane that has {bytes} bytes of scratch")]
    ScratchFault {
        /// Byte offset in the lane's scratch.
        offset: u64,
        /// Scratch bytes of a lane.
        bytes: u32,
    },
    /// The budget was used up.
    #[error("the program did not end within its step budget")]
    BudgetExhausted,
    /// A jump to an address that no instruction can have.
    #[error("jump to {to:#x}, which is not a multiple of 4")]
    BadJump {
        /// The target.
        to: u64,
    },
    /// A trap.
    #[error("s_trap {id}: there is no trap handler")]
    Trap {
        /// SIMM16.
        id: u16,
    },
    /// A register operand that the register file does not have.
    #[error(
        "{mnemonic} has {count} registers from number {first} as an operand, which are not registers in a row"
    )]
    RegisterRange {
        /// The instruction.
        mnemonic: &'static str,
        /// First register number.
        first: u32,
        /// Registers of the operand.
        count: u32,
    },
    /// A tuple of scalar registers that does not begin where such tuples must.
    #[error(
        "{mnemonic} has {count} scalar registers from number {first} as an operand, which is not aligned"
    )]
    RegisterAlignment {
        /// The instruction.
        mnemonic: &'static str,
        /// First register number.
        first: u32,
        /// Registers of the operand.
        count: u32,
    },
    /// A buffer descriptor that no rule is known for.
    #[error("{mnemonic} met a buffer descriptor with {what}")]
    Descriptor {
        /// The instruction.
        mnemonic: &'static str,
        /// What is wrong with it, as a noun.
        what: &'static str,
    },
    /// An image descriptor that no rule is known for.
    #[error("{mnemonic} met an image descriptor with {what}")]
    ImageDescriptor {
        /// The instruction.
        mnemonic: &'static str,
        /// What is wrong with it, as a noun.
        what: &'static str,
    },
    /// More exports or messages than any pipeline takes, which would only fill the host's memory.
    #[error("{mnemonic} makes more than {limit} outputs of one wave")]
    TooManyOutputs {
        /// The instruction.
        mnemonic: &'static str,
        /// The limit.
        limit: usize,
    },
    /// An atomic access that is not aligned to its size.
    #[error("atomic access of {size} bytes at {address:#x}, which is not aligned")]
    Misaligned {
        /// Address in guest memory, LDS or scratch.
        address: u64,
        /// Bytes of the access.
        size: u32,
    },
}

impl StopKind {
    /// The stable refusal code.
    pub fn code(&self) -> &'static str {
        match self {
            StopKind::CodeFault(_) => "ISA-RUN-001",
            StopKind::Undecodable(kind) => kind.code(),
            StopKind::Unimplemented { .. } => "ISA-RUN-003",
            StopKind::Image { .. } => "ISA-RUN-004",
            StopKind::Form { .. } => "ISA-RUN-005",
            StopKind::MemoryFault(_) => "ISA-RUN-006",
            StopKind::ScratchFault { .. } => "ISA-RUN-007",
            StopKind::BudgetExhausted => "ISA-RUN-008",
            StopKind::BadJump { .. } => "ISA-RUN-009",
            StopKind::Trap { .. } => "ISA-RUN-010",
            StopKind::RegisterRange { .. } => "ISA-RUN-011",
            StopKind::RegisterAlignment { .. } => "ISA-RUN-002",
            StopKind::Descriptor { .. } => "ISA-RUN-012",
            StopKind::Misaligned { .. } => "ISA-RUN-013",
            StopKind::TooManyOutputs { .. } => "ISA-RUN-014",
            StopKind::ImageDescriptor { .. } => "ISA-RUN-015",
        }
    }
}
