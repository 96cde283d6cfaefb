//! Why a guest program is not translated.

use super::flow::{BlockId, GraphError};

/// A refusal of the translator. Nothing of the program has run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Its code cannot be followed.
    #[error("{0}")]
    Graph(#[from] GraphError),
    /// An instruction has no lowering.
    #[error("{mnemonic} at {pc:#x} is not translated")]
    Instruction {
        /// Its mnemonic.
        mnemonic: &'static str,
        /// Byte offset in the program.
        pc: u32,
    },
    /// An operand or modifier has none.
    #[error("{mnemonic} at {pc:#x} has {what}, which is not translated")]
    Operand {
        /// The instruction's mnemonic.
        mnemonic: &'static str,
        /// Byte offset in the program.
        pc: u32,
        /// The operand or modifier.
        what: &'static str,
    },
    /// An operation depends on a MODE that is not one number where it stands.
    #[error("{mnemonic} at {pc:#x} gives {what}, which is not translated")]
    Mode {
        /// The instruction's mnemonic.
        mnemonic: &'static str,
        /// Byte offset in the program.
        pc: u32,
        /// What MODE asks for.
        what: &'static str,
    },
    /// Register numbers run past the register file.
    #[error("{mnemonic} at {pc:#x} reaches past the last register")]
    Registers {
        /// The instruction's mnemonic.
        mnemonic: &'static str,
        /// Byte offset in the program.
        pc: u32,
    },
    /// A wave operation stands where lanes go their own ways although every branch around it is a vote: a fault of
    /// the planner, not of the guest.
    #[error("the block at {pc:#x} wants a wave operation where lanes go their own ways")]
    Zone {
        /// Byte offset of the block.
        pc: u32,
    },
}

impl Refusal {
    /// The stable code of this kind of refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Graph(GraphError::Decode(_)) => "TR-FLOW-001",
            Refusal::Graph(GraphError::Outside { .. }) => "TR-FLOW-002",
            Refusal::Graph(GraphError::Indirect { .. }) => "TR-FLOW-003",
            Refusal::Graph(GraphError::Overlap { .. }) => "TR-FLOW-004",
            Refusal::Graph(GraphError::TooLong(_)) => "TR-FLOW-005",
            Refusal::Instruction { .. } => "TR-INST-001",
            Refusal::Operand { .. } => "TR-INST-002",
            Refusal::Registers { .. } => "TR-INST-003",
            Refusal::Mode { .. } => "TR-INST-004",
            Refusal::Zone { .. } => "TR-PLAN-001",
        }
    }

    /// Byte offset of the instruction at fault, where there is one.
    pub fn pc(&self) -> Option<u32> {
        match self {
            Refusal::Graph(GraphError::Decode(e)) => Some(e.offset),
            Refusal::Graph(GraphError::Outside { pc, .. } | GraphError::Indirect { pc, .. }) => Some(*pc),
            Refusal::Graph(GraphError::Overlap { first, .. }) => Some(*first),
            Refusal::Graph(GraphError::TooLong(_)) => None,
            Refusal::Instruction { pc, .. }
            | Refusal::Operand { pc, .. }
            | Refusal::Mode { pc, .. }
            | Refusal::Registers { pc, .. }
            | Refusal::Zone { pc } => Some(*pc),
        }
    }

    /// Whether the program may go on behind the code that was given.
    pub fn needs_more_code(&self) -> bool {
        match self {
            Refusal::Graph(GraphError::Outside { to, .. }) => *to >= 0,
            Refusal::Graph(GraphError::Decode(_)) => true,
            _ => false,
        }
    }

    /// Every code with the sentence of its kind.
    pub const ALL: &'static [(&'static str, &'static str)] = &[
        ("TR-FLOW-001", "A word that is no instruction of the target is reached."),
        ("TR-FLOW-002", "A branch goes outside the program."),
        ("TR-FLOW-003", "A jump goes to an address in a register."),
        ("TR-FLOW-004", "Two instructions that are both reached overlap."),
        ("TR-FLOW-005", "The program has more instructions than are translated."),
        ("TR-INST-001", "An instruction has no lowering."),
        ("TR-INST-002", "An instruction has an operand or modifier without a lowering."),
        ("TR-INST-003", "An operand reaches past the last register."),
        ("TR-INST-004", "An operation depends on a MODE that is not one number where it stands."),
        ("TR-PLAN-001", "A wave operation stands where lanes go their own ways."),
    ];
}

/// What stops one attempt at emission.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    /// The program is refused.
    Refused(Refusal),
    /// A wave operation is needed in this block, where lanes go their own ways: the attempt is made again with
    /// real votes around it.
    NeedsVote(BlockId),
}

impl From<Refusal> for Stop {
    fn from(r: Refusal) -> Stop {
        Stop::Refused(r)
    }
}
