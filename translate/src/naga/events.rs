//! What goes wrong in an invocation: the first place is kept in variables, and told to the host at the end.

use naga::AtomicFunction;

use super::Site;
use super::SiteKind;
use super::func::Ex;
use super::helpers::Helper;
use super::layout::{header, status};
use super::lower::Lower;
use crate::program::{Access, Space};

/// Pointers to what is kept.
#[derive(Clone, Copy)]
pub(super) struct Events {
    flags: Ex,
    site: Ex,
    low: Ex,
    high: Ex,
    size: Ex,
}

/// An address that a note speaks of, and the bytes of the access there.
#[derive(Clone, Copy)]
pub(super) struct Where {
    pub(super) low: Ex,
    pub(super) high: Ex,
    pub(super) size: Ex,
}

impl Lower<'_> {
    /// Makes the variables.
    pub(super) fn make_events(&mut self) {
        let (zero, u32) = (self.f.u32(0), self.types.u32);
        let mut cell = || self.f.local(u32, Some(zero));
        self.events = Some(Events { flags: cell(), site: cell(), low: cell(), high: cell(), size: cell() });
    }

    /// Number of a place in the program.
    pub(super) fn site(&mut self, kind: SiteKind, pc: u32, global: bool) -> u32 {
        let site = Site { kind, pc, global };
        let known = self.sites.iter().position(|s| *s == site);
        known.unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        }) as u32
    }

    /// Number of an access' place.
    pub(super) fn access_site(&mut self, kind: SiteKind, access: &Access) -> u32 {
        self.site(kind, access.pc, access.space == Space::Global)
    }

    /// Keeps, where `happened`, that `flag` happened at a place, and where exactly if that is the first.
    pub(super) fn note(&mut self, happened: Ex, flag: u32, site: u32, at: Option<Where>) {
        let Some(events) = self.events else { return };
        let f = &mut self.f;
        let before = f.load(events.flags);
        let (bit, zero) = (f.u32(flag), f.u32(0));
        let bit = f.select(happened, bit, zero);
        let after = f.or(before, bit);
        f.store(events.flags, after);
        if !self.options.quiet {
            self.note_place(events, (happened, before), site, at);
        }
    }

    /// Keeps the place of what happened, if nothing had happened before.
    fn note_place(&mut self, events: Events, (happened, before): (Ex, Ex), site: u32, at: Option<Where>) {
        let f = &mut self.f;
        let none = f.is_u32(before, 0);
        let first = f.both(happened, none);
        let site = f.u32(site);
        let mut cells = vec![(events.site, site)];
        if let Some(at) = at {
            cells.extend([(events.low, at.low), (events.high, at.high), (events.size, at.size)]);
        }
        for (cell, what) in cells {
            let old = f.load(cell);
            let new = f.select(first, what, old);
            f.store(cell, new);
        }
    }

    /// Tells the host, if there is anything to tell. Must stand at every end of the invocation.
    pub(super) fn report(&mut self) {
        let Some(e) = self.events else { return };
        if self.options.quiet {
            return self.report_quietly(e);
        }
        let words = [e.flags, e.site, e.low, e.high, e.size].map(|cell| self.f.load(cell));
        let some = self.f.isnt_u32(words[0], 0);
        let blame = self.helper(Helper::Blame);
        self.f.when(some, |f| f.call(blame, words.to_vec()));
    }

    /// One step, where the host makes those of [`Helper::Blame`] though there is nothing to tell.
    fn report_quietly(&mut self, events: Events) {
        let flags = self.f.load(events.flags);
        let some = self.f.isnt_u32(flags, 0);
        let launch = self.launch_word(header::LAUNCH);
        let record = self.buffers.status;
        self.f.when(some, |f| {
            let stop = f.u32(status::STOP);
            f.atomic_only(record, stop, AtomicFunction::Min, launch);
        });
    }
}
