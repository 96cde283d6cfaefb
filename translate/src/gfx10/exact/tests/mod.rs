//! Every sequence against the reference: the same bits for the same sources, modes and modifiers.
//!
//! A row is built into a program of one operation, which the plain evaluator runs on many operands at once.

mod chains;
mod costs;
mod fast;
mod machine;
mod operands;
mod quad;
mod rounding;

use std::collections::{BTreeMap, BTreeSet};

use guestwave_isa::gfx10::interp::alu::{self, VectorOp, vector_op};
use guestwave_isa::gfx10::{NumberKind, Op, VopMods};

use super::{Mode, VectorRow, vector_row};
use machine::{Lane, run};
use operands::{Kind, operands};

/// Operands of an operation in one setting; `GUESTWAVE_EXACT_CASES` sets another number.
const CASES: usize = 500;

/// MODE's eight float bits: with denormals flushed, kept, and flushed at one end or in one format only.
const NEAREST: [u8; 5] = [0x00, 0xf0, 0xc0, 0x50, 0xa0];

/// The same with results rounded up, down, to zero, and not alike in all formats.
const DIRECTED: [u8; 5] = [0xf5, 0xca, 0xff, 0x05, 0xf4];

fn cases() -> usize {
    std::env::var("GUESTWAVE_EXACT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES)
}

/// What MODE and modifiers a comparison is made in.
#[derive(Clone, Debug, Default)]
struct Setting {
    float: u8,
    dx10_clamp: bool,
    ieee: bool,
    mods: VopMods,
}

impl Setting {
    fn mode(&self) -> Mode {
        Mode { float: self.float, dx10_clamp: self.dx10_clamp, ieee: self.ieee }
    }

    fn reference_mode(&self) -> alu::Mode {
        let bit = |b: bool, at: u32| u32::from(b) << at;
        alu::Mode { bits: u32::from(self.float) | bit(self.dx10_clamp, 8) | bit(self.ieee, 9) }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Setting { float, dx10_clamp, ieee, mods } = self;
        let VopMods { neg, abs, clamp, omod, op_sel, op_sel_hi, .. } = mods;
        write!(
            f,
            "float {float:#x} dx10 {dx10_clamp} ieee {ieee}: neg {neg} abs {abs} clamp {clamp} omod {omod}"
        )?;
        write!(f, " op_sel {op_sel}, {op_sel_hi}")
    }
}

/// Kinds and widths of an operation's sources, masks left out.
fn kinds(op: Op) -> Vec<Kind> {
    let row = op.rows().next().unwrap();
    let sources = row.src.iter().flatten().filter(|s| s.kind != NumberKind::Mask);
    sources.map(|s| Kind { number: s.kind, bits: s.bits }).collect()
}

fn is_float(op: Op) -> bool {
    let of = |kind| matches!(kind, NumberKind::Float | NumberKind::PackedFloat);
    let row = op.rows().next().unwrap();
    row.dst.iter().flatten().any(|d| of(d.kind)) || kinds(op).iter().any(|k| of(k.number))
}

/// Settings that differ for an operation.
fn settings(op: Op, packed: bool) -> Vec<Setting> {
    let plain = Setting { float: 0xf0, dx10_clamp: true, ..Setting::default() };
    let clamp = VopMods { clamp: true, op_sel_hi: 7, ..VopMods::default() };
    let none = VopMods { op_sel_hi: 7, ..VopMods::default() };
    let mut all = Vec::new();
    let floats: &[u8] = if is_float(op) { &NEAREST } else { &[0xf0] };
    for &float in floats {
        for ieee in [false, true].into_iter().take(floats.len()) {
            all.push(Setting { float, ieee, mods: none, ..plain.clone() });
        }
        for dx10_clamp in [false, true].into_iter().take(floats.len()) {
            all.push(Setting { float, dx10_clamp, mods: clamp, ..plain.clone() });
        }
        if is_float(op) && !packed {
            all.extend((1..4).map(|omod| Setting { float, mods: VopMods { omod, ..none }, ..plain.clone() }));
            all.push(Setting { float, mods: VopMods { omod: 1, ..clamp }, ..plain.clone() });
        }
    }
    if packed {
        all.extend(packed_settings(&plain));
    }
    all
}

/// Halves and signs chosen in every way that one modifier at a time can.
fn packed_settings(plain: &Setting) -> Vec<Setting> {
    let mut mods = Vec::new();
    for bits in 0..8 {
        mods.push(VopMods { op_sel: bits, op_sel_hi: 7, ..VopMods::default() });
        mods.push(VopMods { op_sel_hi: bits, ..VopMods::default() });
        mods.push(VopMods { neg: bits, op_sel_hi: 7, ..VopMods::default() });
        mods.push(VopMods { abs: bits, op_sel_hi: 7 - bits, op_sel: bits, ..VopMods::default() });
    }
    mods.into_iter().map(|mods| Setting { mods, ..plain.clone() }).collect()
}

fn reference(op: Op, setting: &Setting, lane: &Lane) -> Lane {
    let row = vector_op(op).unwrap();
    let outcome = row.evaluate(&setting.reference_mode(), lane.sources, lane.mask, &setting.mods);
    Lane { sources: [outcome.value, 0, 0], mask: outcome.mask }
}

/// The first lanes that differ, in words.
fn differences(op: Op, row: &VectorRow, setting: &Setting, lanes: &[Lane]) -> Vec<String> {
    let widths: Vec<u16> = kinds(op).iter().map(|k| k.bits).collect();
    let found = run(row, &setting.mode(), &setting.mods, &widths, lanes);
    let wrong = lanes.iter().zip(&found).filter_map(|(lane, got)| {
        let want = reference(op, setting, lane);
        let all = u64::MAX >> (64 - row.output.bits());
        let same = (want.sources[0] ^ got.sources[0]) & all == 0 && want.mask == got.mask;
        (!same).then(|| {
            let (got, want) = ((got.sources[0], got.mask), (want.sources[0], want.mask));
            format!("{op:?} of {:x?} and {}: {got:x?} for {want:x?} in {setting}", lane.sources, lane.mask)
        })
    });
    wrong.collect()
}

fn is_quad(op: Op) -> bool {
    matches!(vector_op(op).map(|r| r.kind), Some(VectorOp::Quad(_)))
}

/// Operations with a row here and in the reference that the differential test can call.
fn comparable() -> impl Iterator<Item = (Op, VectorRow)> {
    Op::all()
        .filter(|op| vector_op(*op).is_some() && !is_quad(*op))
        .filter_map(|op| Some((op, vector_row(op)?)))
}

fn compare_all(settings: impl Fn(Op, bool) -> Vec<Setting>, part: fn(Op) -> bool) {
    let mut report = String::new();
    for (op, row) in comparable().filter(|(op, _)| part(*op)) {
        let all = operands(&kinds(op), 3 * cases(), op.index() as u64);
        let packed = matches!(row.kind, super::VectorKind::Packed(_));
        // Each setting has its own share, so that together they have each operand more than once.
        let shares = all.len().div_ceil(cases());
        let mut wrong = Vec::new();
        for (i, setting) in settings(op, packed).into_iter().enumerate() {
            let lanes: Vec<Lane> = all.iter().skip(i % shares).step_by(shares).copied().collect();
            wrong.extend(differences(op, &row, &setting, &lanes));
        }
        if let [first, ..] = &wrong[..] {
            report += &format!("{first} (the first of {})\n", wrong.len());
        }
    }
    assert!(report.is_empty(), "{report}");
}

#[test]
fn integer_operations_agree_with_the_reference() {
    compare_all(settings, |op| !is_float(op));
}

#[test]
fn float_operations_agree_with_the_reference() {
    compare_all(settings, is_float);
}

#[test]
fn directed_rounding_agrees_with_the_reference() {
    let directed = |_, _| {
        let mods = VopMods { op_sel_hi: 7, ..VopMods::default() };
        DIRECTED.map(|float| Setting { float, dx10_clamp: true, mods, ..Setting::default() }).to_vec()
    };
    compare_all(directed, is_float);
}

/// The rows of a checked-in table: an operation's name and a reason.
fn listed(text: &'static str) -> BTreeMap<&'static str, &'static str> {
    text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split_once('\t').unwrap()).collect()
}

#[test]
fn operations_without_a_row_are_listed_with_a_reason() {
    let missing: BTreeSet<&str> = Op::all()
        .filter(|op| vector_op(*op).is_some() && vector_row(*op).is_none())
        .map(|op| op.name())
        .collect();
    let gaps = listed(include_str!("gaps.tsv"));
    assert_eq!(missing, gaps.keys().copied().collect());
    assert!(gaps.values().all(|why| !why.is_empty()));
}

#[test]
fn rows_have_the_references_outputs() {
    for (op, row) in comparable() {
        let reference = vector_op(op).unwrap();
        assert_eq!(row.approximate, reference.approximate, "{op:?}");
        if !matches!(reference.kind, VectorOp::Compare(_)) {
            assert_eq!(u32::from(row.output.bits()), reference.output.bits(), "{op:?}");
        }
    }
}
