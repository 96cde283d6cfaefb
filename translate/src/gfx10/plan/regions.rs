//! Which branches each lane may take by itself.
//!
//! A branch that asks whether EXEC has any lane guards a *region*: the blocks that are reached from it before its immediate
//! post-dominator. A lane whose EXEC bit is clear may stay out of the region if the region leaves nothing behind that such a
//! lane could see:
//!
//! 1. no scalar register that the region writes is live behind it, EXEC excepted;
//! 2. EXEC in the region and behind it has no lane that it had not before: for a lane that stayed out it was clear and is
//!    clear;
//! 3. no load in the region can come after a store of the region, and LDS is not both read and written: lanes that go
//!    their own ways run in any order, the guest's lanes run in step. Nor has it atomics whose results tell the order of the
//!    lanes.
//!
//! The same holds for a branch on VCC if VCC is the outcome of a comparison of scalars: all active lanes agree then.
//!
//! The blocks of all such regions form the *zone*, where lanes go their own ways: no wave operation may stand there. Emission
//! finds out where one is needed; the branches around it then become votes and the plan is made again.

use std::collections::BTreeSet;

use guestwave_isa::gfx10::{Encoding, Inst, NumberKind, Operand, WaveSize, sreg};

use super::effects::{RegisterSet, effects};
use super::kinds::{is_mask_operation, touches_exec};
use super::{Class, Kinds, Liveness, Logic, SCC, class};
use crate::gfx10::flow::{BlockId, Condition, End, Graph, Order};
use crate::gfx10::ops::memory_use;

/// How a conditional branch is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    /// The condition is the same number in every lane.
    Uniform,
    /// Each lane by its own bit.
    Lane,
    /// By asking the whole wave.
    Vote,
}

/// The decisions for one attempt at emission.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    ways: Vec<Way>,
    /// Regions of the lane branches.
    regions: Vec<(BlockId, BTreeSet<BlockId>)>,
    zone: Vec<bool>,
    /// Scalar registers and SCC that the zone writes.
    written: RegisterSet,
    /// Branches that must be votes.
    votes: BTreeSet<BlockId>,
}

/// What a plan is made from.
pub(crate) struct Facts<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) order: &'a Order,
    pub(crate) kinds: &'a Kinds,
    pub(crate) live: &'a Liveness,
    pub(crate) wave: WaveSize,
}

impl Plan {
    /// The plan with the fewest votes that the rules of this module allow.
    pub(crate) fn new(facts: &Facts<'_>) -> Plan {
        Plan::with_votes(facts, BTreeSet::new())
    }

    fn with_votes(facts: &Facts<'_>, votes: BTreeSet<BlockId>) -> Plan {
        let n = facts.graph.blocks.len();
        let mut plan = Plan {
            ways: vec![Way::Vote; n],
            regions: Vec::new(),
            zone: vec![false; n],
            written: RegisterSet::default(),
            votes,
        };
        for b in facts.graph.ids() {
            plan.ways[b.0] = plan.decide(facts, b);
        }
        plan
    }

    /// The plan in which the wave goes one way together everywhere.
    pub(crate) fn together(facts: &Facts<'_>) -> Plan {
        Plan::with_votes(facts, facts.graph.ids().collect())
    }

    /// A plan in which every branch around `block` that was taken by lanes is a vote; `None` if there is none.
    pub(crate) fn without(&self, facts: &Facts<'_>, block: BlockId) -> Option<Plan> {
        let around = self.regions.iter().filter(|(_, r)| r.contains(&block)).map(|(b, _)| *b);
        let mut votes = self.votes.clone();
        votes.extend(around);
        (votes.len() > self.votes.len()).then(|| Plan::with_votes(facts, votes))
    }

    /// Whether lanes go their own ways anywhere.
    pub(crate) fn parts(&self) -> bool {
        !self.regions.is_empty()
    }

    pub(crate) fn way(&self, b: BlockId) -> Way {
        self.ways[b.0]
    }

    /// Whether lanes go their own ways in the block.
    pub(crate) fn in_zone(&self, b: BlockId) -> bool {
        self.zone[b.0]
    }

    /// Scalar registers and SCC that are written where lanes go their own ways.
    pub(crate) fn written_in_zone(&self) -> RegisterSet {
        self.written
    }

