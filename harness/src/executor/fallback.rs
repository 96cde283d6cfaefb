//! Two executors, of which the second runs what the first refuses.

use guestwave_cp::{Completed, Declined, DispatchError, DispatchId, ExactDispatch, Executor, GuestMemory};

/// What codes of refusals begin with that say nothing was run because something is not translated or compiled.
const NOT_TRANSLATED: [&str; 3] = ["TR-", "SOFT-COMPILE-", "PLAIN-COMPILE-"];

/// The backend itself failed: this is not for anybody else to make good.
const FAILED: &str = "TR-BACK-";

/// Runs dispatches on `first`, and those that it has no translation for on `second`. Both give the same bytes, so which ran only
/// shows in the time it takes.
pub struct Fallback {
    first: Box<dyn Executor>,
    second: Box<dyn Executor>,
    done: Vec<Completed>,
}

impl Fallback {
    /// `first` where it can, else `second`.
    pub fn new(first: Box<dyn Executor>, second: Box<dyn Executor>) -> Self {
        Fallback { first, second, done: Vec::new() }
    }
}

/// Whether an error is a dispatch's own refusal, without effect, for want of a translation.
fn is_refusal(error: &DispatchError, id: DispatchId) -> bool {
    let code = error.code;
    let untranslated = NOT_TRANSLATED.iter().any(|p| code.starts_with(p)) && !code.starts_with(FAILED);
    error.id == id && error.fault.is_none() && untranslated
}

impl Executor for Fallback {
    fn submit(
        &mut self,
        id: DispatchId,
        dispatch: ExactDispatch,
        memory: &dyn GuestMemory,
    ) -> Result<(), DispatchError> {
        let Err(declined) = self.first.offer(id, dispatch, memory) else { return Ok(()) };
        match declined {
            Declined { error, dispatch: Some(dispatch) } if is_refusal(&error, id) => {
                log::info!("{}: {}; it runs on the reference interpreter", error.code, error.text);
                self.first.flush(memory, &mut self.done)?;
                self.second.submit(id, *dispatch, memory)?;
                self.second.flush(memory, &mut self.done)
            }
            Declined { error, .. } => Err(error),
        }
    }

    fn flush(&mut self, memory: &dyn GuestMemory, done: &mut Vec<Completed>) -> Result<(), DispatchError> {
        done.append(&mut self.done);
        self.first.flush(memory, done)
    }
}

#[cfg(test)]
mod tests {
    use guestwave_cp::{Grid, Isa, Origin, Outputs, ProgramRef, Stage};

    use super::*;
    use crate::memory::CaptureMemory;

    /// Holds dispatches back and answers as it is told.
    struct Told {
        code: Option<&'static str>,
        held: Vec<DispatchId>,
    }

    impl Executor for Told {
        fn submit(
            &mut self,
            id: DispatchId,
            d: ExactDispatch,
            _: &dyn GuestMemory,
        ) -> Result<(), DispatchError> {
            match self.code.filter(|_| d.lds_bytes > 0) {
                Some(code) => Err(DispatchError {
                    id,
                    origin: d.origin,
                    code,
                    text: String::new(),
                    pc: None,
                    fault: None,
                }),
                None => {
                    self.held.push(id);
                    Ok(())
                }
            }
        }

        fn flush(&mut self, _: &dyn GuestMemory, done: &mut Vec<Completed>) -> Result<(), DispatchError> {
            done.extend(self.held.drain(..).map(|id| Completed { id, ..Completed::default() }));
            Ok(())
        }
    }

    /// A dispatch that the first executor refuses if it has LDS.
    fn dispatch(lds_bytes: u32) -> ExactDispatch {
        let (isa, address) = (Isa::Gfx1030, 0x1000);
        let program =
            ProgramRef { isa, address, wave_lanes: 32, float_mode: 0, dx10_clamp: false, ieee: false };
        ExactDispatch {
            stage: Stage::Compute,
            program,
            grid: Grid::Linear { items: 1, per_wave: 32 },
            sgprs: vec![],
            vgprs: vec![],
            lds_bytes,
            scratch: None,
            outputs: Outputs::Dropped,
            origin: Origin::default(),
        }
    }

    /// Submits three dispatches, the second of which is refused with `code` by the first executor.
    fn run(code: &'static str) -> Result<Vec<u64>, &'static str> {
        let first = Told { code: Some(code), held: vec![] };
        let second = Told { code: None, held: vec![] };
        let mut both = Fallback::new(Box::new(first), Box::new(second));
        let (memory, mut done) = (CaptureMemory::new(), Vec::new());
        for (id, lds) in [(1, 0), (2, 4), (3, 0)] {
            both.submit(DispatchId(id), dispatch(lds), &memory).map_err(|e| e.code)?;
        }
        both.flush(&memory, &mut done).map_err(|e| e.code)?;
        Ok(done.into_iter().map(|c| c.id.0).collect())
    }

    #[test]
    fn what_is_not_translated_runs_in_its_place() {
        for code in ["TR-OP-001", "SOFT-COMPILE-002"] {
            assert_eq!(run(code), Ok(vec![1, 2, 3]));
        }
    }

    #[test]
    fn faults_and_failures_are_reported() {
        for code in ["RUN-MEM-001", "RUN-BUDGET-001", "TR-BACK-001"] {
            assert_eq!(run(code), Err(code));
        }
    }
}
