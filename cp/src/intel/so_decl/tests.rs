//! Lists as public drivers made them, and the rules that they follow.

use proptest::prelude::*;

use super::varyings::{Mode, Varying, record};
use super::*;
use crate::streamout::Slot;

const VARYINGS: &str = include_str!("../../../tests/intel/varyings.tsv");
const LISTS: &str = include_str!("../../../tests/intel/lists.tsv");

fn rows<const N: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let lines = table.lines().filter(|l| !l.starts_with('#')).skip(1);
    lines.map(|l| l.split('\t').collect::<Vec<_>>().try_into().unwrap())
}

fn dwords(text: &str) -> Vec<u32> {
    text.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect()
}

/// `NAME=SLOT.COMPONENT:COMPONENTS[xELEMENTS]`.
fn varying(text: &str) -> Varying {
    let (name, rest) = text.split_once('=').unwrap();
    let (place, size) = rest.split_once(':').unwrap();
    let (slot, component) = place.split_once('.').unwrap();
    let (components, elements) = size.split_once('x').map_or((size, None), |(c, e)| (c, e.parse().ok()));
    let place =
        Varying::new(name, slot.parse().unwrap(), component.parse().unwrap(), components.parse().unwrap());
    Varying { elements, ..place }
}

fn linked(mode: &str, names: &str, slots: &str) -> Linked {
    let map: Vec<_> = slots.split(' ').map(varying).collect();
    let mode = if mode == "separate" { Mode::Separate } else { Mode::Interleaved };
    record(&names.split(' ').collect::<Vec<_>>(), mode, &map).unwrap().link().unwrap()
}

#[test]
fn every_captured_list_decodes_and_encodes_to_itself() {
    let mut count = 0;
    for [name, list] in rows(LISTS) {
        let decoded = DeclList::decode(&dwords(list), HoleMasks::Listed).unwrap();
        decoded.check().unwrap();
        assert_eq!(decoded.encode().unwrap(), dwords(list), "{name}");
        count += 1;
    }
    assert!(count > 25);
}

#[test]
fn varyings_link_to_what_the_drivers_sent() {
    for [name, mode, names, slots, pitches, list] in rows(VARYINGS) {
        let linked = linked(mode, names, slots);
        assert_eq!(linked.list.encode().unwrap(), dwords(list), "{name}");
        let pitches: Vec<u32> = pitches.split(' ').map(|p| p.parse().unwrap()).collect();
        assert_eq!(linked.pitches[..], pitches, "{name}");
    }
}

/// The list as the driver of 2013 made it: holes name no buffer, and so belong to buffer 0.
fn with_holes_in_buffer_0(list: &DeclList) -> DeclList {
    let mut list = list.clone();
    for decl in list.streams.iter_mut().flatten().filter(|d| d.hole) {
        decl.buffer = Slot::default();
    }
    list
}

#[test]
fn rule_11_that_of_2013_puts_a_gap_of_buffer_1_into_buffer_0() {
    let right = linked("interleaved", "v0 gl_NextBuffer gl_SkipComponents2 v1", "v0=2.0:4 v1=3.0:3");
    assert_eq!(right.list.record_bytes(), [16, 20, 0, 0]);
    let wrong = with_holes_in_buffer_0(&right.list);
    assert_ne!(wrong, right.list);
    // Buffer 0's record outgrows its pitch, and v1 lands where buffer 1's skipped words are.
    assert_eq!(wrong.record_bytes(), [24, 12, 0, 0]);
    // Without a gap past buffer 0 nobody notices.
    let plain = linked("interleaved", "v0 gl_SkipComponents2 v1", "v0=2.0:4 v1=3.0:3");
    assert_eq!(with_holes_in_buffer_0(&plain.list), plain.list);
}

#[test]
fn arrays_elements_and_unwritten_varyings_are_placed() {
    let mut map = [varying("a=4.1:2x3"), varying("b=2.0:3")];
    map[1].place = None;
    let linked = record(&["b", "a[1]", "a"], Mode::Interleaved, &map).unwrap().link().unwrap();
    let text: Vec<_> = linked.list.streams[0].iter().map(ToString::to_string).collect();
    assert_eq!(text, ["buf0 HOLE xyz", "buf0 slot5.yz", "buf0 slot4.yz", "buf0 slot5.yz", "buf0 slot6.yz"]);
    assert_eq!(linked.pitches[0], 12 + 8 + 24);
}

#[test]
fn skips_alone_take_a_buffer_and_no_declaration() {
    let linked = linked("interleaved", "v0 gl_NextBuffer gl_SkipComponents3", "v0=2.0:4");
    assert_eq!((linked.buffers, linked.list.selects[0], linked.pitches), (0b11, 0b01, [16, 12, 0, 0]));
}

fn output(buffer: u32, register: u8, first: u8, count: u8, offset: u32) -> Output {
    Output { buffer: Slot::from_bits(buffer), stream: Slot::default(), register, first, count, offset }
}

fn refusal(outputs: &[Output], pitch: u32) -> &'static str {
    let record = Record { outputs: outputs.to_vec(), pitches: [pitch; 4] };
    record.link().unwrap_err().code()
}

