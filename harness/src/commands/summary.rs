//! What `replay` prints for people.

use std::io::{self, Write};

use guestwave_cp::Stage;

use super::style;
use crate::replay::{CapturedRows, Launch, NOT_REACHED, Outcome, RefusalReport, Report};

/// VGT_PRIMITIVE_TYPE by number.
const TOPOLOGIES: [(u32, &str); 16] = [
    (1, "points"),
    (2, "lines"),
    (3, "line strip"),
    (4, "triangles"),
    (5, "triangle fan"),
    (6, "triangle strip"),
    (9, "patches"),
    (10, "lines adj"),
    (11, "line strip adj"),
    (12, "triangles adj"),
    (13, "tri strip adj"),
    (17, "rectangles"),
    (18, "line loop"),
    (19, "quads"),
    (20, "quad strip"),
    (21, "polygon"),
];

/// The name of a primitive type.
pub(super) fn topology(primitive_type: u32) -> &'static str {
    TOPOLOGIES.iter().find(|(n, _)| *n == primitive_type).map_or("unknown topology", |(_, name)| name)
}

/// Prints one file's result.
pub(super) fn print(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let report = &outcome.report;
    headline(report, out)?;
    draws(&outcome.trace.launches, out)?;
    dispatches(&outcome.trace.launches, out)?;
    samples(outcome, out)?;
    for launch in &outcome.trace.launches {
        for rows in &launch.rows {
            captured(launch, rows, out)?;
        }
    }
    expectations(report, out)?;
    refusals("refused", &report.refusals, out)?;
    refusals("not drawn", &report.not_drawn, out)?;
    golden(report, out)?;
    footer(report, out)
}

fn headline(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let verdict = match report.exit_status() {
        0 => style::good("pass"),
        1 => style::bad("FAIL"),
        _ => style::bad("REFUSED"),
    };
    let Report { file, gpu, submissions, .. } = report;
    writeln!(out, "{}  {gpu}, {submissions} submissions: {verdict}", style::heading(file))
}

/// `sub 1 +0x1a4`: where a launch came from.
fn place(launch: &Launch) -> String {
    format!("{:>4} {:>#7x}", launch.submission, launch.packet_offset)
}

/// The hardware's names of a stage's programs.
pub(super) fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Compute => "CS",
        Stage::Vertex => "VS",
        Stage::EsGs => "ES+GS",
        Stage::LsHs => "LS+HS",
        Stage::Fragment => "PS",
    }
}

fn program(launch: &Launch) -> String {
    format!("{:#014x} wave{}", launch.program.address, launch.program.wave_lanes)
}

fn draws(launches: &[Launch], out: &mut dyn Write) -> io::Result<()> {
    let mut first = true;
    for launch in launches {
        let Some(draw) = &launch.draw else { continue };
        if std::mem::take(&mut first) {
            let columns = " sub  packet  topology        vertices  inst  prims written/needed  stage  program                waves  buffer: position in bytes";
            writeln!(out, "  {}\n  {}", style::heading("streamout draws"), style::dim(columns))?;
        }
        let prims = format!("{}/{}", draw.primitives_written, draw.primitives_needed);
        writeln!(
            out,
            "  {} {:<15} {:>8} {:>5} {:>21}  {:<5}  {} {:>6}  {}",
            place(launch).replacen(' ', "", 1),
            topology(draw.primitive_type),
            draw.vertices,
            draw.instances,
            prims,
            stage(launch.stage),
            program(launch),
            launch.waves,
            positions(launch),
        )?;
    }
    Ok(())
}

fn positions(launch: &Launch) -> String {
    let Some(draw) = &launch.draw else { return String::new() };
    let buffer = |b: usize| format!("{b}: {} -> {}", draw.positions_before[b], draw.positions_after[b]);
    let enabled = (0..4).filter(|b| draw.buffers >> b & 1 != 0);
    enabled.map(buffer).collect::<Vec<_>>().join(", ")
}

fn dispatches(launches: &[Launch], out: &mut dyn Write) -> io::Result<()> {
    let mut first = true;
    for launch in launches.iter().filter(|l| l.draw.is_none()) {
        if std::mem::take(&mut first) {
            let columns = " sub  packet  program                 threads   waves  instructions  bytes stored";
            writeln!(out, "  {}\n  {}", style::heading("compute dispatches"), style::dim(columns))?;
        }
        let stored: u64 = launch.stored.iter().map(|r| r.end - r.start).sum();
        writeln!(
            out,
            "  {} {} {:>8} {:>7} {:>13} {:>13}",
            place(launch).replacen(' ', "", 1),
            program(launch),
            launch.items,
            launch.waves,
            launch.instructions,
            stored,
        )?;
    }
    Ok(())
}

