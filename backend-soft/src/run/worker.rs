//! One thread's run of a launch: the state that generated code works on, and the accesses that it leaves to helpers.

use std::ops::Range;

use guestwave_cp::{AccessKind, GuestMemory, MemoryFault, canonical};
use guestwave_translate::program::{Space, Width};

use super::atomics::{new_u32, new_u64};
use super::spans::{Span, Spans};
use super::windows::{Store, Windows};
use crate::lower::{Context, MAX_UNITS, Site, SiteInfo, SiteKind};
use crate::raw::{Buffer, HostMemory};

/// What a worker leaves for the next one.
#[derive(Default)]
pub(crate) struct Pool {
    buffers: Option<Buffers>,
    windows: Vec<Store>,
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
    lds: Buffer<u8>,
    scratch: Buffer<u8>,
    sites: Buffer<Site>,
    given: Given<'m>,
    memory: &'m dyn GuestMemory,
    spans: Spans<'m>,
    windows: Windows<'m>,
    fault: Option<Fault>,
    /// Which of the workgroup's frames and scratches is in use.
    slot: usize,
}

type Helped = Result<(), Refused>;

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
            slot: 0,
        }
    }

    /// Leaves what the next worker can use.
    pub(crate) fn retire(self, pool: &mut Pool) {
        let Worker { frames, lds, scratch, sites, windows, .. } = self;
        pool.buffers = Some(Buffers { frames, lds, scratch, sites });
        pool.windows = windows.into_spare();
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
        self.lds.clear(0, self.given.lds_bytes);
    }

    /// Clears scratch number `slot` for a wave that starts.
    pub(crate) fn clear_scratch(&mut self, slot: usize) {
        let bytes = self.given.lanes * self.given.scratch_bytes;
        self.scratch.clear(slot * bytes, bytes);
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

    fn refuse(&mut self, info: &SiteInfo, address: u64, units: u32, kind: AccessKind) -> Refused {
        let size = u64::from(units) * u64::from(info.access.width.bytes());
        let fault = MemoryFault { address: canonical(address), size, kind };
        self.fault = Some(Fault { pc: info.access.pc, fault });
        Refused
    }

    fn site(&self, site: u32) -> Result<SiteInfo, Refused> {
        self.given.sites.get(site as usize).copied().ok_or(Refused)
    }

    /// Loads the units that exist to the context; the others are 0.
    pub(crate) fn load(&mut self, site: u32, address: u64, valid: u32, lane: u32) -> Helped {
        let info = self.site(site)?;
        self.context.units = [0; MAX_UNITS];
        let units = existing(&info, valid);
        if info.access.space != Space::Global {
            self.load_local(&info, address, units, lane);
            return Ok(());
        }
        for i in 0..units {
            let at = address.wrapping_add(u64::from(i) * u64::from(info.access.width.bytes()));
            let mut unit = [0; 4];
            let bytes = &mut unit[..info.access.width.bytes().min(4) as usize];
            self.read_guest(at, bytes).map_err(|at| self.refuse(&info, at, units, AccessKind::Read))?;
            self.context.units[i as usize] = u32::from_le_bytes(unit);
        }
        if let Some(span) = self.spans.at(canonical(address)) {
            self.note_place(site, &info, address, span.guest, span.host, std::ptr::null_mut());
        }
        Ok(())
    }

    /// Makes the site's next accesses find their memory by themselves.
    fn note_place(
        &mut self,
        site: u32,
        info: &SiteInfo,
        address: u64,
        guest: u64,
        host: HostMemory<'m>,
        marks: *mut u64,
    ) {
        let limit = (host.len() + 1).saturating_sub(u64::from(info.bytes()));
        // The difference keeps the address's upper bits, which do not count but which the next address will have as well.
        let base = address.wrapping_sub(canonical(address) - guest);
        self.sites.set(site as usize, Site { base, limit, host: host.start(), marks });
    }

    /// Fills `into`; gives the first address at which nothing is mapped.
    fn read_guest(&mut self, address: u64, into: &mut [u8]) -> Result<(), u64> {
        let mut done = 0;
        while done < into.len() {
            let at = canonical(address.wrapping_add(done as u64));
            let span = self.spans.at(at).ok_or(at)?;
            let part = piece(&span, at, into.len() - done);
            span.host.read(at - span.guest, &mut into[done..done + part]);
            done += part;
        }
        Ok(())
    }

    /// Stores `bytes` and marks them; gives the first address at which nothing is mapped or stores are not allowed.
    fn write_guest(&mut self, address: u64, bytes: &[u8]) -> Result<(), u64> {
        let mut done = 0;
        while done < bytes.len() {
            let at = canonical(address.wrapping_add(done as u64));
            let span = self.spans.at(at).filter(|s| s.writable).ok_or(at)?;
            let window = self.windows.at(at, &span);
            let place = at - window.guest;
            let part = ((window.host.len() - place) as usize).min(bytes.len() - done);
            window.mark(place, part as u64);
            window.host.write(place, &bytes[done..done + part]);
            done += part;
        }
        Ok(())
    }

    /// Stores the units of the context that exist.
    pub(crate) fn store(&mut self, site: u32, address: u64, valid: u32, lane: u32) -> Helped {
        let info = self.site(site)?;
        let units = existing(&info, valid);
        if info.access.space != Space::Global {
            self.store_local(&info, address, units, lane);
            return Ok(());
        }
        for i in 0..units {
            let at = address.wrapping_add(u64::from(i) * u64::from(info.access.width.bytes()));
            let unit = self.context.units[i as usize].to_le_bytes();
            let bytes = &unit[..info.access.width.bytes().min(4) as usize];
            self.write_guest(at, bytes).map_err(|at| self.refuse(&info, at, units, AccessKind::Write))?;
        }
        if units > 0 {
            self.note_window(site, &info, address);
        }
        Ok(())
    }

    fn note_window(&mut self, site: u32, info: &SiteInfo, address: u64) {
        let at = canonical(address);
        let Some(span) = self.spans.at(at).filter(|s| s.writable) else { return };
        let window = self.windows.at(at, &span);
        let (guest, host, marks) = (window.guest, window.host, window.marks());
        self.note_place(site, info, address, guest, host, marks);
    }

    /// One atomic, with operands from the context and what was there before to it.
    pub(crate) fn atomic(&mut self, site: u32, address: u64, valid: u32, lane: u32) -> Helped {
        let info = self.site(site)?;
        let SiteKind::Atomic(op) = info.kind else { return Err(Refused) };
        let address = address & !u64::from(info.access.width.bytes() - 1);
        let (data, compare) = (self.context.data, self.context.compare);
        let old = if existing(&info, valid) == 0 {
            Some(0)
        } else if info.access.space == Space::Global {
            let (unit, at) = self.atomic_unit(&info, address)?;
            update(unit, at, info.access.width, op, data, compare)
        } else {
            let (local, start) = self.local(&info, lane);
            Some(update(local, start + address, info.access.width, op, data, compare).unwrap_or(0))
        };
        match old {
            Some(old) => self.context.data = old,
            None => return Err(self.refuse(&info, address, 1, AccessKind::Atomic)),
        }
        Ok(())
    }

    /// The memory of an atomic's unit, marked as stored, and the unit's offset in it.
    fn atomic_unit(&mut self, info: &SiteInfo, address: u64) -> Result<(HostMemory<'m>, u64), Refused> {
        let (at, bytes) = (canonical(address), u64::from(info.access.width.bytes()));
        let fault = (at..at + bytes).find(|a| !self.spans.at(*a).is_some_and(|s| s.writable));
        let span = match fault {
            None => self.spans.at(at).ok_or(Refused)?,
            Some(missing) => return Err(self.refuse(info, missing, 1, AccessKind::Atomic)),
        };
        let window = self.windows.at(at, &span);
        let place = at - window.guest;
        if window.host.len() >= place + bytes {
            window.mark(place, bytes);
        }
        Ok((window.host, place))
    }

    /// A local memory as an access of `lane` sees it: the memory, less what lies beyond, and the offset of its first byte.
    fn local(&self, info: &SiteInfo, lane: u32) -> (HostMemory<'static>, u64) {
        let given = &self.given;
        match info.access.space {
            Space::Scratch => {
                let waves_before = self.slot * given.lanes;
                let start = (waves_before + lane as usize) * given.scratch_bytes;
                let memory = self.scratch.memory();
                (memory.part(start as u64, given.scratch_bytes as u64), 0)
            }
            _ => (self.lds.memory().part(0, given.lds_bytes as u64), 0),
        }
    }

    fn load_local(&mut self, info: &SiteInfo, address: u64, units: u32, lane: u32) {
        let width = info.access.width.bytes();
        let (memory, start) = self.local(info, lane);
        for i in 0..units {
            let at = start + address + u64::from(i * width);
            let mut unit = [0; 4];
            let bytes = &mut unit[..width.min(4) as usize];
            let found = match info.access.space {
                Space::Table => read_table(self.given.tables, at, bytes),
                _ => memory.read(at, bytes),
            };
            if found {
                self.context.units[i as usize] = u32::from_le_bytes(unit);
            }
        }
    }

    fn store_local(&mut self, info: &SiteInfo, address: u64, units: u32, lane: u32) {
        let width = info.access.width.bytes();
        let (memory, start) = self.local(info, lane);
        for i in 0..units {
            let unit = self.context.units[i as usize].to_le_bytes();
            memory.write(start + address + u64::from(i * width), &unit[..width.min(4) as usize]);
        }
    }
}

