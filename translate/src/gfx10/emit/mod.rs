//! Emission: walks the structured control of a program and appends what each instruction means.

mod clock;
mod control;
mod mask;
mod mode;
pub(super) mod operand;
mod prologue;
mod record;
mod registers;
mod scalar;
mod trace;
mod vector;

use std::collections::{HashMap, HashSet};

use guestwave_isa::gfx10::{Inst, NumberKind, Operand, sreg};

use super::error::{Refusal, Stop};
use super::event::Event;
use super::exact::{Facts, vector_row};
use super::flow::{BlockId, Graph, Tree};
use super::ops::{self, Lower};
use super::plan::{Kinds, Liveness, Plan, State, file_end};
use super::translation::{Assumption, Known, Source, Translation};
use crate::program::{Builder, Value, Var};
use crate::ways::{Contents, Ways};
use mode::Modes;

pub(super) use clock::reads_clock;
pub(super) use control::CONTROL_ROWS;
pub(crate) use prologue::lane_value;

/// What one attempt at emission works from.
pub(super) struct Input<'a> {
    pub(super) graph: &'a Graph,
    pub(super) tree: &'a Tree,
    pub(super) kinds: &'a Kinds,
    pub(super) live: &'a Liveness,
    pub(super) plan: &'a Plan,
    pub(super) source: &'a Source<'a>,
    pub(super) name: &'a str,
    /// What the launch at hand can say about a number.
    pub(super) known: Known<'a>,
}

/// One attempt at emission.
pub(super) struct Emit<'a> {
    pub(super) b: Builder,
    pub(super) input: &'a Input<'a>,
    /// The block whose instructions are being emitted.
    pub(super) block: BlockId,
    /// What the scalar registers hold at this point.
    pub(super) state: State,
    vars: HashMap<registers::Cell, Var>,
    /// What variables hold here.
    contents: Contents,
    /// What the sequences know of values.
    facts: Facts,
    /// Values that were loaded from guest memory: the address of the first dword and the dword's place.
    loaded: HashMap<Value, (Value, u32)>,
    /// What the program takes for granted about the launch.
    assumptions: Vec<Assumption>,
    /// Instructions whose exports or messages are recorded.
    events: Vec<Event>,
    guarded: HashSet<(Value, BlockId)>,
    /// MODE at this point.
    mode: Modes,
    /// Flags that lanes raise by themselves.
    flags_apart: HashSet<usize>,
    /// Instructions of the block so far.
    executed: u32,
    /// Somebody looks at the clock.
    clocked: bool,
    /// Conditions of branches whose block has been emitted, in the block that is open.
    conditions: HashMap<BlockId, Value>,
}

/// Emits the program, or says what stops this attempt.
pub(super) fn emit(input: &Input<'_>) -> Result<Translation, Stop> {
    let entry = BlockId(0);
    let mut e = Emit {
        b: Builder::new(input.name, input.source.wave.lanes() as u8),
        input,
        block: entry,
        state: input.kinds.entry(entry).clone(),
        vars: HashMap::new(),
        contents: Contents::default(),
        facts: Facts::default(),
        loaded: HashMap::new(),
        assumptions: Vec::new(),
        events: Vec::new(),
        guarded: HashSet::new(),
        mode: Modes::new(input),
        flags_apart: HashSet::new(),
        executed: 0,
        clocked: reads_clock(input.graph),
        conditions: HashMap::new(),
    };
    control::flags_apart(&input.tree.nodes, input.plan, false, &mut e.flags_apart);
    e.prologue();
    e.enter_entry()?;
    e.nodes(&input.tree.nodes)?;
    e.check_modes()?;
    let program = e.b.program_mut();
    program.lds_bytes = input.source.lds_bytes;
    program.scratch_bytes = input.source.scratch_bytes;
    program.together = input.source.together;
    Ok(Translation { program: e.b.finish(), assumptions: e.assumptions, events: e.events })
}

impl Emit<'_> {
    fn inst(&mut self, inst: &Inst) -> Result<(), Stop> {
        if self.mask_operation(inst)? {
            return Ok(());
        }
        self.check_masks(inst)?;
        match ops::lowering(inst.op) {
            Some(Lower::Nothing) => Ok(()),
            Some(Lower::Whole(f)) => f(self, inst),
            Some(Lower::Memory(family, kind)) => ops::lower_memory(self, inst, family, kind),
            Some(Lower::ScalarAtomic(atomic)) => ops::lower_scalar_atomic(self, inst, atomic),
            Some(Lower::Scalar(f)) => self.scalar_operation(inst, |e, s| Ok(f(e, s))),
            Some(Lower::Carry(f)) => self.scalar_operation(inst, |e, s| {
                let scc = e.scc()?;
                Ok(f(e, s, scc))
            }),
            None => self.vector_or_refuse(inst),
        }
    }

    fn vector_or_refuse(&mut self, inst: &Inst) -> Result<(), Stop> {
        match vector_row(inst.op) {
            Some(row) => self.vector_operation(inst, &row),
            None => Err(Refusal::Instruction { mnemonic: inst.op.name(), pc: inst.offset }.into()),
        }
    }

    /// Refuses a mask of two registers that are no pair.
    fn check_masks(&self, inst: &Inst) -> Result<(), Stop> {
        let Some(row) = inst.op.row(inst.encoding) else { return Ok(()) };
        let operands = inst.dst.iter().zip(&row.dst).chain(inst.src.iter().zip(&row.src));
        for (operand, spec) in operands {
            let is_pair =
                spec.is_some_and(|s| s.kind == NumberKind::Mask && s.dwords(self.input.source.wave) == 2);
            if let (Operand::Sgpr(first), true) = (operand, is_pair)
                && *first != sreg::NULL
                && (!first.is_multiple_of(2) || first + 2 > file_end(*first))
            {
                return Err(Refusal::Registers { mnemonic: inst.op.name(), pc: inst.offset }.into());
            }
        }
        Ok(())
    }

    /// A refusal of something that `inst` has.
    pub(super) fn refuse(&self, inst: &Inst, what: &'static str) -> Stop {
        Refusal::Operand { mnemonic: inst.op.name(), pc: inst.offset, what }.into()
    }

    /// Says that a wave operation is wanted here.
    ///
    /// # Errors
    /// Lanes go their own ways here.
    pub(super) fn want_wave(&self) -> Result<(), Stop> {
        if self.input.plan.in_zone(self.block) { Err(Stop::NeedsVote(self.block)) } else { Ok(()) }
    }
}
