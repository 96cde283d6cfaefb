//! `guestwave run`: an unmodified program on the virtual GPU.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use rustix::process::{Pid, Signal, kill_process};

use crate::capture;
use crate::engine::EngineArgs;
use crate::gpu::{MODELS, Model, Seen, Settings, Summary, VirtualGpu};

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The GPU that the program sees
    #[arg(long, default_value = MODELS[0].name, value_parser = PossibleValuesParser::new(MODELS.map(|m| m.name)))]
    gpu: String,
    #[command(flatten)]
    engine: EngineArgs,
    /// Write a capture of what the program submits, .cap or .cap.zst
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// End the program when something is refused
    #[arg(long)]
    stop_on_refusal: bool,
    /// Write the summary as one JSON object
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Print nothing but what the program prints and what is refused
    #[arg(long, short)]
    quiet: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Variables that make Mesa take the virtual GPU without a display, unless the user says otherwise.
const DEFAULTS: [(&str, &str); 2] = [("EGL_PLATFORM", "surfaceless"), ("MESA_SHADER_CACHE_DISABLE", "true")];

/// Runs the program. The summary goes to stderr, as stdout is the program's.
pub(super) fn run(args: &Args, _: &mut dyn Write) -> Result<u8> {
    let model = Model::named(&args.gpu).context("no such GPU")?;
    let process = Arc::new(OnceLock::new());
    let on_refusal = args.stop_on_refusal.then(|| stop(Arc::clone(&process)));
    let engine = args.engine.clone();
    let record = args.record.is_some();
    let gpu = VirtualGpu::start(Settings { model, engine, record, on_refusal })?;
    let mut child = start(args, &gpu)?;
    let _ = process.set(child.id());
    let status = child.wait()?;
    let (summary, recorded) = gpu.finish();
    if let Some(file) = &args.record {
        let capture = recorded.context("the program submitted nothing, so there is no capture to write")?;
        capture::store(&capture, file)?;
    }
    if let Some(file) = &args.summary {
        let text = serde_json::to_string(&summary)?;
        std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if !args.quiet {
        print(&summary, status)?;
    }
    Ok(exit_status(&summary, status))
}

fn start(args: &Args, gpu: &VirtualGpu) -> Result<Child> {
    let [program, arguments @ ..] = args.program.as_slice() else { anyhow::bail!("no program is named") };
    let mut command = Command::new(program);
    command.args(arguments).envs(gpu.environment());
    for (name, value) in DEFAULTS {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    command.spawn().with_context(|| format!("cannot start {}", program.display()))
}

/// Ends the program.
fn stop(process: Arc<OnceLock<u32>>) -> Box<dyn Fn() + Send + Sync> {
    Box::new(move || {
        let id = process.get().and_then(|id| i32::try_from(*id).ok()).and_then(Pid::from_raw);
        if let Some(id) = id {
            // It may have ended by itself.
            let _ = kill_process(id, Signal::TERM);
        }
    })
}

/// 2 if something was refused; otherwise 0 if the program says so, and 1 if not.
fn exit_status(summary: &Summary, status: ExitStatus) -> u8 {
    match (summary.refusals.is_empty(), status.success()) {
        (false, _) => 2,
        (true, true) => 0,
        (true, false) => 1,
    }
}

fn print(summary: &Summary, status: ExitStatus) -> Result<()> {
    let mut out = anstream::stderr().lock();
    let stats = &summary.stats;
    writeln!(
        out,
        "guestwave: {} submissions, {} draws, {} dispatches, {} waves, {} bytes stored",
        summary.submissions, stats.draws, stats.dispatches, stats.waves, stats.bytes_stored
    )?;
    if stats.modules > 0 {
        writeln!(
            out,
            "guestwave: {} programs translated, {} launches found theirs",
            stats.modules, stats.module_hits
        )?;
    }
    for Seen { first, times } in summary.refusals.values() {
        writeln!(out, "guestwave: refused {times} times: {}: {}", first.code, first.text)?;
    }
    for Seen { first, times } in summary.not_drawn.values() {
        writeln!(out, "guestwave: left out {times} times: {}: {}", first.code, first.text)?;
    }
    if !summary.inexact.is_empty() {
        let names: Vec<_> = summary.inexact.iter().copied().collect();
        writeln!(out, "guestwave: instructions within a documented error: {}", names.join(" "))?;
    }
    match (status.code(), status.signal()) {
        (Some(0), _) => (),
        (Some(code), _) => writeln!(out, "guestwave: the program ended with status {code}")?,
        (None, signal) => {
            writeln!(out, "guestwave: the program was ended by signal {}", signal.unwrap_or(0))?
        }
    }
    Ok(())
}
