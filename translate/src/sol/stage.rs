//! The stream-output stage on a backend.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use guestwave_cp::intel::sol::{SolJob, SolShape, StreamOut};
use guestwave_cp::{DispatchError, DispatchId, GuestMemory, Origin};

use super::params::fill;
use super::program::{LANES, program};
use crate::backend::{Backend, BackendError, Batch, Completion, Holding, Launch, LaunchFault, ProgramId};

/// How long a backend may take for one draw before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(600);
/// Loop iterations of a wave; the programs have no loops.
const BUDGET: u64 = 1;

/// Runs the copies of draws as programs of a backend.
pub struct ProgramStreamOut {
    backend: Box<dyn Backend>,
    holding: Holding,
    programs: HashMap<SolShape, ProgramId>,
    launches: u64,
}

impl ProgramStreamOut {
    /// A stage on a backend, in the holding given or else the backend's first.
    pub fn new(backend: Box<dyn Backend>, holding: Option<Holding>) -> ProgramStreamOut {
        let holding = holding.or(backend.caps().holdings.first().copied()).unwrap_or(Holding::Wave);
        ProgramStreamOut { backend, holding, programs: HashMap::new(), launches: 0 }
    }

    /// Programs made so far.
    pub fn programs(&self) -> usize {
        self.programs.len()
    }

    fn compiled(&mut self, shape: &SolShape) -> Result<ProgramId, BackendError> {
        if let Some(known) = self.programs.get(shape) {
            return Ok(*known);
        }
        let id = self.backend.compile(&Arc::new(program(shape)), self.holding)?;
        self.programs.insert(shape.clone(), id);
        Ok(id)
    }

    fn launch(&mut self, job: &SolJob) -> Result<Launch, DispatchError> {
        let program = self.compiled(&job.shape).map_err(|e| refused(job.origin, &e))?;
        let (params, tables) = fill(job).ok_or_else(|| DispatchError {
            id: DispatchId(self.launches),
            origin: job.origin,
            code: "TR-SOL-001",
            text: "the vertices of the draw take more than 32-bit byte offsets reach".into(),
            pc: None,
            fault: None,
        })?;
        self.launches += 1;
        Ok(Launch {
            id: DispatchId(self.launches),
            program,
            params,
            tables,
            waves: job.count.div_ceil(u32::from(LANES)),
            waves_per_group: 1,
            group_waves: None,
            budget: BUDGET,
        })
    }
}

impl StreamOut for ProgramStreamOut {
    fn run(&mut self, jobs: &[SolJob], memory: &dyn GuestMemory) -> Result<Vec<Range<u64>>, DispatchError> {
        let origin = jobs.first().map(|job| job.origin).unwrap_or_default();
        let launches = jobs.iter().map(|job| self.launch(job)).collect::<Result<_, _>>()?;
        let failed = |e: BackendError| refused(origin, &e);
        let ticket = self.backend.submit(Batch { launches }, memory).map_err(failed)?;
        match self.backend.wait(ticket, memory, PATIENCE).map_err(failed)? {
            Some(Completion { fault: Some(fault), .. }) => Err(faulted(origin, fault)),
            Some(Completion { done, .. }) => {
                let mut stored: Vec<_> = done.into_iter().flat_map(|launch| launch.stored).collect();
                stored.sort_by_key(|range| range.start);
                Ok(stored)
            }
            None => Err(DispatchError {
                id: DispatchId(self.launches),
                origin,
                code: "TR-BACK-001",
                text: format!("the backend did not end a draw within {} seconds", PATIENCE.as_secs()),
                pc: None,
                fault: None,
            }),
        }
    }
}

fn refused(origin: Origin, error: &BackendError) -> DispatchError {
    DispatchError {
        id: DispatchId::default(),
        origin,
        code: error.code(),
        text: error.sentence(),
        pc: None,
        fault: None,
    }
}

fn faulted(origin: Origin, fault: LaunchFault) -> DispatchError {
    let LaunchFault { id, code, text, pc, fault } = fault;
    DispatchError { id, origin, code, text, pc, fault }
}
