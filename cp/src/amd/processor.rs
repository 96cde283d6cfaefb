//! The command processor itself: submissions in, a report out.

use super::RegisterFile;
use super::context::{Context, Hooks, Parts, Scratch, State};
use super::walk::Frames;
use crate::{Executor, GuestMemory, Isa, Observer, Origin, Refused, WaitEvent};

/// What a command processor is told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Instruction set of the guest's programs.
    pub isa: Isa,
    /// A packet of which one part is not carried out (the pixels of a draw, a sample count) ends the stream instead
    /// of being reported.
    pub strict: bool,
    /// Bounds of a walk.
    pub limits: Limits,
}

impl Config {
    /// Defaults for a GPU with this instruction set.
    pub const fn new(isa: Isa) -> Config {
        Config { isa, strict: false, limits: Limits::DEFAULT }
    }
}

/// Bounds of the walk of one submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Indirect buffers called inside one another.
    pub call_depth: u32,
    /// Buffers that follow one another by chaining, from each submitted or called one.
    pub chained: u32,
    /// Dwords walked.
    pub dwords: u64,
    /// Bytes that packets read, write and list.
    pub bytes: u64,
}

impl Limits {
    /// Deeper, longer and larger than any driver's.
    pub const DEFAULT: Limits = Limits { call_depth: 8, chained: 4096, dwords: 1 << 28, bytes: 1 << 36 };
}

/// The queue that a submission goes to. Each has registers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Ring {
    /// Draws and dispatches.
    #[default]
    Gfx,
    /// Dispatches only.
    Compute,
}

/// A run of packets in guest memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IndirectBuffer {
    /// Guest address of the first packet.
    pub address: u64,
    /// Dwords.
    pub dwords: u32,
}

/// Work handed to a ring at once.
#[derive(Clone, Copy, Debug)]
pub struct Submission<'a> {
    /// Which ring.
    pub ring: Ring,
    /// Buffers, walked one after another.
    pub ibs: &'a [IndirectBuffer],
}

/// Counts of what the walk did. What a faulting dispatch took back is not in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    /// Packets carried out, fillers included.
    pub packets: u64,
    /// Draw packets.
    pub draws: u64,
    /// Compute dispatch packets.
    pub dispatches: u64,
    /// Programs handed to the executor.
    pub launches: u64,
    /// Bytes that packets wrote to memory.
    pub bytes_written: u64,
}

/// Counts of what programs did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RanCounts {
    /// Waves.
    pub waves: u64,
    /// Guest instructions, where the executor counts them.
    pub instructions: u64,
    /// Bytes stored.
    pub bytes_stored: u64,
}

/// What a submission came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmitReport {
    /// What the walk did.
    pub work: WorkCounts,
    /// What programs did.
    pub ran: RanCounts,
    /// What was refused, in order. If the submission ended early, the last one says why.
    pub refusals: Vec<Refused>,
    /// Mnemonics of instructions that ran whose results public documents leave open within a bound.
    pub inexact: Vec<&'static str>,
}

impl SubmitReport {
    /// The refusal that ended the submission early, if one did.
    pub fn stopped(&self) -> Option<&Refused> {
        self.refusals.iter().find(|r| r.stopped)
    }
}

/// The command processor of one context: its registers, streamout state and counters live on between submissions.
pub struct CommandProcessor {
    config: Config,
    gfx: State,
    compute: State,
    hooks: Hooks,
    scratch: Scratch,
    frames: Frames,
    next_id: u64,
    submissions: u32,
}

impl CommandProcessor {
    /// A processor with registers as after a reset. Its clock counts how often it was read.
    pub fn new(config: Config) -> CommandProcessor {
        let mut ticks = 0;
        let clock = Box::new(move || {
            ticks += 1;
            ticks
        });
        CommandProcessor {
            config,
            gfx: State::default(),
            compute: State::default(),
            hooks: Hooks { clock, wait: None },
            scratch: Scratch::default(),
            frames: Frames::default(),
            next_id: 0,
            submissions: 0,
        }
    }

    /// Gives the GPU clock that packets write to memory (100 MHz on the hardware).
    #[must_use]
    pub fn with_clock(mut self, clock: impl FnMut() -> u64 + Send + 'static) -> Self {
        self.hooks.clock = Box::new(clock);
        self
    }

    /// Gives what is asked when a wait does not hold: `true` polls again (after another thread has written, say),
    /// `false` refuses the wait. It is the hook's part to end. Without a hook such a wait is refused at once.
    #[must_use]
    pub fn with_wait(mut self, wait: impl FnMut(&WaitEvent) -> bool + Send + 'static) -> Self {
        self.hooks.wait = Some(Box::new(wait));
        self
    }

    /// The registers of a ring as they stand.
    pub fn registers(&self, ring: Ring) -> &RegisterFile {
        match ring {
            Ring::Gfx => &self.gfx.registers,
            Ring::Compute => &self.compute.registers,
        }
    }

    /// Carries out a submission. When it returns, every program it launched has run and memory is current.
    ///
    /// What is refused is in the report; a refusal that ends the submission leaves memory and state as the packets
    /// before it made them.
    pub fn submit(
        &mut self,
        submission: &Submission<'_>,
        memory: &dyn GuestMemory,
        executor: &mut dyn Executor,
        observer: &mut dyn Observer,
    ) -> SubmitReport {
        let number = self.submissions;
        self.submissions = number.wrapping_add(1);
        let state = match submission.ring {
            Ring::Gfx => &mut self.gfx,
            Ring::Compute => &mut self.compute,
        };
        let mut context = Context::new(Parts {
            config: &self.config,
            ring: submission.ring,
            state,
            hooks: &mut self.hooks,
            scratch: &mut self.scratch,
            next_id: &mut self.next_id,
            memory,
            executor,
            observer,
        });
        for ib in submission.ibs {
            if let Err(stop) = self.frames.walk(&mut context, *ib, number) {
                context.stop(stop.at, stop.refusal);
                break;
            }
        }
        finish(&mut context);
        context.report
    }
}

/// Runs what is still held back. A fault may leave earlier dispatches held back: they run too.
fn finish(context: &mut Context<'_>) {
    while let Err(refusal) = context.flush() {
        context.stop(Origin::default(), refusal);
    }
}
