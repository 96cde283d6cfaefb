//! Scalar operations that work on masks: one `Bool` a lane, no wave operation.

use guestwave_isa::gfx10::{Inst, NumberKind, Operand, OperandSpec, RegisterFile};

use super::Emit;
use super::operand::constant;
use crate::gfx10::error::Stop;
use crate::gfx10::plan::{Class, Logic, SCC, class, is_mask_operation};
use crate::program::{BinOp, UnOp, Value};

impl Emit<'_> {
    /// Emits `inst` if it works on masks here.
    pub(super) fn mask_operation(&mut self, inst: &Inst) -> Result<bool, Stop> {
        if !is_mask_operation(inst, &self.state, self.input.source.wave) {
            return Ok(false);
        }
        match class(inst.op, self.input.source.wave) {
            Class::Logic(logic) => self.logic_operation(inst, logic)?,
            Class::SaveExec { logic, swapped } => {
                let old = self.exec();
                let new = self.with_exec(inst, logic, swapped)?;
                self.write_mask(inst, old)?;
                self.set_exec(new);
                self.set_scc_any(new)?;
            }
            Class::WriteExec { logic, swapped } => {
                let new = self.with_exec(inst, logic, swapped)?;
                self.set_exec(new);
                self.write_mask(inst, new)?;
                self.set_scc_any(new)?;
            }
            Class::Other => return Ok(false),
        }
        Ok(true)
    }

    fn logic_operation(&mut self, inst: &Inst, logic: Logic) -> Result<(), Stop> {
        let a = self.mask_source(inst, inst.src[0])?;
        let b = match inst.src[1] {
            Operand::None => a,
            o => self.mask_source(inst, o)?,
        };
        let lanes = self.logic(logic, a, b)?;
        self.write_mask(inst, lanes)?;
        if !matches!(logic, Logic::Mov | Logic::Select) {
            self.set_scc_any(lanes)?;
        }
        Ok(())
    }

    fn with_exec(&mut self, inst: &Inst, logic: Logic, swapped: bool) -> Result<Value, Stop> {
        let source = self.mask_source(inst, inst.src[0])?;
        let exec = self.exec();
        if swapped { self.logic(logic, exec, source) } else { self.logic(logic, source, exec) }
    }

    fn logic(&mut self, logic: Logic, a: Value, b: Value) -> Result<Value, Stop> {
        let e = &mut self.b;
        Ok(match logic {
            Logic::Mov => a,
            Logic::Not => e.un(UnOp::Not, a),
            Logic::And => e.bin(BinOp::And, a, b),
            Logic::Or => e.bin(BinOp::Or, a, b),
            Logic::Xor => e.bin(BinOp::Xor, a, b),
            Logic::AndNot | Logic::OrNot => {
                let not = e.un(UnOp::Not, b);
                e.bin(if logic == Logic::AndNot { BinOp::And } else { BinOp::Or }, a, not)
            }
            Logic::Nand | Logic::Nor | Logic::Xnor => {
                let op = match logic {
                    Logic::Nand => BinOp::And,
                    Logic::Nor => BinOp::Or,
                    _ => BinOp::Xor,
                };
                let both = e.bin(op, a, b);
                e.un(UnOp::Not, both)
            }
            Logic::Select => {
                let scc = self.scc()?;
                self.b.select(scc, a, b)
            }
        })
    }

    /// A source as a mask.
    ///
    /// # Errors
    /// It is nothing that can be one.
    pub(in crate::gfx10) fn mask_source(&mut self, inst: &Inst, o: Operand) -> Result<Value, Stop> {
        match o {
            Operand::Sgpr(r) => self.mask(r),
            Operand::Special(s) => {
                let number = self.special(inst, s, true)?;
                Ok(self.lane_bits(number))
            }
            _ => {
                let bits = self.input.source.wave.lanes() as u16;
                let spec = OperandSpec { kind: NumberKind::Bits, bits, file: RegisterFile::Any };
                let number = constant(o, spec).ok_or_else(|| self.refuse(inst, "no mask"))?;
                let number = self.b.c64(number);
                Ok(self.lane_bits(number))
            }
        }
    }

    fn write_mask(&mut self, inst: &Inst, lanes: Value) -> Result<(), Stop> {
        match inst.dst[0] {
            Operand::Sgpr(r) => self.set_mask(r, lanes),
            _ => Ok(()),
        }
    }

    fn set_scc_any(&mut self, lanes: Value) -> Result<(), Stop> {
        self.set_mask(SCC, lanes)
    }
}
