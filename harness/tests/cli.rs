//! The command line: names, output and exit codes.
#![expect(clippy::unwrap_used, reason = "a command that does not start has to stop the test")]

mod common;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use guestwave_harness::capture::{Capture, Record, store};
use serde_json::Value;

fn guestwave(args: &[&str]) -> Output {
    let captures = concat!(env!("CARGO_MANIFEST_DIR"), "/captures");
    Command::new(env!("CARGO_BIN_EXE_guestwave")).args(args).current_dir(captures).output().unwrap()
}

fn status(args: &[&str]) -> i32 {
    guestwave(args).status.code().unwrap()
}

fn stdout(args: &[&str]) -> String {
    String::from_utf8(guestwave(args).stdout).unwrap()
}

fn stderr(args: &[&str]) -> String {
    String::from_utf8(guestwave(args).stderr).unwrap()
}

const POINTS: &str = "points_interleaved.cap.zst";

/// A file for this test run alone.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cli");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// The sample with one expectation changed.
fn with_expectation(name: &str, text: &str) -> String {
    let mut capture: Capture = common::own("points_interleaved");
    let first = capture.records.iter_mut().find(|r| matches!(r, Record::Expect(t) if t.starts_with("buf")));
    *first.unwrap() = Record::Expect(text.to_owned());
    let path = scratch(name);
    store(&capture, &path).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn exit_codes_tell_pass_failure_refusal_and_bad_usage() {
    assert_eq!(status(&["replay", POINTS, "rv_points.cap.zst"]), 0);
    assert_eq!(status(&["replay", "--golden", "clip_distance.cap.zst"]), 0);
    let wrong = with_expectation("wrong.cap.zst", "buf b0f00001 size 4096 off 0 u32 00000001");
    assert_eq!(status(&["replay", &wrong]), 1);
    let pixels = with_expectation("pixels.cap", "pixels 1x1 all ff00ff00");
    assert_eq!(status(&["replay", &pixels]), 2);
    assert_eq!(status(&["replay", &wrong, &pixels, POINTS]), 2);
    for usage in [
        &["replay"][..],
        &["replay", "--frobnicate", POINTS],
        &["replay", "no-such-file.cap"],
        &["replay", "README.md"],
        &["replay", "--dump", "x", POINTS, POINTS],
        &["inspect", "README.md"],
        &["disasm", "--gpu", "gfx900", "README.md"],
        &[],
    ] {
        assert_eq!(status(usage), 3, "{usage:?}");
    }
    assert_eq!(status(&["--help"]), 0);
    assert_eq!(status(&["replay", "--help"]), 0);
}

#[test]
fn messages_go_to_stderr_and_say_what_is_wrong() {
    let text = stderr(&["replay", "README.md"]);
    assert!(text.contains("HN-CAP-002") && text.contains("magic number"), "{text}");
    assert_eq!(stdout(&["replay", "README.md"]), "");
    let text = stderr(&["replay", POINTS, "no-such-file.cap"]);
    assert!(text.contains("no-such-file.cap") && text.contains("HN-CAP-001"), "{text}");
}

/// The members of a JSON object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn json_has_the_members_that_others_rely_on() {
    let text = stdout(&["replay", "--json", "--golden", POINTS, "clip_distance.cap.zst", "README.md"]);
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let [points, clip, unreadable] = lines.as_slice() else { panic!("{text}") };
    let members = [
        "expectations",
        "file",
        "golden",
        "gpu",
        "inexact",
        "not_drawn",
        "ok",
        "refusals",
        "stats",
        "submissions",
    ];
    for report in &lines {
        assert_eq!(keys(report), members);
        let stats = [
            "bytes_stored",
            "dispatches",
            "draws",
            "instructions",
            "module_hits",
            "modules",
            "packets",
            "wall_seconds",
            "waves",
        ];
        assert_eq!(keys(&report["stats"]), stats);
        assert_eq!(keys(&report["golden"]), ["differ", "pages"]);
    }
    assert_eq!((&points["file"], &points["gpu"]), (&Value::from(POINTS), &Value::from("navi21")));
    assert_eq!((&points["ok"], &points["submissions"]), (&Value::from(true), &Value::from(4)));
    assert_eq!(points["stats"]["draws"], 1);
    assert_eq!(points["stats"]["modules"], 2, "programs are translated unless asked otherwise");
    assert!(points["golden"]["pages"].as_u64().unwrap() > 0);
    assert_eq!(keys(&points["expectations"][0]), ["detail", "ok", "text"]);
    assert_eq!(clip["not_drawn"][0]["code"], "CP-DRAW-002");
    assert_eq!(clip["refusals"], Value::Array(vec![]));
    assert_eq!(unreadable["ok"], false);
    assert_eq!(keys(&unreadable["refusals"][0]), ["code", "packet_offset", "submission", "text"]);
}

