//! Holding the files' words against llvm-mc.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Names of the assembler, best first.
const TOOLS: [&str; 4] = ["llvm-mc-15", "llvm-mc-14", "llvm-mc", "llvm-mc-19"];

/// The assembler. Where `GUESTWAVE_REQUIRE_LLVM` is set it must be there.
pub(crate) fn tool() -> Option<String> {
    let found = TOOLS.iter().find(|tool| {
        let version = Command::new(tool).arg("--version").output();
        version.is_ok_and(|v| String::from_utf8_lossy(&v.stdout).contains("amdgcn"))
    });
    assert!(
        found.is_some() || std::env::var_os("GUESTWAVE_REQUIRE_LLVM").is_none(),
        "GUESTWAVE_REQUIRE_LLVM is set, but there is no llvm-mc that knows amdgcn"
    );
    found.map(|tool| (*tool).to_owned())
}

/// Compares each instruction line of a file with what the assembler makes of it, or rewrites it.
pub(crate) fn check(tool: &str, file: &Path) {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut target, mut wave) = ("gfx1030".to_owned(), "32".to_owned());
    // Instruction lines of one target and wave size are assembled together.
    let mut groups: Vec<(String, String, Vec<usize>)> = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        if line.starts_with("test ") {
            (target, wave) = ("gfx1030".to_owned(), "32".to_owned());
        } else if let Some(name) = line.trim().strip_prefix("target:") {
            target = name.trim().to_owned();
        } else if let Some(size) = line.trim().strip_prefix("wave:") {
            wave = size.trim().to_owned();
        } else if line.contains(';') && !line.trim().starts_with('#') && !is_raw(line) {
            match groups.iter_mut().find(|(t, w, _)| *t == target && *w == wave) {
                Some((_, _, members)) => members.push(i),
                None => groups.push((target.clone(), wave.clone(), vec![i])),
            }
        }
    }
    let bless = std::env::var_os("GUESTWAVE_BLESS").is_some();
    for (target, wave, members) in groups {
        let sources: Vec<&str> =
            members.iter().map(|i| lines[*i].split(';').next().unwrap().trim()).collect();
        let words = assemble(tool, &target, &wave, &sources);
        assert_eq!(words.len(), members.len(), "{}: not every line is an instruction", file.display());
        for (i, words) in members.into_iter().zip(words) {
            let source = lines[i].split(';').next().unwrap().trim_end();
            let written = format!("{source:<60} ; {words}");
            if bless {
                lines[i] = written;
            } else {
                let kept: Vec<&str> = lines[i].split(';').nth(1).unwrap().split_whitespace().collect();
                assert_eq!(kept.join(" "), words, "{}: {source}", file.display());
            }
        }
    }
    if bless {
        std::fs::write(file, lines.join("\n") + "\n").unwrap();
    }
}

/// `.long` lines are words that no instruction has.
fn is_raw(line: &str) -> bool {
    line.trim().starts_with(".long")
}

/// The words of each instruction.
fn assemble(tool: &str, target: &str, wave: &str, sources: &[&str]) -> Vec<String> {
    let features = if wave == "64" { "+wavefrontsize64,-wavefrontsize32" } else { "+wavefrontsize32" };
    let mut child = Command::new(tool)
        .args(["-triple=amdgcn", "-show-encoding", &format!("-mcpu={target}"), &format!("-mattr={features}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all((sources.join("\n") + "\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|l| l.split("encoding: [").nth(1)).map(words_of).collect()
}

fn words_of(encoding: &str) -> String {
    let bytes: Vec<u8> = encoding
        .trim_end_matches(']')
        .split(',')
        .map(|b| u8::from_str_radix(b.trim().trim_start_matches("0x"), 16).unwrap())
        .collect();
    let words = bytes.chunks(4).map(|c| format!("{:08x}", u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
    words.collect::<Vec<_>>().join(" ")
}
