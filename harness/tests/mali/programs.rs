//! The attribute path as generated programs: every executor leaves the bytes that the reference does.

use std::sync::Arc;
use std::time::Duration;

use guestwave_backend_soft::SoftBackend;
use guestwave_backend_wgpu::WgpuBackend;
use guestwave_cp::mali::{Attribute, AttributeBuffer, Divisor, Frequency, ResourceTables, Stride, Version};
use guestwave_cp::{DispatchId, GuestMemory};
use guestwave_harness::mali::attributes::{Tables, load, store};
use guestwave_harness::memory::CaptureMemory;
use guestwave_isa::format::{self, Component, ELEMENT_BYTES, Format, Numeric, Register};
use guestwave_translate::backend::{Backend, Batch, Holding, Launch};
use guestwave_translate::plain::PlainBackend;
use guestwave_translate::varying::{
    AttributeKey, DrawWords, Move, Side, SideWords, Unsupported, attribute_program, params,
};

use crate::captured::*;

/// Lanes of a wave in these programs.
const LANES: u32 = 32;

/// The executors, with invocations that each can run in reasonable time.
fn backends() -> Vec<(Box<dyn Backend>, u32)> {
    let soft = SoftBackend::new(Default::default()).unwrap();
    let wgpu = WgpuBackend::open(&Default::default()).unwrap();
    vec![(Box::new(PlainBackend::new()), 1 << 12), (Box::new(soft), 1 << 16), (Box::new(wgpu), 1 << 16)]
}

/// Runs a key over a draw.
fn run(
    backend: &mut dyn Backend,
    memory: &dyn GuestMemory,
    moves: &[(Move, (SideWords, SideWords))],
    draw: DrawWords,
) {
    let key = AttributeKey { wave_lanes: LANES as u8, moves: moves.iter().map(|m| m.0).collect() };
    let program = Arc::new(attribute_program(&key).unwrap());
    let holding = backend.caps().holdings.first().copied().unwrap_or(Holding::Wave);
    let program = backend.compile(&program, holding).unwrap();
    let sides: Vec<_> = moves.iter().map(|m| m.1).collect();
    let waves = (draw.vertices * draw.instances).div_ceil(LANES);
    let launch = Launch {
        id: DispatchId(1),
        program,
        params: params(draw, &sides),
        tables: Arc::from([]),
        waves,
        waves_per_group: 1,
        group_waves: None,
        budget: 1 << 20,
    };
    let ticket = backend.submit(Batch { launches: vec![launch] }, memory).unwrap();
    let done = backend.wait(ticket, memory, Duration::from_secs(300)).unwrap().unwrap();
    assert_eq!(done.fault, None, "{}", backend.caps().name);
}

/// A linear buffer at an address as an attribute reads or writes it.
fn linear(format: Format, pointer: u64, size: u32, stride: u32) -> (Side, SideWords) {
    let attribute = Attribute {
        format: 0,
        offset: 0,
        offset_enable: false,
        table: 0,
        buffer: 0,
        frequency: Frequency::Draw,
        divisor: Divisor::One,
        stride: Stride::Buffer,
    };
    let buffer = AttributeBuffer::Linear { pointer, stride, size, divisor: Divisor::One };
    Side::linear(&attribute, &buffer, format).unwrap()
}

fn bytes(memory: &CaptureMemory, from: u64, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    memory.read(from, &mut bytes).unwrap();
    bytes
}

/// Where the captured draws' varyings begin, and how many bytes are compared.
const OUTPUTS: u64 = 0xf7fd_7000;
const OUTPUT_BYTES: usize = 0x4000;

/// The side of a descriptor of a set.
fn of_set(tables: &Tables, memory: &dyn GuestMemory, index: u32) -> (Side, SideWords) {
    let Tables::Set(set) = tables else { panic!("no set") };
    let attribute = set.attribute(memory, index).unwrap();
    let buffer = set.buffer(memory, attribute.buffer).unwrap();
    let format = tables.format(attribute.format).unwrap().format;
    Side::linear(&attribute, &buffer, format).unwrap()
}

/// What the draw's vertex shader does by copying alone: colour to its two varyings, number to its one.
const COPIES: [(u32, u32, Register); 3] =
    [(1, 2, Register::F32), (1, 3, Register::F32), (2, 4, Register::Auto32)];

