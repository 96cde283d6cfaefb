//! `guestwave inspect`: a capture for people who write drivers.
//!
//! Submissions are carried out as `replay` does, and each packet is shown with what it did: registers by name and
//! field, draws and dispatches with the state that they started in, programs disassembled where they first run. What is
//! not reached because an earlier packet was refused is shown all the same, as bare packets.

mod descriptor;
mod intel;
mod launch;
mod packets;
mod program;
mod recorder;
mod trace;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use guestwave_cp::amd::decode;
use guestwave_cp::{GuestMemory, SampleEvent, WaitEvent, WaitPlace, canonical};

use self::packets::Shown;
use self::program::Programs;
use self::recorder::{Note, Recorder, Step};
use super::style;
use crate::capture::{self, Capture, IpKind, Record, Submit};
use crate::executor::ReferenceExecutor;
use crate::replay::{Machine, isa_of};

/// Exit status of what is refused or faults.
const REFUSED: u8 = 2;

/// Arguments of `inspect`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A capture: .cap, .cap.zst, or .json of an Intel batch
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Show only this submission of a .cap; may be given several times
    #[arg(long, value_name = "N")]
    submission: Vec<u32>,
    /// Show only packets, no programs
    #[arg(long, conflicts_with = "programs")]
    packets: bool,
    /// Show only draws and dispatches with their programs
    #[arg(long)]
    programs: bool,
}

/// Shows the capture; the exit status is 2 if something was refused.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    let shown = match crate::intel::is_intel(&args.file) {
        Ok(true) => intel::run(args, out),
        Ok(false) => amd(args, out),
        Err(error) => Err(error.into()),
    };
    shown.with_context(|| args.file.display().to_string())
}

fn amd(args: &Args, out: &mut dyn Write) -> Result<u8> {
    let capture = capture::load(&args.file)?;
    check_submissions(args, &capture)?;
    writeln!(out, "{}  {}", style::heading(args.file.display()), capture.gpu)?;
    let isa = match isa_of(&capture.gpu) {
        Ok(isa) => isa,
        Err(error) => {
            writeln!(out, "{} {error}", style::bad("refused:"))?;
            return Ok(REFUSED);
        }
    };
    let machine = Machine::new(isa, Box::new(ReferenceExecutor::default()));
    let mut inspector =
        Inspector { args, machine, programs: Programs::default(), stopped: false, refused: false };
    for record in &capture.records {
        inspector.record(record, out)?;
    }
    Ok(if inspector.refused { REFUSED } else { 0 })
}

/// Whether the submissions that are asked for are there.
fn check_submissions(args: &Args, capture: &Capture) -> Result<()> {
    let submit =
        |record: &Record| if let Record::Submit(submit) = record { Some(submit.index) } else { None };
    let there: BTreeSet<u32> = capture.records.iter().filter_map(submit).collect();
    match (args.submission.iter().find(|n| !there.contains(n)), there.first(), there.last()) {
        (None, ..) => Ok(()),
        (Some(n), Some(first), Some(last)) => {
            bail!("there is no submission {n}; the capture has {first} to {last}")
        }
        (Some(n), ..) => bail!("there is no submission {n}; the capture has none"),
    }
}

struct Inspector<'a> {
    args: &'a Args,
    machine: Machine,
    programs: Programs,
    /// A submission was refused: later ones are not carried out.
    stopped: bool,
    refused: bool,
}

