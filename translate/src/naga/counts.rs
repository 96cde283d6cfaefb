//! Iterations of loops: those of the program, which its budget is for, and those of the host, which may end loops by itself.

use naga::{Block, Statement};

use super::SiteKind;
use super::func::Ex;
use super::layout::{flag, header};
use super::lower::Lower;

impl Lower<'_> {
    /// Counts an iteration and leaves the loop if that was one too many. `base`: iterations counted elsewhere.
    pub(super) fn count_iteration(&mut self, counter: Ex, base: Option<Ex>, meets: bool) {
        if self.was_counted() {
            return;
        }
        let budget = self.launch_word(header::BUDGET);
        let (before, all) = self.counted(counter, base);
        let over = self.f.ge(all, budget);
        self.stop_loop(over, flag::BUDGET, true);
        let after = self.f.add_u32(before, 1);
        self.f.store(counter, after);
        self.check_host_loops(Some(!meets));
    }

    /// Iterations so far: the counter's, and with those that are counted elsewhere (`base`).
    pub(super) fn counted(&mut self, counter: Ex, base: Option<Ex>) -> (Ex, Ex) {
        let before = self.f.load(counter);
        let all = match base {
            Some(base) => {
                let base = self.f.load(base);
                self.f.add(base, before)
            }
            None => before,
        };
        (before, all)
    }

    /// Notes if the host would soon end loops by itself; leaves the loop, if `leave`.
    pub(super) fn check_host_loops(&mut self, leave: Option<bool>) {
        let Some(limit) = self.caps.loops else { return };
        let (all, most) = (self.host_count(), self.f.u32(limit.iterations));
        let over = self.f.ge(all, most);
        self.stop_loop(over, flag::HOST_LOOPS, leave == Some(true));
    }

    /// Iterations in this dispatch as the host counts them: those of invocations that run together are one number, whether they make
    /// them together or each by itself.
    pub(super) fn host_count(&mut self) -> Ex {
        let together = self.caps.loops.map_or(1, |limit| limit.together);
        // Waves go their own ways; lanes of a wave that runs as one do not.
        let (of_waves, of_lanes) = if self.shape.whole {
            let waves = together.min(self.shape.waves);
            (waves, waves)
        } else {
            (1, together)
        };
        let spins = self.f.global(self.helpers.spins);
        let [wave, idle, spins] = [self.counters.wave, self.counters.idle, spins].map(|p| self.f.load(p));
        let wave = self.f.add(wave, idle);
        let apart = (0..self.shape.components).fold(spins, |sum, k| {
            let lane = self.f.load(self.counters.lane[k]);
            self.f.add(sum, lane)
        });
        let [wave, apart] = [(wave, of_waves), (apart, of_lanes)].map(|(count, weight)| {
            let weight = self.f.u32(weight);
            self.f.mul(count, weight)
        });
        let (all, before) = (self.f.add(wave, apart), self.f.load(self.counters.before));
        self.f.sub(all, before)
    }

    /// Counts, in each iteration of the loop that is open (or once, in front of all), those that the host makes of loops inside which are not come to: it runs
    /// what a branch guards, a loop's first iteration too, even if nobody takes it. [`Lower::settle_idle`] says how many.
    pub(super) fn count_idle(&mut self, counter: Ex) -> Option<Ex> {
        self.caps.loops?;
        let (before, inside) = (self.f.load(counter), self.f.later());
        let after = self.f.add(before, inside);
        self.f.store(counter, after);
        Some(inside)
    }

    /// Says how many loops there are in a block.
    pub(super) fn settle_idle(&mut self, idle: Option<Ex>, block: &Block) {
        if let Some(idle) = idle {
            let loops = self.idle_loops(block);
            self.f.settle(idle, loops);
        }
    }

    /// Loops in a block that the host begins even if nobody comes to them.
    pub(super) fn idle_loops(&self, block: &Block) -> u32 {
        if self.caps.loops.is_some() { host_loops(&self.module, block) } else { 0 }
    }

    /// Notes that a loop went on for too long, and leaves it.
    fn stop_loop(&mut self, over: Ex, cause: u32, leave: bool) {
        let site = self.site(SiteKind::Loop, 0, false);
        self.note(over, cause, site, None);
        if leave {
            self.f.when(over, |f| f.push(Statement::Break));
        }
    }
}

/// Loops in a block, with those of functions that it calls.
fn host_loops(module: &naga::Module, block: &Block) -> u32 {
    block.iter().map(|statement| loops_of(module, statement)).sum()
}

fn loops_of(module: &naga::Module, statement: &Statement) -> u32 {
    match statement {
        Statement::Block(block) => host_loops(module, block),
        Statement::If { accept, reject, .. } => host_loops(module, accept) + host_loops(module, reject),
        Statement::Loop { body, .. } => 1 + host_loops(module, body),
        Statement::Call { function, .. } => host_loops(module, &module.functions[*function].body),
        _ => 0,
    }
}
