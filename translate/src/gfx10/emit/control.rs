//! Structured control: how branches, loops and chains are taken.

use std::collections::HashSet;

use guestwave_isa::gfx10::{Inst, Mods, Op, sreg};

use super::registers::Cell;
use super::{Emit, Stop};
use crate::gfx10::flow::{BlockId, Condition, End, Node};
use crate::gfx10::ops::{Lower, Row};
use crate::gfx10::plan::{Plan, Way};
use crate::program::{BinOp, Builder, Stmt, UnOp, Value, Var};
use crate::ways::{Contents, Ways};

/// Instructions that have no effect on what a program stores, and the barrier.
pub(in crate::gfx10) const CONTROL_ROWS: &[Row] = &[
    (Op::S_BARRIER, Lower::Whole(barrier)),
    (Op::S_NOP, Lower::Nothing),
    (Op::S_WAITCNT, Lower::Nothing),
    (Op::S_WAITCNT_VSCNT, Lower::Nothing),
    (Op::S_WAITCNT_VMCNT, Lower::Nothing),
    (Op::S_WAITCNT_EXPCNT, Lower::Nothing),
    (Op::S_WAITCNT_LGKMCNT, Lower::Nothing),
    (Op::S_WAITCNT_DEPCTR, Lower::Nothing),
    (Op::S_SLEEP, Lower::Nothing),
    (Op::S_SETPRIO, Lower::Nothing),
    (Op::S_CLAUSE, Lower::Nothing),
    (Op::S_INST_PREFETCH, Lower::Nothing),
    (Op::S_ICACHE_INV, Lower::Nothing),
    (Op::S_VERSION, Lower::Nothing),
    (Op::S_TTRACEDATA, Lower::Nothing),
    (Op::S_TTRACEDATA_IMM, Lower::Nothing),
    (Op::S_DCACHE_INV, Lower::Nothing),
    (Op::S_GL1_INV, Lower::Nothing),
    (Op::BUFFER_GL0_INV, Lower::Nothing),
    (Op::BUFFER_GL1_INV, Lower::Nothing),
    (Op::S_WAKEUP, Lower::Nothing),
    (Op::S_WAIT_IDLE, Lower::Nothing),
    (Op::S_INCPERFLEVEL, Lower::Nothing),
    (Op::S_DECPERFLEVEL, Lower::Nothing),
    (Op::S_DCACHE_WB, Lower::Nothing),
    (Op::S_DCACHE_DISCARD, Lower::Nothing),
    (Op::S_DCACHE_DISCARD_X2, Lower::Nothing),
    (Op::S_ATC_PROBE, Lower::Nothing),
    (Op::S_ATC_PROBE_BUFFER, Lower::Nothing),
    (Op::V_NOP, Lower::Nothing),
    (Op::V_PIPEFLUSH, Lower::Nothing),
    (Op::V_CLREXCP, Lower::Nothing),
    (Op::DS_NOP, Lower::Nothing),
    (Op::S_SETHALT, Lower::Whole(set_halt)),
    (Op::S_TRAP, Lower::Whole(trap)),
    // The debugger's status bits are 0: there is no debugger.
    (Op::S_CBRANCH_CDBGSYS, Lower::Nothing),
    (Op::S_CBRANCH_CDBGUSER, Lower::Nothing),
    (Op::S_CBRANCH_CDBGSYS_OR_USER, Lower::Nothing),
    (Op::S_CBRANCH_CDBGSYS_AND_USER, Lower::Nothing),
];

/// There is no trap handler: whoever comes here ends the dispatch.
fn trap(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    e.b.push(Stmt::Trap { code: "TR-TRAP-001", pc: inst.offset });
    Ok(())
}

/// SIMM16 bit 0 would halt the wave for good.
fn set_halt(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    match inst.mods {
        Mods::Simm(simm) if simm & 1 == 0 => Ok(()),
        _ => Err(e.refuse(inst, "its halt bit set")),
    }
}

fn barrier(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    e.want_wave()?;
    e.b.push(Stmt::Barrier { pc: inst.offset });
    Ok(())
}

