//! The translating executor: `cp::Executor` on any [`Backend`].
//!
//! A dispatch's program is looked up by everything that is compiled into it ([`ModuleKey`], compared whole) and by the assumptions
//! that its translation made; what varies from dispatch to dispatch goes into the parameter block. Dispatches are held back
//! and go to the backend together.

mod cache;
mod known;
mod last;
mod records;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use guestwave_cp::{
    Completed, Declined, DispatchError, DispatchId, ExactDispatch, Executor, GuestMemory, Origin, Outputs,
};

use crate::backend::{
    Backend, BackendError, Batch, Completion, Fidelity, Held as Holds, Holding, Launch, LaunchDone,
    LaunchFault, ProgramId, codes,
};
use crate::gfx10::{LaunchWords, OVERFLOW};
pub use cache::ModuleKey;
use cache::{Cache, Module};
use records::{Record, Recording};

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Programs that were translated and compiled.
    pub modules: u64,
    /// Dispatches whose program was there already.
    pub module_hits: u64,
    /// Dispatches handed to the backend.
    pub launches: u64,
    /// Batches handed to the backend.
    pub batches: u64,
    /// How programs that ran are held, and why, where the backend has a choice.
    pub held: BTreeMap<ProgramId, Holds>,
    /// How long each of the modules took, from its dispatch to code: translation and the backend's compilation.
    pub first_uses: Vec<Duration>,
}

/// A dispatch that waits for the next flush.
struct Held {
    id: DispatchId,
    dispatch: ExactDispatch,
    /// The place of its module.
    module: usize,
    /// Its words, until a launch takes them.
    words: Option<LaunchWords>,
    /// Its waves.
    waves: u32,
    /// Where its outputs go if they are wanted.
    record: Option<Record>,
    /// Its module has been made anew because an assumption did not hold.
    again: bool,
}

impl Held {
    /// A dispatch whose outputs nobody wants.
    fn new(id: DispatchId, dispatch: ExactDispatch, (module, words): (usize, LaunchWords)) -> Self {
        let waves = words.waves;
        Held { id, dispatch, module, words: Some(words), waves, record: None, again: false }
    }

    /// Its outputs do not fit any record.
    fn no_room(&self) -> DispatchError {
        let text = "the dispatch leaves more exports and messages than are recorded".into();
        error(self.id, &self.dispatch, "TR-OUT-003", text, None)
    }

    /// The launch of its program.
    fn launch(&mut self, module: &Module, budget: u64) -> Option<Launch> {
        // One that comes after a launch which failed is made again.
        let words = self.words.take().or_else(|| LaunchWords::new(&self.dispatch, &module.params));
        let LaunchWords { mut params, tables, waves, waves_per_group, group_waves } = words?;
        if let Some(record) = &self.record {
            record.fill(&module.params, &mut params);
        }
        let (id, program) = (self.id, module.program);
        Some(Launch { id, program, params, tables, waves, waves_per_group, group_waves, budget })
    }
}

fn error(
    id: DispatchId,
    dispatch: &ExactDispatch,
    code: &'static str,
    text: String,
    pc: Option<u32>,
) -> DispatchError {
    DispatchError { id, origin: dispatch.origin, code, text, pc, fault: None }
}

/// Runs dispatches by translating their programs.
pub struct TranslatingExecutor {
    backend: Box<dyn Backend>,
    options: Options,
    cache: Cache,
    held: VecDeque<Held>,
    done: Vec<Completed>,
    stats: Arc<Mutex<Stats>>,
    /// Module hits that are not in the statistics yet.
    hits: u64,
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
            hits: 0,
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

    /// The place of a dispatch's compiled program, and its words.
    fn prepare(
        &mut self,
        id: DispatchId,
        dispatch: &ExactDispatch,
        memory: &dyn GuestMemory,
    ) -> Result<(usize, LaunchWords), DispatchError> {
        let (fidelity, holding) = (self.options.fidelity, self.options.holding);
        if let Some(found) = self.cache.find(dispatch, memory, fidelity, holding) {
            self.hits += 1;
            return Ok(found);
        }
        let too_many = || {
            let text = "the dispatch has more waves than 32 bits count".into();
            error(id, dispatch, "TR-SIZE-001", text, None)
        };
        LaunchWords::new(dispatch, &[]).ok_or_else(too_many)?;
        let at =
            self.translate(dispatch, memory, false).map_err(|r| error(id, dispatch, r.code, r.text, r.pc))?;
        let words = LaunchWords::new(dispatch, &self.cache.at(at).params).ok_or_else(too_many)?;
        Ok((at, words))
    }

