//! From launches to a job.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use guestwave_cp::GuestMemory;
use guestwave_translate::backend::{Launch, LaunchFault, ProgramId};
use guestwave_translate::naga::Site;
use guestwave_translate::naga::layout::{self, NONE, PAGE_BYTES, PAGE_MAP_WORDS, header, slot, status};

use crate::gpu::{Dispatch, Job, Sizes};
use crate::residency::{Full, Residency};
use crate::variants::{Entry, Launched, Variant, Workshop, groups};
use crate::windows::{Tracer, Window, wanted, window};
use crate::worker::Worker;

/// Bytes of the spill buffer that one dispatch uses at most.
const SPILL_BYTES: u64 = 64 << 20;
/// Host workgroups along an axis.
const ROW: u32 = 65535;

/// What a launch was given.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// For each slot, its window.
    pub(crate) windows: Vec<Option<Window>>,
    /// Guest ranges that its slots were worked out from.
    pub(crate) traced: Vec<Range<u64>>,
    /// Words that the host loaded.
    pub(crate) hoisted: Vec<u32>,
    /// Guest ranges that they were loaded from.
    pub(crate) hoisted_ranges: Vec<Range<u64>>,
    /// Guest pages with marks of their own, and the words where those start.
    pub(crate) paged: BTreeMap<u64, u32>,
    /// Places in it that its record may speak of.
    pub(crate) sites: Vec<Site>,
}

/// What is to be brought in beyond windows.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// Guest pages that were missed.
    pub(crate) pages: BTreeSet<u64>,
    /// For each launch, guest pages that need marks.
    pub(crate) paged: Vec<BTreeSet<u64>>,
}

/// Why a job could not be made.
pub(crate) enum Unready {
    /// The launch with this number cannot run.
    Launch(usize, LaunchFault),
    /// Too much for the device at once.
    Full,
}

impl From<Full> for Unready {
    fn from(_: Full) -> Self {
        Unready::Full
    }
}

/// What a job is made with.
pub(crate) struct Maker<'a> {
    pub(crate) entries: &'a mut HashMap<ProgramId, Entry>,
    pub(crate) shop: &'a mut Workshop,
    pub(crate) worker: &'a Worker,
    pub(crate) residency: &'a mut Residency,
    pub(crate) memory: &'a dyn GuestMemory,
    pub(crate) bounds: Bounds,
}

/// What the device allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Bytes of a storage binding.
    pub(crate) storage: u64,
    /// In whose multiples launch blocks start.
    pub(crate) block_align: u32,
}

struct Ready {
    given: Given,
    variant: Variant,
}

