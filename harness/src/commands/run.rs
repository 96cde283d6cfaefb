//! `guestwave run`: an unmodified program on the virtual GPU.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use rustix::process::Signal;
use serde::Serialize;

use super::{USAGE, tell};
use crate::capture::{self, Capture};
use crate::engine::EngineArgs;
use crate::gpu::{MODELS, Model, Program, Running, Seen, Settings, Signals, Summary, VirtualGpu};

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

/// Variables of drivers' options that get these as well: images without compressed colours, whose encoding is not public, and
/// vertex programs of the older kind, the one that is carried out.
const DRIVER_OPTIONS: [(&str, &str); 2] = [("AMD_DEBUG", "nodcc,nongg"), ("RADV_DEBUG", "nodcc,nongg")];

/// Runs the program. The summary goes to stderr, as stdout is the program's.
pub(super) fn run(args: &Args, _: &mut dyn Write) -> Result<u8> {
    let signals = Signals::hold()?;
    let model = Model::named(&args.gpu).context("no such GPU")?;
    for file in args.record.iter().chain(&args.summary) {
        try_to_write(file).with_context(|| format!("cannot write {}", file.display()))?;
    }
    let running = Arc::new(Running::default());
    let on_refusal = args.stop_on_refusal.then(|| stop(Arc::clone(&running)));
    let engine = args.engine.clone();
    let record = args.record.is_some();
    let gpu = VirtualGpu::start(Settings { model, engine, record, on_refusal })?;
    let mut program = start(args, &gpu, signals, &running)?;
    let status = program.wait()?;
    let (summary, recorded) = gpu.finish(program.interrupted());
    if !args.quiet {
        print(&summary, status)?;
    }
    let written = write_files(args, recorded.as_ref(), &Told::new(&summary, status));
    Ok(exit_status(&summary, status, written))
}

/// Whether a file will be writable when the program has ended. What is there stays as it is.
fn try_to_write(file: &Path) -> io::Result<()> {
    let there = file.symlink_metadata().is_ok();
    if there && !file.is_dir() && !file.is_file() {
        // To open a pipe would have an effect.
        return Ok(());
    }
    OpenOptions::new().write(true).create(true).truncate(false).open(file)?;
    if there { Ok(()) } else { std::fs::remove_file(file) }
}

/// The summary, and how the program ended.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    program: Ending,
}

/// How a program ended: one of the two.
#[derive(Serialize)]
struct Ending {
    status: Option<i32>,
    signal: Option<i32>,
}

impl<'a> Told<'a> {
    fn new(summary: &'a Summary, status: ExitStatus) -> Told<'a> {
        Told { summary, program: Ending { status: status.code(), signal: status.signal() } }
    }
}

fn write_files(args: &Args, recorded: Option<&Capture>, told: &Told<'_>) -> Result<()> {
    if let Some(file) = &args.summary {
        let text = serde_json::to_string(told)?;
        std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if let Some(file) = &args.record {
        let capture = recorded.context("the program submitted nothing, so there is no capture to write")?;
        capture::store(capture, file).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn start(args: &Args, gpu: &VirtualGpu, signals: Signals, running: &Arc<Running>) -> Result<Program> {
    let [program, arguments @ ..] = args.program.as_slice() else { anyhow::bail!("no program is named") };
    let mut command = Command::new(program);
    command.args(arguments).envs(gpu.environment());
    for (name, value) in DEFAULTS {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    for (name, ours) in DRIVER_OPTIONS {
        let theirs = std::env::var_os(name).filter(|theirs| !theirs.is_empty());
        let mut all = OsString::from(ours);
        theirs.iter().for_each(|theirs| {
            all.push(",");
            all.push(theirs);
        });
        command.env(name, all);
    }
    Program::start(&mut command, signals, running)
        .with_context(|| format!("cannot start {}", program.display()))
}

/// Ends the program.
fn stop(running: Arc<Running>) -> Box<dyn Fn() + Send + Sync> {
    Box::new(move || running.tell(Signal::TERM))
}

/// 2 if something was refused; otherwise 1 if the program says anything but 0; otherwise 3 if a file could not be written.
fn exit_status(summary: &Summary, status: ExitStatus, written: Result<()>) -> u8 {
    let unwritten = written.inspect_err(tell).is_err();
    match (summary.refusals.is_empty(), status.success()) {
        (false, _) => 2,
        (true, false) => 1,
        (true, true) if unwritten => USAGE,
        (true, true) => 0,
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
