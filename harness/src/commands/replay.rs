//! `guestwave replay`.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::progress::Progress;
use super::{USAGE, summary};
use crate::capture;
use crate::engine::{Engine, EngineArgs};
use crate::memory::Buffer;
use crate::replay::{Outcome, RefusalReport, ReplayOptions, Report, replay_watched};
use crate::shared_backend::SharedBackend;

/// Arguments of `replay`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Captures, .cap or .cap.zst
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
    /// One JSON object per file on stdout, one per line
    #[arg(long)]
    json: bool,
    /// Write each buffer object's final bytes to DIR/bo-<id>.bin
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Also compare with the pages recorded in the capture
    #[arg(long)]
    golden: bool,
    /// Captured vertices to show of each buffer of each draw
    #[arg(long, value_name = "N", default_value_t = 8)]
    rows: usize,
}

/// Refuses options that contradict each other, in a sentence.
fn check(args: &Args) -> Result<()> {
    if args.dump.is_some() && args.files.len() > 1 {
        bail!("--dump takes one capture at a time, as the files are named by buffer object alone");
    }
    Ok(())
}

/// Replays every file and returns the highest exit status.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    check(args)?;
    let progress = Progress::new(args.files.len());
    let device = args.engine.device()?;
    let mut status = 0;
    for file in &args.files {
        status = status.max(one(args, file, device.as_ref(), &progress, out)?);
    }
    Ok(status)
}

fn one(
    args: &Args,
    file: &Path,
    device: Option<&SharedBackend>,
    progress: &Progress,
    out: &mut dyn Write,
) -> Result<u8> {
    progress.opens(file);
    let capture = match capture::load(file) {
        Ok(capture) => capture,
        Err(error) => return progress.aside(|| unreadable(args, file, &error, out)),
    };
    progress.begins(&capture);
    let options = ReplayOptions {
        golden: args.golden,
        keep_freed: args.dump.is_some(),
        rows: if args.json { 0 } else { args.rows },
    };
    let engine = engine(args, device)?;
    let mut outcome = replay_watched(&capture, engine.executor, options, &|| progress.submitted());
    outcome.report.count_modules(engine.stats.as_deref());
    outcome.report.file = file.display().to_string();
    progress.aside(|| print(args, &outcome, out))?;
    if let Some(folder) = &args.dump {
        dump(&outcome, folder)?;
    }
    Ok(outcome.report.exit_status())
}

fn engine(args: &Args, device: Option<&SharedBackend>) -> Result<Engine> {
    match device {
        Some(device) => Ok(args.engine.engine_on(Box::new(device.clone()))),
        None => args.engine.engine(),
    }
}

fn print(args: &Args, outcome: &Outcome, out: &mut dyn Write) -> Result<()> {
    match args.json {
        true => json(&outcome.report, out),
        false => Ok(summary::print(outcome, out)?),
    }
}

fn json(report: &Report, out: &mut dyn Write) -> Result<()> {
    Ok(writeln!(out, "{}", serde_json::to_string(report)?)?)
}

fn unreadable(args: &Args, file: &Path, error: &capture::CaptureError, out: &mut dyn Write) -> Result<u8> {
    anstream::eprintln!("{}: {error}", file.display());
    if args.json {
        let refusal = RefusalReport::whole(error.code(), error, 0);
        let file = file.display().to_string();
        json(&Report { file, refusals: vec![refusal], ..Report::default() }, out)?;
    }
    Ok(USAGE)
}

fn dump(outcome: &Outcome, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for buffer in &outcome.buffers {
        let path = folder.join(format!("bo-{}.bin", buffer.bo));
        dump_buffer(buffer, &path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Pages that were never written stay holes in the file.
fn dump_buffer(buffer: &Buffer, path: &Path) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.set_len(buffer.size)?;
    let mut done = Ok(());
    buffer.written(|range, bytes| {
        if done.is_ok() {
            done = file.seek(SeekFrom::Start(range.start)).and_then(|_| file.write_all(bytes));
        }
    });
    done
}
