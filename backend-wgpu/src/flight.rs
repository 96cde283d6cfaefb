//! A batch on its way: prepared, run, judged, read back, and taken up where something was missing.

use std::ops::Range;
use std::time::Instant;

use crossbeam_channel::{RecvTimeoutError, TryRecvError};
use guestwave_cp::{AccessKind, GuestMemory, MemoryFault};
use guestwave_translate::backend::{Completion, Launch, LaunchDone, LaunchFault, Ticket};
use guestwave_translate::naga::layout::PAGE_BYTES;

use crate::codes;
use crate::gpu::{Lost, Outcome};
use crate::judge::Verdict;
use crate::marks::union;
use crate::prepare::{Extra, Given, Maker, Unready};
use crate::worker::Reply;

/// Ranges of the arena closer than this are read as one.
const GAP: u64 = 256;

/// A batch on its way.
pub(crate) struct Flight {
    pub(crate) ticket: Ticket,
    launches: Vec<Launch>,
    /// Launches that took effect.
    done: Vec<LaunchDone>,
    /// End of those that run now.
    end: usize,
    /// Why the launch at `end` had no effect.
    fault: Option<LaunchFault>,
    extra: Extra,
    phase: Phase,
    pub(crate) runs: u64,
}

enum Phase {
    /// To be prepared.
    Ready,
    /// On the device.
    Running(Reply<Outcome>, Vec<Given>),
    /// Its stores are being read.
    Fetching(Reply<Vec<u8>>, Readback),
    Ended,
}

/// What is to be read and where it goes.
struct Readback {
    stored: Vec<Vec<Range<u64>>>,
    /// Guest range, and the byte of the read data where it starts.
    pieces: Vec<(Range<u64>, usize)>,
}

/// How long to wait.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// Until then.
    Until(Instant),
}

/// What waiting gave.
enum Waited<T> {
    Got(T),
    NotYet,
}

fn wait<T>(reply: &Reply<T>, patience: Patience) -> Result<Waited<T>, Lost> {
    let gone = || "the device's thread is gone".to_string();
    match patience {
        Patience::None => match reply.try_recv() {
            Ok(got) => got.map(Waited::Got),
            Err(TryRecvError::Empty) => Ok(Waited::NotYet),
            Err(TryRecvError::Disconnected) => Err(gone()),
        },
        Patience::Until(end) => match reply.recv_deadline(end) {
            Ok(got) => got.map(Waited::Got),
            Err(RecvTimeoutError::Timeout) => Ok(Waited::NotYet),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        },
    }
}

impl Flight {
    pub(crate) fn new(ticket: Ticket, launches: Vec<Launch>) -> Self {
        let end = launches.len();
        let phase = if launches.is_empty() { Phase::Ended } else { Phase::Ready };
        Flight {
            ticket,
            launches,
            done: Vec::new(),
            end,
            fault: None,
            extra: Extra::default(),
            phase,
            runs: 0,
        }
    }

    /// Whether the batch has come to its end.
    pub(crate) fn ended(&self) -> bool {
        matches!(self.phase, Phase::Ended)
    }

    /// How the batch ended.
    pub(crate) fn completion(self) -> Completion {
        Completion { done: self.done, fault: self.fault }
    }

    /// Goes on as far as patience lasts.
    pub(crate) fn advance(&mut self, maker: &mut Maker<'_>, patience: Patience) -> Result<(), Lost> {
        loop {
            match std::mem::replace(&mut self.phase, Phase::Ready) {
                Phase::Ended => {
                    self.phase = Phase::Ended;
                    return Ok(());
                }
                Phase::Ready => self.start(maker),
                Phase::Running(reply, given) => match wait(&reply, patience)? {
                    Waited::Got(outcome) => self.judged(maker, &given, &outcome),
                    Waited::NotYet => {
                        self.phase = Phase::Running(reply, given);
                        return Ok(());
                    }
                },
                Phase::Fetching(reply, readback) => match wait(&reply, patience)? {
                    Waited::Got(data) => {
                        self.write_back(maker, readback, &data);
                        maker.worker.recycle(data);
                    }
                    Waited::NotYet => {
                        self.phase = Phase::Fetching(reply, readback);
                        return Ok(());
                    }
                },
            }
        }
    }

