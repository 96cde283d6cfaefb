//! Which scalar registers may still be read.

use guestwave_isa::gfx10::{WaveSize, sreg};

use super::SCC;
use super::effects::{RegisterSet, effects};
use crate::gfx10::flow::{Block, BlockId, Condition, End, Graph};

/// Live scalar registers at the start and at the end of each block.
#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    entry: Vec<RegisterSet>,
    exit: Vec<RegisterSet>,
}

impl Liveness {
    pub(crate) fn new(graph: &Graph, wave: WaveSize) -> Liveness {
        let n = graph.blocks.len();
        let through: Vec<(RegisterSet, RegisterSet)> =
            graph.blocks.iter().map(|b| summary(b, wave)).collect();
        let mut live =
            Liveness { entry: vec![RegisterSet::default(); n], exit: vec![RegisterSet::default(); n] };
        let mut changed = true;
        while changed {
            changed = false;
            for b in graph.ids().collect::<Vec<_>>().into_iter().rev() {
                changed |= live.update(graph, b, &through[b.0]);
            }
        }
        live
    }

    fn update(&mut self, graph: &Graph, b: BlockId, (reads, writes): &(RegisterSet, RegisterSet)) -> bool {
        let exit =
            graph.block(b).end.successors().fold(RegisterSet::default(), |all, s| all.union(self.entry[s.0]));
        let entry = reads.union(exit.minus(*writes));
        let changed = entry != self.entry[b.0] || exit != self.exit[b.0];
        (self.entry[b.0], self.exit[b.0]) = (entry, exit);
        changed
    }

    /// Whether the register may be read in the block or behind it.
    pub(crate) fn may_be_read(&self, graph: &Graph, b: BlockId, register: u8) -> bool {
        // Instructions are not numbered here, so any read in the block counts, early ones too.
        let in_block =
            graph.block(b).insts.iter().any(|i| effects(i, WaveSize::W64).reads.contains(register));
        in_block || self.exit[b.0].contains(register)
    }

    /// Registers that are live where the block starts.
    pub(crate) fn entry(&self, b: BlockId) -> RegisterSet {
        self.entry[b.0]
    }
}

/// What a block reads before it writes it, and what it writes.
fn summary(block: &Block, wave: WaveSize) -> (RegisterSet, RegisterSet) {
    let (mut reads, mut writes) = (RegisterSet::default(), RegisterSet::default());
    for inst in &block.insts {
        let e = effects(inst, wave);
        reads = reads.union(e.reads.minus(writes));
        writes = writes.union(e.writes);
    }
    (reads.union(asked(block.end, wave).minus(writes)), writes)
}

/// What the branch of a block reads.
fn asked(end: End, wave: WaveSize) -> RegisterSet {
    let mut set = RegisterSet::default();
    let mask =
        |set: &mut RegisterSet, first: u8| (first..first + wave.mask_dwords()).for_each(|r| set.insert(r));
    if let End::Branch { condition, .. } = end {
        match condition {
            Condition::Scc(_) => set.insert(SCC),
            Condition::VccZero(_) => mask(&mut set, sreg::VCC_LO),
            Condition::ExecZero(_) => mask(&mut set, sreg::EXEC_LO),
        }
    }
    set
}
