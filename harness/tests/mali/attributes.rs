//! The attribute and varying paths of captured draws against what OpenGL demands.

use guestwave_cp::GuestMemory;
use guestwave_cp::mali::record::Record;
use guestwave_cp::mali::{Element, Invocation, Located, ResourceTables, Source, Version, linear_id};
use guestwave_harness::mali::attributes::{Tables, load, store};
use guestwave_harness::memory::CaptureMemory;
use guestwave_isa::format::{Crossing, Register};

use crate::captured::*;

fn check_attributes(captured: &Captured, memory: &dyn GuestMemory, tables: &Tables, table: u32) {
    for at in invocations(captured) {
        let linear = linear_id(at.instance, VERTICES, at.vertex);
        let value = |index, register| {
            let located = tables.locate(memory, draw(), (table, index), at).unwrap();
            let loaded = load(memory, tables, located, linear, register).unwrap();
            assert!(loaded.inside, "{} {at:?}", captured.name);
            (loaded.registers.map(|r| r as u32), loaded.crossing)
        };
        let (position, color, id) = attributes(captured, at);
        assert_eq!(value(0, Register::F32), (position, Crossing::Same), "{} {at:?}", captured.name);
        assert_eq!(value(1, Register::F32), (color, Crossing::Same), "{} {at:?}", captured.name);
        assert_eq!(value(2, Register::S32), ([id, 0, 0, 1], Crossing::Same), "{} {at:?}", captured.name);
        let scaled = [(id as i32) as f32, 0.0, 0.0, 1.0].map(f32::to_bits);
        assert_eq!(value(2, Register::F32), (scaled, Crossing::Scaled), "a scaled format");
    }
}

#[test]
fn captured_attributes_load_what_opengl_demands() {
    for captured in &SETS {
        let memory = memory(captured);
        let tables = set(captured, captured.tables[0], 3, captured.tables[1]);
        check_attributes(captured, &memory, &tables, 0);
    }
    for (captured, pointer) in &RESOURCES {
        let tables = ResourceTables::of_pointer(Version::new(9).unwrap(), *pointer).unwrap();
        check_attributes(captured, &memory(captured), &Tables::Resources(tables), 1);
    }
}

/// The half floats that the nearest rounding makes of the colour's bytes.
fn half(byte: u8) -> u16 {
    let value = f64::from((f64::from(byte) / 255.0) as f32);
    let candidates = 0u16..0x3c01;
    let distance = |h: u16| (half_value(h) - value).abs();
    candidates.min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1)))).unwrap()
}

fn half_value(half: u16) -> f64 {
    let (exponent, fraction) = (i32::from(half >> 10), f64::from(half & 0x3ff));
    if exponent == 0 { fraction * 2f64.powi(-24) } else { (1024.0 + fraction) * 2f64.powi(exponent - 25) }
}

/// What the vertex shader of the draw writes, through descriptors 2, 3 and 4 of its set, and what the fragment shader's
/// last three descriptors read: the same bytes of the buffer, in the formats of both.
#[test]
fn captured_varyings_store_and_load_the_right_bytes() {
    for captured in &SETS {
        let memory = memory(captured);
        let [_, _, stores, loads, buffers] = captured.tables;
        let vertex_set = set(captured, stores, 5, buffers);
        let specials = if captured.version == 5 { 2 } else { 0 };
        let fragment_set = set(captured, loads, 3 + specials, buffers);
        for at in invocations(captured) {
            let locate = |tables: &Tables, index| tables.locate(&memory, draw(), (0, index), at).unwrap();
            let (position, color, id) = attributes(captured, at);
            let outputs = [(0, position), (2, color), (3, [color[0], color[1], 0, 0]), (4, [id, 0, 0, 0])];
            for (index, registers) in outputs {
                let located = locate(&vertex_set, index);
                let stored = store(&memory, &vertex_set, located, registers.map(u64::from), Register::Auto32);
                assert_eq!(stored, Ok(true), "{} {at:?} {index}", captured.name);
            }
            let read = |index, register| {
                let located = locate(&fragment_set, index + specials);
                load(&memory, &fragment_set, located, 0, register).unwrap().registers
            };
            assert_eq!(read(0, Register::F32), color.map(u64::from), "{} {at:?}", captured.name);
            let bytes = vertex(if captured.instances > 1 { at.instance / 3 } else { at.vertex }).1;
            let halves = [half(bytes[0]), half(bytes[1])].map(u64::from);
            assert_eq!(read(1, Register::F16), [halves[0], halves[1], 0, 0x3c00], "{} {at:?}", captured.name);
            assert_eq!(read(2, Register::U32), [id.into(), 0, 0, 1], "{} {at:?}", captured.name);
        }
        raw_bytes(captured, &memory);
    }
}

