//! The stage's state from packet to packet: offsets, counters, switches, formats.

use guestwave_cp::GuestMemory;
use guestwave_cp::intel::sol::{Policies, Unbound};
use guestwave_cp::intel::{Gen, NoObserver, SubmitReport};
use guestwave_cp::streamout::{Counters, Slot};
use guestwave_harness::intel::{IntelBuffer, IntelMachine, KernelStage};

use crate::support::native;

const BATCH: u64 = 0x10_0000;
const VERTICES: u32 = 0x11_0000;
const STREAMED: u32 = 0x12_0000;
const ASIDE: u32 = 0x13_0000;
const END: u32 = 0x0500_0000;

/// A machine with four vertices of four floats, and everything else 0xee.
fn machine(generation: Gen, policies: Policies) -> IntelMachine {
    let machine = IntelMachine::new(generation, policies, Box::new(KernelStage::default()), native().boxed());
    for (number, address) in
        [BATCH, u64::from(VERTICES), u64::from(STREAMED), u64::from(ASIDE)].into_iter().enumerate()
    {
        machine.map(&IntelBuffer { number: number as u32, address, size: 0x1000 }).unwrap();
        machine.fill(address, &[0xee; 0x1000]).unwrap();
    }
    let floats: Vec<u8> = (0..16u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    machine.fill(u64::from(VERTICES), &floats).unwrap();
    machine
}

fn submit(machine: &mut IntelMachine, words: &[u32]) -> SubmitReport {
    let bytes: Vec<u8> = words.iter().chain(&[END]).flat_map(|word| word.to_le_bytes()).collect();
    machine.fill(BATCH, &bytes).unwrap();
    machine.submit(BATCH, bytes.len() as u64, &mut NoObserver)
}

fn words(machine: &IntelMachine, address: u32, count: usize) -> Vec<u32> {
    let mut bytes = vec![0; count * 4];
    machine.memory.read(u64::from(address), &mut bytes).unwrap();
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn floats(machine: &IntelMachine, count: usize) -> Vec<f32> {
    words(machine, STREAMED, count).into_iter().map(f32::from_bits).collect()
}

const UNTOUCHED: u32 = 0xeeee_eeee;

/// Vertices of one element of a surface format, `pitch` bytes apart.
fn fetch(format: u32, pitch: u32) -> Vec<u32> {
    vec![0x7808_0003, pitch, VERTICES, VERTICES + 63, 0, 0x7809_0001, 1 << 25 | format << 16, 0x1111_0000]
}

/// X of slot 0 into buffer 0, which takes `size` bytes.
fn stream(size: u32, control: u32) -> Vec<u32> {
    let buffer = [0x7918_0002, 4, STREAMED, STREAMED + size];
    [&buffer[..], &[0x7917_0003, 1, 1, 0x0001, 0, 0x781e_0001, control, 0]].concat()
}

const ON: u32 = 1 << 31 | 1 << 8;
const NO_RENDERING: u32 = 1 << 30;
const STATISTICS: u32 = 1 << 25;

fn draw(topology: u32, vertices: u32) -> Vec<u32> {
    vec![0x7b00_0005, topology, vertices, 0, 1, 0, 0]
}

fn counters(machine: &IntelMachine) -> Counters {
    machine.state().sol.unit.counters(Slot::default())
}

#[test]
fn draws_append_offsets_are_stored_and_loaded_and_what_does_not_fit_is_needed() {
    let mut machine = machine(Gen::Gen7, Policies::default());
    let control = ON | NO_RENDERING | STATISTICS;
    let setup = [fetch(0, 16), stream(20, control)].concat();
    let offset = |value| vec![0x1100_0001, 0x5280, value];
    let store = vec![0x1200_0001, 0x5280, ASIDE];
    let load = vec![0x1480_0001, 0x5280, ASIDE + 8];
    machine.fill(u64::from(ASIDE) + 8, &16u32.to_le_bytes()).unwrap();
    let batch = [setup, offset(4), draw(1, 2), draw(1, 1), store, load, draw(1, 3)].concat();
    assert!(submit(&mut machine, &batch).refusals.is_empty());
    assert_eq!(words(&machine, STREAMED, 1), [UNTOUCHED]);
    assert_eq!(floats(&machine, 5)[1..], [0.0, 4.0, 0.0, 0.0]);
    assert_eq!(words(&machine, STREAMED + 20, 1), [UNTOUCHED]);
    assert_eq!(words(&machine, ASIDE, 1), [16]);
    assert_eq!(counters(&machine), Counters { needed: 6, written: 4 });
}

#[test]
fn statistics_and_the_stage_itself_can_be_off() {
    let mut machine = machine(Gen::Gen7, Policies::default());
    let quiet = [fetch(0, 16), stream(64, ON | NO_RENDERING), draw(1, 2)].concat();
    assert!(submit(&mut machine, &quiet).refusals.is_empty());
    assert_eq!((counters(&machine), floats(&machine, 2)), (Counters::default(), vec![0.0, 4.0]));
    let off = [stream(64, STATISTICS | 1 << 8 | NO_RENDERING), draw(1, 2)].concat();
    assert!(submit(&mut machine, &off).refusals.is_empty());
    assert_eq!(
        (counters(&machine), words(&machine, STREAMED + 8, 1)),
        (Counters::default(), vec![UNTOUCHED])
    );
}

#[test]
fn rendering_that_is_left_on_is_reported_and_the_stream_still_stored() {
    let mut machine = machine(Gen::Gen7, Policies::default());
    let report = submit(&mut machine, &[fetch(0, 16), stream(64, ON), draw(1, 1)].concat());
    assert_eq!(report.refusals[0].refusal.code(), "CP-IDRAW-001");
    assert!(report.stopped().is_none());
    assert_eq!(report.bytes_streamed, 4);
}

/// Buffer 1 is selected and off.
#[test]
fn a_selected_buffer_that_is_off_overflows_or_is_left_out() {
    let batch = [
        fetch(0, 16),
        stream(64, ON | NO_RENDERING | STATISTICS),
        vec![0x7917_0005, 3, 2, 0x0001, 0, 0x1001, 0],
        draw(1, 2),
    ]
    .concat();
    let run = |unbound| {
        let mut machine = machine(Gen::Gen7, Policies { unbound, ..Policies::default() });
        assert!(submit(&mut machine, &batch).refusals.is_empty());
        (counters(&machine), words(&machine, STREAMED, 1))
    };
    assert_eq!(run(Unbound::Overflows), (Counters { needed: 2, written: 0 }, vec![UNTOUCHED]));
    assert_eq!(run(Unbound::Ignored), (Counters { needed: 2, written: 2 }, vec![0]));
}

/// Vertex fetch of Gen8 and later, and 3DSTATE_SO_BUFFER with its stream offset.
fn wide_setup(buffer_header: u32, offset_field: u32) -> Vec<u32> {
    let address_and_write = 1 << 31 | 1 << 21 | 1 << 20;
    let mut batch = vec![0x7808_0003, 16, VERTICES, 0, 64, 0x7809_0001, 1 << 25, 0x1111_0000, 0x784b_0000, 1];
    batch.extend([0x781e_0003, 1 << 31 | NO_RENDERING, 0, 4, 0]);
    batch.extend([buffer_header, address_and_write, STREAMED, 0, 15, ASIDE, 0, offset_field]);
    batch.extend([0x7917_0003, 1, 1, 0x0001, 0]);
    batch
}

#[test]
fn stream_offsets_of_later_generations_are_set_kept_in_memory_and_loaded() {
    for (generation, header) in [
        (Gen::Gen8, 0x7918_0006),
        (Gen::Gen9, 0x7918_0006),
        (Gen::Gen11, 0x7918_0006),
        (Gen::Gen12, 0x7860_0006),
    ] {
        let mut machine = machine(generation, Policies::default());
        let first = [wide_setup(header, 8), vec![0x7b00_0005, 0, 2, 0, 1, 0, 0]].concat();
        assert!(submit(&mut machine, &first).refusals.is_empty(), "{generation}");
        assert_eq!(words(&machine, ASIDE, 1), [16], "{generation}");
        machine.fill(u64::from(ASIDE), &4u32.to_le_bytes()).unwrap();
        let second = [wide_setup(header, u32::MAX), vec![0x7b00_0005, 0, 1, 1, 1, 0, 0]].concat();
        assert!(submit(&mut machine, &second).refusals.is_empty(), "{generation}");
        assert_eq!(words(&machine, STREAMED, 1), [UNTOUCHED], "{generation}");
        assert_eq!(floats(&machine, 4)[1..], [4.0, 0.0, 4.0], "{generation}");
        assert_eq!(words(&machine, ASIDE, 1), [8], "{generation}");
    }
}

/// An element of four bytes by format, and what X of the third vertex becomes.
#[test]
fn formats_indices_and_instances_are_fetched() {
    let x = |setup: Vec<u32>, draw: Vec<u32>, generation| {
        let mut machine = machine(generation, Policies::default());
        machine.fill(u64::from(VERTICES), &[0x80, 0xff, 0x00, 0x40, 1, 2, 3, 4, 0xff, 0x7f, 0, 0]).unwrap();
        machine.fill(u64::from(ASIDE), &[2, 0xff, 0, 1]).unwrap();
        let report = submit(&mut machine, &[setup, stream(64, ON | NO_RENDERING), draw].concat());
        assert!(report.refusals.is_empty(), "{:?}", report.refusals);
        words(&machine, STREAMED, 3)
    };
    // R8_UNORM, R16_SINT and R32_UINT, four bytes apart.
    let drawn = |format| x(fetch(format, 4), draw(1, 3), Gen::Gen7);
    assert_eq!(drawn(0x140), [128.0f32 / 255.0, 1.0 / 255.0, 1.0].map(f32::to_bits));
    assert_eq!(drawn(0x10c), [-128i32 as u32, 0x201, 0x7fff]);
    assert_eq!(drawn(0xd7), [0x4000_ff80, 0x0403_0201, 0x7fff]);
    // Indices of bytes, of which all ones cut: 2, cut, 0, 1 as lines leaves 0 and 1.
    let indices = vec![0x780a_0401, ASIDE, ASIDE + 3];
    let lines = vec![0x7b00_0005, 1 << 8 | 2, 4, 0, 1, 0, 0];
    let found = x([fetch(0xd7, 4), indices].concat(), lines, Gen::Gen7);
    assert_eq!(found, [0x4000_ff80, 0x0403_0201, UNTOUCHED]);
    // Instanced by two: instances 0 to 2 read elements 0, 0 and 1.
    let mut instanced = fetch(0xd7, 4);
    (instanced[1], instanced[4]) = (1 << 20 | 4, 2);
    let three = vec![0x7b00_0005, 1, 1, 0, 3, 0, 0];
    assert_eq!(x(instanced, three, Gen::Gen7), [0x4000_ff80, 0x4000_ff80, 0x0403_0201]);
}

#[test]
fn moved_numbers_are_added_by_the_command_streamer() {
    let mut machine = machine(Gen::Gen75, Policies::default());
    // R2 = R0 + R1, to memory.
    let load = |register: u32, value| [0x1100_0001, 0x2600 + 8 * register, value];
    let math = [
        0x0d00_0003,
        0x080 << 20 | 0x20 << 10,
        0x080 << 20 | 0x21 << 10 | 1,
        0x100 << 20,
        0x180 << 20 | 2 << 10 | 0x31,
    ];
    let store = [0x1200_0001, 0x2610, ASIDE];
    let batch = [&load(0, 40)[..], &load(1, 2), &math, &store].concat();
    assert!(submit(&mut machine, &batch).refusals.is_empty());
    assert_eq!(words(&machine, ASIDE, 1), [42]);
}
