//! The points of one level along an axis from 0 to 1.

/// 1 as 16.16 fixed point.
pub(super) const ONE: u32 = 1 << 16;
const HALF: u32 = ONE / 2;

/// A clamped level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// 1 to 64 as 16.16 fixed point.
    pub(super) fixed: u32,
    /// Whether it has an odd number of segments.
    pub(super) odd: bool,
}

/// The places of a level's points. A fractional level lies between two whole ones, the *floor* and the *ceiling*; each
/// point moves from its place at the floor to its place at the ceiling, and the two points that the ceiling has more
/// come out of their neighbours at `split` and opposite to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    odd: bool,
    /// Points before the middle.
    half: u32,
    /// How far the level is from the floor to the ceiling.
    fraction: u32,
    /// The last point that has its own place at the floor; `None` where floor and ceiling are one.
    split: Option<u32>,
    /// Length of a segment at the floor and at the ceiling.
    steps: [u32; 2],
}

impl Axis {
    pub(super) fn new(level: Level) -> Axis {
        let middle = (level.fixed + 1) >> 1;
        let middle = if level.odd || middle == HALF { middle + HALF } else { middle };
        let (floor, ceiling) = (middle >> 16, middle.div_ceil(ONE));
        let segments = |half: u32| 2 * half - u32::from(level.odd);
        Axis {
            odd: level.odd,
            half: ceiling,
            fraction: middle % ONE,
            split: (floor != ceiling).then(|| split(floor, level.odd)),
            steps: [floor, ceiling].map(|half| reciprocal(segments(half))),
        }
    }

    /// Points in all.
    pub(super) fn points(&self) -> u32 {
        2 * self.half + u32::from(!self.odd)
    }

    /// Segments of half the axis, without the one in the middle of an odd number.
    pub(super) fn half_segments(&self) -> u32 {
        self.half - u32::from(self.odd)
    }

    /// Whether the number of segments is odd.
    pub(super) fn is_odd(&self) -> bool {
        self.odd
    }

    /// The place of a point, 16.16.
    pub(super) fn at(&self, point: u32) -> u32 {
        match point < self.half {
            true => self.first_half(point),
            false => ONE - self.first_half((2 * self.half).saturating_sub(point + u32::from(self.odd))),
        }
    }

    fn first_half(&self, point: u32) -> u32 {
        if point == self.half {
            return HALF;
        }
        let at_floor = point - u32::from(self.split.is_some_and(|split| point > split));
        let [floor, ceiling] = [at_floor * self.steps[0], point * self.steps[1]].map(u64::from);
        let [one, fraction] = [ONE, self.fraction].map(u64::from);
        ((floor * (one - fraction) + ceiling * fraction + u64::from(HALF)) >> 16) as u32
    }
}

/// Where the next two points come out of a whole number of segments, `floor` points being in its first half.
fn split(floor: u32, odd: bool) -> u32 {
    match (odd, floor) {
        (true, 1) => 0,
        (true, _) => 2 * without_top_bit(floor - 1) + 1,
        (false, _) => 2 * without_top_bit(floor) + 1,
    }
}

fn without_top_bit(value: u32) -> u32 {
    value & !(1 << value.checked_ilog2().unwrap_or(0))
}

/// 1 / `segments`, rounded to the nearest 16.16.
fn reciprocal(segments: u32) -> u32 {
    (ONE + segments / 2) / segments.max(1)
}
