//! Captured batches: walked to their end, and run from packet to bytes where their programs are.

use std::collections::{BTreeMap, BTreeSet};

use guestwave_cp::GuestMemory;
use guestwave_cp::intel::NoObserver;
use guestwave_cp::intel::decode::packets;
use guestwave_cp::intel::sol::Policies;
use guestwave_cp::streamout::Slot;
use guestwave_harness::intel::{Example, IntelCapture, IntelMachine, KernelStage};

use crate::support::{Shared, capture, captures, evaluated, find, folder, native, plainly};

/// The batch whose declaration list lost its dwords.
const CORRUPT: &str = "ivb-big128-000";
/// What each batch ends in: a refusal's code, or `-` for its end. Batches that are not listed reach theirs.
const STOPS: &str = include_str!("../../captures/intel/stops.tsv");

#[test]
fn every_packet_of_every_capture_is_named_up_to_the_end_of_its_batch() {
    for (name, capture) in captures().into_iter().filter(|(name, _)| name != CORRUPT) {
        let mut words: Vec<u32> = Vec::new();
        let mut last = String::new();
        for packet in packets(&capture.words, capture.generation) {
            assert!(!packet.truncated && packet.source().is_some(), "{name}: {}", packet.name());
            words.extend(packet.words);
            last = packet.name().into_owned();
        }
        assert_eq!(last, "MI_BATCH_BUFFER_END", "{name}");
        assert_eq!(words, capture.words, "{name}");
    }
}

fn machine(capture: &IntelCapture, stream_out: &Shared) -> IntelMachine {
    let vertices = Box::new(KernelStage::default());
    IntelMachine::with_capture(capture, Policies::default(), vertices, stream_out.boxed()).unwrap()
}

#[test]
fn captured_batches_run_as_far_as_is_listed() {
    let stops: BTreeMap<_, _> =
        STOPS.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once('\t')).collect();
    let plain = plainly();
    let mut wrong = Vec::new();
    for (name, capture) in captures() {
        let report = machine(&capture, &plain).run(&capture, &mut NoObserver);
        let found = report.stopped().map_or("-", |refused| refused.refusal.code());
        let wanted = stops.get(name.as_str()).copied().unwrap_or("-");
        if found != wanted {
            wrong.push(format!("{name}\t{found}\t(listed: {wanted})"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Examples that capture gl_PointSize, which the driver's programs clamp to 255 before they store it.
const POINT_SIZE: [&str; 2] = ["c10_pos_psize", "c11_separate"];

/// Whether a buffer's words are those of an example.
fn same_words(example: &Example, found: &[u32], expected: &[u32]) -> bool {
    let clamps = POINT_SIZE.contains(&example.name.as_str());
    let clamped =
        |found: u32, wanted: u32| f32::from_bits(found) == 255.0 && f32::from_bits(wanted) > 255.0 && clamps;
    let mut pairs = found.iter().zip(expected);
    found.len() == expected.len() && pairs.all(|(found, wanted)| found == wanted || clamped(*found, *wanted))
}

/// Runs the captures of the worked examples with their own vertex programs.
fn examples_from_batches(stream_out: &Shared) -> BTreeSet<String> {
    let mut ran = BTreeSet::new();
    for example in Example::load(&folder().join("examples.json")).unwrap() {
        let name = format!("ivb-{}-000", example.name);
        let Some(capture) = find(&name) else { continue };
        let mut machine = machine(&capture, stream_out);
        let report = machine.run(&capture, &mut NoObserver);
        assert!(report.stopped().is_none(), "{name}: {:?}", report.refusals);
        let sol = &machine.state().sol;
        for (number, expected) in &example.expected.buffers {
            let mut bytes = vec![0; expected.len() * 4];
            machine.memory.read(sol.buffers[*number as usize].base, &mut bytes).unwrap();
            let words: Vec<u32> = bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
            assert!(same_words(&example, &words, expected), "{name}: buffer {number}: {words:x?}");
        }
        let offsets = Slot::ALL.map(|b| sol.unit.buffer(b).position);
        assert_eq!(offsets, example.expected.offsets, "{name}");
        assert_eq!(sol.unit.counters(Slot::default()), example.expected.counters, "{name}");
        ran.insert(example.name);
    }
    ran
}

#[test]
fn gl_captures_run_from_batch_to_bytes() {
    let ran = examples_from_batches(&plainly());
    assert!(ran.contains("c08_hole_both"), "{ran:?}");
    assert_eq!(examples_from_batches(&evaluated()), ran);
    assert_eq!(examples_from_batches(&native()), ran);
}

/// piglit fills the buffer with 0.123456 and wants each word to be the varying's value or that.
#[test]
fn a_skipped_component_keeps_what_it_held() {
    let capture = capture("ivb-gl_SkipComponents1-3-000");
    let mut machine = machine(&capture, &native());
    assert!(machine.run(&capture, &mut NoObserver).stopped().is_none());
    let buffer = machine.state().sol.buffers[0];
    let mut bytes = [0; 36];
    machine.memory.read(buffer.base, &mut bytes).unwrap();
    let words: Vec<_> = bytes.as_chunks().0.iter().map(|w| f32::from_le_bytes(*w)).collect();
    assert_eq!(words, [0.4, 0.123_456, 0.5].repeat(3));
}
