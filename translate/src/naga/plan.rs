//! What each statement needs, found before anything is emitted: where it runs, and where lanes must wait for each other.
//!
//! In uniform control flow all lanes do a statement before any lane does the next, and lanes store in order. Lanes that run
//! by themselves need a *cut* (the lanes meet) before an access that could meet another lane's earlier one. Between stores no
//! cut is made in the lane-wise holdings: they *check* instead whether a byte is stored twice. Atomics whose results depend on
//! the order of lanes are done lane by lane (*serial*).

use std::collections::{HashMap, HashSet};

use super::hoist::Hoists;
use super::spread::{Reach, Spread, Spreads, Step};
use crate::backend::Holding;
use crate::program::{Access, AtomicOp, Expr, Program, Rate, Space, Stmt, Var, Width};

/// Where a statement runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Defines a uniform value without looking at lanes: anywhere before its uses.
    Free,
    /// Does something in each lane.
    Lanes,
    /// Concerns the wave.
    Wave,
}

/// What one statement needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    pub(super) class: Class,
    /// The lanes meet before it.
    pub(super) cut: bool,
    /// Its stores look whether a byte is stored twice.
    pub(super) check: bool,
    /// Its store's lanes are so far apart; whether that is far enough shows when it runs.
    pub(super) step: Option<Step>,
    /// All lanes store, each the dword behind the last lane's.
    pub(super) rows: bool,
    /// Lane by lane.
    pub(super) serial: bool,
    /// Invocations meet somewhere in it.
    pub(super) meets: bool,
}

/// How what a statement stores is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marking {
    /// By each lane.
    Lanes,
    /// By each lane, which looks whether it was marked before.
    Checked,
    /// By each lane, if lanes are so far apart that none stores what another does.
    Stepped(Step),
    /// By some lanes for those after them.
    Rows,
}

impl Need {
    /// How what it stores is marked.
    pub(super) fn marking(&self) -> Marking {
        match self.step {
            _ if self.check => Marking::Checked,
            _ if self.rows => Marking::Rows,
            Some(step) => Marking::Stepped(step),
            None => Marking::Lanes,
        }
    }
}

/// The needs of a program's statements and of the whole.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) needs: HashMap<*const Stmt, Need>,
    /// The variable that says whether a wave is soon to be held back, if the program has one.
    pub(super) pausing: Option<Var>,
    /// A lane may end before others of its wave.
    pub(super) lane_returns: bool,
    /// A wave may end other than by the program's end.
    pub(super) returns: bool,
    /// The program has a barrier.
    pub(super) barriers: bool,
    /// The program reaches LDS.
    pub(super) lds: bool,
    /// It was used that slots are apart.
    pub(super) slots_apart: bool,
    /// 64-bit atomics on guest memory.
    pub(super) atomics64: bool,
    /// 64-bit atomics on LDS, which are read, changed and written one after another.
    pub(super) local_atomics64: bool,
    /// Some statement makes the lanes meet.
    pub(super) meets: bool,
}

/// One memory statement, or one inside a statement of lanes.
#[derive(Clone, Copy)]
struct Touch<'p> {
    stmt: *const Stmt,
    access: &'p Access,
    /// Bytes from its address on.
    bytes: u32,
    kind: Kind,
    /// Of another iteration of a loop around, so that values differ.
    far: bool,
}

impl Touch<'_> {
    /// Where it reaches to from its address beside an access such as `other`. An atomic's unit is naturally aligned and may begin
    /// before its address; units of one width that begin at addresses as far apart as that are different ones all the same.
    fn reach(&self, other: &Touch<'_>) -> Reach {
        let alike = other.is_atomic() && other.access.width == self.access.width;
        let aligned = self.is_atomic() && !alike;
        Reach { below: if aligned { u64::from(self.bytes) - 1 } else { 0 }, above: self.bytes.into() }
    }

    fn is_atomic(&self) -> bool {
        matches!(self.kind, Kind::Commuting(_) | Kind::Ordered)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    /// An atomic that leaves the same whatever the order, with others of its operation.
    Commuting(AtomicOp),
    Ordered,
}

