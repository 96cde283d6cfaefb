//! Vector operations: sources fetched with their modifiers, the operation's row, and the result written under EXEC.

mod dpp;
mod parts;
mod quad;
mod source;

use guestwave_isa::gfx10::{Inst, LaneForm, Mods, NumberKind, Operand, VopMods, sreg};

use super::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::exact::{Exact, Output, VectorKind, VectorRow};
use crate::program::{BinOp, Type, UnOp, Value};
use dpp::Lanes;

/// What a row gave for one lane.
struct Outcome {
    value: Option<Value>,
    mask: Option<Value>,
}

impl Emit<'_> {
    /// The modifiers of a vector instruction.
    pub(in crate::gfx10) fn vop_mods(inst: &Inst) -> VopMods {
        match inst.mods {
            Mods::Vop(mods) => mods,
            _ => VopMods::default(),
        }
    }

    /// Sequences in the mode that the program starts in.
    pub(in crate::gfx10) fn exact(&mut self) -> Exact<'_> {
        let mode = self.mode();
        Exact::new(&mut self.b, &mut self.facts, mode, self.input.source.fidelity)
    }

    pub(super) fn vector_operation(&mut self, inst: &Inst, row: &VectorRow) -> Result<(), Stop> {
        self.mode_bits(inst)?;
        if let VectorKind::Quad(f) = row.kind {
            return self.quad_operation(inst, f);
        }
        let mods = Self::vop_mods(inst);
        let lanes = self.lanes(inst, &mods.lane)?;
        let (sources, mask) = self.vector_sources(inst, row, &mods, &lanes)?;
        if row.approximate {
            self.inexact(inst);
        }
        let outcome = self.evaluate(inst, row, sources, mask, &mods)?;
        if let Some(value) = outcome.value {
            self.write_result(inst, row.output, value, &mods, &lanes)?;
        }
        if let Some(mask) = outcome.mask {
            self.write_lane_mask(inst, mask, &lanes)?;
        }
        Ok(())
    }

    fn inexact(&mut self, inst: &Inst) {
        let list = &mut self.b.program_mut().inexact;
        if !list.contains(&inst.op.name()) {
            list.push(inst.op.name());
        }
    }

    /// The sources in arithmetic order, and the source mask's bit.
    fn vector_sources(
        &mut self,
        inst: &Inst,
        row: &VectorRow,
        mods: &VopMods,
        lanes: &Lanes,
    ) -> Result<([Value; 3], Option<Value>), Stop> {
        let packed = matches!(row.kind, VectorKind::Packed(_));
        let zero = self.b.c32(0);
        let (mut sources, mut count, mut mask) = ([zero; 3], 0usize, None);
        for (place, operand) in inst.src.into_iter().enumerate() {
            if operand == Operand::None {
                continue;
            }
            if self.source_spec(inst, place).kind == NumberKind::Mask {
                mask = Some(self.mask_source(inst, operand)?);
            } else if count < 3 {
                sources[count] = self.vector_source(inst, place, count as u8, mods, packed, lanes)?;
                count += 1;
            }
        }
        Ok((sources, mask))
    }

    fn evaluate(
        &mut self,
        inst: &Inst,
        row: &VectorRow,
        s: [Value; 3],
        mask: Option<Value>,
        mods: &VopMods,
    ) -> Result<Outcome, Stop> {
        let implied = match (mask, row.kind) {
            (None, VectorKind::MaskIn(_)) => self.mask_source(inst, Operand::Sgpr(sreg::VCC_LO))?,
            (None, _) => self.b.cbool(false),
            (Some(m), _) => m,
        };
        let output = row.output;
        let mut e = self.exact();
        Ok(match row.kind {
            VectorKind::Value(f) => {
                let v = f(&mut e, s);
                Outcome { value: Some(e.finish(output, v, mods.omod, mods.clamp)), mask: None }
            }
            VectorKind::Clamped(f) => Outcome { value: Some(f(&mut e, s, mods.clamp)), mask: None },
            VectorKind::Carry(f) => {
                let (v, m) = f(&mut e, s, implied, mods.clamp);
                Outcome { value: Some(v), mask: Some(m) }
            }
            VectorKind::MaskIn(f) => {
                let v = f(&mut e, s, implied);
                Outcome { value: Some(e.finish(output, v, mods.omod, mods.clamp)), mask: None }
            }
            VectorKind::MaskOut(f) => {
                let (v, m) = f(&mut e, s);
                Outcome { value: Some(e.finish(output, v, mods.omod, mods.clamp)), mask: Some(m) }
            }
            VectorKind::Compare(f) => Outcome { value: None, mask: Some(f(&mut e, s)) },
            VectorKind::Packed(f) => Outcome { value: Some(f(&mut e, s, mods)), mask: None },
            // Has its own driver.
            VectorKind::Quad(_) => Outcome { value: None, mask: None },
        })
    }

    fn write_result(
        &mut self,
        inst: &Inst,
        output: Output,
        value: Value,
        mods: &VopMods,
        lanes: &Lanes,
    ) -> Result<(), Stop> {
        let Operand::Vgpr(n) = inst.dst[0] else { return Err(self.refuse(inst, "no vector destination")) };
        if let LaneForm::Sdwa(form) = &mods.lane {
            let old = self.vgpr(n);
            let merged = self.merge_part(inst, form, old, value)?;
            self.write_lanes(n, merged, lanes);
            return Ok(());
        }
        match output.bits() {
            16 => {
                let high = mods.op_sel & 8 != 0 || output == Output::F16High;
                let old = self.vgpr(n);
                let merged = self.insert_half(old, value, high);
                self.write_lanes(n, merged, lanes);
            }
            64 if self.b.info(value).ty == Type::B64 => {
                let high = self.vgpr_after(inst, n)?;
                let halves = [self.b.un(UnOp::Low, value), self.b.un(UnOp::High, value)];
                self.write_lanes(n, halves[0], lanes);
                self.write_lanes(high, halves[1], lanes);
            }
            _ => self.write_lanes(n, value, lanes),
        }
        Ok(())
    }

    /// The vector register after `n`.
    pub(in crate::gfx10) fn vgpr_after(&self, inst: &Inst, n: u8) -> Result<u8, Stop> {
        n.checked_add(1).ok_or_else(|| {
            crate::gfx10::Refusal::Registers { mnemonic: inst.op.name(), pc: inst.offset }.into()
        })
    }

    /// A dword with one half replaced by the low half of `half`.
    pub(in crate::gfx10) fn insert_half(&mut self, old: Value, half: Value, high: bool) -> Value {
        let (low_mask, high_mask, sixteen) = (self.b.c32(0xffff), self.b.c32(0xffff_0000), self.b.c32(16));
        let (kept, placed) = if high {
            (self.b.bin(BinOp::And, old, low_mask), self.b.bin(BinOp::Shl, half, sixteen))
        } else {
            (self.b.bin(BinOp::And, old, high_mask), self.b.bin(BinOp::And, half, low_mask))
        };
        self.b.bin(BinOp::Or, kept, placed)
    }

    /// Writes a vector register in the lanes of EXEC that take part.
    fn write_lanes(&mut self, n: u8, value: Value, lanes: &Lanes) {
        match lanes.enabled {
            None => self.set_vgpr(n, value),
            Some(enabled) => {
                let old = self.vgpr(n);
                let new = self.b.select(enabled, value, old);
                self.set_vgpr(n, new);
            }
        }
    }

    /// Writes the destination mask; lanes that do not take part get 0. A `v_cmpx` writes EXEC.
    fn write_lane_mask(&mut self, inst: &Inst, mask: Value, lanes: &Lanes) -> Result<(), Stop> {
        let exec = self.exec();
        let mut bits = self.b.bin(BinOp::And, mask, exec);
        if let Some(enabled) = lanes.enabled {
            bits = self.b.bin(BinOp::And, bits, enabled);
        }
        let row = inst.op.row(inst.encoding);
        for (place, operand) in inst.dst.into_iter().enumerate() {
            let kind = row.and_then(|r| r.dst[place]).map(|s| s.kind);
            if let (Operand::Sgpr(r), Some(NumberKind::Mask)) = (operand, kind) {
                self.set_mask(r, bits)?;
            }
        }
        Ok(())
    }
}
