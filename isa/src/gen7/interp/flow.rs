//! Which channels run: predicates, and branches by places where channels wait.
//!
//! A channel that a branch turns off waits for an instruction and runs again from there. Where no channel runs, the thread
//! goes on at the nearest instruction that one waits for.

use super::super::error::Refusal;
use super::super::inst::{AccessMode, Inst};
use super::thread::{CHANNELS, Thread};

/// Predicate controls.
const NONE: u8 = 0;
const EACH: u8 = 1;
const ANY: u8 = 6;
const ALL: u8 = 7;
/// Channels of either vertex.
const VERTICES: [u8; 2] = [0x0f, 0xf0];

/// The predicate of each channel, one bit each.
///
/// # Errors
/// A predicate control without a meaning.
pub(super) fn predicate(thread: &Thread, inst: &Inst) -> Result<u8, Refusal> {
    let (control, inverted) = inst.predicate;
    let flag = thread.flag(inst.flag);
    let vertices = |rule: &dyn Fn(u8) -> bool| {
        VERTICES.into_iter().filter(|vertex| rule(*vertex)).fold(0, |mask, vertex| mask | vertex)
    };
    let value = match (control, inst.access) {
        (NONE, _) => return Ok(u8::MAX),
        (EACH, _) => flag,
        (2..=5, AccessMode::Align16) => {
            let component = 0x11 << (control - 2);
            vertices(&|vertex| flag & vertex & component != 0)
        }
        (ANY, AccessMode::Align16) => vertices(&|vertex| flag & vertex != 0),
        (ALL, AccessMode::Align16) => vertices(&|vertex| flag & vertex == vertex),
        _ => {
            let value = u32::from(control);
            return Err(Refusal::Field { pc: inst.pc, field: "predicate control", value });
        }
    };
    Ok(if inverted { !value } else { value })
}

/// Carries a branch out; gives where the thread goes on.
///
/// # Errors
/// The branch leads out of the program.
pub(super) fn branch(thread: &mut Thread, inst: &Inst) -> Result<u32, Refusal> {
    let next = inst.pc + inst.bytes;
    let taken = predicate(thread, inst)?;
    let active = thread.active();
    match inst.row.mnemonic {
        "if" => wait(thread, active & !taken, target(inst)?),
        "else" => wait(thread, active, target(inst)?),
        "while" if active & taken != 0 => {
            wait(thread, active & !taken, next);
            return target(inst);
        }
        _ => {}
    }
    Ok(next)
}

/// Where the branch leads.
fn target(inst: &Inst) -> Result<u32, Refusal> {
    let target = i64::from(inst.pc) + i64::from(inst.jumps.0);
    u32::try_from(target).map_err(|_| Refusal::Branch { pc: inst.pc, target })
}

/// Turns channels off until the thread stands at `pc`.
fn wait(thread: &mut Thread, channels: u8, pc: u32) {
    for channel in (0..CHANNELS).filter(|c| channels >> c & 1 != 0) {
        thread.waits[channel as usize] = Some(pc);
    }
}
