//! Registers and special sources.

use super::{Operand, OperandSpec, Text};
use crate::gfx10::names::{SGPRS, ranged};
use crate::gfx10::{Special, sreg};

/// The special sources' names.
const SPECIALS: [(Special, &str); 9] = [
    (Special::SharedBase, "src_shared_base"),
    (Special::SharedLimit, "src_shared_limit"),
    (Special::PrivateBase, "src_private_base"),
    (Special::PrivateLimit, "src_private_limit"),
    (Special::PopsExitingWaveId, "src_pops_exiting_wave_id"),
    (Special::VccZ, "src_vccz"),
    (Special::ExecZ, "src_execz"),
    (Special::Scc, "src_scc"),
    (Special::LdsDirect, "src_lds_direct"),
];

impl Text<'_> {
    /// An operand of a shape; an absent one is `off`.
    pub(super) fn operand(&self, operand: Operand, spec: &OperandSpec) -> String {
        match operand {
            Operand::None => "off".to_owned(),
            Operand::Vgpr(first) => vgprs(first, spec.dwords(self.wave)),
            Operand::Sgpr(first) => sgprs(first, spec.dwords(self.wave)),
            Operand::Special(special) => special_name(special).to_owned(),
            Operand::Int(value) => value.to_string(),
            Operand::Float(constant) => self.inline_float(constant, spec),
            Operand::Literal(word) => self.literal(word, spec),
        }
    }

    /// The operand in `src[i]` without modifiers.
    pub(super) fn source(&self, i: usize) -> String {
        self.row.src[i].map(|spec| self.operand(self.inst.src[i], &spec)).unwrap_or_default()
    }
}

fn special_name(special: Special) -> &'static str {
    SPECIALS.iter().find(|(s, _)| *s == special).map_or("", |(_, name)| name)
}

/// So many registers from the first, `v4` or `v[4:7]`.
pub(super) fn vgprs(first: u8, dwords: u8) -> String {
    run("v", first, dwords)
}

fn run(prefix: &str, first: u8, dwords: u8) -> String {
    match dwords {
        0 | 1 => format!("{prefix}{first}"),
        _ => format!("{prefix}[{first}:{}]", u16::from(first) + u16::from(dwords) - 1),
    }
}

/// The same of scalar registers. A wave64 mask in a misaligned pair is written as the aligned one, as hardware reads
/// it.
fn sgprs(first: u8, dwords: u8) -> String {
    match (first, dwords) {
        (_, 0 | 1) => ranged(&SGPRS, first.into()).unwrap_or_default(),
        (sreg::VCC_LO, 2) => "vcc".to_owned(),
        (sreg::NULL, 2) => "null".to_owned(),
        (sreg::EXEC_LO, 2) => "exec".to_owned(),
        (sreg::TTMP0.., _) => run("ttmp", (first - sreg::TTMP0) & !u8::from(dwords == 2), dwords),
        _ => run("s", first & !u8::from(dwords == 2), dwords),
    }
}
