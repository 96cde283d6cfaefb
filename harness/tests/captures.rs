//! Every capture comes to what `captures/expected.tsv` says, and one that is refused is touched no further.
#![expect(clippy::unwrap_used, reason = "what cannot be read has to stop the test")]

mod common;

use std::collections::BTreeMap;

use guestwave_harness::capture::load;

/// Instructions that a dispatch may execute: more than any capture's. The longest has loops of up to 10,000 turns.
const STEPS: u64 = 1 << 27;

/// Verdict by capture name.
fn expected() -> BTreeMap<&'static str, &'static str> {
    let rows = include_str!("../captures/expected.tsv").lines().filter(|l| !l.starts_with('#'));
    rows.skip(1).filter_map(|l| l.split_once('\t')).collect()
}

/// Replays all of `paths` and returns what differs from the table.
fn differences(paths: &[std::path::PathBuf]) -> Vec<String> {
    let expected = expected();
    let mut wrong = Vec::new();
    for path in paths {
        let name = common::name_of(path);
        let capture = load(path).unwrap();
        let outcome = common::run_for(&capture, STEPS);
        let verdict = common::verdict(&outcome);
        let row = expected.get(name.as_str()).copied().unwrap_or("not in the table");
        if row != verdict {
            let why: Vec<_> = outcome.report.refusals.iter().take(1).map(|r| r.text.clone()).collect();
            wrong.push(format!("{name}\t{verdict}\t(expected: {row}) {}", why.join("")));
        }
        if verdict.starts_with("refused") && outcome.report.refusals[0].code.starts_with("HN-EXP") {
            continue;
        }
        if verdict.starts_with("refused") {
            let before = common::run(&common::before_the_refusal(&capture, &outcome));
            if common::contents(&before) != common::contents(&outcome) {
                wrong.push(format!("{name}\tmemory was touched at or after the refusal"));
            }
        }
    }
    wrong
}

#[test]
fn the_captures_of_the_repository_come_to_what_the_table_says() {
    let paths = common::own_captures();
    assert!(paths.len() >= 12, "the repository's captures are gone");
    let wrong = differences(&paths);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_shared_captures_come_to_what_the_table_says() {
    let paths = common::shared_captures();
    let wrong = differences(&paths);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_passing_capture_checks_something() {
    for path in common::own_captures() {
        let outcome = common::run(&load(&path).unwrap());
        let report = &outcome.report;
        let checked = report.expectations.len() as u64 + report.golden.pages;
        assert!(checked > 0, "{} states nothing", common::name_of(&path));
    }
}