impl Maker<'_> {
    /// The job for `launches`, and what each was given.
    pub(crate) fn job(
        &mut self,
        launches: &[Launch],
        extra: &mut Extra,
    ) -> Result<(Job, Vec<Given>), Unready> {
        extra.paged.resize(launches.len(), BTreeSet::new());
        let mut ready = Vec::new();
        for (i, launch) in launches.iter().enumerate() {
            ready.push(self.ready(launch).map_err(|f| Unready::Launch(i, f))?);
        }
        let windows: Vec<&Window> = ready.iter().flat_map(|r| r.given.windows.iter().flatten()).collect();
        let mut pages = extra.pages.clone();
        for (launch, paged) in launches.iter().zip(&mut extra.paged) {
            pages.extend(self.entries.get(&launch.program).into_iter().flat_map(|e| &e.missed));
            let known = self.entries.get(&launch.program).into_iter().flat_map(|e| &e.paged);
            paged.extend(known.filter(|p| self.residency.has(**p) || pages.contains(p)));
            pages.extend(&*paged);
        }
        let wanted = wanted(&windows, pages.into_iter());
        let arena = self.residency.bring(&wanted, self.memory)?;
        let mut job = Job { arena, ..Job::default() };
        let marks = self.place_marks(&mut ready, &extra.paged)?;
        self.blocks(launches, &ready, &mut job)?;
        job.pages = self.residency.table_uploads();
        job.marks = marks * 4;
        job.status = u64::from(status::RECORDS + status::WORDS * launches.len() as u32) * 4;
        job.sizes = Sizes {
            arena: self.residency.arena_bytes(),
            pages: self.residency.table_bytes(),
            tables: job.tables.len() as u64 * 4,
            blocks: job.blocks.len() as u64,
            marks: job.marks,
            status: job.status,
            spill: job.sizes.spill,
        };
        let sizes = [job.sizes.marks, job.sizes.tables, job.sizes.status, job.sizes.pages];
        if sizes.iter().any(|s| *s > self.bounds.storage) {
            Err(Unready::Full)
        } else {
            Ok((job, self.given(ready)))
        }
    }

    fn given(&self, ready: Vec<Ready>) -> Vec<Given> {
        ready.into_iter().map(|r| r.given).collect()
    }

    /// Works out a launch's slots and finds its module.
    fn ready(&mut self, launch: &Launch) -> Result<Ready, LaunchFault> {
        let unknown = || LaunchFault::launch(launch.id, "its program is unknown");
        let entry = self.entries.get_mut(&launch.program).ok_or_else(unknown)?;
        let program = entry.program.clone();
        if launch.params.len() < program.params.len() {
            return Err(LaunchFault::launch(launch.id, "its parameter block is too short"));
        }
        let tracer = Tracer { params: &launch.params, memory: self.memory, read: RefCell::default() };
        let windows: Vec<Option<Window>> = program
            .slots
            .iter()
            .zip(entry.uses.iter().zip(&entry.reaches))
            .map(|(slot, (uses, reach))| window(&tracer.slot(slot)?, *uses, *reach, self.memory))
            .collect();
        let (workgroups, shaped) = entry.shaped(launch);
        let hoisted = if entry.stores_to_hoisted { None } else { tracer.hoisted(&shaped.hoists) };
        let launched = Launched {
            groups: groups(&program, launch),
            apart: apart(&windows),
            hoisted: hoisted.is_some(),
            workgroups,
        };
        let module = entry.module(launched, &shaped.program, self.shop, self.worker);
        let variant = module.map_err(|e| LaunchFault {
            id: launch.id,
            code: e.code,
            text: format!("{} cannot run: {}", program.name, e.reason),
            pc: None,
            fault: None,
        })?;
        let traced = crate::marks::union(tracer.read.into_inner());
        let sites = variant.facts.sites.clone();
        let (hoisted, hoisted_ranges) = hoisted.unwrap_or_default();
        let given = Given { windows, traced, hoisted, hoisted_ranges, paged: BTreeMap::new(), sites };
        Ok(Ready { given, variant })
    }

    /// Gives marks to all that may be stored; gives the words in use.
    fn place_marks(&self, ready: &mut [Ready], paged: &[BTreeSet<u64>]) -> Result<u64, Unready> {
        let mut words = 0u64;
        for (r, pages) in ready.iter_mut().zip(paged) {
            for page in pages {
                r.given.paged.insert(*page, u32::try_from(words).map_err(|_| Unready::Full)?);
                words += u64::from(PAGE_MAP_WORDS);
            }
        }
        for window in ready.iter_mut().flat_map(|r| r.given.windows.iter_mut().flatten()) {
            window.marks = u32::try_from(words).map_err(|_| Unready::Full)?;
            words += window.mark_words();
        }
        Ok(words)
    }

    fn blocks(&self, launches: &[Launch], ready: &[Ready], job: &mut Job) -> Result<(), Unready> {
        // Word `layout::TABLES_ZERO`.
        let mut tables = Tables { words: vec![0], known: HashMap::new() };
        for (i, (launch, r)) in launches.iter().zip(ready).enumerate() {
            let mut block = vec![0u32; layout::header::PARAMS as usize];
            self.header(i, launch, r, &mut block, &mut tables);
            let params = self.entries.get(&launch.program).map_or(0, |e| e.program.params.len());
            block.extend(&launch.params[..params]);
            block.resize(layout::slot_start(params, 0) as usize, 0);
            for window in &r.given.windows {
                let none = [0; slot::WORDS as usize];
                block.extend(window.as_ref().map_or(none, |w| w.record(self.residency)));
            }
            block.extend(&r.given.hoisted);
            self.dispatches(launch, r, &block, job)?;
        }
        job.tables = tables.words;
        Ok(())
    }

    fn header(&self, number: usize, launch: &Launch, r: &Ready, block: &mut [u32], tables: &mut Tables) {
        let mut set = |at: u32, what: u32| block[at as usize] = what;
        set(header::LAUNCH, number as u32);
        set(header::WAVES, launch.waves);
        set(header::WAVES_PER_GROUP, launch.waves_per_group.max(1));
        set(header::TABLE_START, tables.start(&launch.tables));
        set(header::TABLE_BYTES, launch.tables.len() as u32 * 4);
        set(header::BUDGET, launch.budget.min(u64::from(u32::MAX)) as u32);
        set(header::MARK_MAP, self.mark_map(&r.given, tables));
        set(
            header::GROUP_TABLE,
            launch.group_waves.as_ref().map_or(NONE, |w| tables.first_waves(w, launch.waves)),
        );
        set(header::GROUPS, host_groups(launch, &r.variant));
        set(header::INVOCATIONS, r.variant.facts.invocations);
    }

    /// A launch's mark map, if it has any pages with marks of their own.
    fn mark_map(&self, given: &Given, tables: &mut Tables) -> u32 {
        if given.paged.is_empty() {
            return NONE;
        }
        let pages = self.residency.arena_bytes() / PAGE_BYTES;
        let mut map = vec![0; pages as usize];
        for (page, word) in &given.paged {
            if let Some(place) = self.residency.arena_page(*page).and_then(|p| map.get_mut(p as usize)) {
                *place = word / PAGE_MAP_WORDS + 1;
            }
        }
        tables.push(&map)
    }

    /// Dispatches of a launch: one, unless it needs more scratch than there is.
    fn dispatches(&self, launch: &Launch, r: &Ready, block: &[u32], job: &mut Job) -> Result<(), Unready> {
        let all = host_groups(launch, &r.variant);
        let facts = &r.variant.facts;
        let spill = u64::from(facts.spill_words) * 4 * u64::from(facts.waves_per_workgroup);
        let at_once = match spill {
            0 => u64::from(ROW) * u64::from(ROW),
            each => SPILL_BYTES.min(self.bounds.storage) / each,
        };
        let at_once = u32::try_from(at_once).unwrap_or(u32::MAX).min(all);
        if all != 0 && at_once == 0 {
            return Err(Unready::Full);
        }
        let mut first = 0;
        while first < all {
            let count = at_once.min(all - first);
            let row = count.min(ROW);
            let mut block = block.to_vec();
            block[header::ROW as usize] = row;
            block[header::FIRST as usize] = first;
            for round in 0..r.variant.rounds {
                block[header::ROUND as usize] = round;
                block[header::LAST_ROUND as usize] = u32::from(round + 1 == r.variant.rounds);
                let at = job.blocks.len().next_multiple_of(self.bounds.block_align as usize);
                job.blocks.resize(at, 0);
                job.blocks.extend_from_slice(bytemuck::cast_slice(&block));
                job.dispatches.push(Dispatch {
                    pipeline: r.variant.pipeline,
                    block: at as u32,
                    groups: [row, count.div_ceil(row)],
                    cleared_spill: if round == 0 { spill * u64::from(count) } else { 0 },
                });
            }
            job.sizes.spill = job.sizes.spill.max(spill * u64::from(count));
            first += count;
        }
        Ok(())
    }
}

