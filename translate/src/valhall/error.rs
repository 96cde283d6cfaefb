//! Why a Valhall program is not translated.

use guestwave_isa::mali::valhall::DecodeError;

/// A refusal of the translator. Nothing of the program has run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// A word that is no instruction is reached.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Code that is not there is reached.
    #[error("the program goes on at {to:#x}, outside its code")]
    Outside {
        /// Byte offset that is reached.
        to: i64,
    },
    /// More instructions than a program may have.
    #[error("the program has more than {0} instructions")]
    TooLong(usize),
    /// An instruction without a lowering.
    #[error("{name} at {pc:#x} is not translated")]
    Instruction {
        /// Its name.
        name: &'static str,
        /// Byte offset in the program.
        pc: u32,
    },
    /// An operand, modifier or descriptor without one.
    #[error("{name} at {pc:#x} has {what}, which is not translated")]
    Form {
        /// The instruction's name.
        name: &'static str,
        /// Byte offset in the program.
        pc: u32,
        /// What it has.
        what: &'static str,
    },
}

impl Refusal {
    /// The stable code of this kind of refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Decode(_) => "TR-VAL-001",
            Refusal::Outside { .. } => "TR-VAL-002",
            Refusal::TooLong(_) => "TR-VAL-003",
            Refusal::Instruction { .. } => "TR-VAL-004",
            Refusal::Form { .. } => "TR-VAL-005",
        }
    }

    /// Byte offset of the instruction at fault, where there is one.
    pub fn pc(&self) -> Option<u32> {
        match self {
            Refusal::Decode(e) => Some(e.offset),
            Refusal::Outside { .. } | Refusal::TooLong(_) => None,
            Refusal::Instruction { pc, .. } | Refusal::Form { pc, .. } => Some(*pc),
        }
    }

    /// Whether the program may go on behind the code that was given.
    pub fn needs_more_code(&self) -> bool {
        matches!(self, Refusal::Outside { to } if *to >= 0)
    }

    /// Every code with the sentence of its kind, those of traps of running programs among them.
    pub const ALL: &'static [(&'static str, &'static str)] = &[
        ("TR-VAL-001", "A word that is no Valhall instruction is reached."),
        ("TR-VAL-002", "A Valhall program goes on outside its code."),
        ("TR-VAL-003", "A Valhall program has more instructions than are translated."),
        ("TR-VAL-004", "A Valhall instruction has no lowering."),
        ("TR-VAL-005", "A Valhall instruction has a form, operand or descriptor without a lowering."),
        (NO_RESOURCE, "A Valhall program asks for a resource that its tables do not have."),
        (BAD_DESCRIPTOR, "A Valhall program meets a descriptor of a type that is not carried out."),
    ];
}

/// Trap of a handle that leads to nothing.
pub(super) const NO_RESOURCE: &str = "TR-VAL-006";

/// Trap of a descriptor whose type does not go with the instruction.
pub(super) const BAD_DESCRIPTOR: &str = "TR-VAL-007";