#[test]
fn captured_attributes_reach_their_varyings_on_every_executor() {
    for captured in &SETS {
        let [attributes, records, varyings, _, buffers] = captured.tables;
        let reference = memory(captured);
        let (from, to) = (set(captured, attributes, 3, records), set(captured, varyings, 5, buffers));
        for at in invocations(captured) {
            for (a, v, register) in COPIES {
                let locate =
                    |tables: &Tables, index| tables.locate(&reference, draw(), (0, index), at).unwrap();
                let loaded = load(&reference, &from, locate(&from, a), 0, register).unwrap();
                // The number is a signed 16-bit integer in memory and an unsigned 32-bit one in its varying.
                assert_eq!(store(&reference, &to, locate(&to, v), loaded.registers, register), Ok(true));
            }
        }
        let wanted = bytes(&reference, OUTPUTS, OUTPUT_BYTES);
        assert!(wanted.iter().any(|b| *b != 0), "{}", captured.name);
        for (mut backend, _) in backends() {
            let memory = memory(captured);
            let moves: Vec<_> = COPIES
                .iter()
                .map(|(a, v, register)| {
                    let (a, v) = (of_set(&from, &memory, *a), of_set(&to, &memory, *v));
                    // An automatic register between signed and unsigned memory is an integer for both.
                    (Move { from: a.0, to: v.0, register: *register }, (a.1, v.1))
                })
                .collect();
            let draw = DrawWords {
                vertices: VERTICES,
                instances: captured.instances,
                padded: VERTICES,
                offset_start: 0,
            };
            run(&mut *backend, &memory, &moves, draw);
            let name = backend.caps().name;
            assert_eq!(bytes(&memory, OUTPUTS, OUTPUT_BYTES), wanted, "{} on {name}", captured.name);
        }
    }
}

/// The v9's attributes, by their resource tables, into vertex packets of 48 bytes of varyings.
#[test]
fn captured_attributes_of_v9_reach_vertex_packets_on_every_executor() {
    for (captured, pointer) in &RESOURCES {
        let version = Version::new(9).unwrap();
        let outputs = |offset| Attribute {
            format: 0,
            offset,
            offset_enable: false,
            table: 61,
            buffer: 0,
            frequency: Frequency::Draw,
            divisor: Divisor::One,
            stride: Stride::Packet { attribute: 48, packet: 64 },
        };
        let words = [(0, 191u32 << 12, 1024), (1, 191 << 12, 1040), (2, 197 << 12 | 16, 1056)];
        for (mut backend, _) in backends() {
            let memory = memory(captured);
            let tables = ResourceTables::of_pointer(version, *pointer).unwrap();
            let moves: Vec<_> = words
                .iter()
                .map(|(index, word, offset)| {
                    let attribute = tables.attribute(&memory, 1, *index).unwrap();
                    let buffer = tables.buffer(&memory, attribute.table.into(), attribute.buffer).unwrap();
                    let format = format::mali(9, attribute.format).unwrap().format;
                    let from =
                        Side::resource(&attribute, format, (buffer.value("address"), buffer.value("size")));
                    let format = format::mali(9, *word).unwrap().format;
                    let to = Side::resource(&outputs(*offset), format, (OUTPUTS, OUTPUT_BYTES as u64));
                    (Move { from: from.0, to: to.0, register: Register::Auto32 }, (from.1, to.1))
                })
                .collect();
            let draw = DrawWords {
                vertices: VERTICES,
                instances: captured.instances,
                padded: VERTICES,
                offset_start: 0,
            };
            run(&mut *backend, &memory, &moves, draw);
            let found = bytes(&memory, OUTPUTS + 1024, 48 * 64);
            for at in invocations(captured) {
                let (position, color, id) = attributes(captured, at);
                let words: Vec<_> =
                    position.iter().chain(&color).chain([&id]).flat_map(|w| w.to_le_bytes()).collect();
                let first = 48 * (at.instance * VERTICES + at.vertex) as usize;
                assert_eq!(
                    found[first..first + 36],
                    words,
                    "{} {at:?} on {}",
                    captured.name,
                    backend.caps().name
                );
            }
        }
    }
}

/// Kinds and widths of components that any vendor's formats have and programs convert.
fn kinds() -> Vec<(Numeric, u8)> {
    let mut kinds = Vec::new();
    let amd = (0..=255).filter_map(|n| format::gfx10(n).map(|f| f.0));
    let intel = (0..0x200).filter_map(|n| format::intel(n).map(|f| f.0));
    let mali = (0..=255u32).filter_map(|n| format::mali(7, n << 12).ok().map(|f| f.format));
    for c in amd.chain(intel).chain(mali).flat_map(|f| *f.components()).flatten() {
        if c.width <= 32 && c.numeric != Numeric::Shared && !kinds.contains(&(c.numeric, c.width)) {
            kinds.push((c.numeric, c.width));
        }
    }
    kinds
}

fn single(numeric: Numeric, width: u8) -> Format {
    let bytes = width.div_ceil(8).next_power_of_two();
    Format::new(bytes, [Some(Component { shift: 0, width, numeric }), None, None, None]).unwrap()
}

/// The 32-bit format whose register a kind's automatic one is.
fn plain_format(numeric: Numeric) -> Format {
    let kind = if numeric.is_integer() { numeric } else { Numeric::Float };
    single(kind, 32)
}

/// Where inputs and outputs of the conversion tests lie.
const INPUTS: u64 = BASE;
const RESULTS: u64 = BASE + 0x8_0000;

