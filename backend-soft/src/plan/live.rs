//! Which varying variables a stretch finds in the frame and leaves there: backward liveness over the steps.

use std::ops::{BitAnd, BitOr};

use guestwave_translate::program::{Expr, Program, Rate, Stmt, Var};

use super::{Home, Step, Stretch};

/// Loops inside loops that are solved; variables are taken as live throughout deeper ones.
const SOLVED_DEPTH: u32 = 4;

/// Fills in `live_in` and `live_out` of each stretch; gives the variables that are read before they are set.
pub(super) fn solve(program: &Program, homes: &[Home], steps: &mut [Step<'_>]) -> Vec<Var> {
    let varying = program.vars.iter().map(|v| v.rate == Rate::Varying).collect();
    let solver = Solver { homes, varying: Set(varying) };
    let none = solver.none();
    let live = solver.steps(steps, none.clone(), &Targets { on_break: &none, on_continue: &none, depth: 0 });
    live.vars().collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Set(Vec<bool>);

impl Set {
    fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        (0..).zip(&self.0).filter(|(_, live)| **live).map(|(i, _)| Var(i))
    }

    fn has(&self, var: Var) -> bool {
        self.0[var.0 as usize]
    }

    fn insert(&mut self, var: Var) {
        self.0[var.0 as usize] = true;
    }

    fn zip(&self, other: &Set, f: impl Fn(bool, bool) -> bool) -> Set {
        Set(self.0.iter().zip(&other.0).map(|(a, b)| f(*a, *b)).collect())
    }
}

impl BitAnd for &Set {
    type Output = Set;
    fn bitand(self, other: &Set) -> Set {
        self.zip(other, |a, b| a && b)
    }
}

impl BitOr for &Set {
    type Output = Set;
    fn bitor(self, other: &Set) -> Set {
        self.zip(other, |a, b| a || b)
    }
}

/// What is live where a loop is left or goes round, and how deep it is.
struct Targets<'s> {
    on_break: &'s Set,
    on_continue: &'s Set,
    depth: u32,
}

/// What a stretch's lanes do with the variables.
struct Use {
    /// Read before they are set on some way.
    exposed: Set,
    /// Set on every way.
    set: Set,
    /// Set on some way.
    touched: Set,
}

struct Solver<'a> {
    homes: &'a [Home],
    varying: Set,
}

impl Solver<'_> {
    fn none(&self) -> Set {
        Set(vec![false; self.varying.0.len()])
    }

    fn steps(&self, steps: &mut [Step<'_>], after: Set, to: &Targets<'_>) -> Set {
        steps.iter_mut().rev().fold(after, |live, step| self.step(step, live, to))
    }

    fn step(&self, step: &mut Step<'_>, live: Set, to: &Targets<'_>) -> Set {
        match step {
            Step::Stretch(stretch) => self.stretch(stretch, live),
            Step::If { then, otherwise, .. } => {
                let other = self.steps(otherwise, live.clone(), to);
                &self.steps(then, live, to) | &other
            }
            Step::Loop { body } => self.around(body, &live, to.depth),
            Step::Break => to.on_break.clone(),
            Step::Continue => to.on_continue.clone(),
            Step::Return | Step::Trap { .. } => self.none(),
            Step::Barrier { .. } | Step::Region => live,
        }
    }

    fn around(&self, body: &mut [Step<'_>], after: &Set, depth: u32) -> Set {
        let mut head = if depth < SOLVED_DEPTH { self.none() } else { self.varying.clone() };
        loop {
            let to = Targets { on_break: after, on_continue: &head, depth: depth + 1 };
            let found = &self.steps(body, head.clone(), &to) | &head;
            if found == head {
                return head;
            }
            head = found;
        }
    }

    fn stretch(&self, stretch: &mut Stretch<'_>, live: Set) -> Set {
        let mut used = Use { exposed: self.none(), set: self.none(), touched: self.none() };
        stretch.lanes.iter().for_each(|s| self.lane(s, &mut used));
        let before = &used.exposed | &live.zip(&used.set, |live, set| live && !set);
        stretch.live_out = (&live & &used.touched).vars().collect();
        stretch.live_in = (&before & &(&used.exposed | &used.touched)).vars().collect();
        before
    }

    fn lane(&self, stmt: &Stmt, used: &mut Use) {
        match stmt {
            Stmt::Let(value, Expr::Get(var)) => {
                let reads = self.homes[value.0 as usize] == Home::Lane && self.varying.has(*var);
                if reads && !used.set.has(*var) {
                    used.exposed.insert(*var);
                }
            }
            Stmt::Set(var, _) => {
                used.touched.insert(*var);
                used.set.insert(*var);
            }
            Stmt::If { .. } => {
                let [then, otherwise] = stmt.blocks().map(|b| self.branch(b, used));
                used.set = &then & &otherwise;
            }
            Stmt::Loop { body } => {
                self.branch(body, used);
            }
            _ => {}
        }
    }

    /// What is set at the end of a block, whose other uses are added to `used`.
    fn branch(&self, block: &[Stmt], used: &mut Use) -> Set {
        let before = used.set.clone();
        block.iter().for_each(|s| self.lane(s, used));
        std::mem::replace(&mut used.set, before)
    }
}
