//! What a device does to floats, loops and subgroups, found by running programs on it.

mod floats;
mod lanes;
mod memory;

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::time::Duration;

use guestwave_cp::DispatchId;
use guestwave_translate::backend::{Backend, BackendError, Batch, Completion, Holding, Launch};
use guestwave_translate::naga::{FloatCaps, FloatModes, HostCaps, LoopLimit};
use guestwave_translate::program::Program;

use self::memory::Words;
use crate::backend::WgpuBackend;
use crate::codes;
use crate::device::Opened;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What: `f32 a * b + c, one rounding`.
    pub name: &'static str,
    /// How many results were as wanted, of how many.
    pub right: u32,
    /// Results in all.
    pub of: u32,
}

impl Check {
    /// Whether all results were as wanted.
    pub fn holds(&self) -> bool {
        self.right == self.of
    }
}

/// What a device was found to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Each check of float operations.
    pub checks: Vec<Check>,
    /// What modules may rely on.
    pub host: HostCaps,
}

impl Default for Probe {
    fn default() -> Self {
        Probe {
            checks: Vec::new(),
            host: HostCaps {
                floats: FloatCaps::default(),
                atomics64: false,
                subgroup: None,
                loops: None,
                slow_integer_division: false,
                runs_all_branches: false,
                fours: false,
                workgroup_bytes: 0,
                workgroup_invocations: 0,
                preferred_invocations: 0,
            },
        }
    }
}

impl Probe {
    /// Whether the device gives the reference's bits, and if not, why.
    pub(crate) fn exact(&self, passthrough: bool) -> Result<(), String> {
        if !passthrough {
            return Err(
                "SPIR-V cannot be passed through to the driver, which is free to change floats".into()
            );
        }
        self.host.floats.inexact().map_or(Ok(()), |why| Err(why.into()))
    }
}

impl Display for Probe {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for c in &self.checks {
            let word = if c.holds() { "yes" } else { "NO" };
            writeln!(f, "{:3}  {} ({} of {})", word, c.name, c.right, c.of)?;
        }
        match self.host.loops {
            Some(limit) => writeln!(f, "loops end by themselves after {} iterations", limit.iterations)?,
            None => writeln!(f, "loops go on for more than {} iterations", lanes::LOOP)?,
        }
        match self.host.subgroup {
            Some(size) => writeln!(f, "subgroups of {size} lanes lie in order")?,
            None => writeln!(f, "subgroups are not used")?,
        }
        let modes = &self.host.floats.modes;
        writeln!(
            f,
            "float controls (32, 64 bits): denormals kept {:?}, zero/inf/nan kept {:?}, round to even {:?}",
            modes.denorm_preserve, modes.zero_inf_nan_preserve, modes.round_to_even
        )
    }
}

/// What is taken for granted until the probe has run: native operations everywhere, so that they can be looked at.
pub(crate) fn presumed(opened: &Opened) -> HostCaps {
    let has = |f| opened.features.contains(f);
    let cpu = opened.is_cpu();
    HostCaps {
        floats: FloatCaps {
            fma32: true,
            fma32_normal: true,
            fma64: true,
            div32: true,
            sqrt32: true,
            div64: true,
            sqrt64: true,
            compare32: true,
            arithmetic32: true,
            arithmetic64: true,
            narrow64: true,
            widen32: true,
            modes: if has(wgpu::Features::PASSTHROUGH_SHADERS) {
                opened.modes
            } else {
                FloatModes::default()
            },
        },
        atomics64: has(wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS),
        subgroup: None,
        loops: None,
        // A CPU has no vector instruction for it.
        slow_integer_division: cpu,
        // The lanes of a vector take one way together, masked.
        runs_all_branches: cpu,
        // Where lanes have memory instructions of their own, which are as wide.
        fours: !cpu,
        workgroup_bytes: opened.limits.max_compute_workgroup_storage_size,
        workgroup_invocations: opened.limits.max_compute_invocations_per_workgroup,
        preferred_invocations: if cpu { 64 } else { 256 },
    }
}

/// Runs the probe; `subgroup`: the size that all subgroups have, if they have one.
pub(crate) fn run(backend: &mut WgpuBackend, subgroup: Option<u32>) -> Result<Probe, BackendError> {
    let mut host = backend.host_mut().clone();
    let (checks, floats) = floats::run(backend, host.floats)?;
    host.floats = floats;
    host.loops = lanes::loop_limit(backend, subgroup)?;
    host.subgroup = match subgroup {
        Some(size) if lanes::in_order(backend, size)? => Some(size),
        _ => None,
    };
    Ok(Probe { checks, host })
}

/// Where the probe's programs find their data and leave their results.
const BASE: u64 = 0x10_0000;

/// Runs a program on some words; gives them as it left them.
fn launch(
    backend: &mut WgpuBackend,
    program: Program,
    holding: Holding,
    waves: u32,
    words: Vec<u32>,
) -> Result<(Vec<u32>, Completion), BackendError> {
    let memory = Words::new(BASE, words);
    let id = backend.compile(&Arc::new(program), holding)?;
    let launch = Launch {
        id: DispatchId(0),
        program: id,
        params: Vec::new(),
        tables: Arc::from([]),
        waves,
        waves_per_group: 1,
        group_waves: None,
        budget: u64::MAX,
    };
    let ticket = backend.submit(Batch { launches: vec![launch] }, &memory)?;
    let lost = || BackendError::DeviceLost { code: codes::LOST, reason: "the probe did not end".into() };
    let completion = backend.wait(ticket, &memory, Duration::from_secs(600))?.ok_or_else(lost)?;
    Ok((memory.into_words(), completion))
}

/// The limit, as it is relied on: a little less than was seen.
fn limit(seen: u32, together: u32) -> LoopLimit {
    LoopLimit { iterations: seen - seen / 64, together }
}
