//! How a stream is walked: headers, buffers, bounds.

mod support;

use guestwave_cp::amd::{CommandProcessor, Config, IndirectBuffer, Limits, Ring, reg};
use guestwave_cp::{Isa, NoObserver};
use support::*;

const FILLER: u32 = 0xffff_1000;
const TYPE2: u32 = 0x8000_0000;

/// A stream that marks that the walk came by.
fn mark(value: u32) -> Vec<u32> {
    write_memory(DATA, &[value])
}

#[test]
fn fillers_of_both_kinds_are_one_dword() {
    let mut guest = Guest::default();
    let report = guest.run(&[&[FILLER, TYPE2, FILLER][..], &mark(7)].concat());
    assert_eq!((report.work.packets, codes(&report)), (4, vec![]));
    assert_eq!(guest.memory.get(DATA), 7);
}

#[test]
fn a_nop_carries_its_payload_past_the_walk() {
    let mut guest = Guest::default();
    let payload = [0x4000_0000, 0xc0ff_ff00, 3];
    let report = guest.run(&[packet(NOP, &payload), mark(7)].concat());
    assert_eq!((report.work.packets, codes(&report)), (2, vec![]));
}

#[test]
fn a_type_0_packet_sets_consecutive_registers() {
    let mut guest = Guest::default();
    let index = reg::VGT_PRIMITIVE_TYPE.0 >> 2;
    // The 16-bit index reaches the SH space but not the upper ones.
    assert!(index <= 0xffff);
    let report = guest.run(&[1 << 16 | index, 4, 2]);
    assert_eq!(codes(&report), [""; 0]);
    assert_eq!(guest.cp.registers(Ring::Gfx).get(reg::VGT_PRIMITIVE_TYPE), 4);
    assert_eq!(guest.cp.registers(Ring::Gfx).get(reg::VGT_INDEX_TYPE), 2);
}

/// Streams that end at a packet, and the code they end with.
const STOPS: &[(&[u32], &str)] = &[
    (&[0x4000_0000], "CP-PKT-001"),
    (&[0xc002_1000, 1, 2], "CP-PKT-002"),
    (&[0xfffe_1000], "CP-PKT-002"),
    (&[0x0001_2000, 1], "CP-PKT-002"),
    (&[0xc000_ff00, 1], "CP-PKT-003"),
    (&[0xc000_4700, 1], "CP-PKT-005"),
    (&[0xc004_4700, 1, 2, 3, 4, 5], "CP-PKT-004"),
    (&[0xc000_3700, 1], "CP-PKT-005"),
    (&[0xc000_1200, 1], "CP-PKT-006"),
    (&[0x0000_0000, 1], "CP-REG-001"),
    (&[0xc001_6900, 0xffff, 1], "CP-REG-001"),
    (&[0xc001_6900, 0x2000, 1], "CP-REG-001"),
    (&[0xc002_6900, 0x1fff, 1, 2], "CP-REG-002"),
    (&[0xc001_4600, 63, 0], "CP-EVT-001"),
];

#[test]
fn what_cannot_be_carried_out_stops_the_stream_there() {
    for (stream, code) in STOPS {
        let mut guest = Guest::default();
        let report = guest.run(&[&mark(1)[..], stream].concat());
        assert_eq!(codes(&report), [*code], "{stream:x?}");
        let stop = report.stopped().unwrap();
        assert_eq!((stop.at.packet_offset, stop.at.packet_address), (20, BASE + 20), "{stream:x?}");
        assert_eq!(guest.memory.get(DATA), 1);
        let ibs = [guest.load(BASE, stream), guest.load(BASE + 0x1000, &mark(2))];
        let report = guest.submit(&ibs);
        assert!(
            report.stopped().is_some_and(|s| s.at.packet_offset == 0 && s.at.submission == 1),
            "{stream:x?}"
        );
        assert_eq!(guest.memory.get(DATA), 1, "what follows has no effect");
    }
}

