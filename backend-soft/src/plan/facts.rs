//! What a statement is like, seen from outside: where its lanes go and what it does to memory that lanes share.

use guestwave_translate::program::{Access, Expr, Program, Rate, Space, Stmt};

/// Reads and writes of the memory that the lanes of a wave have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    reads: u8,
    writes: u8,
}

impl Effects {
    fn of_access(access: &Access, reads: bool, writes: bool) -> Self {
        let bit = match access.space {
            Space::Global => 1,
            Space::Lds => 2,
            // Tables are read only, scratch is each lane's own.
            Space::Table | Space::Scratch => 0,
        };
        Effects { reads: bit * u8::from(reads), writes: bit * u8::from(writes) }
    }

    /// What `stmt` does, with everything inside it.
    pub(crate) fn of(stmt: &Stmt) -> Self {
        match stmt {
            Stmt::Load { access, .. } => Self::of_access(access, true, false),
            Stmt::Store { access, .. } => Self::of_access(access, false, true),
            Stmt::Atomic { access, .. } => Self::of_access(access, true, true),
            Stmt::If { then, otherwise, .. } => Self::of_all(then).and(Self::of_all(otherwise)),
            Stmt::Loop { body } => Self::of_all(body),
            _ => Self::default(),
        }
    }

    /// What all of `stmts` do.
    pub(crate) fn of_all(stmts: &[Stmt]) -> Self {
        stmts.iter().fold(Self::default(), |e, s| e.and(Self::of(s)))
    }

    /// Both.
    pub(crate) fn and(self, other: Self) -> Self {
        Effects { reads: self.reads | other.reads, writes: self.writes | other.writes }
    }

    /// Whether one lane's part of `self` could meet another lane's part of `other`.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.writes & (other.reads | other.writes) | self.reads & other.writes != 0
    }
}

/// Levels of blocks inside blocks, counted no further than `limit`.
pub(crate) fn depth(block: &[Stmt], limit: u32) -> u32 {
    let Some(left) = limit.checked_sub(1) else { return 0 };
    block.iter().flat_map(Stmt::blocks).map(|b| 1 + depth(b, left)).max().unwrap_or(0)
}

/// Whether after `stmt` some lanes of the wave may be away from its block while others are not.
pub(crate) fn parts(program: &Program, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::If { cond, then, otherwise } if program.info(*cond).rate == Rate::Varying => {
            then.iter().chain(otherwise).any(Stmt::leaves)
        }
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).any(|s| parts(program, s)),
        Stmt::Loop { body } => body.iter().any(|s| returns_apart(program, s, false)),
        _ => false,
    }
}

/// Whether each lane may make its own number of iterations of a loop with this body.
pub(crate) fn parts_inside(program: &Program, body: &[Stmt]) -> bool {
    body.iter().any(|s| parts(program, s))
}

/// Whether a lane may return from inside `stmt` while others do not; `apart`: they may already go different ways.
fn returns_apart(program: &Program, stmt: &Stmt, apart: bool) -> bool {
    match stmt {
        Stmt::Return => apart,
        Stmt::If { cond, .. } => {
            let apart = apart || program.info(*cond).rate == Rate::Varying;
            stmt.blocks().into_iter().flatten().any(|s| returns_apart(program, s, apart))
        }
        Stmt::Loop { body } => {
            let apart = apart || parts_inside(program, body);
            body.iter().any(|s| returns_apart(program, s, apart))
        }
        _ => false,
    }
}

/// Whether `stmt`, which stands in uniform control flow, may run lane by lane: nothing in it is done once a wave with an effect, no
/// lane waits for another, and no lane's accesses could meet another's.
pub(crate) fn lane_by_lane(program: &Program, stmt: &Stmt) -> bool {
    let plain = |s: &Stmt| match s {
        Stmt::Let(_, Expr::Wave(_)) => false,
        Stmt::Let(..) | Stmt::If { .. } | Stmt::Trap { .. } => true,
        Stmt::Set(var, _) => program.var(*var).rate == Rate::Varying,
        Stmt::Load { access, .. } | Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => {
            program.access_rate(access) == Rate::Varying
        }
        Stmt::Loop { .. } | Stmt::Break | Stmt::Continue | Stmt::Return | Stmt::Barrier { .. } => false,
    };
    !stmt.any(&|s| !plain(s)) && !meets_itself(stmt)
}

/// Whether statements inside `stmt` could meet each other in memory across lanes.
fn meets_itself(stmt: &Stmt) -> bool {
    stmt.blocks().into_iter().any(|block| {
        let mut before = Effects::default();
        block.iter().any(|s| {
            let now = Effects::of(s);
            let met = before.meets(now) || meets_itself(s);
            before = before.and(now);
            met
        })
    })
}
