//! Captures that were tampered with end in a named refusal or fault, with memory as the packets before it left it.
#![expect(clippy::unwrap_used, reason = "a capture that cannot be tampered with has to stop the test")]

mod common;

use guestwave_cp::amd::{decode, reg};
use guestwave_cp::canonical;
use guestwave_harness::capture::{Capture, PAGE_BYTES, PageDiff, Record, Run, Submit, VaOp};
use guestwave_harness::memory::CaptureMemory;
use guestwave_harness::replay::Outcome;

/// The submission of `points_interleaved` that draws, the buffer object that holds the streamout buffer, and where in
/// it the buffer begins.
const DRAW: u32 = 1;
const HEAP: u32 = 3;
const CAPTURED: u64 = 0x40000;

/// Bytes that the draw stores: 4 vertices of 24.
const STORED: u64 = 96;

/// Instructions that a dispatch may execute here: far more than the sample's, few enough to end soon.
const STEPS: u64 = 1 << 20;

fn run(capture: &Capture) -> Outcome {
    common::run_with(capture, STEPS)
}

fn sample() -> Capture {
    common::own("points_interleaved")
}

/// Place of the draw's SUBM among the records.
fn place(capture: &Capture) -> usize {
    capture.records.iter().position(|r| matches!(r, Record::Submit(s) if s.index == DRAW)).unwrap()
}

fn draw_submit(capture: &mut Capture) -> &mut Submit {
    let at = place(capture);
    match &mut capture.records[at] {
        Record::Submit(submit) => submit,
        _ => unreachable!(),
    }
}

/// The memory that the draw's submission sees, and its indirect buffer's words.
fn words(capture: &Capture) -> (CaptureMemory, Vec<u32>) {
    let memory = CaptureMemory::new();
    let machine_records = &capture.records[..place(capture)];
    for record in machine_records {
        match record {
            Record::Create(bo) => memory.create(bo).unwrap(),
            Record::Va(op) => memory.va(op).unwrap(),
            Record::Page(page) => memory.set_page(page).unwrap(),
            Record::Diff(diff) => memory.apply_diff(diff).unwrap(),
            _ => (),
        }
    }
    let Record::Submit(submit) = &capture.records[place(capture)] else { unreachable!() };
    let ib = submit.ibs[0];
    let words = (0..u64::from(ib.bytes / 4)).map(|i| guestwave_cp::read_u32(&memory, ib.va + 4 * i).unwrap());
    let words = words.collect();
    (memory, words)
}

/// Has the CPU write `values` at a guest address just before the draw's submission.
fn poke(capture: &mut Capture, address: u64, values: &[u32]) {
    let mapped = |op: &VaOp| {
        let start = canonical(op.va);
        (start..start + op.size)
            .contains(&canonical(address))
            .then(|| (op.bo, canonical(address) - start + op.offset))
    };
    let ops = capture.records.iter().filter_map(|r| if let Record::Va(op) = r { Some(op) } else { None });
    let (bo, offset) = ops.into_iter().find_map(mapped).unwrap();
    let page = PAGE_BYTES as u64;
    let run = Run { first: (offset % page / 4) as u16, words: values.to_vec() };
    let diff = PageDiff { bo, page: (offset / page) as u32, runs: vec![run] };
    let at = place(capture);
    capture.records.insert(at, Record::Diff(diff));
}

/// Replays a capture that must be refused, checks that memory stops there, and returns the outcome.
fn refused(capture: &Capture, code: &str) -> Outcome {
    let bytes = capture.to_bytes().unwrap();
    let capture = Capture::parse(&bytes).unwrap();
    let outcome = run(&capture);
    assert_eq!(common::verdict(&outcome).own, format!("refused {code}"), "{:?}", outcome.report.refusals);
    let before = run(&common::before_the_refusal(&capture, &outcome));
    assert!(
        common::contents(&before) == common::contents(&outcome),
        "memory was touched at or after the refusal"
    );
    outcome
}

#[test]
fn a_buffer_one_byte_short_faults_and_nothing_is_stored() {
    let mut capture = sample();
    let is_heap = |r: &Record| matches!(r, Record::Va(op) if op.bo == HEAP);
    let at = capture.records.iter().position(is_heap).unwrap();
    let Record::Va(whole) = capture.records[at] else { unreachable!() };
    let hole = CAPTURED + STORED - 1;
    let rest = whole.size - hole - 1;
    let upper = VaOp { va: whole.va + hole + 1, offset: hole + 1, size: rest, ..whole };
    capture.records[at] = Record::Va(VaOp { size: hole, ..whole });
    capture.records.insert(at + 1, Record::Va(upper));
    let outcome = refused(&capture, "ISA-RUN-006");
    let refusal = &outcome.report.refusals[0];
    assert!(refusal.text.contains(&format!("{:#x}", canonical(whole.va) + hole)), "{}", refusal.text);
    assert_eq!(refusal.submission, DRAW);
}

#[test]
fn a_buffer_one_dword_short_drops_the_last_primitive_and_counts_it() {
    let mut capture = sample();
    let (_, ib) = words(&capture);
    let size = reg::VGT_STRMOUT_BUFFER_SIZE.at(0);
    let base = draw_submit(&mut capture).ibs[0].va;
    let mut patched = 0;
    for view in decode::packets(&ib) {
        let values = view.register_writes().enumerate().filter(|(_, (r, v))| *r == size && *v != 0);
        for (i, _) in values.collect::<Vec<_>>() {
            let address = base + u64::from(view.offset) + 8 + 4 * i as u64;
            poke(&mut capture, address, &[STORED as u32 / 4 - 1]);
            patched += 1;
        }
    }
    assert_eq!(patched, 1);
    let outcome = run(&capture);
    let draw = outcome.trace.launches.iter().find_map(|l| l.draw).unwrap();
    assert_eq!((draw.primitives_needed, draw.primitives_written), (4, 3));
    assert_eq!(draw.positions_after[0], STORED - 24);
    assert_eq!(common::verdict(&outcome).own, "fail");
}

