//! How a loop goes: what its variables step by, and when it ends.

use std::collections::HashMap;

use crate::program::{BinOp, Expr, Stmt, SumOfHalves, UnOp, Value, Var, sum_of_halves};

/// What is known of a loop's body before it runs. Values that no iteration changes stand before it ([`crate::program::lift`]).
pub(super) struct Course<'a> {
    exprs: &'a HashMap<Value, Expr>,
    /// Values that are defined in the loop, with the number of the body's statement that they are defined in.
    inside: HashMap<Value, usize>,
    /// Variables that the loop sets: where, and to what, if once in every iteration.
    sets: HashMap<Var, Option<(usize, Value)>>,
}

/// A variable that a value is read from, the statement in which, and the statement that sets it and to what.
type Read = (Var, usize, (usize, Value));

/// Steps of addresses are smaller, so that no multiple goes round.
const MOST_STEP: u64 = 1 << 15;

/// A variable, or a pair of them, that every iteration adds the same to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moving<V> {
    /// What it is in.
    pub(super) var: V,
    /// What is added.
    pub(super) step: i64,
    /// Whether it is looked at after the step.
    pub(super) stepped: bool,
}

/// The end of a loop: it is left where a moving number plus `plus` equals `limit`, which is from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) moving: Moving<Var>,
    pub(super) plus: u32,
    pub(super) limit: Value,
    /// Whether nothing else leaves it.
    pub(super) only: bool,
    /// The branch that leaves it.
    pub(super) exit: Exit,
}

/// A branch that leaves a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    /// What it asks.
    pub(super) cond: Value,
    /// Whether it leaves where that is true.
    pub(super) if_true: bool,
}

impl<'a> Course<'a> {
    /// The course of a loop; `None` where an iteration may end other than at the body's end.
    pub(super) fn new(body: &[Stmt], exprs: &'a HashMap<Value, Expr>) -> Option<Self> {
        let mut course = Course { exprs, inside: HashMap::new(), sets: HashMap::new() };
        if body
            .iter()
            .any(|s| s.any(&|s| matches!(s, Stmt::Loop { .. } | Stmt::Continue | Stmt::Barrier { .. })))
        {
            return None;
        }
        for (at, stmt) in body.iter().enumerate() {
            stmt.each(&mut |s| s.defines(|v| _ = course.inside.insert(v, at)));
            stmt.each(&mut |s| {
                let Stmt::Set(var, value) = s else { return };
                let always = std::ptr::eq(s, stmt) && !course.sets.contains_key(var);
                course.sets.insert(*var, always.then_some((at, *value)));
            });
        }
        Some(course)
    }

    pub(super) fn is_inside(&self, value: Value) -> bool {
        self.inside.contains_key(&value)
    }

    pub(super) fn expr(&self, value: Value) -> Option<Expr> {
        self.exprs.get(&value).copied()
    }

    pub(super) fn constant(&self, value: Value) -> Option<u32> {
        match self.expr(value)? {
            Expr::Const32(c) => Some(c),
            _ => None,
        }
    }

    fn bin(&self, value: Value, op: BinOp) -> Option<[Value; 2]> {
        match self.expr(value)? {
            Expr::Bin(found, a, b) if found == op => Some([a, b]),
            _ => None,
        }
    }

    /// A value plus a constant.
    fn plus(&self, value: Value) -> Option<(Value, u32)> {
        let [a, b] = self.bin(value, BinOp::Add)?;
        match (self.constant(a), self.constant(b)) {
            (_, Some(c)) => Some((a, c)),
            (Some(c), _) => Some((b, c)),
            _ => None,
        }
    }

    /// The variable that a value of the loop is read from, where, and what the loop sets it to.
    fn read(&self, value: Value) -> Option<Read> {
        let Some(Expr::Get(var)) = self.expr(value) else { return None };
        Some((var, *self.inside.get(&value)?, self.sets.get(&var).copied()??))
    }

