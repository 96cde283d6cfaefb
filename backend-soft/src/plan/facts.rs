//! What a statement is like, seen from outside: where its lanes go and what it does to memory that lanes share.

use guestwave_translate::program::{Access, Expr, Program, Rate, Space, Stmt};

use super::is_constant;

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
            Space::Lds | Space::Exchange => 2,
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

/// What an access costs, if an operation costs 1.
const ACCESS_COST: u32 = 8;

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

/// Whether the lanes that come to a loop with this body go round together and leave it together.
pub(crate) fn together(program: &Program, body: &[Stmt]) -> bool {
    !parts_inside(program, body) && !body.iter().any(Stmt::returns)
}

/// Whether a loop in uniform control flow may run lane by lane, each from its first iteration to its last, and is worth it: no
/// lane waits for another, nothing is stored where another could look, each lane makes as many iterations as the wave would,
/// and what is the same in all lanes is the smaller part.
pub(crate) fn loop_by_lane(program: &Program, body: &[Stmt]) -> bool {
    let plain = |s: &Stmt| match s {
        Stmt::Let(_, Expr::Wave(_)) | Stmt::Atomic { .. } | Stmt::Barrier { .. } => false,
        Stmt::Store { access, .. } => access.space == Space::Scratch,
        Stmt::Loop { body } => !parts_inside(program, body),
        _ => true,
    };
    let (alike, own) = work(program, body);
    together(program, body) && !body.iter().any(|s| s.any(&|s| !plain(s))) && 2 * alike <= own
}

/// About how much of a block is the same in all lanes, and how much is each lane's own.
fn work(program: &Program, block: &[Stmt]) -> (u32, u32) {
    let (mut alike, mut own) = (0, 0);
    let mut note = |stmt: &Stmt| {
        let (rate, cost) = match stmt {
            Stmt::Let(_, expr) if is_constant(expr) => return,
            Stmt::Let(value, _) => (program.info(*value).rate, 1),
            Stmt::Load { access, .. } | Stmt::Store { access, .. } => {
                (program.access_rate(access), ACCESS_COST)
            }
            _ => return,
        };
        *if rate == Rate::Uniform { &mut alike } else { &mut own } += cost;
    };
    block.iter().for_each(|stmt| stmt.each(&mut note));
    (alike, own)
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

#[cfg(test)]
mod tests {
    use guestwave_translate::program::{AtomicOp, BinOp, Builder, Builtin, Type, UnOp, WaveOp, Width};

    use super::*;

    /// Whether a loop that loads eight dwords, and does what `more` adds, may run lane by lane.
    fn by_lane(more: impl FnOnce(&mut Builder, Access)) -> bool {
        let mut b = Builder::new("loop", 32);
        let lane = b.builtin(Builtin::Lane);
        let (address, valid) = (b.un(UnOp::Extend, lane), b.c32(4));
        let access = Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None };
        b.open();
        for _ in 0..8 {
            b.load(1, access);
        }
        more(&mut b, access);
        b.push(Stmt::Break);
        let body = b.close();
        loop_by_lane(&b.finish(), &body)
    }

    #[test]
    fn loops_run_by_lane_where_lanes_neither_meet_nor_part() {
        assert!(by_lane(|_, _| {}));
        assert!(by_lane(|b, access| {
            let lane = b.builtin(Builtin::Lane);
            b.store(vec![lane], Access { space: Space::Scratch, address: lane, ..access });
        }));
        for space in [Space::Global, Space::Lds] {
            assert!(!by_lane(|b, access| {
                let lane = b.builtin(Builtin::Lane);
                b.store(vec![lane], Access { space, ..access });
            }));
        }
        assert!(!by_lane(|b, access| {
            let lane = b.builtin(Builtin::Lane);
            b.atomic(AtomicOp::Add, lane, None, access);
        }));
        assert!(!by_lane(|b, _| {
            let always = b.cbool(true);
            b.wave(WaveOp::Ballot(always));
        }));
        assert!(!by_lane(|b, _| b.push(Stmt::Return)));
        assert!(!by_lane(|b, _| b.push(Stmt::Barrier { pc: 0 })));
    }

    /// A loop that lanes leave by themselves counts its iterations by itself.
    #[test]
    fn loops_in_which_lanes_part_stay_where_they_are() {
        let inside = |b: &mut Builder| {
            let (lane, one) = (b.builtin(Builtin::Lane), b.c32(1));
            let cond = b.bin(BinOp::Eq, lane, one);
            b.push(Stmt::If { cond, then: vec![Stmt::Break], otherwise: vec![] });
        };
        assert!(!by_lane(|b, _| inside(b)));
        assert!(!by_lane(|b, _| {
            b.open();
            inside(b);
            let body = b.close();
            b.push(Stmt::Loop { body });
        }));
    }

    #[test]
    fn what_is_mostly_the_same_in_all_lanes_is_done_once() {
        assert!(!by_lane(|b, _| {
            let counter = b.var("i", Type::B32, Rate::Uniform);
            for _ in 0..40 {
                let now = b.get(counter);
                b.set(counter, now);
            }
        }));
    }
}
