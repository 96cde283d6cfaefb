//! Every ALU operation of the opcode tables has a meaning at the level of values, or a reason for having none.

#![expect(clippy::unwrap_used, reason = "a test may stop at what must not happen")]

use std::collections::{BTreeMap, BTreeSet};

use guestwave_isa::gfx10::Op;
use guestwave_isa::gfx10::interp::alu::{scalar_op, vector_op};

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
