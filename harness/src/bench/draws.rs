//! Streamout draws by packets, as a driver writes them: a million vertices at once, and many draws of three.

use anyhow::{Result, bail};
use guestwave_cp::amd::{IndirectBuffer, Register, reg};
use guestwave_cp::{GuestMemory, read_u32};

use super::baseline::Line;
use super::host::HostProgram;
use super::packets::{Guest, Stream, op};
use super::{Case, Clock, Work};
use crate::engine::EngineArgs;

/// The vertex program: see `vertex.s`.
const PROGRAM: &[u8] = include_bytes!("../../kernels/vertex.bin");

/// Guest addresses. Descriptors and constants lie where a driver's 32-bit pointers reach.
pub(super) const LISTS: u64 = 0x8000_0028_0000;
pub(super) const CONSTANTS: u64 = 0x8000_0028_0100;
pub(super) const CODE: u64 = 0x8000_0040_2000;
const SIZES: u64 = 0x8000_0050_0000;
const STREAM: u64 = 0x8000_1000_0000;
pub(super) const INPUT: u64 = 0x8001_0000_0000;
pub(super) const OUTPUT: u64 = 0x8002_0000_0000;

/// Bytes of a vertex.
const IN_BYTES: u32 = 16;
const OUT_BYTES: u32 = 32;

/// VGT_PRIMITIVE_TYPE.
const POINT_LIST: u32 = 1;
const TRIANGLE_LIST: u32 = 4;

const VERTICES: u32 = 1 << 20;
const WHOLE_TRIANGLES: u32 = VERTICES / 3 * 3;
const TINY_DRAWS: u32 = 10_000;

/// One draw of a million points.
pub(super) const POINTS: Case = Case {
    name: "xfb-points",
    unit: "vertices per CPU-second",
    clock: Clock::Cpu,
    items: VERTICES as f64,
    repeats: 10,
    reference: None,
    baseline: Some(xfb(&["1048576", "pt"], "best cpu", " Mvert/cpu-s", 1e6)),
    host: Some(HostProgram {
        entry: "stream",
        code: include_bytes!("../../kernels/baseline-stream.spv"),
        buffers: || [contents(VERTICES), vec![0; VERTICES as usize * OUT_BYTES as usize], Vec::new()],
        groups: VERTICES / 256,
        runs: 1,
    }),
    usual: true,
    set_up: |engine, part| large(engine, POINT_LIST, some(VERTICES, part)),
};

/// One draw of a third as many triangles.
pub(super) const TRIANGLES: Case = Case {
    name: "xfb-triangles",
    items: WHOLE_TRIANGLES as f64,
    baseline: Some(xfb(&["1048576", "tri"], "best cpu", " Mvert/cpu-s", 1e6)),
    host: None,
    set_up: |engine, part| large(engine, TRIANGLE_LIST, some(WHOLE_TRIANGLES, part)),
    ..POINTS
};

/// Vertices of one of the draws that make a hundred million: what they read and write fits a device's binding.
const STREAM_VERTICES: u32 = 12_500_000;
const STREAM_DRAWS: u32 = 8;

/// A hundred million points, in draws as large as a device can bind.
pub(super) const LARGEST: Case = Case {
    name: "xfb-stream",
    items: STREAM_VERTICES as f64 * STREAM_DRAWS as f64,
    repeats: 2,
    baseline: None,
    host: Some(HostProgram {
        entry: "stream",
        code: include_bytes!("../../kernels/baseline-stream.spv"),
        buffers: || {
            [contents(STREAM_VERTICES), vec![0; STREAM_VERTICES as usize * OUT_BYTES as usize], Vec::new()]
        },
        groups: STREAM_VERTICES.div_ceil(256),
        runs: STREAM_DRAWS,
    }),
    usual: false,
    set_up: |engine, part| {
        let draws_in_all = (f64::from(STREAM_DRAWS) * part).ceil() as u32;
        let vertices = some(STREAM_VERTICES, part);
        Ok(Box::new(draws(engine, POINT_LIST, vertices, vertices, draws_in_all)?))
    },
    ..POINTS
};

