use proptest::prelude::*;

use super::file::bounded;
use super::*;

fn sample() -> Capture {
    let bo = BufferObject { bo: 1, handle: 1, size: 8192, domains: DOMAIN_VRAM, flags: 4, userptr: 0 };
    let va = VaOp { bo: 1, kind: VaKind::Map, flags: 14, va: 0xffff_8000_0000_0000, offset: 0, size: 8192 };
    let page = Page { bo: 1, page: 1, data: Box::new([7; PAGE_BYTES]) };
    let runs = vec![Run { first: 1023, words: vec![9] }, Run { first: 0, words: vec![] }];
    let diff = PageDiff { bo: 1, page: 1, runs };
    let ib = IndirectBuffer { va: va.va, bytes: 64, flags: 8, ip_type: 0, ip_instance: 0, ring: 0 };
    let submit = Submit {
        index: 0,
        context: 2,
        ip_type: 0,
        ring: 0,
        sequence: 1,
        flags: 0,
        ibs: vec![ib, ib],
        bos: vec![1, 2, 3],
        fence: Fence { used: true, bo: 1, offset: 8 },
    };
    let records = vec![
        Record::Device(vec![1, 2, 3]),
        Record::Create(bo),
        Record::Va(va),
        Record::Page(page.clone()),
        Record::Diff(diff.clone()),
        Record::Chunk(Chunk { submission: 0, id: 1, words: vec![1, 2] }),
        Record::Submit(submit),
        Record::GoldenPage(page),
        Record::GoldenDiff(diff),
        Record::Mark("draw".into()),
        Record::Expect(String::new()),
        Record::Free { bo: 1 },
    ];
    Capture { gpu: "navi21".into(), records }
}

#[test]
fn every_kind_of_record_survives_the_file() {
    let capture = sample();
    let bytes = capture.to_bytes().unwrap();
    assert_eq!(bytes.len() % 8, 0);
    assert_eq!(Capture::parse(&bytes).unwrap(), capture);
}

#[test]
fn a_file_cut_anywhere_is_an_error_or_fewer_records() {
    let capture = sample();
    let bytes = capture.to_bytes().unwrap();
    for end in (0..bytes.len()).filter(|e| e % 97 == 0 || *e < 400) {
        match Capture::parse(&bytes[..end]) {
            Ok(c) => assert!(c.records.len() < capture.records.len()),
            Err(CaptureError::Truncated { offset, needed, left, .. }) => {
                assert!(offset <= end && needed > left, "cut at {end}");
            }
            Err(other) => panic!("cut at {end}: {other}"),
        }
    }
}

/// The sample's bytes with `word` put at `at`, parsed; the error's text.
fn broken(at: usize, word: u32) -> String {
    let mut bytes = sample().to_bytes().unwrap();
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    Capture::parse(&bytes).unwrap_err().to_string()
}

#[test]
fn errors_name_the_place() {
    assert!(broken(0, 0).starts_with("HN-CAP-002: at byte 0x0: the magic number"));
    assert!(broken(8, 2).starts_with("HN-CAP-002: at byte 0x8: the version is 0x2"));
    assert!(broken(12, 1).starts_with("HN-CAP-002: at byte 0xc: the page size"));
    assert!(broken(16, 1).starts_with("HN-CAP-002: at byte 0x10: the reserved word"));
    assert!(broken(24, 0x0061_0062).starts_with("HN-CAP-005: at byte 0x18: the header"));
    assert_eq!(broken(40, 0x4c4c_554e), "HN-CAP-004: at byte 0x28: unknown record 0x4c4c554e (NULL)");
    assert!(broken(44, u32::MAX).starts_with("HN-CAP-003: at byte 0x30: a record's body"));
    assert!(broken(48, u32::MAX).starts_with("HN-CAP-005: at byte 0x33: DEVI is not padded"));
}

#[test]
fn a_submission_that_claims_a_billion_buffers_allocates_nothing() {
    let mut bytes = sample().to_bytes().unwrap();
    let at = bytes.windows(4).position(|w| w == b"SUBM").unwrap() + 8 + 28;
    bytes[at..at + 4].copy_from_slice(&1_000_000_000u32.to_le_bytes());
    let text = Capture::parse(&bytes).unwrap_err().to_string();
    assert!(text.ends_with("SUBM has fewer indirect buffers than it says"), "{text}");
}

#[test]
fn decompression_is_bounded() {
    let bomb = zstd::encode_all(std::io::repeat(0).take(1 << 24), 1).unwrap();
    let stream = zstd::stream::read::Decoder::new(bomb.as_slice()).unwrap();
    assert!(matches!(bounded(stream, 1 << 20), Err(CaptureError::TooLarge { limit }) if limit == 1 << 20));
}

use std::io::Read;

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(mut tail in prop::collection::vec(any::<u8>(), 0..400), kind in 0usize..12) {
        let mut bytes = Capture { gpu: "navi10".into(), records: vec![] }.to_bytes().unwrap();
        if tail.len() > 8 {
            tail[..4].copy_from_slice(&body::KINDS[kind].tag.to_le_bytes());
            let size = tail.len() as u32 - 8;
            tail[4..8].copy_from_slice(&size.to_le_bytes());
        }
        bytes.extend(&tail);
        if let Ok(capture) = Capture::parse(&bytes) {
            prop_assert_eq!(capture.to_bytes().unwrap(), bytes);
        }
    }

    #[test]
    fn flipped_bytes_are_read_or_refused(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = sample().to_bytes().unwrap();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(capture) = Capture::parse(&bytes) {
            prop_assert_eq!(capture.to_bytes().unwrap(), bytes);
        }
    }
}
