//! Every known encoding of a Mali instruction word, in both directions, and the tables' own health.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop")]

use guestwave_isa::mali::bifrost::clause::{self, Clause};
use guestwave_isa::mali::valhall::words as valhall;
use guestwave_isa::mali::{Table, bifrost, midgard};
use proptest::prelude::*;

/// How one unit's words are read and written.
struct Unit {
    name: &'static str,
    versions: std::ops::RangeInclusive<u8>,
    bits: u32,
    table: fn() -> &'static Table,
}

const UNITS: [Unit; 3] = [
    Unit { name: "midgard", versions: 4..=5, bits: 60, table: midgard::table },
    Unit { name: "bifrost-add", versions: 6..=7, bits: 20, table: bifrost::add_table },
    Unit { name: "valhall", versions: 9..=14, bits: 64, table: valhall::table },
];

/// A row of the list of known encodings.
struct Known {
    unit: &'static Unit,
    version: u8,
    word: u64,
    text: &'static str,
}

fn known() -> Vec<Known> {
    let rows = include_str!("data/mali_words.tsv").lines().filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let columns: Vec<_> = line.split('\t').collect();
        let [unit, version, word, text, _] = columns[..] else { panic!("{line}") };
        let unit = UNITS.iter().find(|u| u.name == unit).unwrap();
        let word = u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
        Known { unit, version: version.parse().unwrap(), word, text }
    };
    rows.map(read).collect()
}

#[test]
fn tables_can_be_read_whole() {
    for unit in &UNITS {
        assert_eq!((unit.table)().faults(), &[] as &[String], "{}", unit.name);
    }
}

