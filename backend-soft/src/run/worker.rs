//! One thread's run of a launch: the state that generated code works on, and the accesses that it leaves to helpers.

use std::ops::Range;

use guestwave_cp::{AccessKind, GuestMemory, MemoryFault, canonical};

use super::places::{Good, Places};
use super::spans::Spans;
use super::windows::{Openings, Spare, Windows};
use crate::lower::SiteInfo;
use crate::raw::{Buffer, Desk, KeptSpans};

/// What a worker leaves for the next one.
#[derive(Default)]
pub(crate) struct Pool {
    buffers: Option<Box<Buffers>>,
    windows: Spare,
    spans: KeptSpans,
}

impl Pool {
    /// Takes back what the windows of a launch used, and the spans behind them.
    pub(super) fn take_back(&mut self, windows: Windows<'_>, spans: Spans<'_>) {
        self.windows = windows.into_spare();
        self.spans = spans.into_kept();
    }
}

/// What a worker works with, whatever memory it is for.
pub(crate) struct Buffers {
    /// What generated code works on.
    pub(crate) context: Desk,
    /// Frames of the waves of a workgroup.
    pub(crate) frames: Buffer<u8>,
    pub(super) lds: Buffer<u8>,
    pub(super) scratch: Buffer<u8>,
    pub(super) places: Places,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers {
            context: Desk::default(),
            frames: Buffer::zeroed(0),
            lds: Buffer::zeroed(0),
            scratch: Buffer::zeroed(0),
            places: Places::default(),
        }
    }
}

/// An access that ends the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte offset of the guest instruction.
    pub(crate) pc: u32,
    /// The access.
    pub(crate) fault: MemoryFault,
}

/// The marker that a helper refused; the worker holds the fault.
#[derive(Debug)]
pub(crate) struct Refused;

/// What a launch gives its waves.
#[derive(Clone, Copy)]
pub(crate) struct Given<'m> {
    /// The program's number.
    pub(crate) program: usize,
    /// The program's accesses.
    pub(crate) sites: &'m [SiteInfo],
    /// The parameter block.
    pub(crate) params: &'m [u32],
    /// Words that the program reads of it.
    pub(crate) params_read: usize,
    /// The tables.
    pub(crate) tables: &'m [u32],
    /// Bytes of LDS of a workgroup.
    pub(crate) lds_bytes: usize,
    /// Bytes of scratch of a lane.
    pub(crate) scratch_bytes: usize,
    /// Lanes of a wave.
    pub(crate) lanes: usize,
}

/// A thread's state.
pub(crate) struct Worker<'m> {
    /// What it works with.
    pub(crate) own: Box<Buffers>,
    pub(super) given: Given<'m>,
    pub(super) memory: &'m dyn GuestMemory,
    pub(super) spans: Spans<'m>,
    pub(super) windows: Windows<'m>,
    fault: Option<Fault>,
    /// Ranges that sites loaded from, where it matters.
    pub(super) loads: Option<Vec<(u32, Range<u64>)>>,
    /// Which of the workgroup's frames and scratches is in use.
    pub(super) slot: usize,
}

pub(super) type Helped = Result<(), Refused>;

impl<'m> Worker<'m> {
    /// A worker with nothing given yet.
    pub(crate) fn new(memory: &'m dyn GuestMemory, pool: &mut Pool) -> Self {
        let spans = Spans::new(memory, std::mem::take(&mut pool.spans));
        Worker {
            own: pool.buffers.take().unwrap_or_default(),
            given: Given {
                program: 0,
                sites: &[],
                params: &[],
                params_read: 0,
                tables: &[],
                lds_bytes: 0,
                scratch_bytes: 0,
                lanes: 0,
            },
            memory,
            windows: Windows::new(std::mem::take(&mut pool.windows), spans.epoch()),
            spans,
            fault: None,
            loads: None,
            slot: 0,
        }
    }

    /// Leaves what the next worker can use.
    pub(crate) fn retire(self, pool: &mut Pool) {
        let (windows, spans, _) = self.into_parts(pool);
        pool.take_back(windows, spans);
    }

    /// Leaves all but the windows and the spans for the next worker; gives these, and what was loaded.
    pub(super) fn into_parts(self, pool: &mut Pool) -> (Windows<'m>, Spans<'m>, Vec<(u32, Range<u64>)>) {
        let Worker { own, windows, spans, loads, .. } = self;
        pool.buffers = Some(own);
        (windows, spans, loads.unwrap_or_default())
    }