/// Begin, draw three vertices, end; ten thousand times. The buffers are those of the large draws, as the baseline's are.
pub(super) const TINY: Case = Case {
    name: "tiny-draws",
    unit: "draws per second",
    clock: Clock::Wall,
    items: TINY_DRAWS as f64,
    baseline: Some(xfb(&["1048576", "pt"], "small:", " kdraw/s", 1e3)),
    host: None,
    set_up: |engine, part| tiny(engine, some(TINY_DRAWS, part)),
    ..POINTS
};

const fn xfb(args: &'static [&'static str], before: &'static str, after: &'static str, scale: f64) -> Line {
    Line { program: "xfb", args, before, after, scale }
}

fn some(of: u32, part: f64) -> u32 {
    ((f64::from(of) * part) as u32).max(3) / 3 * 3 + if part == 1.0 { of % 3 } else { 0 }
}

/// Draws by one stream.
pub(super) struct Draws {
    pub(super) guest: Guest,
    ib: IndirectBuffer,
    vertices: u32,
    /// By how much of itself a float may be off: sums of up to four products.
    tolerance: f32,
}

fn large(engine: &EngineArgs, topology: u32, vertices: u32) -> Result<Box<dyn Work>> {
    Ok(Box::new(draws(engine, topology, vertices, vertices, 1)?))
}

fn tiny(engine: &EngineArgs, draws_in_all: u32) -> Result<Box<dyn Work>> {
    Ok(Box::new(draws(engine, POINT_LIST, VERTICES, 3, draws_in_all)?))
}

/// As many draws of so many vertices, in one submission, from and to buffers that have room for `room` vertices.
pub(super) fn draws(
    engine: &EngineArgs,
    topology: u32,
    room: u32,
    vertices: u32,
    count: u32,
) -> Result<Draws> {
    let guest = Guest::new(engine)?;
    place(&guest, room)?;
    let mut stream = Stream::default();
    state(&mut stream, topology, room);
    for _ in 0..count {
        capture(&mut stream, room, vertices);
    }
    let ib = guest.load(STREAM, &stream)?;
    Ok(Draws { guest, ib, vertices, tolerance: engine.tolerance(8) })
}

/// The `i`th float of the input.
fn input(i: u32) -> f32 {
    (i % 1000) as f32 * 0.001
}

/// What the input holds.
fn contents(count: u32) -> Vec<u8> {
    (0..4 * count).flat_map(|i| input(i).to_le_bytes()).collect()
}

/// The uniform.
const A: f32 = 2.0;

/// Puts the program, its inputs and room for its outputs into memory, for so many vertices.
fn place(guest: &Guest, vertices: u32) -> Result<()> {
    let memory = &guest.memory;
    let floats = contents(vertices);
    memory.place(INPUT, floats.len() as u64, &floats, false)?;
    memory.place(OUTPUT, u64::from(vertices) * u64::from(OUT_BYTES), &[], true)?;
    memory.place(SIZES, 4, &[], true)?;
    memory.place(CODE, PROGRAM.len() as u64, PROGRAM, false)?;
    memory.place(LISTS, 0x1000, &[], true)?;
    let bytes = |words: [u32; 4]| words.map(u32::to_le_bytes).concat();
    memory.write(LISTS, &bytes(output_descriptor(vertices)))?;
    memory.write(CONSTANTS, &A.to_le_bytes())?;
    Ok(())
}

/// Raw, of all the room there is.
pub(super) fn output_descriptor(vertices: u32) -> [u32; 4] {
    [OUTPUT as u32, (OUTPUT >> 32) as u32, vertices * OUT_BYTES, 0x3101_6fac]
}

/// Four floats an element, bounds in elements.
pub(super) fn input_descriptor(vertices: u32) -> [u32; 4] {
    [INPUT as u32, (INPUT >> 32) as u32 | IN_BYTES << 16, vertices, 0x1104_dfac]
}

