//! Bounds of a loop's numbers over all of its iterations, worked out in front of it.

use std::collections::HashMap;

use super::course::{Course, Moving};
use super::func::Ex;
use super::lower::Lower;
use crate::program::{BinOp, Expr, Type, UnOp, Value, Var};

/// Bounds of a number over all iterations, as `u64`s.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) least: Ex,
    pub(super) most: Ex,
    /// The number is `least` plus a multiple of 2 to the power of this.
    pub(super) even: u32,
    /// What must hold for them: that nothing goes round. `None`: nothing.
    pub(super) holds: Option<Ex>,
}

/// The bounds that were found in front of a loop.
pub(super) struct Finder<'a> {
    course: &'a Course<'a>,
    /// Number of the last iteration, from 0, as a `u64`.
    last: Ex,
    known: HashMap<Value, Option<Bounds>>,
    /// Sums of halves that are being looked into.
    depth: u32,
}

/// How deep sums of halves are looked into.
const DEPTH: u32 = 4;
/// Bits of an address that count.
const ADDRESS_BITS: u32 = 48;
/// As even as can be: a number that is the same in all iterations.
const STILL: u32 = 63;

impl<'a> Finder<'a> {
    pub(super) fn new(course: &'a Course<'a>, last: Ex) -> Self {
        Finder { course, last, known: HashMap::new(), depth: 0 }
    }

    fn shift(&self, by: Value) -> Option<u32> {
        self.course.constant(by).filter(|by| *by < 16)
    }
}