#[test]
fn people_see_draws_positions_and_vertices() {
    let text = stdout(&["replay", POINTS]);
    assert!(!text.contains('\u{1b}'), "colours without a terminal");
    for part in [
        "4 submissions: pass",
        "points",
        "0: 0 -> 96",
        "4 vertices of 24 bytes",
        "3f800000 1.0",
        "ffffffff -1",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn a_dump_holds_each_buffer_object_at_its_end() {
    let folder = scratch("dump");
    let folder_text = folder.to_string_lossy();
    assert_eq!(status(&["replay", "--dump", &folder_text, POINTS]), 0);
    let heap = std::fs::read(folder.join("bo-3.bin")).unwrap();
    assert_eq!(heap.len(), 2 << 20);
    assert_eq!(heap[0x40000 + 8..0x40000 + 16], [0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40]);
    let count = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(count, 8);
}

#[test]
fn inspection_names_registers_and_shows_programs_with_their_descriptors() {
    let text = stdout(&["inspect", "--submission", "1", POINTS]);
    for part in [
        "VGT_STRMOUT_VTX_STRIDE_0",
        "SO_BASE0_EN=1",
        "draw of points: 4 vertices",
        "position 0 -> 96",
        "buffer_store_dword",
        "base 0x800100040000",
        "s_endpgm",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert!(!text.contains("submission 0"));
    assert!(!stdout(&["inspect", "--packets", POINTS]).contains("s_endpgm"));
    assert!(!stdout(&["inspect", "--programs", POINTS]).contains("CLEAR_STATE"));
}

#[test]
fn code_comes_from_a_file_or_stdin_and_data_is_shown_as_data() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_guestwave"))
        .args(["disasm", "--gpu", "gfx1030", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let words = [0xbe80_03ffu32, 0x1234_5678, 0xffff_ffff, 0xbf81_0000];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "\ts_mov_b32 s0, 0x12345678                                   // 000000000000: BE8003FF 12345678\n\
                    \t.long 0xffffffff                                           // 000000000008: FFFFFFFF\n\
                    \ts_endpgm                                                   // 00000000000C: BF810000\n";
    assert_eq!(text, expected);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("ISA-DEC-"));
}

#[test]
fn declaration_lists_are_encoded_decoded_and_run() {
    let encode =
        ["so-decl", "encode", "--slot", "v0=2.0:4", "--slot", "v1=3.0:3", "v0", "gl_SkipComponents2", "v1"];
    let text = stdout(&encode);
    let list = "79170007 00000001 00000003 0000002f 00000000 00000803 00000000 00000037 00000000";
    assert_eq!(text.lines().next(), Some(list));
    assert!(text.contains("buf0 HOLE xy") && text.contains("buffer 0: pitch 36"), "{text}");
    let decoded = stdout(&["so-decl", "decode", list]);
    assert!(decoded.contains("0037  buf0 slot3.xyz"), "{decoded}");
    assert_eq!(status(&["so-decl", "decode", "79170101", "0000000f", "00000080"]), 2);
    assert_eq!(status(&["so-decl", "encode", "v0"]), 3);
    assert_eq!(status(&["so-decl", "run", "intel/examples.json"]), 0);
    let policy =
        ["so-decl", "run", "intel/examples.json", "--room-by-last-dword", "--example", "c23_trail_ovf"];
    assert_eq!(status(&policy), 1, "the other policy comes out otherwise");
    assert_eq!(status(&["so-decl", "run", "intel/ivb-big128-000.json"]), 2);
}

#[test]
fn numbers_and_names_that_fit_nothing_are_answered() {
    let kernel = |rows: &str| {
        let common =
            ["kernel", "../kernels/kernels-1030.hsaco", "--kernel", "saxpy", "--groups", "1", "--rows", rows];
        let values = ["--arg", "out:1024", "--arg", "out:1024", "--arg", "f32:2"];
        status(&[&common[..], &values[..]].concat())
    };
    assert_eq!(kernel(&usize::MAX.to_string()), kernel("1"));
    let nothing = ["so-decl", "run", "intel/examples.json", "--example", "nosuch"];
    assert_eq!(status(&nothing), 3);
    assert!(stderr(&nothing).contains("no such example"));
}

#[test]
fn intel_batches_are_inspected() {
    let text = stdout(&["inspect", "intel/ivb-c08_hole_both-000.json"]);
    for part in [
        "3DSTATE_SO_BUFFER",
        "buf1 HOLE xyz",
        "SO_WRITE_OFFSET[1] = 0x0",
        "R32G32B32A32_FLOAT: source",
        "send(8)",
        "stream 0 wrote 1 primitives of 1",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let cut = stdout(&["inspect", "intel/ivb-big128-000.json"]);
    assert!(cut.contains("CP-IPKT-002"), "{cut}");
}
