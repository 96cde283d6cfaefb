//! Debian's piglit tests on the virtual navi21: what passed goes on passing, nothing crashes or hangs, and what fails says
//! why.
//!
//! The list is `piglit/results.tsv`. It is cut into shards, so that runners can share it. `GUESTWAVE_PIGLIT_OUT=FILE` also writes
//! each test's outcome there, in the list's form.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what cannot be read or started has to stop the test")]

mod common;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use common::guest::{Ended, run_for};

/// Where Debian's package has its programs.
const PIGLIT: &str = "/usr/lib/x86_64-linux-gnu/piglit";

/// How long one test may take. All but one take a second or two on an idle machine.
const LIMIT: Duration = Duration::from_secs(300);

/// A row of the list.
struct Row {
    name: &'static str,
    command: &'static str,
    llvmpipe: &'static str,
    outcome: &'static str,
}

fn rows() -> Vec<Row> {
    let lines = include_str!("../piglit/results.tsv").lines().filter(|l| !l.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let cells: Vec<_> = line.split('\t').collect();
            assert_eq!(cells.len(), 4, "{line:?}");
            Row { name: cells[0], command: cells[1], llvmpipe: cells[2], outcome: cells[3] }
        })
        .collect()
}

/// What a test came to, as the list has it.
fn outcome(row: &Row) -> String {
    let mut words = row.command.split(' ');
    let program = format!("{PIGLIT}/bin/{}", words.next().unwrap());
    let arguments: Vec<_> = words.chain(["-auto", "-fbo"]).collect();
    let Some(Ended { out, summary, .. }) = run_for(LIMIT, &["--executor", "translate"], &program, &arguments)
    else {
        return "hangs".to_owned();
    };
    let said = out.rsplit("PIGLIT: {\"result\": \"").next().and_then(|rest| rest.split_once('"'));
    let result =
        if out.contains("PIGLIT: {\"result\"") { said.map_or("crash", |(word, _)| word) } else { "crash" };
    match result {
        "pass" | "warn" => "pass".to_owned(),
        "fail" => format!("fail {}", summary.code().unwrap_or_default()).trim_end().to_owned(),
        other => other.to_owned(),
    }
}

/// What is wrong with an outcome, if anything is.
fn complaint(row: &Row, found: &str) -> Option<String> {
    let Row { name, outcome, llvmpipe, .. } = row;
    let named = found.starts_with("fail ") || (found == "fail" && outcome.starts_with("fail: "));
    let fine = match (found, *outcome) {
        ("pass", _) => true,
        (_, "pass") => false,
        ("skip", "skip") => true,
        _ => named,
    };
    (!fine).then(|| format!("{name}: {found}, listed as {outcome} (llvmpipe: {llvmpipe})"))
}

fn note(row: &Row, found: &str) {
    let Some(file) = std::env::var_os("GUESTWAVE_PIGLIT_OUT") else { return };
    let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
    writeln!(file, "{}\t{}\t{}\t{found}", row.name, row.command, row.llvmpipe).unwrap();
}

/// Runs every `SHARDS`th test.
fn shard(number: usize) {
    assert!(Path::new(PIGLIT).exists(), "this test needs Debian's piglit: apt-get install piglit");
    let mut complaints = Vec::new();
    for row in rows().iter().skip(number).step_by(SHARDS) {
        let found = outcome(row);
        note(row, &found);
        complaints.extend(complaint(row, &found));
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// As many as there are tests below.
const SHARDS: usize = 8;

macro_rules! shards {
    ($($name:ident $number:literal)*) => { $( #[test] fn $name() { shard($number); } )* };
}

shards! { shard_0 0 shard_1 1 shard_2 2 shard_3 3 shard_4 4 shard_5 5 shard_6 6 shard_7 7 }

#[test]
fn the_list_has_every_test_once_and_names_every_reason() {
    let rows = rows();
    let names: std::collections::BTreeSet<_> = rows.iter().map(|r| r.name).collect();
    assert_eq!((rows.len(), names.len()), (364, 364));
    let unnamed = |r: &&Row| !(matches!(r.outcome, "pass" | "skip") || r.outcome.starts_with("fail"));
    assert_eq!(rows.iter().filter(unnamed).count(), 0);
    assert!(rows.iter().all(|r| r.outcome != "fail"), "a failure without a reason");
}
