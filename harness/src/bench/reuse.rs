//! What executors keep from one draw to the next is not used where it does not hold any more.

use clap::Parser;
use guestwave_cp::amd::reg;
use guestwave_cp::{GuestMemory, read_u32};

use super::draws::{
    CODE, CONSTANTS, Draws, INPUT, LISTS, OUTPUT, capture, draws, input_descriptor, output_descriptor,
};
use super::packets::Stream;
use super::{EngineArgs, Work};
use crate::capture::{VaKind, VaOp};
use crate::memory::CaptureMemory;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    engine: EngineArgs,
}

/// Three points, captured by as many draws of one submission as `count` says, on every executor.
fn each(count: u32, test: impl Fn(&mut Draws)) {
    for executor in ["reference", "translate"] {
        let engine = Cli::parse_from(["bench", "--executor", executor]).engine;
        let mut points = draws(&engine, 1, 3, 3, count).unwrap();
        for _ in 0..2 {
            points.run().unwrap();
            points.check().unwrap();
        }
        test(&mut points);
    }
}

/// The buffer object that is mapped at an address.
fn bo(memory: &CaptureMemory, address: u64) -> u32 {
    let starts = |bo: u32| memory.address_of(bo, 0) == Some(address);
    memory.buffers().iter().map(|b| b.bo).find(|bo| starts(*bo)).unwrap()
}

/// Component 2 of the second vertex.
fn third(memory: &CaptureMemory) -> f32 {
    f32::from_bits(read_u32(memory, OUTPUT + 32 + 8).unwrap())
}

/// Replaces the constant of the program that is added to component 2.
fn set_constant(memory: &CaptureMemory, to: f32) {
    let code = bo(memory, CODE);
    let mut bytes = vec![0; 4096];
    memory.buffer(code).unwrap().read(0, &mut bytes).unwrap();
    // s_mov_b32 s3 and a literal.
    let is_move = |word: &[u8]| word == 0xbe83_03ffu32.to_le_bytes();
    let at = (0..4092).step_by(4).find(|at| is_move(&bytes[*at..*at + 4])).unwrap();
    memory.fill(code, at as u64 + 4, &to.to_le_bytes()).unwrap();
}

#[test]
fn code_that_changed_at_its_address_is_the_code_that_runs() {
    each(1, |points| {
        let before = third(&points.guest.memory);
        set_constant(&points.guest.memory, 5.0);
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), before + 2.0);
        // The module of the old code is at hand; the new code is what lies there.
        set_constant(&points.guest.memory, 3.0);
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), before);
    });
}

#[test]
fn addresses_that_mean_other_memory_are_read_and_written_there() {
    each(2, |points| {
        let memory = &points.guest.memory;
        let old = memory.buffer(bo(memory, OUTPUT)).unwrap();
        memory.fill(old.bo, 0, &[0xee; 96]).unwrap();
        memory.place(OUTPUT, 96, &[], true).unwrap();
        memory.place(INPUT, 48, &[0; 48], false).unwrap();
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), 3.0);
        assert!(old.with_bytes(|bytes| bytes[..96].iter().all(|b| *b == 0xee)));
    });
}

#[test]
fn what_the_embedder_writes_between_draws_is_seen() {
    each(2, |points| {
        let memory = &points.guest.memory;
        memory.fill(bo(memory, INPUT), 0, &[0; 48]).unwrap();
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), 3.0);
    });
}

/// Runs packets and then a draw of the three points; `change` adds the packets.
fn draw_after(points: &mut Draws, address: u64, change: impl Fn(&mut Stream)) {
    let mut stream = Stream::default();
    change(&mut stream);
    capture(&mut stream, 3, 3);
    let ib = points.guest.load(address, &stream).unwrap();
    points.guest.submit(ib).unwrap();
}

/// Where the tests have streams of their own.
const STREAMS: u64 = 0x8000_2000_0000;

#[test]
fn another_program_that_is_mapped_at_the_address_is_the_one_that_runs() {
    each(2, |points| {
        let memory = &points.guest.memory;
        let before = third(memory);
        let mut code = vec![0; 4096];
        memory.buffer(bo(memory, CODE)).unwrap().read(0, &mut code).unwrap();
        memory.place(CODE, 4096, &code, false).unwrap();
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), before);
        set_constant(&points.guest.memory, 5.0);
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), before + 2.0);
    });
}

