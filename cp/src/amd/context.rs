//! What packet handlers work on: the machine's state, memory, the executor, and the report.

use super::RegisterFile;
use super::ledger::Ledger;
use super::packet::Header;
use super::predication::Predicate;
use super::processor::{Config, Ring, SubmitReport};
use super::registers::Register;
use super::streamout_unit::{StreamoutUnit, check_registers};
use super::walk::Windows;
use crate::{
    Completed, DispatchId, DrawFacts, ExactDispatch, Executor, GuestMemory, Interest, LaunchEvent, Observer,
    Origin, PacketEvent, Refusal, Refused, SampleEvent, WaitEvent, WaveRecord,
};

/// What the walk does after a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next packet.
    Next,
    /// Passes over this many dwords.
    Skip(u32),
    /// Walks a buffer and comes back.
    Call(super::IndirectBuffer),
    /// Goes on in another buffer and does not come back to this one.
    Chain(super::IndirectBuffer),
}

/// State beside the registers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    /// Streamout positions and counters.
    pub(crate) streamout: StreamoutUnit,
    /// Addresses of SET_BASE, by index; 1 is the base of indirect draws and dispatches.
    pub(crate) bases: [u64; 4],
    /// INDEX_BASE.
    pub(crate) index_base: u64,
    /// INDEX_BUFFER_SIZE: indices from the base on.
    pub(crate) index_buffer_size: u32,
    /// SET_PREDICATION.
    pub(crate) predicate: Predicate,
}

/// The state of one ring of one context.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) registers: RegisterFile,
    pub(crate) machine: Machine,
}

/// The GPU clock.
pub(crate) type Clock = Box<dyn FnMut() -> u64 + Send>;

/// Whether a wait that does not hold is to be judged again.
pub(crate) type WaitHook = Box<dyn FnMut(&WaitEvent) -> bool + Send>;

/// Calls from the embedder that a submission needs.
pub(crate) struct Hooks {
    pub(crate) clock: Clock,
    pub(crate) wait: Option<WaitHook>,
}

/// Buffers that outlive a submission so that they are allocated once.
#[derive(Default)]
pub(crate) struct Scratch {
    ledger: Ledger,
    done: Vec<Completed>,
    /// Bytes and dwords in passage of copying packets.
    pub(crate) bytes: Vec<u8>,
    pub(crate) dwords: Vec<u32>,
}

/// Everything a handler may touch.
pub(crate) struct Context<'a> {
    pub(crate) config: &'a Config,
    pub(crate) ring: Ring,
    state: &'a mut State,
    hooks: &'a mut Hooks,
    pub(crate) scratch: &'a mut Scratch,
    next_id: &'a mut u64,
    pub(super) memory: &'a dyn GuestMemory,
    executor: &'a mut dyn Executor,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) interest: Interest,
    /// Bytes that packets have moved.
    pub(super) moved: u64,
    pub(crate) report: SubmitReport,
    pub(crate) windows: Windows,
}

/// The parts that a [`Context`] is made of.
pub(crate) struct Parts<'a> {
    pub(crate) config: &'a Config,
    pub(crate) ring: Ring,
    pub(crate) state: &'a mut State,
    pub(crate) hooks: &'a mut Hooks,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) next_id: &'a mut u64,
    pub(crate) memory: &'a dyn GuestMemory,
    pub(crate) executor: &'a mut dyn Executor,
    pub(crate) observer: &'a mut dyn Observer,
}

