//! What a command processor tells about its work while it works.

use std::ops::Range;

use crate::amd::{Header, Register, RegisterFile};
use crate::{Completed, DispatchId, ExactDispatch, Origin, Refused};

/// Which events an [`Observer`] wants; those it does not want cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Interest {
    /// [`Observer::packet`].
    pub packets: bool,
    /// [`Observer::register_write`].
    pub registers: bool,
    /// [`Observer::launched`], [`Observer::completed`], [`Observer::stored`], [`Observer::waited`],
    /// [`Observer::sampled`], [`Observer::interrupt`] and [`Observer::refused`].
    pub work: bool,
}

impl Interest {
    /// Everything.
    pub const ALL: Interest = Interest { packets: true, registers: true, work: true };
}

/// A packet about to be carried out.
#[derive(Clone, Copy, Debug)]
pub struct PacketEvent<'a> {
    /// Where it is.
    pub at: Origin,
    /// Its header.
    pub header: Header,
    /// Its body.
    pub body: &'a [u32],
    /// Depth of calls: 0 in a submitted buffer.
    pub depth: u32,
}

/// A draw's or a dispatch's program was handed to the executor.
#[derive(Clone, Copy, Debug)]
pub struct LaunchEvent<'a> {
    /// Its number.
    pub id: DispatchId,
    /// What is run.
    pub dispatch: &'a ExactDispatch,
    /// The registers as they stand at the launch.
    pub registers: &'a RegisterFile,
    /// What the draw comes to; `None` for a compute dispatch.
    pub draw: Option<&'a DrawFacts>,
}

/// What one dispatch of a draw comes to. A draw has several where a geometry program or tessellation comes before the
/// last stage: what is made and stored is told with the dispatches of the last stage, each with its own part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DrawFacts {
    /// VGT_PRIMITIVE_TYPE.
    pub primitive_type: u32,
    /// Vertices, or indices, of each instance.
    pub vertices: u32,
    /// Instances.
    pub instances: u32,
    /// Primitives that are made.
    pub primitives_needed: u64,
    /// Primitives that fit every enabled buffer.
    pub primitives_written: u64,
    /// Enabled buffers, one bit each.
    pub buffers: u8,
    /// Position of each buffer before the draw, in bytes.
    pub positions_before: [u64; 4],
    /// Position of each buffer after the draw, in bytes.
    pub positions_after: [u64; 4],
}

/// A wait that had to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitEvent {
    /// Where.
    pub at: Origin,
    /// What was polled.
    pub place: WaitPlace,
    /// The value it had.
    pub value: u64,
    /// Whether it held.
    pub held: bool,
}

/// What a wait polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPlace {
    /// Guest memory.
    Memory(u64),
    /// A register.
    Register(Register),
}

/// Counters that an event wrote to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleEvent {
    /// Where.
    pub at: Origin,
    /// The event's type.
    pub event: u8,
    /// Where the counters were written.
    pub address: u64,
    /// The two words written.
    pub values: [u64; 2],
}

/// Is told what a command processor does, in order. Every method may be left out.
///
/// A dispatch may run later than it is launched: [`Observer::completed`] comes then. When one faults, packets that
/// were walked since its launch have been told, and are undone.
pub trait Observer {
    /// Which events are wanted. Asked once a submission.
    fn interest(&self) -> Interest {
        Interest::ALL
    }

    /// A packet is about to be carried out.
    fn packet(&mut self, event: &PacketEvent<'_>) {
        let _ = event;
    }

    /// A packet set a register.
    fn register_write(&mut self, at: Origin, register: Register, value: u32) {
        let _ = (at, register, value);
    }

    /// A program was handed to the executor.
    fn launched(&mut self, event: &LaunchEvent<'_>) {
        let _ = event;
    }

    /// A program ran to its end.
    fn completed(&mut self, completed: &Completed) {
        let _ = completed;
    }

    /// A packet wrote guest memory.
    fn stored(&mut self, at: Origin, range: Range<u64>) {
        let _ = (at, range);
    }

    /// A wait was judged.
    fn waited(&mut self, event: &WaitEvent) {
        let _ = event;
    }

    /// Counters were written.
    fn sampled(&mut self, event: &SampleEvent) {
        let _ = event;
    }

    /// A packet raised an interrupt; `context_id` is what it carries.
    fn interrupt(&mut self, at: Origin, context_id: u32) {
        let _ = (at, context_id);
    }

    /// Something was refused.
    fn refused(&mut self, refused: &Refused) {
        let _ = refused;
    }
}

/// Wants nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn interest(&self) -> Interest {
        Interest::default()
    }
}
