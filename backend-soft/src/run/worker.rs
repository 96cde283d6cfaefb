//! One thread's run of a launch: the state that generated code works on, and the accesses that it leaves to helpers.

use std::ops::Range;

use guestwave_cp::{AccessKind, GuestMemory, MemoryFault, canonical};

use super::spans::Spans;
use super::windows::{Openings, Spare, Windows};
use crate::lower::{Context, MAX_UNITS, QuadContext, Site, SiteInfo};
use crate::raw::Buffer;

/// What a worker leaves for the next one.
#[derive(Default)]
pub(crate) struct Pool {
    buffers: Option<Buffers>,
    windows: Spare,
}

impl Pool {
    /// Takes back what the windows of a launch used.
    pub(super) fn take_back(&mut self, windows: Windows<'_>) {
        self.windows = windows.into_spare();
    }
}

struct Buffers {
    frames: Buffer<u8>,
    lds: Buffer<u8>,
    scratch: Buffer<u8>,
    sites: Buffer<Site>,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers {
            frames: Buffer::zeroed(0),
            lds: Buffer::zeroed(0),
            scratch: Buffer::zeroed(0),
            sites: Buffer::zeroed(0),
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

/// A thread's state. The context stands first, because generated code is given its address.
#[repr(C)]
pub(crate) struct Worker<'m> {
    pub(crate) context: Context,
    /// Frames of the waves of a workgroup.
    pub(crate) frames: Buffer<u8>,
    pub(super) lds: Buffer<u8>,
    pub(super) scratch: Buffer<u8>,
    pub(super) sites: Buffer<Site>,
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
        let Buffers { frames, lds, scratch, sites } = pool.buffers.take().unwrap_or_default();
        Worker {
            context: Context {
                params: std::ptr::null(),
                tables: std::ptr::null(),
                tables_bytes: 0,
                lds: lds.start(),
                scratch: scratch.start(),
                sites: sites.start(),
                budget: 0,
                wave: 0,
                wave_in_group: 0,
                group: 0,
                units: [0; MAX_UNITS],
                data: 0,
                compare: 0,
                quad: QuadContext {
                    addresses: [0; 4],
                    valid: [0; 4],
                    units: [[0; 4]; MAX_UNITS],
                    data: [0; 4],
                    compare: [0; 4],
                },
            },
            frames,
            lds,
            scratch,
            sites,
            given: Given {
                sites: &[],
                params: &[],
                params_read: 0,
                tables: &[],
                lds_bytes: 0,
                scratch_bytes: 0,
                lanes: 0,
            },
            memory,
            spans: Spans::new(memory),
            windows: Windows::new(std::mem::take(&mut pool.windows)),
            fault: None,
            loads: None,
            slot: 0,
        }
    }

    /// Leaves what the next worker can use.
    pub(crate) fn retire(self, pool: &mut Pool) {
        let (windows, ..) = self.into_parts(pool);
        pool.take_back(windows);
    }

    /// Leaves all but the windows for the next worker; gives these, what stands behind them, and what was loaded.
    pub(super) fn into_parts(mut self, pool: &mut Pool) -> (Windows<'m>, Spans<'m>, Vec<(u32, Range<u64>)>) {
        self.forget_places();
        let Worker { frames, lds, scratch, sites, windows, spans, loads, .. } = self;
        pool.buffers = Some(Buffers { frames, lds, scratch, sites });
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
        self.frames.at_least(waves.saturating_mul(frame_bytes));
        self.lds.at_least(given.lds_bytes);
        self.scratch.at_least(waves.saturating_mul(given.lanes * given.scratch_bytes));
        self.sites.at_least(given.sites.len());
        self.given = given;
        self.forget_places();
        self.fault = None;
        let context = &mut self.context;
        context.params = given.params.as_ptr();
        context.tables = given.tables.as_ptr();
        context.tables_bytes = 4 * given.tables.len() as u64;
        context.lds = self.lds.start();
        context.sites = self.sites.start();
    }

    fn forget_places(&mut self) {
        for site in 0..self.given.sites.len() {
            self.sites.set(site, Site::EMPTY);
        }
    }

    /// Starts a workgroup: its LDS is 0.
    pub(crate) fn start_group(&mut self, group: u32) {
        self.context.group = group;
        self.lds.clear_part(0, self.given.lds_bytes);
    }

    /// Clears scratch number `slot` for a wave that starts.
    pub(crate) fn clear_scratch(&mut self, slot: usize) {
        let bytes = self.given.lanes * self.given.scratch_bytes;
        self.scratch.clear_part(slot * bytes, bytes);
    }

    /// Turns to a wave of the workgroup, whose scratch is number `slot`.
    pub(crate) fn turn_to(&mut self, wave: u32, wave_in_group: u32, slot: usize) {
        self.context.wave = wave;
        self.context.wave_in_group = wave_in_group;
        self.slot = slot;
        let bytes = self.given.lanes * self.given.scratch_bytes;
        self.context.scratch = self.scratch.start().wrapping_add(slot * bytes);
    }

    /// Makes the launch's stores final; gives their ranges, sorted and disjoint.
    ///
    /// # Errors
    /// The guest did not take what was stored into a copy; everything is as it was then.
    pub(crate) fn commit(&mut self) -> Result<Vec<Range<u64>>, MemoryFault> {
        self.forget_places();
        self.windows.commit(self.memory)
    }

    /// Whether what was given is too short for the program, so that its code must not run.
    pub(crate) fn refuses_to_run(&self) -> bool {
        let given = &self.given;
        let wave_scratch = given.lanes * given.scratch_bytes;
        let scratch_end = (self.slot + 1).saturating_mul(wave_scratch);
        given.params.len() < given.params_read
            || self.lds.len() < given.lds_bytes
            || self.scratch.len() < scratch_end
            || self.sites.len() < given.sites.len()
    }

    /// The fault that a helper noted.
    pub(crate) fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// What the launch stored.
    pub(crate) fn windows(&mut self) -> &mut Windows<'m> {
        self.forget_places();
        &mut self.windows
    }

    pub(super) fn refuse(&mut self, info: &SiteInfo, address: u64, units: u32, kind: AccessKind) -> Refused {
        let size = u64::from(units) * u64::from(info.access.width.bytes());
        let fault = MemoryFault { address: canonical(address), size, kind };
        self.fault = Some(Fault { pc: info.access.pc, fault });
        Refused
    }

    pub(super) fn site(&self, site: u32) -> Result<SiteInfo, Refused> {
        self.given.sites.get(site as usize).copied().ok_or(Refused)
    }
}
