//! A launch's waves, workgroup by workgroup.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use guestwave_translate::backend::{Launch, LaunchDone, LaunchFault};
use guestwave_translate::program::Program;

use super::parallel::{may_split, run_split};
use super::worker::{Given, Pool, Worker};
use crate::jit::Compiled;
use crate::lower::status;
use crate::plan::Sharing;

/// A compiled program and the program it was.
pub(crate) struct Ready {
    /// Its number among all that is compiled.
    pub(crate) number: usize,
    pub(crate) program: std::sync::Arc<Program>,
    pub(crate) compiled: Compiled,
    /// Whether its waves may run at the same time.
    pub(crate) sharing: Sharing,
    /// Waves were found to depend on each other.
    pub(crate) in_order: AtomicBool,
}

impl Ready {
    /// Lanes of a wave that may be alive, the first ones.
    fn alive(&self, launch: &Launch, wave: u32) -> u64 {
        let all = u64::from(self.program.wave_lanes);
        self.compiled.tail.map_or(all, |tail| tail.alive(&launch.params, wave, all))
    }
}

/// The threads that share large launches.
pub(crate) struct Threads {
    /// What each leaves for the next launch.
    pub(super) pools: Vec<Pool>,
    /// Waves from which on a launch is large.
    pub(super) least_waves: u32,
    /// Launches that they shared.
    pub(crate) shared: u64,
}

impl Threads {
    /// `threads` threads for launches of `least_waves` waves and more.
    pub(crate) fn new(threads: usize, least_waves: u32) -> Self {
        Threads { pools: (0..threads).map(|_| Pool::default()).collect(), least_waves, shared: 0 }
    }
}

/// Most waves of a workgroup; more than any guest has.
const MAX_GROUP_WAVES: u32 = 1024;

/// Runs a launch; on a fault guest memory is as it was.
pub(crate) fn run<'m>(
    worker: &mut Worker<'m>,
    threads: &mut Threads,
    ready: &'m Ready,
    launch: &'m Launch,
) -> Result<LaunchDone, LaunchFault> {
    let frames = check(ready, launch).map_err(|what| LaunchFault::launch(launch.id, what))? as usize;
    if may_split(ready, launch, threads)
        && let Some(done) = run_split(worker.memory, &mut threads.pools, ready, launch, frames)
    {
        threads.shared += 1;
        return Ok(done);
    }
    worker.give(given(ready, launch), frames, ready.compiled.frame_bytes);
    let run = Run { ready, launch };
    if let Err(fault) = run.groups(worker) {
        worker.windows().revert();
        return Err(fault);
    }
    let stored = worker.commit().map_err(|fault| LaunchFault::memory(launch.id, 0, fault))?;
    Ok(LaunchDone { id: launch.id, stored })
}

/// Waves whose frames are wanted at the same time, if the launch fits the program.
fn check(ready: &Ready, launch: &Launch) -> Result<u32, &'static str> {
    if launch.params.len() < ready.program.params.len() {
        return Err("its parameter block is too short");
    }
    if ready.compiled.resumes == 0 {
        return Ok(1);
    }
    let largest = match &launch.group_waves {
        Some(waves) => waves.iter().copied().max().unwrap_or(1),
        None => launch.waves_per_group,
    };
    match largest.clamp(1, launch.waves.max(1)) {
        n if n <= MAX_GROUP_WAVES => Ok(n),
        _ => Err("a workgroup has more than 1024 waves"),
    }
}

pub(super) fn given<'m>(ready: &'m Ready, launch: &'m Launch) -> Given<'m> {
    Given {
        program: ready.number,
        sites: &ready.compiled.lowered.sites,
        params: &launch.params,
        params_read: ready.program.params.len(),
        tables: &launch.tables,
        lds_bytes: ready.program.lds_bytes as usize,
        scratch_bytes: ready.program.scratch_bytes as usize,
        lanes: usize::from(ready.program.wave_lanes),
    }
}

pub(super) struct Run<'m> {
    pub(super) ready: &'m Ready,
    pub(super) launch: &'m Launch,
}

/// A wave that is not running.
#[derive(Clone, Copy)]
struct Wave {
    /// Number in the dispatch.
    number: u32,
    /// Number in its workgroup.
    in_group: u32,
    /// Number of its frame and scratch.
    slot: usize,
    /// Loop iterations that it has left.
    budget: u64,
}

impl Run<'_> {
    fn groups(&self, worker: &mut Worker<'_>) -> Result<(), LaunchFault> {
        let (mut first, mut number) = (0, 0);
        while first < self.launch.waves {
            let waves = self.group_waves(number).clamp(1, self.launch.waves - first);
            self.group(worker, number, first..first + waves)?;
            first += waves;
            number += 1;
        }
        Ok(())
    }

    fn group_waves(&self, group: u32) -> u32 {
        match &self.launch.group_waves {
            Some(waves) => waves.get(group as usize).copied().unwrap_or(1),
            None => self.launch.waves_per_group,
        }
    }

    /// Runs the waves of a workgroup, from barrier to barrier if there are any.
    pub(super) fn group(
        &self,
        worker: &mut Worker<'_>,
        group: u32,
        waves: Range<u32>,
    ) -> Result<(), LaunchFault> {
        worker.start_group(group);
        let meet = self.ready.compiled.resumes > 0;
        let mut waiting = Vec::new();
        for (in_group, number) in (0..).zip(waves) {
            let slot = if meet { in_group as usize } else { 0 };
            let mut wave = Wave { number, in_group, slot, budget: self.launch.budget };
            if self.start(worker, &mut wave)? {
                waiting.push(wave);
            }
        }
        while !waiting.is_empty() {
            let mut still = Vec::new();
            for mut wave in waiting {
                if self.resume(worker, &mut wave)? {
                    still.push(wave);
                }
            }
            waiting = still;
        }
        Ok(())
    }

    /// Starts a wave; gives whether it waits at a barrier.
    fn start(&self, worker: &mut Worker<'_>, wave: &mut Wave) -> Result<bool, LaunchFault> {
        let compiled = &self.ready.compiled;
        worker.own.frames.clear_part(wave.slot * compiled.frame_bytes, compiled.zeroed_bytes);
        worker.clear_scratch(wave.slot);
        self.resume(worker, wave)
    }

    fn resume(&self, worker: &mut Worker<'_>, wave: &mut Wave) -> Result<bool, LaunchFault> {
        let compiled = &self.ready.compiled;
        let alive = self.ready.alive(self.launch, wave.number);
        worker.turn_to((wave.number, wave.in_group), alive, wave.slot);
        worker.own.context.budget = wave.budget;
        let status = compiled.code.run(worker, wave.slot * compiled.frame_bytes, compiled.frame_bytes);
        wave.budget = worker.own.context.budget;
        match status {
            status::ENDED => Ok(false),
            status::BARRIER => Ok(true),
            status => Err(self.fault(worker, status)),
        }
    }

    fn fault(&self, worker: &mut Worker<'_>, status: u32) -> LaunchFault {
        let id = self.launch.id;
        let trap = status.checked_sub(status::TRAP);
        let trap = trap.and_then(|t| self.ready.compiled.lowered.traps.get(t as usize));
        match (status, trap, worker.take_fault()) {
            (status::BUDGET, ..) => LaunchFault::budget(id, self.launch.budget),
            (_, Some((code, pc)), _) => LaunchFault::trap(id, code, *pc),
            (_, _, Some(f)) => LaunchFault::memory(id, f.pc, f.fault),
            _ => LaunchFault::launch(id, "it lacks what its program reads"),
        }
    }
}