#[test]
fn a_refusal_leaves_the_rest_of_the_submission_out_and_the_next_one_runs() {
    let mut guest = Guest::default();
    let bad = guest.load(BASE, &[0x4000_0000]);
    let good = guest.load(BASE + 0x1000, &mark(3));
    assert_eq!(codes(&guest.submit(&[bad, good])), ["CP-PKT-001"]);
    assert_eq!(guest.memory.get(DATA), 0);
    assert_eq!(codes(&guest.submit(&[good])), [""; 0]);
    assert_eq!(guest.memory.get(DATA), 3);
}

#[test]
fn a_called_buffer_comes_back_and_a_chained_one_does_not() {
    let mut guest = Guest::default();
    let called = guest.load(BASE + 0x1000, &write_memory(DATA, &[1]));
    let chained = guest.load(BASE + 0x2000, &write_memory(DATA + 8, &[3]));
    let stream = [
        call(called, false),
        write_memory(DATA + 4, &[2]),
        call(chained, true),
        write_memory(DATA + 12, &[4]),
    ];
    let report = guest.run(&stream.concat());
    assert_eq!(codes(&report), [""; 0]);
    let words: Vec<_> = (0..4).map(|i| guest.memory.get(DATA + 4 * i)).collect();
    assert_eq!(words, [1, 2, 3, 0]);
}

#[test]
fn a_chain_in_a_called_buffer_returns_to_the_caller() {
    let mut guest = Guest::default();
    let last = guest.load(BASE + 0x2000, &write_memory(DATA, &[1]));
    let called = guest.load(BASE + 0x1000, &call(last, true));
    let report = guest.run(&[call(called, false), write_memory(DATA + 4, &[2])].concat());
    assert_eq!(codes(&report), [""; 0]);
    assert_eq!((guest.memory.get(DATA), guest.memory.get(DATA + 4)), (1, 2));
}

#[test]
fn a_buffer_that_chains_to_itself_ends() {
    let mut guest = Guest::default();
    let itself = IndirectBuffer { address: BASE, dwords: 4 };
    assert_eq!(codes(&guest.run(&call(itself, true))), ["CP-PKT-008"]);
}

#[test]
fn a_chain_of_two_that_closes_ends() {
    let mut guest = Guest::default();
    let second = guest.load(BASE + 0x1000, &call(IndirectBuffer { address: BASE, dwords: 4 }, true));
    assert_eq!(codes(&guest.run(&call(second, true))), ["CP-PKT-008"]);
}

#[test]
fn a_buffer_that_calls_itself_ends() {
    let mut guest = Guest::default();
    let itself = IndirectBuffer { address: BASE, dwords: 4 };
    assert_eq!(codes(&guest.run(&call(itself, false))), ["CP-PKT-007"]);
}

fn limited(limits: Limits) -> Guest {
    Guest::with(CommandProcessor::new(Config { limits, ..Config::new(Isa::Gfx1030) }))
}

#[test]
fn chains_and_dwords_and_bytes_have_limits() {
    let mut guest = limited(Limits { chained: 3, ..Limits::DEFAULT });
    for i in 0..5 {
        let next = IndirectBuffer { address: BASE + 0x100 * (i + 1), dwords: 4 };
        guest.load(BASE + 0x100 * i, &call(next, true));
    }
    let first = IndirectBuffer { address: BASE, dwords: 4 };
    assert_eq!(codes(&guest.submit(&[first])), ["CP-PKT-009"]);

    let mut guest = limited(Limits { dwords: 8, ..Limits::DEFAULT });
    let ib = guest.load(BASE, &[FILLER; 5]);
    assert_eq!(codes(&guest.submit(&[ib, ib])), ["CP-PKT-010"]);
    assert_eq!(codes(&guest.submit(&[ib])), [""; 0], "each submission counts anew");

    let mut guest = limited(Limits { bytes: 8, ..Limits::DEFAULT });
    assert_eq!(codes(&guest.run(&[mark(1), mark(2), mark(3)].concat())), ["CP-PKT-011"]);
    assert_eq!(guest.memory.get(DATA), 2);
}