/// The buffer itself: stride, offsets and bytes as the captured descriptors lay them out.
fn raw_bytes(captured: &Captured, memory: &CaptureMemory) {
    // The v5 counts the window coordinate as a varying of 16 bytes, though nothing is stored for it.
    let (base, stride, skipped) =
        if captured.version == 5 { (0xf7fd_9000, 0x28, 16) } else { (0xf7fd_7000, 0x18, 0) };
    for at in invocations(captured) {
        let linear = linear_id(at.instance, VERTICES, at.vertex);
        let mut bytes = [0; 24];
        memory.read(base + u64::from(linear) * stride + skipped, &mut bytes).unwrap();
        let (_, color, id) = attributes(captured, at);
        let words: Vec<_> = color.iter().chain([&id]).flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!((&bytes[..16], &bytes[20..]), (&words[..16], &words[16..]), "{} {at:?}", captured.name);
    }
}

/// The v9 stores through the output buffer without descriptors: 16 bytes a location, 48 a vertex.
#[test]
fn v9_outputs_lie_in_vertex_packets() {
    let (captured, pointer) = &RESOURCES[0];
    let memory = memory(captured);
    let version = Version::new(9).unwrap();
    let outputs = Record::blank("buffer_packet", version)
        .and_then(|r| {
            r.with("address", BASE)?
                .with("size", 0x1_0000)?
                .with("packet_stride", 64)?
                .with("attribute_stride", 48)
        })
        .unwrap();
    let mut tables = ResourceTables::of_pointer(version, *pointer).unwrap();
    tables.outputs = vec![outputs];
    let buffer = tables.buffer(&memory, 61, 0).unwrap();
    assert_eq!(tables.buffer(&memory, 61, 1).unwrap_err().code(), "CP-MALI-008");
    // RGBA32F; v7 and later order it with code 0.
    const RGBA32F: u32 = 191 << 12;
    let located = |vertex: u32, offset: i32| {
        let element =
            Element::packet(buffer.value("address"), buffer.value("size"), vertex.into(), (48, 64), offset);
        Located { format: RGBA32F, source: Source::Element(element) }
    };
    let tables = Tables::Resources(tables);
    for vertex in [0, 5, 63, 64, 130] {
        let value = [vertex, 1, 2, 3].map(u64::from);
        assert_eq!(store(&memory, &tables, located(vertex, 1024 + 16), value, Register::Auto32), Ok(true));
    }
    for vertex in [0, 5, 63, 64, 130] {
        let loaded = load(&memory, &tables, located(vertex, 1024 + 16), 0, Register::F32).unwrap();
        assert_eq!(loaded.registers, [vertex, 1, 2, 3].map(u64::from));
    }
    let past = load(&memory, &tables, located(1 << 20, 1024), 0, Register::F32).unwrap();
    assert_eq!((past.inside, past.registers), (false, [0; 4]), "outside reads zeros and says so");
}

#[test]
fn special_inputs_come_from_the_invocation() {
    let captured = &SETS[1];
    let memory = memory(captured);
    // A vertex id by the padded count of 6 (3 << 1), and an instance id divided by 6.
    let vertex = [0x2100_0000u32, 0x22u32];
    let records: [[u32; 4]; 3] =
        [[vertex[1], vertex[0], 0, 100], [0x24, 0x2200_0000, 0x2aaa_aaaa, 7], [0x25, 0, 0, 0]];
    let bytes: Vec<_> = records.iter().flatten().flat_map(|w| w.to_le_bytes()).collect();
    memory.write(BASE, &bytes).unwrap();
    let attributes: Vec<_> =
        (0..3u32).flat_map(|i| [0x2164_8200 | i, 0]).flat_map(u32::to_le_bytes).collect();
    memory.write(BASE + 64, &attributes).unwrap();
    let tables = set(captured, BASE + 64, 3, BASE);
    for at in invocations(captured) {
        let linear = linear_id(at.instance, VERTICES, at.vertex);
        let value = |index| {
            let located = tables.locate(&memory, draw(), (0, index), at).unwrap();
            load(&memory, &tables, located, linear, Register::U32)
        };
        assert_eq!(value(0).unwrap().registers[0], u64::from(at.vertex + 100));
        assert_eq!(value(1).unwrap().registers[0], u64::from(at.instance + 7));
        assert_eq!(value(2).unwrap_err().code(), "HN-MALI-004");
    }
}

#[test]
fn an_index_past_the_table_is_refused() {
    let captured = &SETS[0];
    let memory = memory(captured);
    let tables = set(captured, captured.tables[0], 3, captured.tables[1]);
    let refused = tables.locate(&memory, draw(), (0, 3), Invocation::default()).unwrap_err();
    assert_eq!(refused.code(), "HN-MALI-001");
    assert!(refused.to_string().contains("CP-MALI-008"), "{refused}");
}