    /// A dispatch with room for its outputs.
    fn hold(
        &self,
        id: DispatchId,
        dispatch: ExactDispatch,
        prepared: (usize, LaunchWords),
        memory: &dyn GuestMemory,
    ) -> Result<Held, DispatchError> {
        let mut held = Held::new(id, dispatch, prepared);
        if held.dispatch.outputs == Outputs::Recorded {
            self.give_record(&mut held, memory)?;
        }
        Ok(held)
    }

    /// Gives a dispatch whose outputs are wanted room for them.
    fn give_record(&self, held: &mut Held, memory: &dyn GuestMemory) -> Result<(), DispatchError> {
        let module = self.cache.at(held.module);
        let shape = (held.waves, held.dispatch.program.wave_lanes);
        let end = Record::below(self.records());
        let record = Record::new((&module.events, module.record_words), shape, memory, end);
        held.record = Some(record.ok_or_else(|| held.no_room())?);
        Ok(())
    }

    /// The records of the dispatches that are held back.
    fn records(&self) -> impl Iterator<Item = &Record> {
        self.held.iter().filter_map(|h| h.record.as_ref())
    }

    /// Translates and compiles a dispatch's program; gives the place of the module. `together`: such that the lanes of a wave go one
    /// way together.
    fn translate(
        &mut self,
        dispatch: &ExactDispatch,
        memory: &dyn GuestMemory,
        together: bool,
    ) -> Result<usize, cache::Refused> {
        let (fidelity, holding) = (self.options.fidelity, self.options.holding);
        self.count().modules += 1;
        let backend = &mut self.backend;
        let compile = |program: &_| -> Result<ProgramId, BackendError> {
            match holding {
                Some(holding) => backend.compile(program, holding),
                None => backend.compile_best(program),
            }
        };
        let start = Instant::now();
        let made = self.cache.translate(dispatch, memory, (fidelity, holding, together), compile);
        self.count().first_uses.push(start.elapsed());
        made
    }

    /// Runs what is held back; completions go to `self.done`.
    fn run(&mut self, memory: &dyn GuestMemory) -> Result<(), DispatchError> {
        while !self.held.is_empty() {
            let completion = if self.records().next().is_some() {
                let with_records = Recording::new(memory, self.records());
                self.run_batch(&with_records)
            } else {
                self.run_batch(memory)
            }?;
            for launch in completion.done {
                self.note_holding();
                self.complete(launch);
            }
            if let Some(fault) = completion.fault {
                self.fault(fault, memory)?;
            }
        }
        Ok(())
    }

    /// Has the backend run what is held back.
    fn run_batch(&mut self, memory: &dyn GuestMemory) -> Result<Completion, DispatchError> {
        let mut launches = Vec::with_capacity(self.held.len());
        for held in &mut self.held {
            launches.extend(held.launch(self.cache.at(held.module), self.options.budget));
        }
        if launches.len() < self.held.len() {
            return Err(self.stuck("a dispatch has no words any more"));
        }
        let batch = Batch { launches };
        self.counted(&batch);
        let ticket = self.backend.submit(batch, memory).map_err(|e| self.stuck(&e.to_string()))?;
        match self.backend.wait(ticket, memory, PATIENCE) {
            Ok(Some(completion)) => Ok(completion),
            Ok(None) => Err(self.stuck("the batch did not end in time")),
            Err(e) => Err(self.stuck(&e.to_string())),
        }
    }

    fn counted(&mut self, batch: &Batch) {
        let hits = std::mem::take(&mut self.hits);
        let mut stats = self.count();
        stats.module_hits += hits;
        stats.batches += 1;
        stats.launches += batch.launches.len() as u64;
    }

    /// Notes how the first held dispatch's program is held.
    fn note_holding(&self) {
        let Some(program) = self.held.front().map(|h| self.cache.at(h.module).program) else { return };
        if let Some(holds) = self.backend.held(program) {
            self.count().held.insert(program, holds);
        }
    }

