//! The work of benchmarks as written for the host by hand, run on the device that the guest's programs run on: see
//! `kernels/baseline.wgsl`.

use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use guestwave_backend_wgpu::PlainProgram;

use crate::engine::{BackendChoice, EngineArgs};

/// A program for the host.
pub(super) struct HostProgram {
    /// Its entry point in the WGSL text.
    pub(super) entry: &'static str,
    /// SPIR-V made of it.
    pub(super) code: &'static [u8],
    /// What its three buffers hold at first.
    pub(super) buffers: fn() -> [Vec<u8>; 3],
    /// Workgroups of a run.
    pub(super) groups: u32,
    /// Runs that do the benchmark's work once.
    pub(super) runs: u32,
}

/// Seconds that doing the work once took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seconds {
    /// From the start until the results are in memory.
    pub(super) wall: f64,
    /// Of that, dispatches on the device, where it tells.
    pub(super) device: Option<f64>,
}

impl Seconds {
    /// The best of each.
    pub(super) fn best(self, other: Seconds) -> Seconds {
        let device = [self.device, other.device].into_iter().flatten().reduce(f64::min);
        Seconds { wall: self.wall.min(other.wall), device }
    }
}

/// A host program that is ready to run.
pub(super) struct Host {
    program: PlainProgram,
    groups: u32,
    runs: u32,
}

impl HostProgram {
    /// Makes it ready on the device that `engine` names.
    pub(super) fn open(&self, engine: &EngineArgs) -> Result<Host> {
        if engine.backend != Some(BackendChoice::Wgpu) || engine.is_reference() {
            bail!("a baseline in WGSL is for --backend wgpu");
        }
        let buffers = (self.buffers)();
        let contents = [0, 1, 2].map(|i| &buffers[i][..]);
        let program = PlainProgram::open(engine.adapter.as_deref(), self.code, self.entry, contents)
            .with_context(|| format!("the baseline {} cannot run", self.entry))?;
        Ok(Host { program, groups: self.groups, runs: self.runs })
    }
}

impl Host {
    /// Does the benchmark's work once.
    pub(super) fn measure(&mut self) -> Result<Seconds> {
        let (start, mut device) = (Instant::now(), Some(0.0));
        for _ in 0..self.runs {
            let run = self.program.run(self.groups).map_err(|e| anyhow!(e))?;
            device = device.zip(run.device).map(|(sum, d)| sum + d.as_secs_f64());
        }
        Ok(Seconds { wall: start.elapsed().as_secs_f64(), device })
    }

    /// What the last run wrote.
    #[cfg(test)]
    pub(super) fn output(&self) -> &[u8] {
        self.program.output()
    }
}
