//! `guestwave so-decl run`: batches and examples, and the buffers that they leave.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use guestwave_cp::intel::{Observer, Refusal, Refused};
use guestwave_cp::streamout::Slot;
use guestwave_cp::{AccessKind, DrawFacts, GuestMemory, Origin};

use super::Run;
use crate::commands::style;
use crate::intel::{Example, IntelCapture, IntelMachine, KernelStage};

/// Exit statuses.
const FAILED: u8 = 1;
const REFUSED: u8 = 2;
/// Words of a buffer that are shown.
const SHOWN: usize = 64;

pub(super) fn run(args: &Run, out: &mut dyn Write) -> Result<u8> {
    let mut worst = 0;
    for file in &args.files {
        let status = match Example::load(file) {
            Ok(examples) => run_examples(args, &examples, out),
            Err(_) => run_capture(args, file, out),
        };
        worst = worst.max(status.with_context(|| file.display().to_string())?);
    }
    Ok(worst)
}

fn run_examples(args: &Run, examples: &[Example], out: &mut dyn Write) -> Result<u8> {
    if args.dump.is_some() {
        bail!("--dump is for captured batches; examples show their buffers");
    }
    let wanted = |e: &&Example| args.example.as_ref().is_none_or(|name| *name == e.name);
    if !examples.iter().any(|e| wanted(&e)) {
        bail!("the file has no such example");
    }
    let mut worst = 0;
    for example in examples.iter().filter(wanted) {
        let found = example.run(args.policies(), args.engine.stream_out()?)?;
        let same = found == example.expected;
        let verdict = if same { style::good("as expected") } else { style::bad("otherwise") };
        writeln!(out, "{}  {verdict}", style::heading(&example.name))?;
        let (needed, written) = (found.counters.needed, found.counters.written);
        writeln!(out, "  offsets {:?}, {written} primitives written of {needed}", found.offsets)?;
        for (number, words) in &found.buffers {
            print_words(&format!("buffer {number}"), words, out)?;
        }
        worst = worst.max(if same { 0 } else { FAILED });
    }
    Ok(worst)
}

/// Collects what a batch streamed.
#[derive(Default)]
struct Streamed {
    draws: Vec<(Origin, u32, DrawFacts)>,
}

impl Observer for Streamed {
    fn drawn(&mut self, at: Origin, stream: u32, facts: &DrawFacts) {
        self.draws.push((at, stream, *facts));
    }
}

fn run_capture(args: &Run, file: &Path, out: &mut dyn Write) -> Result<u8> {
    let capture = IntelCapture::load(file)?;
    if args.example.is_some() {
        bail!("--example is for lists of examples, and this is a captured batch");
    }
    let stage = KernelStage::default();
    let vertices = Box::new(KernelStage { steps: stage.steps.min(args.engine.steps), ..stage });
    let mut machine =
        IntelMachine::with_capture(&capture, args.policies(), vertices, args.engine.stream_out()?)?;
    let mut streamed = Streamed::default();
    let report = machine.run(&capture, &mut streamed);
    writeln!(out, "{}  {}", style::heading(&capture.name), capture.generation)?;
    for (at, stream, facts) in &streamed.draws {
        let DrawFacts { primitives_written, primitives_needed, .. } = facts;
        writeln!(
            out,
            "  draw at {:#06x}, stream {stream}: {primitives_written} primitives written of {primitives_needed}",
            at.packet_offset
        )?;
    }
    print_buffers(args, &capture, &machine, out)?;
    for refused in &report.refusals {
        writeln!(out, "  {} {refused}", title(refused))?;
    }
    Ok(if report.stopped().is_some() { REFUSED } else { 0 })
}

/// What became of what was refused: the batch ended there, or all but this was carried out.
fn title(refused: &Refused) -> String {
    match (refused.stopped, &refused.refusal) {
        (true, _) => style::bad("refused:"),
        (false, Refusal::NotDrawn {}) => style::note("not drawn:"),
        (false, _) => style::note("left out:"),
    }
}

fn print_buffers(
    args: &Run,
    capture: &IntelCapture,
    machine: &IntelMachine,
    out: &mut dyn Write,
) -> Result<()> {
    let sol = &machine.state().sol;
    for slot in Slot::ALL {
        let (buffer, position) = (sol.buffers[slot.index()], sol.unit.buffer(slot).position);
        if !buffer.enabled || buffer.size == 0 {
            continue;
        }
        let title = format!("buffer {} at {:#x}, offset {position}", slot.index(), buffer.base);
        if machine.memory.check(buffer.base, buffer.size, AccessKind::Read).is_err() {
            writeln!(out, "  {}: {}", style::name(title), style::bad("not all of it is mapped"))?;
            continue;
        }
        let mut bytes = vec![0; usize::try_from(buffer.size)?];
        machine.memory.read(buffer.base, &mut bytes)?;
        let words: Vec<_> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        print_words(&title, &words, out)?;
        if let Some(folder) = &args.dump {
            fs::create_dir_all(folder)?;
            fs::write(folder.join(format!("{}-{:x}.bin", capture.name, buffer.base)), &bytes)?;
        }
    }
    Ok(())
}

fn print_words(title: &str, words: &[u32], out: &mut dyn Write) -> Result<()> {
    writeln!(out, "  {}", style::name(title))?;
    for line in words[..words.len().min(SHOWN)].chunks(8) {
        let texts: Vec<_> = line.iter().map(|word| format!("{word:08x}")).collect();
        writeln!(out, "    {}", texts.join(" "))?;
    }
    if words.len() > SHOWN {
        writeln!(out, "    {}", style::dim(format!("... {} more dwords", words.len() - SHOWN)))?;
    }
    Ok(())
}
