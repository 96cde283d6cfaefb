//! How waves lie on invocations.

use super::{HostCaps, Options, Unsupported, codes};
use crate::backend::Holding;
use crate::program::Program;

/// How waves lie on the invocations of a host workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Lanes of a wave.
    pub(super) lanes: u32,
    /// Invocations that hold a wave.
    pub(super) invocations: u32,
    /// Lanes that an invocation holds side by side (1 for a whole wave, which goes through its lanes in loops).
    pub(super) components: usize,
    /// Whether an invocation holds a whole wave.
    pub(super) whole: bool,
    /// Waves of a host workgroup.
    pub(super) waves: u32,
    /// Whether a host workgroup is a guest workgroup.
    pub(super) grouped: bool,
}

impl Shape {
    /// `alone`: nothing in the program needs a barrier or LDS; `shares`: the waves of a workgroup have something in common.
    pub(super) fn new(
        program: &Program,
        caps: &HostCaps,
        options: &Options,
        alone: bool,
        shares: bool,
    ) -> Result<Self, Unsupported> {
        let lanes = u32::from(program.wave_lanes);
        let whole = options.holding == Holding::Wave;
        let (invocations, components) = match options.holding {
            Holding::Wave => (1, 1),
            Holding::Lane => (lanes, 1),
            Holding::Pair => (lanes / 2, 2),
        };
        let free = if alone && !whole { (caps.preferred_invocations / invocations).max(1) } else { 1 };
        let waves = if shares { options.waves_per_group.max(1) } else { free };
        if waves.saturating_mul(invocations) > caps.workgroup_invocations {
            let reason = format!(
                "a workgroup of {waves} waves needs {} invocations and the host runs {}",
                u64::from(waves) * u64::from(invocations),
                caps.workgroup_invocations
            );
            return Err(Unsupported { code: codes::GROUP, reason });
        }
        Ok(Shape { lanes, invocations, components, whole, waves, grouped: shares })
    }

    /// Invocations of a host workgroup.
    pub(super) fn workgroup(&self) -> u32 {
        self.waves * self.invocations
    }

    /// How far apart the lanes are that an invocation holds side by side.
    pub(super) fn stride(&self) -> u32 {
        self.lanes / self.components as u32
    }
}