impl Lower<'_> {
    /// Bounds of a value that is no `Bool`.
    pub(super) fn bounds(&mut self, f: &mut Finder<'_>, value: Value) -> Option<Bounds> {
        if let Some(known) = f.known.get(&value) {
            return *known;
        }
        let found =
            if f.course.is_inside(value) { self.bounds_inside(f, value) } else { Some(self.still(value)) };
        f.known.insert(value, found);
        found
    }

    fn bits(&self, value: Value) -> u32 {
        if self.program.info(value).ty == Type::B64 { ADDRESS_BITS } else { 32 }
    }

    /// A value from outside the loop.
    fn still(&mut self, value: Value) -> Bounds {
        let number = self.get(value);
        if self.bits(value) == 32 {
            let number = self.f.widen(number);
            return Bounds { least: number, most: number, even: STILL, holds: None };
        }
        self.still_wide(number)
    }

    fn still_wide(&mut self, number: Ex) -> Bounds {
        let bounds = Bounds { least: number, most: number, even: STILL, holds: None };
        self.limited(bounds, ADDRESS_BITS)
    }

    /// The same bounds if what they bound has so many bits.
    fn limited(&mut self, bounds: Bounds, bits: u32) -> Bounds {
        let end = self.f.u64(1 << bits);
        let fits = self.f.lt(bounds.most, end);
        Bounds { holds: self.all_of(bounds.holds, Some(fits)), ..bounds }
    }

    fn bounds_inside(&mut self, f: &mut Finder<'_>, value: Value) -> Option<Bounds> {
        let bounds = match f.course.expr(value)? {
            Expr::Get(_) => {
                let moving = f.course.moving(value)?;
                let start = self.start(moving.var);
                let start = self.f.widen(start);
                self.moving(f, start, moving)
            }
            Expr::Un(UnOp::Extend | UnOp::Low, a) => self.bounds(f, a)?,
            Expr::Bin(BinOp::Pack, low, high) => return self.halves_bounds(f, low, Some(high)),
            Expr::Bin(op, a, b) => self.bounds_of(f, op, [a, b])?,
            _ => return None,
        };
        Some(self.limited(bounds, self.bits(value)))
    }

    /// Bounds of the result of `op` as if it went round nowhere.
    fn bounds_of(&mut self, f: &mut Finder<'_>, op: BinOp, [a, b]: [Value; 2]) -> Option<Bounds> {
        match op {
            BinOp::Add => match f.course.constant(b).filter(|c| *c >= 1 << 31) {
                Some(c) => self.less(f, a, u64::from(c.wrapping_neg())),
                None => self.sum(f, [a, b]),
            },
            BinOp::Or => {
                let sum = self.sum(f, [a, b])?;
                Some(Bounds { least: self.f.u64(0), even: 0, ..sum })
            }
            BinOp::And => self.masked(f, b).or_else(|| self.masked(f, a)),
            BinOp::Shl => {
                let (x, by) = (self.bounds(f, a)?, f.shift(b)?);
                let [least, most] = [x.least, x.most].map(|x| self.f.shl_u32(x, by));
                Some(Bounds { least, most, even: (x.even + by).min(STILL), ..x })
            }
            BinOp::ShrU if self.bits(a) == 32 => self.shifted_down(f, a, b),
            BinOp::Mul if self.bits(a) == 32 => self.multiplied(f, a, b).or_else(|| self.multiplied(f, b, a)),
            _ => None,
        }
    }

    fn sum(&mut self, f: &mut Finder<'_>, [a, b]: [Value; 2]) -> Option<Bounds> {
        let (x, y) = (self.bounds(f, a)?, self.bounds(f, b)?);
        Some(self.added(x, y))
    }

    fn added(&mut self, x: Bounds, y: Bounds) -> Bounds {
        Bounds {
            least: self.f.add(x.least, y.least),
            most: self.f.add(x.most, y.most),
            even: x.even.min(y.even),
            holds: self.all_of(x.holds, y.holds),
        }
    }

    /// `a - by`.
    fn less(&mut self, f: &mut Finder<'_>, a: Value, by: u64) -> Option<Bounds> {
        let x = self.bounds(f, a)?;
        let by = self.f.u64(by);
        let enough = self.f.ge(x.least, by);
        let holds = self.all_of(x.holds, Some(enough));
        Some(Bounds { least: self.f.sub(x.least, by), most: self.f.sub(x.most, by), holds, ..x })
    }

    /// Whatever is masked with a number from outside.
    fn masked(&mut self, f: &mut Finder<'_>, mask: Value) -> Option<Bounds> {
        if f.course.is_inside(mask) {
            return None;
        }
        let mask = self.still(mask);
        Some(Bounds { least: self.f.u64(0), even: 0, ..mask })
    }

    /// `a >> by` of 32 bits.
    fn shifted_down(&mut self, f: &mut Finder<'_>, a: Value, by: Value) -> Option<Bounds> {
        let by = f.course.constant(by)? & 31;
        let zero = self.f.u64(0);
        let Some(x) = self.bounds(f, a) else {
            let most = self.f.u64(u64::from(u32::MAX >> by));
            return Some(Bounds { least: zero, most, even: 0, holds: None });
        };
        Some(Bounds { least: zero, most: self.f.shr_u32(x.most, by), even: 0, ..x })
    }

    /// `a * by` of 32 bits, `by` from outside.
    fn multiplied(&mut self, f: &mut Finder<'_>, a: Value, by: Value) -> Option<Bounds> {
        if f.course.is_inside(by) {
            return None;
        }
        let (x, zeros) = (self.bounds(f, a)?, f.course.constant(by).map_or(0, u32::trailing_zeros));
        let by = self.still(by).least;
        let [least, most] = [x.least, x.most].map(|x| self.f.mul(x, by));
        Some(Bounds { least, most, even: (x.even + zeros).min(STILL), ..x })
    }

    /// Bounds of the 64-bit number with these halves, `None` for a high half of 0.
    fn halves_bounds(&mut self, f: &mut Finder<'_>, low: Value, high: Option<Value>) -> Option<Bounds> {
        let Some(high) = high.filter(|high| f.course.constant(*high) != Some(0)) else {
            return self.bounds(f, low);
        };
        if !f.course.is_inside(low) && !f.course.is_inside(high) {
            let (low, high) = (self.get(low), self.get(high));
            let number = self.f.pack(low, high);
            return Some(self.still_wide(number));
        }
        match (f.course.expr(low), f.course.expr(high)) {
            (Some(Expr::Un(UnOp::Low, a)), Some(Expr::Un(UnOp::High, b))) if a == b => {
                return self.bounds(f, a);
            }
            _ => {}
        }
        if let Some(moving) = f.course.moving_pair(low, high) {
            let [low, high] = moving.var.map(|var| self.start(var));
            let start = self.f.pack(low, high);
            let still = self.still_wide(start);
            let moved = self.moving(f, start, moving);
            let holds = self.all_of(still.holds, moved.holds);
            return Some(self.limited(Bounds { holds, ..moved }, ADDRESS_BITS));
        }
        self.sum_of_halves(f, low, high)
    }

    fn sum_of_halves(&mut self, f: &mut Finder<'_>, low: Value, high: Value) -> Option<Bounds> {
        if f.depth == DEPTH {
            return None;
        }
        f.depth += 1;
        let found = f.course.wide_sums(low, high).into_iter().find_map(|[a, b]| {
            let x = self.halves_bounds(f, a.0, a.1)?;
            Some((x, self.halves_bounds(f, b.0, b.1)?))
        });
        f.depth -= 1;
        let sum = found.map(|(x, y)| self.added(x, y))?;
        Some(self.limited(sum, ADDRESS_BITS))
    }

    /// What a variable is in front of the loop.
    fn start(&mut self, var: Var) -> Ex {
        let pointer = self.var_pointer(var);
        self.f.load(pointer)
    }

    /// A number that starts as `start` and moves.
    fn moving<V>(&mut self, f: &Finder<'_>, start: Ex, moving: Moving<V>) -> Bounds {
        let by = moving.step.unsigned_abs();
        let each = self.f.u64(by);
        let way = self.f.mul(f.last, each);
        let even = by.trailing_zeros();
        let first = if moving.stepped { each } else { self.f.u64(0) };
        if moving.step > 0 {
            let least = self.f.add(start, first);
            return Bounds { least, most: self.f.add(least, way), even, holds: None };
        }
        let whole_way = self.f.add(way, first);
        let enough = self.f.ge(start, whole_way);
        let (least, most) = (self.f.sub(start, whole_way), self.f.sub(start, first));
        Bounds { least, most, even, holds: Some(enough) }
    }
}
