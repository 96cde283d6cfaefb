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

/// What sites may know: until when it is good.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Good {
    /// The spans' epoch.
    pub(super) spans: u64,
    /// How often windows were closed.
    pub(super) windows: u64,
}

/// The sites of one program, and as of when they are filled.
struct Known {
    sites: Buffer<Site>,
    of: Good,
}

impl Places {
    /// Turns to program number `program` whose accesses are `infos`; what its sites know that is not good any more, they forget.
    /// Gives its sites.
    pub(super) fn turn_to(&mut self, program: usize, infos: &[SiteInfo], good: Good) -> *mut Site {
        if self.programs.len() <= program {
            let of = Good { spans: 0, windows: 0 };
            self.programs.resize_with(program + 1, || Known { sites: Buffer::zeroed(0), of });
        }
        self.current = program;
        let known = &mut self.programs[program];
        let was = std::mem::replace(&mut known.of, good);
        if was.spans != good.spans {
            known.sites.at_least(infos.len());
            self.forget(|_| true);
        } else if was.windows != good.windows {
            let stores = |i: &SiteInfo| matches!(i.kind, SiteKind::Store(_));
            self.forget(|site| infos.get(site).is_none_or(stores));
        }
        self.programs[program].sites.start()
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
