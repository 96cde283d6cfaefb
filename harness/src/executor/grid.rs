//! How a dispatch is cut into workgroups and waves.

use guestwave_cp::{ExactDispatch, Grid};

use super::ExecutorError;

/// Threads of the largest workgroup.
const MAX_GROUP_THREADS: u64 = 1024;

/// The place of one wave in its dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wave {
    /// Number over the whole dispatch.
    pub(super) number: u64,
    /// First item (or thread, or lane) over the whole dispatch.
    pub(super) first: u64,
    /// Lanes with an item; they are the lowest ones.
    pub(super) items: u32,
    /// Workgroup id.
    pub(super) group: [u32; 3],
    /// Number in the workgroup.
    pub(super) in_group: u32,
    /// Waves of the workgroup.
    pub(super) group_waves: u32,
    /// First thread in the workgroup.
    pub(super) first_thread: u32,
    /// Threads of the workgroup along each axis.
    pub(super) threads: [u32; 3],
}

/// The workgroups of a dispatch in order, each as its waves. What a linear grid cuts shares nothing, so there each
/// wave is a workgroup of its own.
pub(super) struct Groups<'a> {
    dispatch: &'a ExactDispatch,
    /// Next workgroup.
    next: u64,
    /// Workgroups in all.
    count: u64,
    /// Waves and items of those before.
    waves: u64,
    items: u64,
}

impl<'a> Groups<'a> {
    /// The workgroups of `dispatch`.
    pub(super) fn new(dispatch: &'a ExactDispatch) -> Result<Self, ExecutorError> {
        let count = match &dispatch.grid {
            Grid::Linear { items, per_wave } => linear(*items, *per_wave, dispatch.program.wave_lanes)?,
            Grid::Groups { start, end, threads, last_threads } => {
                check_threads(threads)?;
                check_threads(last_threads)?;
                (0..3).map(|a| u64::from(end[a].saturating_sub(start[a]))).fold(1, u64::saturating_mul)
            }
            Grid::Subgroups { waves } => {
                let lanes = u64::from(dispatch.program.wave_lanes);
                let most = waves.iter().map(|w| u64::from(*w) * lanes).max().unwrap_or(0);
                check_size(most)?;
                waves.len() as u64
            }
        };
        Ok(Groups { dispatch, next: 0, count, waves: 0, items: 0 })
    }

    fn lanes(&self) -> u32 {
        u32::from(self.dispatch.program.wave_lanes)
    }

    fn linear(&self, items: u32, per_wave: u32) -> Vec<Wave> {
        let left = u64::from(items) - self.items;
        let here = left.min(u64::from(per_wave)) as u32;
        vec![Wave { items: here, group_waves: 1, threads: [here, 1, 1], ..Wave::default() }]
    }

    fn workgroup(&self, start: &[u32; 3], end: &[u32; 3], threads: &[u32; 3], last: &[u32; 3]) -> Vec<Wave> {
        let width: [u64; 2] = [0, 1].map(|a| u64::from(end[a] - start[a]));
        let at = [self.next % width[0], self.next / width[0] % width[1], self.next / width[0] / width[1]];
        let group = [0, 1, 2].map(|a| start[a] + at[a] as u32);
        let threads = [0, 1, 2].map(|a| if group[a] == end[a] - 1 { last[a] } else { threads[a] });
        let total: u32 = threads.iter().product();
        let lanes = self.lanes();
        let waves = total.div_ceil(lanes);
        let wave = |w: u32| Wave {
            items: lanes.min(total - w * lanes),
            group,
            in_group: w,
            group_waves: waves,
            first_thread: w * lanes,
            threads,
            ..Wave::default()
        };
        (0..waves).map(wave).collect()
    }

    fn subgroup(&self, waves: u32) -> Vec<Wave> {
        let lanes = self.lanes();
        let wave = |w: u32| Wave {
            items: lanes,
            in_group: w,
            group_waves: waves,
            first_thread: w * lanes,
            threads: [waves * lanes, 1, 1],
            ..Wave::default()
        };
        (0..waves).map(wave).collect()
    }
}

fn linear(items: u32, per_wave: u32, lanes: u8) -> Result<u64, ExecutorError> {
    match per_wave == 0 || per_wave > u32::from(lanes) {
        true => Err(ExecutorError::ItemsPerWave { items: per_wave, lanes }),
        false => Ok(u64::from(items.div_ceil(per_wave))),
    }
}

fn check_threads(threads: &[u32; 3]) -> Result<(), ExecutorError> {
    check_size(threads.iter().map(|t| u64::from(*t)).fold(1, u64::saturating_mul))
}

fn check_size(threads: u64) -> Result<(), ExecutorError> {
    match (1..=MAX_GROUP_THREADS).contains(&threads) {
        true => Ok(()),
        false => Err(ExecutorError::GroupThreads { threads, limit: MAX_GROUP_THREADS }),
    }
}

impl Iterator for Groups<'_> {
    type Item = Vec<Wave>;

    fn next(&mut self) -> Option<Vec<Wave>> {
        if self.next >= self.count {
            return None;
        }
        let mut waves = match &self.dispatch.grid {
            Grid::Linear { items, per_wave } => self.linear(*items, *per_wave),
            Grid::Groups { start, end, threads, last_threads } => {
                self.workgroup(start, end, threads, last_threads)
            }
            Grid::Subgroups { waves } => self.subgroup(*waves.get(self.next as usize)?),
        };
        for wave in &mut waves {
            wave.number = self.waves;
            wave.first = self.items;
            self.waves += 1;
            self.items += u64::from(wave.items);
        }
        self.next += 1;
        Some(waves)
    }
}