fn samples(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    if outcome.trace.samples.is_empty() {
        return Ok(());
    }
    let columns = "stream  address             needed   written";
    writeln!(out, "  {}\n  {}", style::heading("streamout counters sampled"), style::dim(columns))?;
    for s in &outcome.trace.samples {
        let [needed, written] = [s.needed, s.written].map(|v| v & (u64::MAX >> 1));
        writeln!(out, "  {:>6}  {:#014x} {:>11} {:>9}", s.stream, s.address, needed, written)?;
    }
    Ok(())
}

fn captured(launch: &Launch, rows: &CapturedRows, out: &mut dyn Write) -> io::Result<()> {
    let CapturedRows { buffer, address, count, rows } = rows;
    let stride = launch.strides[usize::from(*buffer)];
    let title = style::heading(format!("captured by submission {} into buffer {buffer}", launch.submission));
    let from = "rows begin at the first dword stored";
    writeln!(out, "  {title} at {address:#x}: {count} vertices of {stride} bytes {}", style::dim(from))?;
    for (i, row) in rows.iter().enumerate() {
        let words: Vec<_> = row.iter().map(|w| word(*w)).collect();
        writeln!(out, "  {i:>6}  {}", words.join("  ").trim_end())?;
    }
    match *count as usize > rows.len() {
        true => writeln!(out, "  {}", style::dim(format!("   ... {} more", *count as usize - rows.len()))),
        false => Ok(()),
    }
}

/// A dword in hexadecimal, and as a float where it is likely to be one, else as an integer.
pub(super) fn word(word: Option<u32>) -> String {
    let Some(word) = word else { return format!("{:<20}", "--------") };
    let value = f32::from_bits(word);
    let text = match value.is_nan() || value.is_subnormal() {
        true => (word as i32).to_string(),
        false => float(value),
    };
    format!("{word:08x} {text:<11}")
}

/// A float in at most ten characters, with a point to tell it from an integer.
fn float(value: f32) -> String {
    let short = format!("{value:?}");
    if short.len() <= 10 { short } else { format!("{value:.3e}") }
}

fn expectations(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let (held, failed): (Vec<_>, Vec<_>) = report.expectations.iter().partition(|e| e.ok);
    let (missed, failed): (Vec<_>, Vec<_>) =
        failed.into_iter().partition(|e| e.detail.starts_with(NOT_REACHED));
    for (title, count) in
        [("expectations that hold:", held.len()), ("expectations not reached:", missed.len())]
    {
        if count > 0 {
            writeln!(out, "  {} {count}", style::heading(title))?;
        }
    }
    for e in failed {
        let text: String = e.text.chars().take(60).collect();
        writeln!(out, "  {} {text}: {}", style::bad("expectation failed:"), e.detail)?;
    }
    Ok(())
}

fn refusals(title: &str, refusals: &[RefusalReport], out: &mut dyn Write) -> io::Result<()> {
    const SHOWN: usize = 4;
    for r in refusals.iter().take(SHOWN) {
        let place = format!("submission {}, packet at {:#x}", r.submission, r.packet_offset);
        writeln!(out, "  {} {place}: {}: {}", style::note(format!("{title}:")), r.code, r.text)?;
    }
    match refusals.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "  {}", style::dim(format!("... {more} more {title}"))),
    }
}

fn golden(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if report.golden.pages == 0 {
        return Ok(());
    }
    let title = style::heading("recorded pages:");
    writeln!(out, "  {title} {} compared, {} differ", report.golden.pages, report.golden.differ.len())?;
    for d in report.golden.differ.iter().take(8) {
        writeln!(
            out,
            "    submission {}, buffer object {} page {}: {} bytes, first at {:#x}: {}, recorded {}",
            d.submission, d.bo, d.page, d.bytes, d.first, d.ours, d.theirs
        )?;
    }
    Ok(())
}

fn footer(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let s = &report.stats;
    let line = format!(
        "{} packets, {} draws, {} dispatches, {} waves, {} instructions, {} bytes stored, {:.3} s",
        s.packets, s.draws, s.dispatches, s.waves, s.instructions, s.bytes_stored, s.wall_seconds
    );
    writeln!(out, "  {}", style::dim(line))?;
    match report.inexact.is_empty() {
        true => Ok(()),
        false => writeln!(out, "  {} {}", style::note("inexact instructions:"), report.inexact.join(", ")),
    }
}
