//! Scalar arithmetic on numbers.

use guestwave_isa::gfx10::{Encoding, Inst, Mods, Operand};

use super::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::ops::ScalarResult;
use crate::program::{Type, Value};

impl Emit<'_> {
    pub(super) fn scalar_operation(
        &mut self,
        inst: &Inst,
        f: impl FnOnce(&mut Self, [Value; 2]) -> Result<ScalarResult, Stop>,
    ) -> Result<(), Stop> {
        let sources = self.scalar_sources(inst)?;
        let result = f(self, sources)?;
        if let Some(value) = result.value {
            self.set_scalar(inst, value)?;
        }
        if let Some(scc) = result.scc {
            self.set_scc(scc);
        }
        Ok(())
    }

    /// The two sources, as the scalar rows take them.
    fn scalar_sources(&mut self, inst: &Inst) -> Result<[Value; 2], Stop> {
        let first = match inst.src[0] {
            Operand::None => self.b.c32(0),
            _ => self.scalar_source(inst, 0)?,
        };
        let second = match (inst.encoding, inst.mods) {
            (Encoding::Sopk, Mods::Simm(imm)) => self.b.c32(i32::from(imm as i16) as u32),
            (Encoding::Sop1, _) => self.old_destination(inst)?,
            _ if inst.src[1] == Operand::None => self.b.c32(0),
            _ => self.scalar_source(inst, 1)?,
        };
        Ok([first, second])
    }

    /// The number that a SOP1's destination holds before it is written, where it is a number that can be read here.
    fn old_destination(&mut self, inst: &Inst) -> Result<Value, Stop> {
        let wide = inst.op.row(inst.encoding).and_then(|r| r.dst[0]).is_some_and(|s| s.bits == 64);
        let reads = inst.op.name().contains("cmov") || inst.op.name().contains("bitset");
        match inst.dst[0] {
            Operand::Sgpr(r) if reads => self.scalar_register(inst, r, wide),
            _ => Ok(self.b.expr(crate::program::Expr::Const32(0))),
        }
    }

    /// Whether a value is 64 bits wide.
    pub(in crate::gfx10) fn is_wide(&self, v: Value) -> bool {
        self.b.info(v).ty == Type::B64
    }
}
