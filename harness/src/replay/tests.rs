//! Replays of captures without a single packet: what records and expectations alone come to.

use super::tracked::TRAILER_MAGIC;
use super::*;
use crate::capture::{BufferObject, Capture, DOMAIN_VRAM, PAGE_BYTES, Page, PageDiff, Record, Run};
use crate::executor::ReferenceExecutor;

const TAG: u32 = 0xb0f0_0001;
const DOMAIN_HOST: u64 = 2;

fn create(bo: u32, domains: u64) -> Record {
    Record::Create(BufferObject { bo, handle: bo, size: 8192, domains, flags: 0, userptr: 0 })
}

/// A page that holds a tracked buffer of 256 bytes at byte 512, its first word `word`.
fn tracked_page(bo: u32, page: u32, word: u32) -> Page {
    let mut data = Box::new([0xee; PAGE_BYTES]);
    let mut put = |at: usize, word: u32| data[at..at + 4].copy_from_slice(&word.to_le_bytes());
    put(512, word);
    [TRAILER_MAGIC, TAG, 256].into_iter().enumerate().for_each(|(i, w)| put(512 + 256 - 64 + 4 * i, w));
    Page { bo, page, data }
}

fn expect(text: &str) -> Record {
    Record::Expect(text.to_owned())
}

fn word_is(word: u32) -> Record {
    expect(&format!("buf {TAG:08x} size 256 off 0 u32 {word:08x} eeeeeeee"))
}

fn run(records: Vec<Record>) -> Report {
    let capture = Capture { gpu: "navi21".into(), records };
    let options = ReplayOptions { golden: true, ..ReplayOptions::default() };
    replay(&capture, Box::new(ReferenceExecutor::default()), options).report
}

#[test]
fn a_buffer_is_checked_at_the_end() {
    let records = |word| {
        let later = PageDiff { bo: 1, page: 1, runs: vec![Run { first: 128, words: vec![7] }] };
        vec![create(1, DOMAIN_VRAM), Record::Page(tracked_page(1, 1, 5)), word_is(word), Record::Diff(later)]
    };
    assert_eq!(run(records(7)).exit_status(), 0);
    let report = run(records(5));
    assert_eq!((report.exit_status(), report.ok), (1, false));
    let detail =
        "1 of 2 words differ, first at byte 0: 00000007, expected 00000005 (buffer object 1 + 0x1200)";
    assert_eq!(report.expectations[0].detail, detail);
}

#[test]
fn a_buffer_that_is_freed_is_checked_before() {
    let records = vec![
        create(1, DOMAIN_VRAM),
        Record::Page(tracked_page(1, 0, 5)),
        word_is(5),
        Record::Free { bo: 1 },
        create(2, DOMAIN_HOST),
        Record::Page(tracked_page(2, 0, 6)),
    ];
    assert_eq!(run(records).exit_status(), 0);
}

#[test]
fn video_memory_counts_before_staging_memory_and_late_before_early() {
    let two = |first, second, word| {
        run(vec![
            create(1, first),
            create(2, second),
            Record::Page(tracked_page(1, 0, 5)),
            Record::Page(tracked_page(2, 0, 6)),
            word_is(word),
        ])
        .exit_status()
    };
    assert_eq!(two(DOMAIN_VRAM, DOMAIN_HOST, 5), 0);
    assert_eq!(two(DOMAIN_VRAM, DOMAIN_HOST, 6), 1);
    assert_eq!(two(DOMAIN_HOST, DOMAIN_VRAM, 6), 0);
    let records = vec![
        create(1, DOMAIN_HOST),
        create(2, DOMAIN_HOST),
        Record::Page(tracked_page(2, 0, 6)),
        Record::Page(tracked_page(1, 0, 5)),
        word_is(5),
    ];
    assert_eq!(run(records).exit_status(), 0);
}

#[test]
fn a_trailer_that_is_nowhere_or_cut_off_is_no_buffer() {
    let report = run(vec![create(1, DOMAIN_VRAM), word_is(5)]);
    assert_eq!(report.expectations[0].detail, "no buffer carries this trailer");
    let too_large = expect(&format!("buf {TAG:08x} size 99999 off 0 u32 00000005"));
    let mut page = tracked_page(1, 0, 5);
    page.data[512 + 200..][..4].copy_from_slice(&99999u32.to_le_bytes());
    let report = run(vec![create(1, DOMAIN_VRAM), Record::Page(page), too_large]);
    assert_eq!(report.exit_status(), 1);
    let past = expect(&format!("buf {TAG:08x} size 256 off 252 u32 00000005 00000005"));
    let report = run(vec![create(1, DOMAIN_VRAM), Record::Page(tracked_page(1, 0, 5)), past]);
    assert_eq!(report.expectations[0].detail, "2 words at byte 252 are not all in the buffer");
}

#[test]
fn what_cannot_be_checked_is_refused_and_remarks_are_not_listed() {
    let report = run(vec![expect("case x"), expect("approx"), expect("pixels 1x1 all 0"), expect("end")]);
    assert_eq!(report.exit_status(), 2);
    assert_eq!(report.expectations.len(), 1);
    assert_eq!(report.refusals[0].code, "HN-EXP-001");
    let report = run(vec![expect("query written 1")]);
    assert_eq!(report.expectations[0].detail, "no query was begun and ended");
}

#[test]
fn recorded_pages_are_compared_and_not_applied() {
    let golden = |word| Record::GoldenPage(tracked_page(1, 0, word));
    let page = Record::Page(tracked_page(1, 0, 5));
    let report = run(vec![create(1, DOMAIN_VRAM), page.clone(), golden(5), word_is(5)]);
    assert_eq!((report.exit_status(), report.golden.pages), (0, 1));
    let report = run(vec![create(1, DOMAIN_VRAM), page.clone(), golden(0x0105), word_is(5)]);
    assert_eq!(report.exit_status(), 1);
    let [differ] = report.golden.differ.as_slice() else { panic!("{:?}", report.golden) };
    assert_eq!((differ.bo, differ.page, differ.bytes, differ.first), (1, 0, 1, 512));
    assert_eq!((differ.ours.as_str(), differ.theirs.as_str()), ("00000005", "00000105"));
    let change = PageDiff { bo: 1, page: 0, runs: vec![Run { first: 128, words: vec![6] }] };
    let report = run(vec![create(1, DOMAIN_VRAM), page, Record::GoldenDiff(change)]);
    assert_eq!(report.golden.differ[0].theirs, "00000006");
}
