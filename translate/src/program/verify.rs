//! What every program must hold to; backends may rely on it after [`verify`].
//!
//! 1. Each value is defined once, before its uses, and used only while its block is open.
//! 2. Operand and result types are those of the operations.
//! 3. A value's recorded type and rate are those that its definition gives it.
//! 4. Wave operations, barriers and settings of uniform variables stand in uniform control flow.
//! 5. `Break` and `Continue` stand in a loop.
//! 6. Global addresses are `B64`, others `B32`; `valid` is `B32`; uniform stores and atomics take uniform data.
//! 7. A uniform atomic, which happens once a wave, stands in uniform control flow.

use super::{
    Access, AtomicOp, BinOp, Block, Builtin, Expr, Program, Rate, Space, Stmt, TriOp, Type, UnOp, Value,
    ValueInfo, Width,
};

/// How a program breaks a rule of this module: a fault of whoever built it, not of the guest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program {name} is malformed: {what}")]
pub struct Malformed {
    /// The program's name.
    pub name: String,
    /// What is wrong, with the value or variable.
    pub what: String,
}

/// Checks a program against the rules of this module.
///
/// # Errors
/// The first breach.
pub fn verify(program: &Program) -> Result<(), Malformed> {
    let mut v = Verifier { program, visible: vec![false; program.values.len()], loops: Vec::new() };
    let at = |what| Malformed { name: program.name.clone(), what };
    if !matches!(program.wave_lanes, 32 | 64) {
        return Err(at(format!("waves of {} lanes", program.wave_lanes)));
    }
    v.block(&program.body, false).map_err(at)
}

/// Type and rate that `expr` gives a value in `program`. Of a malformed expression, the nearest sensible answer.
pub(super) fn infer(program: &Program, expr: &Expr) -> ValueInfo {
    let info = |v: Value| program.info(v);
    let uniform = |ty| ValueInfo { ty, rate: Rate::Uniform };
    match *expr {
        Expr::ConstBool(_) => uniform(Type::Bool),
        Expr::Const32(_) | Expr::Param(_) => uniform(Type::B32),
        Expr::Const64(_) => uniform(Type::B64),
        Expr::Get(var) => ValueInfo { ty: program.var(var).ty, rate: program.var(var).rate },
        Expr::Builtin(Builtin::Lane) => ValueInfo { ty: Type::B32, rate: Rate::Varying },
        Expr::Builtin(_) => uniform(Type::B32),
        Expr::Un(op, a) => ValueInfo { ty: op.signature().1.unwrap_or(info(a).ty), rate: info(a).rate },
        Expr::Bin(op, a, b) => {
            ValueInfo { ty: op.signature().1.unwrap_or(info(a).ty), rate: info(a).rate.max(info(b).rate) }
        }
        Expr::Tri(_, a, b, c) => {
            ValueInfo { ty: info(b).ty, rate: info(a).rate.max(info(b).rate).max(info(c).rate) }
        }
        Expr::Wave(w) => {
            let (ty, rate) = w.result();
            ValueInfo { ty, rate }
        }
    }
}

struct Verifier<'a> {
    program: &'a Program,
    visible: Vec<bool>,
    /// For each open loop, whether it stands in varying control flow.
    loops: Vec<bool>,
}

type Check = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(what()) }
}

