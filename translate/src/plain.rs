//! A backend that evaluates programs plainly, lane by lane: slow, and the yardstick of the others.

use std::sync::Arc;

use guestwave_cp::GuestMemory;

use crate::backend::{Backend, BackendError, Batch, Caps, Completion, Holding, ProgramId, Ticket};
use crate::program::{Program, eval, verify};

/// Runs programs with [`eval`].
#[derive(Debug)]
pub struct PlainBackend {
    caps: Caps,
    programs: Vec<Arc<Program>>,
    /// The one batch that may wait to be fetched: a batch has ended when `submit` returns.
    ended: Option<(Ticket, Completion)>,
    tickets: u64,
}

impl PlainBackend {
    /// A backend without programs.
    pub fn new() -> Self {
        let caps = Caps {
            name: "plain",
            device: "the program evaluator".into(),
            exact: Ok(()),
            holdings: vec![Holding::Wave],
            lds_bytes: 64 * 1024,
        };
        PlainBackend { caps, programs: Vec::new(), ended: None, tickets: 0 }
    }
}

impl Default for PlainBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for PlainBackend {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn compile(&mut self, program: &Arc<Program>, _: Holding) -> Result<ProgramId, BackendError> {
        verify(program).map_err(|e| BackendError::Compile {
            code: "PLAIN-COMPILE-001",
            backend: "plain",
            reason: e.to_string(),
        })?;
        self.programs.push(program.clone());
        Ok(ProgramId(self.programs.len() as u32 - 1))
    }

    fn submit(&mut self, batch: Batch, memory: &dyn GuestMemory) -> Result<Ticket, BackendError> {
        let mut completion = Completion::default();
        for launch in &batch.launches {
            let program = self.programs.get(launch.program.0 as usize);
            let Some(program) = program else {
                return Err(BackendError::UnknownTicket(Ticket(self.tickets)));
            };
            match eval::run(program, launch, memory) {
                Ok(done) => completion.done.push(done),
                Err(fault) => {
                    completion.fault = Some(fault);
                    break;
                }
            }
        }
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.ended = Some((ticket, completion));
        Ok(ticket)
    }

    fn poll(&mut self, ticket: Ticket, _: &dyn GuestMemory) -> Result<Option<Completion>, BackendError> {
        match self.ended.take() {
            Some((t, completion)) if t == ticket => Ok(Some(completion)),
            _ => Err(BackendError::UnknownTicket(ticket)),
        }
    }
}
