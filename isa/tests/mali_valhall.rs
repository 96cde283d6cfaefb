//! Valhall words: what captured programs hold decodes and lists as the driver's own disassembler lists it.

use guestwave_isa::mali::valhall::{Inst, rows};
use proptest::prelude::*;

/// Word in hex and listing, tab-separated.
const CAPTURED: &str = include_str!("data/valhall_v9.tsv");

fn captured() -> impl Iterator<Item = (u64, &'static str)> {
    let words = CAPTURED.lines().filter_map(|line| line.split_once('\t'));
    words.filter_map(|(word, text)| Some((u64::from_str_radix(word, 16).ok()?, text)))
}

#[test]
fn every_captured_word_lists_as_the_driver_lists_it() {
    let mut words = 0;
    for (word, text) in captured() {
        let inst = Inst::decode(word, 0).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(inst.to_string(), text);
        words += 1;
    }
    assert_eq!(words, 244);
}

#[test]
fn no_word_is_two_instructions() {
    let all: Vec<_> = rows().collect();
    for (i, a) in all.iter().enumerate() {
        for b in &all[i + 1..] {
            let common = a.second.0 & b.second.0;
            let apart = a.opcode != b.opcode || a.second.1 & common != b.second.1 & common;
            assert!(apart, "{} and {}", a.name, b.name);
        }
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = rows().map(|r| r.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|w| w[0] != w[1]));
}

proptest! {
    /// Any word decodes or is refused; what decodes can be listed, and all its sources can be asked for.
    #[test]
    fn any_word_decodes_or_is_refused(word: u64, row in 0..rows().count()) {
        let row = rows().nth(row).unwrap();
        let shaped = word & !(0x1ff << 48) & !row.second.0 | u64::from(row.opcode) << 48 | row.second.1;
        for word in [word, shaped] {
            match Inst::decode(word, 8) {
                Ok(inst) => {
                    prop_assert!(inst.to_string().starts_with(inst.row.name));
                    for i in 0..5 {
                        let _ = (inst.source(i), inst.pick(i), inst.source_mods(i));
                    }
                }
                Err(e) => prop_assert!(e.kind.code().starts_with("ISA-VAL-")),
            }
        }
    }
}
