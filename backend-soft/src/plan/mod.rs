//! How a program is cut for a machine that runs one lane at a time.
//!
//! Uniform control flow is kept as it is and runs once a wave, but for loops that lanes may as well go round one after the other:
//! what they work on then stays in registers. Between its turns lie *stretches*: first what is done once
//! a wave, then a loop over the lanes in which each lane runs the rest by itself, varying control flow included. A new
//! stretch begins
//!
//! 1. where a statement needs a value that all lanes must have finished first (the result of a ballot, the source of a
//!    shuffle);
//! 2. where a lane could meet what another lane does to guest memory or LDS in an earlier statement, because then all
//!    lanes' parts of that statement come first;
//! 3. at uniform control flow and at barriers.
//!
//! Values and variables that live from one stretch to another stand in the wave's *frame*, in arrays with one element a
//! lane. Uniform pure values are computed once a wave even if they stand inside varying control flow.

mod cut;
mod facts;
mod frame;
mod live;
mod share;
mod tail;

use guestwave_translate::program::{Expr, Program, Stmt, Value, Var};

pub(crate) use cut::plan;
pub(crate) use facts::{depth, together};
pub(crate) use frame::{Frame, Place, RESUME};
pub(crate) use share::{Sharing, sharing};
pub(crate) use tail::Tail;

/// Where a value is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// Computed once a wave, outside the lane loops.
    Wave,
    /// Computed in a lane loop.
    Lane,
    /// The lane's own number.
    Index,
    /// A constant.
    Constant,
}

/// A program cut into stretches.
#[derive(Debug)]
pub(crate) struct Plan<'p> {
    pub(crate) program: &'p Program,
    pub(crate) steps: Vec<Step<'p>>,
    /// Each value's home.
    pub(crate) homes: Vec<Home>,
    /// Lane values that a later stretch or another lane wants, so that they go to the frame.
    pub(crate) spilled: Vec<bool>,
    /// Wave values that are wanted on the other side of a barrier, so that they go to the frame.
    pub(crate) kept: Vec<bool>,
    /// Barriers, each a place to resume from: 1 to `resumes`.
    pub(crate) resumes: u32,
    pub(crate) frame: Frame,
    /// What tells which lanes at a wave's end do nothing, if all without an item do.
    pub(crate) tail: Option<Tail>,
}

/// A step in uniform control flow.
#[derive(Debug)]
pub(crate) enum Step<'p> {
    Stretch(Stretch<'p>),
    If {
        cond: Value,
        then: Vec<Step<'p>>,
        otherwise: Vec<Step<'p>>,
    },
    Loop {
        body: Vec<Step<'p>>,
    },
    Break,
    Continue,
    Return,
    Trap {
        code: &'static str,
        pc: u32,
    },
    /// The wave stops here and goes on at `resume` when all waves of its group have come.
    Barrier {
        resume: u32,
    },
    /// Uniform values from before a barrier are in the frame from here on.
    Region,
}

/// What is done once a wave, then what each lane does.
#[derive(Debug, Default)]
pub(crate) struct Stretch<'p> {
    /// Once a wave, in order; nothing here depends on `lanes`.
    pub(crate) wave: Vec<&'p Stmt>,
    /// In each lane, in order; wave operations that gather from the lanes stand here too.
    pub(crate) lanes: Vec<&'p Stmt>,
    /// Lane values of earlier stretches that `lanes` wants.
    pub(crate) fills: Vec<Value>,
    /// Varying variables that each lane loads at the start of its turn.
    pub(crate) live_in: Vec<Var>,
    /// Varying variables that each lane stores at the end of its turn.
    pub(crate) live_out: Vec<Var>,
    /// Uniform variables that each lane changes in its turn, all alike and each from what they were before the first.
    pub(crate) changed: Vec<Var>,
}

impl Stretch<'_> {
    fn is_empty(&self) -> bool {
        self.wave.is_empty() && self.lanes.is_empty()
    }
}

/// Whether `expr` is a constant, which is made anew wherever it is wanted.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::ConstBool(_) | Expr::Const32(_) | Expr::Const64(_))
}