impl Inspector<'_> {
    fn record(&mut self, record: &Record, out: &mut dyn Write) -> Result<()> {
        match record {
            Record::Submit(submit) => self.submit(submit, out),
            Record::Mark(text) => Ok(writeln!(out, "{} {text}", style::note("mark:"))?),
            Record::Expect(text) => {
                let short: String = text.chars().take(100).collect();
                Ok(writeln!(out, "{} {short}", style::note("expect:"))?)
            }
            other => match self.machine.apply(other) {
                Err(error) if !self.stopped => {
                    (self.stopped, self.refused) = (true, true);
                    Ok(writeln!(out, "{} {error}", style::bad("refused:"))?)
                }
                _ => Ok(()),
            },
        }
    }

    fn submit(&mut self, submit: &Submit, out: &mut dyn Write) -> Result<()> {
        let mut recorder = Recorder::default();
        if !self.stopped {
            let done = self.machine.submit(submit, &mut recorder);
            self.stopped = done.as_ref().map_or(true, |d| d.stopped().is_some());
            self.refused |= self.stopped;
            if let Err(error) = done {
                writeln!(out, "{} {error}", style::bad("refused:"))?;
            }
        }
        if !self.args.submission.is_empty() && !self.args.submission.contains(&submit.index) {
            return Ok(());
        }
        headline(submit, out)?;
        self.steps(&recorder.steps, out)?;
        match self.stopped && !self.args.programs {
            true => self.unreached(submit, &recorder.steps, out),
            false => Ok(()),
        }
    }

    fn steps(&mut self, steps: &[Step], out: &mut dyn Write) -> Result<()> {
        let shown: Vec<_> = steps.iter().map(Shown::from).collect();
        for group in packets::groups(&shown) {
            let launches = group.iter().any(|s| s.notes.iter().any(|n| matches!(n, Note::Launch(_))));
            if launches || !self.args.programs {
                packets::print(group, out)?;
                group.iter().flat_map(|s| s.notes).try_for_each(|note| self.note(note, out))?;
            }
        }
        Ok(())
    }

    fn note(&mut self, note: &Note, out: &mut dyn Write) -> Result<()> {
        match note {
            Note::Launch(launch) => {
                launch::print(launch, out)?;
                if !self.args.packets {
                    self.programs.print(&launch.dispatch, &self.machine.memory, out)?;
                }
            }
            Note::Sample(sample) => print_sample(sample, out)?,
            Note::Wait(wait) => print_wait(wait, out)?,
            Note::Stored(range) => {
                writeln!(out, "         stored {} bytes at {:#x}", range.end - range.start, range.start)?;
            }
            Note::Refused { code, text } => writeln!(out, "         {} {text}", style::bad(code))?,
        }
        Ok(())
    }

    /// The packets of the submitted buffers that were not walked.
    fn unreached(&self, submit: &Submit, steps: &[Step], out: &mut dyn Write) -> Result<()> {
        for ib in &submit.ibs {
            let mut bytes = vec![0; ib.bytes.min(MAX_IB_BYTES) as usize];
            if self.machine.memory.read(ib.va, &mut bytes).is_err() {
                writeln!(out, "  {} the buffer at {:#x} is not mapped", style::bad("unreached:"), ib.va)?;
                continue;
            }
            let words: Vec<_> = bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
            let walked = |offset: u32| {
                let address = canonical(ib.va.wrapping_add(u64::from(offset)));
                steps.iter().any(|s| canonical(s.at.packet_address) == address)
            };
            let left: Vec<_> = decode::packets(&words)
                .filter(|view| !walked(view.offset))
                .map(|view| Shown { view, depth: 0, notes: &[] })
                .collect();
            if !left.is_empty() {
                writeln!(out, "  {}", style::bad("not reached:"))?;
            }
            packets::groups(&left).try_for_each(|group| packets::print(group, out))?;
        }
        Ok(())
    }
}

/// The most bytes of a buffer that is only shown.
const MAX_IB_BYTES: u32 = 16 << 20;

fn headline(submit: &Submit, out: &mut dyn Write) -> io::Result<()> {
    let engine = match submit.ip() {
        IpKind::Graphics => "graphics",
        IpKind::Compute => "compute",
        IpKind::Sdma => "SDMA",
        IpKind::Other(_) => "unknown engine",
    };
    let Submit { index, context, ring, sequence, .. } = submit;
    let title = style::heading(format!("submission {index}"));
    writeln!(out, "\n{title}  context {context}, {engine} ring {ring}, sequence {sequence}")?;
    for ib in &submit.ibs {
        writeln!(out, "  {} {:#x}, {} bytes", style::dim("buffer"), ib.va, ib.bytes)?;
    }
    Ok(())
}

fn print_sample(sample: &SampleEvent, out: &mut dyn Write) -> io::Result<()> {
    let [needed, written] = sample.values.map(|v| v & (u64::MAX >> 1));
    writeln!(out, "         wrote {needed} primitives needed, {written} written at {:#x}", sample.address)
}

fn print_wait(wait: &WaitEvent, out: &mut dyn Write) -> io::Result<()> {
    let place = match wait.place {
        WaitPlace::Memory(address) => format!("memory {address:#x}"),
        WaitPlace::Register(register) => register.to_string(),
    };
    let held = if wait.held { "holds" } else { "does not hold" };
    writeln!(out, "         {place} is {:#x}: {held}", wait.value)
}
