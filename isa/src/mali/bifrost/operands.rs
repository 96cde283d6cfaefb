//! Operands of a Bifrost word that stands by itself.

use crate::mali::word::Operands;

/// Source codes of the ADD unit: three ports, the FMA unit's result, both halves of the fast-access uniform, the results of the
/// previous tuple's units.
const SOURCES: [&str; 8] = ["r0", "r1", "r2", "t", "#0.x", "#0.y", "t0", "t1"];

/// A word without its clause: ports instead of registers.
#[derive(Debug)]
pub(super) struct Ports;

/// What a word by itself shows where the clause would tell a register.
fn placeholder(kind: &str) -> &'static str {
    match kind {
        "staging" => "@r8",
        "fma_result" => "t0",
        _ => "t1",
    }
}

impl Operands for Ports {
    fn print(&self, kind: &str, value: u32, out: &mut String) {
        *out += match kind {
            "add_source" => SOURCES[(value & 7) as usize],
            // The FMA unit reads 0 where the ADD unit reads the FMA unit's result.
            "fma_source" if value == 3 => "#0",
            "fma_source" => SOURCES[(value & 7) as usize],
            _ => placeholder(kind),
        };
    }

    fn parse(&self, kind: &str, text: &str) -> Option<(u32, u32, usize)> {
        if !matches!(kind, "add_source" | "fma_source") {
            let shown = placeholder(kind);
            return text.starts_with(shown).then_some((0, 0, shown.len()));
        }
        // A comma ends a source, or a dot that begins a modifier; `#0.x` has a dot of its own.
        let first = text.find(',').unwrap_or(text.len());
        let ends = [first, text.find(".neg").unwrap_or(first), text.find(".h1").unwrap_or(first)];
        let end = ends.into_iter().min()?;
        let shown = text.get(..end)?;
        let code = match (kind, shown) {
            ("fma_source", "#0") => 3,
            _ => SOURCES.iter().position(|s| *s == shown)? as u32,
        };
        Some((code, u32::MAX, end))
    }
}