#[test]
fn a_truncated_indirect_buffer_is_refused_at_its_last_packet() {
    let mut capture = sample();
    let (_, ib) = words(&capture);
    let last = decode::packets(&ib).filter(|p| p.body.len() > 1).last().unwrap();
    draw_submit(&mut capture).ibs[0].bytes = last.offset + 8;
    let outcome = refused(&capture, "CP-PKT-002");
    assert_eq!(outcome.report.refusals[0].packet_offset, last.offset);
}

#[test]
fn an_indirect_buffer_that_chains_to_itself_is_refused() {
    let mut capture = sample();
    let ib = draw_submit(&mut capture).ibs[0];
    let chain = [0xc002_3f00, ib.va as u32, (ib.va >> 32) as u32, (ib.bytes / 4) | (1 << 20) | (1 << 23)];
    poke(&mut capture, ib.va + u64::from(ib.bytes) - 16, &chain);
    refused(&capture, "CP-PKT-008");
}

#[test]
fn a_descriptor_that_points_nowhere_faults() {
    let mut capture = sample();
    let (memory, _) = words(&capture);
    let heap = memory.address_of(HEAP, CAPTURED).unwrap();
    let descriptor = [heap as u32, (heap >> 32) as u32];
    let found = find(&memory, &descriptor);
    assert!(!found.is_empty());
    for address in found {
        poke(&mut capture, address, &[0x1230_0000]);
    }
    let outcome = refused(&capture, "ISA-RUN-006");
    assert!(outcome.report.refusals[0].text.contains("0x800112300000"), "{:?}", outcome.report.refusals);
}

/// Guest addresses where `words` stand.
fn find(memory: &CaptureMemory, words: &[u32]) -> Vec<u64> {
    let pattern: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut found = Vec::new();
    for buffer in memory.buffers() {
        buffer.written(|range, bytes| {
            for at in
                (0..bytes.len() - pattern.len()).step_by(4).filter(|at| bytes[*at..].starts_with(&pattern))
            {
                found.extend(memory.address_of(buffer.bo, range.start + at as u64));
            }
        });
    }
    found
}

/// A sequence of words that is the same in every run (xorshift).
fn random_words(seed: u32) -> impl Iterator<Item = u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        Some(state)
    })
}

/// The address of the program that the draw runs.
fn program(capture: &Capture) -> u64 {
    let outcome = run(capture);
    let draws = outcome.trace.launches.iter().filter(|l| l.draw.is_some());
    draws.map(|l| l.program.address).next().unwrap()
}

#[test]
fn a_program_of_random_words_is_refused_by_name() {
    let program = program(&sample());
    let mut codes = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut capture = sample();
        let code: Vec<_> = random_words(seed).take(64).collect();
        poke(&mut capture, program, &code);
        let outcome = run(&capture);
        let Some(refusal) = outcome.report.refusals.first() else { continue };
        assert!(refusal.code.starts_with("ISA-"), "{refusal:?}");
        codes.insert(refusal.code);
        refused(&capture, refusal.code);
    }
    assert!(codes.contains("ISA-DEC-003"), "{codes:?}");
}

#[test]
fn a_program_that_does_not_end_is_refused_by_its_step_budget() {
    let mut capture = sample();
    let program = program(&capture);
    const S_BRANCH_TO_ITSELF: u32 = 0xbf82_ffff;
    poke(&mut capture, program, &[S_BRANCH_TO_ITSELF]);
    refused(&capture, "ISA-RUN-008");
}

#[test]
fn random_packets_end_and_are_never_half_done() {
    for seed in 100..160 {
        let mut capture = sample();
        let ib = draw_submit(&mut capture).ibs[0];
        let mut random = random_words(seed);
        for _ in 0..4 {
            let (at, value) = (random.next().unwrap(), random.next().unwrap());
            poke(&mut capture, ib.va + u64::from(at % (ib.bytes / 4)) * 4, &[value]);
        }
        let outcome = run(&capture);
        if let Some(refusal) = outcome.report.refusals.first().filter(|r| !r.code.starts_with("HN-")) {
            refused(&capture, refusal.code);
        }
    }
}

#[test]
fn submissions_for_other_engines_are_refused() {
    for (engine, code) in [(2, "HN-REP-002"), (7, "HN-REP-002")] {
        let mut capture = sample();
        draw_submit(&mut capture).ip_type = engine;
        assert_eq!(common::verdict(&run(&capture)).own, format!("refused {code}"));
    }
    let mut capture = sample();
    draw_submit(&mut capture).ibs[0].bytes -= 2;
    assert_eq!(common::verdict(&run(&capture)).own, "refused HN-REP-003");
    let mut capture = sample();
    capture.gpu = "vega10".into();
    assert_eq!(common::verdict(&run(&capture)).own, "refused HN-REP-001");
}

#[test]
fn records_that_contradict_the_memory_are_refused() {
    let mut capture = sample();
    capture.records.insert(1, Record::Free { bo: 99 });
    assert_eq!(common::verdict(&run(&capture)).own, "refused HN-MEM-001");
}