impl Ways for Emit<'_> {
    type Stop = Stop;

    fn parts(&mut self) -> (&mut Builder, &mut Contents) {
        (&mut self.b, &mut self.contents)
    }

    /// A flag varies if it is raised or lowered where lanes go their own ways; else the wave raises it together.
    fn flag(&mut self, index: usize) -> Var {
        self.cell(Cell::Flag { index, zone: self.flags_apart.contains(&index) })
    }

    fn next_block(&mut self) -> Var {
        self.cell(Cell::Next)
    }

    fn basic_block(&mut self, b: BlockId) -> Result<(), Stop> {
        self.block = b;
        self.state = self.input.kinds.entry(b).clone();
        let block = self.input.graph.block(b);
        self.enter_mode(b);
        for (number, inst) in (0u32..).zip(&block.insts) {
            self.executed = number + 1;
            self.inst(inst)?;
        }
        self.leave_mode(b);
        self.count(block.insts.len() as u32 + u32::from(block.jumps));
        self.hand_over()?;
        if let End::Branch { condition, .. } = block.end {
            let condition = self.condition(b, condition)?;
            self.conditions.insert(b, condition);
        }
        Ok(())
    }

    fn end_of(&self, b: BlockId) -> End<()> {
        self.input.graph.block(b).end.ways()
    }

    fn condition_of(&mut self, b: BlockId) -> Value {
        match self.conditions.get(&b) {
            Some(condition) => *condition,
            None => self.b.cbool(false),
        }
    }

    /// Everything is forgotten but scalar registers that none of the blocks writes, and that hold no part of a mask where one of
    /// them begins, which becomes a number where that is wanted.
    fn forget_for_loop(&mut self, blocks: &[BlockId]) {
        let kept = self.kept_in_loop(blocks);
        self.contents.forget(|var| kept.contains(&var));
    }

    fn branch(&mut self, block: BlockId, taken: &[Node], next: &[Node]) -> Result<(), Stop> {
        let condition = self.condition_of(block);
        let exec_asked = match self.input.graph.block(block).end {
            End::Branch { condition: Condition::ExecZero(zero), .. } => {
                (self.input.plan.way(block) == Way::Lane).then_some(!zero)
            }
            _ => None,
        };
        self.choose(
            condition,
            |e| {
                e.assume_exec(exec_asked);
                e.nodes(taken)
            },
            |e| {
                e.assume_exec(exec_asked.map(|t| !t));
                e.nodes(next)
            },
        )
    }
}

impl Emit<'_> {
    /// Whether the branch is taken.
    fn condition(&mut self, b: BlockId, condition: Condition) -> Result<Value, Stop> {
        let by_lanes = self.input.plan.way(b) == Way::Lane;
        let (truth, wanted) = match condition {
            Condition::Scc(set) => (self.scc()?, set),
            Condition::VccZero(zero) if by_lanes => {
                // A comparison of scalars: all lanes of EXEC agree, and lanes outside it must find it zero.
                let (vcc, exec) = (self.mask(sreg::VCC_LO)?, self.exec());
                (self.b.bin(BinOp::And, vcc, exec), !zero)
            }
            Condition::VccZero(zero) => (self.register_any(sreg::VCC_LO)?, !zero),
            Condition::ExecZero(zero) if by_lanes => (self.exec(), !zero),
            Condition::ExecZero(zero) => {
                let exec = self.exec();
                (self.any(exec)?, !zero)
            }
        };
        Ok(if wanted { truth } else { self.b.un(UnOp::Not, truth) })
    }

    /// Remembers what a branch on EXEC tells about this lane.
    fn assume_exec(&mut self, lane: Option<bool>) {
        if let Some(lane) = lane {
            let value = self.b.cbool(lane);
            let var = self.cell(Cell::Mask(sreg::EXEC_LO));
            self.contents.assume(var, value);
        }
    }

    /// An access whose dwords do not lie together if `swizzled`.
    ///
    /// # Errors
    /// What either way of it meets.
    pub(in crate::gfx10) fn pieces_or_run(
        &mut self,
        swizzled: Value,
        pieces: impl FnOnce(&mut Self) -> Result<(), Stop>,
        run: impl FnOnce(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        match self.b.constant(swizzled) {
            Some(0) => run(self),
            Some(_) => pieces(self),
            None => self.choose(swizzled, pieces, run),
        }
    }
}

/// The flags that are raised or lowered inside branches that lanes take by themselves.
pub(super) fn flags_apart(nodes: &[Node], plan: &Plan, apart: bool, flags: &mut HashSet<usize>) {
    for node in nodes {
        match node {
            Node::If { block, taken, next } => {
                let apart = apart || plan.way(*block) == Way::Lane;
                flags_apart(taken, plan, apart, flags);
                flags_apart(next, plan, apart, flags);
            }
            Node::Loop { body, .. } => flags_apart(body, plan, apart, flags),
            Node::Raise(flag) | Node::Lower(flag) if apart => {
                flags.insert(*flag);
            }
            _ => {}
        }
    }
}
