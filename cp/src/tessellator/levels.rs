//! Levels as the tessellator takes them.

use super::axis::{Level, ONE};
use super::{Domain, Levels, Spacing};

/// Least and greatest level of a spacing.
const fn bounds(spacing: Spacing) -> (f32, f32) {
    match spacing {
        Spacing::Equal => (1.0, 64.0),
        Spacing::FractionalOdd => (1.0, 63.0),
        Spacing::FractionalEven => (2.0, 64.0),
    }
}

/// The least level above 1 that fixed point tells from it, and half the way there.
const JUST_ABOVE_ONE: f32 = 1.0 + 1.0 / ONE as f32;
const ROUNDS_ABOVE_ONE: f32 = 1.0 + 0.5 / ONE as f32;

/// Clamped levels; what a domain has not is as the least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clamped {
    pub(super) outer: [Level; 4],
    pub(super) inner: [Level; 2],
}

impl Clamped {
    /// Whether nothing is subdivided.
    pub(super) fn is_least(&self) -> bool {
        self.outer.iter().chain(&self.inner).all(|level| level.fixed == ONE)
    }
}

/// (outer levels, inner levels) of a domain.
const fn counts(domain: Domain) -> (usize, usize) {
    match domain {
        Domain::Isolines => (2, 0),
        Domain::Triangles => (3, 1),
        Domain::Quads => (4, 2),
    }
}

/// Clamps levels; `None` for a patch that is discarded.
pub(super) fn clamp(domain: Domain, spacing: Spacing, levels: &Levels) -> Option<Clamped> {
    let (outer, inner) = counts(domain);
    let (used_outer, used_inner) = (&levels.outer[..outer], &levels.inner[..inner]);
    if !used_outer.iter().all(|level| *level > 0.0) {
        return None;
    }
    let rises = |levels: &[f32]| levels.iter().any(|level| *level > ROUNDS_ABOVE_ONE);
    // Odd spacing: an inner level of 1 would leave no ring to join the outer points to.
    let above = spacing == Spacing::FractionalOdd
        && (rises(used_outer) || domain == Domain::Quads && rises(used_inner));
    let mut clamped = Clamped { outer: [LEAST; 4], inner: [LEAST; 2] };
    for (place, level) in clamped.outer.iter_mut().zip(used_outer) {
        *place = edge(spacing, *level);
    }
    for (place, level) in clamped.inner.iter_mut().zip(used_inner) {
        *place = inside(spacing, *level, above);
    }
    if domain == Domain::Isolines {
        // Lines stand at equal distances whatever the spacing along them.
        clamped.outer[0] = edge(Spacing::Equal, levels.outer[0]);
    }
    Some(clamped)
}

const LEAST: Level = Level { fixed: ONE, odd: true };

/// An outer level.
fn edge(spacing: Spacing, level: f32) -> Level {
    let (least, most) = bounds(spacing);
    parity(spacing, between(level, least, most))
}

/// An inner level. With equal spacing, one segment becomes two: one alone would leave no point inside.
fn inside(spacing: Spacing, level: f32, above: bool) -> Level {
    let (least, most) = bounds(spacing);
    let clamped = parity(spacing, between(level, if above { JUST_ABOVE_ONE } else { least }, most));
    Level { odd: clamped.odd && !(spacing == Spacing::Equal && clamped.fixed == ONE), ..clamped }
}

/// NaN is as the least.
fn between(level: f32, least: f32, most: f32) -> f32 {
    level.max(least).min(most)
}

fn parity(spacing: Spacing, level: f32) -> Level {
    match spacing {
        Spacing::Equal => {
            let whole = level.ceil() as u32;
            Level { fixed: whole << 16, odd: whole % 2 == 1 }
        }
        _ => {
            let fixed = (level * ONE as f32).round_ties_even() as u32;
            Level { fixed, odd: spacing == Spacing::FractionalOdd }
        }
    }
}
