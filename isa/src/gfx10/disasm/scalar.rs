//! SOPK and SOPP: the many ways to write SIMM16.

use super::constant::small;
use super::{Flags, Mods, Place, Target, Text};
use crate::gfx10::names::{hwreg, message};

/// The counters of `s_waitcnt`: name, and the bit fields that make its value, low part first.
const COUNTERS: [(&str, &[(u16, u16)]); 3] =
    [("vmcnt", &[(0, 4), (14, 2)]), ("expcnt", &[(4, 3)]), ("lgkmcnt", &[(8, 6)])];

/// A way to write SIMM16.
type Way = fn(u16, Target) -> String;

/// The ways, by the row's flag.
const WAYS: [(Flags, Way); 7] = [
    (Flags::HEX, |v, _| format!("{v:#x}")),
    (Flags::SMALL, |v, _| small(v)),
    (Flags::BRANCH, |v, _| v.to_string()),
    (Flags::OPTIONAL, |v, _| v.to_string()),
    (Flags::WAITCNT, |v, _| waitcnt(v)),
    (Flags::SENDMSG, |v, _| sendmsg(v)),
    (Flags::HWREG, hwreg_text),
];

impl Text<'_> {
    fn simm(&self) -> u16 {
        if let Mods::Simm(value) = self.inst.mods { value } else { 0 }
    }

    /// SIMM16 in the way that the row's flag names, if the operation has it.
    fn simm_text(&self) -> Option<String> {
        let value = self.simm();
        let absent = self.has(Flags::OPTIONAL) && value == 0;
        let (_, way) = WAYS.iter().find(|(flag, _)| self.has(*flag) && !absent)?;
        Some(way(value, self.target))
    }

    pub(super) fn sopp(&mut self) {
        self.operands.extend(self.simm_text());
    }

    /// SDST then SIMM16; a hardware register that is written to comes first.
    pub(super) fn sopk(&mut self) {
        self.destination(0);
        let reads = self.row.src[0].is_some() && self.row.dst[0].is_none();
        let register = reads.then(|| self.source(0));
        let simm = self.simm_text();
        let written_first = self.has(Flags::HWREG) || self.row.src_places[0] == Place::Literal;
        self.operands
            .extend(if written_first { [simm, register] } else { [register, simm] }.into_iter().flatten());
    }
}

/// The counters that are waited for; all of them if none is.
fn waitcnt(value: u16) -> String {
    let field = |(lsb, width): (u16, u16), from: u16| (from >> lsb) & ((1 << width) - 1);
    let counter = |parts: &[(u16, u16)], from| {
        parts.iter().rev().fold(0, |high, part| high << part.1 | field(*part, from))
    };
    let text = |(name, parts): &(&str, &[(u16, u16)])| format!("{name}({})", counter(parts, value));
    let waits = |(_, parts): &&(&str, &[(u16, u16)])| counter(parts, value) != counter(parts, u16::MAX);
    let mut shown: Vec<String> = COUNTERS.iter().filter(waits).map(text).collect();
    if shown.is_empty() {
        shown = COUNTERS.iter().map(text).collect();
    }
    shown.join(" ")
}

/// A named message, its three fields if they are all of the number, or else the number.
fn sendmsg(value: u16) -> String {
    let (id, operation, stream) = (value & 15, value >> 4 & 7, value >> 8 & 3);
    match message(id, operation) {
        Some(m) if m.stream || stream == 0 => {
            let operation = m.operation.map_or(String::new(), |(_, name)| format!(", {name}"));
            let stream = if m.stream { format!(", {stream}") } else { String::new() };
            format!("sendmsg({}{operation}{stream})", m.name)
        }
        _ if value == id | operation << 4 | stream << 8 => format!("sendmsg({id}, {operation}, {stream})"),
        _ => value.to_string(),
    }
}

/// The register, and offset and size unless they are all of it.
fn hwreg_text(value: u16, target: Target) -> String {
    let (id, offset, size) = (value & 63, value >> 6 & 31, (value >> 11) + 1);
    let name = hwreg(id, target).map_or_else(|| id.to_string(), str::to_owned);
    match (offset, size) {
        (0, 32) => format!("hwreg({name})"),
        _ => format!("hwreg({name}, {offset}, {size})"),
    }
}