    /// Whether there is anything that the device does not do yet.
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Ready)
    }

    fn start(&mut self, maker: &mut Maker<'_>) {
        maker.residency.refresh(maker.memory);
        let first = self.done.len();
        match maker.job(&self.launches[first..self.end], &mut self.extra) {
            Ok((job, given)) => {
                self.runs += 1;
                self.phase = Phase::Running(maker.worker.run(job), given);
            }
            Err(Unready::Launch(at, fault)) => self.stop_at(at, Some(fault)),
            Err(Unready::Full) if self.end - first > 1 => self.stop_at((self.end - first) / 2, None),
            Err(Unready::Full) => {
                let fault = LaunchFault {
                    id: self.launches[first].id,
                    code: codes::ROOM,
                    text: format!(
                        "what the launch reaches does not fit the {} MiB that the device has for guest memory",
                        maker.residency.most_bytes() >> 20
                    ),
                    pc: None,
                    fault: None,
                };
                self.stop_at(0, Some(fault));
            }
        }
    }

    /// Runs only the launches before the one with this number (of those that run now), if there are any.
    fn stop_at(&mut self, number: usize, fault: Option<LaunchFault>) {
        self.end = self.done.len() + number;
        self.extra = Extra::default();
        if fault.is_some() {
            self.fault = fault;
        }
        self.phase = if number == 0 && self.fault.is_some() { Phase::Ended } else { Phase::Ready };
    }

    fn judged(&mut self, maker: &mut Maker<'_>, given: &[Given], outcome: &Outcome) {
        let first = self.done.len();
        let launches = &self.launches[first..self.end];
        match maker.judge(launches, given, outcome, &mut self.extra) {
            Verdict::Again => self.phase = Phase::Ready,
            Verdict::Fault(at, fault) => self.stop_at(at, Some(fault)),
            Verdict::Cut(at) => self.stop_at(at, None),
            Verdict::Good(stored) => {
                if let Some((at, fault)) = read_only(launches, &stored, maker.memory) {
                    stored.iter().flatten().for_each(|r| maker.residency.stale(r.clone()));
                    return self.stop_at(at, Some(fault));
                }
                learn_paged(maker, launches, given, &stored);
                let (ranges, readback) = plan_readback(maker, stored);
                self.phase = Phase::Fetching(maker.worker.fetch(ranges), readback);
            }
        }
    }

    fn write_back(&mut self, maker: &mut Maker<'_>, readback: Readback, data: &[u8]) {
        let first = self.done.len();
        // What others wrote while the launches ran is known before they are written back.
        maker.residency.refresh(maker.memory);
        if let Err(fault) = write_pieces(&readback, data, maker) {
            let meets = |s: &Vec<Range<u64>>| s.iter().any(|r| r.contains(&fault.address));
            let at = readback.stored.iter().position(meets).unwrap_or(0);
            readback.stored.iter().flatten().for_each(|r| maker.residency.stale(r.clone()));
            let fault = LaunchFault::memory(self.launches[first + at].id, 0, fault);
            return self.stop_at(at, Some(fault));
        }
        let done = &self.launches[first..self.end];
        for launch in done {
            if let Some(entry) = maker.entries.get_mut(&launch.program) {
                entry.ran(launch);
            }
        }
        let ids: Vec<_> = done.iter().map(|l| l.id).collect();
        self.done.extend(ids.into_iter().zip(readback.stored).map(|(id, stored)| LaunchDone { id, stored }));
        self.extra = Extra::default();
        if self.fault.is_some() || self.end == self.launches.len() {
            self.phase = Phase::Ended;
        } else {
            self.end = self.launches.len();
            self.phase = Phase::Ready;
        }
    }
}

/// The first launch that stored where the embedder says that nothing may be stored.
fn read_only(
    launches: &[Launch],
    stored: &[Vec<Range<u64>>],
    memory: &dyn GuestMemory,
) -> Option<(usize, LaunchFault)> {
    stored.iter().enumerate().find_map(|(i, ranges)| {
        let bad = ranges.iter().find(|r| memory.host_span(r.start).is_some_and(|s| !s.writable))?;
        let fault = MemoryFault { address: bad.start, size: bad.end - bad.start, kind: AccessKind::Write };
        Some((i, LaunchFault::memory(launches[i].id, 0, fault)))
    })
}

