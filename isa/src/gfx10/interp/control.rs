//! Branches, calls, the end of a program, barriers and messages.

use super::launch::Message;
use super::machine::{Flow, Machine};
use super::meaning::Meaning;
use super::slot::Slot;
use super::{StopKind, exec_mask};
use crate::gfx10::{Op, sreg};

pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::S_ENDPGM, Meaning::Special(|_, _| Ok(Flow::End))),
    (Op::S_BRANCH, Meaning::Special(|m, slot| branch(m, slot, true))),
    (Op::S_CBRANCH_SCC0, Meaning::Special(|m, slot| branch(m, slot, !m.wave.scc))),
    (Op::S_CBRANCH_SCC1, Meaning::Special(|m, slot| branch(m, slot, m.wave.scc))),
    (Op::S_CBRANCH_VCCZ, Meaning::Special(|m, slot| branch(m, slot, m.wave.vcc() == 0))),
    (Op::S_CBRANCH_VCCNZ, Meaning::Special(|m, slot| branch(m, slot, m.wave.vcc() != 0))),
    (Op::S_CBRANCH_EXECZ, Meaning::Special(|m, slot| branch(m, slot, m.wave.exec() == 0))),
    (Op::S_CBRANCH_EXECNZ, Meaning::Special(|m, slot| branch(m, slot, m.wave.exec() != 0))),
    // The debugger's status bits are 0: there is no debugger.
    (Op::S_CBRANCH_CDBGSYS, Meaning::Nothing),
    (Op::S_CBRANCH_CDBGUSER, Meaning::Nothing),
    (Op::S_CBRANCH_CDBGSYS_OR_USER, Meaning::Nothing),
    (Op::S_CBRANCH_CDBGSYS_AND_USER, Meaning::Nothing),
    (Op::S_GETPC_B64, Meaning::Special(getpc)),
    (Op::S_SETPC_B64, Meaning::Special(setpc)),
    (Op::S_SWAPPC_B64, Meaning::Special(swappc)),
    (Op::S_CALL_B64, Meaning::Special(call)),
    (Op::S_BARRIER, Meaning::Special(|_, _| Ok(Flow::Barrier))),
    (Op::S_SENDMSG, Meaning::Special(sendmsg)),
    (Op::S_TRAP, Meaning::Special(|_, slot| Err(StopKind::Trap { id: slot.simm() }))),
    (Op::S_ICACHE_INV, Meaning::Special(|_, _| Ok(Flow::Refetch))),
    (Op::S_SUBVECTOR_LOOP_BEGIN, Meaning::Special(subvector_begin)),
    (Op::S_SUBVECTOR_LOOP_END, Meaning::Special(subvector_end)),
];

/// Where SIMM16 leads: dwords from the next instruction.
fn target(m: &Machine<'_>, slot: &Slot) -> u64 {
    m.next_pc.wrapping_add_signed(4 * i64::from(slot.simm() as i16))
}

fn branch(m: &mut Machine<'_>, slot: &Slot, taken: bool) -> Result<Flow, StopKind> {
    Ok(if taken { Flow::Jump(target(m, slot)) } else { Flow::Next })
}

fn getpc(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let next = m.next_pc;
    m.write_first(slot, next)
}

fn setpc(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    Ok(Flow::Jump(m.scalar_source(slot, 0)?))
}

fn swappc(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let to = m.scalar_source(slot, 0)?;
    getpc(m, slot)?;
    Ok(Flow::Jump(to))
}

fn call(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    getpc(m, slot)?;
    Ok(Flow::Jump(target(m, slot)))
}

/// Messages that one wave may send; a geometry shader sends at most two a vertex of 1024 in each of four streams.
const MAX_MESSAGES: usize = 16384;

fn sendmsg(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    if m.outcome.messages.len() >= MAX_MESSAGES {
        return Err(StopKind::TooManyOutputs { mnemonic: slot.mnemonic(), limit: MAX_MESSAGES });
    }
    let message = Message { simm16: slot.simm(), m0: m.wave.sgpr(sreg::M0), exec: m.wave.exec() };
    m.outcome.messages.push(message);
    Ok(Flow::Next)
}

/// Begins a block that is run once for the low and once for the high half of a wave64. The scalar register keeps the
/// half of EXEC that is not running.
fn subvector_begin(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let register = subvector_register(m, slot)?;
    let (low, high) = (m.wave.sgpr(sreg::EXEC_LO), m.wave.sgpr(sreg::EXEC_HI));
    if low == 0 && high == 0 {
        return Ok(Flow::Jump(target(m, slot)));
    }
    if low == 0 {
        m.wave.set_sgpr(register, 0);
    } else {
        m.wave.set_sgpr(register, high);
        m.wave.set_sgpr(sreg::EXEC_HI, 0);
    }
    Ok(Flow::Next)
}

/// Ends such a block: after the low half goes back for the high half if it has lanes.
fn subvector_end(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let register = subvector_register(m, slot)?;
    let saved = m.wave.sgpr(register);
    if m.wave.sgpr(sreg::EXEC_HI) != 0 {
        m.wave.set_sgpr(sreg::EXEC_LO, saved);
        return Ok(Flow::Next);
    }
    if saved == 0 {
        return Ok(Flow::Next);
    }
    let low = m.wave.sgpr(sreg::EXEC_LO);
    m.wave.set_sgpr(sreg::EXEC_HI, saved);
    m.wave.set_sgpr(register, low);
    m.wave.set_sgpr(sreg::EXEC_LO, 0);
    Ok(Flow::Jump(target(m, slot)))
}

fn subvector_register(m: &Machine<'_>, slot: &Slot) -> Result<u8, StopKind> {
    exec_mask::require_wave64(m, slot)?;
    slot.scalar_destination(0).ok_or_else(|| slot.form("no register to keep EXEC in"))
}
