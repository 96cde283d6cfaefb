//! Which register tuples exist.

use super::StopKind;
use super::wave::VGPRS;
use crate::gfx10::{Encoding, Inst, Mods, OpRow, Operand, OperandSpec, WaveSize, sreg};

/// Runs of scalar registers that a tuple may lie in: s0-s105, VCC, TTMP, M0, EXEC. NULL stands for any tuple.
const SCALAR_FILES: [(u32, u32); 5] = [(0, 105), (106, 107), (108, 123), (124, 124), (126, 127)];

/// Refuses an instruction with a register tuple that does not exist or, in the scalar file, is not aligned to its
/// size (at most 4), which public documents leave without a meaning.
pub(super) fn check(inst: &Inst, row: &OpRow, size: WaveSize) -> Result<(), StopKind> {
    let count = |spec: &OperandSpec| u32::from(spec.dwords(size)).max(1);
    let mnemonic = inst.op.name();
    for (operand, spec) in inst.dst.iter().zip(&row.dst) {
        check_operand(mnemonic, *operand, spec.as_ref().map_or(1, count))?;
    }
    for (place, (operand, spec)) in inst.src.iter().zip(&row.src).enumerate() {
        let count = address_registers(inst, place).unwrap_or(spec.as_ref().map_or(1, count));
        check_operand(mnemonic, *operand, count)?;
    }
    Ok(())
}

/// Registers of a memory instruction's vector address, where its modifiers decide and not its row.
fn address_registers(inst: &Inst, place: usize) -> Option<u32> {
    match (place, inst.encoding, inst.mods) {
        (0, _, Mods::Buffer(mods)) => Some(u32::from(mods.offen) + u32::from(mods.idxen)),
        (0, Encoding::Global, _) if has_scalar_address(inst) => Some(1),
        _ => None,
    }
}

/// Whether a flat instruction has a scalar base.
pub(super) fn has_scalar_address(inst: &Inst) -> bool {
    !matches!(inst.src[2], Operand::None | Operand::Sgpr(sreg::NULL))
}

fn check_operand(mnemonic: &'static str, operand: Operand, count: u32) -> Result<(), StopKind> {
    match operand {
        Operand::Sgpr(first) => check_scalar(mnemonic, u32::from(first), count),
        Operand::Vgpr(first) if u32::from(first) + count > VGPRS as u32 => {
            Err(StopKind::RegisterRange { mnemonic, first: first.into(), count })
        }
        _ => Ok(()),
    }
}

/// Refuses scalar registers `base` to `last` that are not all of one file.
pub(super) fn check_same_file(mnemonic: &'static str, base: u8, last: u32) -> Result<(), StopKind> {
    let base = u32::from(base);
    let inside = |(low, high): &(u32, u32)| (*low..=*high).contains(&base) && last <= *high;
    match SCALAR_FILES.iter().any(inside) {
        true => Ok(()),
        false => Err(StopKind::RegisterRange { mnemonic, first: last, count: 1 }),
    }
}

/// Refuses a tuple of `count` scalar registers from `first` that does not exist.
fn check_scalar(mnemonic: &'static str, first: u32, count: u32) -> Result<(), StopKind> {
    if first == u32::from(sreg::NULL) {
        return Ok(());
    }
    let last = first.saturating_add(count.saturating_sub(1));
    if !SCALAR_FILES.iter().any(|(low, high)| (*low..=*high).contains(&first) && last <= *high) {
        return Err(StopKind::RegisterRange { mnemonic, first, count });
    }
    let alignment = count.next_power_of_two().min(4);
    if !first.is_multiple_of(alignment) {
        return Err(StopKind::RegisterAlignment { mnemonic, first, count });
    }
    Ok(())
}
