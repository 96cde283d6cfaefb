//! Debian's piglit tests on the virtual navi21: what passed goes on passing, nothing crashes or hangs, and what fails says
//! why.
//!
//! The list is `piglit/results.tsv`. It is cut into shards, so that runners can share it. `GUESTWAVE_PIGLIT_ENGINE="--executor reference"`
//! runs it on another executor, which has to come to the same. `GUESTWAVE_PIGLIT_OUT=FILE` also writes each test's outcome there, in
//! the list's form and with the seconds that it took.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what cannot be read or started has to stop the test")]

mod common;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use common::guest::{Ended, start_with};

/// Where Debian's package has its programs.
const PIGLIT: &str = "/usr/lib/x86_64-linux-gnu/piglit";

/// How long one test may take. All but one take a second or two; that one compiles 528 programs, for which lavapipe needs a minute on
/// an idle machine and many on a busy one.
const LIMIT: Duration = Duration::from_secs(900);

/// What tests need of their environment: a platform without windows, the files that the package has of its sources, and Mesa's cache of
/// compiled programs, without which it offers no program binaries.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("PIGLIT_PLATFORM", "surfaceless_egl"),
    ("PIGLIT_SOURCE_DIR", PIGLIT),
    ("MESA_SHADER_CACHE_DISABLE", "false"),
    ("MESA_SHADER_CACHE_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/mesa")),
];

/// The code of a draw whose pixels are not produced.
const NO_PIXELS: &str = "CP-DRAW-002";

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

/// Options that name the executor.
fn engine() -> Vec<String> {
    let options =
        std::env::var("GUESTWAVE_PIGLIT_ENGINE").unwrap_or_else(|_| "--executor translate".to_owned());
    options.split_whitespace().map(str::to_owned).collect()
}

/// What a test came to, as the list has it.
fn outcome(row: &Row) -> String {
    let mut words = row.command.split(' ');
    let program = format!("{PIGLIT}/bin/{}", words.next().unwrap());
    let arguments: Vec<_> = words.chain(["-auto", "-fbo"]).collect();
    let engine = engine();
    let options: Vec<_> = engine.iter().map(String::as_str).collect();
    match start_with(&ENVIRONMENT, &options, &program, &arguments, |_| ()).end(LIMIT) {
        Some(ended) => judged(&ended),
        None => "hangs".to_owned(),
    }
}

fn judged(Ended { out, summary, .. }: &Ended) -> String {
    let said = out.rsplit_once("PIGLIT: {\"result\": \"").and_then(|(_, rest)| rest.split_once('"'));
    let pixels = out.contains("Probe color");
    match said.map_or("crash", |(word, _)| word) {
        "pass" | "warn" => "pass".to_owned(),
        // What is left out explains a failure only if the test looked at colours.
        "fail" => match summary.code().filter(|code| pixels || *code != NO_PIXELS) {
            Some(code) => format!("fail {code}"),
            None => "fail".to_owned(),
        },
        other => other.to_owned(),
    }
}

/// What is wrong with an outcome, if anything is.
fn complaint(row: &Row, found: &str) -> Option<String> {
    let Row { name, outcome, llvmpipe, .. } = row;
    let fine = found == "pass" || found == *outcome;
    (!fine).then(|| format!("{name}: {found}, listed as {outcome} (llvmpipe: {llvmpipe})"))
}

fn note(row: &Row, found: &str, took: Duration) {
    let Some(file) = std::env::var_os("GUESTWAVE_PIGLIT_OUT") else { return };
    let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
    let line =
        format!("{}\t{}\t{}\t{found}\t{:.1}\n", row.name, row.command, row.llvmpipe, took.as_secs_f64());
    file.write_all(line.as_bytes()).unwrap();
}

/// Runs every `SHARDS`th test.
fn shard(number: usize) {
    assert!(Path::new(PIGLIT).exists(), "this test needs Debian's piglit: apt-get install piglit");
    let mut complaints = Vec::new();
    for row in rows().iter().skip(number).step_by(SHARDS) {
        let start = Instant::now();
        let found = outcome(row);
        note(row, &found, start.elapsed());
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

/// Every test passes, except those that look at pixels.
#[test]
fn the_list_has_every_test_once_and_names_every_reason() {
    let rows = rows();
    let names: std::collections::BTreeSet<_> = rows.iter().map(|r| r.name).collect();
    assert_eq!((rows.len(), names.len()), (364, 364));
    let unnamed = rows.iter().find(|r| r.outcome != "pass" && r.outcome != format!("fail {NO_PIXELS}"));
    assert!(unnamed.is_none(), "{}", unnamed.unwrap().name);
}
