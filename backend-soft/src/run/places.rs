//! The places that a program's accesses found, kept from one launch to the next.

use crate::lower::{Site, SiteInfo, SiteKind};
use crate::raw::Buffer;

/// The sites of each program that a worker has run.
#[derive(Default)]
pub(super) struct Places {
    programs: Vec<Known>,
    /// The program that is running.
    current: usize,
}

/// The sites of one program, as far as they were filled since the spans' epoch `since`.
struct Known {
    sites: Buffer<Site>,
    since: u64,
}

impl Places {
    /// Turns to program number `program` whose accesses are `infos`; what its sites knew in another epoch, they forget. Gives its
    /// sites.
    pub(super) fn turn_to(&mut self, program: usize, infos: &[SiteInfo], epoch: u64) -> *mut Site {
        if self.programs.len() <= program {
            self.programs.resize_with(program + 1, || Known { sites: Buffer::zeroed(0), since: 0 });
        }
        self.current = program;
        let known = &mut self.programs[program];
        if known.since != epoch {
            known.sites.at_least(infos.len());
            known.since = epoch;
            self.forget(|_| true);
        }
        self.programs[program].sites.start()
    }

    /// Empties the sites that store: the windows that they know are closed.
    pub(super) fn forget_stores(&mut self, infos: &[SiteInfo]) {
        self.forget(|site| infos.get(site).is_none_or(|i| matches!(i.kind, SiteKind::Store(_))));
    }

    /// Empties the running program's sites that `which` names.
    pub(super) fn forget(&mut self, which: impl Fn(usize) -> bool) {
        if let Some(known) = self.programs.get_mut(self.current) {
            (0..known.sites.len()).filter(|site| which(*site)).for_each(|s| known.sites.set(s, Site::EMPTY));
        }
    }

    /// What the running program's access number `site` knows.
    pub(super) fn get(&self, site: u32) -> Option<Site> {
        self.programs.get(self.current)?.sites.get(site as usize)
    }

    /// Notes where the running program's access number `site` finds its memory.
    pub(super) fn set(&mut self, site: u32, place: Site) {
        if let Some(known) = self.programs.get_mut(self.current) {
            known.sites.set(site as usize, place);
        }
    }

    /// Sites that the running program has.
    pub(super) fn len(&self) -> usize {
        self.programs.get(self.current).map_or(0, |known| known.sites.len())
    }
}
