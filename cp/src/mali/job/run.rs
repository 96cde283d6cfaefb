//! Running a chain on an executor.

use super::{JobChain, Launch, Planned, Refusal};
use crate::{Completed, DispatchId, Executor, GuestMemory};

/// A job that was carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// The job.
    pub job: Planned,
    /// What its launches did, in order.
    pub completed: Vec<Completed>,
}

/// Runs every job of the chain at `address`. Jobs that were carried out are appended to `ran`.
///
/// # Errors
/// The first job that was refused, or whose dispatch was; it and those after it have had no effect.
pub fn run_chain(
    memory: &dyn GuestMemory,
    executor: &mut dyn Executor,
    address: u64,
    ran: &mut Vec<Ran>,
) -> Result<(), Refusal> {
    let mut chain = JobChain::new(address);
    let mut id = 0;
    while let Some(job) = chain.next(memory)? {
        let mut completed = Vec::new();
        for launch in &job.launches {
            run_launch(memory, executor, launch, id, &mut completed)?;
            id += 1;
        }
        ran.push(Ran { job, completed });
    }
    Ok(())
}

/// Runs one launch and waits for it.
///
/// # Errors
/// The executor refused it, or it faulted.
pub fn run_launch(
    memory: &dyn GuestMemory,
    executor: &mut dyn Executor,
    launch: &Launch,
    id: u64,
    completed: &mut Vec<Completed>,
) -> Result<(), Refusal> {
    executor.submit(DispatchId(id), launch.dispatch.clone(), memory)?;
    executor.flush(memory, completed)?;
    Ok(())
}