#[test]
fn known_words_decode_to_their_texts_and_back() {
    let mut wrong = Vec::new();
    for row in known() {
        let inst = match (row.unit.table)().decode(row.version, row.word) {
            Ok(inst) => inst,
            Err(error) => {
                wrong.push(format!("{}: {error}", row.text));
                continue;
            }
        };
        let text = (row.unit.table)().disassemble(&inst);
        if text != row.text || inst.encode() != Ok(row.word) {
            wrong.push(format!("{:#x} is {text}, not {}", row.word, row.text));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn known_texts_encode_to_their_words() {
    let mut wrong = Vec::new();
    for row in known() {
        match (row.unit.table)().assemble(row.version, row.text).and_then(|inst| inst.encode()) {
            Ok(word) if word == row.word => {}
            Ok(word) => wrong.push(format!("{} is {word:#x}, not {:#x}", row.text, row.word)),
            Err(error) => wrong.push(format!("{}: {error}", row.text)),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_bundle_holds_two_words() {
    let first = midgard::table().assemble(5, "LD_ATTR.f32 R1.xyzw, 0.x + 0x1, 0.x").unwrap();
    let second = midgard::table().assemble(5, "UNUSED").unwrap();
    let bundle = midgard::LoadStoreBundle { next_tag: 9, words: [first, second] };
    let bits = midgard::encode_bundle(&bundle).unwrap();
    assert_eq!(bits & 0xff, 0x95);
    assert_eq!(midgard::decode_bundle(5, bits), Ok(Some(bundle)));
    assert_eq!(midgard::decode_bundle(5, 8), Ok(None), "an ALU bundle");
}

#[test]
fn refusals_name_the_word_and_the_bit() {
    let error = valhall::table().decode(9, 0x0066_8002_0a10_7d7c).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("bit 27")), ("ISA-MALI-002", true), "{error}");
    let error = valhall::table().decode(9, 0x0066_8002_0110_7d7c).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("bit 24")), ("ISA-MALI-003", true), "{error}");
    assert_eq!(valhall::table().decode(9, u64::MAX).unwrap_err().code(), "ISA-MALI-001");
    let offset = "LD_VAR_BUF_IMM.f32.slot0.v4.src_f32.center.store @r0:r1:r2:r3, r61, index:0x100";
    assert_eq!(valhall::table().assemble(10, offset).unwrap_err().code(), "ISA-MALI-004");
    assert!(valhall::table().assemble(11, offset).is_ok(), "v11 widened the immediate");
    let load = valhall::table().assemble(11, offset).unwrap();
    assert_eq!(load.with("long_byte_offset", 0x800).unwrap_err().code(), "ISA-MALI-005");
}

/// A 9 in `src0` and a page in `src1` cannot go together in one word.
#[test]
fn sources_share_one_page() {
    let text = "LD_VAR_BUF.f32.slot0.src_f32.center.store @r0, u200, u3";
    assert_eq!(valhall::table().assemble(9, text).unwrap_err().code(), "ISA-MALI-004");
    let text = "LD_VAR_BUF.f32.slot0.src_f32.center.store @r0, u200, u199";
    let inst = valhall::table().assemble(9, text).unwrap();
    assert_eq!(valhall::table().disassemble(&inst), text);
    assert_eq!(inst.with("src0", 128).unwrap().encode().unwrap_err().code(), "ISA-MALI-006");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever decodes encodes to the same word, and its text to a word that prints alike.
    #[test]
    fn any_word_is_total(word: u64, unit in 0..UNITS.len(), pick: u8, base in any::<prop::sample::Index>()) {
        let unit = &UNITS[unit];
        let span = unit.versions.end() - unit.versions.start() + 1;
        let version = unit.versions.start() + pick % span;
        // Random bits in the low half of a known word reach more instructions than random words.
        let rows = known();
        let of_unit: Vec<_> = rows.iter().filter(|k| k.unit.name == unit.name).collect();
        let near = base.get(&of_unit).word ^ (word & word.rotate_left(17) & word.rotate_left(31));
        for word in [word, near].map(|w| w & (u64::MAX >> (64 - unit.bits))) {
            if let Ok(inst) = (unit.table)().decode(version, word) {
                prop_assert_eq!(inst.encode(), Ok(word));
                let text = (unit.table)().disassemble(&inst);
                let again = (unit.table)().assemble(version, &text);
                prop_assert_eq!(again.map(|i| (unit.table)().disassemble(&i)), Ok(text));
            }
        }
    }

    #[test]
    fn any_text_is_total(text in "[ -~]{0,60}", unit in 0..UNITS.len()) {
        let unit = &UNITS[unit];
        let _ = (unit.table)().assemble(*unit.versions.start(), &text);
    }
}

/// A clause of the list: version, bytes, text.
fn clauses() -> Vec<(u8, Vec<u8>, &'static str)> {
    let rows = include_str!("data/mali_clauses.tsv").lines().filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let columns: Vec<_> = line.split('\t').collect();
        let [version, hex, text] = columns[..] else { panic!("{line}") };
        let byte = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
        (version.parse().unwrap(), (0..hex.len()).step_by(2).map(byte).collect(), text)
    };
    rows.map(read).collect()
}

#[test]
fn known_clauses_decode_to_their_texts_and_back() {
    assert_eq!((clause::fma_table().faults(), clause::header_table().faults()), (&[][..], &[][..]));
    for (version, bytes, text) in clauses() {
        let (decoded, length) = Clause::decode(version, &bytes).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(length, bytes.len(), "{text}");
        let lines = decoded.disassemble();
        assert_eq!(format!("{} | {}", lines[0], lines[1..].join(" ; ")), text);
        assert_eq!(decoded.encode(), Ok(bytes), "{text}");
    }
}

/// Clauses of every number of tuples, with and without further constants.
#[test]
fn every_size_of_clause_packs_and_unpacks() {
    let (_, bytes, _) = clauses().into_iter().find(|c| c.1.len() == 96).unwrap();
    let (eight, _) = Clause::decode(6, &bytes).unwrap();
    assert_eq!(eight.tuples.len(), 8);
    for count in 1..=8 {
        let among = usize::from([3, 5, 6, 8].contains(&count));
        for behind in [0, 2] {
            let constants: Vec<u64> =
                (0..among + behind).map(|n| 0x1234_5678_9abc_def0 + ((n as u64) << 32)).collect();
            let tuples = eight.tuples[..count].to_vec();
            let modifiers = if [3, 6].contains(&count) { 0x5a5 } else { 0 };
            let clause = Clause { header: eight.header.clone(), tuples, constants, modifiers };
            let bytes = clause.encode().unwrap();
            assert_eq!(Clause::decode(6, &bytes), Ok((clause.clone(), bytes.len())), "{count} tuples");
            for short in (0..bytes.len()).step_by(16) {
                assert_eq!(Clause::decode(6, &bytes[..short]).unwrap_err().code(), "ISA-MALI-008");
            }
        }
    }
    let lost = Clause { constants: vec![16; 2], ..eight.clone() };
    assert_eq!(lost.encode().unwrap_err().code(), "ISA-MALI-010");
    let none = Clause { tuples: Vec::new(), ..eight };
    assert_eq!(none.encode().unwrap_err().code(), "ISA-MALI-010");
}

proptest! {
    /// Whatever decodes encodes to the same bytes.
    #[test]
    fn any_clause_is_total(pick in any::<prop::sample::Index>(), flips in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
        let list = clauses();
        let (version, mut bytes, _) = pick.get(&list).clone();
        for flip in flips {
            let bit = flip.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if let Ok((clause, length)) = Clause::decode(version, &bytes) {
            prop_assert_eq!(clause.encode(), Ok(bytes[..length].to_vec()));
            let _ = clause.disassemble();
        }
    }
}
