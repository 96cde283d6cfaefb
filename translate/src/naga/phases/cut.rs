//! Cutting a block at its barriers.

use super::super::group::breaks;
use super::BETWEEN;
use crate::program::{Stmt, Value};

/// Statements without a barrier, and where a wave goes after them.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) stmts: Vec<Stmt>,
    pub(super) end: End,
}

/// Where a wave goes after a segment. Segments are named by their places in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// Nowhere: it ends.
    #[default]
    Stop,
    Jump(usize),
    Branch {
        cond: Value,
        then: usize,
        otherwise: usize,
    },
    /// There, once all waves of the workgroup that have not ended have come to a barrier.
    Barrier(usize),
    /// There, in the next phase.
    Pause(usize),
}

impl End {
    /// Where a wave may go in the same phase.
    pub(super) fn successors(self) -> impl Iterator<Item = usize> {
        let both = match self {
            End::Jump(to) => [Some(to), None],
            End::Branch { then, otherwise, .. } => [Some(then), Some(otherwise)],
            End::Barrier(_) | End::Pause(_) | End::Stop => [None, None],
        };
        both.into_iter().flatten()
    }

    /// The same with other places.
    fn redirected(self, at: impl Fn(usize) -> usize) -> End {
        match self {
            End::Stop => End::Stop,
            End::Jump(to) => End::Jump(at(to)),
            End::Barrier(to) => End::Barrier(at(to)),
            End::Pause(to) => End::Pause(at(to)),
            End::Branch { cond, then, otherwise } => {
                End::Branch { cond, then: at(then), otherwise: at(otherwise) }
            }
        }
    }
}

/// Segments so far.
pub(super) struct Cutter<'a> {
    segments: Vec<Segment>,
    /// Loops each of whose iterations ends a phase.
    ends: &'a dyn Fn(&Stmt) -> bool,
}

/// A loop that is cut: where its iterations begin, and what comes behind it.
#[derive(Clone, Copy)]
struct Around {
    head: usize,
    exit: usize,
    /// Whether an iteration ends a phase.
    ends: bool,
}

impl Around {
    /// How an iteration ends.
    fn again(self) -> End {
        if self.ends { End::Pause(self.head) } else { End::Jump(self.head) }
    }
}

impl<'a> Cutter<'a> {
    /// The segments of a block at whose end a wave ends; it begins with the first.
    pub(super) fn segments(block: &[Stmt], ends: &'a dyn Fn(&Stmt) -> bool) -> Vec<Segment> {
        let mut cutter = Cutter { segments: Vec::new(), ends };
        let first = cutter.fresh();
        cutter.block(block, first, None);
        cutter.skip_empty();
        cutter.segments
    }

    fn fresh(&mut self) -> usize {
        self.segments.push(Segment::default());
        self.segments.len() - 1
    }

    fn end(&mut self, at: usize, end: End) {
        self.segments[at].end = end;
    }

    /// Appends a block to segment `at`; gives the segment that control comes out of, if it does.
    fn block(&mut self, block: &[Stmt], at: usize, around: Option<Around>) -> Option<usize> {
        block.iter().try_fold(at, |at, stmt| self.stmt(stmt, at, around))
    }

    fn stmt(&mut self, stmt: &Stmt, at: usize, around: Option<Around>) -> Option<usize> {
        match (stmt, around) {
            (Stmt::Return, _) => return None,
            (Stmt::Break, Some(around)) => {
                self.end(at, End::Jump(around.exit));
                return None;
            }
            (Stmt::Continue, Some(around)) => {
                self.end(at, around.again());
                return None;
            }
            _ => {}
        }
        match stmt {
            Stmt::Barrier { pc } => {
                let after = self.fresh();
                self.end(at, if *pc == BETWEEN { End::Pause(after) } else { End::Barrier(after) });
                Some(after)
            }
            Stmt::If { cond, then, otherwise } if self.stops(stmt) || around.is_some() && breaks(stmt) => {
                let ways = [then, otherwise].map(|way| (self.fresh(), way));
                self.end(at, End::Branch { cond: *cond, then: ways[0].0, otherwise: ways[1].0 });
                self.ways(ways, around)
            }
            Stmt::Loop { body } if self.stops(stmt) => {
                let around = Around { head: self.fresh(), exit: self.fresh(), ends: (self.ends)(stmt) };
                self.end(at, End::Jump(around.head));
                if let Some(last) = self.block(body, around.head, Some(around)) {
                    self.end(last, around.again());
                }
                Some(around.exit)
            }
            _ => {
                self.segments[at].stmts.push(stmt.clone());
                Some(at)
            }
        }
    }

    /// Whether a phase may end in a statement.
    fn stops(&self, stmt: &Stmt) -> bool {
        stmt.any(&|s| matches!(s, Stmt::Barrier { .. }) || (self.ends)(s))
    }

    /// The two ways of an `If`, with the segments that they begin with, and where they meet again.
    fn ways(&mut self, ways: [(usize, &Vec<Stmt>); 2], around: Option<Around>) -> Option<usize> {
        let ends = ways.map(|(at, block)| self.block(block, at, around));
        if ends == [None, None] {
            return None;
        }
        let join = self.fresh();
        ends.into_iter().flatten().for_each(|at| self.end(at, End::Jump(join)));
        Some(join)
    }

    /// Lets nobody go to segments that do nothing but go on.
    fn skip_empty(&mut self) {
        let through: Vec<usize> = (0..self.segments.len()).map(|at| self.beyond(at)).collect();
        for segment in &mut self.segments {
            segment.end = segment.end.redirected(|at| through[at]);
        }
    }

    /// The first segment from `at` on that does something. A loop of empty ones does nothing for ever.
    fn beyond(&self, at: usize) -> usize {
        let step = |at: &usize| match &self.segments[*at] {
            Segment { stmts, end: End::Jump(to) } if stmts.is_empty() => Some(*to),
            _ => None,
        };
        std::iter::successors(Some(at), step).take(self.segments.len()).last().unwrap_or(at)
    }
}
