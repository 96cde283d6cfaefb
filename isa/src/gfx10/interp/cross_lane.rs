//! Vector operations that look across lanes: reading and writing single lanes, permuting rows, counting mask bits.

use super::StopKind;
use super::machine::{Flow, Machine};
use super::meaning::Meaning;
use super::slot::Slot;
use super::vector::Source;
use super::wave::lanes_of;
use crate::gfx10::Op;

pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::V_READFIRSTLANE_B32, Meaning::Special(readfirstlane)),
    (Op::V_READLANE_B32, Meaning::Special(readlane)),
    (Op::V_WRITELANE_B32, Meaning::Special(writelane)),
    (Op::V_PERMLANE16_B32, Meaning::Special(|m, slot| permlane(m, slot, 0))),
    (Op::V_PERMLANEX16_B32, Meaning::Special(|m, slot| permlane(m, slot, 16))),
    (Op::V_MBCNT_LO_U32_B32, Meaning::Special(|m, slot| mbcnt(m, slot, 0))),
    (Op::V_MBCNT_HI_U32_B32, Meaning::Special(|m, slot| mbcnt(m, slot, 32))),
];

/// The first source, a vector or a scalar register.
fn first_source(m: &Machine<'_>, slot: &Slot) -> Result<Source, StopKind> {
    let Some(source) = slot.source(0) else { return Err(slot.form("no source")) };
    Source::new(m, slot, source, 0, &Default::default(), false)
}

/// EXEC plays no part, except that no active lane means lane 0.
fn readfirstlane(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let value = first_source(m, slot)?.value(m.wave, m.wave.first_lane());
    m.write_first(slot, value)
}

/// The lane number counts modulo the wave's lanes; EXEC plays no part.
fn readlane(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let lane = m.scalar_source(slot, 1)? as usize & (m.wave.lanes() - 1);
    let value = first_source(m, slot)?.value(m.wave, lane);
    m.write_first(slot, value)
}

fn writelane(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let value = m.scalar_source(slot, 0)? as u32;
    let lane = m.scalar_source(slot, 1)? as usize & (m.wave.lanes() - 1);
    m.wave.set_vgpr(destination(slot)?, lane, value);
    Ok(Flow::Next)
}

fn destination(slot: &Slot) -> Result<u8, StopKind> {
    slot.vector_destination().ok_or_else(|| slot.form("no vector destination"))
}

/// Each lane reads the lane that its four bits of the selector name, in its own row of 16 or, with `across` = 16, in
/// the other row of its 32. OP_SEL bit 0 is FI, bit 1 is BOUND_CTRL, as DPP has them.
fn permlane(m: &mut Machine<'_>, slot: &Slot, across: usize) -> Result<Flow, StopKind> {
    let (number, source) = (destination(slot)?, first_source(m, slot)?);
    let selector = m.scalar_source(slot, 1)? | m.scalar_source(slot, 2)? << 32;
    let mods = slot.vop();
    let (fetch_inactive, bound_ctrl) = (mods.op_sel & 1 != 0, mods.op_sel & 2 != 0);
    let exec = m.wave.exec();
    let mut values = *m.wave.vgpr_all(number);
    for lane in lanes_of(exec) {
        let from = (lane & !15 ^ across) | (selector >> (4 * (lane & 15)) & 15) as usize;
        if fetch_inactive || exec >> from & 1 != 0 {
            values[lane] = source.value(m.wave, from) as u32;
        } else if bound_ctrl {
            values[lane] = 0;
        }
    }
    for lane in lanes_of(exec) {
        m.wave.set_vgpr(number, lane, values[lane]);
    }
    Ok(Flow::Next)
}

/// Adds to the second source the number of the mask's bits below the lane, of the 32 lanes from `first` on.
fn mbcnt(m: &mut Machine<'_>, slot: &Slot, first: usize) -> Result<Flow, StopKind> {
    let number = destination(slot)?;
    let (Some(mask), Some(base)) = (slot.source(0), slot.source(1)) else {
        return Err(slot.form("no sources"));
    };
    let mask = Source::new(m, slot, mask, 0, &Default::default(), false)?;
    let base = Source::new(m, slot, base, 1, &Default::default(), false)?;
    for lane in lanes_of(m.wave.exec()) {
        let below = (1u64 << lane.saturating_sub(first).min(32)) - 1;
        let count = (mask.value(m.wave, lane) & below).count_ones();
        let sum = (base.value(m.wave, lane) as u32).wrapping_add(count);
        m.wave.set_vgpr(number, lane, sum);
    }
    Ok(Flow::Next)
}
