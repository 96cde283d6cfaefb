//! One backend for several executors, one after another: a device is opened and looked at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use guestwave_cp::GuestMemory;
use guestwave_translate::backend::{
    Backend, BackendError, Batch, Caps, Completion, Held, Holding, ProgramId, Ticket,
};
use guestwave_translate::program::Program;

/// How long a batch may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// A backend that its clones share.
#[derive(Clone)]
pub struct SharedBackend {
    caps: Caps,
    backend: Arc<Mutex<Box<dyn Backend>>>,
    /// Batches of this clone that came to their end.
    ended: HashMap<Ticket, Completion>,
}

impl SharedBackend {
    /// Lets clones share `backend`.
    pub fn new(backend: Box<dyn Backend>) -> Self {
        let caps = backend.caps().clone();
        SharedBackend { caps, backend: Arc::new(Mutex::new(backend)), ended: HashMap::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Box<dyn Backend>> {
        self.backend.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for SharedBackend {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn compile(&mut self, program: &Arc<Program>, holding: Holding) -> Result<ProgramId, BackendError> {
        self.lock().compile(program, holding)
    }

    fn compile_best(&mut self, program: &Arc<Program>) -> Result<ProgramId, BackendError> {
        self.lock().compile_best(program)
    }

    fn held(&self, program: ProgramId) -> Option<Held> {
        self.lock().held(program)
    }

    /// Runs the batch to its end, so that the backend has batches of one memory at a time.
    fn submit(&mut self, batch: Batch, memory: &dyn GuestMemory) -> Result<Ticket, BackendError> {
        let mut backend = self.lock();
        let ticket = backend.submit(batch, memory)?;
        let ended = backend.wait(ticket, memory, PATIENCE)?;
        drop(backend);
        self.ended.extend(ended.map(|completion| (ticket, completion)));
        Ok(ticket)
    }

    fn poll(&mut self, ticket: Ticket, _: &dyn GuestMemory) -> Result<Option<Completion>, BackendError> {
        Ok(self.ended.remove(&ticket))
    }
}
