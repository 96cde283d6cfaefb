//! The linker's rules, one by one, and any set of varyings.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

use guestwave_cp::mali::Version;
use guestwave_cp::mali::linker::{
    Access, Base, Element, Form, Layout, Location, Request, Section, Stage, link, parse,
};
use guestwave_cp::mali::{Attribute, Stride};
use proptest::prelude::*;

fn request(version: u8, text: &str) -> Request {
    let version = Version::new(version).unwrap();
    Request { version, varyings: parse(text).unwrap(), separate: false, trusted: false, shrink: false }
}

fn linked(version: u8, text: &str) -> (Request, Layout) {
    let request = request(version, text);
    let layout = link(&request).unwrap();
    (request, layout)
}

fn access<'a>(request: &Request, layout: &'a Layout, stage: Stage, name: &str) -> &'a Access {
    let found = request.varyings.iter().position(|v| v.stage == stage && v.name == name).unwrap();
    &layout.accesses[found]
}

const DRAW: &str = "
    vs pos position vec4
    vs size psiz float
    vs v_id var0 int
    vs v_smooth var1 vec4
    vs v_med var2 vec2 mediump
    fs v_id var0 int flat
    fs v_smooth var1 vec4
    fs v_med var2 vec2 mediump
    fs point point_coord vec2
    fs coord frag_coord vec4
";

#[test]
fn offsets_follow_each_other_aligned_to_their_size() {
    let (_, layout) = linked(
        9,
        "vs a var0 vec3\nvs b var1 float\nvs c var2 vec2\nvs d var3 vec3\nvs e var4 float16_t\nfs a var0 vec3",
    );
    let offsets: Vec<_> = layout.slots.iter().map(|s| s.section).collect();
    let expected = [0, 12, 16, 32, 44].map(|offset| Section::Generic { offset });
    assert_eq!((offsets, layout.generic_bytes), (expected.to_vec(), 46));
}

#[test]
fn high_precision_types_are_regained() {
    for version in [5, 7, 9, 11] {
        let (request, layout) = linked(version, DRAW);
        let types = |stage, name| {
            let a = access(&request, &layout, stage, name);
            (a.register, a.memory)
        };
        assert_eq!(types(Stage::Vertex, "v_id"), (Element::U32, Element::U32));
        assert_eq!(types(Stage::Vertex, "v_smooth"), (Element::U32, Element::U32));
        assert_eq!(types(Stage::Vertex, "v_med"), (Element::F32, Element::F32), "mediump keeps its type");
        assert_eq!(types(Stage::Fragment, "v_id"), (Element::U32, Element::U32));
        assert_eq!(types(Stage::Fragment, "v_smooth"), (Element::F32, Element::F32));
    }
}

#[test]
fn types_are_kept_where_they_can_be_trusted() {
    let signed = Element { base: Base::Sint, bits: 32 };
    for (separate, trusted, version) in [(true, false, 7), (false, true, 7), (false, false, 4)] {
        let request = Request { separate, trusted, ..request(version, DRAW) };
        let layout = link(&request).unwrap();
        assert_eq!(access(&request, &layout, Stage::Vertex, "v_id").memory, signed);
        assert_eq!(access(&request, &layout, Stage::Fragment, "v_id").memory, signed);
    }
}

#[test]
fn mediump_floats_shrink_only_where_allowed() {
    let request = Request { shrink: true, ..request(9, DRAW) };
    let layout = link(&request).unwrap();
    let store = access(&request, &layout, Stage::Vertex, "v_med");
    assert_eq!((store.memory, store.converts), (Element::F16, Some(32)));
    let load = access(&request, &layout, Stage::Fragment, "v_med");
    assert_eq!((load.form, load.memory, load.converts), (Form::LoadBuffer, Element::F16, Some(32)));
    assert_eq!(layout.generic_bytes, 36);
}

#[test]
fn captured_words_of_positions_sizes_and_special_inputs() {
    let words = |layout: &Layout, stage, location| {
        let found = layout.descriptors.iter().find(|d| (d.stage, d.location) == (stage, location));
        found.map(|d| d.words.clone())
    };
    let (_, v7) = linked(7, DRAW);
    assert_eq!(words(&v7, Stage::Vertex, Location::Position), Some(vec![0x1780_0001, 0]));
    assert_eq!(words(&v7, Stage::Vertex, Location::PointSize), Some(vec![0x31c0_0002, 0]));
    assert_eq!(words(&v7, Stage::Fragment, Location::PointCoord), None, "an instruction reads it");
    let (_, v5) = linked(5, DRAW);
    assert_eq!(words(&v5, Stage::Vertex, Location::Position), Some(vec![0x179a_2201, 0]));
    assert_eq!(words(&v5, Stage::Vertex, Location::PointSize), Some(vec![0x31ec_8202, 0]));
    assert_eq!(words(&v5, Stage::Fragment, Location::PointCoord), Some(vec![0x2fda_2203, 0]));
    assert_eq!(words(&v5, Stage::Fragment, Location::FragCoord), Some(vec![0x2fda_2204, 0]));
    let specials: Vec<_> = v5.buffers.iter().filter_map(|b| b.special).collect();
    assert_eq!(specials, [0x61, 0x25]);
}

