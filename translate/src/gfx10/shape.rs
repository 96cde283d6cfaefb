//! The shape of a dispatch: which rule fills which register. It is part of the module's key; the rules' numbers are not,
//! they go into the parameter block.

use std::sync::Arc;

use guestwave_cp::{ExactDispatch, Grid, LaneRule, ScalarRule};

use crate::program::ParamSource;

/// How a dispatch is cut into waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GridShape {
    /// Items one after another.
    Linear,
    /// Workgroups of threads.
    Groups,
    /// Workgroups given one by one.
    Subgroups,
}

/// The kind of an SGPR's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are those of ScalarRule")]
pub enum ScalarShape {
    Word,
    ItemCount { shift: u8 },
    FirstItem,
    GroupId(u8),
    GroupSize,
    ScratchOffset,
    PerWave,
}

/// The kind of a VGPR's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are those of LaneRule")]
pub enum LaneShape {
    Word,
    Item,
    Primitive,
    Cycle,
    ThreadId(u8),
    PerItem,
}

/// Which rule fills which register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LaunchShape {
    /// The grid.
    pub grid: GridShape,
    /// Kinds of the SGPRs' rules, from s0 on.
    pub sgprs: Vec<ScalarShape>,
    /// Kinds of the VGPRs' rules, from v0 on.
    pub vgprs: Vec<LaneShape>,
}

impl LaunchShape {
    /// The shape of a dispatch.
    pub fn new(dispatch: &ExactDispatch) -> LaunchShape {
        LaunchShape {
            grid: grid_shape(&dispatch.grid),
            sgprs: dispatch.sgprs.iter().map(scalar_shape).collect(),
            vgprs: dispatch.vgprs.iter().map(lane_shape).collect(),
        }
    }

    /// Whether it is the shape of a dispatch.
    pub fn is_of(&self, dispatch: &ExactDispatch) -> bool {
        let LaunchShape { grid, sgprs, vgprs } = self;
        // Most SGPRs are user data.
        let scalar_is = |shape: &ScalarShape, rule: &ScalarRule| match rule {
            ScalarRule::Word(_) => *shape == ScalarShape::Word,
            other => *shape == scalar_shape(other),
        };
        *grid == grid_shape(&dispatch.grid)
            && are(sgprs, &dispatch.sgprs, scalar_is)
            && are(vgprs, &dispatch.vgprs, |shape, rule| *shape == lane_shape(rule))
    }
}

/// Whether rules have these shapes.
fn are<S, R>(shapes: &[S], rules: &[R], is: impl Fn(&S, &R) -> bool) -> bool {
    shapes.len() == rules.len() && shapes.iter().zip(rules).all(|(shape, rule)| is(shape, rule))
}

fn grid_shape(grid: &Grid) -> GridShape {
    match grid {
        Grid::Linear { .. } => GridShape::Linear,
        Grid::Groups { .. } => GridShape::Groups,
        Grid::Subgroups { .. } => GridShape::Subgroups,
    }
}

fn scalar_shape(rule: &ScalarRule) -> ScalarShape {
    match rule {
        ScalarRule::Word(_) => ScalarShape::Word,
        ScalarRule::ItemCount { shift, .. } => ScalarShape::ItemCount { shift: *shift },
        ScalarRule::FirstItem { .. } => ScalarShape::FirstItem,
        ScalarRule::GroupId(axis) => ScalarShape::GroupId(*axis),
        ScalarRule::GroupSize => ScalarShape::GroupSize,
        ScalarRule::ScratchOffset { .. } => ScalarShape::ScratchOffset,
        ScalarRule::PerWave(_) => ScalarShape::PerWave,
    }
}

fn lane_shape(rule: &LaneRule) -> LaneShape {
    match rule {
        LaneRule::Word(_) => LaneShape::Word,
        LaneRule::Item { .. } => LaneShape::Item,
        LaneRule::Primitive { .. } => LaneShape::Primitive,
        LaneRule::Cycle { .. } => LaneShape::Cycle,
        LaneRule::ThreadId(axis) => LaneShape::ThreadId(*axis),
        LaneRule::PerItem(_) => LaneShape::PerItem,
    }
}

/// A dispatch's numbers, for one program's parameter block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchWords {
    /// The parameter block.
    pub params: Vec<u32>,
    /// The tables.
    pub tables: Arc<[u32]>,
    /// Waves in all.
    pub waves: u32,
    /// Waves of a workgroup.
    pub waves_per_group: u32,
    /// Waves of each workgroup where they differ.
    pub group_waves: Option<Arc<[u32]>>,
}

impl LaunchWords {
    /// Fills `params` for a dispatch. `None` if the dispatch has more waves than fit 32 bits.
    pub fn new(dispatch: &ExactDispatch, params: &[ParamSource]) -> Option<LaunchWords> {
        let mut tables = Tables::default();
        let (waves, waves_per_group, group_waves) = waves(dispatch)?;
        let filled = params.iter().map(|p| match *p {
            // Most words are user data.
            ParamSource::Sgpr(n) => dispatch.sgprs.get(usize::from(n)).map_or(0, scalar_base),
            p => word(dispatch, p, waves_per_group, &mut tables),
        });
        let filled = filled.collect();
        let tables = if tables.words.is_empty() { Arc::default() } else { tables.words.into() };
        Some(LaunchWords { params: filled, tables, waves, waves_per_group, group_waves })
    }
}

