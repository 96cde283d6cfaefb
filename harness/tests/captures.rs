//! Every capture comes to what `captures/expected.tsv` says, and one that is refused is touched no further.
//!
//! After a change that is meant to change verdicts, `GUESTWAVE_BLESS=1 cargo test --test captures` writes the table anew
//! from what comes out; read the difference before committing it.
#![expect(clippy::unwrap_used, reason = "what cannot be read has to stop the test")]

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;

use guestwave_harness::capture::{Capture, load};
use guestwave_harness::replay::Outcome;

use common::Verdict;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/captures/expected.tsv");

const HEAD: &str = "\
# What a replay of each capture comes to. verdict: pass, fail, or refused and the code of the first refusal. recorded:
# whether the pages that another executor recorded are equal, as far as the replay got; `differ` stands where that
# executor could not run the program itself, or gave waves other places in a driver's geometry and tessellation rings.
capture\tverdict\trecorded
";

/// Verdict by capture name.
fn expected() -> BTreeMap<String, Verdict> {
    let table = std::fs::read_to_string(TABLE).unwrap();
    table.lines().skip(HEAD.lines().count()).map(row).collect()
}

fn row(line: &str) -> (String, Verdict) {
    let cells: Vec<_> = line.split('\t').map(str::to_owned).collect();
    let [name, own, recorded] = cells.as_slice() else { unreachable!("{line:?} is not a row") };
    (name.clone(), Verdict { own: own.clone(), recorded: recorded.clone() })
}

/// What is wrong with the replay of one capture, if anything is.
fn complaint(name: &str, capture: &Capture, outcome: &Outcome, expected: Option<&Verdict>) -> Option<String> {
    let verdict = common::verdict(outcome);
    let first = outcome.report.refusals.first();
    if expected != Some(&verdict) {
        let why = first.map(|r| r.text.as_str()).unwrap_or_default();
        return Some(format!("{verdict:?}, expected {expected:?} {why}"));
    }
    let stated = !outcome.report.expectations.is_empty() || common::STATED_ELSEWHERE.contains(&name);
    if verdict.own == "pass" && !stated && verdict.recorded == "differ" {
        return Some(format!("it states nothing and its recorded pages differ: {:?}", outcome.report.golden));
    }
    let stopped = first.is_some_and(|r| !r.code.starts_with("HN-EXP"));
    let touched = stopped && {
        let before = common::run(&common::before_the_refusal(capture, outcome));
        common::contents(&before) != common::contents(outcome)
    };
    touched.then(|| "memory was touched at or after the refusal".to_owned())
}

fn assert_all_as_expected(paths: &[PathBuf]) {
    let expected = expected();
    let mut complaints = Vec::new();
    for path in paths {
        let (name, capture) = (common::name_of(path), load(path).unwrap());
        let complaint = complaint(&name, &capture, &common::run(&capture), expected.get(&name));
        complaints.extend(complaint.map(|c| format!("{name}: {c}")));
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn captures_come_to_what_the_table_says() {
    bless();
    let paths = common::all_captures();
    assert!(paths.len() >= 12, "the repository's captures are gone");
    assert_all_as_expected(&paths);
}

#[test]
fn every_capture_of_the_repository_can_be_judged() {
    for path in common::own_captures() {
        let report = common::run(&load(&path).unwrap()).report;
        let name = common::name_of(&path);
        let checked = report.expectations.len() as u64 + report.golden.pages;
        assert!(checked > 0 || common::STATED_ELSEWHERE.contains(&name.as_str()), "{name} states nothing");
    }
}

/// Writes the table anew, if that is asked for.
fn bless() {
    if std::env::var_os("GUESTWAVE_BLESS").is_none() {
        return;
    }
    let mut rows = expected();
    for path in common::all_captures() {
        let outcome = common::run(&load(&path).unwrap());
        rows.insert(common::name_of(&path), common::verdict(&outcome));
    }
    let line = |(name, v): (&String, &Verdict)| format!("{name}\t{}\t{}\n", v.own, v.recorded);
    std::fs::write(TABLE, HEAD.to_owned() + &rows.iter().map(line).collect::<String>()).unwrap();
}
