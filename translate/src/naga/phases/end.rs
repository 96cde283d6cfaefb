//! The end of a phase on a host: all invocations of a workgroup meet, and go on together until every wave has ended.

use naga::{AtomicFunction as A, Barrier, Block, Statement};

use super::super::SiteKind;
use super::super::func::Ex;
use super::super::layout::{flag, header};
use super::super::lower::Lower;
use super::super::parts;
use super::super::segment::Piece;
use super::super::wave::Busy;

/// How a workgroup knows that all its waves have ended.
#[derive(Clone, Copy)]
pub(in super::super) struct Tally {
    /// Pointer to whether this wave has been counted among them.
    pub(super) counted: Ex,
    /// Pointer to how many have been, as it was when all met.
    ended: Ex,
    /// In workgroup memory: how many have been, and whether a wave is to be held back.
    pub(super) shared: naga::Handle<naga::GlobalVariable>,
    /// Pointer to whether all are held back, if they can be.
    pub(super) held: Option<Ex>,
}

impl<'p> Lower<'p> {
    /// A loop that goes through phases. Waves that have ended come along.
    pub(in super::super) fn phase_loop(&mut self, body: &[Piece<'p>]) {
        self.make_tally();
        if self.options.resumes {
            self.take_up();
        }
        self.exchange.busy = Busy::ALL;
        self.loops.enter(true);
        self.f.open();
        let idle = self.count_idle(self.counters.idle);
        self.count_phase();
        self.pieces(body);
        let body = self.f.close();
        self.settle_idle(idle, &body);
        self.loops.leave();
        self.exchange.busy = Busy::ALL;
        self.f.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
        if self.options.resumes {
            self.put_down();
        }
    }

    fn make_tally(&mut self) {
        let (no, bool, u32) = (self.f.bool(false), self.types.bool, self.types.u32);
        let counted = self.f.local(bool, Some(no));
        let ended = self.f.local(u32, None);
        let held = self.options.resumes.then(|| self.f.local(bool, Some(no)));
        let words = 1 + u32::from(held.is_some());
        let shared = parts::shared(&mut self.module, "ended", self.types.atomic, words);
        self.tally = Some(Tally { counted, ended, shared, held });
    }

    /// Counts a phase as an iteration; a wave that has made too many ends.
    fn count_phase(&mut self) {
        let Some(alive) = self.wave_alive else { return };
        let (budget, before) = (self.launch_word(header::BUDGET), self.f.load(self.counters.wave));
        let over = self.f.ge(before, budget);
        let running = self.f.load(alive);
        let stops = self.f.both(over, running);
        let site = self.site(SiteKind::Loop, 0, false);
        self.note(stops, flag::BUDGET, site, None);
        let within = self.f.not(over);
        let goes_on = self.f.both(running, within);
        self.f.store(alive, goes_on);
        let after = self.f.add_u32(before, 1);
        self.f.store(self.counters.wave, after);
        self.check_host_loops(Some(false));
    }

    /// The waves meet; the loop around ends if all have ended.
    pub(in super::super) fn end_phase(&mut self) {
        let (Some(alive), Some(tally)) = (self.wave_alive, self.tally) else {
            self.trouble("phases of a workgroup that nobody counts".into());
            return;
        };
        let (running, before) = (self.f.load(alive), self.f.load(tally.counted));
        let [over, new] = [running, before].map(|b| self.f.not(b));
        let new = self.f.both(over, new);
        self.f.store(tally.counted, over);
        self.count_wave(tally, new);
        if tally.held.is_some() {
            self.ask_to_hold(tally);
        }
        self.f.barrier(Barrier::WORK_GROUP | Barrier::STORAGE);
        if let Some(held) = tally.held {
            let place = self.f.u32(1);
            let asked = self.f.element(tally.shared, place);
            let asked = self.f.isnt_u32(asked, 0);
            self.f.store(held, asked);
        }
        let place = self.f.u32(0);
        let ended = self.f.element(tally.shared, place);
        self.f.store(tally.ended, ended);
        // Whoever ends in the next phase is not to be counted in this one.
        self.f.barrier(Barrier::WORK_GROUP);
        self.exchange.busy = Busy::default();
        let (ended, waves) = (self.f.load(tally.ended), self.f.u32(self.shape.waves));
        let all = self.f.ge(ended, waves);
        let no = self.f.bool(false);
        self.f.when(all, |f| {
            if let Some(held) = tally.held {
                f.store(held, no);
            }
            f.push(Statement::Break);
        });
        if let Some(held) = tally.held {
            let held = self.f.load(held);
            self.f.when(held, |f| f.push(Statement::Break));
        }
    }

    /// Counts this wave among those that have ended, if it is.
    pub(super) fn count_wave(&mut self, tally: Tally, ended: Ex) {
        let first = self.f.is_u32(self.at.invocation, 0);
        let mine = self.f.both(ended, first);
        self.f.when(mine, |f| {
            let (place, one) = (f.u32(0), f.u32(1));
            f.atomic_only(tally.shared, place, A::Add, one);
        });
    }

    /// Whether this wave has made half the iterations that the host makes: the other half is for the rest of the phase, and for putting
    /// down what is in LDS.
    fn tired(&mut self) -> Option<Ex> {
        let limit = self.caps.loops?;
        let (count, most) = (self.host_count(), self.f.u32(limit.iterations / 2));
        Some(self.f.ge(count, most))
    }

    /// Tells the program, at the start of an iteration, whether the wave is soon to be held back.
    pub(in super::super) fn say_whether_pausing(&mut self) {
        if let (Some(var), Some(tired)) = (self.plan.pausing, self.tired()) {
            let pointer = self.var_pointer(var);
            self.f.store(pointer, tired);
        }
    }

    /// Asks that all waves are held back if this one is tired.
    fn ask_to_hold(&mut self, tally: Tally) {
        let Some(tired) = self.tired() else { return };
        self.f.when(tired, |f| {
            let (place, one) = (f.u32(1), f.u32(1));
            f.atomic_only(tally.shared, place, A::InclusiveOr, one);
        });
    }
}