#[test]
fn impossible_records_are_refused_by_name() {
    let one = output(0, 1, 0, 4, 0);
    assert_eq!(refusal(&[one, output(0, 2, 0, 1, 12)], 64), "CP-SODECL-011");
    assert_eq!(refusal(&[output(0, 2, 0, 1, 6)], 64), "CP-SODECL-010");
    assert_eq!(refusal(&[output(0, 33, 0, 1, 0)], 64), "CP-SODECL-007");
    assert_eq!(refusal(&[output(0, 1, 2, 3, 0)], 64), "CP-SODECL-012");
    assert_eq!(refusal(&[output(0, 1, 0, 0, 0)], 64), "CP-SODECL-012");
    assert_eq!(refusal(&[one], 12), "CP-SODECL-013");
    assert_eq!(refusal(&[output(0, 1, 0, 1, u32::MAX - 3)], 64), "CP-SODECL-013");
    assert_eq!(refusal(&[one], 2052), "CP-SODECL-014");
    let many: Vec<_> = (0..65).map(|n| output(0, 1, 0, 1, 8 * n + 4)).collect();
    assert_eq!(refusal(&many, 1024), "CP-SODECL-003");
    let other = Output { stream: Slot::from_bits(1), ..output(0, 1, 0, 1, 16) };
    assert_eq!(refusal(&[one, other], 64), "CP-SODECL-008");
}

#[test]
fn impossible_varyings_are_refused_by_name() {
    let map = [varying("a=2.0:4"), varying("b=3.0:4x2")];
    let code = |names: &[&str], mode| record(names, mode, &map).unwrap_err().code();
    assert_eq!(code(&["c"], Mode::Interleaved), "CP-SODECL-015");
    assert_eq!(code(&["a", "a"], Mode::Interleaved), "CP-SODECL-016");
    assert_eq!(code(&["b[2]"], Mode::Interleaved), "CP-SODECL-017");
    assert_eq!(code(&["a[0]"], Mode::Interleaved), "CP-SODECL-017");
    assert_eq!(code(&["gl_NextBuffer"; 4], Mode::Interleaved), "CP-SODECL-018");
    assert_eq!(code(&["gl_SkipComponents1"], Mode::Separate), "CP-SODECL-019");
    assert_eq!(code(&["gl_SkipComponents5"], Mode::Interleaved), "CP-SODECL-015");
    assert_eq!(code(&["gl_SkipComponents4"; 129], Mode::Interleaved), "CP-SODECL-014");
}

#[test]
fn rule_12_a_length_cut_to_eight_bits_is_refused() {
    let decls = vec![SoDecl::data(Slot::default(), 2, 0, 1); MAX_ENTRIES];
    let list = DeclList { selects: [1, 0, 0, 0], streams: [decls, vec![], vec![], vec![]] };
    let dwords = list.encode().unwrap();
    assert_eq!((dwords[0], dwords.len()), (0x7917_0101, 259));
    assert_eq!(DeclList::decode(&dwords, HoleMasks::Listed).unwrap(), list);
    let cut = DeclList::decode(&dwords[..3], HoleMasks::Listed).unwrap_err();
    assert_eq!(cut.code(), "CP-SODECL-002");
}

#[test]
fn masks_and_bits_that_are_not_listed_are_refused() {
    let decode = |bits, holes| SoDecl::decode(bits, holes).map_err(|e| e.code());
    assert_eq!(decode(0x0025, HoleMasks::Listed), Err("CP-SODECL-005"));
    assert_eq!(decode(0x0808, HoleMasks::Listed), Err("CP-SODECL-006"));
    assert_eq!(decode(0x0808, HoleMasks::Counted).map(SoDecl::dwords), Ok(1));
    assert_eq!(decode(0x4021, HoleMasks::Listed), Err("CP-SODECL-004"));
    assert_eq!(decode(0x0211, HoleMasks::Listed), Err("CP-SODECL-007"));
    assert_eq!(decode(0x002e, HoleMasks::Listed).map(SoDecl::dwords), Ok(3));
}

proptest! {
    #[test]
    fn sixteen_bits_decode_to_themselves_or_are_refused(bits in any::<u16>()) {
        if let Ok(decl) = SoDecl::decode(bits, HoleMasks::Counted) {
            prop_assert_eq!(decl.encode(), bits);
        }
    }

    #[test]
    fn any_dwords_decode_or_are_refused(words in prop::collection::vec(any::<u32>(), 0..270)) {
        if let Ok(list) = DeclList::decode(&words, HoleMasks::Counted) {
            let again = DeclList::decode(&list.encode().unwrap(), HoleMasks::Counted).unwrap();
            prop_assert_eq!(again, list);
        }
    }

    /// Walking the list as the unit does finds each output at its own offset, with no more holes than the gaps need.
    #[test]
    fn linked_outputs_land_on_their_offsets(
        parts in prop::collection::vec((0u32..4, 0u8..33, 0u8..4, 1u8..5, 0u32..12), 0..24),
        trailing in prop::array::uniform4(0u32..6),
    ) {
        let mut ends = [0u32; 4];
        let mut holes = 0;
        let outputs: Vec<_> = parts.into_iter().map(|(buffer, register, first, count, gap)| {
            let count = count.min(4 - first);
            let end = &mut ends[buffer as usize];
            holes += gap.div_ceil(4);
            let output = output(buffer, register, first, count, *end + gap * 4);
            *end = output.offset + u32::from(count) * 4;
            output
        }).collect();
        let pitches = std::array::from_fn(|b| ends[b] + trailing[b] * 4);
        let linked = Record { outputs: outputs.clone(), pitches }.link().unwrap();
        let decls = &linked.list.streams[0];
        prop_assert_eq!(decls.iter().filter(|d| d.hole).count() as u32, holes);
        let mut next = [0u32; 4];
        let mut found = Vec::new();
        for decl in decls {
            let at = &mut next[decl.buffer.index()];
            if !decl.hole {
                found.push((decl.buffer, decl.register, decl.first(), decl.dwords() as u8, *at));
            }
            *at += decl.dwords() * 4;
        }
        let wanted: Vec<_> =
            outputs.iter().map(|o| (o.buffer, o.register, o.first, o.count, o.offset)).collect();
        prop_assert_eq!(found, wanted);
    }
}
