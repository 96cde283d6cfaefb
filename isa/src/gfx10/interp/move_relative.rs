//! Vector moves by index, and swaps.

use super::StopKind;
use super::machine::{Flow, Machine};
use super::meaning::Meaning;
use super::slot::Slot;
use super::vector::Source;
use super::wave::lanes_of;
use crate::gfx10::{LaneForm, Op, sreg};

pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::V_MOVRELD_B32, Meaning::Special(movreld)),
    (Op::V_MOVRELS_B32, Meaning::Special(|m, slot| copy(m, slot, |m0| (m0, 0)))),
    (Op::V_MOVRELSD_B32, Meaning::Special(|m, slot| copy(m, slot, |m0| (m0, m0)))),
    (Op::V_MOVRELSD_2_B32, Meaning::Special(|m, slot| copy(m, slot, two_indices))),
    (Op::V_SWAP_B32, Meaning::Special(|m, slot| swap(m, slot, |_| (0, 0)))),
    (Op::V_SWAPREL_B32, Meaning::Special(|m, slot| swap(m, slot, two_indices))),
];

/// From M0 to the indices of source and destination.
type Indices = fn(u32) -> (u32, u32);

/// The source's index in M0[9:0], the destination's in M0[25:16].
fn two_indices(m0: u32) -> (u32, u32) {
    (m0 & 0x3ff, m0 >> 16 & 0x3ff)
}

/// The vector register `index` further on than an operand.
fn relative(slot: &Slot, number: Option<u8>, index: u32) -> Result<u8, StopKind> {
    if slot.vop().lane != LaneForm::None {
        return Err(slot.form("DPP or SDWA"));
    }
    let Some(base) = number else { return Err(slot.form("an indexed operand that is no vector register")) };
    let first = u32::from(base).saturating_add(index);
    u8::try_from(first).map_err(|_| StopKind::RegisterRange { mnemonic: slot.mnemonic(), first, count: 1 })
}

/// Source and destination registers, indexed.
fn registers(m: &Machine<'_>, slot: &Slot, indices: Indices) -> Result<(u8, u8), StopKind> {
    let (from, to) = indices(m.wave.sgpr(sreg::M0));
    let source = relative(slot, slot.vector_source(0), from)?;
    let destination = relative(slot, slot.vector_destination(), to)?;
    Ok((source, destination))
}

fn movreld(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let to = relative(slot, slot.vector_destination(), m.wave.sgpr(sreg::M0))?;
    let Some(source) = slot.source(0) else { return Err(slot.form("no source")) };
    let source = Source::new(m, slot, source, 0, &slot.vop(), false)?;
    for lane in lanes_of(m.wave.exec()) {
        let value = source.value(m.wave, lane) as u32;
        m.wave.set_vgpr(to, lane, value);
    }
    Ok(Flow::Next)
}

fn copy(m: &mut Machine<'_>, slot: &Slot, indices: Indices) -> Result<Flow, StopKind> {
    let (from, to) = registers(m, slot, indices)?;
    for lane in lanes_of(m.wave.exec()) {
        let value = m.wave.vgpr(from, lane);
        m.wave.set_vgpr(to, lane, value);
    }
    Ok(Flow::Next)
}

fn swap(m: &mut Machine<'_>, slot: &Slot, indices: Indices) -> Result<Flow, StopKind> {
    let (from, to) = registers(m, slot, indices)?;
    for lane in lanes_of(m.wave.exec()) {
        let (a, b) = (m.wave.vgpr(from, lane), m.wave.vgpr(to, lane));
        m.wave.set_vgpr(from, lane, b);
        m.wave.set_vgpr(to, lane, a);
    }
    Ok(Flow::Next)
}
