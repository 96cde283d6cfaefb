//! Valhall dispatches on the reference interpreter: thread by thread, in the order of their numbers.

use guestwave_cp::mali::job::environment::{self, Environment};
use guestwave_cp::{Completed, ExactDispatch, GuestMemory, ScalarRule};
use guestwave_isa::mali::valhall::interp::{
    self, BusFault, CodeCache, Hidden, REGISTERS, Stop, StopKind, run_thread,
};

use super::ExecutorError;
use super::grid::Groups;
use super::overlay::Overlay;
use super::reference::Failure;
use super::rules::wave_init;

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Failure::Valhall(stop)
    }
}

/// Runs a dispatch; what it stored reaches memory only if its last thread ends well.
pub(super) fn run(
    dispatch: &ExactDispatch,
    memory: &dyn GuestMemory,
    steps: u64,
) -> Result<Completed, Failure> {
    let env = environment(dispatch);
    let mut overlay = Overlay::new(memory);
    let mut code = CodeCache::new(dispatch.program.address);
    let mut budget = steps;
    let mut completed = Completed::default();
    for wave in Groups::new(dispatch)?.flatten() {
        completed.waves += 1;
        let init = wave_init(dispatch, &wave);
        for lane in (0..64).take_while(|lane| init.exec >> lane & 1 != 0) {
            let mut registers = [0; REGISTERS];
            for (register, lanes) in registers.iter_mut().zip(&init.vgprs) {
                *register = lanes.get(lane).copied().unwrap_or(0);
            }
            let end = run_thread(&mut code, &env, registers, &mut overlay, &mut budget)?;
            completed.instructions += end.instructions;
            completed.inexact.extend(end.inexact);
            completed.inexact.sort_unstable();
            completed.inexact.dedup();
        }
    }
    completed.stored = overlay.commit().map_err(|fault| ExecutorError::Commit { fault })?;
    Ok(completed)
}

/// The environment that a dispatch's words carry.
fn environment(dispatch: &ExactDispatch) -> interp::Environment {
    let mut words = [0; environment::WORDS];
    for (word, rule) in words.iter_mut().zip(&dispatch.sgprs) {
        *word = if let ScalarRule::Word(w) = rule { *w } else { 0 };
    }
    let env = Environment::of(words);
    interp::Environment {
        fau: env.fau,
        fau_words: env.fau_words,
        resources: env.resources,
        tables: env.tables,
        attribute_offset: env.attribute_offset,
        hidden: Hidden { address: env.packets, stride: env.packet_stride },
        colours: env.colours,
    }
}

/// The access that stopped a thread, if one did.
pub(super) fn bus_fault(kind: &StopKind) -> Option<BusFault> {
    match kind {
        StopKind::CodeFault { fault } | StopKind::MemoryFault { fault } => Some(*fault),
        _ => None,
    }
}
