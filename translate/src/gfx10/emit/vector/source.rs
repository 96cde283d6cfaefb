//! One source of a vector operation.

use guestwave_isa::gfx10::{Encoding, Inst, LaneForm, Operand, OperandSpec, VopMods};

use super::dpp::Lanes;
use crate::gfx10::emit::Emit;
use crate::gfx10::emit::operand::constant;
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Expr, TriOp, Value};

impl Emit<'_> {
    /// The source in `place`, which is source number `number` (masks not counted), with its modifiers.
    pub(super) fn vector_source(
        &mut self,
        inst: &Inst,
        place: usize,
        number: u8,
        mods: &VopMods,
        packed: bool,
        lanes: &Lanes,
    ) -> Result<Value, Stop> {
        let spec = self.source_spec(inst, place);
        let fetched = self.vector_operand(inst, inst.src[place], spec)?;
        let moved = if number == 0 { self.read_lanes(inst, fetched, lanes)? } else { fetched };
        let moved = self.as_written(moved);
        if packed {
            // Only VOP3P's modifiers have a meaning for each component.
            if inst.encoding != Encoding::Vop3p && mods.neg | mods.abs != 0 {
                return Err(self.refuse(inst, "neg or abs of packed components"));
            }
            return Ok(moved);
        }
        let bit = |mask: u8| mask >> number & 1 != 0;
        let part = match &mods.lane {
            LaneForm::Sdwa(form) if number < 2 => {
                self.extract_part(inst, form, usize::from(number), moved)?
            }
            _ if spec.bits == 16 && bit(mods.op_sel) => {
                let sixteen = self.b.c32(16);
                self.b.bin(BinOp::ShrU, moved, sixteen)
            }
            _ => moved,
        };
        Ok(self.modified(part, spec, bit(mods.abs), bit(mods.neg)))
    }

    /// What the lanes of EXEC have of a value that was written under the same EXEC. The result is for those lanes only.
    fn as_written(&mut self, value: Value) -> Value {
        let exec = self.exec();
        match self.b.definition(value) {
            Some(Expr::Tri(TriOp::Select, lanes, written, _)) if lanes == exec => written,
            Some(Expr::Bin(BinOp::Pack, low, high)) => {
                let (low, high) = (self.as_written(low), self.as_written(high));
                self.b.bin(BinOp::Pack, low, high)
            }
            _ => value,
        }
    }

    /// The bits of an operand before any modifier: a `B32`, or a `B64` for 64 bits. Of a 16-bit register operand the whole dword.
    pub(in crate::gfx10) fn vector_operand(
        &mut self,
        inst: &Inst,
        operand: Operand,
        spec: OperandSpec,
    ) -> Result<Value, Stop> {
        let wide = spec.bits == 64;
        let whole = match operand {
            Operand::Literal(_) if spec.bits == 16 => OperandSpec { bits: 32, ..spec },
            _ => spec,
        };
        if let Some(c) = constant(operand, whole) {
            return Ok(if wide { self.b.c64(c) } else { self.b.c32(c as u32) });
        }
        match operand {
            Operand::Vgpr(n) if wide => {
                let high = self.vgpr_after(inst, n)?;
                let (low, high) = (self.vgpr(n), self.vgpr(high));
                Ok(self.b.bin(BinOp::Pack, low, high))
            }
            Operand::Vgpr(n) => Ok(self.vgpr(n)),
            Operand::Sgpr(r) => self.scalar_register(inst, r, wide),
            Operand::Special(s) => self.special(inst, s, wide),
            _ => Err(self.refuse(inst, "a missing source")),
        }
    }

    /// ABS, then NEG, at the operand's width; 16 bits are cut out of the dword.
    fn modified(&mut self, value: Value, spec: OperandSpec, abs: bool, neg: bool) -> Value {
        let mut v = value;
        if spec.bits == 16 {
            let half = self.b.c32(0xffff);
            v = self.b.bin(BinOp::And, v, half);
        }
        let sign = 1u64 << (spec.bits.clamp(1, 64) - 1);
        let constant = |e: &mut Self, bits: u64| {
            if spec.bits == 64 { e.b.c64(bits) } else { e.b.c32(bits as u32) }
        };
        if abs {
            let rest = constant(self, !sign);
            v = self.b.bin(BinOp::And, v, rest);
        }
        if neg {
            let sign = constant(self, sign);
            v = self.b.bin(BinOp::Xor, v, sign);
        }
        v
    }
}
