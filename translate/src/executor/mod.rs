//! The translating executor: `cp::Executor` on any [`Backend`].
//!
//! A dispatch's program is looked up by everything that is compiled into it ([`ModuleKey`], compared whole) and by the assumptions
//! that its translation made; what varies from dispatch to dispatch goes into the parameter block. Dispatches are held back
//! and go to the backend together.

mod cache;
mod known;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use guestwave_cp::{
    Completed, DispatchError, DispatchId, ExactDispatch, Executor, GuestMemory, Origin, Outputs,
};

use crate::backend::{Backend, BackendError, Batch, Fidelity, Holding, Launch, LaunchFault, ProgramId};
use crate::gfx10::LaunchWords;
pub use cache::ModuleKey;
use cache::{Cache, Module};

/// Dispatches that are held back at most before they run.
const HELD_BACK: usize = 256;

/// How long a backend may take for one batch before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(600);

/// Loop iterations of a wave unless an option says otherwise.
const BUDGET: u64 = 1 << 26;

/// What a user can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How close to the guest's bits floats are to be.
    pub fidelity: Fidelity,
    /// The holding, or `None` for the backend's best.
    pub holding: Option<Holding>,
    /// Loop iterations that a wave may make in all.
    pub budget: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { fidelity: Fidelity::Exact, holding: None, budget: BUDGET }
    }
}

/// What an executor has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Programs that were translated and compiled.
    pub modules: u64,
    /// Dispatches whose program was there already.
    pub module_hits: u64,
    /// Dispatches handed to the backend.
    pub launches: u64,
    /// Batches handed to the backend.
    pub batches: u64,
}

/// A dispatch that waits for the next flush.
struct Held {
    dispatch: ExactDispatch,
    launch: Launch,
    inexact: Vec<&'static str>,
    /// Its module has been made anew because an assumption did not hold.
    again: bool,
}

/// Runs dispatches by translating their programs.
pub struct TranslatingExecutor {
    backend: Box<dyn Backend>,
    options: Options,
    cache: Cache,
    held: VecDeque<Held>,
    done: Vec<Completed>,
    stats: Arc<Mutex<Stats>>,
}

impl TranslatingExecutor {
    /// An executor on `backend`.
    pub fn new(backend: Box<dyn Backend>, options: Options) -> Self {
        TranslatingExecutor {
            backend,
            options,
            cache: Cache::default(),
            held: VecDeque::new(),
            done: Vec::new(),
            stats: Arc::default(),
        }
    }

    /// What it has done so far, to be looked at while and after it runs.
    pub fn stats(&self) -> Arc<Mutex<Stats>> {
        self.stats.clone()
    }

    fn count(&self) -> MutexGuard<'_, Stats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The backend.
    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    fn holding(&self) -> Holding {
        self.options.holding.or(self.backend.caps().holdings.first().copied()).unwrap_or(Holding::Wave)
    }

    /// The compiled program of a dispatch and its words.
    fn prepare(
        &mut self,
        id: DispatchId,
        dispatch: &ExactDispatch,
        memory: &dyn GuestMemory,
    ) -> Result<(Launch, Vec<&'static str>), DispatchError> {
        let error =
            |code, text, pc| DispatchError { id, origin: dispatch.origin, code, text, pc, fault: None };
        if dispatch.outputs == Outputs::Recorded {
            let text =
                "the exports of this dispatch are wanted, which the translator only drops so far".into();
            return Err(error("TR-OUT-001", text, None));
        }
        let (holding, budget) = (self.holding(), self.options.budget);
        let module = self.module(dispatch, memory, holding).map_err(|r| error(r.code, r.text, r.pc))?;
        let words = LaunchWords::new(dispatch, &module.params).ok_or_else(|| {
            error("TR-SIZE-001", "the dispatch has more waves than 32 bits count".into(), None)
        })?;
        let launch = Launch {
            id,
            program: module.program,
            params: words.params,
            tables: words.tables,
            waves: words.waves,
            waves_per_group: words.waves_per_group,
            group_waves: words.group_waves,
            budget,
        };
        Ok((launch, module.inexact.clone()))
    }

