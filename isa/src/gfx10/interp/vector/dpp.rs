//! Data-parallel primitives: where each lane's first source comes from.

use super::Source;
use crate::gfx10::interp::StopKind;
use crate::gfx10::interp::slot::Slot;
use crate::gfx10::interp::wave::{Wave, lanes_of};
use crate::gfx10::{LaneForm, sreg};

/// Where the first source of each lane comes from, and which lanes take part.
pub(super) struct LaneMap {
    /// Lanes that are executed and written.
    pub active: u64,
    /// `None`: each lane reads itself.
    sources: Option<[Origin; 64]>,
}

/// Where a lane's first source comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Lane(u8),
    /// A lane that does not exist or is not read: 0.
    Zero,
    /// The lane is not executed.
    Disabled,
}

/// How DPP16's control maps lane i of a row of 16 to a lane of that row; out of range is invalid.
struct Control {
    first: u16,
    last: u16,
    map: fn(lane: i32, operand: i32) -> i32,
}

/// DPP_CTRL ranges past the quad permutations, which are 0 to 0xff. The operand is the low four bits.
const CONTROLS: [Control; 7] = [
    Control { first: 0x101, last: 0x10f, map: |lane, n| lane + n },
    Control { first: 0x111, last: 0x11f, map: |lane, n| lane - n },
    Control { first: 0x121, last: 0x12f, map: |lane, n| (lane - n) & 15 },
    Control { first: 0x140, last: 0x140, map: |lane, _| 15 - lane },
    Control { first: 0x141, last: 0x141, map: |lane, _| lane ^ 7 },
    Control { first: 0x150, last: 0x15f, map: |_, n| n },
    Control { first: 0x160, last: 0x16f, map: |lane, n| lane ^ n },
];

impl LaneMap {
    pub(super) fn new(wave: &Wave, slot: &Slot, form: &LaneForm) -> Result<Self, StopKind> {
        let exec = wave.exec();
        match *form {
            LaneForm::None | LaneForm::Sdwa(_) => Ok(LaneMap { active: exec, sources: None }),
            LaneForm::Dpp8 { sel, fetch_inactive } => {
                let readable = readable(wave, fetch_inactive);
                Ok(Self::from_origins(exec, |lane| {
                    let from = lane & !7 | usize::from(sel[lane & 7] & 7);
                    // There is no bound_ctrl here: what is not read is 0.
                    if readable >> from & 1 != 0 { Origin::Lane(from as u8) } else { Origin::Zero }
                }))
            }
            LaneForm::Dpp16 { ctrl, row_mask, bank_mask, bound_ctrl, fetch_inactive } => {
                let known = ctrl <= 0xff || control(ctrl).is_some();
                if !known {
                    return Err(slot.form("a reserved DPP control"));
                }
                let readable = readable(wave, fetch_inactive);
                let invalid = if bound_ctrl { Origin::Zero } else { Origin::Disabled };
                Ok(Self::from_origins(exec, |lane| {
                    if row_mask >> (lane / 16) & 1 == 0 || bank_mask >> (lane / 4 % 4) & 1 == 0 {
                        return Origin::Disabled;
                    }
                    match source_lane(ctrl, lane) {
                        Some(from) if readable >> from & 1 != 0 => Origin::Lane(from as u8),
                        _ => invalid,
                    }
                }))
            }
        }
    }

    fn from_origins(exec: u64, origin: impl Fn(usize) -> Origin) -> Self {
        let sources: [Origin; 64] = std::array::from_fn(origin);
        let enabled = |lane: &usize| sources[*lane] != Origin::Disabled;
        let active = lanes_of(exec).filter(enabled).fold(0, |mask, lane| mask | 1 << lane);
        LaneMap { active, sources: Some(sources) }
    }

    /// The first source in all lanes.
    pub(super) fn first_source(&self, source: &Source, wave: &Wave) -> [u64; 64] {
        let values = source.gather(wave);
        match &self.sources {
            None => values,
            Some(origins) => origins.map(|origin| match origin {
                Origin::Lane(from) => values[usize::from(from & 63)],
                Origin::Zero | Origin::Disabled => source.zero(),
            }),
        }
    }
}

/// Lanes whose registers can be read.
fn readable(wave: &Wave, fetch_inactive: bool) -> u64 {
    match fetch_inactive {
        true => u64::MAX >> (64 - wave.lanes()),
        false => wave.mask(sreg::EXEC_LO),
    }
}

fn control(ctrl: u16) -> Option<&'static Control> {
    CONTROLS.iter().find(|c| (c.first..=c.last).contains(&ctrl))
}

/// The lane that `lane` reads, `None` if it is past the row's end.
fn source_lane(ctrl: u16, lane: usize) -> Option<usize> {
    if ctrl <= 0xff {
        return Some(lane & !3 | usize::from(ctrl >> (2 * (lane & 3)) & 3));
    }
    let control = control(ctrl)?;
    let within = (control.map)((lane & 15) as i32, i32::from(ctrl & 15));
    (0..16).contains(&within).then_some(lane & !15 | within as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_map_lanes() {
        for (ctrl, lane, from) in [
            (0b00_01_10_11, 5, Some(6)),
            (0xe4, 63, Some(63)),
            (0x101, 15, None),
            (0x101, 16, Some(17)),
            (0x11f, 15, Some(0)),
            (0x111, 16, None),
            (0x124, 2, Some(14)),
            (0x140, 17, Some(30)),
            (0x141, 9, Some(14)),
            (0x153, 40, Some(35)),
            (0x165, 35, Some(38)),
            (0x100, 0, None),
            (0x130, 0, None),
            (0x142, 0, None),
        ] {
            assert_eq!(source_lane(ctrl, lane), from, "{ctrl:#x} lane {lane}");
        }
    }
}