/// Tables laid one after the other.
#[derive(Default)]
struct Tables {
    words: Vec<u32>,
}

impl Tables {
    /// Byte offset of the table, which is added.
    fn add(&mut self, table: &[u32]) -> u32 {
        let at = self.words.len() * 4;
        self.words.extend_from_slice(table);
        at as u32
    }
}

type Waves = (u32, u32, Option<Arc<[u32]>>);

fn waves(dispatch: &ExactDispatch) -> Option<Waves> {
    let lanes = u32::from(dispatch.program.wave_lanes.max(1));
    match &dispatch.grid {
        Grid::Linear { items, per_wave } => Some((items.div_ceil((*per_wave).max(1)), 1, None)),
        Grid::Groups { start, end, threads, .. } => {
            let volume = threads.iter().try_fold(1u32, |v, t| v.checked_mul(*t))?;
            let per_group = volume.div_ceil(lanes).max(1);
            let groups = (0..3).try_fold(1u32, |g, a| g.checked_mul(end[a].saturating_sub(start[a])))?;
            Some((groups.checked_mul(per_group)?, per_group, None))
        }
        Grid::Subgroups { waves } => {
            let all = waves.iter().try_fold(0u32, |s, w| s.checked_add(*w))?;
            let first = waves.first().copied().unwrap_or(1).max(1);
            let alike = waves.iter().all(|w| *w == first);
            Some(if alike { (all, first, None) } else { (all, 1, Some(waves.clone())) })
        }
    }
}

fn word(d: &ExactDispatch, source: ParamSource, waves_per_group: u32, tables: &mut Tables) -> u32 {
    let sgpr = |n: u8| d.sgprs.get(usize::from(n));
    let vgpr = |n: u8| d.vgprs.get(usize::from(n));
    match source {
        ParamSource::SgprLimit(n) => sgpr(n).map_or(0, scalar_limit),
        ParamSource::SgprTable(n) => match sgpr(n) {
            Some(ScalarRule::PerWave(t)) => tables.add(t),
            _ => 0,
        },
        ParamSource::Vgpr(n) => vgpr(n).map_or(0, lane_base),
        ParamSource::VgprLimit(n) => match vgpr(n) {
            Some(LaneRule::Primitive { items, .. } | LaneRule::Cycle { items, .. }) => *items,
            Some(LaneRule::PerItem(t)) => (t.len() as u32).max(1),
            _ => 0,
        },
        ParamSource::VgprTable(n) => match vgpr(n) {
            Some(LaneRule::PerItem(t)) if t.is_empty() => tables.add(&[0]),
            Some(LaneRule::PerItem(t)) => tables.add(t),
            _ => 0,
        },
        ParamSource::WavesPerGroup => waves_per_group,
        ParamSource::ProgramLow => d.program.address as u32,
        ParamSource::ProgramHigh => (d.program.address >> 32) as u32,
        grid => grid_word(&d.grid, grid),
    }
}

#[inline]
fn scalar_base(rule: &ScalarRule) -> u32 {
    match rule {
        ScalarRule::Word(w) => *w,
        ScalarRule::ItemCount { base, .. } | ScalarRule::FirstItem { base } => *base,
        ScalarRule::ScratchOffset { per_wave, .. } => *per_wave,
        _ => 0,
    }
}

fn scalar_limit(rule: &ScalarRule) -> u32 {
    match rule {
        ScalarRule::ItemCount { limit, .. } => *limit,
        ScalarRule::ScratchOffset { slots, .. } => *slots,
        _ => 0,
    }
}

fn lane_base(rule: &LaneRule) -> u32 {
    match rule {
        LaneRule::Word(w) => *w,
        LaneRule::Item { base } | LaneRule::Primitive { base, .. } | LaneRule::Cycle { base, .. } => *base,
        _ => 0,
    }
}

fn grid_word(grid: &Grid, source: ParamSource) -> u32 {
    let axis = |a: u8| usize::from(a.min(2));
    match (grid, source) {
        (Grid::Linear { items, .. }, ParamSource::Items) => *items,
        (Grid::Linear { per_wave, .. }, ParamSource::ItemsPerWave) => *per_wave,
        (Grid::Groups { start, .. }, ParamSource::GroupStart(a)) => start[axis(a)],
        (Grid::Groups { start, end, .. }, ParamSource::GroupCount(a)) => {
            end[axis(a)].saturating_sub(start[axis(a)])
        }
        (Grid::Groups { threads, .. }, ParamSource::GroupThreads(a)) => threads[axis(a)],
        (Grid::Groups { last_threads, .. }, ParamSource::LastThreads(a)) => last_threads[axis(a)],
        _ => 0,
    }
}