impl Verifier<'_> {
    /// `diverged`: the block stands in varying control flow.
    fn block(&mut self, block: &Block, diverged: bool) -> Check {
        let mut defined = Vec::new();
        // A lane that left by a varying Break, Continue or Return is away for the rest of the loop body or program.
        let mut diverged = diverged;
        for stmt in block {
            self.stmt(stmt, diverged, &mut defined)?;
            diverged |= self.leaves_varying(stmt);
        }
        for v in defined {
            self.visible[v] = false;
        }
        Ok(())
    }

    /// Whether after `stmt` some lanes may be away.
    fn leaves_varying(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::If { cond, then, otherwise } => {
                let varying = self.program.info(*cond).rate == Rate::Varying;
                let inner = then.iter().chain(otherwise);
                if varying {
                    inner.into_iter().any(Stmt::leaves)
                } else {
                    then.iter().any(|s| self.leaves_varying(s))
                        || otherwise.iter().any(|s| self.leaves_varying(s))
                }
            }
            Stmt::Loop { body } => body.iter().any(|s| self.returns_varying(s, false)),
            _ => false,
        }
    }

    /// Whether a lane may return from inside `stmt` while others do not.
    fn returns_varying(&self, stmt: &Stmt, diverged: bool) -> bool {
        match stmt {
            Stmt::Return => diverged,
            Stmt::If { cond, then, otherwise } => {
                let diverged = diverged || self.program.info(*cond).rate == Rate::Varying;
                then.iter().chain(otherwise).any(|s| self.returns_varying(s, diverged))
            }
            Stmt::Loop { body } => {
                let diverged = diverged || body.iter().any(|s| self.leaves_varying(s));
                body.iter().any(|s| self.returns_varying(s, diverged))
            }
            _ => false,
        }
    }

    fn stmt(&mut self, stmt: &Stmt, diverged: bool, defined: &mut Vec<usize>) -> Check {
        match stmt {
            Stmt::Let(value, expr) => {
                self.expr(expr, diverged)?;
                let (found, recorded) = (infer(self.program, expr), self.program.info(*value));
                ensure(found == recorded, || {
                    format!("{value:?} is recorded as {recorded:?} but is {found:?}")
                })?;
                self.define(*value, defined)
            }
            Stmt::Set(var, value) => self.set(*var, *value, diverged),
            Stmt::If { cond, then, otherwise } => {
                self.typed(*cond, Type::Bool)?;
                let inner = diverged || self.rate(*cond) == Rate::Varying;
                self.block(then, inner)?;
                self.block(otherwise, inner)
            }
            Stmt::Loop { body } => {
                self.loops.push(diverged);
                let inner = diverged || body.iter().any(|s| self.leaves_varying(s));
                let checked = self.block(body, inner);
                self.loops.pop();
                checked
            }
            Stmt::Break | Stmt::Continue => {
                ensure(!self.loops.is_empty(), || "a Break outside a loop".into())
            }
            Stmt::Return | Stmt::Trap { .. } => Ok(()),
            Stmt::Barrier { pc } => {
                ensure(!diverged, || format!("a barrier in varying control flow at pc {pc:#x}"))
            }
            Stmt::Load { dst, access } => {
                self.access(access, diverged)?;
                dst.iter().try_for_each(|v| self.loaded(*v, Type::B32, access, defined))
            }
            Stmt::Store { src, access } => {
                src.iter().try_for_each(|v| self.stored(*v, Type::B32, access))?;
                self.access(access, diverged)
            }
            Stmt::Atomic { dst, op, data, compare, access } => {
                self.atomic(*op, *data, *compare, access, diverged)?;
                let ty = self.program.info(*data).ty;
                dst.iter().try_for_each(|v| self.loaded(*v, ty, access, defined))
            }
        }
    }

    fn define(&mut self, value: Value, defined: &mut Vec<usize>) -> Check {
        let at = value.0 as usize;
        ensure(at < self.visible.len(), || format!("{value:?} is out of range"))?;
        ensure(!self.visible[at], || format!("{value:?} is defined twice"))?;
        self.visible[at] = true;
        defined.push(at);
        Ok(())
    }

    /// Defines a value that an access gives.
    fn loaded(&mut self, value: Value, ty: Type, access: &Access, defined: &mut Vec<usize>) -> Check {
        self.define(value, defined)?;
        let (found, wanted) =
            (self.program.info(value), ValueInfo { ty, rate: self.program.access_rate(access) });
        ensure(found == wanted, || format!("{value:?} is recorded as {found:?} but is {wanted:?}"))
    }

    fn rate(&self, value: Value) -> Rate {
        self.program.info(value).rate
    }

    fn seen(&self, value: Value) -> Check {
        let known = self.visible.get(value.0 as usize).copied().unwrap_or(false);
        ensure(known, || format!("{value:?} is used where it is not defined"))
    }

    fn typed(&self, value: Value, ty: Type) -> Check {
        self.seen(value)?;
        let found = self.program.info(value).ty;
        ensure(found == ty, || format!("{value:?} is {found:?} where {ty:?} is wanted"))
    }

    fn set(&self, var: super::Var, value: Value, diverged: bool) -> Check {
        let known = self.program.vars.get(var.0 as usize).ok_or_else(|| format!("{var:?} is unknown"))?;
        self.typed(value, known.ty)?;
        ensure(known.rate == Rate::Varying || (self.rate(value) == Rate::Uniform && !diverged), || {
            format!("uniform {} is set to a varying value or in varying control flow", known.name)
        })
    }

    fn stored(&self, value: Value, ty: Type, access: &Access) -> Check {
        self.typed(value, ty)?;
        let uniform = self.program.access_rate(access) == Rate::Uniform;
        ensure(!uniform || self.rate(value) == Rate::Uniform, || {
            format!("{value:?} varies, its address does not")
        })
    }

    fn access(&self, access: &Access, diverged: bool) -> Check {
        let ty = if access.space == Space::Global { Type::B64 } else { Type::B32 };
        self.typed(access.address, ty)?;
        self.typed(access.valid, Type::B32)?;
        let known = access.slot.is_none_or(|s| usize::from(s) < self.program.slots.len());
        ensure(known, || format!("slot {:?} is unknown", access.slot))?;
        let _ = diverged;
        Ok(())
    }

    fn atomic(
        &self,
        op: AtomicOp,
        data: Value,
        compare: Option<Value>,
        access: &Access,
        diverged: bool,
    ) -> Check {
        let ty = match access.width {
            Width::W32 => Type::B32,
            Width::W64 => Type::B64,
            w => return Err(format!("an atomic of {} bytes", w.bytes())),
        };
        self.stored(data, ty, access)?;
        compare.map_or(Ok(()), |c| self.stored(c, ty, access))?;
        ensure((op == AtomicOp::CompareSwap) == compare.is_some(), || {
            "a comparand without compare-and-swap".into()
        })?;
        ensure(access.space != Space::Table, || "an atomic on a table".into())?;
        let uniform = self.program.access_rate(access) == Rate::Uniform;
        ensure(!(uniform && diverged), || {
            format!("a uniform atomic in varying control flow at pc {:#x}", access.pc)
        })?;
        self.access(access, diverged)
    }

    fn expr(&self, expr: &Expr, diverged: bool) -> Check {
        let mut seen = Ok(());
        expr.operands(|v| {
            if seen.is_ok() {
                seen = self.seen(v);
            }
        });
        seen?;
        match *expr {
            Expr::Get(var) => {
                ensure((var.0 as usize) < self.program.vars.len(), || format!("{var:?} is unknown"))
            }
            Expr::Param(p) => {
                ensure(usize::from(p) < self.program.params.len(), || format!("parameter {p} is unknown"))
            }
            Expr::Un(op, a) => self.un(op, a),
            Expr::Bin(op, a, b) => self.bin(op, a, b),
            Expr::Tri(op, a, b, c) => self.tri(op, a, b, c),
            Expr::Wave(w) => {
                ensure(!diverged, || format!("{w:?} in varying control flow"))?;
                self.wave(w)
            }
            _ => Ok(()),
        }
    }

    fn un(&self, op: UnOp, a: Value) -> Check {
        match op.signature().0 {
            Some(ty) => self.typed(a, ty),
            None => ensure(op == UnOp::Not || self.program.info(a).ty != Type::Bool, || {
                format!("{op:?} of a Bool")
            }),
        }
    }

    fn bin(&self, op: BinOp, a: Value, b: Value) -> Check {
        let (operand, _) = op.signature();
        let ty = operand.unwrap_or(self.program.info(a).ty);
        self.typed(a, ty)?;
        self.typed(b, if op.is_shift() { Type::B32 } else { ty })?;
        ensure(ty != Type::Bool || op.takes_bool(), || format!("{op:?} of Bools"))
    }

    fn tri(&self, op: TriOp, a: Value, b: Value, c: Value) -> Check {
        let ty = match op {
            TriOp::Select => {
                self.typed(a, Type::Bool)?;
                return self.typed(c, self.program.info(b).ty);
            }
            TriOp::FmaF64 => Type::B64,
            TriOp::FmaF32 | TriOp::FastMadF32 => Type::B32,
        };
        [a, b, c].into_iter().try_for_each(|v| self.typed(v, ty))
    }

    fn wave(&self, op: super::WaveOp) -> Check {
        use super::WaveOp as W;
        match op {
            W::Ballot(v) | W::Any(v) => self.typed(v, Type::Bool),
            W::ReadLane { value, lane } => {
                self.typed(value, Type::B32)?;
                self.typed(lane, Type::B32)?;
                ensure(self.rate(lane) == Rate::Uniform, || format!("{lane:?} of ReadLane varies"))
            }
            W::Shuffle { value, lane } => {
                self.typed(value, Type::B32)?;
                self.typed(lane, Type::B32)
            }
            W::Send { value, lane, active } => {
                self.typed(value, Type::B32)?;
                self.typed(lane, Type::B32)?;
                self.typed(active, Type::Bool)
            }
        }
    }
}