/// Remembers pages that launches stored to other than through slots, so that they have marks at once the next time.
fn learn_paged(maker: &mut Maker<'_>, launches: &[Launch], given: &[Given], stored: &[Vec<Range<u64>>]) {
    const MOST: usize = 256;
    for ((launch, g), ranges) in launches.iter().zip(given).zip(stored) {
        let Some(entry) = maker.entries.get_mut(&launch.program) else { continue };
        let used = |page: &&u64| {
            let range = **page * PAGE_BYTES..(**page + 1) * PAGE_BYTES;
            ranges.iter().any(|r| r.start < range.end && range.start < r.end)
        };
        entry.paged = g.paged.keys().filter(used).take(MOST).copied().collect();
    }
}

/// What to read from the arena for the ranges that were stored.
fn plan_readback(maker: &Maker<'_>, stored: Vec<Vec<Range<u64>>>) -> (Vec<Range<u64>>, Readback) {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut pieces = Vec::new();
    let mut read = 0usize;
    for run in union(stored.iter().flatten().cloned().collect()) {
        for (guest, arena) in in_arena(maker, run) {
            let len = guest.end - guest.start;
            let words = arena / 4 * 4..(arena + len).next_multiple_of(4);
            match ranges.last_mut() {
                Some(last) if last.start <= words.start && words.start <= last.end + GAP => {
                    read -= (last.end - last.start) as usize;
                    last.end = last.end.max(words.end);
                }
                _ => ranges.push(words.clone()),
            }
            let last = ranges.last().cloned().unwrap_or(words);
            pieces.push((guest, read + (arena - last.start) as usize));
            read += (last.end - last.start) as usize;
        }
    }
    (ranges, Readback { stored, pieces })
}

/// Where a guest range lies in the arena, in pieces that lie in one row.
fn in_arena(maker: &Maker<'_>, run: Range<u64>) -> Vec<(Range<u64>, u64)> {
    let mut pieces: Vec<(Range<u64>, u64)> = Vec::new();
    let mut at = run.start;
    while at < run.end {
        let end = ((at / PAGE_BYTES + 1) * PAGE_BYTES).min(run.end);
        if let Some(page) = maker.residency.arena_page(at / PAGE_BYTES) {
            let arena = u64::from(page) * PAGE_BYTES + at % PAGE_BYTES;
            match pieces.last_mut() {
                Some((guest, start)) if guest.end == at && *start + (at - guest.start) == arena => {
                    guest.end = end
                }
                _ => pieces.push((at..end, arena)),
            }
        }
        at = end;
    }
    pieces
}

/// Writes all pieces or, where one cannot be written, none.
fn write_pieces(readback: &Readback, data: &[u8], maker: &mut Maker<'_>) -> Result<(), MemoryFault> {
    let memory = maker.memory;
    if let [(guest, at)] = &readback.pieces[..] {
        let bytes = data.get(*at..*at + (guest.end - guest.start) as usize).unwrap_or_default();
        if let Some(own) = memory.write_since(guest.start, bytes, maker.residency.known_until())? {
            maker.residency.written_back(&own, memory);
        }
        return Ok(());
    }
    // Where the embedder cannot say beforehand what may be written, what is overwritten is kept.
    let mut kept: Vec<(u64, Vec<u8>)> = Vec::new();
    for (guest, at) in &readback.pieces {
        let bytes = data.get(*at..*at + (guest.end - guest.start) as usize).unwrap_or_default();
        if readback.pieces.len() > 1 && memory.host_span(guest.start).is_none() {
            let mut old = vec![0; bytes.len()];
            memory.read(guest.start, &mut old)?;
            kept.push((guest.start, old));
        }
        if let Err(fault) = memory.write(guest.start, bytes) {
            for (address, old) in kept.iter().rev().skip(1) {
                memory.write(*address, old)?;
            }
            return Err(fault);
        }
    }
    Ok(())
}