impl Plan {
    /// `hoists`: loads that the host makes.
    pub(super) fn new(program: &Program, holding: Holding, slots_apart: bool, hoists: &Hoists) -> Self {
        let mut maker = Maker::new(program, holding, slots_apart, hoists);
        maker.classes(&program.body, false);
        maker.order(&program.body);
        maker.plan.meets = maker.meets(&program.body);
        maker.plan
    }

    /// The plan of a program whose lanes meet at barriers only and tell each other nothing but by words ([`super::phases`]);
    /// stores of the instructions at `checked` look whether a byte is stored twice.
    pub(super) fn of_words(program: &Program, checked: &HashSet<u32>) -> Self {
        let hoists = Hoists::default();
        let mut maker = Maker::new(program, Holding::Lane, false, &hoists);
        maker.classes(&program.body, false);
        for stmt in &program.body {
            stmt.each(&mut |s| match s {
                Stmt::Store { access, .. }
                    if access.space == Space::Global && checked.contains(&access.pc) =>
                {
                    maker.set(s, |n| n.check = true);
                }
                _ => {}
            });
        }
        maker.plan.meets = maker.meets(&program.body);
        maker.plan
    }

    /// What `stmt`, a statement of the program the plan was made for, needs.
    pub(super) fn need(&self, stmt: &Stmt) -> Need {
        let unknown = Need {
            class: Class::Wave,
            cut: true,
            check: true,
            step: None,
            rows: false,
            serial: false,
            meets: true,
        };
        self.needs.get(&std::ptr::from_ref(stmt)).copied().unwrap_or(unknown)
    }
}

struct Maker<'p> {
    program: &'p Program,
    whole: bool,
    apart: bool,
    spreads: Spreads<'p>,
    hoists: &'p Hoists,
    /// Accesses since the lanes last met.
    since: Vec<Touch<'p>>,
    plan: Plan,
}

impl<'p> Maker<'p> {
    fn new(program: &'p Program, holding: Holding, apart: bool, hoists: &'p Hoists) -> Self {
        Maker {
            program,
            whole: holding == Holding::Wave,
            apart,
            spreads: Spreads::new(program),
            hoists,
            since: Vec::new(),
            plan: Plan::default(),
        }
    }

    /// Classifies the statements of a block; `varying`: lanes may be away.
    fn classes(&mut self, block: &'p [Stmt], varying: bool) -> bool {
        block.iter().fold(true, |lanes, stmt| (self.class(stmt, varying) != Class::Wave) & lanes)
    }

    fn class(&mut self, stmt: &'p Stmt, varying: bool) -> Class {
        let uniform = |v| self.program.info(v).rate == Rate::Uniform;
        let by_rate = |u: bool| if u { Class::Wave } else { Class::Lanes };
        let class = match stmt {
            Stmt::Let(_, Expr::Wave(_)) => Class::Wave,
            Stmt::Let(v, _) => {
                if uniform(*v) {
                    Class::Free
                } else {
                    Class::Lanes
                }
            }
            Stmt::Set(var, _) => by_rate(self.program.var(*var).rate == Rate::Uniform),
            Stmt::If { cond, then, otherwise } => {
                let varies = !uniform(*cond);
                let inner = varying || varies;
                let lanes = self.classes(then, inner) & self.classes(otherwise, inner);
                // Where lanes go together they keep their order, and a statement of the lanes has no meetings inside.
                let ordered = !inner && then.iter().chain(otherwise).any(changes_shared);
                by_rate(!(lanes && !ordered || varies))
            }
            Stmt::Loop { body } => {
                let varies = varying || body.iter().any(|s| self.leaves_varying(s));
                self.classes(body, varies);
                by_rate(!varies)
            }
            Stmt::Load { access, .. } | Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => {
                self.note_access(access, matches!(stmt, Stmt::Atomic { .. }));
                by_rate(self.program.access_rate(access) == Rate::Uniform)
            }
            Stmt::Return => {
                self.plan.returns = true;
                self.plan.lane_returns |= varying;
                Class::Wave
            }
            Stmt::Barrier { .. } => {
                self.plan.barriers = true;
                Class::Wave
            }
            Stmt::Break | Stmt::Continue | Stmt::Trap { .. } => Class::Wave,
        };
        let rows = !varying && self.rows(stmt);
        let need = Need { class, cut: false, check: false, step: None, rows, serial: false, meets: false };
        self.plan.needs.insert(std::ptr::from_ref(stmt), need);
        class
    }

