//! Operations without an effect that can be seen when instructions run one after another: waits, caches, hints.

use super::meaning::Meaning;
use super::meaning::Meaning::Nothing;
use super::{StopKind, machine::Flow};
use crate::gfx10::Op;

pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::S_WAKEUP, Nothing),
    (Op::S_WAITCNT, Nothing),
    (Op::S_WAITCNT_DEPCTR, Nothing),
    (Op::S_WAITCNT_VSCNT, Nothing),
    (Op::S_WAITCNT_VMCNT, Nothing),
    (Op::S_WAITCNT_EXPCNT, Nothing),
    (Op::S_WAITCNT_LGKMCNT, Nothing),
    (Op::S_WAIT_IDLE, Nothing),
    (Op::S_SLEEP, Nothing),
    (Op::S_SETPRIO, Nothing),
    (Op::S_INCPERFLEVEL, Nothing),
    (Op::S_DECPERFLEVEL, Nothing),
    (Op::S_TTRACEDATA, Nothing),
    (Op::S_TTRACEDATA_IMM, Nothing),
    (Op::S_INST_PREFETCH, Nothing),
    (Op::S_CLAUSE, Nothing),
    (Op::S_NOP, Nothing),
    (Op::S_VERSION, Nothing),
    (Op::S_GL1_INV, Nothing),
    (Op::S_DCACHE_INV, Nothing),
    (Op::S_DCACHE_WB, Nothing),
    // What a discarded line holds afterwards is undefined; keeping it is one of the choices.
    (Op::S_DCACHE_DISCARD, Nothing),
    (Op::S_DCACHE_DISCARD_X2, Nothing),
    (Op::S_ATC_PROBE, Nothing),
    (Op::S_ATC_PROBE_BUFFER, Nothing),
    (Op::BUFFER_GL0_INV, Nothing),
    (Op::BUFFER_GL1_INV, Nothing),
    (Op::V_NOP, Nothing),
    (Op::V_PIPEFLUSH, Nothing),
    (Op::V_CLREXCP, Nothing),
    (Op::DS_NOP, Nothing),
    (Op::S_SETHALT, Meaning::Special(sethalt)),
];

/// SIMM16 bit 0 set would halt the wave for good.
fn sethalt(_: &mut super::machine::Machine<'_>, slot: &super::slot::Slot) -> Result<Flow, StopKind> {
    match slot.simm() & 1 {
        0 => Ok(Flow::Next),
        _ => Err(slot.form("its halt bit set")),
    }
}