    fn decide(&mut self, facts: &Facts<'_>, b: BlockId) -> Way {
        let End::Branch { condition, .. } = facts.graph.block(b).end else { return Way::Uniform };
        let by_lanes = match condition {
            Condition::Scc(_) => return scc_way(facts, b),
            Condition::ExecZero(_) => true,
            Condition::VccZero(_) => match facts.vcc(b) {
                Vcc::Number => return Way::Uniform,
                Vcc::Agreed => true,
                Vcc::Mask => false,
            },
        };
        if !by_lanes || self.votes.contains(&b) || !facts.order.reducible {
            return Way::Vote;
        }
        let region = facts.region(b);
        if !facts.invisible(b, &region) {
            return Way::Vote;
        }
        for r in &region {
            self.zone[r.0] = true;
            for inst in &facts.graph.block(*r).insts {
                self.written = self.written.union(effects(inst, facts.wave).writes);
            }
        }
        self.regions.push((b, region));
        Way::Lane
    }
}

/// Whether SCC is a number at the end of the block.
fn scc_way(facts: &Facts<'_>, b: BlockId) -> Way {
    let mut state = facts.kinds.entry(b).clone();
    facts.graph.block(b).insts.iter().for_each(|i| super::kinds::step(&mut state, i, facts.wave));
    if state.is_mask(SCC) { Way::Vote } else { Way::Uniform }
}

/// What VCC is at the end of a block.
enum Vcc {
    Number,
    /// A mask on whose bits all active lanes agree.
    Agreed,
    Mask,
}

impl Facts<'_> {
    fn vcc(&self, b: BlockId) -> Vcc {
        let mut state = self.kinds.entry(b).clone();
        let mut agreed = false;
        for inst in &self.graph.block(b).insts {
            let e = effects(inst, self.wave);
            if e.writes.contains(sreg::VCC_LO) {
                agreed = inst.encoding == Encoding::Vopc && inst.src.iter().all(is_scalar);
            } else if e.writes.contains(sreg::EXEC_LO) {
                agreed = false;
            }
            super::kinds::step(&mut state, inst, self.wave);
        }
        match (state.is_mask(sreg::VCC_LO), agreed) {
            (false, _) => Vcc::Number,
            (true, true) => Vcc::Agreed,
            (true, false) => Vcc::Mask,
        }
    }

    /// The blocks between a branch and its immediate post-dominator.
    fn region(&self, b: BlockId) -> BTreeSet<BlockId> {
        let stop = self.order.ipdom[b.0];
        let mut region = BTreeSet::new();
        let mut todo: Vec<BlockId> = self.graph.block(b).end.successors().collect();
        while let Some(r) = todo.pop() {
            if Some(r) != stop && region.insert(r) {
                todo.extend(self.graph.block(r).end.successors());
            }
        }
        region
    }

    /// Whether a lane that EXEC leaves out could not tell that the region ran.
    fn invisible(&self, b: BlockId, region: &BTreeSet<BlockId>) -> bool {
        let behind = self.order.ipdom[b.0].map(|j| self.live.entry(j)).unwrap_or_default();
        let mut exec = RegisterSet::default();
        (sreg::EXEC_LO..=sreg::EXEC_HI).for_each(|r| exec.insert(r));
        let written = region
            .iter()
            .flat_map(|r| &self.graph.block(*r).insts)
            .fold(RegisterSet::default(), |all, i| all.union(effects(i, self.wave).writes));
        !written.minus(exec).intersects(behind)
            && (!written.intersects(exec) || self.exec_only_shrinks(b, region))
            && self.in_any_order(region)
    }

    /// Rule 3 of the module.
    fn in_any_order(&self, region: &BTreeSet<BlockId>) -> bool {
        let uses = |b: &BlockId| self.graph.block(*b).insts.iter().map(memory_use);
        let all =
            region.iter().flat_map(uses).fold((false, false), |(r, w), u| (r | u.lds_read, w | u.lds_write));
        if all == (true, true) || region.iter().flat_map(uses).any(|u| u.ordered) {
            return false;
        }
        region.iter().all(|b| {
            let mut stored = false;
            let within = uses(b).all(|u| {
                let fine = !(stored && u.global_read);
                stored |= u.global_write;
                fine
            });
            within && !(stored && self.reachable(*b, region).iter().any(|r| uses(r).any(|u| u.global_read)))
        })
    }

    /// Blocks of the region that can come after `b`.
    fn reachable(&self, b: BlockId, region: &BTreeSet<BlockId>) -> BTreeSet<BlockId> {
        let mut seen = BTreeSet::new();
        let mut todo: Vec<BlockId> = self.graph.block(b).end.successors().collect();
        while let Some(r) = todo.pop() {
            if region.contains(&r) && seen.insert(r) {
                todo.extend(self.graph.block(r).end.successors());
            }
        }
        seen
    }

    /// Rule 2 of the module: follows which masks have only lanes that EXEC had at the branch.
    fn exec_only_shrinks(&self, b: BlockId, region: &BTreeSet<BlockId>) -> bool {
        let mut start = Subsets::default();
        start.0.insert(sreg::EXEC_LO);
        let mut entry: Vec<Option<Subsets>> = vec![None; self.graph.blocks.len()];
        let mut todo: Vec<BlockId> = Vec::new();
        let (mut shrinks, mut stays) = (true, true);
        let mut flow = |from: &Subsets, b: BlockId, todo: &mut Vec<BlockId>| {
            for s in self.graph.block(b).end.successors() {
                if !region.contains(&s) {
                    shrinks &= from.0.contains(sreg::EXEC_LO);
                } else if entry[s.0].as_mut().is_none_or(|known| known.meet(from)) {
                    entry[s.0].get_or_insert(*from);
                    todo.push(s);
                }
            }
            entry.clone()
        };
        let mut states = flow(&start, b, &mut todo);
        while let Some(r) = todo.pop() {
            let Some(mut subsets) = states[r.0] else { continue };
            let mut kinds = self.kinds.entry(r).clone();
            for inst in &self.graph.block(r).insts {
                subsets.step(inst, is_mask_operation(inst, &kinds, self.wave), self.wave);
                stays &= subsets.0.contains(sreg::EXEC_LO);
                super::kinds::step(&mut kinds, inst, self.wave);
            }
            states = flow(&subsets, r, &mut todo);
        }
        shrinks && stays
    }
}