#[test]
fn calls_up_to_the_limit_work() {
    let mut guest = limited(Limits { call_depth: 2, ..Limits::DEFAULT });
    let inner = guest.load(BASE + 0x2000, &mark(9));
    let middle = guest.load(BASE + 0x1000, &call(inner, false));
    assert_eq!(codes(&guest.run(&call(middle, false))), [""; 0]);
    assert_eq!(guest.memory.get(DATA), 9);
    let outer = guest.load(BASE + 0x3000, &call(middle, false));
    assert_eq!(codes(&guest.run(&call(outer, false))), ["CP-PKT-007"]);
}

#[test]
fn an_unmapped_buffer_is_a_named_refusal() {
    let mut guest = Guest::default();
    let report = guest.submit(&[IndirectBuffer { address: 0x4000, dwords: 4 }]);
    assert_eq!(codes(&report), ["CP-MEM-001"]);
    // The part before the hole runs.
    let end = BASE + SIZE as u64 - 8;
    guest.memory.put(end, &[FILLER, FILLER]);
    let report = guest.submit(&[IndirectBuffer { address: end, dwords: 4 }]);
    assert_eq!(codes(&report), ["CP-MEM-001"]);
}

#[test]
fn an_empty_buffer_is_nothing() {
    let mut guest = Guest::default();
    let report = guest.submit(&[IndirectBuffer { address: 0, dwords: 0 }]);
    assert_eq!((report.work.packets, report.refusals.len()), (0, 0));
}

#[test]
fn packets_longer_than_a_window_are_read_whole() {
    let mut guest = Guest::default();
    let values: Vec<u32> = (0..16_000).collect();
    let stream = [vec![FILLER; 1000], write_memory(DATA, &values), mark(77)].concat();
    let report = guest.run(&stream);
    assert_eq!(codes(&report), [""; 0]);
    assert_eq!((guest.memory.get(DATA), guest.memory.get(DATA + 4 * 15_999)), (77, 15_999));
}

#[test]
fn a_stream_that_rewrites_what_is_ahead_is_walked_as_rewritten() {
    let mut guest = Guest::default();
    // The last value of the third packet is replaced by the first packet.
    let stream = [write_memory(BASE + 4 * 9, &[5]), mark(1)].concat();
    assert_eq!(codes(&guest.run(&stream)), [""; 0]);
    assert_eq!(guest.memory.get(DATA), 5);
}

#[test]
fn a_called_buffer_that_rewrites_its_caller_is_seen() {
    let mut guest = Guest::default();
    let called = guest.load(BASE + 0x1000, &write_memory(BASE + 4 * 8, &[5]));
    assert_eq!(codes(&guest.run(&[call(called, false), mark(1)].concat())), [""; 0]);
    assert_eq!(guest.memory.get(DATA), 5);
}

#[test]
fn a_program_that_rewrites_the_stream_is_seen_after_a_flush() {
    let mut guest = Guest::default();
    guest.executor.store_at = Some(DATA + 0x100);
    let start = dispatch(0xab00).len() as u64 * 4;
    // A wait makes the program run; the mark after it is what the program stored.
    let wait = packet(0x3c, &[&[0x10][..], &halves(DATA), &[0, 0, 0]].concat());
    let value_at = BASE + start + wait.len() as u64 * 4 + 16;
    guest.executor.store_at = Some(value_at);
    assert_eq!(codes(&guest.run(&[dispatch(0xab00), wait, mark(1)].concat())), [""; 0]);
    assert_eq!(guest.memory.get(DATA), 0xab00);
}

#[test]
fn rings_have_registers_of_their_own() {
    let mut guest = Guest::default();
    let ib = guest.load(BASE, &set_sh(reg::COMPUTE_DIM_X.0, &[5]));
    guest.submit_to(Ring::Compute, &[ib], &mut NoObserver);
    assert_eq!(guest.cp.registers(Ring::Compute).get(reg::COMPUTE_DIM_X), 5);
    assert_eq!(guest.cp.registers(Ring::Gfx).get(reg::COMPUTE_DIM_X), 0);
    let draw = guest.load(BASE, &packet(0x2d, &[3, 2]));
    assert_eq!(codes(&guest.submit_to(Ring::Compute, &[draw], &mut NoObserver)), ["CP-DRAW-001"]);
}
