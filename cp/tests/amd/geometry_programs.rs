//! Geometry and copy programs for tests, and the registers of a draw that runs them.

use guestwave_cp::amd::reg;
use guestwave_cp::{ExactDispatch, GuestMemory, Message, Stage, WaveRecord, read_u32};

use crate::draw::{KILL, POINTS, SO_EN, so_base};
use crate::support::{DATA, Machine, Wave, waves};

/// ES, GS, and a copy program.
pub(crate) const STAGES: u32 = 2 << 3 | 1 << 5 | 2 << 6;
/// VGT_GS_OUT_PRIM_TYPE.
pub(crate) const OUT_POINTS: u32 = 0;
pub(crate) const OUT_LINES: u32 = 1;
pub(crate) const OUT_TRIANGLES: u32 = 2;

pub(crate) const RING: u64 = DATA + 0x8_0000;
pub(crate) const SAMPLE: u64 = DATA + 0x7_0000;
/// Vertices of a thread in each stream, and dwords of a vertex.
pub(crate) const MOST_VERTICES: u32 = 8;
pub(crate) const VERTEX: u32 = 1;
pub(crate) const ITEM: u32 = 4 * MOST_VERTICES * VERTEX;

/// Where stream `s` stores.
pub(crate) fn buffer(s: usize) -> u64 {
    DATA + 0x4000 * s as u64
}

/// What a thread does: (stream, vertices of a strip), one after another. Every strip is cut but the last.
pub(crate) type Emits = fn(primitive: u32, invocation: u32) -> Vec<(usize, u32)>;

/// A machine set up for geometry draws of points into the stream `s`'s buffer `s`, with room for `room` dwords each.
pub(crate) fn machine(emits: Emits, room: [u32; 4]) -> Machine {
    let mut m = Machine::new();
    set_up(&mut m, room);
    m.executor.programs = Some(Box::new(move |dispatch, memory| play(dispatch, memory, emits)));
    m
}

/// Registers of a geometry draw.
pub(crate) fn set_up(m: &mut Machine, room: [u32; 4]) {
    m.set(reg::VGT_SHADER_STAGES_EN, STAGES)
        .set(reg::VGT_PRIMITIVE_TYPE, POINTS)
        .set(reg::PA_CL_CLIP_CNTL, KILL)
        .set(reg::VGT_GS_MODE, 0x30_0033)
        .set(reg::VGT_GS_ONCHIP_CNTL, 64 << 22 | 64 << 11 | 64)
        .set(reg::VGT_ESGS_RING_ITEMSIZE, 5)
        .set(reg::VGT_GSVS_RING_ITEMSIZE, ITEM)
        .set(reg::VGT_GSVS_RING_SIZE, 4 * 64 * 4 * ITEM / 256)
        .set(reg::VGT_GS_MAX_VERT_OUT, MOST_VERTICES)
        .set(reg::SPI_SHADER_PGM_RSRC2_GS, 64 << 19)
        .set(reg::SPI_SHADER_PGM_RSRC2_VS, SO_EN | (0..4).map(so_base).sum::<u32>())
        .set(reg::VGT_STRMOUT_CONFIG, 0xf)
        .set(reg::VGT_STRMOUT_BUFFER_CONFIG, 0x8421);
    for s in 0..4 {
        m.set(reg::VGT_GS_VERT_ITEMSIZE.at(s), VERTEX)
            .set(reg::VGT_STRMOUT_BUFFER_SIZE.at(s), room[s as usize])
            .set(reg::VGT_STRMOUT_VTX_STRIDE.at(s), 1);
    }
    for s in 1..4 {
        m.set(reg::VGT_GSVS_RING_OFFSET.at(s - 1), s * MOST_VERTICES * VERTEX);
    }
    m.event(25, 0, None);
}

/// What a vertex holds: its thread, stream and number.
pub(crate) fn tag(primitive: u32, invocation: u32, stream: usize, vertex: u32) -> u32 {
    1 << 31 | primitive << 12 | invocation << 8 | (stream as u32) << 4 | vertex
}

/// Plays a geometry program that emits what `emits` says, or a copy program that stores what it reads from the ring.
pub(crate) fn play(dispatch: &ExactDispatch, memory: &dyn GuestMemory, emits: Emits) -> Vec<WaveRecord> {
    match dispatch.stage {
        Stage::EsGs => waves(dispatch).iter().map(|wave| emit(wave, memory, emits)).collect(),
        _ => {
            waves(dispatch).iter().for_each(|wave| copy(wave, memory));
            Vec::new()
        }
    }
}

