//! What scalar registers hold as far as it follows from a launch without running it.
//!
//! The straight path of a program is followed with the launch's constant SGPRs: moves of constants, and scalar loads
//! from known addresses. Every other write makes its registers unknown. That is enough to tell most descriptors, which
//! drivers load through pointers in user data.

use guestwave_cp::{ExactDispatch, GuestMemory, ScalarRule};
use guestwave_isa::gfx10::{Encoding, Inst, Mods, Operand, WaveSize};

/// Scalar registers that are followed.
const REGISTERS: usize = 128;

/// Known values of scalar registers.
pub(super) struct Known<'m> {
    memory: &'m dyn GuestMemory,
    values: [Option<u32>; REGISTERS],
}

impl<'m> Known<'m> {
    /// What waves of `dispatch` start with, where it is the same in all of them.
    pub(super) fn new(dispatch: &ExactDispatch, memory: &'m dyn GuestMemory) -> Self {
        let mut values = [None; REGISTERS];
        for (value, rule) in values.iter_mut().zip(&dispatch.sgprs) {
            *value = if let ScalarRule::Word(word) = rule { Some(*word) } else { None };
        }
        Known { memory, values }
    }

    /// The buffer descriptor that `inst` uses, if its registers are known.
    pub(super) fn descriptor(&self, inst: &Inst) -> Option<[u32; 4]> {
        let (Encoding::Mubuf | Encoding::Mtbuf, Operand::Sgpr(first)) = (inst.encoding, inst.src[1]) else {
            return None;
        };
        let mut words = [0; 4];
        for (word, n) in words.iter_mut().zip(usize::from(first)..) {
            *word = (*self.values.get(n)?)?;
        }
        Some(words)
    }

    /// Follows one instruction.
    pub(super) fn step(&mut self, inst: &Inst) {
        let results = self.results(inst);
        let Some(row) = inst.row() else { return };
        for (place, spec) in inst.dst.iter().zip(row.dst) {
            let (Operand::Sgpr(first), Some(spec)) = (place, spec) else { continue };
            for i in 0..usize::from(spec.dwords(WaveSize::W64)) {
                if let Some(value) = self.values.get_mut(usize::from(*first) + i) {
                    *value = results.as_ref().and_then(|r| r.get(i).copied());
                }
            }
        }
    }

    /// The words that an instruction gives, if they are known.
    fn results(&self, inst: &Inst) -> Option<Vec<u32>> {
        match inst.op.name() {
            "s_mov_b32" => Some(vec![self.value(inst.src[0])?]),
            "s_mov_b64" => self.pair(inst.src[0]).map(|v| vec![v as u32, (v >> 32) as u32]),
            "s_movk_i32" => match inst.mods {
                Mods::Simm(word) => Some(vec![i32::from(word as i16) as u32]),
                _ => None,
            },
            name if name.starts_with("s_load_dword") => self.load(inst),
            _ => None,
        }
    }

    fn value(&self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Sgpr(n) => *self.values.get(usize::from(n))?,
            Operand::Int(v) => Some(i32::from(v) as u32),
            Operand::Literal(v) => Some(v),
            Operand::None => Some(0),
            _ => None,
        }
    }

    fn pair(&self, operand: Operand) -> Option<u64> {
        let Operand::Sgpr(low) = operand else { return None };
        let half = |n| self.values.get(usize::from(n)).copied().flatten();
        Some(u64::from(half(low + 1)?) << 32 | u64::from(half(low)?))
    }

    fn load(&self, inst: &Inst) -> Option<Vec<u32>> {
        let Mods::Smem { offset, .. } = inst.mods else { return None };
        let base = self.pair(inst.src[0])?;
        let offset = i64::from(offset) + i64::from(self.value(inst.src[1])?);
        let dwords = inst.row()?.dst[0]?.dwords(WaveSize::W64);
        let address = base.wrapping_add_signed(offset) & !3;
        let word = |i| guestwave_cp::read_u32(self.memory, address.wrapping_add(4 * i)).ok();
        (0..u64::from(dwords)).map(word).collect()
    }
}
