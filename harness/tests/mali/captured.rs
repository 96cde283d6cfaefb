//! Captured draws of six points on a T860 (v5), a G52 (v7) and a G57 (v9): memory and tables as a driver left them, and what
//! OpenGL demands of the draws.

use guestwave_cp::GuestMemory;
use guestwave_cp::mali::{AttributeSet, Draw, Invocation, Version};
use guestwave_harness::capture::{BufferObject, VA_WRITABLE, VaKind, VaOp};
use guestwave_harness::mali::attributes::Tables;
use guestwave_harness::memory::CaptureMemory;

/// Guest addresses of the captures all lie here.
pub(crate) const BASE: u64 = 0xf7f0_0000;
pub(crate) const SIZE: u64 = 0x10_0000;

/// A captured draw of six points: where the driver put its tables.
pub(crate) struct Captured {
    pub(crate) name: &'static str,
    pub(crate) hex: &'static str,
    pub(crate) version: u8,
    pub(crate) instances: u32,
    /// Attributes, their buffer records; varyings of the vertex shader and of the fragment shader, their buffer records.
    pub(crate) tables: [u64; 5],
}

macro_rules! captured {
    ($name:literal, $version:literal, $instances:literal, $tables:expr) => {
        Captured {
            name: $name,
            hex: include_str!(concat!("../data/mali/", $name, ".hex")),
            version: $version,
            instances: $instances,
            tables: $tables,
        }
    };
}

pub(crate) const SETS: [Captured; 4] = [
    captured!("860-draw", 5, 1, [0xf7fe_9330, 0xf7fe_9320, 0xf7ff_d040, 0xf7ff_d068, 0xf7fe_92c0]),
    captured!("860-inst", 5, 4, [0xf7fe_9380, 0xf7fe_9320, 0xf7ff_d040, 0xf7ff_d068, 0xf7fe_92c0]),
    captured!("7212-draw", 7, 1, [0xf7fe_7360, 0xf7fe_7340, 0xf7ff_b040, 0xf7ff_b068, 0xf7fe_7300]),
    captured!("7212-inst", 7, 4, [0xf7fe_73b0, 0xf7fe_7340, 0xf7ff_b040, 0xf7ff_b068, 0xf7fe_7300]),
];
/// The two draws of the v9, with their resource pointers.
pub(crate) const RESOURCES: [(Captured, u64); 2] = [
    (captured!("9093-draw", 9, 1, [0; 5]), 0xf7fe_96cc),
    (captured!("9093-inst", 9, 4, [0; 5]), 0xf7fe_970c),
];

pub(crate) const VERTICES: u32 = 6;

/// Zeros at the captures' addresses.
pub(crate) fn empty_memory() -> CaptureMemory {
    let memory = CaptureMemory::new();
    memory.create(&BufferObject { bo: 1, handle: 1, size: SIZE, domains: 2, flags: 0, userptr: 0 }).unwrap();
    let op = VaOp { bo: 1, va: BASE, size: SIZE, offset: 0, flags: VA_WRITABLE, kind: VaKind::Map };
    memory.va(&op).unwrap();
    memory
}

pub(crate) fn memory(captured: &Captured) -> CaptureMemory {
    let memory = empty_memory();
    for line in captured.hex.lines().filter(|line| !line.starts_with("segment")) {
        let (address, bytes) = line.split_once(": ").unwrap();
        let bytes: Vec<_> = bytes.split_whitespace().map(|b| u8::from_str_radix(b, 16).unwrap()).collect();
        memory.write(u64::from_str_radix(address, 16).unwrap(), &bytes).unwrap();
    }
    memory
}

pub(crate) fn invocations(captured: &Captured) -> impl Iterator<Item = Invocation> {
    let instances = captured.instances;
    (0..instances).flat_map(|instance| (0..VERTICES).map(move |vertex| Invocation { vertex, instance }))
}

/// What the draw's vertex buffer holds for one of its elements: position, colour, number.
pub(crate) fn vertex(i: u32) -> ([f32; 4], [u8; 4], i32) {
    let position = [(i % 3) as f32 * 0.5 - 0.5, (i / 3) as f32 * 0.5, 0.0, 1.0];
    (position, [(i * 40) as u8, (255 - i * 40) as u8, 7, 255], i as i32 - 3)
}

/// What an invocation's attributes are: position by the vertex; the others by the vertex, or every third instance and
/// every instance.
pub(crate) fn attributes(captured: &Captured, at: Invocation) -> ([u32; 4], [u32; 4], u32) {
    let instanced = captured.instances > 1;
    let (color, id) = if instanced { (at.instance / 3, at.instance) } else { (at.vertex, at.vertex) };
    let normalised = |byte: u8| (f64::from(byte) / 255.0) as f32;
    let (position, colors) = (vertex(at.vertex).0, vertex(color).1.map(normalised));
    (position.map(f32::to_bits), colors.map(f32::to_bits), vertex(id).2 as u32)
}

pub(crate) fn draw() -> Draw {
    Draw { padded: VERTICES, offset_start: 0 }
}

pub(crate) fn set(captured: &Captured, descriptors: u64, count: u32, buffers: u64) -> Tables {
    let version = Version::new(captured.version).unwrap();
    Tables::Set(AttributeSet { version, attributes: (descriptors, count), buffers: (buffers, 8) })
}
