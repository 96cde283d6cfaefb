//! Batches that nobody made in good faith: nothing panics, nothing loops for ever, everything is bounded.

use guestwave_cp::intel::sol::{PlainStreamOut, Policies};
use guestwave_cp::intel::{Gen, NoObserver, SubmitReport};
use guestwave_harness::intel::{IntelBuffer, IntelCapture, IntelMachine, KernelStage};
use proptest::prelude::*;

use crate::support::capture;

const BATCH: u64 = 0x10_0000;
const BYTES: u64 = 0x4000;

fn submit(words: &[u32], generation: Gen) -> SubmitReport {
    let stages = (Box::new(KernelStage::default()), Box::new(PlainStreamOut));
    let mut machine = IntelMachine::new(generation, Policies::default(), stages.0, stages.1);
    machine.map(&IntelBuffer { number: 0, address: BATCH, size: BYTES }).unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    machine.fill(BATCH, &bytes).unwrap();
    machine.submit(BATCH, bytes.len() as u64, &mut NoObserver)
}

fn code(words: &[u32], generation: Gen) -> &'static str {
    submit(words, generation).stopped().map_or("-", |refused| refused.refusal.code())
}

/// Where dword `n` of the batch is.
fn place(n: u32) -> u32 {
    BATCH as u32 + 4 * n
}

const END: u32 = 0x0500_0000;
const SECOND_LEVEL: u32 = 1 << 22;

#[test]
fn batches_that_lead_to_themselves_end() {
    assert_eq!(code(&[0x1880_0000, place(0)], Gen::Gen7), "CP-IPKT-009");
    assert_eq!(code(&[0x1880_0000 | SECOND_LEVEL, place(0)], Gen::Gen75), "CP-IPKT-009");
    assert_eq!(code(&[0x1880_0001 | SECOND_LEVEL, place(0), 0], Gen::Gen9), "CP-IPKT-009");
}

#[test]
fn a_second_level_batch_returns_and_its_own_calls_do_not_nest() {
    // Dword 0 calls dword 4, which goes on to dword 8, whose end returns to dword 2.
    let second = 0x1880_0000 | SECOND_LEVEL;
    let batch =
        [second, place(4), 0x1100_0001, END, second, place(8), 0, 0, 0x1000_0002, 0, place(64), 7, END];
    let mut words = batch.to_vec();
    words.splice(2..4, [0, END]);
    let report = submit(&words, Gen::Gen75);
    assert!(report.stopped().is_none(), "{:?}", report.refusals);
    assert_eq!((report.packets, report.bytes_written), (6, 4));
    // Gen7 knows one level: the start is a jump, and the first end ends all.
    assert_eq!(submit(&words, Gen::Gen7).packets, 4);
}

#[test]
fn cut_and_foreign_batches_are_refused_by_name() {
    assert_eq!(code(&[], Gen::Gen7), "CP-IPKT-010");
    assert_eq!(code(&[0], Gen::Gen7), "CP-IPKT-010", "no end");
    assert_eq!(code(&[0x7b00_0005, 4, 3], Gen::Gen7), "CP-IPKT-002");
    assert_eq!(code(&[0xe000_0000], Gen::Gen7), "CP-IPKT-001");
    assert_eq!(code(&[0x5440_0000, 0, END], Gen::Gen7), "CP-IPKT-003", "a blitter packet");
    assert_eq!(code(&[0x7105_0000, 0, END], Gen::Gen7), "CP-IPKT-004", "a compute walker");
    assert_eq!(code(&[0x7b00_0000, 0, END], Gen::Gen7), "CP-IPKT-005");
    assert_eq!(
        code(&[0x7a00_0003, 2 << 14, place(64), 0, 0, END], Gen::Gen7),
        "CP-IPKT-006",
        "a depth count"
    );
    assert_eq!(code(&[0x7809_0000, 0, END], Gen::Gen7), "CP-IPKT-011");
    assert_eq!(code(&[0x0d00_0000, 0x7ff0_0000, END], Gen::Gen75), "CP-IPKT-012");
    assert_eq!(code(&[0x1880_0000, 0x30_0000], Gen::Gen7), "CP-IMEM-003");
    assert_eq!(code(&[0x1200_0001, 0x5280, 0x30_0000, END], Gen::Gen7), "CP-IMEM-001");
    assert_eq!(code(&[0x1240_0001, 0x5280, place(64), END], Gen::Gen7), "CP-IMEM-002");
    assert_eq!(code(&[0x1200_0001, 0xb010, place(64), END], Gen::Gen7), "CP-IREG-001");
    assert_eq!(code(&[0x1100_0001, 0x5240, 0, END], Gen::Gen7), "CP-IREG-002");
    assert_eq!(code(&[0x1100_0101, 0x5280, 0, END], Gen::Gen7), "CP-IREG-003");
}

