//! A decoded instruction with all that running it needs, worked out once.

use super::meaning::{Meaning, meaning};
use super::{StopKind, registers};
use crate::gfx10::{Encoding, Inst, Mods, OpRow, Operand, OperandSpec, VopMods, WaveSize};

/// One decoded instruction of a program.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub inst: Inst,
    /// Shapes of its operands.
    pub row: &'static OpRow,
    pub meaning: Meaning,
    /// Its result is open within an error bound.
    pub inexact: bool,
}

impl Slot {
    /// Looks up what `inst` means and checks that its registers exist.
    pub(super) fn new(inst: Inst, size: WaveSize) -> Result<Self, StopKind> {
        let mnemonic = inst.op.name();
        let known = (inst.op.row(inst.encoding), meaning(inst.op));
        let (Some(row), Some(meaning)) = known else {
            return Err(match inst.encoding {
                Encoding::Mimg => StopKind::Image { mnemonic },
                _ => StopKind::Unimplemented { mnemonic },
            });
        };
        registers::check(&inst, row, size)?;
        let inexact = matches!(meaning, Meaning::Vector(v) if v.approximate);
        Ok(Slot { inst, row, meaning, inexact })
    }

    pub(super) fn mnemonic(&self) -> &'static str {
        self.inst.op.name()
    }

    /// SIMM16; 0 for encodings without one.
    pub(super) fn simm(&self) -> u16 {
        match self.inst.mods {
            Mods::Simm(simm) => simm,
            _ => 0,
        }
    }

    /// Modifiers of a vector ALU instruction.
    pub(super) fn vop(&self) -> VopMods {
        match self.inst.mods {
            Mods::Vop(mods) => mods,
            _ => VopMods::default(),
        }
    }

    /// A source and its shape, if the instruction has one in this place.
    pub(super) fn source(&self, place: usize) -> Option<(Operand, OperandSpec)> {
        let operand = self.inst.src.get(place).copied()?;
        let spec = self.row.src.get(place).copied().flatten()?;
        (operand != Operand::None).then_some((operand, spec))
    }

    /// The number of the scalar register that a destination begins at.
    pub(super) fn scalar_destination(&self, place: usize) -> Option<u8> {
        match self.inst.dst.get(place) {
            Some(Operand::Sgpr(number)) => Some(*number),
            _ => None,
        }
    }

    /// The number of the vector register that a destination begins at.
    pub(super) fn vector_destination(&self) -> Option<u8> {
        vgpr(self.inst.dst[0])
    }

    /// The number of the vector register that a source begins at.
    pub(super) fn vector_source(&self, place: usize) -> Option<u8> {
        self.inst.src.get(place).copied().and_then(vgpr)
    }

    /// The refusal of a form of this instruction, which is a noun.
    pub(super) fn form(&self, form: &'static str) -> StopKind {
        StopKind::Form { mnemonic: self.mnemonic(), form }
    }
}

fn vgpr(operand: Operand) -> Option<u8> {
    match operand {
        Operand::Vgpr(number) => Some(number),
        _ => None,
    }
}
