//! The first registers of a wave, from the rules of its dispatch.

use guestwave_cp::{ExactDispatch, LaneRule, ScalarRule};
use guestwave_isa::gfx10::interp::WaveInit;

use super::grid::Wave;

/// What wave `wave` of `dispatch` starts with.
pub(super) fn wave_init(dispatch: &ExactDispatch, wave: &Wave) -> WaveInit {
    let lanes = u32::from(dispatch.program.wave_lanes);
    WaveInit {
        sgprs: dispatch.sgprs.iter().map(|rule| scalar(rule, wave)).collect(),
        vgprs: dispatch
            .vgprs
            .iter()
            .map(|rule| (0..lanes).map(|lane| vector(rule, wave, lane)).collect())
            .collect(),
        exec: u64::MAX.checked_shr(64 - wave.items).unwrap_or(0),
        m0: 0,
    }
}

fn scalar(rule: &ScalarRule, wave: &Wave) -> u32 {
    match rule {
        ScalarRule::Word(word) => *word,
        ScalarRule::ItemCount { base, shift, limit } => {
            base | counted(wave, *limit).wrapping_shl(u32::from(*shift))
        }
        ScalarRule::FirstItem { base } => base.wrapping_add(wave.first as u32),
        ScalarRule::GroupId(axis) => wave.group.get(usize::from(*axis)).copied().unwrap_or(0),
        ScalarRule::GroupSize => {
            wave.group_waves & 0x3f | (wave.in_group & 0x3f) << 6 | u32::from(wave.in_group == 0) << 31
        }
        ScalarRule::ScratchOffset { per_wave, slots } => {
            per_wave.wrapping_mul((wave.number % u64::from(*slots).max(1)) as u32)
        }
        ScalarRule::PerWave(words) => words.get(wave.number as usize).copied().unwrap_or(0),
    }
}

/// Items of the wave below `limit`.
fn counted(wave: &Wave, limit: u32) -> u32 {
    u64::from(limit).saturating_sub(wave.first).min(u64::from(wave.items)) as u32
}

fn vector(rule: &LaneRule, wave: &Wave, lane: u32) -> u32 {
    let item = wave.first + u64::from(lane);
    match rule {
        LaneRule::Word(word) => *word,
        LaneRule::Item { base } => base.wrapping_add(item as u32),
        LaneRule::Primitive { base, items } => base.wrapping_add((item / u64::from(*items).max(1)) as u32),
        LaneRule::Cycle { base, items } => base.wrapping_add((item % u64::from(*items).max(1)) as u32),
        LaneRule::ThreadId(axis) => thread_id(wave, lane, *axis),
        LaneRule::PerItem(words) => {
            item.checked_rem(words.len() as u64).and_then(|at| words.get(at as usize)).copied().unwrap_or(0)
        }
    }
}

/// Threads of a workgroup are numbered x fastest.
fn thread_id(wave: &Wave, lane: u32, axis: u8) -> u32 {
    let thread = wave.first_thread + lane;
    let [x, y, _] = wave.threads.map(|t| t.max(1));
    match axis {
        0 => thread % x,
        1 => thread / x % y,
        2 => thread / x / y,
        _ => 0,
    }
}
