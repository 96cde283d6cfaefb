//! A clause as text.

use super::{ADD, Clause, FMA, HEADER, Ports};
use crate::mali::word::Operands;

/// The header's own operands.
#[derive(Debug)]
pub(super) struct HeaderOperands;

impl Operands for HeaderOperands {
    fn print(&self, kind: &str, value: u32, out: &mut String) {
        if kind == "wait" && value != 0 {
            let slots: Vec<_> = (0..8).filter(|slot| value >> slot & 1 == 1).map(|s| s.to_string()).collect();
            *out += &format!(" dwb({})", slots.join(", "));
        }
    }

    /// Headers are not read from text: it does not tell the staging register.
    fn parse(&self, _: &str, _: &str) -> Option<(u32, u32, usize)> {
        None
    }
}

/// Codes of special values that stand below the constants, by number.
const SPECIALS: [(u8, &str); 7] = [
    (0, "#0"),
    (1, "lane_id"),
    (2, "warp_id"),
    (3, "core_id"),
    (4, "framebuffer_size"),
    (5, "atest_datum"),
    (6, "sample"),
];
/// Which constant a code's high four bits name.
const CONSTANT_CODES: [u8; 6] = [4, 5, 6, 7, 2, 3];

/// A tuple in its clause: what its operands name.
#[derive(Debug)]
struct TupleOperands<'a> {
    clause: &'a Clause,
    number: usize,
}

pub(super) fn lines(clause: &Clause) -> Vec<String> {
    let mut lines = vec![HEADER.disassemble(&clause.header)];
    for (number, tuple) in clause.tuples.iter().enumerate() {
        let operands = TupleOperands { clause, number };
        lines.push(FMA.print_with(&tuple.fma, &operands));
        lines.push(ADD.print_with(&tuple.add, &operands));
    }
    lines
}

impl TupleOperands<'_> {
    fn ports(&self) -> Option<Ports> {
        self.clause.tuples.get(self.number).map(|t| t.ports)
    }

    /// The register that a unit's result goes to: the next tuple's block says it, the first one's for the last tuple.
    fn written(&self, fma: bool) -> Option<u8> {
        let last = self.number + 1 == self.clause.tuples.len();
        let next = if last { 0 } else { self.number + 1 };
        let ports = self.clause.tuples.get(next)?.ports;
        let uses = ports.uses(next == 0)?;
        match fma {
            true if uses.port2.writes() => Some(ports.register2()),
            _ if uses.port3.writes() && uses.fma == fma => Some(ports.register3()),
            _ => None,
        }
    }

    fn result(&self, fma: bool) -> String {
        let name = if fma { "t0" } else { "t1" };
        self.written(fma).map_or_else(|| name.to_owned(), |register| format!("r{register}:{name}"))
    }

    fn source(&self, code: u32, fma: bool) -> String {
        let Some(ports) = self.ports() else { return String::new() };
        match code {
            0 => format!("r{}", ports.register0()),
            1 => format!("r{}", ports.register1()),
            2 => format!("r{}", ports.register2()),
            3 if fma => "#0".to_owned(),
            3 => "t".to_owned(),
            6 => "t0".to_owned(),
            7 => "t1".to_owned(),
            half => self.fau(ports.fau(), half == 5),
        }
    }

    fn fau(&self, code: u8, high: bool) -> String {
        if code & 0x80 != 0 {
            return format!("u{}.w{}", code & 0x7f, u8::from(high));
        }
        if code >= 0x20 {
            return self.constant(code, high);
        }
        let named = SPECIALS.iter().find(|s| s.0 == code).map(|s| s.1.to_owned());
        let blend = || format!("blend_descriptor_{}", code & 7);
        let name = named.unwrap_or_else(|| if code & 0x18 == 8 { blend() } else { format!("special{code}") });
        format!("{name}.{}", if high { 'y' } else { 'x' })
    }

    fn constant(&self, code: u8, high: bool) -> String {
        let place = CONSTANT_CODES.iter().position(|c| *c == code >> 4);
        let constant = place.and_then(|p| self.clause.constants.get(p)).copied().unwrap_or(0);
        let bits = ((constant | u64::from(code & 15)) >> (32 * u32::from(high))) as u32;
        format!("0x{bits:08x} /* {:.6} */", f32::from_bits(bits))
    }
}

impl Operands for TupleOperands<'_> {
    fn print(&self, kind: &str, value: u32, out: &mut String) {
        *out += &match kind {
            "add_source" => self.source(value, false),
            "fma_source" => self.source(value, true),
            "add_result" => self.result(false),
            "fma_result" => self.result(true),
            "staging" => format!("@r{}", self.clause.header.field("staging_register").unwrap_or(0)),
            _ => String::new(),
        };
    }

    /// Tuples are not read from text.
    fn parse(&self, _: &str, _: &str) -> Option<(u32, u32, usize)> {
        None
    }
}