pub(crate) fn emit(wave: &Wave, memory: &dyn GuestMemory, emits: Emits) -> WaveRecord {
    let threads = wave.sgprs[3] >> 8 & 0xff;
    let mut messages = Vec::new();
    for lane in 0..threads {
        let vgprs = &wave.lanes[lane as usize];
        let mut counts = [0; 4];
        let strips = emits(vgprs[2], vgprs[3]);
        for (n, (stream, vertices)) in strips.iter().enumerate() {
            let mut send = |operation: u16| {
                messages.push(Message { simm16: operation | (*stream as u16) << 8, m0: 0, exec: 1 << lane });
            };
            for _ in 0..*vertices {
                let place = u64::from(wave.sgprs[2])
                    + 256 * u64::from(*stream as u32 * MOST_VERTICES * VERTEX)
                    + u64::from(
                        lane / 16 * 64 * VERTEX * MOST_VERTICES + counts[*stream] * 64 + lane % 16 * 4,
                    );
                let word = tag(vgprs[2], vgprs[3], *stream, counts[*stream]);
                memory.write(RING + place, &word.to_le_bytes()).unwrap();
                counts[*stream] += 1;
                send(0x22);
            }
            if n + 1 < strips.len() {
                send(0x12);
            }
        }
    }
    WaveRecord { exports: Vec::new(), messages }
}

pub(crate) fn copy(wave: &Wave, memory: &dyn GuestMemory) {
    let [config, write_index, offsets @ ..] = wave.sgprs.as_slice() else { return };
    let stream = (config >> 24 & 3) as usize;
    for (lane, vgprs) in wave.lanes.iter().take((config >> 16 & 0x7f) as usize).enumerate() {
        let word = read_u32(memory, RING + 4 * u64::from(vgprs[0])).unwrap();
        let vertex = u64::from(offsets[stream]) + u64::from(*write_index) + lane as u64;
        memory.write(buffer(stream) + 4 * vertex, &word.to_le_bytes()).unwrap();
    }
}

/// The strips of one thread as they are stored in a stream, as vertex numbers (last vertex provokes).
pub(crate) fn assembled(strips: &[(usize, u32)], stream: usize, out: u32) -> Vec<Vec<u32>> {
    let mut first = 0;
    let mut primitives = Vec::new();
    for (s, vertices) in strips.iter().filter(|(s, _)| *s == stream) {
        assert_eq!(*s, stream);
        for n in first..first + vertices {
            let from = n - first;
            match out {
                OUT_POINTS => primitives.push(vec![n]),
                OUT_LINES if from >= 1 => primitives.push(vec![n - 1, n]),
                OUT_TRIANGLES if from >= 2 && from % 2 == 0 => primitives.push(vec![n - 2, n - 1, n]),
                OUT_TRIANGLES if from >= 2 => primitives.push(vec![n - 1, n - 2, n]),
                _ => {}
            }
        }
        first += vertices;
    }
    primitives
}

/// Needed and written of each stream.
pub(crate) fn counters(m: &mut Machine) -> [(u32, u32); 4] {
    [32, 1, 2, 3].map(|event| {
        m.event(event, 3, Some(SAMPLE)).run();
        let words = m.memory.words(SAMPLE, 4);
        (words[0], words[2])
    })
}

/// Where each buffer stands, in dwords.
pub(crate) fn positions(m: &mut Machine) -> [u32; 4] {
    [0, 1, 2, 3].map(|b| {
        m.packet(0x34, &[7 | b << 8, SAMPLE as u32, 0, 0, 0]).run();
        m.memory.words(SAMPLE, 1)[0]
    })
}

pub(crate) fn one_each(_: u32, _: u32) -> Vec<(usize, u32)> {
    vec![(0, 1)]
}

/// Strips of all sizes in all streams, some of them interleaved.
pub(crate) fn mixed(primitive: u32, invocation: u32) -> Vec<(usize, u32)> {
    let n = primitive * 3 + invocation;
    vec![(1, n % 4), (0, 1), (3, 3 + n % 2), (1, 2), (2, (primitive + invocation) % 3), (3, n % 4)]
}
