//! Loops whose accesses are checked before they run.
//!
//! Where a loop counts to a number from outside, its moving numbers have bounds that are known before it. If the bounds of its
//! accesses' addresses are in their windows and its iterations in the budget, it runs in a version that checks neither; else, as it
//! would anyway.

use std::borrow::Cow;
use std::collections::HashSet;

use naga::{Block, Statement};

use super::bounds::Finder;
use super::course::{Course, End, Exit};
use super::func::Ex;
use super::layout::{header, slot};
use super::lower::Lower;
use super::{HostCaps, Options};
use crate::backend::Holding;
use crate::program::{Access, Program, Space, Stmt, Value, lift, put_aside};

/// What was checked before the loop that is being emitted.
#[derive(Default)]
pub(super) struct Ahead {
    accesses: HashSet<*const Access>,
    /// What its counter is behind it, if that is known.
    counts: Option<Ex>,
    /// Groups of iterations that it does not end in, and how it ends.
    groups: Option<(Ex, Exit)>,
}

/// Iterations of a group: the host has the loads of all under way at once.
const GROUP: u32 = 4;
/// Statements of a loop whose iterations are grouped.
const MOST_STATEMENTS: usize = 96;

/// Whether loops are made in two versions: not where the host counts their iterations as well.
fn looks_ahead(caps: &HostCaps, options: &Options) -> bool {
    caps.loops.is_none() && options.direct && !options.resumes && options.holding == Holding::Lane
}

/// The program as loops are looked at.
pub(super) fn prepared<'a>(program: &'a Program, caps: &HostCaps, options: &Options) -> Cow<'a, Program> {
    let lifted = if looks_ahead(caps, options) { Cow::Owned(lift(program)) } else { Cow::Borrowed(program) };
    let branches = !caps.runs_all_branches && options.holding == Holding::Lane;
    if branches { Cow::Owned(put_aside(&lifted)) } else { lifted }
}

impl<'p> Lower<'p> {
    /// Whether an access was checked before the loop.
    pub(super) fn was_checked(&self, access: &Access) -> bool {
        self.ahead.as_ref().is_some_and(|a| a.accesses.contains(&std::ptr::from_ref(access)))
    }

    /// Whether the iterations of the loop are counted behind it.
    pub(super) fn was_counted(&self) -> bool {
        self.ahead.as_ref().is_some_and(|a| a.counts.is_some())
    }

    /// Emits what is to be asked before a loop: gives the condition under which `Ahead` holds. `counters`: of its iterations, and of
    /// those to be added.
    fn ahead_of(&mut self, body: &'p [Stmt], counters: (Ex, Option<Ex>)) -> Option<(Ex, Ahead)> {
        if !looks_ahead(self.caps, &self.options) {
            return None;
        }
        let exprs = std::mem::take(&mut self.exprs);
        let found = Course::new(body, &exprs)
            .and_then(|course| Some((course.end(body)?, course)))
            .and_then(|(end, course)| self.checks(body, &course, end, counters));
        self.exprs = exprs;
        found
    }

    /// Emits a loop: where it can be checked ahead, in two versions.
    pub(super) fn checked_or_not(
        &mut self,
        body: &'p [Stmt],
        counters: (Ex, Option<Ex>),
        mut each: impl FnMut(&mut Self),
        iteration: impl FnMut(&mut Self),
    ) {
        let Some((holds, ahead)) = self.ahead_of(body, counters) else { return each(self) };
        let (after, groups) = (ahead.counts, ahead.groups);
        self.f.open();
        self.ahead = Some(ahead);
        if let Some(groups) = groups {
            self.grouped(groups, iteration);
        }
        each(self);
        self.ahead = None;
        if let Some(after) = after {
            self.f.store(counters.0, after);
        }
        let accept = self.f.close();
        self.f.open();
        each(self);
        let reject = self.f.close();
        self.f.if_else(holds, accept, reject);
    }

    /// Emits iterations in groups, without asking whether the loop ends in them.
    fn grouped(&mut self, (groups, exit): (Ex, Exit), mut iteration: impl FnMut(&mut Self)) {
        let left = self.f.local(self.types.u32, None);
        self.f.store(left, groups);
        self.f.open();
        let (now, one) = (self.f.load(left), self.f.u32(1));
        let done = self.f.is_u32(now, 0);
        self.f.when(done, |f| f.push(Statement::Break));
        let less = self.f.sub(now, one);
        self.f.store(left, less);
        self.passed = Some(exit);
        (0..GROUP).for_each(|_| iteration(self));
        self.passed = None;
        let body = self.f.close();
        self.f.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
    }

    /// Of a branch that is known not to leave the loop, whether it is true.
    pub(super) fn passes(&self, cond: Value) -> Option<bool> {
        self.passed.filter(|exit| exit.cond == cond).map(|exit| !exit.if_true)
    }