/// What a driver sets once.
fn state(stream: &mut Stream, topology: u32, vertices: u32) {
    const WAVE32: u32 = 1 << 23;
    const DISCARD: u32 = 1 << 22;
    /// FLOAT_MODE 0xc0 and DX10_CLAMP, 16 VGPRs.
    const RSRC1: u32 = 0x002c_0001;
    /// 20 user SGPRs, SO_BASE0_EN, SO_EN.
    const RSRC2: u32 = 20 << 1 | 1 << 8 | 1 << 12;
    let page = (CODE >> 8) as u32;
    let state: [(Register, &[u32]); 6] = [
        (reg::VGT_SHADER_STAGES_EN, &[WAVE32]),
        (reg::PA_CL_CLIP_CNTL, &[DISCARD]),
        (reg::SPI_SHADER_PGM_LO_VS, &[page, (CODE >> 40) as u32, RSRC1, RSRC2]),
        (reg::VGT_PRIMITIVE_TYPE, &[topology]),
        (reg::SPI_SHADER_USER_DATA_VS.at(0), &[LISTS as u32, 0, CONSTANTS as u32, 0]),
        (reg::SPI_SHADER_USER_DATA_VS.at(12), &input_descriptor(vertices)),
    ];
    state.into_iter().for_each(|(first, values)| stream.set(first, values));
}

/// Begin, draw, end.
pub(super) fn capture(stream: &mut Stream, room: u32, vertices: u32) {
    settle(stream);
    stream.set(reg::VGT_STRMOUT_BUFFER_SIZE.at(0), &[room * OUT_BYTES / 4, OUT_BYTES / 4]);
    stream.packet(op::STRMOUT_BUFFER_UPDATE, &[0; 5]);
    stream.set(reg::VGT_STRMOUT_CONFIG, &[1, 1]);
    stream.packet(op::NUM_INSTANCES, &[1]);
    stream.packet(op::DRAW_INDEX_AUTO, &[vertices, 2]);
    settle(stream);
    /// The position goes to memory, and none is set.
    const STORE: u32 = 1 | 3 << 1;
    stream.packet(op::STRMOUT_BUFFER_UPDATE, &[STORE, SIZES as u32, (SIZES >> 32) as u32, 0, 0]);
    stream.set(reg::VGT_STRMOUT_BUFFER_SIZE.at(0), &[0]);
    stream.set(reg::VGT_STRMOUT_CONFIG, &[0, 0]);
}

/// Waits until streamout's counters stand still.
fn settle(stream: &mut Stream) {
    /// CP_STRMOUT_CNTL by dwords, and the event that sets its bit 0.
    const CONTROL: u32 = 0xc03f;
    const FLUSH: u32 = 0x1f;
    const EQUAL: u32 = 3;
    stream.packet(op::WRITE_DATA, &[0, CONTROL, 0, 0]);
    stream.packet(op::EVENT_WRITE, &[FLUSH]);
    stream.packet(op::WAIT_REG_MEM, &[EQUAL, CONTROL, 0, 1, 1, 4]);
}

/// What vertex `i` comes to.
fn output(i: u32) -> [f32; 8] {
    let p: [f32; 4] = std::array::from_fn(|c| input(4 * i + c as u32));
    let [x, y, z, w] = p;
    let dot = [y, z, w].into_iter().fold(x * x, |sum, c| c.mul_add(c, sum));
    [x.mul_add(A, 1.0), y.mul_add(A, 2.0), z.mul_add(A, 3.0), w.mul_add(A, i as f32), dot, x, y, z]
}

impl Work for Draws {
    fn run(&mut self) -> Result<()> {
        self.guest.submit(self.ib).map(drop)
    }

    fn check(&mut self) -> Result<()> {
        let memory = &self.guest.memory;
        let filled = read_u32(memory, SIZES)?;
        if filled != self.vertices * OUT_BYTES / 4 {
            bail!("{filled} dwords are filled");
        }
        for i in [0, 1, 2, self.vertices / 2, self.vertices - 1] {
            for (dword, wanted) in (0..).zip(output(i)) {
                let at = OUTPUT + u64::from(i) * u64::from(OUT_BYTES) + 4 * dword;
                let found = f32::from_bits(read_u32(memory, at)?);
                if (found - wanted).abs() > self.tolerance * wanted.abs() {
                    bail!("dword {dword} of vertex {i} is {found}, not {wanted}");
                }
            }
        }
        Ok(())
    }
}
