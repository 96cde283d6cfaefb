//! The opcode tables, one a family: their rows and what follows from them about an instruction's fixed bits.

use std::{collections::BTreeSet, path::Path};

use crate::layout::{Encoding, Layout, number, tsv, words};

pub(crate) const TARGETS: [&str; 3] = ["gfx1010", "gfx1013", "gfx1030"];

/// An operand token: `[field:]type[/file][modifiers]`.
#[derive(Clone)]
pub(crate) struct Operand {
    pub(crate) field: String,
    /// `f32`, `pf16`, `mask`, ...
    pub(crate) ty: String,
    /// `s` or `v`: scalar or vector only; `r`: no constants.
    pub(crate) file: Option<char>,
    /// `~`: NEG and ABS apply; `^`: NEG means sign extension.
    pub(crate) mods: Option<char>,
}

pub(crate) struct Row {
    pub(crate) encoding: String,
    pub(crate) opcode: u64,
    pub(crate) mnemonic: String,
    pub(crate) targets: u8,
    pub(crate) dst: Vec<Option<Operand>>,
    pub(crate) src: Vec<Option<Operand>>,
    pub(crate) flags: BTreeSet<String>,
    pub(crate) fixed: Fixed,
    pub(crate) sdwa: Fixed,
    pub(crate) dpp: Fixed,
}

/// Bits that must have a value.
#[derive(Clone, Copy, Default)]
pub(crate) struct Fixed {
    pub(crate) mask: u64,
    pub(crate) value: u64,
}

pub(crate) fn read_all(tables: &Path, layout: &Layout) -> Vec<Row> {
    let of_encoding = |e: &Encoding| {
        let path = tables.join(format!("{}.tsv", e.name.to_lowercase()));
        let rows: Vec<Row> = tsv(&path).iter().map(|r| Row::parse(e, r, layout)).collect();
        rows
    };
    layout.encodings.iter().flat_map(of_encoding).collect()
}

impl Operand {
    fn parse(token: &str, default: Option<&String>) -> Option<Self> {
        if token == "-" {
            return None;
        }
        let (field, rest) = match token.split_once(':') {
            Some((field, rest)) => (field.to_owned(), rest),
            None => (default.unwrap_or_else(|| panic!("no field for {token}")).clone(), token),
        };
        let mods = rest.chars().last().filter(|c| "~^".contains(*c));
        let rest = rest.trim_end_matches(['~', '^']);
        let (ty, file) = match rest.split_once('/') {
            Some((ty, file)) => (ty, file.chars().next()),
            None => (rest, None),
        };
        Some(Operand { field, ty: ty.to_owned(), file, mods })
    }
}

/// The operands of a column. `-` among others skips a place.
fn operands(column: &str, defaults: &[String]) -> Vec<Option<Operand>> {
    if column == "-" {
        return Vec::new();
    }
    column.split(' ').enumerate().map(|(i, t)| Operand::parse(t, defaults.get(i))).collect()
}

/// One bit a target.
pub(crate) fn targets(column: &str) -> u8 {
    if column == "all" {
        return (1 << TARGETS.len()) - 1;
    }
    let bit = |name: &str| 1 << TARGETS.iter().position(|t| *t == name).expect("a known target");
    column.split(',').map(bit).fold(0, |a, b| a | b)
}

impl Row {
    fn parse(e: &Encoding, r: &[String], layout: &Layout) -> Self {
        let mut row = Row {
            encoding: e.name.clone(),
            opcode: number(&r[0]),
            mnemonic: r[1].clone(),
            targets: targets(&r[2]),
            dst: operands(&r[3], &e.dst),
            src: operands(&r[4], &e.src),
            flags: words(&r[5]).into_iter().collect(),
            fixed: Fixed::default(),
            sdwa: Fixed::default(),
            dpp: Fixed::default(),
        };
        row.fixed = row.fixed_bits(layout, &e.name, &row.used());
        row.sdwa = row.sdwa_fixed(layout);
        row.dpp = row.fixed_bits(layout, "DPP16", &row.used_by_dpp());
        row
    }

    fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.dst.iter().chain(&self.src).flatten()
    }

    /// Names of the encoding's own fields that the operation uses.
    fn used(&self) -> BTreeSet<String> {
        let mut used: BTreeSet<String> = self.operands().map(|o| o.field.clone()).collect();
        used.extend(self.flags.iter().cloned());
        for (i, src) in self.src.iter().enumerate() {
            let Some(src) = src else { continue };
            let slot = src.field.strip_prefix("src").and_then(|n| n.parse().ok()).unwrap_or(i);
            if src.mods.is_some() {
                used.extend([format!("neg{slot}"), format!("abs{slot}")]);
            }
            if src.field.starts_with("src") {
                used.extend([format!("opsel{slot}"), format!("opselhi{slot}")]);
            }
        }
        used
    }

    fn used_by_dpp(&self) -> BTreeSet<String> {
        let free = self.flags.contains("ignore:dpp_mods");
        let slot = |(i, s): (usize, &Option<Operand>)| {
            (free || s.as_ref().is_some_and(|s| s.mods.is_some()))
                .then(|| [format!("neg{i}"), format!("abs{i}")])
        };
        self.src.iter().enumerate().filter_map(slot).flatten().collect()
    }

    fn used_by_sdwa(&self) -> BTreeSet<String> {
        let mut used: BTreeSet<String> = BTreeSet::from(["src0", "clamp"].map(str::to_owned));
        let has_dst = self.dst.first().is_some_and(|d| d.as_ref().is_some_and(|d| d.field == "vdst"));
        used.extend(has_dst.then(|| ["dst_sel", "dst_unused"].map(str::to_owned)).into_iter().flatten());
        used.extend(self.flags.contains("omod").then(|| "omod".to_owned()));
        for (i, src) in self.src.iter().flatten().enumerate().filter(|(_, s)| s.field.contains("src")) {
            let names: &[&str] = if src.mods == Some('~') { &["neg", "abs"] } else { &["sext"] };
            used.extend(names.iter().map(|n| format!("src{i}_{n}")));
            used.extend([format!("src{i}_sel"), format!("s{i}")]);
        }
        used
    }

    /// VOPC has SDST in place of the destination's fields; the `v_cmpx` have neither.
    fn sdwa_fixed(&self, layout: &Layout) -> Fixed {
        let mut fixed = self.fixed_bits(layout, "SDWA", &self.used_by_sdwa());
        if self.encoding == "VOPC" {
            let own = layout.fields_of("SDWAB").fold(0, |m, f| m | f.bits.mask());
            let exec = self.dst.iter().flatten().any(|d| d.field == "exec");
            let used = if exec { BTreeSet::new() } else { BTreeSet::from(["sd".to_owned()]) };
            let b = self.fixed_bits(layout, "SDWAB", &used);
            fixed.mask = fixed.mask & !own | b.mask;
        }
        fixed
    }

    /// Fields that are neither used nor free must be zero, those that the row sets have their value.
    fn fixed_bits(&self, layout: &Layout, encoding: &str, used: &BTreeSet<String>) -> Fixed {
        let has = |prefix: &str, name: &str| self.flags.contains(&format!("{prefix}:{name}"));
        let (mut zero, mut free, mut set) = (0, 0, 0);
        for f in layout.fields_of(encoding) {
            let mask = f.bits.mask();
            if has("set", &f.name) {
                set |= mask;
            } else if has("zero", &f.name) {
                zero |= mask;
            } else if used.contains(&f.name) || has("ignore", &f.name) {
                free |= mask;
            } else if f.absent_zero {
                zero |= mask;
            }
        }
        Fixed { mask: zero & !free | set, value: set }
    }
}
