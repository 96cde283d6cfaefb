//! The accesses that generated code leaves to helpers: partial ones, atomics, and the first at each place, which notes the
//! place so that the next are done in line.

use guestwave_cp::{AccessKind, canonical};
use guestwave_translate::program::{AtomicOp, Space, Width};

use super::atomics::{new_u32, new_u64};
use super::spans::Span;
use super::worker::{Helped, Refused, Worker};
use crate::lower::{MAX_UNITS, Site, SiteInfo, SiteKind};
use crate::raw::HostMemory;

impl<'m> Worker<'m> {
    /// Loads the units that exist to the context; the others are 0.
    pub(crate) fn load(&mut self, site: u32, address: u64, valid: u32, lane: u32) -> Helped {
        let mut units = [0; MAX_UNITS];
        let info = self.site(site)?;
        let count = (info.count() as usize).min(MAX_UNITS);
        self.load_units(site, address, valid, lane, &mut units[..count])?;
        self.own.context.units[..count].copy_from_slice(&units[..count]);
        Ok(())
    }

    /// Fills `units`, which are 0, with those that exist.
    fn load_units(&mut self, site: u32, address: u64, valid: u32, lane: u32, units: &mut [u32]) -> Helped {
        let info = self.site(site)?;
        let exist = existing(info, valid);
        if info.access.space != Space::Global {
            self.load_local(info, address, exist, lane, units);
            return Ok(());
        }
        let width = info.access.width;
        let mut raw = [0; UNITS_BYTES];
        let bytes = &mut raw[..exist as usize * unit_bytes(width)];
        self.load_guest(site, address, bytes).map_err(|at| self.refuse(info, at, exist, AccessKind::Read))?;
        from_bytes(width, bytes, units);
        self.note_loaded(site, info, address);
        Ok(())
    }

    /// Notes where a load found its memory, if that is new.
    fn note_loaded(&mut self, site: u32, info: &SiteInfo, address: u64) {
        let known =
            self.own.places.get(site).is_some_and(|place| address.wrapping_sub(place.base) < place.limit);
        if known && self.loads.is_none() {
            return;
        }
        if let Some(span) = self.spans.at(canonical(address)) {
            self.note_load(site, span.range());
            self.note_place(site, info, address, (span.guest, span.host), std::ptr::null_mut());
        }
    }

