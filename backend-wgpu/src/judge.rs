//! What a job's status says: whether its launches took effect, what is missing, what went wrong.

use std::ops::Range;

use guestwave_cp::{AccessKind, GuestMemory, MemoryFault, canonical};
use guestwave_translate::backend::codes::{BUDGET, HOST_LOOPS};
use guestwave_translate::backend::{Launch, LaunchFault};
use guestwave_translate::naga::layout::{NONE, PAGE_BYTES, flag, status};
use guestwave_translate::naga::{Site, SiteKind};
use guestwave_translate::program::eval;

use crate::codes;
use crate::gpu::Outcome;
use crate::marks::{meet, runs, union};
use crate::prepare::{Extra, Given, Maker};
use crate::windows::Window;

/// Lanes of a launch, and loop iterations of a wave, that are gone through again to find out which access faulted first.
const MOST_LANES_AGAIN: u64 = 1 << 14;
const MOST_ITERATIONS_AGAIN: u64 = 1 << 10;
/// Missed pages of a program that are remembered.
const MOST_MISSED: usize = 64;

/// What is to be done after a job.
pub(crate) enum Verdict {
    /// All took effect; for each launch the guest ranges it stored.
    Good(Vec<Vec<Range<u64>>>),
    /// Something was missing and has been provided: once more.
    Again,
    /// This launch had no effect, nor any after it.
    Fault(usize, LaunchFault),
    /// Launches from this one on were prepared with what earlier ones have changed.
    Cut(usize),
}

/// What a launch's record says.
struct Details {
    flags: u32,
    site: Option<Site>,
    address: u64,
    size: u32,
}

fn details(outcome: &Outcome, given: &Given, launch: usize) -> Details {
    let start = (status::RECORDS + launch as u32 * status::WORDS) as usize;
    let word = |at: u32| outcome.status.get(start + at as usize).copied().unwrap_or(0);
    Details {
        flags: word(status::FLAGS),
        site: given.sites.get(word(status::SITE) as usize).copied(),
        address: u64::from(word(status::LOW)) | u64::from(word(status::HIGH)) << 32,
        size: word(status::SIZE),
    }
}

impl Details {
    fn has(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    /// The kind of access to guest memory that it speaks of, if it speaks of one.
    fn access(&self) -> Option<(AccessKind, u32)> {
        let site = self.site.filter(|s| s.global)?;
        let kind = match site.kind {
            SiteKind::Read => AccessKind::Read,
            SiteKind::Write => AccessKind::Write,
            SiteKind::Atomic => AccessKind::Atomic,
            SiteKind::Trap(_) | SiteKind::Loop => return None,
        };
        Some((kind, site.pc))
    }
}

/// What a list of notes in the status says.
fn notes(outcome: &Outcome, start: u32) -> impl Iterator<Item = u64> {
    let all = outcome.status.iter().skip(start as usize).take(status::MISS_PLACES as usize);
    all.filter(|w| **w != 0).map(|w| u64::from(*w - 1))
}

/// Guest ranges that each launch stored.
pub(crate) fn stored(outcome: &Outcome, given: &[Given]) -> Vec<Vec<Range<u64>>> {
    given.iter().map(|g| union(launch_stored(outcome, g))).collect()
}

fn launch_stored(outcome: &Outcome, given: &Given) -> Vec<Range<u64>> {
    let marks = |start: u32, words: u64| {
        let start = start as usize;
        outcome.marks.get(start..start + words as usize).unwrap_or_default()
    };
    let windows = given.windows.iter().flatten().filter(|w| w.uses.writes);
    let slots = windows.flat_map(|w: &Window| {
        runs(marks(w.marks, w.mark_words()), w.range.start, w.range.end - w.range.start)
    });
    let pages = given
        .paged
        .iter()
        .flat_map(|(page, start)| runs(marks(*start, PAGE_BYTES / 32), page * PAGE_BYTES, PAGE_BYTES));
    slots.chain(pages).collect()
}

impl Maker<'_> {
    /// Judges a job's outcome.
    pub(crate) fn judge(
        &mut self,
        launches: &[Launch],
        given: &[Given],
        outcome: &Outcome,
        extra: &mut Extra,
    ) -> Verdict {
        let stored = stored(outcome, given);
        let stop = outcome.status.get(status::STOP as usize).copied().unwrap_or(NONE);
        if stop != NONE {
            // What was stored is not so: the arena is to be as before.
            stored.iter().flatten().for_each(|r| self.residency.stale(r.clone()));
            let stop = (stop as usize).min(launches.len() - 1);
            return self.stopped(launches, given, outcome, stop, extra);
        }
        let verdict = match cut(given, &stored) {
            Some(at) => Verdict::Cut(at),
            None if self.stored_to_hoisted(launches, given, &stored) => Verdict::Again,
            None => return Verdict::Good(stored),
        };
        stored.iter().flatten().for_each(|r| self.residency.stale(r.clone()));
        verdict
    }

