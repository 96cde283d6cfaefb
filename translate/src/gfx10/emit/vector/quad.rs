//! `v_mqsad_u32_u8`, whose accumulators and results are four registers each.

use guestwave_isa::gfx10::{Inst, Operand};

use super::dpp::Lanes;
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::exact::QuadFn;

impl Emit<'_> {
    pub(super) fn quad_operation(&mut self, inst: &Inst, row: QuadFn) -> Result<(), Stop> {
        let (Operand::Vgpr(accumulators), Operand::Vgpr(results)) = (inst.src[2], inst.dst[0]) else {
            return Err(self.refuse(inst, "accumulators that are no vector registers"));
        };
        let (accumulators, results) = (self.four(inst, accumulators)?, self.four(inst, results)?);
        let (mods, lanes) = (Self::vop_mods(inst), Lanes::default());
        let a = self.vector_source(inst, 0, 0, &mods, false, &lanes)?;
        let b = self.vector_source(inst, 1, 1, &mods, false, &lanes)?;
        let sums = accumulators.map(|n| self.vgpr(n));
        let sums = row(&mut self.exact(), (a, b), sums, mods.clamp);
        results.into_iter().zip(sums).for_each(|(n, sum)| self.set_vgpr(n, sum));
        Ok(())
    }

    /// Four vector registers from `first` on.
    fn four(&self, inst: &Inst, first: u8) -> Result<[u8; 4], Stop> {
        let second = self.vgpr_after(inst, first)?;
        let third = self.vgpr_after(inst, second)?;
        Ok([first, second, third, self.vgpr_after(inst, third)?])
    }
}
