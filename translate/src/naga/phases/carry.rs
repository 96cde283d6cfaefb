//! Values from one segment to another: through variables, but for what is as easily made anew.

use std::collections::{BTreeSet, HashMap};

use super::super::group::definitions;
use super::cut::{End, Segment};
use super::{fresh, variable};
use crate::program::{Block, Expr, Program, Rate, Stmt, Type, Value, ValueInfo, Var};

/// Writes segments as blocks that take nothing from each other.
pub(super) struct Carrier<'p> {
    program: &'p mut Program,
    exprs: HashMap<Value, Expr>,
    /// The segment that defines each value at its own level.
    homes: HashMap<Value, usize>,
    /// Variables of values that another segment takes.
    vars: HashMap<Value, Var>,
}

impl<'p> Carrier<'p> {
    /// `places`: the segments that are wanted.
    pub(super) fn new(program: &'p mut Program, segments: &[Segment], places: &[usize]) -> Self {
        let mut carrier =
            Carrier { program, exprs: HashMap::new(), homes: HashMap::new(), vars: HashMap::new() };
        for place in places {
            let stmts = &segments[*place].stmts;
            definitions(stmts, &mut carrier.exprs);
            stmts.iter().for_each(|s| s.defines(|v| _ = carrier.homes.insert(v, *place)));
        }
        for place in places {
            for value in carrier.foreign(*place, &segments[*place]) {
                if carrier.anew(value).is_none() && !carrier.vars.contains_key(&value) {
                    let var = carrier.variable(value);
                    carrier.vars.insert(value, var);
                }
            }
        }
        carrier
    }

    /// A new value.
    pub(super) fn fresh(&mut self, ty: Type, rate: Rate) -> Value {
        fresh(self.program, ty, rate)
    }

    fn variable(&mut self, value: Value) -> Var {
        let ValueInfo { ty, rate } = self.program.info(value);
        variable(self.program, format!("carried{}", value.0), ty, rate)
    }

    /// The expression of a value that any segment can make for itself.
    fn anew(&self, value: Value) -> Option<Expr> {
        let expr = self.exprs.get(&value)?;
        let same_everywhere = matches!(
            expr,
            Expr::ConstBool(_) | Expr::Const32(_) | Expr::Const64(_) | Expr::Param(_) | Expr::Builtin(_)
        );
        same_everywhere.then_some(*expr)
    }

    /// Values that a segment takes from others.
    fn foreign(&self, place: usize, segment: &Segment) -> BTreeSet<Value> {
        let mut taken = BTreeSet::new();
        let mut take = |v: Value| {
            if self.homes.get(&v).is_some_and(|home| *home != place) {
                taken.insert(v);
            }
        };
        segment.stmts.iter().for_each(|s| s.all_operands(&mut take));
        if let End::Branch { cond, .. } = segment.end {
            take(cond);
        }
        taken
    }

    /// The statements of a segment, with what it takes before them and what it gives behind, and its end.
    pub(super) fn segment(&mut self, place: usize, segment: &Segment) -> (Block, End) {
        let mut block = Block::new();
        let mut names = HashMap::new();
        for value in self.foreign(place, segment) {
            let ValueInfo { ty, rate } = self.program.info(value);
            let from = self.vars.get(&value).map(|var| Expr::Get(*var));
            if let Some(expr) = self.anew(value).or(from) {
                let name = self.fresh(ty, rate);
                block.push(Stmt::Let(name, expr));
                names.insert(value, name);
            }
        }
        let at = |v: Value| names.get(&v).copied().unwrap_or(v);
        block.extend(segment.stmts.iter().map(|s| s.renamed(&at)));
        let mut given = Vec::new();
        segment
            .stmts
            .iter()
            .for_each(|s| s.defines(|v| given.extend(self.vars.get(&v).map(|var| (*var, v)))));
        block.extend(given.into_iter().map(|(var, v)| Stmt::Set(var, v)));
        let end = match segment.end {
            End::Branch { cond, then, otherwise } => End::Branch { cond: at(cond), then, otherwise },
            other => other,
        };
        (block, end)
    }
}
