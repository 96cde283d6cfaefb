//! What statements take and what stands inside them.

use super::{Access, Expr, Stmt, Value, WaveOp};

impl Stmt {
    /// The blocks inside it.
    pub fn blocks(&self) -> [&[Stmt]; 2] {
        match self {
            Stmt::If { then, otherwise, .. } => [then, otherwise],
            Stmt::Loop { body } => [body, &[]],
            _ => [&[], &[]],
        }
    }

    /// Calls `f` with each value that it takes itself, not those of statements inside it.
    pub fn operands(&self, mut f: impl FnMut(Value)) {
        match self {
            Stmt::Let(_, expr) => expr.operands(f),
            Stmt::Set(_, v) | Stmt::If { cond: v, .. } => f(*v),
            Stmt::Load { access, .. } => [access.address, access.valid].into_iter().for_each(f),
            Stmt::Store { src, access } => {
                src.iter().copied().chain([access.address, access.valid]).for_each(f);
            }
            Stmt::Atomic { data, compare, access, .. } => {
                [*data, access.address, access.valid].into_iter().chain(*compare).for_each(f);
            }
            _ => {}
        }
    }

    /// Calls `f` with each value that it or a statement inside it takes.
    pub fn all_operands(&self, f: &mut impl FnMut(Value)) {
        self.operands(&mut *f);
        for inner in self.blocks().into_iter().flatten() {
            inner.all_operands(f);
        }
    }

    /// Calls `f` with each value that it defines itself.
    pub fn defines(&self, mut f: impl FnMut(Value)) {
        match self {
            Stmt::Let(v, _) | Stmt::Atomic { dst: Some(v), .. } => f(*v),
            Stmt::Load { dst, .. } => dst.iter().copied().for_each(f),
            _ => {}
        }
    }

    /// Calls `f` with it and with each statement inside it, in order.
    pub fn each<'s>(&'s self, f: &mut impl FnMut(&'s Stmt)) {
        f(self);
        for inner in self.blocks().into_iter().flatten() {
            inner.each(f);
        }
    }

    /// Whether `wanted` holds of it or of a statement inside it.
    pub fn any(&self, wanted: &impl Fn(&Stmt) -> bool) -> bool {
        wanted(self) || self.blocks().into_iter().flatten().any(|s| s.any(wanted))
    }

    /// Whether a `Return` stands in it.
    pub fn returns(&self) -> bool {
        self.any(&|s| matches!(s, Stmt::Return))
    }

    /// Whether control may leave it other than by its end.
    pub fn leaves(&self) -> bool {
        match self {
            Stmt::Break | Stmt::Continue | Stmt::Return => true,
            Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).any(Stmt::leaves),
            Stmt::Loop { body } => body.iter().any(Stmt::returns),
            _ => false,
        }
    }

    /// The same statement, with what it and statements inside it take replaced by what `at` says.
    pub fn renamed(&self, at: &impl Fn(Value) -> Value) -> Stmt {
        let block = |block: &[Stmt]| block.iter().map(|s| s.renamed(at)).collect();
        match self {
            Stmt::Let(v, expr) => Stmt::Let(*v, expr.renamed(at)),
            Stmt::Set(var, v) => Stmt::Set(*var, at(*v)),
            Stmt::If { cond, then, otherwise } => {
                Stmt::If { cond: at(*cond), then: block(then), otherwise: block(otherwise) }
            }
            Stmt::Loop { body } => Stmt::Loop { body: block(body) },
            Stmt::Load { dst, access } => Stmt::Load { dst: dst.clone(), access: access.renamed(at) },
            Stmt::Store { src, access } => {
                Stmt::Store { src: src.iter().map(|v| at(*v)).collect(), access: access.renamed(at) }
            }
            Stmt::Atomic { dst, op, data, compare, access } => Stmt::Atomic {
                dst: *dst,
                op: *op,
                data: at(*data),
                compare: compare.map(at),
                access: access.renamed(at),
            },
            other => other.clone(),
        }
    }
}

impl Access {
    /// The same access of another place.
    pub fn renamed(self, at: impl Fn(Value) -> Value) -> Access {
        Access { address: at(self.address), valid: at(self.valid), ..self }
    }
}

impl Expr {
    /// The same expression of other operands.
    pub fn renamed(self, at: impl Fn(Value) -> Value) -> Expr {
        match self {
            Expr::Un(op, a) => Expr::Un(op, at(a)),
            Expr::Bin(op, a, b) => Expr::Bin(op, at(a), at(b)),
            Expr::Tri(op, a, b, c) => Expr::Tri(op, at(a), at(b), at(c)),
            Expr::Wave(op) => Expr::Wave(match op {
                WaveOp::Ballot(v) => WaveOp::Ballot(at(v)),
                WaveOp::Any(v) => WaveOp::Any(at(v)),
                WaveOp::ReadLane { value, lane } => WaveOp::ReadLane { value: at(value), lane: at(lane) },
                WaveOp::Shuffle { value, lane } => WaveOp::Shuffle { value: at(value), lane: at(lane) },
                WaveOp::Send { value, lane, active } => {
                    WaveOp::Send { value: at(value), lane: at(lane), active: at(active) }
                }
            }),
            other => other,
        }
    }
}
