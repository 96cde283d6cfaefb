//! Vector ALU operations: fetching sources lane by lane, calling the operation's row, and writing under EXEC.

mod dpp;
mod quad;
mod sdwa;
mod source;

pub(super) use source::Source;

use super::StopKind;
use super::alu::{Mode, Output, VectorOp, VectorRow};
use super::machine::{Flow, Machine};
use super::operand::is_mask;
use super::slot::Slot;
use super::wave::{Wave, lanes_of};
use crate::gfx10::{LaneForm, Operand, Sdwa, VopMods};
use dpp::LaneMap;

/// Everything about one execution that is the same in every lane.
struct Plan {
    sources: [Source; 3],
    /// The source mask, all zeros if there is none.
    mask: u64,
    mods: VopMods,
    /// Where lane i's first source comes from.
    lanes: LaneMap,
    mode: Mode,
}

/// The results of one execution.
struct Results {
    /// Lanes that are written.
    active: u64,
    values: [u64; 64],
    mask: u64,
}

/// Carries out a row of the vector ALU's tables.
pub(super) fn run(m: &mut Machine<'_>, slot: &Slot, row: &VectorRow) -> Result<Flow, StopKind> {
    if let VectorOp::Quad(function) = row.kind {
        return quad::run(m, slot, function);
    }
    let plan = Plan::new(m, slot, row)?;
    let results = plan.evaluate(m.wave, row);
    if !matches!(row.kind, VectorOp::Compare(_)) {
        write_values(m.wave, slot, row.output, &plan.mods, &results)?;
    }
    write_mask(m.wave, slot, &results);
    Ok(Flow::Next)
}

impl Plan {
    fn new(m: &Machine<'_>, slot: &Slot, row: &VectorRow) -> Result<Self, StopKind> {
        let mods = slot.vop();
        let packed = matches!(row.kind, VectorOp::Packed(_));
        let mut sources = [Source::ZERO; 3];
        let mut mask = None;
        let mut count = 0;
        for place in 0..slot.inst.src.len() {
            let Some((operand, spec)) = slot.source(place) else { continue };
            if is_mask(spec) {
                mask = Some(m.scalar_source(slot, place)?);
            } else if let Some(source) = sources.get_mut(count) {
                *source = Source::new(m, slot, (operand, spec), count as u8, &mods, packed)?;
                count += 1;
            }
        }
        let implied = matches!(row.kind, VectorOp::MaskIn(_)).then(|| m.wave.vcc());
        let lanes = LaneMap::new(m.wave, slot, &mods.lane)?;
        let mode = Mode { bits: m.wave.mode };
        Ok(Plan { sources, mask: mask.or(implied).unwrap_or(0), mods, lanes, mode })
    }

    fn evaluate(&self, wave: &Wave, row: &VectorRow) -> Results {
        let active = self.lanes.active;
        let mut results = Results { active, values: [0; 64], mask: 0 };
        let [first, second, third] = &self.sources;
        let first = self.lanes.first_source(first, wave);
        let (second, third) = (second.gather(wave), third.gather(wave));
        for lane in lanes_of(active) {
            let sources = [first[lane], second[lane], third[lane]];
            let outcome = row.evaluate(&self.mode, sources, self.mask >> lane & 1 != 0, &self.mods);
            results.values[lane] = outcome.value;
            results.mask |= u64::from(outcome.mask) << lane;
        }
        results
    }
}

/// Writes the results' values to the vector destination.
fn write_values(
    wave: &mut Wave,
    slot: &Slot,
    output: Output,
    mods: &VopMods,
    results: &Results,
) -> Result<(), StopKind> {
    let Some(number) = slot.vector_destination() else {
        return Err(slot.form("no vector destination"));
    };
    if let LaneForm::Sdwa(form) = &mods.lane {
        return write_parts(wave, slot, number, form, results);
    }
    let high = mods.op_sel & 8 != 0 || output == Output::F16High;
    for lane in lanes_of(results.active) {
        let value = results.values[lane];
        match output.bits() {
            16 => {
                let old = wave.vgpr(number, lane);
                wave.set_vgpr(number, lane, insert_half(old, value as u16, high));
            }
            64 => wave.set_vgpr_pair(number, lane, value),
            _ => wave.set_vgpr(number, lane, value as u32),
        }
    }
    Ok(())
}

fn write_parts(
    wave: &mut Wave,
    slot: &Slot,
    number: u8,
    form: &Sdwa,
    results: &Results,
) -> Result<(), StopKind> {
    let destination = sdwa::Destination::new(slot, form)?;
    for lane in lanes_of(results.active) {
        let old = wave.vgpr(number, lane);
        wave.set_vgpr(number, lane, destination.merge(old, results.values[lane] as u32));
    }
    Ok(())
}

/// A dword with one of its halves replaced.
pub(super) fn insert_half(old: u32, half: u16, high: bool) -> u32 {
    match high {
        true => old & 0xffff | u32::from(half) << 16,
        false => old & 0xffff_0000 | u32::from(half),
    }
}

/// Writes the results' mask to the scalar destination, if there is one. Inactive lanes get 0.
fn write_mask(wave: &mut Wave, slot: &Slot, results: &Results) {
    for (operand, spec) in slot.inst.dst.iter().zip(slot.row.dst) {
        if let (Operand::Sgpr(first), Some(spec)) = (operand, spec)
            && is_mask(spec)
        {
            wave.set_mask(*first, results.mask);
        }
    }
}
