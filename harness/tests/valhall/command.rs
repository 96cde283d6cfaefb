//! `guestwave varyings run`: what it prints and how it exits.

use std::process::{Command, Output};

use serde_json::Value;

const XFB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../isa/tests/data/mali/g57-xfb.hex");

fn guestwave(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_guestwave")).args(["varyings", "run"]).args(args).output().unwrap()
}

#[test]
fn it_prints_jobs_launches_and_words() {
    let map = ["--map", "f7fe8000:4096", "--map", "f8000000:65536"];
    let args = [&[XFB, "--job", "f7fe9480", "--words", "f7fe8000:2"], &map[..]].concat();
    for engine in [&["--executor", "reference"][..], &["--executor", "translate", "--backend", "soft"]] {
        let text = guestwave(&[&args[..], engine].concat());
        assert_eq!(text.status.code(), Some(0));
        let text = String::from_utf8(text.stdout).unwrap();
        assert!(
            text.contains("Compute program at 0xf7ffc000, 6 threads: stored f7fe8000..f7fe8078"),
            "{text}"
        );
        assert!(text.contains("f7fe8000: fffffffd 00000000"), "{text}");
        let report = guestwave(&[&args[..], engine, &["--json"]].concat());
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        assert_eq!(report["ok"], true);
        assert_eq!(report["jobs"][1]["launches"][0]["role"], "position");
        assert_eq!(report["jobs"][1]["launches"][0]["inexact"][0], "FRCP.f32");
        assert_eq!(report["words"][0][0], 0xffff_fffdu32);
    }
}

#[test]
fn refusals_exit_with_2_and_bad_usage_with_3() {
    // Nothing is mapped where the program stores.
    let refused = guestwave(&[XFB, "--job", "f7fe9480", "--executor", "reference", "--json"]);
    assert_eq!(refused.status.code(), Some(2));
    let report: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!(report["refusal"]["code"], "ISA-VAL-104");
    assert_eq!(guestwave(&[XFB, "--job", "12345"]).status.code(), Some(2));
    assert_eq!(guestwave(&[XFB, "--job", "wrong"]).status.code(), Some(3));
    assert_eq!(guestwave(&["no-such-file", "--job", "0"]).status.code(), Some(3));
}
