//! What a program leaves besides its stores: exports and messages, as each lane writes them into its row of a dispatch's
//! record.
//!
//! A lane's row is `RecordWords` dwords long and starts as zeros. Each event appends the tag of its instruction and the
//! values that it carries; a zero tag ends the row. A lane whose row is full ends the dispatch without effect with
//! [`OVERFLOW`]; whoever runs it then gives more room and runs it again.

/// Code with which a dispatch ends whose record is too small.
pub const OVERFLOW: &str = "TR-OUT-002";

/// An instruction that leaves something, and what its events say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// Byte offset of the instruction.
    pub pc: u32,
    /// What it is.
    pub kind: EventKind,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// `s_sendmsg`; the event carries M0.
    Message {
        /// Message id and operation.
        simm16: u16,
    },
    /// `exp`; the event carries the registers that it reads.
    Export {
        /// Target, 0-63.
        target: u8,
        /// Enabled components.
        en: u8,
        /// Two 16-bit values a register.
        compr: bool,
        /// Last of its kind.
        done: bool,
        /// EXEC is the valid mask.
        vm: bool,
        /// Which of the four registers are read.
        registers: [bool; 4],
    },
}

impl Event {
    /// The dword that begins its events: not 0, and no other instruction's.
    pub fn tag(&self) -> u32 {
        self.pc | 1
    }

    /// Dwords of an event, the tag included.
    pub fn words(&self) -> usize {
        1 + match self.kind {
            EventKind::Message { .. } => 1,
            EventKind::Export { registers, .. } => registers.into_iter().filter(|r| *r).count(),
        }
    }
}
