//! Scalar operations on EXEC: save and combine, write and combine, whole quads.

use super::StopKind;
use super::machine::{Flow, Machine};
use super::meaning::Meaning;
use super::slot::Slot;
use crate::gfx10::{Op, WaveSize, sreg};

/// A function of S0 and EXEC.
type Combine = fn(u64, u64) -> u64;

const AND: Combine = |s0, exec| s0 & exec;
const OR: Combine = |s0, exec| s0 | exec;
const XOR: Combine = |s0, exec| s0 ^ exec;
const ANDN2: Combine = |s0, exec| s0 & !exec;
const ORN2: Combine = |s0, exec| s0 | !exec;
const NAND: Combine = |s0, exec| !(s0 & exec);
const NOR: Combine = |s0, exec| !(s0 | exec);
const XNOR: Combine = |s0, exec| !(s0 ^ exec);
const ANDN1: Combine = |s0, exec| !s0 & exec;
const ORN1: Combine = |s0, exec| !s0 | exec;

macro_rules! row {
    ($op:ident, $run:ident, $combine:ident) => {
        (Op::$op, Meaning::Special(|m, slot| $run(m, slot, $combine)))
    };
}

pub(super) const ROWS: &[(Op, Meaning)] = &[
    row!(S_AND_SAVEEXEC_B32, save_b32, AND),
    row!(S_OR_SAVEEXEC_B32, save_b32, OR),
    row!(S_XOR_SAVEEXEC_B32, save_b32, XOR),
    row!(S_ANDN2_SAVEEXEC_B32, save_b32, ANDN2),
    row!(S_ORN2_SAVEEXEC_B32, save_b32, ORN2),
    row!(S_NAND_SAVEEXEC_B32, save_b32, NAND),
    row!(S_NOR_SAVEEXEC_B32, save_b32, NOR),
    row!(S_XNOR_SAVEEXEC_B32, save_b32, XNOR),
    row!(S_ANDN1_SAVEEXEC_B32, save_b32, ANDN1),
    row!(S_ORN1_SAVEEXEC_B32, save_b32, ORN1),
    row!(S_ANDN1_WREXEC_B32, write_b32, ANDN1),
    row!(S_ANDN2_WREXEC_B32, write_b32, ANDN2),
    row!(S_AND_SAVEEXEC_B64, save_b64, AND),
    row!(S_OR_SAVEEXEC_B64, save_b64, OR),
    row!(S_XOR_SAVEEXEC_B64, save_b64, XOR),
    row!(S_ANDN2_SAVEEXEC_B64, save_b64, ANDN2),
    row!(S_ORN2_SAVEEXEC_B64, save_b64, ORN2),
    row!(S_NAND_SAVEEXEC_B64, save_b64, NAND),
    row!(S_NOR_SAVEEXEC_B64, save_b64, NOR),
    row!(S_XNOR_SAVEEXEC_B64, save_b64, XNOR),
    row!(S_ANDN1_SAVEEXEC_B64, save_b64, ANDN1),
    row!(S_ORN1_SAVEEXEC_B64, save_b64, ORN1),
    row!(S_ANDN1_WREXEC_B64, write_b64, ANDN1),
    row!(S_ANDN2_WREXEC_B64, write_b64, ANDN2),
];

/// EXEC becomes the combination; the destination gets the old EXEC. SCC tells whether EXEC is not zero.
fn save_b32(m: &mut Machine<'_>, slot: &Slot, combine: Combine) -> Result<Flow, StopKind> {
    let old = m.wave.sgpr(sreg::EXEC_LO).into();
    let new = combine(m.scalar_source(slot, 0)?, old) as u32;
    m.write_first(slot, old)?;
    m.wave.set_sgpr(sreg::EXEC_LO, new);
    m.wave.scc = new != 0;
    Ok(Flow::Next)
}

fn save_b64(m: &mut Machine<'_>, slot: &Slot, combine: Combine) -> Result<Flow, StopKind> {
    let old = m.wave.sgpr_pair(sreg::EXEC_LO);
    let new = combine(m.scalar_source(slot, 0)?, old);
    m.write_first(slot, old)?;
    m.wave.set_sgpr_pair(sreg::EXEC_LO, new);
    m.wave.scc = new != 0;
    Ok(Flow::Next)
}

/// EXEC and the destination both become the combination.
fn write_b32(m: &mut Machine<'_>, slot: &Slot, combine: Combine) -> Result<Flow, StopKind> {
    save_b32(m, slot, combine)?;
    let new = m.wave.sgpr(sreg::EXEC_LO).into();
    m.write_first(slot, new)
}

fn write_b64(m: &mut Machine<'_>, slot: &Slot, combine: Combine) -> Result<Flow, StopKind> {
    save_b64(m, slot, combine)?;
    let new = m.wave.sgpr_pair(sreg::EXEC_LO);
    m.write_first(slot, new)
}

/// Refuses an instruction that has a meaning in wave64 only.
pub(super) fn require_wave64(m: &Machine<'_>, slot: &Slot) -> Result<(), StopKind> {
    match m.wave.size() {
        WaveSize::W64 => Ok(()),
        WaveSize::W32 => Err(slot.form("32 lanes")),
    }
}