#[test]
fn the_immediate_offset_decides_for_all_loads() {
    let many = |count: usize| {
        let line = |stage: &str, n: usize| format!("{stage} v{n} var{n} vec4\n");
        (0..count).map(|n| line("vs", n) + &line("fs", n)).collect::<String>()
    };
    for (version, fits, past) in [(9, 16, 17), (10, 16, 17), (11, 60, 60)] {
        let (_, layout) = linked(version, &many(fits));
        assert!(layout.fallback.is_none() && layout.descriptors.is_empty());
        assert!(layout.accesses.iter().all(|a| matches!(a.form, Form::LoadBuffer | Form::StoreBuffer)));
        if past > fits {
            let (_, layout) = linked(version, &many(past));
            assert!(layout.fallback.is_some());
            let stores = layout.accesses.iter().filter(|a| a.form == Form::StoreBuffer).count();
            let loads =
                layout.accesses.iter().filter(|a| a.form == Form::LoadDescriptor { immediate: true }).count();
            assert_eq!((stores, loads, layout.descriptors.len()), (past, past, past));
        }
    }
}

#[test]
fn separate_shaders_of_v9_load_through_packet_descriptors() {
    for (version, buffer) in [(9, 0), (12, 1)] {
        let request = Request { separate: true, ..request(version, DRAW) };
        let layout = link(&request).unwrap();
        let color = layout.descriptors.iter().find(|d| d.location == Location::Var(1)).unwrap();
        let attribute = Attribute::decode(request.version, &color.words).unwrap();
        assert_eq!((attribute.table, attribute.buffer, attribute.offset), (61, buffer, 1024 + 16));
        let (stride, packet) = (layout.generic_bytes as u16, layout.generic_bytes as u16 + 16);
        assert_eq!(attribute.stride, Stride::Packet { attribute: stride, packet });
        assert!(!attribute.offset_enable);
    }
}

#[test]
fn unmatched_varyings_read_constants_and_are_not_stored() {
    let text = "vs lost var0 vec4\nvs kept var1 vec4\nfs kept var1 vec4\nfs absent var2 vec2";
    let (request, layout) = linked(7, text);
    let constant = 0x17c3_9c00;
    let words: Vec<_> = layout.descriptors.iter().map(|d| (d.location, d.words[0])).collect();
    assert!(words.contains(&(Location::Var(0), constant)) && words.contains(&(Location::Var(2), constant)));
    assert_eq!(access(&request, &layout, Stage::Vertex, "lost").section, Section::Nowhere);
    let (request, layout) = linked(9, text);
    assert_eq!(access(&request, &layout, Stage::Fragment, "absent").form, Form::Zero);
}

#[test]
fn indices_past_an_immediate_go_into_a_register() {
    let text: String = (0..24).map(|n| format!("vs v{n} var{n} vec4\nfs v{n} var{n} vec4\n")).collect();
    let (request, layout) = linked(7, &text);
    let form = |stage, n: u32| access(&request, &layout, stage, &format!("v{n}")).form;
    assert_eq!(form(Stage::Vertex, 15), Form::StoreConverted { immediate: true });
    assert_eq!(form(Stage::Vertex, 16), Form::StoreConverted { immediate: false });
    assert_eq!(form(Stage::Fragment, 19), Form::LoadDescriptor { immediate: true });
    assert_eq!(form(Stage::Fragment, 20), Form::LoadDescriptor { immediate: false });
}

#[test]
fn refusals_say_what_is_wrong() {
    let rows = [
        ("vs a var0", "CP-MALI-013"),
        ("xs a var0 vec4", "CP-MALI-013"),
        ("vs a var99 vec4", "CP-MALI-013"),
        ("vs a var0 vec5", "CP-MALI-013"),
        ("vs a var0 vec4 loud", "CP-MALI-013"),
        ("vs a var0.2 vec4", "CP-MALI-011"),
        ("fs a var0 int", "CP-MALI-011"),
        ("vs a point_coord vec2", "CP-MALI-011"),
        ("fs a position vec4", "CP-MALI-011"),
        ("vs a var0 vec4\nvs b var0.3 float", "CP-MALI-014"),
    ];
    for (text, code) in rows {
        let refused = parse(text).and_then(|varyings| {
            let version = Version::new(5).unwrap();
            link(&Request { version, varyings, separate: false, trusted: false, shrink: false })
        });
        assert_eq!(refused.map(|_| ()).unwrap_err().code(), code, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_total(text in "((vs|fs) [a-z] (var[0-9]|position|psiz)(\\.[0-9])? (vec4|int|uvec2|f16vec3)( flat| mediump)?\n){0,8}", version in 4u8..15, flags: [bool; 3]) {
        let (Ok(version), Ok(varyings)) = (Version::new(version), parse(&text)) else { return Ok(()) };
        let [separate, trusted, shrink] = flags;
        let request = Request { version, varyings, separate, trusted, shrink };
        if let Ok(layout) = link(&request) {
            prop_assert_eq!(layout.accesses.len(), request.varyings.len());
            for (access, varying) in layout.accesses.iter().zip(&request.varyings) {
                prop_assert!(!access.why.is_empty());
                let _ = layout.instructions(access, varying);
            }
            for descriptor in &layout.descriptors {
                prop_assert!(Attribute::decode(version, &descriptor.words).is_ok());
            }
        }
    }

    #[test]
    fn any_line_is_total(text in "[ -~\n]{0,80}") {
        let _ = parse(&text);
    }
}