    fn complete(&mut self, mut done: LaunchDone) {
        let Some(held) = self.held.pop_front() else { return };
        if let Some(record) = &held.record {
            record.strip(&mut done.stored);
            self.cache.needs_record_words(held.module, record.words());
        }
        self.done.push(Completed {
            id: held.id,
            waves: u64::from(held.waves),
            instructions: 0,
            stored: done.stored,
            records: held.record.as_ref().map(Record::read).unwrap_or_default(),
            inexact: self.cache.at(held.module).inexact.clone(),
        });
    }

    /// The first held dispatch had no effect. If an assumption of its translation did not hold, it is translated anew,
    /// once; if its record was full, it gets a larger one.
    fn fault(&mut self, fault: LaunchFault, memory: &dyn GuestMemory) -> Result<(), DispatchError> {
        let Some(held) = self.held.pop_front() else { return Ok(()) };
        let again = match fault.code {
            "TR-SPEC-001" if !held.again => self.translate_again(held, memory),
            codes::HOST_LOOPS if !self.cache.at(held.module).together() => {
                self.translate_together(held, memory)
            }
            OVERFLOW => self.record_again(held, memory),
            _ => Err(DispatchError {
                fault: fault.fault,
                ..error(fault.id, &held.dispatch, fault.code, fault.text, fault.pc)
            }),
        };
        match again {
            Ok(held) => {
                self.held.push_front(held);
                Ok(())
            }
            Err(e) => {
                self.held.clear();
                Err(e)
            }
        }
    }

    fn translate_again(&mut self, held: Held, memory: &dyn GuestMemory) -> Result<Held, DispatchError> {
        let prepared = self.prepare(held.id, &held.dispatch, memory)?;
        let held = self.hold(held.id, held.dispatch, prepared, memory)?;
        Ok(Held { again: true, ..held })
    }

    /// Has the program made anew such that the lanes of a wave go one way together.
    fn translate_together(&mut self, held: Held, memory: &dyn GuestMemory) -> Result<Held, DispatchError> {
        let (id, dispatch) = (held.id, held.dispatch);
        let refused = |r: cache::Refused| error(id, &dispatch, r.code, r.text, r.pc);
        let module = self.translate(&dispatch, memory, true).map_err(refused)?;
        let words = LaunchWords::new(&dispatch, &self.cache.at(module).params);
        let words = words.ok_or_else(|| self.stuck("a dispatch has no words any more"))?;
        let again = held.again;
        let held = self.hold(id, dispatch, (module, words), memory)?;
        Ok(Held { again, ..held })
    }

    fn record_again(&mut self, mut held: Held, memory: &dyn GuestMemory) -> Result<Held, DispatchError> {
        let end = Record::below(self.records());
        match held.record.as_mut().and_then(|record| record.grow(memory, end)) {
            Some(()) => Ok(held),
            None => Err(held.no_room()),
        }
    }

    /// The backend failed: nothing that is held back will run.
    fn stuck(&mut self, what: &str) -> DispatchError {
        let first = self.held.front().map(|h| (h.id, h.dispatch.origin));
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
        self.offer(id, dispatch, memory).map_err(|declined| declined.error)
    }

    fn offer(
        &mut self,
        id: DispatchId,
        dispatch: ExactDispatch,
        memory: &dyn GuestMemory,
    ) -> Result<(), Declined> {
        let taken = |error| Declined { error, dispatch: None };
        if dispatch.items() == 0 {
            self.run(memory).map_err(taken)?;
            self.done.push(Completed { id, ..Completed::default() });
            return Ok(());
        }
        let prepared = match self.prepare(id, &dispatch, memory) {
            Ok(prepared) => prepared,
            Err(error) => {
                // What came before has its effect, or its own fault is the first.
                self.run(memory).map_err(taken)?;
                return Err(Declined { error, dispatch: Some(Box::new(dispatch)) });
            }
        };
        if dispatch.outputs == Outputs::Dropped {
            self.held.push_back(Held::new(id, dispatch, prepared));
        } else {
            match self.hold(id, dispatch, prepared, memory) {
                Ok(held) => self.held.push_back(held),
                Err(error) => {
                    self.run(memory).map_err(taken)?;
                    return Err(taken(error));
                }
            }
        }
        if self.held.len() >= HELD_BACK { self.run(memory).map_err(taken) } else { Ok(()) }
    }

    fn flush(&mut self, memory: &dyn GuestMemory, done: &mut Vec<Completed>) -> Result<(), DispatchError> {
        let ran = self.run(memory);
        done.append(&mut self.done);
        ran
    }
}
