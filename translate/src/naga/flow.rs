//! Control flow: pieces of uniform control flow, stretches of lanes, loops that end.

use naga::{Barrier, Block, Statement};

use super::SiteKind;
use super::atomic::Operands;
use super::func::Ex;
use super::helpers::spin;
use super::int;
use super::layout::{flag, header};
use super::lower::Lower;
use super::phases::ends_phase;
use super::plan::Marking;
use super::segment::{Cutter, Piece, Stretch};
use super::wave::Busy;
use crate::program::{Expr, Stmt, Value, WaveOp};

/// Loops around what is being emitted, innermost last.
#[derive(Default)]
pub(super) struct Loops {
    /// For loops of the wave, whether invocations meet in them.
    wave: Vec<bool>,
    /// Open loops of lanes.
    lane: u32,
}

impl Loops {
    /// Begins a loop of the wave; `meets`: invocations meet in it.
    pub(super) fn enter(&mut self, meets: bool) {
        self.wave.push(meets);
    }

    /// Ends it.
    pub(super) fn leave(&mut self) {
        self.wave.pop();
    }
}

impl<'p> Lower<'p> {
    /// Emits the program.
    pub(super) fn body(&mut self) {
        let program = self.program;
        let rates = |v| program.info(v).rate;
        let cutter = Cutter {
            plan: &self.plan,
            rates: &rates,
            whole: self.shape.whole,
            _program: std::marker::PhantomData,
        };
        let pieces = cutter.block(&program.body);
        if self.shape.whole {
            self.plan_spill(&pieces);
            if self.keeps_vars() {
                self.clear_all_kept();
            }
        }
        let idle = self.count_idle(self.counters.idle);
        self.f.open();
        self.pieces(&pieces);
        if !self.f.ended() {
            self.check_host_loops(None);
            self.report();
        }
        let all = self.f.close();
        self.settle_idle(idle, &all);
        self.f.push(Statement::Block(all));
    }

    /// Variables that are kept start as 0, in the first dispatch of a wave.
    fn clear_all_kept(&mut self) {
        if !self.options.resumes {
            return self.for_each_lane(Self::clear_kept);
        }
        let round = self.launch_word(header::ROUND);
        let first = self.f.is_u32(round, 0);
        self.f.open();
        self.for_each_lane(Self::clear_kept);
        let accept = self.f.close();
        self.f.if_else(first, accept, Block::new());
    }

