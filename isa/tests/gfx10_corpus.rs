//! Disassembly of what real drivers submitted: every distinct instruction of the captures, and a few whole programs.

use std::collections::BTreeSet;
use std::path::Path;

use guestwave_isa::gfx10::{Target, WaveSize, decode, disassemble, disassemble_program};

fn target(name: &str) -> Target {
    match name {
        "gfx1010" => Target::Gfx1010,
        "gfx1013" => Target::Gfx1013,
        _ => Target::Gfx1030,
    }
}

/// Rows of `data/gfx10_corpus.tsv`: target, words, text in wave32, text in wave64.
fn corpus() -> impl Iterator<Item = (Target, Vec<u32>, &'static str, &'static str)> {
    include_str!("data/gfx10_corpus.tsv").lines().filter(|l| !l.starts_with('#')).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let words = columns[1].split(' ').map(|w| u32::from_str_radix(w, 16).unwrap_or_default()).collect();
        let wide = if columns[3] == "-" { columns[2] } else { columns[3] };
        (target(columns[0]), words, columns[2], wide)
    })
}

#[test]
fn every_instruction_of_the_captures_reads_as_llvm_reads_it() {
    let mut operations = BTreeSet::new();
    for (target, words, w32, w64) in corpus() {
        let inst = decode(&words, 0, target).unwrap_or_else(|e| panic!("{w32}: {e}"));
        assert_eq!(usize::from(inst.len), words.len(), "{w32}");
        assert_eq!(disassemble(&inst, target, WaveSize::W32), w32);
        assert_eq!(disassemble(&inst, target, WaveSize::W64), w64);
        operations.insert(inst.op);
    }
    assert_eq!(operations.len(), 187, "operations in the corpus");
}

/// Programs lie in `data/programs` as NAME.TARGET.wWAVE.bin, beside each what `llvm-objdump -d` printed.
#[test]
fn whole_programs_list_as_llvm_objdump_lists_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/programs");
    let mut programs = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "txt") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let parts: Vec<&str> = name.split('.').collect();
        let wave = if parts[2] == "w64" { WaveSize::W64 } else { WaveSize::W32 };
        let code = std::fs::read(&path).unwrap();
        let words: Vec<u32> = code.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        let listing: String =
            disassemble_program(&words, target(parts[1]), wave).map(|line| format!("{line}\n")).collect();
        assert_eq!(listing, std::fs::read_to_string(path.with_extension("txt")).unwrap(), "{name}");
        programs += 1;
    }
    assert_eq!(programs, 9);
}

#[test]
fn words_that_are_no_instruction_are_listed_as_such() {
    let words = [0xbe80_0301, 0xffff_ffff, 0xbf81_0000, 0xd9ff_ffff];
    let lines: Vec<_> = disassemble_program(&words, Target::Gfx1030, WaveSize::W32).collect();
    let texts: Vec<&str> = lines.iter().map(|l| l.text.as_str()).collect();
    assert_eq!(texts, ["s_mov_b32 s0, s1", ".long 0xffffffff", "s_endpgm", ".long 0xd9ffffff"]);
    assert_eq!(lines[1].inst.unwrap_err().offset, 4);
    assert_eq!(
        lines[3].to_string(),
        "\t.long 0xd9ffffff                                           // 00000000000C: D9FFFFFF"
    );
}
