//! Why a group did not run to its end.
//!
//! One row of the table is a variant, its code and its sentence; `docs/refusals.md` is generated from [`CATALOGUE`].
//! Codes are never reused and never change their meaning.

use super::BusFault;
use crate::coded::coded;
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

coded! {
    /// What stopped a group.
    StopKind: CATALOGUE,
        /// The words are not an instruction of the target.
        Undecodable(DecodeErrorKind);
    /// No instruction could be fetched.
    CodeFault { fault: BusFault } = "ISA-RUN-001", "the program counter has left the mapped code: {fault}";
    /// A tuple of scalar registers that does not begin where such tuples must.
    RegisterAlignment { mnemonic: &'static str, first: u32, count: u32 } = "ISA-RUN-002",
        "{mnemonic} has {count} scalar registers from number {first} as an operand, which is not aligned";
    /// The instruction has no meaning in the interpreter.
    Unimplemented { mnemonic: &'static str } = "ISA-RUN-003", "{mnemonic} is not interpreted";
    /// An image instruction that samples, or one of the rare ones.
    Image { mnemonic: &'static str } = "ISA-RUN-004",
        "{mnemonic} is not interpreted: of image instructions only loads, stores, atomics and queries of texels are";
    /// The instruction has a meaning but not in this form, which is a noun.
    Form { mnemonic: &'static str, form: &'static str } = "ISA-RUN-005",
        "{mnemonic} is not interpreted with {form}";
    /// A memory access failed.
    MemoryFault { fault: BusFault } = "ISA-RUN-006", "{fault}";
    /// A scratch access outside the lane's scratch memory.
    ScratchFault { offset: u64, bytes: u32 } = "ISA-RUN-007",
        "scratch access at byte {offset:#x} of a lane that has {bytes} bytes of scratch";
    /// The budget was used up.
    BudgetExhausted {} = "ISA-RUN-008", "the program did not end within its step budget";
    /// A jump to an address that no instruction can have.
    BadJump { to: u64 } = "ISA-RUN-009", "jump to {to:#x}, which is not a multiple of 4";
    /// A trap.
    Trap { id: u16 } = "ISA-RUN-010", "s_trap {id}: there is no trap handler";
    /// A register operand that the register file does not have.
    RegisterRange { mnemonic: &'static str, first: u32, count: u32 } = "ISA-RUN-011",
        "{mnemonic} has {count} registers from number {first} as an operand, which are not registers in a row";
    /// A buffer descriptor that no rule is known for.
    Descriptor { mnemonic: &'static str, what: &'static str } = "ISA-RUN-012",
        "{mnemonic} met a buffer descriptor with {what}";
    /// An atomic access that is not aligned to its size, in guest memory, LDS or scratch.
    Misaligned { address: u64, size: u32 } = "ISA-RUN-013",
        "atomic access of {size} bytes at {address:#x}, which is not aligned";
    /// More exports or messages than any pipeline takes, which would only fill the host's memory.
    TooManyOutputs { mnemonic: &'static str, limit: usize } = "ISA-RUN-014",
        "{mnemonic} makes more than {limit} outputs of one wave";
    /// An image descriptor that no rule is known for.
    ImageDescriptor { mnemonic: &'static str, what: &'static str } = "ISA-RUN-015",
        "{mnemonic} met an image descriptor with {what}";
}

impl From<BusFault> for StopKind {
    fn from(fault: BusFault) -> Self {
        StopKind::MemoryFault { fault }
    }
}
