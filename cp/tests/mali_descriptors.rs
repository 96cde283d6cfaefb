//! Descriptors of captured draws hold what the driver's own dump says, and encode to the words that it wrote.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop")]

use guestwave_cp::mali::record::{self, Record};
use guestwave_cp::mali::{
    Attribute, AttributeBuffer, AttributeSet, Divisor, Draw, Element, Frequency, Invocation, ResourceTables,
    Stride, Version,
};
use guestwave_cp::{Generation, GuestMemory, MemoryFault};
use proptest::prelude::*;

/// A row of the captured descriptors.
struct Row {
    version: Version,
    capture: &'static str,
    record: &'static str,
    words: Vec<u32>,
    fields: Vec<(&'static str, i64)>,
}

fn rows() -> Vec<Row> {
    let lines = include_str!("data/mali_descriptors.tsv").lines().filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let columns: Vec<_> = line.split('\t').collect();
        let [version, capture, record, words, fields, _] = columns[..] else { panic!("{line}") };
        let field = |text: &'static str| {
            let (name, value) = text.split_once('=').unwrap();
            (name, value.parse().unwrap())
        };
        Row {
            version: Version::named(version).unwrap(),
            capture,
            record,
            words: words.split(' ').map(|w| u32::from_str_radix(w, 16).unwrap()).collect(),
            fields: fields.split(',').filter(|f| *f != "-").map(field).collect(),
        }
    };
    lines.map(read).collect()
}

#[test]
fn the_table_can_be_read_whole() {
    assert_eq!(record::faults(), 0);
    for version in [4, 5, 6, 7, 9, 10, 11, 12, 13, 14] {
        let version = Version::new(version).unwrap();
        for name in record::names(version) {
            let blank = Record::blank(name, version).unwrap();
            assert_eq!(Record::decode(name, version, &blank.encode()), Ok(blank), "{name}");
        }
    }
    for version in [0, 3, 8, 15] {
        assert_eq!(Version::new(version).unwrap_err().code(), "CP-MALI-001");
    }
}

#[test]
fn captured_descriptors_decode_to_what_the_dump_prints_and_back() {
    let rows = rows();
    assert_eq!(rows.len(), 373);
    for row in rows {
        let at = format!("{} {} {:x?}", row.capture, row.record, row.words);
        let decoded =
            Record::decode(row.record, row.version, &row.words).unwrap_or_else(|e| panic!("{at}: {e}"));
        for (name, value) in &row.fields {
            assert_eq!(decoded.get(name), Some(*value as u64), "{name} of {at}");
        }
        assert_eq!(decoded.encode(), row.words, "{at}");
    }
}

/// The type alone tells buffers, special inputs and the end of a list apart.
#[test]
fn captured_buffers_are_told_apart() {
    let told = ["buffer_", "special_"];
    for row in rows().into_iter().filter(|r| told.iter().any(|prefix| r.record.starts_with(prefix))) {
        let decoded = Record::decode_any(&told, row.version, &row.words);
        assert_eq!(decoded.unwrap().name(), row.record, "{} {:x?}", row.capture, row.words);
    }
}

fn version(number: u8) -> Version {
    Version::new(number).unwrap()
}

#[test]
fn v4_and_v6_have_the_layouts_of_v5_and_v7() {
    for row in rows().into_iter().filter(|r| r.version.number() < 9) {
        let older = version(row.version.number() - 1);
        assert_eq!(Record::decode(row.record, older, &row.words).unwrap().encode(), row.words);
    }
}

#[test]
fn three_dimensional_records_need_their_continuation() {
    let first = [0xf7ff_7005, 0, 16, 0x1000];
    let second = [0x0003_0020, 0x0001_0002, 64, 192];
    let record = Record::decode_any(&["buffer_"], version(5), &first).unwrap();
    let name = AttributeBuffer::continuation(record.name()).unwrap();
    let continuation = Record::decode(name, version(5), &second).unwrap();
    let AttributeBuffer::Grid(grid) = AttributeBuffer::of_records(&record, Some(&continuation)).unwrap()
    else {
        panic!("no grid")
    };
    assert_eq!(grid.extent, [4, 3, 2]);
    let place = grid.element([3, 2, 1], 4).place(16);
    assert_eq!((place.address, place.inside), (0xf7ff_7000 + 3 * 16 + 2 * 64 + 192 + 4, true));
    assert!(!grid.element([4, 0, 0], 0).place(16).inside, "past the extent, though its bytes would be there");
}

