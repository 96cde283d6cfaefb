//! Register tuples that decoding cannot check, because it knows neither the wave size nor M0.

use super::StopKind;
use super::operand::is_mask;
use crate::gfx10::{Inst, OpRow, Operand, WaveSize, sreg};

/// Runs of scalar registers that a tuple may lie in: s0-s105, VCC, TTMP, M0, EXEC. NULL stands for any tuple.
const SCALAR_FILES: [(u32, u32); 5] = [(0, 105), (106, 107), (108, 123), (124, 124), (126, 127)];

/// Refuses an instruction with a lane mask of two registers that are not a pair of the scalar file.
pub(super) fn check(inst: &Inst, row: &OpRow, size: WaveSize) -> Result<(), StopKind> {
    let destinations = inst.dst.iter().zip(&row.dst);
    let sources = inst.src.iter().zip(&row.src);
    for (operand, spec) in destinations.chain(sources) {
        if let (Operand::Sgpr(first), Some(spec)) = (operand, spec)
            && is_mask(*spec)
            && size == WaveSize::W64
        {
            check_pair(inst.op.name(), *first)?;
        }
    }
    Ok(())
}

fn check_pair(mnemonic: &'static str, first: u8) -> Result<(), StopKind> {
    match first {
        sreg::NULL => Ok(()),
        _ if !first.is_multiple_of(2) => {
            Err(StopKind::RegisterAlignment { mnemonic, first: first.into(), count: 2 })
        }
        _ => check_same_file(mnemonic, first, u32::from(first) + 1),
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
