//! What `kernel` prints.

use std::error::Error;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use guestwave_cp::Completed;
use guestwave_translate::executor;
use serde::Serialize;

use crate::commands::{style, summary};
use crate::kernel::Placed;
use crate::replay::RefusalReport;

/// A launch's result, in the shape of `kernel --json`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// The file as it was named.
    pub(super) file: String,
    /// The kernel.
    pub(super) kernel: String,
    /// The processor that the code is for.
    pub(super) gpu: &'static str,
    /// Lanes of a wave.
    pub(super) wave_lanes: u8,
    /// Work-groups along each axis.
    pub(super) groups: [u32; 3],
    /// Threads of a work-group along each axis.
    pub(super) threads: [u32; 3],
    /// Whether it ran to its end.
    pub(super) ok: bool,
    /// Why it did not.
    pub(super) refusals: Vec<Refusal>,
    /// Counts.
    pub(super) stats: Stats,
    /// The output buffers.
    pub(super) outputs: Vec<Output>,
    /// Mnemonics of instructions whose result public documents leave open within a bound.
    pub(super) inexact: Vec<&'static str>,
}

/// Why a launch had no effect.
#[derive(Debug, Serialize)]
pub(super) struct Refusal {
    code: &'static str,
    text: String,
}

/// Counts of a launch.
#[derive(Debug, Default, Serialize)]
pub(super) struct Stats {
    waves: u64,
    instructions: u64,
    modules: u64,
    /// Bytes of buffers that the kernel stored.
    bytes_stored: u64,
    pub(super) wall_seconds: f64,
}

/// An output buffer.
#[derive(Debug, Serialize)]
pub(super) struct Output {
    /// Which argument it is.
    pub(super) argument: usize,
    /// Its bytes.
    pub(super) bytes: u64,
    /// The file that it was written to.
    pub(super) file: Option<String>,
    /// Its first bytes, to be shown.
    #[serde(skip)]
    pub(super) first: Vec<u8>,
}

impl Report {
    pub(super) fn refuse(&mut self, code: &'static str, error: &dyn Error) {
        let RefusalReport { code, text, .. } = RefusalReport::whole(code, error, 0);
        self.refusals.push(Refusal { code, text });
    }

    /// Adds a clause to the last refusal.
    pub(super) fn note(&mut self, clause: Option<String>) {
        if let (Some(refusal), Some(clause)) = (self.refusals.last_mut(), clause) {
            refusal.text = format!("{}; {clause}", refusal.text);
        }
    }

    /// Takes over what a translating executor counted.
    pub(super) fn count_modules(&mut self, stats: Option<&Mutex<executor::Stats>>) {
        let stats = stats.map(|s| s.lock().unwrap_or_else(PoisonError::into_inner).modules);
        self.stats.modules = stats.unwrap_or(0);
    }

    pub(super) fn complete(&mut self, done: &[Completed], buffers: &[Placed]) {
        self.ok = true;
        for completed in done {
            self.stats.waves += completed.waves;
            self.stats.instructions += completed.instructions;
            self.stats.bytes_stored += completed.stored.iter().map(|r| inside(r, buffers)).sum::<u64>();
            self.inexact.extend(&completed.inexact);
        }
    }

    pub(super) fn print(&self, json: bool, rows: usize, out: &mut dyn Write) -> io::Result<()> {
        if json {
            return writeln!(out, "{}", serde_json::to_string(self)?);
        }
        for refusal in &self.refusals {
            anstream::eprintln!("{} {}: {}", style::bad("refused:"), refusal.code, refusal.text);
        }
        if !self.ok {
            return Ok(());
        }
        self.headline(out)?;
        for output in &self.outputs {
            output.print(rows, out)?;
        }
        self.footer(out)
    }

    fn headline(&self, out: &mut dyn Write) -> io::Result<()> {
        let [groups, threads] = [self.groups, self.threads].map(|n| n.map(|n| n.to_string()).join("x"));
        let launch = format!("{}, wave{}, {groups} groups of {threads} threads", self.gpu, self.wave_lanes);
        writeln!(out, "{}  {launch}: {}", style::heading(&self.kernel), style::good("pass"))
    }

    fn footer(&self, out: &mut dyn Write) -> io::Result<()> {
        let s = &self.stats;
        let counts = format!("{} waves, {} bytes stored, {:.3} s", s.waves, s.bytes_stored, s.wall_seconds);
        writeln!(out, "  {}", style::dim(counts))?;
        match self.inexact.is_empty() {
            true => Ok(()),
            false => writeln!(out, "  {} {}", style::note("inexact instructions:"), self.inexact.join(", ")),
        }
    }
}

/// Bytes of a range that lie in buffers.
fn inside(range: &std::ops::Range<u64>, buffers: &[Placed]) -> u64 {
    let part = |b: &Placed| range.end.min(b.address + b.bytes).saturating_sub(range.start.max(b.address));
    buffers.iter().map(part).sum()
}

impl Output {
    fn print(&self, rows: usize, out: &mut dyn Write) -> io::Result<()> {
        let Output { argument, bytes, .. } = self;
        let title = style::heading(format!("argument {argument}:"));
        match &self.file {
            Some(file) => return writeln!(out, "  {title} {bytes} bytes to {file}"),
            None => writeln!(out, "  {title} {bytes} bytes")?,
        }
        let words = self.first.as_chunks().0.iter().map(|w| summary::word(Some(u32::from_le_bytes(*w))));
        for word in words.take(rows) {
            writeln!(out, "    {}", word.trim_end())?;
        }
        Ok(())
    }
}
