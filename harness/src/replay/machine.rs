//! The machine that a capture describes: memory, one command processor a context, an executor.

use std::collections::BTreeMap;
use std::sync::Arc;

use guestwave_cp::amd::{CommandProcessor, Config, IndirectBuffer, Ring, Submission, SubmitReport};
use guestwave_cp::{Executor, GuestMemory, Isa, Observer};

use crate::capture::{IpKind, Record, Submit};
use crate::codes::coded_errors;
use crate::memory::{Buffer, CaptureMemory, MemoryError};

/// The GPUs whose captures are replayed, and their instruction sets.
pub const GPUS: [(&str, Isa); 2] = [("navi21", Isa::Gfx1030), ("navi10", Isa::Gfx1010)];

/// `AMDGPU_IB_FLAG_CE`: the buffer is for the constant engine.
const IB_CONSTANT_ENGINE: u32 = 1;

coded_errors! {
    /// A capture or a submission that the machine does not take.
    ReplayError: REPLAY_ERRORS;
    /// A GPU without a row in [`GPUS`].
    UnknownGpu { gpu: String } = "HN-REP-001", "captures of {gpu} are not replayed; those of navi21 and navi10 are";
    /// A ring that has no command processor here.
    Ring { ring: &'static str } = "HN-REP-002", "the submission is for {ring}; the graphics and compute rings are replayed";
    /// An indirect buffer that is not a whole number of dwords.
    OddBuffer { va: u64, bytes: u32 } = "HN-REP-003", "the indirect buffer at {va:#x} has {bytes} bytes, not a multiple of 4";
    /// A buffer for the constant engine, which GFX10 drivers do not use.
    ConstantEngine { va: u64 } = "HN-REP-004", "the indirect buffer at {va:#x} is for the constant engine, which is not run";
}

/// The instruction set of a GPU by its name in a capture.
///
/// # Errors
/// The GPU has no row in [`GPUS`].
pub fn isa_of(gpu: &str) -> Result<Isa, ReplayError> {
    let row = GPUS.iter().find(|(name, _)| *name == gpu);
    row.map(|(_, isa)| *isa).ok_or_else(|| ReplayError::UnknownGpu { gpu: gpu.to_owned() })
}

/// What gives a fresh command processor its clock and what it does when a wait does not hold.
pub type Prepare = Box<dyn Fn(CommandProcessor) -> CommandProcessor + Send>;

/// One command processor a context, and the executor that they share.
pub struct Processors {
    isa: Isa,
    processors: BTreeMap<u32, CommandProcessor>,
    executor: Box<dyn Executor>,
    prepare: Prepare,
}

impl Processors {
    /// Processors with registers as after a reset.
    pub fn new(isa: Isa, executor: Box<dyn Executor>, prepare: Prepare) -> Self {
        Processors { isa, processors: BTreeMap::new(), executor, prepare }
    }

    /// Carries out a submission on the command processor of its context.
    ///
    /// # Errors
    /// The submission as such is refused; what is refused inside it is in the report.
    pub fn submit(
        &mut self,
        submit: &Submit,
        memory: &dyn GuestMemory,
        observer: &mut dyn Observer,
    ) -> Result<SubmitReport, ReplayError> {
        let ring = ring(submit)?;
        let ibs = submit.ibs.iter().map(indirect_buffer).collect::<Result<Vec<_>, _>>()?;
        let Processors { isa, prepare, executor, .. } = self;
        let new = || prepare(CommandProcessor::new(Config::new(*isa)));
        let processor = self.processors.entry(submit.context).or_insert_with(new);
        let submission = Submission { ring, ibs: &ibs };
        Ok(processor.submit(&submission, memory, executor.as_mut(), observer))
    }

    /// Forgets a context.
    pub fn forget(&mut self, context: u32) {
        self.processors.remove(&context);
    }
}

/// Memory and its command processors.
pub struct Machine {
    /// Guest memory.
    pub memory: CaptureMemory,
    processors: Processors,
}

impl Machine {
    /// A machine with empty memory and registers as after a reset.
    pub fn new(isa: Isa, executor: Box<dyn Executor>) -> Self {
        let processors = Processors::new(isa, executor, Box::new(|processor| processor));
        Machine { memory: CaptureMemory::new(), processors }
    }

    /// Applies a record that changes memory; other records change nothing. Returns the buffer object that was freed.
    ///
    /// # Errors
    /// The record contradicts those before it.
    pub fn apply(&self, record: &Record) -> Result<Option<Arc<Buffer>>, MemoryError> {
        match record {
            Record::Create(bo) => self.memory.create(bo)?,
            Record::Free { bo } => return self.memory.free(*bo).map(Some),
            Record::Va(op) => self.memory.va(op)?,
            Record::Page(page) => self.memory.set_page(page)?,
            Record::Diff(diff) => self.memory.apply_diff(diff)?,
            _ => (),
        }
        Ok(None)
    }

    /// Carries out a submission, see [`Processors::submit`].
    ///
    /// # Errors
    /// The submission as such is refused.
    pub fn submit(
        &mut self,
        submit: &Submit,
        observer: &mut dyn Observer,
    ) -> Result<SubmitReport, ReplayError> {
        self.processors.submit(submit, &self.memory, observer)
    }
}

fn ring(submit: &Submit) -> Result<Ring, ReplayError> {
    match submit.ip() {
        IpKind::Graphics => Ok(Ring::Gfx),
        IpKind::Compute => Ok(Ring::Compute),
        IpKind::Sdma => Err(ReplayError::Ring { ring: "the SDMA ring" }),
        IpKind::Other(_) => Err(ReplayError::Ring { ring: "an unknown engine" }),
    }
}

fn indirect_buffer(ib: &crate::capture::IndirectBuffer) -> Result<IndirectBuffer, ReplayError> {
    let crate::capture::IndirectBuffer { va, bytes, flags, .. } = *ib;
    if flags & IB_CONSTANT_ENGINE != 0 {
        return Err(ReplayError::ConstantEngine { va });
    }
    match bytes % 4 {
        0 => Ok(IndirectBuffer { address: va, dwords: bytes / 4 }),
        _ => Err(ReplayError::OddBuffer { va, bytes }),
    }
}
