//! Which register tuples exist.

use super::StopKind;
use super::wave::VGPRS;
use crate::gfx10::{Inst, OpRow, Operand, OperandSpec, WaveSize, sreg};

/// Runs of scalar registers that a tuple may lie in: s0-s105, VCC, TTMP, M0, EXEC. NULL stands for any tuple.
const SCALAR_FILES: [(u32, u32); 5] = [(0, 105), (106, 107), (108, 123), (124, 124), (126, 127)];

/// Refuses an instruction with a register tuple that does not exist or, in the scalar file, is not aligned to its
/// size (at most 4), which public documents leave without a meaning.
pub(super) fn check(inst: &Inst, row: &OpRow, size: WaveSize) -> Result<(), StopKind> {
    let destinations = inst.dst.iter().zip(&row.dst);
    let sources = inst.src.iter().zip(&row.src);
    for (operand, spec) in destinations.chain(sources) {
        if let Some(spec) = spec {
            check_operand(inst.op.name(), *operand, *spec, size)?;
        }
    }
    Ok(())
}

fn check_operand(
    mnemonic: &'static str,
    operand: Operand,
    spec: OperandSpec,
    size: WaveSize,
) -> Result<(), StopKind> {
    let count = u32::from(spec.dwords(size)).max(1);
    match operand {
        Operand::Sgpr(first) => check_scalar(mnemonic, u32::from(first), count),
        Operand::Vgpr(first) if u32::from(first) + count > VGPRS as u32 => {
            Err(StopKind::RegisterRange { mnemonic, first: first.into(), count })
        }
        _ => Ok(()),
    }
}

/// Refuses a tuple of `count` scalar registers from `first` that does not exist.
pub(super) fn check_scalar(mnemonic: &'static str, first: u32, count: u32) -> Result<(), StopKind> {
    if first == u32::from(sreg::NULL) {
        return Ok(());
    }
    let last = first.saturating_add(count - 1);
    if !SCALAR_FILES.iter().any(|(low, high)| (*low..=*high).contains(&first) && last <= *high) {
        return Err(StopKind::RegisterRange { mnemonic, first, count });
    }
    let alignment = count.next_power_of_two().min(4);
    if !first.is_multiple_of(alignment) {
        return Err(StopKind::RegisterAlignment { mnemonic, first, count });
    }
    Ok(())
}