    fn module(
        &mut self,
        dispatch: &ExactDispatch,
        memory: &dyn GuestMemory,
        holding: Holding,
    ) -> Result<&Module, cache::Refused> {
        let found = self.cache.find(dispatch, memory, self.options.fidelity, holding);
        let at = match found {
            Some(at) => {
                self.count().module_hits += 1;
                at
            }
            None => {
                self.count().modules += 1;
                let backend = &mut self.backend;
                let compile =
                    |program: &_| -> Result<ProgramId, BackendError> { backend.compile(program, holding) };
                self.cache.translate(dispatch, memory, self.options.fidelity, holding, compile)?
            }
        };
        Ok(self.cache.at(at))
    }

    /// Runs what is held back; completions go to `self.done`.
    fn run(&mut self, memory: &dyn GuestMemory) -> Result<(), DispatchError> {
        while !self.held.is_empty() {
            let batch = Batch { launches: self.held.iter().map(|h| h.launch.clone()).collect() };
            self.counted(&batch);
            let ticket = self.backend.submit(batch, memory).map_err(|e| self.stuck(&e.to_string()))?;
            let completion = match self.backend.wait(ticket, memory, PATIENCE) {
                Ok(Some(completion)) => completion,
                Ok(None) => return Err(self.stuck("the batch did not end in time")),
                Err(e) => return Err(self.stuck(&e.to_string())),
            };
            for launch in completion.done {
                self.complete(launch);
            }
            if let Some(fault) = completion.fault {
                self.fault(fault, memory)?;
            }
        }
        Ok(())
    }

    fn counted(&self, batch: &Batch) {
        let mut stats = self.count();
        stats.batches += 1;
        stats.launches += batch.launches.len() as u64;
    }

    fn complete(&mut self, done: crate::backend::LaunchDone) {
        if let Some(held) = self.held.pop_front() {
            self.done.push(Completed {
                id: held.launch.id,
                waves: u64::from(held.launch.waves),
                instructions: 0,
                stored: done.stored,
                records: Vec::new(),
                inexact: held.inexact,
            });
        }
    }

    /// The first held dispatch had no effect. If an assumption of its translation did not hold, it is translated anew, once.
    fn fault(&mut self, fault: LaunchFault, memory: &dyn GuestMemory) -> Result<(), DispatchError> {
        let Some(mut held) = self.held.pop_front() else { return Ok(()) };
        if fault.code == "TR-SPEC-001" && !held.again {
            match self.prepare(held.launch.id, &held.dispatch, memory) {
                Ok((launch, inexact)) => {
                    (held.launch, held.inexact, held.again) = (launch, inexact, true);
                    self.held.push_front(held);
                    return Ok(());
                }
                Err(e) => {
                    self.held.clear();
                    return Err(e);
                }
            }
        }
        self.held.clear();
        Err(DispatchError {
            id: fault.id,
            origin: held.dispatch.origin,
            code: fault.code,
            text: fault.text,
            pc: fault.pc,
            fault: fault.fault,
        })
    }

    /// The backend failed: nothing that is held back will run.
    fn stuck(&mut self, what: &str) -> DispatchError {
        let first = self.held.front().map(|h| (h.launch.id, h.dispatch.origin));
        self.held.clear();
        let (id, origin) = first.unwrap_or((DispatchId::default(), Origin::default()));
        let text = format!("the backend failed: {what}");
        DispatchError { id, origin, code: "TR-BACK-001", text, pc: None, fault: None }
    }
}

impl Executor for TranslatingExecutor {
    fn submit(
        &mut self,
        id: DispatchId,
        dispatch: ExactDispatch,
        memory: &dyn GuestMemory,
    ) -> Result<(), DispatchError> {
        if dispatch.items() == 0 {
            self.run(memory)?;
            self.done.push(Completed { id, ..Completed::default() });
            return Ok(());
        }
        let (launch, inexact) = match self.prepare(id, &dispatch, memory) {
            Ok(prepared) => prepared,
            Err(refused) => {
                // What came before has its effect, or its own fault is the first.
                self.run(memory)?;
                return Err(refused);
            }
        };
        self.held.push_back(Held { dispatch, launch, inexact, again: false });
        if self.held.len() >= HELD_BACK { self.run(memory) } else { Ok(()) }
    }

    fn flush(&mut self, memory: &dyn GuestMemory, done: &mut Vec<Completed>) -> Result<(), DispatchError> {
        let ran = self.run(memory);
        done.append(&mut self.done);
        ran
    }
}