#[test]
fn state_without_a_row_is_skipped_and_reported() {
    let report = submit(&[0x78ff_0001, 1, 2, END], Gen::Gen9);
    assert!(report.stopped().is_none());
    assert_eq!(report.refusals[0].refusal.code(), "CP-IPKT-007");
}

/// Stream output into buffer 0 with the declarations given, one point.
fn points(vertices: u32, pitch: u32, length: u32, list: &[u32]) -> Vec<u32> {
    let base = place(256);
    let mut batch = vec![0x7808_0003, 16, place(0), place(255), 0, 0x7809_0001, 0x0200_0000, 0x1111_0000];
    batch.extend([0x7918_0002, pitch, base, base + 0x400, 0x781e_0001, 0x8000_0100, length]);
    batch.extend(list);
    batch.extend([0x7b00_0005, 1, vertices, 0, 1, 0, 0, END]);
    batch
}

#[test]
fn draws_that_cannot_be_are_refused_by_name() {
    let list = |entry: u32| [0x7917_0003, 1, 1, entry, 0];
    let point = |pitch, entry| code(&points(1, pitch, 0, &list(entry)), Gen::Gen7);
    assert_eq!(point(16, 0x000f), "-");
    assert_eq!(point(16, 0x002f), "CP-ISOL-001", "slot 2 with a read length of two slots");
    assert_eq!(point(16, 0x001f), "CP-ISOL-002", "slot 1 of vertices with one element");
    assert_eq!(point(8, 0x000f), "CP-ISOL-003");
    assert_eq!(point(6, 0x0001), "CP-ISOL-004");
    assert_eq!(point(16, 0x100f), "CP-SODECL-009");
    assert_eq!(code(&points(u32::MAX, 16, 0, &list(0xf)), Gen::Gen7), "CP-IDRAW-006");
    let topology =
        |number| code(&[0x781e_0001, 0x8000_0000, 0, 0x7b00_0005, number, 3, 0, 1, 0, 0, END], Gen::Gen7);
    assert_eq!(topology(0), "CP-IDRAW-002");
    assert_eq!(topology(13), "CP-IDRAW-003");
    assert_eq!(topology(33), "CP-IDRAW-003", "patches");
}

/// Buffers 0 and 1 four bytes apart, both written by one stream.
#[test]
fn buffers_that_meet_are_refused_unless_their_records_interleave() {
    let batch = |pitch: u32, apart: u32| {
        let base = place(256);
        let mut batch = points(2, pitch, 0, &[0x7917_0005, 3, 2, 0x0001, 0, 0x1001, 0]);
        let so_buffer = [0x7918_0002, 1 << 29 | pitch, base + apart, base + 0x400];
        batch.splice(8..8, so_buffer);
        let control = batch.iter().position(|word| *word == 0x8000_0100).unwrap();
        batch[control] = 0x8000_0300;
        batch
    };
    assert_eq!(code(&batch(8, 4), Gen::Gen7), "-");
    assert_eq!(code(&batch(4, 4), Gen::Gen7), "CP-ISOL-005");
}

fn words() -> impl Strategy<Value = Vec<u32>> {
    let header = prop::sample::select(
        &[
            0x0u32,
            0x1000_0000,
            0x1100_0000,
            0x1200_0000,
            0x1480_0000,
            0x1500_0000,
            0x1880_0000,
            0x6101_0000,
            0x7808_0000,
            0x7809_0000,
            0x780a_0000,
            0x7810_0000,
            0x7815_0000,
            0x781e_0000,
            0x7917_0000,
            0x7918_0000,
            0x7a00_0000,
            0x7b00_0000,
            0x7b00_0005,
        ][..],
    );
    let length = 0u32..8;
    let packet = (header, length, prop::collection::vec(any::<u32>(), 0..8))
        .prop_map(|(header, length, body)| [vec![header | length], body].concat());
    prop::collection::vec(packet, 0..24).prop_map(|packets| packets.concat())
}

proptest! {
    #[test]
    fn random_batches_end(words in words(), generation in prop::sample::select(&Gen::ALL[..])) {
        submit(&words, generation);
    }

    /// A captured batch with some of its dwords changed.
    #[test]
    fn damaged_batches_end(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>(), any::<u8>()), 1..6)) {
        let mut capture = damaged();
        for (at, word, bit) in changes {
            let at = at.index(capture.words.len());
            // A random dword, or one bit flipped.
            capture.words[at] = if bit & 0x80 == 0 { capture.words[at] ^ 1 << (bit & 31) } else { word };
        }
        let stages = (Box::new(KernelStage { steps: 1000, ..KernelStage::default() }), Box::new(PlainStreamOut));
        let mut machine = IntelMachine::with_capture(&capture, Policies::default(), stages.0, stages.1).unwrap();
        machine.run(&capture, &mut NoObserver);
    }
}

fn damaged() -> IntelCapture {
    capture("ivb-c08_hole_both-000")
}
