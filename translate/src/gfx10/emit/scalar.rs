//! Scalar arithmetic on numbers.

use guestwave_isa::gfx10::{Inst, Operand};

use super::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::ops::ScalarResult;
use crate::program::Value;

impl Emit<'_> {
    pub(super) fn scalar_operation(
        &mut self,
        inst: &Inst,
        f: fn(&mut Emit<'_>, [Value; 2]) -> ScalarResult,
    ) -> Result<(), Stop> {
        let zero = self.b.c32(0);
        let mut sources = [zero; 2];
        for (place, source) in sources.iter_mut().enumerate() {
            if inst.src[place] != Operand::None {
                *source = self.scalar_source(inst, place)?;
            }
        }
        let result = f(self, sources);
        if let Some(value) = result.value {
            self.set_scalar(inst, value)?;
        }
        if let Some(scc) = result.scc {
            self.set_scc(scc);
        }
        Ok(())
    }
}
