//! Why a thread did not run to its end.
//!
//! One row of the table is a variant, its code and its sentence; `docs/refusals.md` is generated from [`CATALOGUE`]. Codes are
//! never reused and never change their meaning.

use super::BusFault;
use crate::coded::coded;
use crate::mali::valhall::DecodeErrorKind;

/// A thread that did not run to its end, and the instruction at which it stood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (byte {pc:#x} of the program, word {word:#018x})")]
pub struct Stop {
    /// Byte offset of the instruction from the program's address.
    pub pc: u32,
    /// The instruction, 0 where none could be fetched.
    pub word: u64,
    /// What was met.
    pub kind: StopKind,
}

coded! {
    /// What stopped a thread.
    StopKind: CATALOGUE,
        /// The word is no instruction.
        Undecodable(DecodeErrorKind);
    /// No instruction could be fetched.
    CodeFault { fault: BusFault } = "ISA-VAL-101", "the program counter has left the mapped code: {fault}";
    /// The instruction has no meaning in the interpreter.
    Unimplemented { name: &'static str } = "ISA-VAL-102", "{name} is not interpreted";
    /// The instruction has a meaning but not in this form, which is a noun.
    Form { name: &'static str, form: &'static str } = "ISA-VAL-103", "{name} is not interpreted with {form}";
    /// A memory access failed.
    MemoryFault { fault: BusFault } = "ISA-VAL-104", "{fault}";
    /// The budget was used up.
    BudgetExhausted {} = "ISA-VAL-105", "the program did not end within its step budget";
    /// A special value that a launch does not give.
    Special { name: &'static str, special: &'static str } = "ISA-VAL-106",
        "{name} reads {special}, which no launch here gives";
    /// A resource handle that leads to nothing.
    Resource { name: &'static str, table: u32, index: u32 } = "ISA-VAL-107",
        "{name} asks for entry {index} of resource table {table}, which is not there";
    /// A descriptor that no rule is known for.
    Descriptor { name: &'static str, what: &'static str } = "ISA-VAL-108", "{name} met a descriptor with {what}";
    /// A format that does not go with the registers' one.
    Conversion { name: &'static str, format: u32 } = "ISA-VAL-109",
        "{name} met the format word {format:#x}, which does not convert to or from its registers";
}

impl From<BusFault> for StopKind {
    fn from(fault: BusFault) -> Self {
        StopKind::MemoryFault { fault }
    }
}
