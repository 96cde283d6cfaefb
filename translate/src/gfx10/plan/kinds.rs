//! Whether a scalar register holds a number or a lane mask, at each point of the program.
//!
//! A mask is kept as one `Bool` a lane and turned into a number only where one is asked for. Which of the two a register holds is
//! a matter of the code alone: comparisons, carries and saved EXECs make masks, bitwise operations on masks make masks, everything
//! else makes numbers. Where ways meet, a mask wins (a number becomes a mask for free, the other way costs a ballot), unless two
//! masks would overlap.

use guestwave_isa::gfx10::{Encoding, Inst, NumberKind, Op, Operand, WaveSize, sreg};

use super::effects::{SCC, effects, indexed_destination, writes_scc};
use super::{Class, class};
use crate::gfx10::flow::{BlockId, Graph};

/// What a scalar register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) enum Kind {
    /// A number.
    #[default]
    Number,
    /// A mask that starts here. Of SCC: "any lane of the mask".
    Mask,
    /// The high half of the mask that starts one register before.
    MaskHigh,
}

/// What each scalar register and SCC hold at one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State([Kind; 129]);

impl State {
    fn start(wave: WaveSize) -> State {
        let mut s = State([Kind::Number; 129]);
        s.set_mask(sreg::EXEC_LO, wave);
        s
    }

    pub(crate) fn kind(&self, register: u8) -> Kind {
        self.0[usize::from(register.min(SCC))]
    }

    /// Whether a mask starts at the register. EXEC's always does.
    pub(crate) fn is_mask(&self, register: u8) -> bool {
        self.kind(register) == Kind::Mask
    }

    /// The masks of which `count` registers from `first` on hold a part, by their first register.
    pub(crate) fn masks_in(&self, first: u8, count: u8) -> impl Iterator<Item = u8> + use<> {
        let kinds = self.0;
        let mut last = None;
        (first..first.saturating_add(count).min(SCC)).filter_map(move |r| {
            let head = match kinds[usize::from(r)] {
                Kind::Number => return None,
                Kind::Mask => r,
                Kind::MaskHigh => r - 1,
            };
            (last.replace(head) != Some(head)).then_some(head)
        })
    }

    pub(crate) fn set_mask(&mut self, register: u8, wave: WaveSize) {
        let count = if register == SCC { 1 } else { wave.mask_dwords() };
        self.set_numbers(register, count);
        self.0[usize::from(register)] = Kind::Mask;
        if count == 2 {
            self.0[usize::from(register) + 1] = Kind::MaskHigh;
        }
    }

    /// Numbers in `count` registers; the other half of a mask that is cut becomes a number too.
    pub(crate) fn set_numbers(&mut self, first: u8, count: u8) {
        for r in first..first.saturating_add(count).min(SCC + 1) {
            let i = usize::from(r);
            match self.0[i] {
                Kind::MaskHigh => self.0[i - 1] = Kind::Number,
                Kind::Mask if self.0.get(i + 1) == Some(&Kind::MaskHigh) => self.0[i + 1] = Kind::Number,
                _ => {}
            }
            self.0[i] = Kind::Number;
        }
    }

    /// Takes in what another way brings; whether that changed anything.
    fn meet(&mut self, other: &State, wave: WaveSize) -> bool {
        let before = self.clone();
        for r in 0..=SCC {
            let fits = r == SCC || wave == WaveSize::W32 || self.kind(r + 1) == Kind::Number;
            if other.is_mask(r) && self.kind(r) == Kind::Number && fits {
                self.set_mask(r, wave);
            }
        }
        *self != before
    }
}

/// What each register holds where each block starts.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    entry: Vec<State>,
}

impl Kinds {
    pub(crate) fn new(graph: &Graph, wave: WaveSize) -> Kinds {
        let mut entry: Vec<Option<State>> = vec![None; graph.blocks.len()];
        entry[0] = Some(State::start(wave));
        let mut todo = vec![BlockId(0)];
        while let Some(b) = todo.pop() {
            let Some(mut state) = entry[b.0].clone() else { continue };
            graph.block(b).insts.iter().for_each(|i| step(&mut state, i, wave));
            for s in graph.block(b).end.successors() {
                let changed = match &mut entry[s.0] {
                    Some(known) => known.meet(&state, wave),
                    unknown => {
                        *unknown = Some(state.clone());
                        true
                    }
                };
                if changed {
                    todo.push(s);
                }
            }
        }
        Kinds { entry: entry.into_iter().map(|s| s.unwrap_or_else(|| State::start(wave))).collect() }
    }

    pub(crate) fn entry(&self, b: BlockId) -> &State {
        &self.entry[b.0]
    }
}

/// What the registers hold after `inst`.
pub(crate) fn step(state: &mut State, inst: &Inst, wave: WaveSize) {
    let as_mask = is_mask_operation(inst, state, wave);
    let row = inst.op.row(inst.encoding);
    for (place, operand) in inst.dst.iter().enumerate() {
        let Operand::Sgpr(r) = *operand else { continue };
        let spec = row.and_then(|r| r.dst[place]);
        let makes_mask = as_mask || spec.is_some_and(|s| s.kind == NumberKind::Mask && vector_mask(inst));
        if r == sreg::NULL {
        } else if makes_mask {
            state.set_mask(r, wave);
        } else {
            state.set_numbers(r, spec.map_or(1, |s| s.dwords(wave)).max(1));
        }
    }
    if let Some((first, count)) = indexed_destination(inst) {
        state.set_numbers(first, count);
    }
    state.set_mask(sreg::EXEC_LO, wave);
    if writes_scc(inst) {
        match as_mask {
            true => state.set_mask(SCC, wave),
            false => state.set_numbers(SCC, 1),
        }
    }
}

/// Whether the instruction's mask destination is made lane by lane (comparisons, carries).
fn vector_mask(inst: &Inst) -> bool {
    matches!(inst.encoding, Encoding::Vopc | Encoding::Vop2 | Encoding::Vop3)
}

/// Whether a scalar operation works on masks here.
pub(crate) fn is_mask_operation(inst: &Inst, state: &State, wave: WaveSize) -> bool {
    let register_is_mask = |o: &Operand| matches!(o, Operand::Sgpr(r) if state.is_mask(*r));
    match class(inst.op, wave) {
        Class::SaveExec { .. } | Class::WriteExec { .. } => true,
        Class::Logic(_) => {
            inst.dst[0] == Operand::Sgpr(sreg::EXEC_LO) || inst.src.iter().any(register_is_mask)
        }
        Class::Other => false,
    }
}

/// Whether `op` copies a mask register or writes one without looking at lanes; used by the region analysis.
pub(crate) fn touches_exec(inst: &Inst, wave: WaveSize) -> bool {
    effects(inst, wave).writes.contains(sreg::EXEC_LO) || inst.op == Op::S_WQM_B32 || inst.op == Op::S_WQM_B64
}