    /// Whether each lane stores the dword behind the last lane's.
    fn rows(&self, stmt: &Stmt) -> bool {
        let Stmt::Store { src, access } = stmt else { return false };
        let dword = access.space == Space::Global && access.width == Width::W32 && src.len() == 1;
        dword && self.spreads.stride(access.address) == Some(4)
    }

    fn note_access(&mut self, access: &Access, atomic: bool) {
        self.plan.lds |= access.space == Space::Lds;
        let wide = atomic && access.width == Width::W64;
        self.plan.atomics64 |= wide && access.space == Space::Global;
        self.plan.local_atomics64 |= wide && access.space == Space::Lds;
    }

    /// Whether lanes leave a loop around `stmt` by themselves.
    fn leaves_varying(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::If { cond, then, otherwise } => {
                let inner = || then.iter().chain(otherwise);
                let varies = self.program.info(*cond).rate == Rate::Varying;
                if varies { inner().any(Stmt::leaves) } else { inner().any(|s| self.leaves_varying(s)) }
            }
            Stmt::Loop { body } => body.iter().any(|s| self.leaves_varying(s) && s.returns()),
            _ => false,
        }
    }

    fn set(&mut self, stmt: *const Stmt, change: impl FnOnce(&mut Need)) {
        if let Some(need) = self.plan.needs.get_mut(&stmt) {
            change(need);
        }
    }

    /// Walks a block of uniform control flow and finds where lanes must meet.
    fn order(&mut self, block: &'p [Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::If { then, otherwise, .. } if self.is_wave(stmt) => {
                    let before = self.since.clone();
                    self.order(then);
                    let after = std::mem::replace(&mut self.since, before);
                    self.order(otherwise);
                    self.remember(after);
                }
                Stmt::Loop { body } if self.is_wave(stmt) => {
                    // What an iteration does may come before what the next one does.
                    let all = touches(body, self.hoists);
                    self.remember(all.iter().map(|t| Touch { far: true, ..*t }).collect());
                    self.order(body);
                    self.remember(all);
                }
                _ => self.order_one(stmt),
            }
        }
    }

    /// Takes accesses among those since the lanes last met, each once: else every `If` would double what came before it.
    fn remember(&mut self, touches: Vec<Touch<'p>>) {
        let mut known: HashSet<_> = self.since.iter().map(|t| (t.stmt, t.far)).collect();
        self.since.extend(touches.into_iter().filter(|t| known.insert((t.stmt, t.far))));
    }

    fn is_wave(&self, stmt: &Stmt) -> bool {
        self.plan.need(stmt).class == Class::Wave
    }

    fn order_one(&mut self, stmt: &'p Stmt) {
        self.order_self(stmt);
        let now = touches(std::slice::from_ref(stmt), self.hoists);
        let (mut cut, mut relies) = (false, false);
        let mut checked = Vec::new();
        for (a, b) in self.since.iter().flat_map(|a| now.iter().map(move |b| (a, b))) {
            let stores = a.kind == Kind::Write && b.kind == Kind::Write;
            if !self.meet(a, b) {
            } else if self.apart && different_slots(a, b) {
                relies = true;
            } else if stores && a.access.space == Space::Global && !self.whole {
                checked.extend([a.stmt, b.stmt]);
            } else {
                cut = true;
            }
        }
        self.plan.slots_apart |= relies;
        checked.into_iter().for_each(|s| self.set(s, |n| n.check = true));
        if cut {
            self.set(stmt, |n| n.cut = true);
            self.since.clear();
        }
        self.since.extend(now);
        if matches!(stmt, Stmt::Barrier { .. }) {
            self.since.clear();
        }
    }

    /// Stores and atomics of one statement among themselves.
    fn order_self(&mut self, stmt: &'p Stmt) {
        let (access, units) = match stmt {
            Stmt::If { .. } if !self.whole => return self.check_inside(stmt),
            Stmt::Store { src, access } => (access, src.len() as u32),
            Stmt::Atomic { dst, op, access, .. } if dst.is_some() || !commutes(*op) || in_halves(access) => {
                (access, 1)
            }
            _ => return,
        };
        let alone = || self.alone(access, units * access.width.bytes());
        if unordered(access.space) || self.whole || self.is_wave(stmt) || alone() {
            return;
        }
        let checkable = matches!(stmt, Stmt::Store { .. }) && access.space == Space::Global;
        if checkable {
            self.keep_apart(stmt, access);
        } else {
            self.set(stmt, |n| n.serial = true);
        }
    }

    /// Has a store see to it that no two lanes store one byte.
    fn keep_apart(&mut self, stmt: &'p Stmt, access: &Access) {
        let step = self.spreads.step(access.address);
        self.set(stmt, |n| match step {
            Some(_) => n.step = step,
            None => n.check = true,
        });
    }

    /// Stores of lanes some of which stay away.
    fn check_inside(&mut self, stmt: &'p Stmt) {
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                then.iter().chain(otherwise).for_each(|s| self.check_inside(s));
            }
            Stmt::Store { src, access }
                if access.space == Space::Global
                    && !self.alone(access, src.len() as u32 * access.width.bytes()) =>
            {
                self.keep_apart(stmt, access);
            }
            _ => {}
        }
    }

    /// Whether no two lanes reach one byte by an access.
    fn alone(&self, access: &Access, bytes: u32) -> bool {
        self.spreads.of(access.address).is_some_and(|s| s.apart(u64::from(bytes)))
    }

    /// Whether different lanes' accesses may reach one byte such that their order can be seen.
    fn meet(&self, a: &Touch<'_>, b: &Touch<'_>) -> bool {
        let order_free = match (a.kind, b.kind) {
            (Kind::Read, Kind::Read) => true,
            // A carry from one narrow unit into the next is lost, one inside a wide unit is not.
            (Kind::Commuting(x), Kind::Commuting(y)) => x == y && a.access.width == b.access.width,
            _ => false,
        };
        let space = a.access.space;
        let elsewhere = space != b.access.space || unordered(space);
        !(order_free || elsewhere || self.own(a, b))
    }

    /// Whether each lane reaches bytes of its own by two accesses.
    fn own(&self, a: &Touch<'_>, b: &Touch<'_>) -> bool {
        let spread = |t: &Touch<'_>| self.spreads.of(t.access.address);
        match (spread(a), spread(b)) {
            _ if a.far => false,
            (Some(x), Some(y)) => Spread::lanes_apart((&x, a.reach(b)), (&y, b.reach(a))),
            _ => false,
        }
    }

    /// Finds where lanes meet, for the statements of uniform control flow.
    fn meets(&mut self, block: &'p [Stmt]) -> bool {
        block.iter().fold(false, |any, stmt| {
            let need = self.plan.need(stmt);
            let inside = match stmt {
                _ if need.class != Class::Wave => false,
                Stmt::If { then, otherwise, .. } => self.meets(then) | self.meets(otherwise),
                Stmt::Loop { body } => self.meets(body),
                Stmt::Barrier { .. } => true,
                Stmt::Let(_, Expr::Wave(_)) | Stmt::Atomic { .. } => !self.whole,
                _ => false,
            };
            let meets = inside || (need.cut || need.serial) && !self.whole;
            self.set(stmt, |n| n.meets = meets);
            any | meets
        })
    }
}