/// Units of an access that exist.
fn existing(info: &SiteInfo, valid: u32) -> u32 {
    valid.div_ceil(info.access.width.bytes()).min(info.count())
}

/// Bytes of `wanted` that lie in `span` from `at` on.
fn piece(span: &Span<'_>, at: u64, wanted: usize) -> usize {
    let left = span.range().end - at;
    usize::try_from(left).map_or(wanted, |left| left.min(wanted))
}

fn update(
    memory: HostMemory<'_>,
    at: u64,
    width: Width,
    op: guestwave_translate::program::AtomicOp,
    data: u64,
    compare: u64,
) -> Option<u64> {
    match width {
        Width::W64 => memory.update_u64(at, |old| new_u64(op, old, data, compare)),
        _ => memory.update_u32(at, |old| new_u32(op, old, data as u32, compare as u32)).map(u64::from),
    }
}

/// Fills `into` from byte `at` of the tables; gives whether all of it exists.
fn read_table(tables: &[u32], at: u64, into: &mut [u8]) -> bool {
    let byte = |a: u64| {
        let word = tables.get(usize::try_from(a / 4).ok()?)?;
        Some(word.to_le_bytes()[(a % 4) as usize])
    };
    let bytes: Option<Vec<u8>> = (0..into.len() as u64).map(|i| byte(at.checked_add(i)?)).collect();
    match bytes {
        Some(bytes) => {
            into.copy_from_slice(&bytes);
            true
        }
        None => false,
    }
}