    fn checks(
        &mut self,
        body: &'p [Stmt],
        course: &Course<'_>,
        end: End,
        counters: (Ex, Option<Ex>),
    ) -> Option<(Ex, Ahead)> {
        let (last, whole) = self.last_iteration(&end);
        let (after, room) = self.room(last, counters);
        let mut holds = self.all_of(whole, Some(room));
        let small = end.only && statements(body) <= MOST_STATEMENTS;
        let groups = small.then(|| (self.f.shr_u32(last, GROUP.trailing_zeros()), end.exit));
        let last = self.f.widen(last);
        let mut finder = Finder::new(course, last);
        let mut accesses = HashSet::new();
        for reached in reached(body) {
            if let Some(inside) = self.within(&mut finder, &reached) {
                holds = self.all_of(holds, Some(inside));
                accesses.insert(std::ptr::from_ref(reached.access));
            }
        }
        let counts = end.only.then_some(after);
        (end.only || !accesses.is_empty()).then_some((holds?, Ahead { accesses, counts, groups }))
    }

    /// The number of a loop's last iteration, from 0, if it counts to its limit in whole steps, and whether it does so.
    fn last_iteration(&mut self, end: &End) -> (Ex, Option<Ex>) {
        let moving = end.moving;
        let step = moving.step as u32;
        let start = self.var_pointer(moving.var);
        let start = self.f.load(start);
        let start =
            self.f.add_u32(start, if moving.stepped { end.plus.wrapping_add(step) } else { end.plus });
        let limit = self.get(end.limit);
        let (from, to) = if moving.step > 0 { (start, limit) } else { (limit, start) };
        let way = self.f.sub(to, from);
        let by = moving.step.unsigned_abs() as u32;
        let each = self.f.u32(by);
        let last = self.f.div(way, each);
        let whole = (by != 1).then(|| {
            let back = self.f.mul(last, each);
            self.f.eq(back, way)
        });
        (last, whole)
    }

    /// What the counter is behind the loop, and whether the budget allows for that.
    fn room(&mut self, last: Ex, (counter, base): (Ex, Option<Ex>)) -> (Ex, Ex) {
        let budget = self.launch_word(header::BUDGET);
        let (before, all) = self.counted(counter, base);
        let (some, left) = (self.f.lt(all, budget), self.f.sub(budget, all));
        let enough = self.f.lt(last, left);
        let after = self.f.add(before, last);
        (self.f.add_u32(after, 1), self.f.both(some, enough))
    }

    /// Whether all that an access reaches in any iteration is in its slot's window and in its natural place.
    fn within(&mut self, finder: &mut Finder<'_>, reached: &Reached<'p>) -> Option<Ex> {
        let access = reached.access;
        let index = self.window_of(access).filter(|_| access.space == Space::Global)?;
        let bounds = self.bounds(finder, access.address)?;
        let width = access.width.bytes();
        if bounds.even < width.trailing_zeros() {
            return None;
        }
        let [low, high] = [slot::LOW, slot::HIGH].map(|w| self.word_of(index, w));
        let size = self.word_of(index, if reached.stores { slot::WRITABLE } else { slot::BYTES });
        let (base, size) = (self.f.pack(low, high), self.f.widen(size));
        let (begins, bytes) = (self.f.ge(bounds.least, base), self.f.u64(u64::from(reached.bytes)));
        let end = self.f.sub(bounds.most, base);
        let end = self.f.add(end, bytes);
        let ends = self.f.le(end, size);
        let inside = self.f.both(begins, ends);
        let place = self.f.low(bounds.least);
        let place = self.f.and_u32(place, width - 1);
        let natural = self.f.is_u32(place, 0);
        let inside = self.f.both(inside, natural);
        self.all_of(bounds.holds, Some(inside))
    }
}

/// An access, the bytes it reaches, and whether it stores.
struct Reached<'p> {
    access: &'p Access,
    bytes: u32,
    stores: bool,
}

/// Statements of a loop and of what stands in it.
fn statements(body: &[Stmt]) -> usize {
    let mut count = 0;
    body.iter().for_each(|stmt| stmt.each(&mut |_| count += 1));
    count
}

/// The loads and stores of a loop.
fn reached<'p>(body: &'p [Stmt]) -> Vec<Reached<'p>> {
    let mut found = Vec::new();
    let mut note = |stmt: &'p Stmt| {
        let (access, units, stores) = match stmt {
            Stmt::Load { dst, access } => (access, dst.len(), false),
            Stmt::Store { src, access } => (access, src.len(), true),
            _ => return,
        };
        found.push(Reached { access, bytes: units as u32 * access.width.bytes(), stores });
    };
    body.iter().for_each(|stmt| stmt.each(&mut note));
    found
}