fn is_scalar(o: &Operand) -> bool {
    !matches!(o, Operand::Vgpr(_) | Operand::Special(_))
}

/// Scalar registers at which a mask starts that is a subset of EXEC at the branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Subsets(RegisterSet);

impl Subsets {
    /// Keeps what both ways have; whether that took anything away.
    fn meet(&mut self, other: &Subsets) -> bool {
        let both = self.0.minus(self.0.minus(other.0));
        std::mem::replace(&mut self.0, both) != both
    }

    fn has(&self, o: Operand) -> bool {
        match o {
            Operand::Sgpr(r) => self.0.contains(r),
            Operand::Int(0) => true,
            _ => false,
        }
    }

    fn step(&mut self, inst: &Inst, as_mask: bool, wave: WaveSize) {
        let exec = Operand::Sgpr(sreg::EXEC_LO);
        let [a, b, ..] = inst.src;
        let (value, new_exec) = match class(inst.op, wave) {
            Class::Logic(l) if as_mask => (self.logic(l, a, b), None),
            Class::SaveExec { logic, swapped } => {
                let (x, y) = if swapped { (exec, a) } else { (a, exec) };
                (self.has(exec), Some(self.logic(logic, x, y)))
            }
            Class::WriteExec { logic, swapped } => {
                let (x, y) = if swapped { (exec, a) } else { (a, exec) };
                let new = self.logic(logic, x, y);
                (new, Some(new))
            }
            // A comparison or carry has no lane that EXEC has not.
            _ => (self.has(exec), None),
        };
        let made = as_mask || makes_mask(inst);
        self.0 = self.0.minus(effects(inst, wave).writes);
        for o in inst.dst {
            if let (Operand::Sgpr(r), true, true) = (o, value, made) {
                self.0.insert(r);
            }
        }
        if let (true, Some(shrinks)) = (touches_exec(inst, wave), new_exec) {
            // The new EXEC stands whatever the destination was.
            let mut exec = RegisterSet::default();
            exec.insert(sreg::EXEC_LO);
            self.0 = if shrinks { self.0.union(exec) } else { self.0.minus(exec) };
        }
    }

    fn logic(&self, logic: Logic, a: Operand, b: Operand) -> bool {
        match logic {
            Logic::Mov => self.has(a),
            Logic::And => self.has(a) || self.has(b),
            Logic::Or | Logic::Xor | Logic::Select => self.has(a) && self.has(b),
            Logic::AndNot => self.has(a),
            _ => false,
        }
    }
}

/// Whether the instruction's scalar destination is a mask made lane by lane.
fn makes_mask(inst: &Inst) -> bool {
    let kinds = inst.op.row(inst.encoding).map(|r| r.dst);
    kinds.is_some_and(|d| {
        d.iter().zip(inst.dst).any(|(spec, o)| {
            matches!(o, Operand::Sgpr(_)) && spec.is_some_and(|s| s.kind == NumberKind::Mask)
        })
    })
}
