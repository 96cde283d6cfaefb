//! The seam to whatever runs guest programs.

use std::ops::Range;

use crate::{ExactDispatch, GuestMemory, MemoryFault, Origin};

/// Number of a dispatch in the life of an executor, in the order of submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DispatchId(pub u64);

/// Runs [`ExactDispatch`]es in order, at once or later.
///
/// An executor may hold dispatches back and run them together. The command processor calls [`Executor::flush`]
/// before it reads or writes guest memory itself and at the end of each submission.
pub trait Executor: Send {
    /// Takes a dispatch; it may run now or at the next flush.
    ///
    /// # Errors
    /// The dispatch is refused (an instruction without a meaning, say) or faulted, or, where earlier ones were held
    /// back, an earlier one did; [`DispatchError::id`] tells. That dispatch and all after it have had no effect.
    fn submit(
        &mut self,
        id: DispatchId,
        dispatch: ExactDispatch,
        memory: &dyn GuestMemory,
    ) -> Result<(), DispatchError>;

    /// As [`Executor::submit`], for who has another executor for what this one refuses.
    ///
    /// # Errors
    /// As [`Executor::submit`]; a dispatch that was refused before it was taken comes back.
    fn offer(
        &mut self,
        id: DispatchId,
        dispatch: ExactDispatch,
        memory: &dyn GuestMemory,
    ) -> Result<(), Declined> {
        let given = dispatch.clone();
        self.submit(id, given, memory).map_err(|error| Declined { error, dispatch: Some(Box::new(dispatch)) })
    }

    /// Runs what was held back and makes guest memory current. What completed since the last flush is appended to
    /// `done`, in order.
    ///
    /// # Errors
    /// The first dispatch that was refused or faulted. Those before it are in `done`; it and those after it have had
    /// no effect and are forgotten.
    fn flush(&mut self, memory: &dyn GuestMemory, done: &mut Vec<Completed>) -> Result<(), DispatchError>;
}

/// Why an executor did not take a dispatch, and the dispatch.
#[derive(Clone, Debug, PartialEq)]
pub struct Declined {
    /// Why.
    pub error: DispatchError,
    /// The dispatch, unless it was taken and failed later.
    pub dispatch: Option<Box<ExactDispatch>>,
}

/// What a dispatch did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Completed {
    /// Which dispatch.
    pub id: DispatchId,
    /// Waves that ran.
    pub waves: u64,
    /// Guest instructions that waves executed, 0 where the executor does not count.
    pub instructions: u64,
    /// Guest ranges that were stored, sorted and disjoint.
    pub stored: Vec<Range<u64>>,
    /// What was recorded, one a wave, for [`Outputs::Recorded`](crate::Outputs::Recorded).
    pub records: Vec<WaveRecord>,
    /// Mnemonics of executed instructions whose result public documents leave open within an error bound.
    pub inexact: Vec<&'static str>,
}

/// Exports and messages of one wave, in program order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaveRecord {
    /// Exports.
    pub exports: Vec<Export>,
    /// s_sendmsg messages with the EXEC mask they were sent under.
    pub messages: Vec<Message>,
}

/// One export instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// Target, 0-63.
    pub target: u8,
    /// Enabled components.
    pub en: u8,
    /// Two 16-bit values a register.
    pub compr: bool,
    /// Last of its kind.
    pub done: bool,
    /// EXEC is the valid mask.
    pub vm: bool,
    /// EXEC at the export.
    pub exec: u64,
    /// Four registers a lane; components not enabled are 0.
    pub values: Vec<[u32; 4]>,
}

/// One s_sendmsg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// SIMM16: the message id and its operation.
    pub simm16: u16,
    /// M0 at the message.
    pub m0: u32,
    /// EXEC at the message.
    pub exec: u64,
}

/// A dispatch that did not run to its end; it has had no effect on memory.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct DispatchError {
    /// Which dispatch.
    pub id: DispatchId,
    /// Where it came from.
    pub origin: Origin,
    /// Stable refusal code of the executor's table.
    pub code: &'static str,
    /// A sentence that says what was met and what to do.
    pub text: String,
    /// Byte offset in the program, where one instruction is at fault.
    pub pc: Option<u32>,
    /// The access that faulted, if one did.
    pub fault: Option<MemoryFault>,
}