impl<'a> Context<'a> {
    pub(crate) fn new(parts: Parts<'a>) -> Context<'a> {
        let Parts { config, ring, state, hooks, scratch, next_id, memory, executor, observer } = parts;
        let interest = observer.interest();
        let (report, windows) = (SubmitReport::default(), Windows::default());
        Context {
            config,
            ring,
            state,
            hooks,
            scratch,
            next_id,
            memory,
            executor,
            observer,
            interest,
            moved: 0,
            report,
            windows,
        }
    }

    /// The registers.
    pub(crate) fn registers(&self) -> &RegisterFile {
        &self.state.registers
    }

    /// State beside the registers.
    pub(crate) fn machine(&self) -> &Machine {
        &self.state.machine
    }

    /// State beside the registers, to change. After a launch only what the launched dispatch brings about may
    /// change: a fault takes it back.
    pub(crate) fn machine_mut(&mut self) -> &mut Machine {
        &mut self.state.machine
    }

    /// Sets consecutive registers from `first`, all or none.
    pub(crate) fn set_registers(
        &mut self,
        at: Origin,
        first: Register,
        values: &[u32],
    ) -> Result<(), Refusal> {
        check_registers(first, values.len())?;
        if !self.scratch.ledger.is_empty() {
            self.log_registers(first, values.len())?;
        }
        self.state.registers.set_run(first, values)?;
        if self.interest.registers {
            self.observe_registers(at, first, values);
        }
        Ok(())
    }

    /// Tells the observer of registers that were set.
    #[cold]
    fn observe_registers(&mut self, at: Origin, first: Register, values: &[u32]) {
        for (address, value) in (first.0..).step_by(4).zip(values) {
            self.observer.register_write(at, Register(address), *value);
        }
    }

    /// Sets one register.
    pub(crate) fn set_register(&mut self, at: Origin, register: Register, value: u32) -> Result<(), Refusal> {
        self.set_registers(at, register, &[value])
    }

    /// CLEAR_STATE.
    pub(crate) fn clear_context_registers(&mut self) -> Result<(), Refusal> {
        self.flush()?;
        self.state.registers.clear_context();
        Ok(())
    }

    /// Keeps what `count` registers hold, for a pending dispatch that may fault.
    #[inline(never)]
    fn log_registers(&mut self, first: Register, count: usize) -> Result<(), Refusal> {
        if self.scratch.ledger.is_full() {
            return self.flush();
        }
        self.scratch.ledger.log(self.state, first, count);
        Ok(())
    }

    /// Hands a dispatch to the executor. Call it before the streamout positions and counters that the dispatch
    /// advances are advanced: what `machine` and the registers hold now is what a fault puts back.
    pub(crate) fn launch(
        &mut self,
        dispatch: ExactDispatch,
        draw: Option<&DrawFacts>,
    ) -> Result<(), Refusal> {
        if self.scratch.ledger.is_full() {
            self.flush()?;
        }
        let id = DispatchId(*self.next_id);
        *self.next_id += 1;
        if self.interest.work {
            let registers = &self.state.registers;
            self.observer.launched(&LaunchEvent { id, dispatch: &dispatch, registers, draw });
        }
        self.scratch.ledger.open(id, self.state, &self.report);
        self.report.work.launches += 1;
        Ok(self.executor.submit(id, dispatch, self.memory)?)
    }

    /// As [`Context::launch`], and waits until the dispatch has run. Gives what its waves recorded.
    pub(crate) fn run(
        &mut self,
        dispatch: ExactDispatch,
        draw: Option<&DrawFacts>,
    ) -> Result<Vec<WaveRecord>, Refusal> {
        self.launch(dispatch, draw)?;
        let last = DispatchId(*self.next_id - 1);
        self.flush_up_to(last)
    }

    /// Makes memory current.
    pub(crate) fn flush(&mut self) -> Result<(), Refusal> {
        if self.scratch.ledger.is_empty() {
            return Ok(());
        }
        self.flush_up_to(DispatchId(u64::MAX)).map(drop)
    }

    /// Flushes the executor, and gives what the waves of dispatch `wanted` recorded.
    fn flush_up_to(&mut self, wanted: DispatchId) -> Result<Vec<WaveRecord>, Refusal> {
        let mut done = std::mem::take(&mut self.scratch.done);
        let mut records = Vec::new();
        let result = self.executor.flush(self.memory, &mut done);
        for mut completed in done.drain(..) {
            self.completed(&completed);
            if completed.id == wanted {
                records = std::mem::take(&mut completed.records);
            }
        }
        self.scratch.done = done;
        result?;
        self.scratch.ledger.settle();
        Ok(records)
    }

    fn completed(&mut self, completed: &Completed) {
        let work = &mut self.report.ran;
        work.waves += completed.waves;
        work.instructions += completed.instructions;
        for range in &completed.stored {
            work.bytes_stored += range.end.saturating_sub(range.start);
            self.windows.written(range.clone());
        }
        for name in &completed.inexact {
            if !self.report.inexact.contains(name) {
                self.report.inexact.push(name);
            }
        }
        if self.interest.work {
            self.observer.completed(completed);
        }
    }

    /// Records a refusal that ends the submission; a dispatch's takes back what came after its launch.
    pub(crate) fn stop(&mut self, at: Origin, refusal: Refusal) {
        let at = match &refusal {
            Refusal::Dispatch(error) => {
                self.scratch.ledger.roll_back(error.id, self.state, &mut self.report);
                error.origin
            }
            _ => at,
        };
        self.record(Refused { at, stopped: true, refusal });
    }

    /// Records a refusal after which the stream goes on; with [`Config::strict`] it ends the stream instead.
    pub(crate) fn report_only(&mut self, at: Origin, refusal: Refusal) -> Result<(), Refusal> {
        match self.config.strict {
            true => Err(refusal),
            false => {
                self.record(Refused { at, stopped: false, refusal });
                Ok(())
            }
        }
    }

    fn record(&mut self, refused: Refused) {
        if self.interest.work {
            self.observer.refused(&refused);
        }
        self.report.refusals.push(refused);
    }

    /// Asks whether a wait that does not hold is to be judged again.
    pub(crate) fn wait_again(&mut self, event: &WaitEvent) -> bool {
        self.hooks.wait.as_mut().is_some_and(|wait| wait(event))
    }

    /// The GPU clock.
    pub(crate) fn clock(&mut self) -> u64 {
        (self.hooks.clock)()
    }

    /// Tells the observer of an interrupt.
    pub(crate) fn interrupt(&mut self, at: Origin, context_id: u32) {
        if self.interest.work {
            self.observer.interrupt(at, context_id);
        }
    }

    /// Tells the observer of a packet.
    pub(crate) fn observe_packet(&mut self, at: Origin, header: Header, body: &[u32]) {
        if self.interest.packets {
            let depth = self.windows.depth();
            self.observer.packet(&PacketEvent { at, header, body, depth });
        }
    }

    /// Tells the observer of a wait.
    pub(crate) fn observe_wait(&mut self, event: &WaitEvent) {
        if self.interest.work {
            self.observer.waited(event);
        }
    }

    /// Tells the observer of written counters.
    pub(crate) fn observe_sample(&mut self, event: &SampleEvent) {
        if self.interest.work {
            self.observer.sampled(event);
        }
    }
}
