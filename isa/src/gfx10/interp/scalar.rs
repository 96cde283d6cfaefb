//! Scalar operations: those of the ALU's tables, and those that move registers by index.

use super::StopKind;
use super::alu::ScalarFn;
use super::machine::{Flow, Machine};
use super::meaning::Meaning;
use super::registers::check_same_file;
use super::slot::Slot;
use crate::gfx10::{Encoding, Op, sreg};

pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::S_MOVRELS_B32, Meaning::Special(movrels_b32)),
    (Op::S_MOVRELS_B64, Meaning::Special(movrels_b64)),
    (Op::S_MOVRELD_B32, Meaning::Special(movreld_b32)),
    (Op::S_MOVRELD_B64, Meaning::Special(movreld_b64)),
    (Op::S_MOVRELSD_2_B32, Meaning::Special(movrelsd_2_b32)),
];

/// Carries out a row of the scalar ALU's tables.
pub(super) fn run(m: &mut Machine<'_>, slot: &Slot, function: ScalarFn) -> Result<Flow, StopKind> {
    let (a, b) = match slot.inst.encoding {
        Encoding::Sop1 => (m.scalar_source(slot, 0)?, m.old_destination(slot)),
        Encoding::Sopk => (m.sopk_register(slot)?, slot.simm().into()),
        _ => (m.scalar_source(slot, 0)?, m.scalar_source(slot, 1)?),
    };
    let out = function(a, b, m.wave.scc);
    if let Some(number) = slot.scalar_destination(0) {
        m.write_scalar(slot, number, out.value);
    }
    if let Some(scc) = out.scc {
        m.wave.scc = scc;
    }
    Ok(Flow::Next)
}

impl Machine<'_> {
    /// Writes a scalar destination of one or two registers.
    pub(super) fn write_scalar(&mut self, slot: &Slot, number: u8, value: u64) {
        let dwords = slot.row.dst[0].map_or(1, |spec| spec.dwords(self.wave.size()));
        match dwords {
            2 => self.wave.set_sgpr_pair(number, value),
            _ => self.wave.set_sgpr(number, value as u32),
        }
    }

    /// What the destination holds before the operation.
    fn old_destination(&self, slot: &Slot) -> u64 {
        let wide = slot.row.dst[0].is_some_and(|spec| spec.dwords(self.wave.size()) == 2);
        match slot.scalar_destination(0) {
            Some(number) if wide => self.wave.sgpr_pair(number),
            Some(number) => self.wave.sgpr(number).into(),
            None => 0,
        }
    }

    /// The old bits of SOPK's SDST, which stands in `src[0]` where it is read and in `dst[0]` where it is written.
    fn sopk_register(&self, slot: &Slot) -> Result<u64, StopKind> {
        match slot.source(0) {
            Some(_) => self.scalar_source(slot, 0),
            None => Ok(self.old_destination(slot)),
        }
    }
}

/// The scalar register `index` further on than an operand, of `count` registers.
fn relative(slot: &Slot, number: Option<u8>, index: u32, count: u32) -> Result<u8, StopKind> {
    let Some(base) = number else { return Err(slot.form("a constant as an indexed register")) };
    let last = u32::from(base).saturating_add(index).saturating_add(count - 1);
    check_same_file(slot.mnemonic(), base, last)?;
    let first = base.saturating_add(index as u8);
    match count {
        2 if first % 2 != 0 => {
            Err(StopKind::RegisterAlignment { mnemonic: slot.mnemonic(), first: first.into(), count })
        }
        _ => Ok(first),
    }
}

fn source_register(slot: &Slot) -> Option<u8> {
    match slot.inst.src[0] {
        crate::gfx10::Operand::Sgpr(number) => Some(number),
        _ => None,
    }
}

fn movrels_b32(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let from = relative(slot, source_register(slot), m.wave.sgpr(sreg::M0), 1)?;
    let value = m.wave.sgpr(from).into();
    m.write_first(slot, value)
}

fn movrels_b64(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let from = relative(slot, source_register(slot), m.wave.sgpr(sreg::M0), 2)?;
    let value = m.wave.sgpr_pair(from);
    m.write_first(slot, value)
}

fn movreld_b32(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let value = m.scalar_source(slot, 0)?;
    let to = relative(slot, slot.scalar_destination(0), m.wave.sgpr(sreg::M0), 1)?;
    m.wave.set_sgpr(to, value as u32);
    Ok(Flow::Next)
}

fn movreld_b64(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let value = m.scalar_source(slot, 0)?;
    let to = relative(slot, slot.scalar_destination(0), m.wave.sgpr(sreg::M0), 2)?;
    m.wave.set_sgpr_pair(to, value);
    Ok(Flow::Next)
}

/// The source is indexed by M0[9:0], the destination by M0[25:16].
fn movrelsd_2_b32(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let m0 = m.wave.sgpr(sreg::M0);
    let from = relative(slot, source_register(slot), m0 & 0x3ff, 1)?;
    let to = relative(slot, slot.scalar_destination(0), m0 >> 16 & 0x3ff, 1)?;
    let value = m.wave.sgpr(from);
    m.wave.set_sgpr(to, value);
    Ok(Flow::Next)
}

impl Machine<'_> {
    /// Writes the first destination and goes on.
    pub(super) fn write_first(&mut self, slot: &Slot, value: u64) -> Result<Flow, StopKind> {
        if let Some(number) = slot.scalar_destination(0) {
            self.write_scalar(slot, number, value);
        }
        Ok(Flow::Next)
    }
}
