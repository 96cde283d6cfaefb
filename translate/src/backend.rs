//! The seam to whatever runs [`Program`]s.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use guestwave_cp::{DispatchId, GuestMemory, MemoryFault};

use crate::program::Program;

/// How a wave is held by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holding {
    /// The whole wave in one invocation.
    Wave,
    /// One lane an invocation; a workgroup holds whole waves.
    Lane,
    /// Two lanes an invocation.
    Pair,
}

impl Holding {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Holding::Wave => "wave",
            Holding::Lane => "lane",
            Holding::Pair => "pair",
        }
    }
}

/// How a program is held, and why so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// How.
    pub holding: Holding,
    /// Why: a clause.
    pub why: &'static str,
}

/// How close to the guest's bits floats are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Fidelity {
    /// The reference's bits.
    #[default]
    Exact,
    /// Whatever the host does fastest.
    Fast,
}

/// What a backend can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caps {
    /// `soft`, `wgpu`, ...
    pub name: &'static str,
    /// The device in words.
    pub device: String,
    /// Whether [`Fidelity::Exact`] programs give the reference's bits here; if not, why.
    pub exact: Result<(), String>,
    /// The holdings it can run, best first.
    pub holdings: Vec<Holding>,
    /// Largest workgroup LDS in bytes.
    pub lds_bytes: u32,
}

/// A compiled program of one backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramId(pub u32);

/// Work under way in one backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// One dispatch of a compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// For reports.
    pub id: DispatchId,
    /// What runs.
    pub program: ProgramId,
    /// The parameter block, as [`Program::params`] orders it.
    pub params: Vec<u32>,
    /// Words behind [`Space::Table`](crate::program::Space::Table).
    pub tables: Arc<[u32]>,
    /// Waves in all.
    pub waves: u32,
    /// Waves of each workgroup but where `group_waves` says otherwise.
    pub waves_per_group: u32,
    /// Waves of each workgroup, where they differ.
    pub group_waves: Option<Arc<[u32]>>,
    /// Loop iterations that a wave may make in all.
    pub budget: u64,
}

/// Dispatches that take effect in order; each sees what those before it stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// In order.
    pub launches: Vec<Launch>,
}

/// How a batch ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// One entry a launch that took effect, in order.
    pub done: Vec<LaunchDone>,
    /// Why the launch after those had no effect, nor any after it.
    pub fault: Option<LaunchFault>,
}

/// What one launch stored. Guest memory already holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchDone {
    /// Which.
    pub id: DispatchId,
    /// Guest ranges that were stored, sorted and disjoint.
    pub stored: Vec<Range<u64>>,
}

/// A launch that had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchFault {
    /// Which.
    pub id: DispatchId,
    /// Stable code.
    pub code: &'static str,
    /// A sentence.
    pub text: String,
    /// Byte offset in the guest program.
    pub pc: Option<u32>,
    /// The access, if one faulted.
    pub fault: Option<MemoryFault>,
}

/// Codes of the faults that every backend reports alike; a trap brings its own.
pub mod codes {
    /// An access that no memory stands behind.
    pub const MEMORY: &str = "RUN-MEM-001";
    /// A wave that made more loop iterations than its budget.
    pub const BUDGET: &str = "RUN-BUDGET-001";
    /// A launch that does not fit its program.
    pub const LAUNCH: &str = "RUN-LAUNCH-001";
    /// The device would end the program's loops by itself. A program that is made anew with all lanes of a wave going one way together
    /// ([`Program::together`](crate::program::Program::together)) may get further.
    pub const HOST_LOOPS: &str = "WGPU-LOOP-001";
}

impl LaunchFault {
    /// An access by the instruction at `pc` that no memory stands behind.
    pub fn memory(id: DispatchId, pc: u32, fault: MemoryFault) -> Self {
        let text = format!("{fault}, by the instruction at byte {pc:#x}; map it before the dispatch");
        LaunchFault { id, code: codes::MEMORY, text, pc: Some(pc), fault: Some(fault) }
    }

    /// A wave that used up its budget of loop iterations.
    pub fn budget(id: DispatchId, budget: u64) -> Self {
        let text = format!("a wave did not end within {budget} loop iterations");
        LaunchFault { id, code: codes::BUDGET, text, pc: None, fault: None }
    }

