//! Cases of every ALU operation, computed by an independent model or printed in public manuals.
//!
//! `alu_cases.tsv` has one a row: operation, MODE, sources, modifiers, result, and the destination mask's bit or the
//! new SCC ("-": none). Numbers are hexadecimal except in modifiers. Scalar sources are as [`ScalarFn`] takes them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what must not happen")]

use std::collections::{BTreeMap, BTreeSet};

use guestwave_isa::gfx10::interp::alu::{Mode, ScalarFn, VectorOp, VectorRow, scalar_op, vector_op};
use guestwave_isa::gfx10::{Op, VopMods};

struct Case<'a> {
    text: &'a str,
    op: Op,
    mode: Mode,
    sources: [u64; 3],
    modifiers: &'a str,
    value: u64,
    flag: Option<bool>,
}

fn cases() -> Vec<Case<'static>> {
    let by_name: BTreeMap<&str, Op> = Op::all().map(|op| (op.name(), op)).collect();
    let hex = |text: &str| u64::from_str_radix(text, 16).unwrap();
    let parse = |text: &'static str| {
        let [op, mode, sources, modifiers, value, flag] = text.split('\t').collect::<Vec<_>>()[..] else {
            panic!("six columns: {text}")
        };
        let mut padded = [0; 3];
        sources.split(' ').zip(&mut padded).for_each(|(from, to)| *to = hex(from));
        Case {
            text,
            op: by_name[op],
            mode: Mode { bits: hex(mode) as u32 },
            sources: padded,
            modifiers,
            value: hex(value),
            flag: (flag != "-").then_some(flag == "1"),
        }
    };
    include_str!("alu_cases.tsv").lines().filter(|l| !l.starts_with('#')).map(parse).collect()
}

impl Case<'_> {
    fn has(&self, word: &str) -> bool {
        self.modifiers.split(' ').any(|w| w == word)
    }

    fn number(&self, name: &str) -> u8 {
        let value = self.modifiers.split(' ').find_map(|w| w.strip_prefix(name)?.strip_prefix('='));
        value.map_or(0, |v| v.parse().unwrap())
    }

    fn mods(&self) -> VopMods {
        VopMods {
            neg: self.number("neg"),
            abs: self.number("neg_hi"),
            clamp: self.has("clamp"),
            omod: self.number("omod"),
            op_sel: self.number("op_sel"),
            op_sel_hi: self.number("op_sel_hi"),
            ..VopMods::default()
        }
    }

    fn check_vector(&self, row: &VectorRow) {
        let out = row.evaluate(&self.mode, self.sources, self.has("mask"), &self.mods());
        assert_eq!(out.value, self.value, "{} gave {:x}", self.text, out.value);
        assert_eq!(out.mask, self.flag.unwrap_or(false), "mask of {}", self.text);
    }

    fn check_scalar(&self, function: ScalarFn) {
        let out = function(self.sources[0], self.sources[1], self.has("scc"));
        assert_eq!(out.value, self.value, "{} gave {:x}", self.text, out.value);
        assert_eq!(out.scc, self.flag, "SCC of {}", self.text);
    }
}

#[test]
fn every_case_holds() {
    for case in cases() {
        match (vector_op(case.op), scalar_op(case.op)) {
            (Some(row), None) => case.check_vector(row),
            (None, Some(function)) => case.check_scalar(function),
            _ => panic!("{} is one of scalar and vector", case.text),
        }
    }
}

#[test]
fn every_operation_has_a_case() {
    let tested: BTreeSet<Op> = cases().iter().map(|c| c.op).collect();
    let meant = |&op: &Op| match vector_op(op) {
        Some(row) => !matches!(row.kind, VectorOp::Quad(_)),
        None => scalar_op(op).is_some(),
    };
    let untested: Vec<Op> = Op::all().filter(meant).filter(|op| !tested.contains(op)).collect();
    assert!(untested.is_empty(), "{untested:?}");
}

/// The one operation with operands too wide for a row of the table.
#[test]
fn quad_sums_take_four_accumulators() {
    let Some(VectorOp::Quad(f)) = vector_op(Op::V_MQSAD_U32_U8).map(|row| row.kind) else { panic!("a quad") };
    let bytes = u64::from_le_bytes([1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(f(bytes, 0x0001_0001, [0, 10, 20, u32::MAX], false), [2, 10 + 1 + 3, 20 + 2 + 4, 7]);
    assert_eq!(f(bytes, 0x0001_0001, [0, 10, 20, u32::MAX], true), [2, 10 + 1 + 3, 20 + 2 + 4, u32::MAX]);
}