/// Converts `inputs` from one format to another on a backend; gives the outputs.
fn converted(backend: &mut dyn Backend, from: Format, to: Format, inputs: &[u8]) -> Vec<u8> {
    let memory = empty_memory();
    memory.write(INPUTS, inputs).unwrap();
    let count = inputs.len() / from.bytes();
    let side =
        |format: Format, at: u64| linear(format, at, (count * format.bytes()) as u32, format.bytes() as u32);
    let (a, b) = (side(from, INPUTS), side(to, RESULTS));
    let one = (Move { from: a.0, to: b.0, register: Register::Auto32 }, (a.1, b.1));
    let draw = DrawWords { vertices: count as u32, instances: 1, padded: count as u32, offset_start: 0 };
    run(backend, &memory, &[one], draw);
    bytes(&memory, RESULTS, count * to.bytes())
}

/// What the codec says of the same.
fn by_codec(from: Format, to: Format, inputs: &[u8]) -> Vec<u8> {
    let element = |bytes: &[u8]| {
        let mut element = [0; ELEMENT_BYTES];
        element[..bytes.len()].copy_from_slice(bytes);
        element
    };
    let convert = |bytes: &[u8]| {
        let registers = from.read(&element(bytes), Register::Auto32);
        to.write(registers, Register::Auto32)[..to.bytes()].to_vec()
    };
    inputs.chunks_exact(from.bytes()).flat_map(convert).collect()
}

/// Every value of a small component, or random bits of a larger one.
fn inputs(format: Format, width: u8, count: u32, seed: u64) -> Vec<u8> {
    let mut random = seed;
    let value = |i: u32| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (random >> 29) as u32;
        // A fifth of the numbers is small, so that conversions to integers have something to round.
        let small = ((bits >> 8) as f32 / 65536.0 - 64.0).to_bits();
        if width <= 16 {
            i
        } else if i.is_multiple_of(5) {
            small
        } else {
            bits
        }
    };
    (0..count).map(value).flat_map(|v| v.to_le_bytes()[..format.bytes()].to_vec()).collect()
}

fn check_kind(backend: &mut dyn Backend, count: u32, seed: u64, (numeric, width): (Numeric, u8)) {
    let (memory, register) = (single(numeric, width), plain_format(numeric));
    let count = if width <= 16 { count.min(1 << width) } else { count };
    for (from, to, bits) in [(memory, register, width), (register, memory, 32)] {
        let list = inputs(from, bits, count, seed << 32 | u64::from(width) << 8 | numeric as u64);
        let (found, wanted) = (converted(backend, from, to, &list), by_codec(from, to, &list));
        let size = to.bytes();
        for (i, (f, w)) in found.chunks(size).zip(wanted.chunks(size)).enumerate() {
            let input = &list[i * from.bytes()..][..from.bytes()];
            assert_eq!(f, w, "{numeric:?}{width} from {input:x?} on {}", backend.caps().name);
        }
    }
}

#[test]
fn programs_convert_every_kind_as_the_codec_does() {
    for (mut backend, count) in backends() {
        kinds().into_iter().for_each(|kind| check_kind(&mut *backend, count, 0, kind));
    }
}

/// A million values of every kind that has more than 16 bits on one side, which all have.
#[test]
#[ignore = "minutes on the evaluator"]
fn programs_convert_a_million_values_of_every_kind() {
    for (mut backend, count) in backends() {
        for seed in 1..=u64::from(1_000_000u32.div_ceil(count)) {
            kinds().into_iter().for_each(|kind| check_kind(&mut *backend, count, seed, kind));
        }
    }
}

/// Whole formats: components across words, selections, missing components, elements of odd sizes.
#[test]
fn programs_move_whole_elements() {
    let list: Vec<Format> =
        [64, 65, 66, 67, 68, 115, 116, 123, 147, 148, 155, 179, 187, 89, 90, 215, 223, 84]
            .iter()
            .flat_map(|n| [0u32, 4, 12, 16].map(|order| format::mali(7, n << 12 | order).unwrap().format))
            .collect();
    for (mut backend, _) in backends().into_iter().take(2) {
        for format in &list {
            let target = if format.is_integer() { 157 } else { 191 };
            let target = format::mali(7, target << 12).unwrap().format;
            let bytes: Vec<u8> = (0..format.bytes() as u32 * 64)
                .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
                .collect();
            for (from, to) in [(*format, target), (*format, *format)] {
                assert_eq!(
                    converted(&mut *backend, from, to, &bytes),
                    by_codec(from, to, &bytes),
                    "{from:?}"
                );
            }
        }
    }
}

#[test]
fn what_programs_do_not_convert_is_refused() {
    let side = |format| linear(format, 0, 0, 0).0;
    let refused = |from, to, register| {
        let one = Move { from: side(from), to: side(to), register };
        attribute_program(&AttributeKey { wave_lanes: 32, moves: vec![one] }).unwrap_err()
    };
    let (float, uint) = (plain_format(Numeric::Float), plain_format(Numeric::Uint));
    let shared = format::intel(0x0ed).unwrap().0;
    assert_eq!(refused(shared, float, Register::F32), Unsupported::Component);
    assert_eq!(refused(float, uint, Register::F32), Unsupported::Lossy);
    assert_eq!(refused(float, uint, Register::Auto32), Unsupported::Lossy);
    assert_eq!(refused(float, float, Register::F16), Unsupported::Register);
}
