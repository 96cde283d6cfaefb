//! llvm-mc as the oracle of disassembly.

use std::io::Write;
use std::process::{Command, Stdio};

use guestwave_isa::gfx10::{Target, WaveSize};

/// The program, from Debian's `llvm` package.
const LLVM_MC: &str = "llvm-mc";

fn cpu(target: Target) -> &'static str {
    match target {
        Target::Gfx1010 => "gfx1010",
        Target::Gfx1013 => "gfx1013",
        Target::Gfx1030 => "gfx1030",
    }
}

/// What llvm-mc prints for each item: one text an instruction, up to the first that it does not know.
///
/// Between items stands an `s_nop` with the item's number, so that one run does for all of them.
pub(crate) fn disassemble(items: &[Vec<u32>], target: Target, wave: WaveSize) -> Vec<Vec<String>> {
    let mut input = String::new();
    for (i, words) in items.iter().enumerate() {
        input.push_str(&bytes(words));
        input.push_str(&bytes(&[0xbf80_0000 | i as u32 & 0xffff]));
    }
    let output = run(&input, target, wave);
    let mut texts = Vec::new();
    let mut item = Vec::new();
    for line in output.lines().map(|l| l.trim().replace('\t', " ")).filter(|l| !l.is_empty() && l != ".text")
    {
        if nop(&line) == Some(texts.len() & 0xffff) {
            texts.push(std::mem::take(&mut item));
        } else {
            item.push(line);
        }
    }
    assert_eq!(texts.len(), items.len(), "llvm-mc stopped before the last item");
    texts
}

fn bytes(words: &[u32]) -> String {
    let hex: Vec<String> = words.iter().flat_map(|w| w.to_le_bytes()).map(|b| format!("0x{b:02x}")).collect();
    format!("[{}]\n", hex.join(","))
}

fn nop(line: &str) -> Option<usize> {
    let number = line.strip_prefix("s_nop ")?;
    match number.strip_prefix("0x") {
        Some(hex) => usize::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    }
}

/// What llvm-objdump lists for a program, without headings and the names of branch targets in its comments.
pub(crate) fn list(program: &[u32], target: Target, wave: WaveSize) -> Vec<String> {
    let source: String = program.iter().map(|w| format!(".long {w:#x}\n")).collect();
    let name = format!("guestwave-{}-{}-{wave:?}.o", std::process::id(), cpu(target));
    let object = std::env::temp_dir().join(name);
    let mut assembler = Command::new(LLVM_MC);
    assembler
        .args(["-arch=amdgcn", "-filetype=obj", "-o"])
        .arg(&object)
        .arg(format!("-mcpu={}", cpu(target)));
    pipe(&mut assembler, &source);
    let mut lister = Command::new("llvm-objdump");
    lister
        .arg("-d")
        .arg(format!("--mcpu={}", cpu(target)))
        .arg(format!("--mattr={}", features(wave)))
        .arg(&object);
    let listing = pipe(&mut lister, "");
    std::fs::remove_file(object).unwrap();
    let lines = listing.lines().filter(|l| l.starts_with('\t'));
    lines.map(|l| l.split(" <.text+").next().unwrap_or(l).trim_end().to_owned()).collect()
}

fn run(input: &str, target: Target, wave: WaveSize) -> String {
    let mut command = Command::new(LLVM_MC);
    command.args(["-arch=amdgcn", "-disassemble"]);
    command.arg(format!("-mattr={}", features(wave))).arg(format!("-mcpu={}", cpu(target)));
    pipe(&mut command, input)
}

fn features(wave: WaveSize) -> &'static str {
    match wave {
        WaveSize::W32 => "+wavefrontsize32,-wavefrontsize64",
        WaveSize::W64 => "-wavefrontsize32,+wavefrontsize64",
    }
}

/// What a command prints when it is given the input.
fn pipe(command: &mut Command, input: &str) -> String {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap_or_else(|e| {
        let program = command.get_program().display();
        panic!("this test needs {program} of LLVM 14 (Debian: apt-get install llvm): {e}")
    });
    let mut stdin = child.stdin.take().unwrap();
    let text = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
