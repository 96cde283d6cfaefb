//! A slow, plain evaluator of [`Program`]s: the oracle that backends are compared with.
//!
//! All lanes of a wave go in step under a mask, statement by statement; waves of a workgroup run one after the other from barrier
//! to barrier; workgroups run in order. Stores are laid over guest memory and reach it only if the whole launch ends
//! well. Where the form leaves an order open, this is one of the orders allowed.

mod machine;
mod memory;
pub(super) mod ops;
#[cfg(test)]
pub(crate) mod tests;

use guestwave_cp::GuestMemory;

use self::machine::{Ended, Group, Stop};
use self::memory::Overlay;
use super::Program;
use crate::backend::{Launch, LaunchDone, LaunchFault};

/// Runs one launch of a verified program and stores its effect.
///
/// # Errors
/// The fault that ended it; guest memory is as it was.
pub fn run(program: &Program, launch: &Launch, guest: &dyn GuestMemory) -> Result<LaunchDone, LaunchFault> {
    if launch.params.len() < program.params.len() {
        return Err(LaunchFault::launch(launch.id, "its parameter block is too short"));
    }
    let mut overlay = Overlay::new(guest);
    run_groups(program, launch, &mut overlay).map_err(|stop| fault(launch, stop))?;
    let stored = overlay.commit().map_err(|f| LaunchFault::memory(launch.id, 0, f))?;
    Ok(LaunchDone { id: launch.id, stored })
}

/// The fault that ends a launch of a verified program, if one does; nothing is stored.
pub fn first_fault(program: &Program, launch: &Launch, guest: &dyn GuestMemory) -> Option<LaunchFault> {
    if launch.params.len() < program.params.len() {
        return None;
    }
    run_groups(program, launch, &mut Overlay::new(guest)).err().map(|stop| fault(launch, stop))
}

fn run_groups(program: &Program, launch: &Launch, overlay: &mut Overlay<'_>) -> Result<(), Stop> {
    let (mut first, mut number) = (0, 0);
    while first < launch.waves {
        let waves = group_waves(launch, number).clamp(1, launch.waves - first);
        let mut group = Group::new(program, launch, number, first..first + waves);
        while group.run_to_barrier(overlay)? == Ended::No {}
        first += waves;
        number += 1;
    }
    Ok(())
}

fn group_waves(launch: &Launch, group: u32) -> u32 {
    match &launch.group_waves {
        Some(waves) => waves.get(group as usize).copied().unwrap_or(1),
        None => launch.waves_per_group,
    }
}

fn fault(launch: &Launch, stop: Stop) -> LaunchFault {
    match stop {
        Stop::Memory(pc, fault) => LaunchFault::memory(launch.id, pc, fault),
        Stop::Trap(code, pc) => LaunchFault::trap(launch.id, code, pc),
        Stop::Budget => LaunchFault::budget(launch.id, launch.budget),
    }
}
