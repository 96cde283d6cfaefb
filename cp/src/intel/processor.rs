//! The command processor itself: batches in, a report out.

use super::context::{Context, Parts};
use super::observer::Observer;
use super::sol::{Policies, StreamOut};
use super::stages::{AttributeFormats, VertexStage};
use super::walk::walk;
use super::{Gen, Refused, State};
use crate::GuestMemory;

/// What a command processor is told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The hardware's generation.
    pub generation: Gen,
    /// Choices that public documents leave open.
    pub policies: Policies,
    /// Bounds of a walk.
    pub limits: Limits,
}

impl Config {
    /// Defaults for a generation.
    pub fn new(generation: Gen) -> Config {
        Config { generation, policies: Policies::default(), limits: Limits::DEFAULT }
    }
}

/// Bounds of the walk of one submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Batches that are chained or called.
    pub batches: u32,
    /// Dwords walked.
    pub dwords: u64,
    /// Vertices fetched for stream output.
    pub vertices: u64,
}

impl Limits {
    /// Longer than any driver's.
    pub const DEFAULT: Limits = Limits { batches: 1 << 16, dwords: 1 << 26, vertices: 1 << 26 };
}

/// A batch handed to the render engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Guest address of the first packet.
    pub address: u64,
    /// Bytes; the batch ends at its MI_BATCH_BUFFER_END within them.
    pub bytes: u64,
    /// Whether the kernel sets the write offsets to 0 first (the I915_EXEC_GEN7_SOL_RESET flag of old drivers).
    pub reset_offsets: bool,
}

/// What a submission came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmitReport {
    /// Packets carried out or skipped.
    pub packets: u64,
    /// 3DPRIMITIVE packets.
    pub draws: u64,
    /// Bytes that packets wrote to memory.
    pub bytes_written: u64,
    /// Bytes that stream output stored.
    pub bytes_streamed: u64,
    /// What was refused, in order. If the submission ended early, the last one says why.
    pub refusals: Vec<Refused>,
}

impl SubmitReport {
    /// The refusal that ended the submission early, if one did.
    pub fn stopped(&self) -> Option<&Refused> {
        self.refusals.iter().find(|r| r.stopped)
    }
}

/// The command processor of one context: state, registers, write offsets and counters live on between submissions.
pub struct CommandProcessor {
    config: Config,
    state: State,
    parts: Parts,
    submissions: u32,
}

impl CommandProcessor {
    /// A processor with nothing set, and the embedder's stages. Its clock counts how often it was read.
    pub fn new(
        config: Config,
        formats: Box<dyn AttributeFormats>,
        vertices: Box<dyn VertexStage>,
        stream_out: Box<dyn StreamOut>,
    ) -> CommandProcessor {
        let mut ticks = 0;
        let clock = Box::new(move || {
            ticks += 1;
            ticks
        });
        let parts = Parts { formats, vertices, stream_out, clock };
        CommandProcessor { config, state: State::default(), parts, submissions: 0 }
    }

    /// Gives the clock that packets write to memory.
    #[must_use]
    pub fn with_clock(mut self, clock: impl FnMut() -> u64 + Send + 'static) -> Self {
        self.parts.clock = Box::new(clock);
        self
    }

    /// The state as it stands.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Carries out a batch.
    ///
    /// What is refused is in the report; a refusal that ends the submission leaves memory and state as the packets
    /// before it made them.
    pub fn submit(
        &mut self,
        batch: &Batch,
        memory: &dyn GuestMemory,
        observer: &mut dyn Observer,
    ) -> SubmitReport {
        let submission = self.submissions;
        self.submissions = submission.wrapping_add(1);
        if batch.reset_offsets {
            crate::streamout::Slot::ALL.into_iter().for_each(|b| self.state.sol.unit.set_position(b, 0));
        }
        let mut context = Context {
            config: &self.config,
            state: &mut self.state,
            parts: &mut self.parts,
            memory,
            observer,
            report: SubmitReport::default(),
            second_level: false,
            vertices: 0,
        };
        if let Err(refused) = walk(&mut context, batch, submission) {
            context.refused(refused);
        }
        context.report
    }
}
