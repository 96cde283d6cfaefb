//! `guestwave probe`.

use std::io::Write;

use anyhow::Result;
use guestwave_backend_wgpu::{Options, Probe, WgpuBackend};
use guestwave_translate::backend::{Backend, Caps};
use serde::Serialize;

/// Arguments of `probe`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Part of the wgpu adapter's name
    #[arg(long)]
    adapter: Option<String>,
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
}

/// What was found, in the shape of `probe --json`.
#[derive(Serialize)]
struct Findings<'a> {
    device: &'a str,
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inexact_because: Option<&'a str>,
    checks: Vec<Check>,
    /// Iterations after which the device ends loops by itself.
    loop_limit: Option<u32>,
    /// Lanes of a subgroup, if subgroups lie in order.
    subgroup: Option<u32>,
    /// Bytes of a workgroup's memory.
    workgroup_bytes: u32,
    /// Invocations of a workgroup.
    workgroup_invocations: u32,
    atomics64: bool,
}

#[derive(Serialize)]
struct Check {
    name: &'static str,
    right: u32,
    of: u32,
}

impl<'a> Findings<'a> {
    fn new(caps: &'a Caps, probe: &Probe) -> Self {
        let host = &probe.host;
        let check = |c: &guestwave_backend_wgpu::Check| Check { name: c.name, right: c.right, of: c.of };
        Findings {
            device: &caps.device,
            exact: caps.exact.is_ok(),
            inexact_because: caps.exact.as_ref().err().map(String::as_str),
            checks: probe.checks.iter().map(check).collect(),
            loop_limit: host.loops.map(|l| l.iterations),
            subgroup: host.subgroup,
            workgroup_bytes: host.workgroup_bytes,
            workgroup_invocations: host.workgroup_invocations,
            atomics64: host.atomics64,
        }
    }
}

/// Opens the device and prints what it was found to do.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    let backend = WgpuBackend::open(&Options { adapter: args.adapter.clone(), ..Options::default() })?;
    let (caps, probe) = (backend.caps(), backend.probe());
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string(&Findings::new(caps, probe))?)?,
        false => text(caps, probe, out)?,
    }
    Ok(0)
}

fn text(caps: &Caps, probe: &Probe, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{}", caps.device)?;
    match &caps.exact {
        Ok(()) => writeln!(out, "programs give the reference's bits here")?,
        Err(why) => writeln!(out, "programs do not give the reference's bits here: {why}")?,
    }
    writeln!(out, "the device's own operations, of those that modules may use:")?;
    Ok(write!(out, "{probe}")?)
}