/// Whether a statement changes memory that lanes share.
fn changes_shared(stmt: &Stmt) -> bool {
    stmt.any(&|s| match s {
        Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => access.space != Space::Scratch,
        _ => false,
    })
}

/// Whether lanes' accesses to a memory never meet, or meet only as whoever made them saw to.
fn unordered(space: Space) -> bool {
    matches!(space, Space::Scratch | Space::Table | Space::Exchange)
}

/// Whether atomics there are not one step of the host.
fn in_halves(access: &Access) -> bool {
    access.space == Space::Lds && access.width == Width::W64
}

fn different_slots(a: &Touch<'_>, b: &Touch<'_>) -> bool {
    let slots = (a.access.slot, b.access.slot);
    a.access.space == Space::Global && matches!(slots, (Some(x), Some(y)) if x != y)
}

/// Whether lanes in any order leave the same, if nobody looks at the values before.
fn commutes(op: AtomicOp) -> bool {
    use AtomicOp as A;
    matches!(
        op,
        A::Add | A::Sub | A::MinS | A::MinU | A::MaxS | A::MaxU | A::And | A::Or | A::Xor | A::MinF | A::MaxF
    )
}

/// The memory statements in a block that modules do.
fn touches<'p>(block: &'p [Stmt], hoists: &Hoists) -> Vec<Touch<'p>> {
    let mut found = Vec::new();
    collect(block, hoists, &mut found);
    found
}