#[test]
fn refusals_name_the_word_and_the_bit() {
    let reserved = Record::decode("buffer_1d", version(7), &[1, 0x0100_0000, 24, 144]).unwrap_err();
    assert_eq!(
        (reserved.code(), reserved.to_string().contains("bit 24 of word 1")),
        ("CP-MALI-004", true),
        "{reserved}"
    );
    let code = Record::decode("continuation_npot", version(7), &[1, 2, 0, 3]).unwrap_err();
    assert_eq!((code.code(), code.to_string().contains("bit 0 of word 0")), ("CP-MALI-005", true), "{code}");
    let kind = Record::decode_any(&["buffer_"], version(7), &[9, 0, 0, 0]).unwrap_err();
    assert_eq!(kind.code(), "CP-MALI-006");
    assert_eq!(Record::decode("buffer_1d", version(7), &[1]).unwrap_err().code(), "CP-MALI-003");
    assert_eq!(Record::decode("buffer_1d", version(9), &[1]).unwrap_err().code(), "CP-MALI-002");
    let attribute = Record::blank("attribute", version(7)).unwrap();
    assert_eq!(attribute.with("buffer_index", 512).unwrap_err().code(), "CP-MALI-007");
    let special = Record::decode_any(&["special_"], version(7), &[0x25, 0, 0, 0]).unwrap_err();
    assert_eq!(special.code(), "CP-MALI-006", "v7 has no special inputs");
    assert_eq!(
        Attribute::decode(version(9), &[0x55, 2, 0, 0, 0, 0, 0, 0]).unwrap_err().code(),
        "CP-MALI-009"
    );
}

#[test]
fn captured_instance_attributes_of_v9() {
    let words = [0x2ec0_0035, 0x2100_0042, 0, 1, 0x18, 0x2aaa_aaaa, 0, 0];
    let attribute = Attribute::decode(version(9), &words).unwrap();
    assert_eq!((attribute.frequency, attribute.stride), (Frequency::Instance, Stride::Bytes(24)));
    assert_eq!(attribute.divisor, Divisor::by(3));
}

/// The conversion of positions that drivers bake into programs: Snap4, channels in order, f32 registers.
#[test]
fn conversions_of_positions() {
    for (number, word, format) in [(6, 0x0105_e688, 0x5e688), (7, 0x0105_e000, 0x5e000)] {
        let decoded = Record::decode("conversion", version(number), &[word]).unwrap();
        assert_eq!(
            (decoded.value("format"), decoded.value("register_format"), decoded.value("raw")),
            (format, 1, 0)
        );
        assert_eq!(decoded.encode(), [word]);
    }
    assert!(
        Record::decode("conversion", version(9), &[0x0105_e000]).is_err(),
        "instructions hold it since v9"
    );
}

#[test]
fn elements_outside_their_buffer_are_flagged() {
    let at = |index, offset| Element::linear(0x1000, 0x30, index, 16, offset).place(16);
    assert!(at(2, 0).inside && !at(2, 1).inside && !at(3, 0).inside && !at(0, -1).inside);
    assert!(!Element::linear(1 << 63, 0x30, 0, 16, 0).place(16).inside, "bit 63 is never in range");
}

proptest! {
    #[test]
    fn any_words_are_total(words: [u32; 8], number in 0u8..=16, length in 0usize..=8, clear: [u32; 8]) {
        let Ok(version) = Version::new(number) else { return Ok(()) };
        let words: Vec<_> = words.iter().zip(clear).map(|(w, c)| w & c & c.rotate_left(9)).take(length).collect();
        for name in record::names(version) {
            if let Ok(decoded) = Record::decode(name, version, &words) {
                let again = decoded.encode();
                prop_assert_eq!(&again[..], &words[..again.len()]);
                let _ = decoded.texts().count();
                let _ = AttributeBuffer::of_records(&decoded, None);
            }
        }
        let _ = Attribute::decode(version, &words);
    }

    #[test]
    fn any_place_is_defined(pointer: u64, size: u64, index: u32, stride: u32, offset: i32, bytes in 0usize..=32) {
        let _ = Element::linear(pointer, size, index.into(), stride, offset).place(bytes);
        let _ = Element::packet(pointer, size, index.into(), (stride as u16, (stride >> 16) as u16), offset).place(bytes);
    }
}

/// Memory that holds something at every address.
struct Noise(u64);

impl GuestMemory for Noise {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        for (i, byte) in into.iter_mut().enumerate() {
            let mixed = (address.wrapping_add(i as u64) ^ self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // Every other byte is small, so that types and indices often have a meaning.
            *byte = if mixed >> 63 == 0 { (mixed >> 40) as u8 & 7 } else { (mixed >> 48) as u8 };
        }
        Ok(())
    }

    fn write(&self, _: u64, _: &[u8]) -> Result<(), MemoryFault> {
        Ok(())
    }

    fn mapping(&self, _: u64) -> Option<std::ops::Range<u64>> {
        Some(0..1 << 48)
    }

    fn generation(&self) -> Generation {
        Generation(0)
    }

    fn changed_since(&self, since: Generation, _: &mut dyn FnMut(std::ops::Range<u64>)) -> Generation {
        since
    }
}

proptest! {
    #[test]
    fn any_tables_are_total(seed: u64, address: u64, index: u32, number in 4u8..15, vertex: u32, instance: u32, start: u32) {
        let Ok(version) = Version::new(number) else { return Ok(()) };
        let (memory, draw) = (Noise(seed), Draw { padded: start, offset_start: start });
        let invocation = Invocation { vertex, instance };
        let set = AttributeSet { version, attributes: (address, 1 << 16), buffers: (address ^ seed, 1 << 9) };
        let _ = set.locate(&memory, draw, index & 0xffff, invocation);
        if let Ok(tables) = ResourceTables::of_pointer(version, address) {
            let _ = tables.locate(&memory, draw, (index & 63, index >> 16), invocation);
        }
    }
}
