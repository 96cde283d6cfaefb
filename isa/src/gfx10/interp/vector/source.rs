//! One source of a vector operation, prepared so that each lane's value is quickly fetched.

use super::sdwa;
use crate::gfx10::interp::StopKind;
use crate::gfx10::interp::machine::Machine;
use crate::gfx10::interp::operand::low;
use crate::gfx10::interp::slot::Slot;
use crate::gfx10::interp::wave::Wave;
use crate::gfx10::{Encoding, LaneForm, Operand, OperandSpec, SdwaSel, VopMods};

/// Where the bits come from.
#[derive(Clone, Copy)]
enum Fetch {
    Uniform(u64),
    Vgpr(u8),
    VgprPair(u8),
}

/// One source of a vector operation.
#[derive(Clone, Copy)]
pub(in crate::gfx10::interp) struct Source {
    fetch: Fetch,
    part: Part,
    absolute: bool,
    negate: bool,
    bits: u16,
}

/// Which bits of the fetched ones the operand is.
#[derive(Clone, Copy)]
enum Part {
    Whole,
    HighHalf,
    Sdwa { select: SdwaSel, extend: bool },
}

impl Source {
    /// An absent source.
    pub(in crate::gfx10::interp) const ZERO: Source =
        Source { fetch: Fetch::Uniform(0), part: Part::Whole, absolute: false, negate: false, bits: 32 };

    /// The source number `place` (masks not counted). Those of `packed` operations are whole dwords; the operation
    /// applies the modifiers itself.
    pub(in crate::gfx10::interp) fn new(
        m: &Machine<'_>,
        slot: &Slot,
        (operand, spec): (Operand, OperandSpec),
        place: u8,
        mods: &VopMods,
        packed: bool,
    ) -> Result<Self, StopKind> {
        let wide = spec.bits > 32;
        let fetch = match operand {
            Operand::Vgpr(number) if wide => Fetch::VgprPair(number),
            Operand::Vgpr(number) => Fetch::Vgpr(number),
            _ => Fetch::Uniform(m.uniform(slot, operand, whole(operand, spec))?.unwrap_or(0)),
        };
        if packed {
            // Only VOP3P's modifiers have a meaning for each component.
            if slot.inst.encoding != Encoding::Vop3p && (mods.neg | mods.abs) != 0 {
                return Err(slot.form("neg or abs of packed components"));
            }
            return Ok(Source { fetch, ..Source::ZERO });
        }
        let bit = |mask: u8| mask >> place & 1 != 0;
        let part = match &mods.lane {
            LaneForm::Sdwa(form) if place < 2 => {
                let i = usize::from(place);
                Part::Sdwa { select: sdwa::known(slot, form.src_sel[i])?, extend: form.src_sext[i] }
            }
            _ if spec.bits == 16 && bit(mods.op_sel) => Part::HighHalf,
            _ => Part::Whole,
        };
        Ok(Source { fetch, part, absolute: bit(mods.abs), negate: bit(mods.neg), bits: spec.bits })
    }

    /// The value in a lane, zero-extended from the operand's width, with its modifiers applied.
    pub(in crate::gfx10::interp) fn value(&self, wave: &Wave, lane: usize) -> u64 {
        self.modify(match self.fetch {
            Fetch::Uniform(value) => value,
            Fetch::Vgpr(number) => wave.vgpr(number, lane).into(),
            Fetch::VgprPair(first) => wave.vgpr_pair(first, lane),
        })
    }

    /// The values in all lanes.
    pub(super) fn gather(&self, wave: &Wave) -> [u64; 64] {
        let mut values = [0; 64];
        match self.fetch {
            Fetch::Uniform(value) => values.fill(self.modify(value)),
            Fetch::Vgpr(number) if self.is_plain() => {
                for (value, word) in values.iter_mut().zip(wave.vgpr_all(number)) {
                    *value = u64::from(*word);
                }
            }
            Fetch::Vgpr(number) => {
                for (value, word) in values.iter_mut().zip(wave.vgpr_all(number)) {
                    *value = self.modify(u64::from(*word));
                }
            }
            Fetch::VgprPair(first) => {
                for (lane, value) in values.iter_mut().enumerate() {
                    *value = self.modify(wave.vgpr_pair(first, lane));
                }
            }
        }
        values
    }

    /// Whether fetched dwords are the values.
    fn is_plain(&self) -> bool {
        matches!(self.part, Part::Whole) && self.bits == 32 && !self.absolute && !self.negate
    }

    /// A fetched 0 with the modifiers applied.
    pub(super) fn zero(&self) -> u64 {
        self.modify(0)
    }

    fn modify(&self, fetched: u64) -> u64 {
        let part = match self.part {
            Part::Whole => fetched,
            Part::HighHalf => fetched >> 16,
            Part::Sdwa { select, extend } => sdwa::extract(fetched as u32, select, extend).into(),
        };
        let mut value = low(part, self.bits);
        let sign = 1u64 << (self.bits.clamp(1, 64) - 1);
        if self.absolute {
            value &= !sign;
        }
        if self.negate {
            value ^= sign;
        }
        value
    }
}

/// The shape that a scalar operand is fetched in: of a 16-bit operand the whole dword, so that a part of it can be
/// chosen. Inline constants have their 16 bits only.
fn whole(operand: Operand, spec: OperandSpec) -> OperandSpec {
    match operand {
        Operand::Sgpr(_) | Operand::Literal(_) if spec.bits == 16 => OperandSpec { bits: 32, ..spec },
        _ => spec,
    }
}
