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
    counted: Ex,
    /// Pointer to how many have been, as it was when all met.
    ended: Ex,
    /// How many have been, in workgroup memory.
    shared: naga::Handle<naga::GlobalVariable>,
}

impl<'p> Lower<'p> {
    /// A loop that goes through phases. Waves that have ended come along.
    pub(in super::super) fn phase_loop(&mut self, body: &[Piece<'p>]) {
        self.make_tally();
        self.exchange.busy = Busy::ALL;
        self.loops.enter(true);
        self.f.open();
        self.count_phase();
        self.pieces(body);
        let body = self.f.close();
        self.loops.leave();
        self.exchange.busy = Busy::ALL;
        self.f.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
    }

    fn make_tally(&mut self) {
        let (no, bool, u32) = (self.f.bool(false), self.types.bool, self.types.u32);
        let counted = self.f.local(bool, Some(no));
        let ended = self.f.local(u32, None);
        let shared = parts::shared(&mut self.module, "ended", self.types.atomic, 1);
        self.tally = Some(Tally { counted, ended, shared });
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
        let first = self.f.is_u32(self.at.invocation, 0);
        let mine = self.f.both(new, first);
        self.f.when(mine, |f| {
            let (place, one) = (f.u32(0), f.u32(1));
            f.atomic_only(tally.shared, place, A::Add, one);
        });
        self.f.barrier(Barrier::WORK_GROUP | Barrier::STORAGE);
        let place = self.f.u32(0);
        let ended = self.f.element(tally.shared, place);
        self.f.store(tally.ended, ended);
        // Whoever ends in the next phase is not to be counted in this one.
        self.f.barrier(Barrier::WORK_GROUP);
        self.exchange.busy = Busy::default();
        let (ended, waves) = (self.f.load(tally.ended), self.f.u32(self.shape.waves));
        let all = self.f.ge(ended, waves);
        self.f.when(all, |f| f.push(Statement::Break));
    }
}
