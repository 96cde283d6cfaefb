//! Sources and staging registers of Valhall words as text.

use super::super::operand::{CONSTANTS, SPECIALS, Source};
use crate::mali::word::Operands;

/// First code of the constants, and of the special values.
const CONSTANT: u32 = 192;
const SPECIAL: u32 = 224;

/// The Valhall way to write operands.
#[derive(Debug)]
pub(super) struct ValhallOperands;

/// The operand in a source field: the code in bits 0 to 7, the page in bits 8 and 9.
fn source(value: u32) -> Option<Source> {
    Source::decode((value & 0xff) as u8, (value >> 8 & 3) as u8)
}

impl Operands for ValhallOperands {
    fn knows(&self, kind: &str, value: u32) -> bool {
        kind != "source" || source(value).is_some()
    }

    fn print(&self, kind: &str, value: u32, out: &mut String) {
        match kind {
            "source" => *out += &source(value).map_or_else(String::new, |s| s.to_string()),
            "register" => *out += &format!("r{value}"),
            _ => {
                let more = u32::from(kind == "staging_more");
                *out += &staging_text(value & 63, (value >> 6) + more);
            }
        }
    }

    fn parse(&self, kind: &str, text: &str) -> Option<(u32, u32, usize)> {
        match kind {
            "source" => parse_source(text),
            "register" => {
                let name = word(text);
                Some((numbered(name, "r", 64)?, u32::MAX, name.len()))
            }
            _ => {
                let (first, count, length) = parse_staging(text)?;
                let stored = count.checked_sub(u32::from(kind == "staging_more"))?;
                (stored < 8).then_some((first | stored << 6, u32::MAX, length))
            }
        }
    }
}

/// The word of letters, digits and underscores at the start of `text`.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// Bits of a source field that hold the code, and those with the page.
const CODE: u32 = 0xff;
const PAGED: u32 = 0x3ff;

fn parse_source(text: &str) -> Option<(u32, u32, usize)> {
    let last = text.starts_with('^');
    let name = word(text.get(usize::from(last)..)?);
    let length = name.len() + usize::from(last);
    if let Some(place) = constant(name) {
        return Some((CONSTANT + place, CODE, length));
    }
    if let Some(number) = numbered(name, "r", 64) {
        return Some((number | u32::from(last) << 6, CODE, length));
    }
    if let Some(number) = numbered(name, "u", 256) {
        return Some((128 | number & 63 | (number >> 6) << 8, PAGED, length));
    }
    let (page, number, _) = SPECIALS.iter().find(|(.., n)| *n == name)?;
    let half = match text.get(length..length + 3)? {
        ".w0" => 0,
        ".w1" => 1,
        _ => return None,
    };
    Some((SPECIAL | u32::from(*number) << 1 | half | u32::from(*page) << 8, PAGED, length + 3))
}

fn constant(name: &str) -> Option<u32> {
    let bits = u32::from_str_radix(name.strip_prefix("0x")?, 16).ok()?;
    CONSTANTS.iter().position(|c| *c == bits).map(|place| place as u32)
}

/// The number behind `prefix`, below `limit`.
fn numbered(name: &str, prefix: &str, limit: u32) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok().filter(|n| *n < limit)
}

fn staging_text(first: u32, count: u32) -> String {
    let names: Vec<_> = (first..first + count).map(|n| format!("r{n}")).collect();
    if count == 0 { format!("@r{first}:none") } else { format!("@{}", names.join(":")) }
}

/// First register, how many, and the length of the text.
fn parse_staging(text: &str) -> Option<(u32, u32, usize)> {
    let end = text.find([',', ' ']).unwrap_or(text.len());
    let listed = text.get(..end)?.strip_prefix('@')?;
    let mut names = listed.split(':');
    let first = numbered(names.next()?, "r", 64)?;
    if listed.ends_with(":none") {
        return Some((first, 0, end));
    }
    let mut count = 1;
    for name in names {
        (numbered(name, "r", 128)? == first + count).then_some(())?;
        count += 1;
    }
    Some((first, count, end))
}