    /// Whether a launch stored to what the host had loaded for it, which it is not to do again.
    fn stored_to_hoisted(
        &mut self,
        launches: &[Launch],
        given: &[Given],
        stored: &[Vec<Range<u64>>],
    ) -> bool {
        let mut any = false;
        for ((launch, given), stored) in launches.iter().zip(given).zip(stored) {
            if meet(&given.hoisted_ranges, stored)
                && let Some(entry) = self.entries.get_mut(&launch.program)
            {
                entry.stores_to_hoisted = true;
                any = true;
            }
        }
        any
    }

    fn stopped(
        &mut self,
        launches: &[Launch],
        given: &[Given],
        outcome: &Outcome,
        stop: usize,
        extra: &mut Extra,
    ) -> Verdict {
        let (program, launch, given) = (launches[stop].program, &launches[stop], &given[stop]);
        let alike: Vec<bool> = launches.iter().map(|l| l.program == program).collect();
        let details = details(outcome, given, stop);
        if details.flags == 0 && self.entries.get_mut(&program).is_some_and(|e| e.speak()) {
            return Verdict::Again;
        }
        let again = if details.has(flag::MISS | flag::INDIRECT) {
            self.provide_pages(launch, given, outcome, extra) || self.go_general(launch, &details)
        } else if details.has(flag::MARK_MISS) {
            self.provide_marks(outcome, (stop, &alike), extra)
        } else {
            self.change_way(launch, &details)
        };
        if again { Verdict::Again } else { Verdict::Fault(stop, self.fault(launch, &details)) }
    }

    /// Notes pages that were missed. Says whether any can be brought in.
    fn provide_pages(
        &mut self,
        launch: &Launch,
        given: &Given,
        outcome: &Outcome,
        extra: &mut Extra,
    ) -> bool {
        let mut progress = false;
        for page in notes(outcome, status::MISSES) {
            progress |= self.widen(launch, given, page);
            if !self.residency.has(page) && any_mapped(page, self.memory) && extra.pages.insert(page) {
                progress = true;
                if let Some(entry) = self.entries.get_mut(&launch.program)
                    && entry.missed.len() < MOST_MISSED
                {
                    entry.missed.insert(page);
                }
            }
        }
        progress
    }

    /// Takes the general way of accesses, or looks closer at a page, where something was missed that is there. Says whether that
    /// is new.
    fn go_general(&mut self, launch: &Launch, details: &Details) -> bool {
        let Some(entry) = self.entries.get_mut(&launch.program) else { return false };
        let there = match details.access() {
            Some((kind, _)) => first_absent(details, kind, self.memory).is_none(),
            None => true,
        };
        // Units off their natural places go the general way, in a window or not.
        let natural = details.access().is_some() && details.address.is_multiple_of(4);
        if there && natural && !entry.astray && entry.guessed() {
            entry.astray = true;
            return true;
        }
        if there && !entry.general {
            entry.general = true;
            return true;
        }
        there && details.access().is_some() && self.residency.look_closer(details.address / PAGE_BYTES)
    }

    /// Widens the windows of slots of unknown size that a missed page lies behind.
    fn widen(&mut self, launch: &Launch, given: &Given, page: u64) -> bool {
        let Some(entry) = self.entries.get_mut(&launch.program) else { return false };
        let mut progress = false;
        for (i, window) in given.windows.iter().enumerate() {
            let Some(window) = window else { continue };
            let open = entry.program.slots.get(i).is_some_and(|s| s.size.is_none());
            let behind = page * PAGE_BYTES + PAGE_BYTES > window.range.end;
            let mapped = self.memory.mapping(window.range.start);
            let within = mapped.is_some_and(|m| m.contains(&(page * PAGE_BYTES)) && m.end > window.range.end);
            if open && behind && within {
                let wanted = (page + 1) * PAGE_BYTES - window.range.start;
                let most = self.residency.most_bytes() / 4;
                let reach = wanted.max((window.range.end - window.range.start) * 4).min(most);
                if let Some(known) = entry.reaches.get_mut(i)
                    && reach > *known
                {
                    *known = reach;
                    progress = true;
                }
            }
        }
        progress
    }

    /// Notes pages whose marks a launch missed, for those after it too that are `alike`. Says whether any can have some.
    fn provide_marks(
        &mut self,
        outcome: &Outcome,
        (launch, alike): (usize, &[bool]),
        extra: &mut Extra,
    ) -> bool {
        let mut progress = false;
        for arena_page in notes(outcome, status::MARK_MISSES) {
            if let Some(page) = self.residency.guest_page(arena_page as u32)
                && writable(page, self.memory)
            {
                let after = extra.paged.iter_mut().zip(alike).skip(launch).filter(|(_, alike)| **alike);
                let added = after.map(|(paged, _)| paged.insert(page)).collect::<Vec<_>>();
                progress |= added.first() == Some(&true);
            }
        }
        progress
    }

