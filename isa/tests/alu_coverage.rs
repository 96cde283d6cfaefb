//! Every ALU operation of the opcode tables has a meaning at the level of values, or a reason for having none.

#![expect(clippy::unwrap_used, reason = "a test may stop at what must not happen")]

use std::collections::{BTreeMap, BTreeSet};

use guestwave_isa::gfx10::interp::alu::{Mode, scalar_op, vector_op};
use guestwave_isa::gfx10::{Op, VopMods};

const TABLES: [&str; 9] = ["sop1", "sop2", "sopc", "sopk", "vop1", "vop2", "vop3", "vop3p", "vopc"];

/// The mnemonics of the ALU encodings.
fn mnemonics() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for table in TABLES {
        let path = format!("{}/tables/gfx10/{table}.tsv", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let rows = text.lines().filter(|l| !l.starts_with('#'));
        all.extend(rows.map(|row| row.split('\t').nth(1).unwrap().to_owned()));
    }
    all
}

fn reasons() -> BTreeMap<String, String> {
    let rows = include_str!("alu_gaps.tsv").lines().filter(|l| !l.starts_with('#'));
    rows.map(|row| row.split_once('\t').unwrap()).map(|(op, why)| (op.to_owned(), why.to_owned())).collect()
}

#[test]
fn operations_without_a_meaning_are_listed_with_a_reason() {
    let by_name: BTreeMap<&str, Op> = Op::all().map(|op| (op.name(), op)).collect();
    let missing: BTreeSet<String> = mnemonics()
        .into_iter()
        .filter(|name| {
            vector_op(by_name[name.as_str()]).is_none() && scalar_op(by_name[name.as_str()]).is_none()
        })
        .collect();
    let listed: BTreeSet<String> = reasons().into_keys().collect();
    assert_eq!(missing, listed);
    assert!(reasons().values().all(|why| !why.is_empty()));
}

#[test]
fn no_operation_is_both_scalar_and_vector() {
    assert!(Op::all().all(|op| vector_op(op).is_none() || scalar_op(op).is_none()));
}

#[test]
fn a_row_stands_at_its_own_operation() {
    assert!(Op::all().all(|op| vector_op(op).is_none_or(|row| row.op == op)));
}

/// Sources, modes and modifiers of any bits, also past the operands' widths, are computed without a panic.
#[test]
fn any_bits_are_computed() {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        seed ^ seed >> 31 | if seed & 7 == 0 { u64::MAX << (seed >> 58) } else { 0 }
    };
    for op in Op::all() {
        for _ in 0..200 {
            let sources = [next(), next(), next()];
            if let Some(row) = vector_op(op) {
                let [mode, bits] = [next(), next()];
                let mods = VopMods {
                    neg: bits as u8,
                    abs: (bits >> 8) as u8,
                    clamp: bits >> 16 & 1 == 1,
                    omod: (bits >> 20) as u8,
                    op_sel: (bits >> 28) as u8,
                    op_sel_hi: (bits >> 36) as u8,
                    ..VopMods::default()
                };
                row.evaluate(&Mode { bits: mode as u32 }, sources, bits >> 44 & 1 == 1, &mods);
            }
            if let Some(function) = scalar_op(op) {
                function(sources[0], sources[1], next() & 1 == 1);
            }
        }
    }
}
