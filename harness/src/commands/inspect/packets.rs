//! Packets with names, fields and registers.

use std::borrow::Cow;
use std::io::{self, Write};

use guestwave_cp::amd::decode::{FieldView, PacketView, Treatment};
use guestwave_cp::amd::{Register, describe};

use super::recorder::{Note, Step};
use crate::commands::style;

/// A packet as the printer sees it, whether it was carried out or not.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) view: PacketView<'a>,
    pub(super) depth: u32,
    pub(super) notes: &'a [Note],
}

impl<'a> From<&'a Step> for Shown<'a> {
    fn from(step: &'a Step) -> Self {
        let offset = step.at.packet_offset;
        let view = PacketView { offset, header: step.header, body: &step.body, truncated: false };
        Shown { view, depth: step.depth, notes: &step.notes }
    }
}

impl Shown<'_> {
    /// Whether the packet does nothing but set registers.
    fn only_registers(&self) -> bool {
        let sets = self.view.header.packet_type() == 0 || self.view.name().starts_with("SET_");
        sets && self.notes.is_empty() && self.view.register_writes().next().is_some()
    }

    /// Whether the packet is a filler of one dword.
    fn is_padding(&self) -> bool {
        self.view.body.is_empty() && matches!(self.view.treatment(), Treatment::Inert(_))
    }

    fn indent(&self) -> String {
        " ".repeat(2 + 2 * self.depth as usize)
    }
}

/// Cuts packets into groups that are printed together: runs that only set registers, padding, and single others.
pub(super) fn groups<'s, 'a>(shown: &'s [Shown<'a>]) -> impl Iterator<Item = &'s [Shown<'a>]> {
    let alike = |a: &Shown<'_>, b: &Shown<'_>| {
        a.only_registers() && b.only_registers() || a.is_padding() && b.is_padding()
    };
    shown.chunk_by(move |a, b| a.depth == b.depth && alike(a, b))
}

/// Prints a group of [`groups`], without the notes.
pub(super) fn print(group: &[Shown<'_>], out: &mut dyn Write) -> io::Result<()> {
    match group {
        [first, _, ..] if first.is_padding() => {
            let count = style::dim(format!("{} dwords of padding", group.len()));
            writeln!(out, "{}{} {count}", first.indent(), offset(&first.view))
        }
        [only] if !only.only_registers() => single(only, out),
        _ => registers(group, out),
    }
}

fn registers(group: &[Shown<'_>], out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = group.first() else { return Ok(()) };
    let indent = first.indent();
    let mut counts: Vec<(Cow<'static, str>, usize)> = Vec::new();
    for name in group.iter().map(|s| s.view.name()) {
        match counts.iter_mut().find(|(n, _)| *n == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let runs: Vec<_> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    writeln!(out, "{indent}{} {}", offset(&first.view), style::dim(runs.join(", ")))?;
    for (register, value) in group.iter().flat_map(|s| s.view.register_writes()) {
        writeln!(out, "{indent}       {}", register_line(register, value))?;
    }
    Ok(())
}

/// `NAME  0x0000007f  FIELD=1, ...`
pub(super) fn register_line(register: Register, value: u32) -> String {
    let name = register.to_string();
    let fields = describe(register).map_or(&[][..], |d| d.row.fields);
    let set: Vec<_> = fields
        .iter()
        .filter(|f| f.of(value) != 0)
        .map(|f| format!("{}={}", f.name, number(f.of(value))))
        .collect();
    let gap = " ".repeat(38usize.saturating_sub(name.len()));
    format!("{}{gap} {value:#010x}  {}", style::name(&name), set.join(", ")).trim_end().to_owned()
}

/// Small numbers in decimal, others in hexadecimal.
fn number(value: u32) -> String {
    if value < 1024 { value.to_string() } else { format!("{value:#x}") }
}

fn offset(view: &PacketView<'_>) -> String {
    style::dim(format!("{:#06x}", view.offset))
}

fn single(shown: &Shown<'_>, out: &mut dyn Write) -> io::Result<()> {
    let view = &shown.view;
    let event = view.event().map(|e| format!(" {}", style::note(e))).unwrap_or_default();
    let predicated = if view.header.predicated() { " (predicated)" } else { "" };
    let name = style::heading(view.name());
    let fields = fields(view);
    let inert = match view.treatment() {
        Treatment::CarriedOut => String::new(),
        Treatment::Inert(_) if view.body.is_empty() => String::new(),
        Treatment::Inert(reason) => style::dim(format!("  ({reason})")),
        Treatment::Refused(reason) => style::bad(format!("  (refused: {reason})")),
    };
    let cut = if view.truncated { style::bad(" cut off by the end of its buffer") } else { String::new() };
    writeln!(out, "{}{} {name}{event}{predicated}  {fields}{inert}{cut}", shown.indent(), offset(view))?;
    for (register, value) in view.register_writes() {
        writeln!(out, "{}       {}", shown.indent(), register_line(register, value))?;
    }
    Ok(())
}

fn fields(view: &PacketView<'_>) -> String {
    let told = |f: &FieldView| f.name == "EVENT_TYPE" && view.event().is_some();
    fields_text(view.fields().filter(|f| !told(f)))
}

/// The fields that are not zero; halves of an address are put together, payloads cut short.
pub(super) fn fields_text(fields: impl Iterator<Item = FieldView>) -> String {
    const SHOWN: usize = 12;
    let all: Vec<_> = fields.collect();
    let mut texts = Vec::new();
    let mut rest = all.as_slice();
    while let Some((field, tail)) = rest.split_first() {
        match tail.first().filter(|high| is_pair(field, high)) {
            Some(high) => {
                let value = u64::from(high.value) << 32 | u64::from(field.value);
                texts.extend(
                    (value != 0).then(|| format!("{}={value:#x}", field.name.trim_end_matches("_LO"))),
                );
                rest = &tail[1..];
            }
            None => {
                texts.extend((field.value != 0).then(|| format!("{}={}", field.name, number(field.value))));
                rest = tail;
            }
        }
    }
    match texts.len().saturating_sub(SHOWN) {
        0 => texts.join(" "),
        more => format!("{} ... {more} more", texts[..SHOWN].join(" ")),
    }
}

fn is_pair(low: &FieldView, high: &FieldView) -> bool {
    let stem = low.name.strip_suffix("_LO");
    stem.is_some() && stem == high.name.strip_suffix("_HI") && high.dword == low.dword + 1
}
