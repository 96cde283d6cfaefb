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

/// Words of a command line.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn options_that_would_not_be_heeded_are_bad_usage() {
    let cases = [
        ("so-decl run intel/examples.json --dump x", "--dump"),
        ("so-decl run intel/ivb-c08_hole_both-000.json --example c23", "--example"),
        ("so-decl run intel/examples.json --fidelity fast", "--fidelity"),
        ("so-decl encode --slot v0=2.0:4 --slot v0=3.0:4 v0", "v0"),
        ("inspect --submission 99 SAMPLE", "no submission 99; the capture has 0 to 3"),
        ("inspect --submission 0 intel/ivb-c08_hole_both-000.json", "--submission"),
        ("bench --runs 0 packets", "--runs"),
        ("bench packets nosuch", "tiny-draws"),
        ("replay --adapter llvmpipe SAMPLE", "--adapter is for --backend wgpu"),
        ("replay --adapter llvmpipe --backend soft SAMPLE", "--adapter is for --backend wgpu"),
        ("replay --holding lane SAMPLE", "--backend wgpu"),
        ("replay --holding pair --backend plain SAMPLE", "--backend wgpu"),
        ("replay --executor reference --holding wave SAMPLE", "--executor translate"),
        ("replay --executor reference --fidelity fast SAMPLE", "--executor translate"),
        ("replay --executor reference --backend soft SAMPLE", "--executor translate"),
        ("run --adapter llvmpipe -- true", "--adapter is for --backend wgpu"),
        ("varyings run README.md --job 0 --words 0:1048577", "1048576"),
        ("varyings decode --gpu g52", "WORD"),
        ("varyings decode --gpu g52 2ec00202 10 0", "2 or 4 words, 3 are given"),
        ("varyings decode --gpu g57 1 2 3 4 5", "4 or 8 words, 5 are given"),
        ("varyings decode --gpu v7 --record continuation_npot 20 638e38e3 0 3 0", "4 words, 5 are given"),
        ("varyings decode --gpu v7 --record attribute 20", "2 words, 1 are given"),
    ];
    for (line, said) in cases {
        let output = guestwave(&words(&line.replace("SAMPLE", POINTS)));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), error.contains(said)), (Some(3), true), "{line}: {error}");
        assert_eq!(output.stdout, b"", "{line}");
    }
}

#[test]
fn replay_and_inspect_agree_on_damaged_captures() {
    let whole = common::own("points_interleaved");
    let mut unknown = whole.clone();
    unknown.gpu = "navi99".to_owned();
    let mut contradicts = whole.clone();
    contradicts.records.insert(0, Record::Free { bo: 77 });
    let bytes = whole.to_bytes().unwrap();
    let unreadable = bytes[..bytes.len() / 2 + 1].to_vec();
    let stored = |name: &str, capture: &Capture| {
        store(capture, &scratch(name)).unwrap();
        scratch(name)
    };
    std::fs::write(scratch("cut.cap"), unreadable).unwrap();
    let cases = [
        (stored("unknown.cap", &unknown), 2, "navi99"),
        (stored("contradicts.cap", &contradicts), 2, "HN-MEM-001"),
        (scratch("cut.cap"), 3, "HN-CAP-003"),
    ];
    for (file, status, said) in cases {
        let file = file.to_string_lossy();
        for command in ["replay", "inspect"] {
            let output = guestwave(&[command, &file]);
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8(text).unwrap();
            assert_eq!(output.status.code(), Some(status), "{command} {file}: {text}");
            assert!(text.contains(said) && text.contains(&*file), "{command} {file}: {text}");
        }
    }
}

#[test]
fn what_is_left_out_of_intel_draws_is_not_called_refused() {
    let text = stdout(&["so-decl", "run", "intel/ivb-c08_hole_both-000.json"]);
    assert!(text.contains("not drawn:") && !text.contains("refused:"), "{text}");
    let text = stdout(&["so-decl", "run", "intel/ivb-big128-000.json"]);
    assert!(text.contains("refused:"), "{text}");
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
    let packets = stdout(&["inspect", "--packets", "intel/ivb-c08_hole_both-000.json"]);
    assert!(packets.contains("3DSTATE_SO_BUFFER") && !packets.contains("send(8)"), "{packets}");
    let programs = stdout(&["inspect", "--programs", "intel/ivb-c08_hole_both-000.json"]);
    assert!(!programs.contains("3DSTATE_SO_BUFFER") && programs.contains("send(8)"), "{programs}");
    let cut = stdout(&["inspect", "intel/ivb-big128-000.json"]);
    assert!(cut.contains("CP-IPKT-002"), "{cut}");
}
