//! `guestwave varyings decode`: the fields of descriptors.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use guestwave_cp::Refusal;
use guestwave_cp::mali::record::Record;
use guestwave_cp::mali::{AttributeBuffer, Generation, Version};
use guestwave_isa::format;

use crate::commands::{files, style};

/// Arguments of `varyings decode`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The GPU: a version (v9), a name (g57) or a product id (9093)
    #[arg(long)]
    gpu: String,
    /// The descriptor's name; without it the words tell
    #[arg(long)]
    record: Option<String>,
    /// Decode every row of a table with the columns job, kind, index, address, words
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "words"])]
    csv: Option<PathBuf>,
    /// The words in hexadecimal
    #[arg(value_name = "WORD", required_unless_present = "csv")]
    words: Vec<String>,
}

/// Exit status where something was refused.
const REFUSED: u8 = 2;

/// Prints the fields; the exit status is 2 if some words are no descriptor.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    let version = Version::named(&args.gpu)?;
    let Some(csv) = &args.csv else {
        let words = hex(args.words.iter().map(String::as_str))?;
        return show(version, args.record.as_deref(), &words, out);
    };
    table(version, &files::text(csv)?, out).with_context(|| csv.display().to_string())
}

/// Prints the descriptor of each row.
fn table(version: Version, text: &str, out: &mut dyn Write) -> Result<u8> {
    let mut lines = text.lines();
    lines.next().context("the table has no line of headings")?;
    let mut status = 0;
    let mut continued = None;
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let columns: Vec<_> = line.splitn(5, ',').collect();
        let [job, kind, index, address, words] = columns[..] else { bail!("not five columns: {line}") };
        writeln!(out, "{} {address}", style::heading(format!("{job} {kind} {index}")))?;
        let words = hex(words.split(' '))?;
        status = status.max(show(version, continued.take(), &words, out)?);
        continued = continuation(version, &words);
    }
    Ok(status)
}

fn hex<'a>(words: impl Iterator<Item = &'a str>) -> Result<Vec<u32>> {
    let word = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16);
    words.map(|text| word(text).with_context(|| format!("{text:?} is no word in hexadecimal"))).collect()
}

/// The record that has to follow one that needs a continuation.
fn continuation(version: Version, words: &[u32]) -> Option<&'static str> {
    AttributeBuffer::continuation(decode(version, None, words).ok()?.name())
}

/// What the words are: by name, or by their number and type.
fn decode(version: Version, record: Option<&str>, words: &[u32]) -> Result<Record, Refusal> {
    match (record, version.generation(), words.len()) {
        (Some(name), ..) => Record::decode(name, version, words),
        (None, Generation::Valhall, 4) => Record::decode("resource_entry", version, words),
        (None, Generation::Valhall, _) => Record::decode_any(&["attribute", "buffer_"], version, words),
        (None, _, 2) => Record::decode("attribute", version, words),
        (None, ..) => Record::decode_any(&["buffer_", "special_"], version, words),
    }
}

/// Whether some descriptor has so many words, the named one if there is a name.
fn check_count(version: Version, record: Option<&str>, words: usize) -> Result<()> {
    let fits = match (record, version.generation()) {
        (Some(name), _) => vec![Record::blank(name, version)?.encode().len()],
        (None, Generation::Valhall) => vec![4, 8],
        (None, _) => vec![2, 4],
    };
    if fits.contains(&words) {
        return Ok(());
    }
    let fits: Vec<_> = fits.iter().map(usize::to_string).collect();
    bail!(
        "{} of v{} has {} words, {words} are given",
        record.unwrap_or("a descriptor"),
        version.number(),
        fits.join(" or ")
    )
}

fn show(version: Version, record: Option<&str>, words: &[u32], out: &mut dyn Write) -> Result<u8> {
    check_count(version, record, words.len())?;
    let decoded = match decode(version, record, words) {
        Ok(decoded) => decoded,
        Err(refusal) => {
            writeln!(out, "  {}: {refusal}", style::bad(refusal.code()))?;
            return Ok(REFUSED);
        }
    };
    writeln!(out, "  {}", decoded.name())?;
    for (name, text) in decoded.texts() {
        writeln!(out, "    {}: {text}", style::name(name))?;
    }
    if let Some(word) = decoded.get("format") {
        writeln!(out, "    {}: {}", style::name("format"), format_text(version, word as u32))?;
    }
    Ok(0)
}

fn format_text(version: Version, word: u32) -> String {
    match format::mali(version.number(), word) {
        Ok(found) => format!("{} ({} bytes)", found.name, found.format.bytes()),
        Err(error) => error.to_string(),
    }
}