    /// Makes the site's next accesses find their memory by themselves.
    fn note_place(
        &mut self,
        site: u32,
        info: &SiteInfo,
        address: u64,
        (guest, host): (u64, HostMemory<'m>),
        marks: *mut u8,
    ) {
        let limit = |reach: u64| (host.len() + 1).saturating_sub(reach).div_ceil(1 << info.unit_shift());
        let bytes = u64::from(info.bytes());
        let (limit, row_limit) = (limit(bytes), limit(3 * u64::from(info.step) + bytes));
        // The difference keeps the address's upper bits, which do not count but which the next address will have as well.
        let base = address.wrapping_sub(canonical(address) - guest);
        self.own.places.set(site, Site { base, limit, row_limit, host: host.start(), marks });
    }

    /// As [`Worker::read_guest`], for a site's load.
    fn load_guest(&mut self, site: u32, address: u64, into: &mut [u8]) -> Result<(), u64> {
        self.pieces(address, into, |worker, span| worker.note_load(site, span.range()))
    }

    /// Fills `into`; gives the first address at which nothing is mapped.
    fn read_guest(&mut self, address: u64, into: &mut [u8]) -> Result<(), u64> {
        self.pieces(address, into, |_, _| ())
    }

    /// Fills `into` from the spans that have it, each of which is shown to `met`.
    fn pieces(
        &mut self,
        address: u64,
        into: &mut [u8],
        met: impl Fn(&mut Self, &Span<'m>),
    ) -> Result<(), u64> {
        let mut done = 0;
        while done < into.len() {
            let at = canonical(address.wrapping_add(done as u64));
            let span = self.spans.at(at).ok_or(at)?;
            met(self, &span);
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
        let units = existing(info, valid);
        if info.access.space != Space::Global {
            self.store_local(info, address, units, lane);
            return Ok(());
        }
        let width = info.access.width;
        let mut raw = [0; UNITS_BYTES];
        let bytes = to_bytes(width, &self.own.context.units[..units as usize], &mut raw);
        if units == info.count() && self.store_in_window(site, info, address, bytes) {
            return Ok(());
        }
        self.write_guest(address, bytes).map_err(|at| self.refuse(info, at, units, AccessKind::Write))
    }

    /// Stores all of an access's bytes if they lie in one window, and notes the place for the next access; gives whether they
    /// do.
    fn store_in_window(&mut self, site: u32, info: &SiteInfo, address: u64, bytes: &[u8]) -> bool {
        let at = canonical(address);
        if let Some(window) = self.windows.at_hand(at, bytes.len() as u64) {
            let place = at - window.guest;
            window.mark(place, bytes.len() as u64);
            window.host.write(place, bytes);
            let (guest, host, marks) = (window.guest, window.host, window.marks());
            self.note_stored(site, info, address, (guest, host), marks);
            return true;
        }
        let Some(span) = self.spans.at(at).filter(|s| s.writable) else { return false };
        let window = self.windows.at(at, &span);
        let (guest, host, marks) = (window.guest, window.host, window.marks());
        let place = at - guest;
        if host.len() - place < bytes.len() as u64 {
            return false;
        }
        window.mark(place, bytes.len() as u64);
        host.write(place, bytes);
        self.note_stored(site, info, address, (guest, host), marks);
        true
    }

    /// Notes the window of a store, if that is new.
    fn note_stored(
        &mut self,
        site: u32,
        info: &SiteInfo,
        address: u64,
        window: (u64, HostMemory<'m>),
        marks: *mut u8,
    ) {
        let known = self.own.places.get(site).is_some_and(|place| place.marks == marks);
        if !known {
            self.note_place(site, info, address, window, marks);
        }
    }

    /// One atomic, with operands from the context and what was there before to it.
    pub(crate) fn atomic(&mut self, site: u32, address: u64, valid: u32, lane: u32) -> Helped {
        let info = self.site(site)?;
        let SiteKind::Atomic(op) = info.kind else { return Err(Refused) };
        let update = Update {
            op,
            width: info.access.width,
            data: self.own.context.data,
            compare: self.own.context.compare,
        };
        let address = address & !u64::from(info.access.width.bytes() - 1);
        self.own.context.data = if existing(info, valid) == 0 {
            0
        } else if info.access.space == Space::Global {
            self.atomic_guest(&update, address).map_err(|at| self.refuse(info, at, 1, AccessKind::Atomic))?
        } else {
            update.apply(self.local(info, lane), address).unwrap_or(0)
        };
        Ok(())
    }

    /// An atomic on guest memory; gives what was there, or the first address at which nothing is mapped or stores are not
    /// allowed.
    fn atomic_guest(&mut self, update: &Update, address: u64) -> Result<u64, u64> {
        let (at, bytes) = (canonical(address), u64::from(update.width.bytes()));
        for byte in at..at + bytes {
            self.spans.at(byte).filter(|s| s.writable).ok_or(byte)?;
        }
        let span = self.spans.at(at).ok_or(at)?;
        let window = self.windows.at(at, &span);
        let place = at - window.guest;
        if window.host.len() >= place + bytes {
            window.mark(place, bytes);
            return update.apply(window.host, place).ok_or(at);
        }
        // The unit lies in two spans, so nothing on the host can change it at once.
        let mut old = [0; 8];
        self.read_guest(at, &mut old[..bytes as usize])?;
        let old = u64::from_le_bytes(old);
        self.write_guest(at, &update.result(old).to_le_bytes()[..bytes as usize])?;
        Ok(old)
    }

    /// Loads of four lanes, the first of which is number `lane`.
    pub(crate) fn load_quad(&mut self, site: u32, lane: u32) -> Helped {
        let count = (self.site(site)?.count() as usize).min(MAX_UNITS);
        for i in 0..4 {
            let (address, valid) = (self.own.context.quad.addresses[i], self.own.context.quad.valid[i]);
            let mut units = [0; MAX_UNITS];
            if valid != 0 {
                self.load_units(site, address, valid, lane + i as u32, &mut units[..count])?;
            }
            let columns = self.own.context.quad.units[..count].iter_mut().zip(&units);
            columns.for_each(|(column, unit)| column[i] = *unit);
        }
        Ok(())
    }

    /// Stores of four lanes.
    pub(crate) fn store_quad(&mut self, site: u32, lane: u32) -> Helped {
        let count = self.site(site)?.count() as usize;
        for i in 0..4 {
            for unit in 0..count.min(MAX_UNITS) {
                self.own.context.units[unit] = self.own.context.quad.units[unit][i];
            }
            let (address, valid) = (self.own.context.quad.addresses[i], self.own.context.quad.valid[i]);
            if valid != 0 {
                self.store(site, address, valid, lane + i as u32)?;
            }
        }
        Ok(())
    }

    /// Atomics of four lanes.
    pub(crate) fn atomic_quad(&mut self, site: u32, lane: u32) -> Helped {
        for i in 0..4 {
            let quad = &self.own.context.quad;
            let (address, valid) = (quad.addresses[i], quad.valid[i]);
            (self.own.context.data, self.own.context.compare) = (quad.data[i], quad.compare[i]);
            self.atomic(site, address, valid, lane + i as u32)?;
            self.own.context.quad.data[i] = self.own.context.data;
        }
        Ok(())
    }

    /// A local memory as an access of `lane` sees it.
    fn local(&self, info: &SiteInfo, lane: u32) -> HostMemory<'static> {
        let given = &self.given;
        if info.access.space == Space::Lds {
            return self.own.lds.memory().part(0, given.lds_bytes as u64);
        }
        let start = (self.slot * given.lanes + lane as usize) * given.scratch_bytes;
        self.own.scratch.memory().part(start as u64, given.scratch_bytes as u64)
    }

    fn load_local(&self, info: &SiteInfo, address: u64, exist: u32, lane: u32, units: &mut [u32]) {
        let width = info.access.width.bytes();
        let memory = self.local(info, lane);
        for (i, to) in (0..exist).zip(units) {
            let at = address + u64::from(i * width);
            let mut unit = [0; 4];
            let bytes = &mut unit[..width.min(4) as usize];
            let found = match info.access.space {
                Space::Table => read_table(self.given.tables, at, bytes),
                _ => memory.read(at, bytes),
            };
            if found {
                *to = u32::from_le_bytes(unit);
            }
        }
    }

    fn store_local(&mut self, info: &SiteInfo, address: u64, units: u32, lane: u32) {
        let width = info.access.width.bytes();
        let memory = self.local(info, lane);
        for i in 0..units {
            let unit = self.own.context.units[i as usize].to_le_bytes();
            memory.write(address + u64::from(i * width), &unit[..width.min(4) as usize]);
        }
    }
}

/// Bytes of the longest load or store.
const UNITS_BYTES: usize = 4 * MAX_UNITS;

/// Bytes of a unit of a load or store.
fn unit_bytes(width: Width) -> usize {
    width.bytes().min(4) as usize
}

/// Units from the bytes of as many as there are.
fn from_bytes(width: Width, bytes: &[u8], units: &mut [u32]) {
    match width {
        Width::W8 => units.iter_mut().zip(bytes).for_each(|(unit, b)| *unit = u32::from(*b)),
        Width::W16 => {
            let halves = bytes.as_chunks().0;
            units.iter_mut().zip(halves).for_each(|(unit, b)| *unit = u32::from(u16::from_le_bytes(*b)));
        }
        _ => {
            let words = bytes.as_chunks().0;
            units.iter_mut().zip(words).for_each(|(unit, b)| *unit = u32::from_le_bytes(*b));
        }
    }
}

/// The low bytes of units, one after another in `raw`.
fn to_bytes<'r>(width: Width, units: &[u32], raw: &'r mut [u8; UNITS_BYTES]) -> &'r [u8] {
    match width {
        Width::W8 => units.iter().zip(&mut *raw).for_each(|(unit, b)| *b = *unit as u8),
        Width::W16 => {
            let halves = raw.as_chunks_mut().0.iter_mut();
            units.iter().zip(halves).for_each(|(unit, b)| *b = (*unit as u16).to_le_bytes());
        }
        _ => {
            let words = raw.as_chunks_mut().0.iter_mut();
            units.iter().zip(words).for_each(|(unit, b)| *b = unit.to_le_bytes());
        }
    }
    &raw[..units.len() * unit_bytes(width)]
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

/// An atomic's operation and operands.
struct Update {
    op: AtomicOp,
    width: Width,
    data: u64,
    compare: u64,
}

impl Update {
    /// What it leaves where `old` was.
    fn result(&self, old: u64) -> u64 {
        match self.width {
            Width::W64 => new_u64(self.op, old, self.data, self.compare),
            _ => u64::from(new_u32(self.op, old as u32, self.data as u32, self.compare as u32)),
        }
    }

    /// Does it to the unit at `at`; gives what was there, or `None` if the unit is not inside.
    fn apply(&self, memory: HostMemory<'_>, at: u64) -> Option<u64> {
        match self.width {
            Width::W64 => memory.update_u64(at, |old| self.result(old)),
            _ => memory.update_u32(at, |old| self.result(u64::from(old)) as u32).map(u64::from),
        }
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