    pub(super) fn pieces(&mut self, pieces: &[Piece<'p>]) {
        for piece in pieces {
            if self.f.ended() {
                return;
            }
            self.piece(piece);
        }
    }

    fn piece(&mut self, piece: &Piece<'p>) {
        match piece {
            Piece::Once(stmt) => self.once(stmt),
            Piece::Lanes(stretch) => self.stretch(stretch),
            Piece::Meet => self.meet(true),
            Piece::If { cond, then, otherwise } if let Some(way) = self.passes(*cond) => {
                self.pieces(if way { then } else { otherwise });
            }
            Piece::If { cond, then, otherwise } => {
                let cond = self.get(*cond);
                let before = self.exchange.busy;
                self.f.open();
                self.pieces(then);
                let accept = self.f.close();
                let after = std::mem::replace(&mut self.exchange.busy, before);
                self.f.open();
                self.pieces(otherwise);
                let reject = self.f.close();
                self.exchange.busy = self.exchange.busy.or(after);
                self.f.if_else(cond, accept, reject);
            }
            Piece::Loop { body, stmts, meets: false } => {
                let counters = (self.counters.wave, None);
                self.checked_or_not(stmts, counters, |l| l.wave_loop(body, false), |l| l.pieces(body));
            }
            Piece::Loop { body, .. } => self.wave_loop(body, true),
            Piece::Phases(body) => self.phase_loop(body),
        }
    }

    /// A loop that the wave leaves as one.
    fn wave_loop(&mut self, body: &[Piece<'p>], meets: bool) {
        self.exchange.busy = Busy::ALL;
        self.loops.enter(meets);
        self.f.open();
        if let (Some(alive), false) = (self.wave_alive, meets) {
            self.break_unless(alive);
        }
        let idle = self.count_idle(self.counters.idle);
        self.count_iteration(self.counters.wave, None, meets);
        self.say_whether_pausing();
        self.pieces(body);
        let body = self.f.close();
        self.settle_idle(idle, &body);
        self.loops.leave();
        self.exchange.busy = Busy::ALL;
        self.f.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
    }

    fn break_unless(&mut self, pointer: Ex) {
        let running = self.f.load(pointer);
        let ended = self.f.not(running);
        self.f.when(ended, |f| f.push(Statement::Break));
    }

    /// A statement of the wave.
    fn once(&mut self, stmt: &'p Stmt) {
        match stmt {
            Stmt::Let(value, Expr::Wave(op)) if self.shape.whole => self.whole_wave_op(*value, *op),
            Stmt::Let(value, Expr::Wave(op)) => self.wave_op(*value, *op),
            Stmt::Let(value, expr) => {
                let what = self.expr(*value, expr);
                self.set(*value, what);
            }
            Stmt::Set(var, value) => {
                let (pointer, what) = (self.var_pointer(*var), self.get(*value));
                self.f.store(pointer, what);
            }
            Stmt::Load { dst, access } => self.load_stmt(dst, access),
            Stmt::Store { src, access } => self.store_once(stmt, src, access),
            Stmt::Atomic { dst, op, data, compare, access } => {
                let operands = Operands { op: *op, data: *data, compare: *compare };
                self.atomic_once(*dst, operands, access);
            }
            Stmt::Break => self.f.push(Statement::Break),
            Stmt::Continue => self.f.push(Statement::Continue),
            Stmt::Return => self.wave_return(),
            Stmt::Trap { code, pc } => self.trap(code, *pc),
            Stmt::Barrier { pc } if ends_phase(*pc) => self.end_phase(),
            Stmt::Barrier { .. } => self.barrier(),
            Stmt::If { .. } | Stmt::Loop { .. } => {
                self.trouble("a block of the wave was not cut".into());
            }
        }
    }

    /// A store of the wave: one invocation does it, unless that one may have ended.
    fn store_once(&mut self, stmt: &Stmt, src: &[Value], access: &'p crate::program::Access) {
        let values: Vec<Ex> = src.iter().map(|v| self.get(*v)).collect();
        let marking = self.plan.need(stmt).marking();
        let reach = self.reach(access, src.len());
        if self.shape.invocations == 1 || self.plan.lane_returns {
            let marking = if self.shape.invocations == 1 { marking } else { Marking::Lanes };
            return self.store(&reach, &values, marking);
        }
        let first = self.f.is_u32(self.at.invocation, 0);
        self.f.open();
        self.store(&reach, &values, marking);
        let accept = self.f.close();
        self.f.if_else(first, accept, Block::new());
    }

    /// All waves of the workgroup meet.
    fn barrier(&mut self) {
        if self.shape.workgroup() > 1 {
            self.exchange.busy = Busy::default();
            self.f.barrier(Barrier::WORK_GROUP | Barrier::STORAGE);
        }
    }

    /// The wave ends.
    fn wave_return(&mut self) {
        let Some(alive) = self.wave_alive else {
            self.report();
            return self.f.ret(None);
        };
        let no = self.f.bool(false);
        self.f.store(alive, no);
        if self.loops.wave.last() == Some(&false) {
            self.f.push(Statement::Break);
        }
    }

    /// A fault of the program's own making.
    fn trap(&mut self, code: &'static str, pc: u32) {
        let site = self.site(SiteKind::Trap(code), pc, false);
        let happened = match self.running() {
            Some(running) => running,
            None => self.f.bool(true),
        };
        self.note(happened, flag::TRAP, site, None);
    }

    /// Whether what is being emitted for has not ended, if that is kept.
    pub(super) fn running(&mut self) -> Option<Ex> {
        let wave = self.wave_alive.map(|p| self.f.load(p));
        let lane = match self.alive {
            Some(alive) if self.inside => Some(self.f.load(alive[self.k])),
            Some(alive) if !self.shape.whole => {
                let held: Vec<Ex> = (0..self.shape.components).map(|k| self.f.load(alive[k])).collect();
                held.into_iter().reduce(|a, b| self.f.either(a, b))
            }
            _ => None,
        };
        match (wave, lane) {
            (Some(wave), Some(lane)) => Some(self.f.both(wave, lane)),
            (one, other) => one.or(other),
        }
    }

    /// Statements of lanes.
    fn stretch(&mut self, stretch: &Stretch<'p>) {
        if self.shape.whole {
            return self.whole_stretch(stretch);
        }
        if let [stmt @ Stmt::Atomic { .. } | stmt @ Stmt::Store { .. }] = stretch.stmts[..]
            && self.plan.need(stmt).serial
        {
            return self.serial(stmt);
        }
        self.inside = true;
        for k in 0..self.shape.components {
            self.k = k;
            stretch.stmts.iter().for_each(|stmt| self.lane_stmt(stmt));
        }
        self.k = 0;
        self.inside = false;
    }

    /// The body of a loop over the numbers from `first` on, `step` apart, that are below `end`.
    pub(super) fn each_from(
        &mut self,
        first: Ex,
        [end, step]: [u32; 2],
        each: impl FnOnce(&mut Self, Ex),
    ) -> Block {
        let number = self.f.local(self.types.u32, None);
        self.f.store(number, first);
        self.f.open();
        let now = self.f.load(number);
        let end = self.f.u32(end);
        let done = self.f.ge(now, end);
        self.f.when(done, |f| f.push(Statement::Break));
        each(self, now);
        let next = self.f.add_u32(now, step);
        self.f.store(number, next);
        self.f.close()
    }

    /// A loop over the lanes of a wave that one invocation holds.
    pub(super) fn for_each_lane(&mut self, each: impl FnOnce(&mut Self)) {
        let (zero, spins, lanes) = (self.f.u32(0), self.helpers.spins, self.shape.lanes);
        let body = self.each_from(zero, [lanes, 1], |l, lane| {
            let outer = std::mem::replace(&mut l.at.lane, [lane; 2]);
            each(l);
            l.at.lane = outer;
        });
        let inside = self.idle_loops(&body);
        self.f.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
        spin(&mut self.f, spins, (lanes + 1) * (inside + 1));
    }

    fn whole_stretch(&mut self, stretch: &Stretch<'p>) {
        let uses = self.spill.uses(stretch);
        let zero = self.f.u64(0);
        let ballots: Vec<Ex> = stretch
            .votes
            .iter()
            .map(|_| {
                let pointer = self.f.local(self.types.u64, None);
                self.f.store(pointer, zero);
                pointer
            })
            .collect();
        let returning = stretch.stmts.iter().any(|s| s.returns());
        let any = self.f.local(self.types.bool, None);
        let no = self.f.bool(false);
        self.f.store(any, no);
        let known = self.values.clone();
        self.for_each_lane(|l| {
            l.inside = true;
            l.fetch(&uses);
            stretch.stmts.iter().for_each(|stmt| l.lane_stmt(stmt));
            l.votes(&stretch.votes, &ballots);
            if returning {
                l.any_left(any);
            }
            l.give_back(&uses);
            l.inside = false;
        });
        // What was at hand in the loop is not any more.
        self.values = known;
        if let (true, Some(alive)) = (returning, self.wave_alive) {
            let (left, before) = (self.f.load(any), self.f.load(alive));
            let both = self.f.both(left, before);
            self.f.store(alive, both);
        }
        for ((value, op), ballot) in stretch.votes.iter().zip(ballots) {
            let bits = self.f.load(ballot);
            let result = if matches!(op, WaveOp::Any(_)) { self.f.ne(bits, zero) } else { bits };
            self.set(*value, result);
        }
    }

    fn any_left(&mut self, any: Ex) {
        if let Some([alive, _]) = self.alive {
            let (this, others) = (self.f.load(alive), self.f.load(any));
            let both = self.f.either(this, others);
            self.f.store(any, both);
        }
    }

    fn votes(&mut self, votes: &[(Value, WaveOp)], ballots: &[Ex]) {
        for ((_, op), pointer) in votes.iter().zip(ballots) {
            let (WaveOp::Ballot(vote) | WaveOp::Any(vote)) = op else { continue };
            let vote = self.get(*vote);
            let bit = int::from_bool(&mut self.f, vote);
            let bit = self.f.widen(bit);
            let bit = self.f.shl(bit, self.at.lane[0]);
            let others = self.f.load(*pointer);
            let all = self.f.or(others, bit);
            self.f.store(*pointer, all);
        }
    }

    /// A wave operation of a wave that one invocation holds; what it reads is kept.
    fn whole_wave_op(&mut self, result: Value, op: WaveOp) {
        match op {
            WaveOp::Ballot(vote) => {
                let vote = self.get(vote);
                let (all, none) = (self.f.u64(u64::MAX >> (64 - self.shape.lanes)), self.f.u64(0));
                let bits = self.f.select(vote, all, none);
                self.set(result, bits);
            }
            WaveOp::Any(vote) => {
                let vote = self.get(vote);
                self.set(result, vote);
            }
            WaveOp::ReadLane { value, lane } => {
                let lane = self.get(lane);
                let lane = self.f.and_u32(lane, self.shape.lanes - 1);
                let read = self.kept(value, lane);
                self.set(result, read);
            }
            WaveOp::Send { value, lane, active } => self.whole_send(result, [value, lane, active]),
            WaveOp::Shuffle { .. } => {
                self.trouble("a shuffle of the wave was not cut".into());
            }
        }
    }

    fn whole_send(&mut self, result: Value, [value, lane, active]: [Value; 3]) {
        self.for_each_lane(|l| {
            let zero = l.f.u32(0);
            l.keep_at(result, l.at.lane[0], zero);
        });
        self.for_each_lane(|l| {
            let here = l.at.lane[0];
            let active = l.kept(active, here);
            l.f.open();
            let (what, to) = (l.kept(value, here), l.kept(lane, here));
            let to = l.f.and_u32(to, l.shape.lanes - 1);
            l.keep_at(result, to, what);
            let accept = l.f.close();
            l.f.if_else(active, accept, Block::new());
        });
    }

    fn lane_block(&mut self, block: &'p [Stmt]) -> Block {
        self.f.open();
        self.lane_stmts(block);
        self.f.close()
    }

    fn lane_stmts(&mut self, block: &'p [Stmt]) {
        for stmt in block {
            if self.f.ended() {
                return;
            }
            self.lane_stmt(stmt);
        }
    }

    /// A statement of the lane that is being emitted for.
    fn lane_stmt(&mut self, stmt: &'p Stmt) {
        match stmt {
            Stmt::Let(value, Expr::Wave(WaveOp::Shuffle { value: from, lane })) => {
                let lane = self.get(*lane);
                let lane = self.f.and_u32(lane, self.shape.lanes - 1);
                let what = self.kept(*from, lane);
                self.set(*value, what);
            }
            Stmt::Let(value, expr) => {
                let what = self.expr(*value, expr);
                self.set(*value, what);
            }
            Stmt::Set(var, value) => {
                let (pointer, what) = (self.var_pointer(*var), self.get(*value));
                self.f.store(pointer, what);
            }
            Stmt::If { cond, then, otherwise } if let Some(way) = self.passes(*cond) => {
                self.lane_stmts(if way { then } else { otherwise });
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.get(*cond);
                let (accept, reject) = (self.lane_block(then), self.lane_block(otherwise));
                self.f.if_else(cond, accept, reject);
            }
            Stmt::Loop { body } => {
                let counters = (self.counters.lane[self.k], Some(self.counters.wave));
                self.checked_or_not(body, counters, |l| l.lane_loop(body), |l| l.lane_stmts(body));
            }
            Stmt::Break => self.f.push(Statement::Break),
            Stmt::Continue => self.f.push(Statement::Continue),
            Stmt::Return => self.lane_return(),
            Stmt::Trap { code, pc } => self.trap(code, *pc),
            Stmt::Load { dst, access } => self.load_stmt(dst, access),
            Stmt::Store { src, access } => {
                let values: Vec<Ex> = src.iter().map(|v| self.get(*v)).collect();
                let reach = self.reach(access, src.len());
                self.store(&reach, &values, self.plan.need(stmt).marking());
            }
            Stmt::Atomic { dst, op, data, compare, access } => {
                let operands = Operands { op: *op, data: *data, compare: *compare };
                self.atomic_lane(*dst, operands, access);
            }
            Stmt::Barrier { .. } => {
                self.trouble("a barrier of lanes".into());
            }
        }
        if stmt.returns()
            && let (Some(alive), true) = (self.alive, self.loops.lane > 0)
        {
            self.break_unless(alive[self.k]);
        }
    }

    fn lane_loop(&mut self, body: &'p [Stmt]) {
        self.f.open();
        self.loops.lane += 1;
        if let Some(alive) = self.alive {
            self.break_unless(alive[self.k]);
        }
        let spins = self.f.global(self.helpers.spins);
        let idle = self.count_idle(spins);
        self.count_iteration(self.counters.lane[self.k], Some(self.counters.wave), false);
        self.lane_stmts(body);
        self.loops.lane -= 1;
        let body = self.f.close();
        self.settle_idle(idle, &body);
        self.f.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
    }

    fn lane_return(&mut self) {
        let Some(alive) = self.alive else {
            self.report();
            return self.f.ret(None);
        };
        let no = self.f.bool(false);
        self.f.store(alive[self.k], no);
    }
}
