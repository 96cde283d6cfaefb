//! Whether invocations of all waves of a workgroup meet only where all of them come along.
//!
//! A host's barrier waits for the whole workgroup. What is uniform in a wave need not be the same in all waves of a workgroup:
//! here is found what is.

use std::collections::{HashMap, HashSet};

use super::plan::Plan;
use super::shape::Shape;
use super::{HostCaps, Unsupported, codes};
use crate::program::{Builtin, Expr, Program, Space, Stmt, Value, Var};

/// A meeting that some waves of a workgroup may not come to.
pub(super) struct Parting {
    /// The statement of the program's body that it stands in.
    pub(super) at: usize,
    what: String,
}

impl Parting {
    /// The refusal of a program that has it.
    pub(super) fn refusal(self) -> Unsupported {
        let reason = format!("{} stands where the waves of a workgroup may go different ways", self.what);
        Unsupported { code: codes::FLOW, reason }
    }
}

/// The first meeting that does not stand where all waves of a workgroup come along.
pub(super) fn parting(program: &Program, plan: &Plan, caps: &HostCaps, shape: &Shape) -> Option<Parting> {
    let mut checker = Checker {
        program,
        plan,
        same: HashSet::new(),
        vars: (0..program.vars.len() as u32).map(Var).collect(),
        // Waves that are subgroups meet by themselves; only the program's barriers need all.
        only_barriers: shape.whole || caps.subgroup == Some(shape.invocations),
    };
    // Variables are the same until a setting says otherwise.
    loop {
        let before = checker.vars.len();
        checker.same.clear();
        checker.settle(&program.body, true);
        if checker.vars.len() == before {
            break;
        }
    }
    let mut each = program.body.iter().enumerate();
    each.find_map(|(at, stmt)| Some(Parting { at, what: checker.apart(std::slice::from_ref(stmt), true)? }))
}

struct Checker<'p> {
    program: &'p Program,
    plan: &'p Plan,
    /// Values that all waves of a workgroup have alike.
    same: HashSet<Value>,
    vars: HashSet<Var>,
    only_barriers: bool,
}

impl Checker<'_> {
    /// Finds what is the same; `together`: all waves come along.
    fn settle(&mut self, block: &[Stmt], together: bool) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, expr) if self.alike(expr) => {
                    self.same.insert(*value);
                }
                Stmt::Set(var, value) if !(together && self.same.contains(value)) => {
                    self.vars.remove(var);
                }
                Stmt::If { cond, then, otherwise } => {
                    let together = together && self.same.contains(cond);
                    self.settle(then, together);
                    self.settle(otherwise, together);
                }
                Stmt::Loop { body } => {
                    let together = together && !self.leaves_apart(body);
                    self.settle(body, together);
                }
                Stmt::Load { dst, access } => {
                    let fixed = match access.space {
                        Space::Table => true,
                        Space::Global => self.only_read(access.slot),
                        _ => false,
                    };
                    if fixed && self.same.contains(&access.address) && self.same.contains(&access.valid) {
                        self.same.extend(dst);
                    }
                }
                _ => {}
            }
        }
    }

    fn only_read(&self, slot: Option<u16>) -> bool {
        slot.and_then(|s| self.program.slots.get(usize::from(s))).is_some_and(|s| !s.written)
    }

    fn alike(&self, expr: &Expr) -> bool {
        match expr {
            Expr::ConstBool(_) | Expr::Const32(_) | Expr::Const64(_) | Expr::Param(_) => true,
            Expr::Builtin(b) => *b == Builtin::Group,
            Expr::Get(var) => self.vars.contains(var),
            Expr::Wave(_) => false,
            _ => {
                let mut all = true;
                expr.operands(|v| all &= self.same.contains(&v));
                all
            }
        }
    }

    /// Whether some waves may leave a loop, or an iteration of it, before others.
    fn leaves_apart(&self, body: &[Stmt]) -> bool {
        body.iter().any(|stmt| match stmt {
            Stmt::If { cond, then, otherwise } => {
                let inner = || then.iter().chain(otherwise);
                let apart = !self.same.contains(cond) && inner().any(breaks);
                apart || self.leaves_apart(then) || self.leaves_apart(otherwise)
            }
            _ => false,
        })
    }

    /// A meeting that some waves may not come to.
    fn apart(&self, block: &[Stmt], together: bool) -> Option<String> {
        block.iter().find_map(|stmt| {
            let need = self.plan.need(stmt);
            match stmt {
                Stmt::If { cond, then, otherwise } if need.meets && !need.cut => {
                    let together = together && self.same.contains(cond);
                    self.apart(then, together).or_else(|| self.apart(otherwise, together))
                }
                Stmt::Loop { body } if need.meets && !need.cut => {
                    self.apart(body, together && !self.leaves_apart(body))
                }
                Stmt::Barrier { pc } if !together => Some(format!("the barrier at {pc:#x}")),
                _ if need.meets && !together && !self.only_barriers => Some(name(stmt)),
                _ => None,
            }
        })
    }
}

fn name(stmt: &Stmt) -> String {
    match stmt {
        Stmt::Let(_, Expr::Wave(op)) => format!("{op:?}"),
        Stmt::Load { access, .. } | Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => {
            format!("the access at {:#x}", access.pc)
        }
        _ => "a statement whose lanes wait for each other".into(),
    }
}

/// Whether a `Break` or `Continue` of the loop around stands in `stmt`.
pub(super) fn breaks(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Break | Stmt::Continue => true,
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).any(breaks),
        _ => false,
    }
}

/// Definitions of a program's values.
pub(super) fn definitions(block: &[Stmt], into: &mut HashMap<Value, Expr>) {
    let mut note = |stmt: &Stmt| {
        if let Stmt::Let(value, expr) = stmt {
            into.insert(*value, *expr);
        }
    };
    block.iter().for_each(|stmt| stmt.each(&mut note));
}
