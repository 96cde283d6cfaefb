//! Operands of a Bifrost word that stands by itself.

use crate::mali::word::Operands;

/// Source codes: three ports, the FMA unit's result, both halves of the fast-access uniform, the results of the
/// previous tuple's units.
const SOURCES: [&str; 8] = ["r0", "r1", "r2", "t", "#0.x", "#0.y", "t0", "t1"];

/// A word without its clause: ports instead of registers.
#[derive(Debug)]
pub(super) struct Ports;

/// What a word by itself shows where the clause would tell a register.
fn placeholder(kind: &str) -> &'static str {
    match kind {
        "staging" => "@r8",
        _ => "t1",
    }
}

impl Operands for Ports {
    fn print(&self, kind: &str, value: u32, out: &mut String) {
        *out += match kind {
            "add_source" => SOURCES[(value & 7) as usize],
            _ => placeholder(kind),
        };
    }

    fn parse(&self, kind: &str, text: &str) -> Option<(u32, u32, usize)> {
        if kind != "add_source" {
            let shown = placeholder(kind);
            return text.starts_with(shown).then_some((0, 0, shown.len()));
        }
        let end = text.find(',').unwrap_or(text.len());
        let code = SOURCES.iter().position(|s| text.get(..end) == Some(s))?;
        Some((code as u32, u32::MAX, end))
    }
}