    /// Prepares for a launch that other threads run as well.
    pub(super) fn share(&mut self, openings: &'m Openings) {
        self.windows.share(openings);
        self.loads = Some(Vec::new());
    }

    /// Notes that a site loads from a span.
    pub(super) fn note_load(&mut self, site: u32, span: Range<u64>) {
        if let Some(loads) = &mut self.loads
            && !loads.iter().any(|(s, r)| *s == site && *r == span)
        {
            loads.push((site, span));
        }
    }

    /// Prepares for a launch whose workgroups have up to `waves` waves with frames of `frame_bytes` bytes.
    pub(crate) fn give(&mut self, given: Given<'m>, waves: usize, frame_bytes: usize) {
        self.own.frames.at_least(waves.saturating_mul(frame_bytes));
        self.own.lds.at_least(given.lds_bytes);
        self.own.scratch.at_least(waves.saturating_mul(given.lanes * given.scratch_bytes));
        self.windows.begin();
        let good = Good { spans: self.spans.epoch(), windows: self.windows.closings() };
        let sites = self.own.places.turn_to(given.program, given.sites, good);
        self.given = given;
        if self.loads.is_some() {
            // A site that knows its place would not tell what it loads.
            self.own.places.forget(|_| true);
        }
        self.fault = None;
        let context = &mut self.own.context;
        context.params = given.params.as_ptr();
        context.tables = given.tables.as_ptr();
        context.tables_bytes = 4 * given.tables.len() as u64;
        context.lds = self.own.lds.start();
        context.sites = sites;
    }

    /// Starts a workgroup: its LDS is 0.
    pub(crate) fn start_group(&mut self, group: u32) {
        self.own.context.group = group;
        self.own.lds.clear_part(0, self.given.lds_bytes);
    }

    /// Clears scratch number `slot` for a wave that starts.
    pub(crate) fn clear_scratch(&mut self, slot: usize) {
        let bytes = self.given.lanes * self.given.scratch_bytes;
        self.own.scratch.clear_part(slot * bytes, bytes);
    }

    /// Turns to a wave of the workgroup, of which the first `alive` lanes may be alive and whose scratch is number `slot`.
    pub(crate) fn turn_to(&mut self, (wave, wave_in_group): (u32, u32), alive: u64, slot: usize) {
        self.own.context.wave = wave;
        self.own.context.alive = alive;
        self.own.context.wave_in_group = wave_in_group;
        self.slot = slot;
        let bytes = self.given.lanes * self.given.scratch_bytes;
        self.own.context.scratch = self.own.scratch.start().wrapping_add(slot * bytes);
    }

    /// Makes the launch's stores final; gives their ranges, sorted and disjoint.
    ///
    /// # Errors
    /// The guest did not take what was stored into a copy; everything is as it was then.
    pub(crate) fn commit(&mut self) -> Result<Vec<Range<u64>>, MemoryFault> {
        self.windows.commit(self.memory)
    }

    /// Whether what was given is too short for the program, so that its code must not run.
    pub(crate) fn refuses_to_run(&self) -> bool {
        let given = &self.given;
        let wave_scratch = given.lanes * given.scratch_bytes;
        let scratch_end = (self.slot + 1).saturating_mul(wave_scratch);
        given.params.len() < given.params_read
            || self.own.lds.len() < given.lds_bytes
            || self.own.scratch.len() < scratch_end
            || self.own.places.len() < given.sites.len()
    }

    /// The fault that a helper noted.
    pub(crate) fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// What the launch stored.
    pub(crate) fn windows(&mut self) -> &mut Windows<'m> {
        &mut self.windows
    }

    pub(super) fn refuse(&mut self, info: &SiteInfo, address: u64, units: u32, kind: AccessKind) -> Refused {
        let size = u64::from(units) * u64::from(info.access.width.bytes());
        let fault = MemoryFault { address: canonical(address), size, kind };
        self.fault = Some(Fault { pc: info.access.pc, fault });
        Refused
    }

    pub(super) fn site(&self, site: u32) -> Result<&'m SiteInfo, Refused> {
        self.given.sites.get(site as usize).ok_or(Refused)
    }
}