fn collect<'p>(block: &'p [Stmt], hoists: &Hoists, found: &mut Vec<Touch<'p>>) {
    for stmt in block {
        let (access, units, kind) = match stmt {
            Stmt::Load { dst, .. } if dst.first().is_some_and(|v| hoists.place(*v).is_some()) => continue,
            Stmt::Load { dst, access } => (access, dst.len(), Kind::Read),
            Stmt::Store { src, access } => (access, src.len(), Kind::Write),
            Stmt::Atomic { dst: None, op, access, .. } if commutes(*op) => (access, 1, Kind::Commuting(*op)),
            Stmt::Atomic { access, .. } => (access, 1, Kind::Ordered),
            Stmt::If { then, otherwise, .. } => {
                collect(then, hoists, found);
                collect(otherwise, hoists, found);
                continue;
            }
            Stmt::Loop { body } => {
                collect(body, hoists, found);
                continue;
            }
            _ => continue,
        };
        found.push(Touch { stmt, access, bytes: units as u32 * access.width.bytes(), kind, far: false });
    }
}

/// Whether a block reaches LDS or has barriers.
pub(super) fn shares(block: &[Stmt]) -> bool {
    let shares = |stmt: &Stmt| match stmt {
        Stmt::Barrier { .. } => true,
        Stmt::Load { access, .. } | Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => {
            access.space == Space::Lds
        }
        _ => false,
    };
    block.iter().any(|stmt| stmt.any(&shares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Builder, Builtin};

    /// `count` ifs one after another, each with a store.
    fn ifs(count: usize) -> Program {
        let mut b = Builder::new("ifs", 32);
        let (cond, four) = (b.cbool(true), b.c32(4));
        let lane = b.builtin(Builtin::Lane);
        for i in 0..count {
            let address = b.c64(i as u64 * 4);
            b.open();
            b.store(
                vec![lane],
                Access { space: Space::Global, address, valid: four, width: Width::W32, pc: 0, slot: None },
            );
            let then = b.close();
            b.push(Stmt::If { cond, then, otherwise: Vec::new() });
        }
        b.finish()
    }

    #[test]
    fn accesses_before_an_if_are_remembered_once() {
        let program = ifs(12);
        let hoists = Hoists::default();
        let mut maker = Maker::new(&program, Holding::Lane, false, &hoists);
        maker.classes(&program.body, false);
        maker.order(&program.body);
        assert_eq!(maker.since.len(), 12);
    }
}