    /// A [`Stmt::Trap`](crate::program::Stmt::Trap).
    pub fn trap(id: DispatchId, code: &'static str, pc: u32) -> Self {
        let text = format!("the program stopped itself at byte {pc:#x} ({code})");
        LaunchFault { id, code, text, pc: Some(pc), fault: None }
    }

    /// A launch that does not fit its program, which is a fault of whoever made the launch.
    pub fn launch(id: DispatchId, what: &str) -> Self {
        let text = format!("the launch does not fit its program: {what}");
        LaunchFault { id, code: codes::LAUNCH, text, pc: None, fault: None }
    }
}

/// What stops a backend itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", self.code(), self.sentence())]
pub enum BackendError {
    /// The program cannot be compiled here.
    Compile {
        /// Stable code.
        code: &'static str,
        /// Which backend.
        backend: &'static str,
        /// Why.
        reason: String,
    },
    /// The device is gone.
    DeviceLost {
        /// Stable code.
        code: &'static str,
        /// What it said.
        reason: String,
    },
    /// A ticket that is not under way.
    UnknownTicket(Ticket),
}

impl BackendError {
    /// Its stable code.
    pub fn code(&self) -> &'static str {
        match self {
            BackendError::Compile { code, .. } | BackendError::DeviceLost { code, .. } => code,
            BackendError::UnknownTicket(_) => "TR-BACK-001",
        }
    }

    /// What it says, without the code: for reports that have a place of their own for that.
    pub fn sentence(&self) -> String {
        match self {
            BackendError::Compile { backend, reason, .. } => {
                format!("the {backend} backend cannot compile the program: {reason}")
            }
            BackendError::DeviceLost { reason, .. } => format!("the device is lost: {reason}"),
            BackendError::UnknownTicket(ticket) => format!("ticket {ticket:?} is not under way"),
        }
    }
}

/// A way to run programs.
pub trait Backend: Send {
    /// What it can do.
    fn caps(&self) -> &Caps;

    /// Compiles a verified program for a holding (which must be one of the caps').
    ///
    /// # Errors
    /// [`BackendError::Compile`], naming what is missing.
    fn compile(&mut self, program: &Arc<Program>, holding: Holding) -> Result<ProgramId, BackendError>;

    /// Makes a program ready in the fastest holding that is exact for it. What launches show of the program may move it to another;
    /// [`Backend::held`] tells.
    ///
    /// # Errors
    /// As [`Backend::compile`].
    fn compile_best(&mut self, program: &Arc<Program>) -> Result<ProgramId, BackendError> {
        let first = self.caps().holdings.first().copied();
        self.compile(program, first.unwrap_or(Holding::Wave))
    }

    /// How launches of a program are held by now, and why; `None` if there is nothing to choose.
    fn held(&self, program: ProgramId) -> Option<Held> {
        let _ = program;
        None
    }

    /// Starts a batch. The memory given here and to `poll` or `wait` for the same ticket must be the same.
    ///
    /// # Errors
    /// [`BackendError::DeviceLost`]; guest faults come with the completion.
    fn submit(&mut self, batch: Batch, memory: &dyn GuestMemory) -> Result<Ticket, BackendError>;

    /// The batch's end if it has come; guest memory is current then.
    ///
    /// # Errors
    /// A lost device or an unknown ticket.
    fn poll(&mut self, ticket: Ticket, memory: &dyn GuestMemory) -> Result<Option<Completion>, BackendError>;

    /// Waits for the batch's end, `None` if the time is up. Where batches have ended when `submit` returns, there is nothing to
    /// wait for.
    ///
    /// # Errors
    /// A lost device or an unknown ticket.
    fn wait(
        &mut self,
        ticket: Ticket,
        memory: &dyn GuestMemory,
        timeout: Duration,
    ) -> Result<Option<Completion>, BackendError> {
        let _ = timeout;
        self.poll(ticket, memory)
    }
}

#[cfg(test)]
mod tests {
    use super::{BackendError, Ticket};

    #[test]
    fn errors_name_their_code_once() {
        let reason = || "why".to_owned();
        let errors = [
            BackendError::Compile { code: "SOFT-COMPILE-006", backend: "soft", reason: reason() },
            BackendError::DeviceLost { code: "WGPU-DEVICE-001", reason: reason() },
            BackendError::UnknownTicket(Ticket(7)),
        ];
        for error in errors {
            let (code, text) = (error.code(), error.to_string());
            assert!(!error.sentence().contains(code), "{text}");
            assert_eq!(text, format!("{code}: {}", error.sentence()));
        }
    }
}
