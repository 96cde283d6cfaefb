//! Files and numbers that no user means: every command answers them with one of its exit statuses, soon, and says something on
//! stderr or stdout.
#![expect(clippy::unwrap_used, reason = "a command that does not start has to stop the test")]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What each command is called with besides a file, which stands for `FILE`.
const COMMANDS: [&str; 9] = [
    "replay FILE",
    "replay --json FILE",
    "inspect FILE",
    "disasm --gpu gfx1030 FILE",
    "kernel FILE --groups 1",
    "so-decl run FILE",
    "varyings link --gpu g57 FILE",
    "varyings decode --gpu g57 --csv FILE",
    "varyings run FILE --job 0",
];

/// Calls with numbers at the ends of their ranges; the exit status of each.
const NUMBERS: [(&str, i32); 18] = [
    ("kernel KERNELS --kernel saxpy --groups 1 --arg out:18446744073709551615 --arg out:4 --arg f32:1", 3),
    ("kernel KERNELS --kernel saxpy --groups 1 --arg out:18446744073709551616 --arg out:4 --arg f32:1", 3),
    (
        "kernel KERNELS --kernel saxpy --groups 4294967295,4294967295,4294967295 --arg out:4 --arg out:4 --arg f32:1",
        2,
    ),
    ("kernel KERNELS --kernel saxpy --groups 0 --arg out:1024 --arg out:1024 --arg f32:1", 3),
    ("kernel KERNELS --kernel saxpy --groups 1 --arg out:0 --arg out:0 --arg f32:1", 2),
    ("kernel KERNELS --kernel places --groups 1 --threads 4294967295,4294967295,4294967295 --arg out:4", 3),
    ("kernel KERNELS --kernel reverse --groups 1 --arg out:1024 --arg lds:4294967295", 2),
    ("replay --steps 18446744073709551615 --rows 18446744073709551615 SAMPLE", 0),
    ("inspect --submission 4294967295 SAMPLE", 3),
    ("inspect --submission 4294967296 SAMPLE", 3),
    ("bench --runs 0", 3),
    ("so-decl encode --slot v=255.3:255x255@3 v", 3),
    ("so-decl encode --slot v=0.0:0 v", 3),
    ("so-decl encode --slot v=0.0:4x0 v", 3),
    ("so-decl decode 7917ffff ffffffff ffffffff", 2),
    ("varyings run EMPTY --job ffffffffffffffff --words ffffffffffffffff:18446744073709551615", 3),
    ("varyings run EMPTY --job 0 --map 0:18446744073709551615", 3),
    ("varyings decode --gpu v255 1 2", 3),
];

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/kernels-1030.hsaco")
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/points_interleaved.cap.zst")
}

/// A folder for one test of this run.
fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("odd_input").join(test);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a call, with paths in the place of some of its words.
fn call(words: &str, paths: &[(&str, &OsStr)]) -> Output {
    let word = |word: &str| {
        let path = paths.iter().find(|(name, _)| *name == word);
        path.map_or_else(|| OsString::from(word), |(_, path)| (*path).to_owned())
    };
    let arguments: Vec<OsString> = words.split(' ').map(word).collect();
    Command::new(env!("CARGO_BIN_EXE_guestwave")).args(arguments).output().unwrap()
}

/// The status of a call that ended by itself, without a panic and not in silence.
fn answered(what: &str, output: &Output) -> i32 {
    let error = String::from_utf8_lossy(&output.stderr);
    let status = output.status.code();
    assert!(matches!(status, Some(0..=3)) && !error.contains("panicked"), "{what}: {status:?}: {error}");
    let silent = output.stdout.is_empty() && output.stderr.is_empty();
    assert!(status == Some(0) || !silent, "{what} ends with {status:?} and says nothing");
    status.unwrap()
}

/// Bytes without an order.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// Contents that are cut short, damaged, or of another kind than a command expects.
fn contents() -> Vec<(&'static str, Vec<u8>)> {
    let packed = std::fs::read(sample()).unwrap();
    let plain = zstd::decode_all(packed.as_slice()).unwrap();
    let object = std::fs::read(kernels()).unwrap();
    let mut damaged = plain.clone();
    damaged[200..232].fill(0xff);
    vec![
        ("empty", Vec::new()),
        ("byte", vec![0]),
        ("noise", noise(4096)),
        ("odd", noise(1023)),
        ("packed.cut", packed[..packed.len() / 2].to_vec()),
        ("header", plain[..40].to_vec()),
        ("plain.cut", plain[..plain.len() / 2 + 1].to_vec()),
        ("damaged", damaged),
        ("object.cut", object[..200].to_vec()),
        ("object.head", object[..4].to_vec()),
        ("deep", vec![b'['; 200_000]),
        ("list", b"[]".to_vec()),
        ("other.json", br#"{"name": 1}"#.to_vec()),
        ("dump", b"segment 0 len ffffffffffffffff\n0: 00\n".to_vec()),
        ("table", b"job,kind,index,address,words\n,,,,\n".to_vec()),
    ]
}

#[test]
fn odd_files_are_answered_by_every_command() {
    let folder = scratch("files");
    let mut files = vec![folder.clone(), folder.join("no such file"), PathBuf::from("/dev/null")];
    for (name, bytes) in contents() {
        let file = folder.join(name);
        std::fs::write(&file, bytes).unwrap();
        files.push(file);
    }
    for file in &files {
        for command in COMMANDS {
            answered(
                &format!("{command}: {}", file.display()),
                &call(command, &[("FILE", file.as_os_str())]),
            );
        }
    }
}

#[test]
fn numbers_at_the_ends_of_their_ranges_are_answered() {
    let (kernels, sample) = (kernels(), sample());
    let empty = scratch("numbers").join("empty");
    std::fs::write(&empty, "").unwrap();
    let paths =
        [("KERNELS", kernels.as_os_str()), ("SAMPLE", sample.as_os_str()), ("EMPTY", empty.as_os_str())];
    for (words, status) in NUMBERS {
        assert_eq!(answered(words, &call(words, &paths)), status, "{words}");
    }
}

#[test]
fn batches_whose_buffers_are_smaller_than_their_packets_say_are_answered() {
    let batch = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/intel/ivb-c08_hole_both-000.json");
    let mut capture: serde_json::Value = serde_json::from_slice(&std::fs::read(batch).unwrap()).unwrap();
    let folder = scratch("batches");
    for size in [0, 1, 4096, 65536, u64::MAX] {
        for buffer in capture["bos"].as_array_mut().unwrap() {
            buffer["size"] = size.into();
        }
        let file = folder.join(format!("{size}.json"));
        std::fs::write(&file, capture.to_string()).unwrap();
        for command in ["so-decl run FILE", "inspect FILE"] {
            answered(&format!("{command}: {size}"), &call(command, &[("FILE", file.as_os_str())]));
        }
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf_8_are_files_like_others() {
    use std::os::unix::ffi::OsStrExt;
    let file = scratch("names").join(OsStr::from_bytes(b"n\xffame.cap.zst"));
    std::fs::copy(sample(), &file).unwrap();
    for command in ["replay FILE", "replay --json FILE", "inspect FILE"] {
        assert_eq!(answered(command, &call(command, &[("FILE", file.as_os_str())])), 0, "{command}");
    }
    let missing = scratch("names").join(OsStr::from_bytes(b"\xfe"));
    for command in COMMANDS {
        assert_eq!(answered(command, &call(command, &[("FILE", missing.as_os_str())])), 3, "{command}");
    }
}
