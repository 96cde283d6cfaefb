//! One launch on several threads, for programs whose waves do not depend on each other.
//!
//! Threads take workgroups in runs, in order. Each keeps its own windows. Afterwards all that was stored is held against each
//! other and against what was loaded; if anything meets, or a wave did not come to its end, everything is put back, and the
//! launch runs again in wave order.
//!
//! Windows of two threads may lie on each other. A later one may have saved what an earlier one stored, so they are
//! put back from the last that was opened to the first.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use guestwave_cp::GuestMemory;
use guestwave_translate::backend::{Launch, LaunchDone};

use super::launch::{Ready, Run, Threads, given};
use super::spans::Spans;
use super::windows::{Openings, Windows, revert};
use super::worker::{Pool, Worker};

/// Waves that a thread takes at once.
const RUN_WAVES: u32 = 256;

/// What a thread leaves.
pub(super) struct Part<'m> {
    pub(super) windows: Windows<'m>,
    /// Behind the windows.
    pub(super) spans: Spans<'m>,
    /// Ranges that sites loaded from.
    pub(super) loads: Vec<(u32, Range<u64>)>,
    /// Whether a wave did not come to its end.
    failed: bool,
}

/// Whether a launch may be tried on several threads.
pub(super) fn may_split(ready: &Ready, launch: &Launch, threads: &Threads) -> bool {
    threads.pools.len() > 1
        && launch.waves >= threads.least_waves
        && launch.group_waves.is_none()
        && ready.sharing.splits
        && !ready.in_order.load(Ordering::Relaxed)
}

/// Runs a launch on as many threads as there are pools; `None` if it had to be taken back and must run in wave order.
pub(super) fn run_split(
    memory: &dyn GuestMemory,
    pools: &mut [Pool],
    ready: &Ready,
    launch: &Launch,
    frames: usize,
) -> Option<LaunchDone> {
    let openings = Openings::default();
    let work = Work {
        memory,
        ready,
        launch,
        frames,
        openings: &openings,
        next: AtomicU32::new(pools.len() as u32),
        stop: AtomicBool::new(false),
    };
    let mut parts: Vec<Part<'_>> = std::thread::scope(|scope| {
        let work = &work;
        let threads = (0..).zip(pools.iter_mut()).map(|(i, pool)| scope.spawn(move || work.part(i, pool)));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let stored = if parts.iter().any(|p| p.failed) { None } else { apart(&parts, ready) };
    match &stored {
        Some(stored) => stored.iter().for_each(|run| memory.wrote_in_place(run.clone())),
        None => revert(parts.iter().map(|p| &p.windows)),
    }
    parts.iter_mut().for_each(|p| p.windows.close());
    for (part, pool) in parts.into_iter().zip(pools) {
        pool.take_back(part.windows, part.spans);
    }
    if stored.is_none() {
        ready.in_order.store(true, Ordering::Relaxed);
    }
    stored.map(|stored| LaunchDone { id: launch.id, stored })
}

/// What the threads share.
struct Work<'m> {
    memory: &'m dyn GuestMemory,
    ready: &'m Ready,
    launch: &'m Launch,
    /// Waves of a workgroup whose frames are wanted at the same time.
    frames: usize,
    openings: &'m Openings,
    /// The next run of workgroups.
    next: AtomicU32,
    stop: AtomicBool,
}

impl<'m> Work<'m> {
    /// The part of thread `thread`.
    fn part(&self, thread: u32, pool: &mut Pool) -> Part<'m> {
        let mut worker = Worker::new(self.memory, pool);
        worker.share(self.openings);
        worker.give(given(self.ready, self.launch), self.frames, self.ready.compiled.frame_bytes);
        let failed = !self.run(thread, &mut worker);
        if failed {
            self.stop.store(true, Ordering::Relaxed);
        }
        let (windows, spans, loads) = worker.into_parts(pool);
        Part { windows, spans, loads, failed }
    }

    /// Takes the run of workgroups that has the thread's number, then others until there are none left; gives whether all
    /// waves came to their end.
    fn run(&self, thread: u32, worker: &mut Worker<'m>) -> bool {
        let per_group = self.launch.waves_per_group.max(1);
        let groups = self.launch.waves.div_ceil(per_group);
        let each = (RUN_WAVES / per_group).max(1);
        let run = Run { ready: self.ready, launch: self.launch };
        let mut taken = thread;
        while !self.stop.load(Ordering::Relaxed) {
            let first = taken.saturating_mul(each);
            if first >= groups {
                return true;
            }
            for group in first..groups.min(first.saturating_add(each)) {
                let start = group * per_group;
                let waves = start..self.launch.waves.min(start.saturating_add(per_group));
                if run.group(worker, group, waves).is_err() {
                    return false;
                }
            }
            taken = self.next.fetch_add(1, Ordering::Relaxed);
        }
        false
    }
}

/// What all threads stored, sorted and disjoint, if nothing that one did could depend on another.
fn apart(parts: &[Part<'_>], ready: &Ready) -> Option<Vec<Range<u64>>> {
    if parts.iter().any(|p| p.windows.has_copies()) {
        return None;
    }
    let mut runs: Vec<Range<u64>> = parts.iter().flat_map(|p| p.windows.stored()).collect();
    runs.sort_by_key(|r| r.start);
    let mut stored: Vec<Range<u64>> = Vec::new();
    for run in runs {
        match stored.last_mut() {
            Some(last) if run.start < last.end && !ready.sharing.meets => return None,
            Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
            _ => stored.push(run),
        }
    }
    let loads = parts.iter().flat_map(|p| &p.loads);
    let met = loads.filter(|(site, _)| !is_own(ready, *site)).any(|(_, range)| meets(&stored, range));
    (!met).then_some(stored)
}

fn is_own(ready: &Ready, site: u32) -> bool {
    let access = ready.compiled.lowered.sites.get(site as usize).map(|s| (s.access.address, s.access.valid));
    access.is_some_and(|a| ready.sharing.own.contains(&a))
}

/// Whether any of the sorted ranges has a byte of `range`.
fn meets(sorted: &[Range<u64>], range: &Range<u64>) -> bool {
    let at = sorted.partition_point(|r| r.end <= range.start);
    sorted.get(at).is_some_and(|r| r.start < range.end)
}
