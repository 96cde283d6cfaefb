//! What a dispatch that has not run yet would take back if it faulted.

use super::context::{Machine, State};
use super::processor::{SubmitReport, WorkCounts};
use super::registers::Register;
use crate::DispatchId;

/// Dispatches held back, or register writes logged for them, at which the executor is flushed anyway.
const MAX_PENDING: usize = 1 << 14;
const MAX_UNDO: usize = 1 << 18;

/// One dispatch, and how things stood before its launch.
struct Pending {
    id: DispatchId,
    machine: Machine,
    /// Logged register writes that came before.
    undo: usize,
    /// Refusals that came before.
    refusals: usize,
    work: WorkCounts,
}

/// The dispatches that may still fault, in order, and the old values of registers written since the first of them.
#[derive(Default)]
pub(super) struct Ledger {
    pending: Vec<Pending>,
    undo: Vec<(Register, (u32, bool))>,
}

impl Ledger {
    /// Whether no dispatch may fault any more.
    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether it has grown so long that the executor should be flushed.
    pub(super) fn is_full(&self) -> bool {
        self.pending.len() >= MAX_PENDING || self.undo.len() >= MAX_UNDO
    }

    /// Notes how things stand before a launch.
    pub(super) fn open(&mut self, id: DispatchId, state: &State, report: &SubmitReport) {
        self.pending.push(Pending {
            id,
            machine: state.machine.clone(),
            undo: self.undo.len(),
            refusals: report.refusals.len(),
            work: report.work,
        });
    }

    /// Keeps what `count` registers hold before they are written.
    pub(super) fn log(&mut self, state: &State, first: Register, count: usize) {
        let registers = (0..count).map(|i| Register(first.0.wrapping_add(4 * i as u32)));
        self.undo.extend(registers.map(|r| (r, state.registers.peek(r))));
    }

    /// Every dispatch has run.
    pub(super) fn settle(&mut self) {
        self.pending.clear();
        self.undo.clear();
    }

    /// Takes back everything from the launch of dispatch `id` on. The dispatches before it stay; an `id` that was
    /// never opened takes nothing back and leaves none.
    pub(super) fn roll_back(&mut self, id: DispatchId, state: &mut State, report: &mut SubmitReport) {
        let first = self.pending.iter().position(|p| p.id >= id);
        let Some(back) = first.and_then(|first| self.pending.drain(first..).next()) else {
            return self.settle();
        };
        for (register, old) in self.undo.drain(back.undo..).rev() {
            state.registers.restore(register, old);
        }
        state.machine = back.machine;
        report.refusals.truncate(back.refusals);
        report.work = back.work;
    }
}