#[test]
fn user_data_that_changed_is_what_the_program_is_given() {
    each(2, |points| {
        let memory = &points.guest.memory;
        memory.write(CONSTANTS + 64, &0f32.to_le_bytes()).unwrap();
        let user_data = |n: u32, values: &[u32]| {
            let values = values.to_vec();
            move |stream: &mut Stream| stream.set(reg::SPI_SHADER_USER_DATA_VS.at(n), &values)
        };
        // Another factor, then the one before; then no input for the third vertex, then all of it.
        draw_after(points, STREAMS, user_data(2, &[CONSTANTS as u32 + 64]));
        assert_eq!(third(&points.guest.memory), 3.0);
        draw_after(points, STREAMS + 0x1000, user_data(2, &[CONSTANTS as u32]));
        points.check().unwrap();
        draw_after(points, STREAMS + 0x2000, user_data(12, &input_descriptor(1)));
        assert_eq!(third(&points.guest.memory), 3.0);
        draw_after(points, STREAMS + 0x3000, user_data(12, &input_descriptor(3)));
        points.check().unwrap();
    });
}

#[test]
fn descriptors_and_constants_that_changed_in_memory_are_heeded() {
    each(2, |points| {
        let memory = &points.guest.memory;
        memory.write(CONSTANTS, &0f32.to_le_bytes()).unwrap();
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), 3.0);
        // Room for the first vertex only; then also a stride, which code is made for.
        let memory = &points.guest.memory;
        let bytes = |words: [u32; 4]| words.map(u32::to_le_bytes).concat();
        memory.fill(bo(memory, OUTPUT), 0, &[0; 96]).unwrap();
        memory.write(LISTS, &bytes(output_descriptor(1))).unwrap();
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), 0.0);
        let [low, high, room, format] = output_descriptor(1);
        let with_stride = [low, high | 32 << 16, room, format];
        points.guest.memory.write(LISTS, &bytes(with_stride)).unwrap();
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), 0.0);
        points.guest.memory.write(LISTS, &bytes(output_descriptor(3))).unwrap();
        points.run().unwrap();
        assert_eq!(third(&points.guest.memory), 3.0);
    });
}

#[test]
fn registers_that_changed_between_draws_are_heeded() {
    each(2, |points| {
        let memory = &points.guest.memory;
        memory.fill(bo(memory, OUTPUT), 0, &[0; 96]).unwrap();
        // One vertex fits, and the others find themselves not to be stored.
        let mut stream = Stream::default();
        capture(&mut stream, 1, 3);
        let ib = points.guest.load(STREAMS, &stream).unwrap();
        points.guest.submit(ib).unwrap();
        assert_eq!(third(&points.guest.memory), 0.0);
        assert_ne!(read_u32(&points.guest.memory, OUTPUT).unwrap(), 0);
        points.run().unwrap();
        points.check().unwrap();
    });
}

/// Runs what must fault now; nothing may be stored.
fn faults(points: &mut Draws) {
    let stored = points.guest.memory.buffers();
    let bytes = |all: &[std::sync::Arc<crate::memory::Buffer>]| -> Vec<Vec<u8>> {
        all.iter().map(|b| b.with_bytes(<[u8]>::to_vec)).collect()
    };
    let before = bytes(&stored);
    assert!(points.run().is_err());
    assert!(bytes(&stored) == before, "a draw that faulted stored something");
}

#[test]
fn addresses_that_mean_nothing_any_more_fault() {
    for address in [INPUT, OUTPUT] {
        each(1, |points| {
            let memory = &points.guest.memory;
            let op = VaOp { bo: 0, kind: VaKind::Clear, flags: 0, va: address, offset: 0, size: 4096 };
            memory.va(&op).unwrap();
            faults(points);
        });
    }
}

#[test]
fn stores_to_what_became_read_only_fault() {
    each(1, |points| {
        let memory = &points.guest.memory;
        let bo = bo(memory, OUTPUT);
        let op = VaOp { bo, kind: VaKind::Replace, flags: 0, va: OUTPUT, offset: 0, size: 4096 };
        memory.va(&op).unwrap();
        faults(points);
    });
}
