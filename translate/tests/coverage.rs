//! Every operation that the reference interpreter runs is translated.

use std::collections::BTreeMap;

use guestwave_isa::gfx10::Op;
use guestwave_isa::gfx10::interp::interprets;
use guestwave_translate::gfx10::translates;

/// Operations that the interpreter runs and the translator refuses, with the reason.
fn exceptions() -> BTreeMap<&'static str, &'static str> {
    let rows = include_str!("untranslated.tsv").lines().filter(|l| !l.starts_with('#'));
    rows.filter_map(|l| l.split_once('\t')).collect()
}

#[test]
fn what_the_reference_runs_is_translated() {
    let exceptions = exceptions();
    assert!(exceptions.values().all(|reason| !reason.is_empty()));
    let wrong: Vec<_> = Op::all()
        .filter(|op| translates(*op) == (!interprets(*op) || exceptions.contains_key(op.name())))
        .map(Op::name)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The other way round: nothing is translated that the reference does not run.
#[test]
fn the_reference_runs_hundreds_of_operations() {
    assert!(Op::all().filter(|op| interprets(*op)).count() > 900);
}