/// Host workgroups of a launch.
fn host_groups(launch: &Launch, variant: &Variant) -> u32 {
    let facts = &variant.facts;
    match (&launch.group_waves, facts.grouped) {
        (Some(waves), true) => waves.len() as u32,
        (None, true) => launch.waves.div_ceil(launch.waves_per_group.max(1)),
        _ => launch.waves.div_ceil(facts.waves_per_workgroup.max(1)),
    }
}

/// Whether what is stored through a slot is reached through no other.
fn apart(windows: &[Option<Window>]) -> bool {
    let overlap = |a: &Window, b: &Window| a.range.start < b.range.end && b.range.start < a.range.end;
    let known: Vec<&Window> = windows.iter().flatten().collect();
    !known
        .iter()
        .enumerate()
        .any(|(i, a)| a.uses.writes && known.iter().enumerate().any(|(j, b)| i != j && overlap(a, b)))
}

/// The tables buffer under construction.
struct Tables {
    words: Vec<u32>,
    known: HashMap<*const u32, u32>,
}

impl Tables {
    fn push(&mut self, words: &[u32]) -> u32 {
        let start = self.words.len() as u32;
        self.words.extend_from_slice(words);
        start
    }

    /// Where a launch's tables start; tables that launches share are there once.
    fn start(&mut self, table: &std::sync::Arc<[u32]>) -> u32 {
        if let Some(known) = self.known.get(&table.as_ptr()) {
            return *known;
        }
        let start = self.push(table);
        self.known.insert(table.as_ptr(), start);
        start
    }

    /// First waves of groups, and the end of the last.
    fn first_waves(&mut self, waves: &[u32], all: u32) -> u32 {
        let ends = waves.iter().scan(0u32, |end, w| {
            *end = end.saturating_add(*w).min(all);
            Some(*end)
        });
        let firsts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        self.push(&firsts)
    }
}
