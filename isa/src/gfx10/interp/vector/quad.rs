//! `v_mqsad_u32_u8`, whose operands are wider than every other operation's.

use crate::gfx10::interp::StopKind;
use crate::gfx10::interp::machine::{Flow, Machine};
use crate::gfx10::interp::slot::Slot;
use crate::gfx10::interp::wave::lanes_of;

/// From a 64-bit source, a 32-bit one, four dwords and CLAMP to four dwords.
type Quad = fn(u64, u32, [u32; 4], bool) -> [u32; 4];

pub(super) fn run(m: &mut Machine<'_>, slot: &Slot, function: Quad) -> Result<Flow, StopKind> {
    let (Some(accumulators), Some(destination)) = (slot.vector_source(2), slot.vector_destination()) else {
        return Err(slot.form("accumulators that are not vector registers"));
    };
    let mods = slot.vop();
    let (Some(first), Some(second)) = (slot.source(0), slot.source(1)) else {
        return Err(slot.form("no sources"));
    };
    let first = super::Source::new(m, slot, first, 0, &mods, false)?;
    let second = super::Source::new(m, slot, second, 1, &mods, false)?;
    for lane in lanes_of(m.wave.exec()) {
        let sums = std::array::from_fn(|i| m.wave.vgpr(accumulators.wrapping_add(i as u8), lane));
        let (a, b) = (first.value(m.wave, lane), second.value(m.wave, lane) as u32);
        for (i, sum) in function(a, b, sums, mods.clamp).into_iter().enumerate() {
            m.wave.set_vgpr(destination.wrapping_add(i as u8), lane, sum);
        }
    }
    Ok(Flow::Next)
}