    /// Takes another way of running the program. Says whether there is one.
    fn change_way(&mut self, launch: &Launch, details: &Details) -> bool {
        let Some(entry) = self.entries.get_mut(&launch.program) else { return false };
        let before = (entry.careful, entry.general);
        entry.careful |= details.has(flag::ESCAPE);
        let reordered = details.has(flag::ORDER) && entry.keep_order();
        entry.general |= details.has(flag::RACE);
        let goes_on = details.has(flag::HOST_LOOPS) && !details.has(flag::BUDGET) && entry.go_on();
        reordered || goes_on || before != (entry.careful, entry.general)
    }

    /// The fault that comes first in the guest's order, of a launch that is small enough to be gone through again. On the device many
    /// lanes may fault at once, and any of them may be the one that the record speaks of.
    fn first_fault(&self, launch: &Launch, details: &Details) -> Option<LaunchFault> {
        let program = &self.entries.get(&launch.program)?.program;
        let lanes = u64::from(launch.waves) * u64::from(program.wave_lanes);
        let of_lanes = details.has(flag::MISS | flag::INDIRECT | flag::MARK_MISS | flag::TRAP);
        if !of_lanes || lanes > MOST_LANES_AGAIN {
            return None;
        }
        let launch = Launch { budget: launch.budget.min(MOST_ITERATIONS_AGAIN), ..launch.clone() };
        let fault = eval::first_fault(program, &launch, self.memory)?;
        (fault.code != BUDGET).then_some(fault)
    }

    fn fault(&self, launch: &Launch, details: &Details) -> LaunchFault {
        if let Some(fault) = self.first_fault(launch, details) {
            return fault;
        }
        let id = launch.id;
        let plain = |code, text: &str| LaunchFault { id, code, text: text.into(), pc: None, fault: None };
        if let (Some((kind, pc)), true) =
            (details.access(), details.has(flag::MISS | flag::INDIRECT | flag::MARK_MISS))
        {
            let address = first_absent(details, kind, self.memory).unwrap_or(details.address);
            return LaunchFault::memory(id, pc, MemoryFault { address, size: u64::from(details.size), kind });
        }
        match details.site.map(|s| (s.kind, s.pc)) {
            Some((SiteKind::Trap(code), pc)) => LaunchFault::trap(id, code, pc),
            _ if details.has(flag::BUDGET) => LaunchFault::budget(id, launch.budget),
            _ if details.has(flag::HOST_LOOPS) => plain(
                HOST_LOOPS,
                "the device ends loops by itself after a number of iterations that this program would reach; run it on \
                 another backend or device",
            ),
            _ => plain(codes::ORDER, "the order of lanes that it needs could not be kept"),
        }
    }
}

/// The first byte of an access that is not there for it.
fn first_absent(details: &Details, kind: AccessKind, memory: &dyn GuestMemory) -> Option<u64> {
    let there = |a: u64| {
        let writable = kind == AccessKind::Read || memory.host_span(a).is_none_or(|s| s.writable);
        memory.mapping(a).is_some() && writable
    };
    let bytes = details.address..details.address + u64::from(details.size);
    bytes.map(canonical).find(|a| !there(*a))
}

/// The first launch that was prepared with guest memory that an earlier one has stored to.
fn cut(given: &[Given], stored: &[Vec<Range<u64>>]) -> Option<usize> {
    let mut before: Vec<Range<u64>> = Vec::new();
    for (i, (g, s)) in given.iter().zip(stored).enumerate() {
        if meet(&g.traced, &before) {
            return Some(i);
        }
        if !s.is_empty() {
            before.extend_from_slice(s);
            before = union(before);
        }
    }
    None
}

/// Whether any byte of a page is mapped.
fn any_mapped(page: u64, memory: &dyn GuestMemory) -> bool {
    let start = page * PAGE_BYTES;
    let probes = (start..start + PAGE_BYTES).step_by(256).chain([start + PAGE_BYTES - 1]);
    probes.into_iter().any(|a| memory.mapping(a).is_some())
}

/// Whether a page may be stored to, as far as the embedder says.
fn writable(page: u64, memory: &dyn GuestMemory) -> bool {
    let start = page * PAGE_BYTES;
    let probes = (start..start + PAGE_BYTES).step_by(4096);
    let spans: Vec<_> = probes.filter_map(|a| memory.host_span(a)).collect();
    spans.is_empty() || spans.iter().any(|s| s.writable)
}