    /// The moving number that a value is.
    pub(super) fn moving(&self, value: Value) -> Option<Moving<Var>> {
        let (var, at, (set_at, next)) = self.read(value)?;
        let (from, step) = self.plus(next)?;
        let (of, read_at, _) = self.read(from)?;
        let moves = of == var && read_at < set_at && step != 0;
        moves.then_some(Moving { var, step: i64::from(step as i32), stepped: at > set_at })
    }

    /// The moving number of 64 bits whose halves two values are.
    pub(super) fn moving_pair(&self, low: Value, high: Value) -> Option<Moving<[Var; 2]>> {
        let [l, h] = [self.read(low)?, self.read(high)?];
        let stepped = l.1 > l.2.0;
        if stepped != (h.1 > h.2.0) {
            return None;
        }
        let before =
            |value, (var, _, (set, _)): Read| self.read(value).is_some_and(|(v, at, _)| v == var && at < set);
        let sums = self.wide_sums(l.2.1, h.2.1);
        let step = sums.into_iter().flat_map(|[a, b]| [[a, b], [b, a]]).find_map(|[from, by]| {
            let moves = before(from.0, l) && from.1.is_some_and(|high| before(high, h));
            let high = by.1.map_or(Some(0), |v| self.constant(v))?;
            let step = u64::from(high) << 32 | u64::from(self.constant(by.0)?);
            moves.then_some(step as i64)
        })?;
        let small = step != 0 && step.unsigned_abs() < MOST_STEP;
        small.then_some(Moving { var: [l.0, h.0], step, stepped })
    }

    /// Pairs of numbers of 64 bits, each a low half and a high one (`None` for 0), whose sum `low` and `high` are.
    pub(super) fn wide_sums(&self, low: Value, high: Value) -> Vec<[(Value, Option<Value>); 2]> {
        let Some(SumOfHalves { lows, rest }) = sum_of_halves(|v| self.expr(v), low, high) else {
            return Vec::new();
        };
        let mut parts = vec![[Some(rest), None]];
        parts.extend(self.bin(rest, BinOp::Add).map(|both| both.map(Some)));
        let pairs = |[p, q]: [Option<Value>; 2]| [[p, q], [q, p]];
        parts.into_iter().flat_map(pairs).map(|[p, q]| [(lows[0], p), (lows[1], q)]).collect()
    }

    /// How the loop ends, if by a number that it counts to.
    pub(super) fn end(&self, body: &[Stmt]) -> Option<End> {
        let mut ways = 0;
        let mut count = |s: &Stmt| ways += usize::from(matches!(s, Stmt::Break | Stmt::Return));
        body.iter().for_each(|stmt| stmt.each(&mut count));
        let end = body.iter().find_map(|stmt| self.ends(stmt))?;
        Some(End { only: ways == 1, ..end })
    }

    fn ends(&self, stmt: &Stmt) -> Option<End> {
        let Stmt::If { cond, then, otherwise } = stmt else { return None };
        let if_true = match [then, otherwise].map(|b| b.last() == Some(&Stmt::Break)) {
            [true, false] => true,
            [false, true] => false,
            _ => return None,
        };
        let exit = Exit { cond: *cond, if_true };
        let (mut cond, mut leaves_if) = (*cond, if_true);
        while let Some(Expr::Un(UnOp::Not, inner)) = self.expr(cond) {
            (cond, leaves_if) = (inner, !leaves_if);
        }
        let [a, b] = self.bin(cond, if leaves_if { BinOp::Eq } else { BinOp::Ne })?;
        let (number, limit) = if self.is_inside(a) { (a, b) } else { (b, a) };
        let (from, plus) = match self.moving(number) {
            Some(_) => (number, 0),
            None => self.plus(number)?,
        };
        let moving = self.moving(from)?;
        (!self.is_inside(limit)).then_some(End { moving, plus, limit, only: false, exit })
    }
}
