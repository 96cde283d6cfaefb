use std::sync::Arc;

use guestwave_cp::{GuestMemory, read_u32};
use proptest::prelude::*;

use super::*;
use crate::gpu::file::Device;
use crate::gpu::lock;
use crate::gpu::models::MODELS;
use crate::gpu::progress::Fence;
use crate::gpu::server;
use crate::gpu::space::Space;
use crate::gpu::store::Store;

const A: u64 = 0xffff_8001_0000_0000;

fn device(bytes: u64) -> Arc<Device> {
    let engine = crate::gpu::tests::reference();
    let settings = server::Settings { model: &MODELS[0], engine, record: false, on_refusal: None };
    Arc::new(server::device(settings, Store::with_limit(bytes).unwrap()))
}

fn open() -> Arc<OpenFile> {
    OpenFile::new(1, device(1 << 20))
}

/// A request number: direction and size as the kernel's macros make them.
fn code(number: u8, bytes: usize) -> u32 {
    3 << 30 | (bytes as u32) << 16 | u32::from(b'd') << 8 | u32::from(number)
}

/// Carries out an ioctl with this structure and these parts; the status and the structure afterwards.
fn ask(file: &OpenFile, number: u8, structure: &[u64], parts: &[u8]) -> (i32, Vec<u64>, Vec<u8>) {
    let mut body: Vec<u8> = structure.iter().flat_map(|w| w.to_le_bytes()).collect();
    let head = wire::Head { bytes: 0, code: code(number, body.len()), file: 1, inode: 0 };
    body.extend(parts);
    let mut call = Call::parse(&head, &body).unwrap();
    let status = super::call(file, &mut call);
    let answer = call.answer();
    let (structure, out) = answer.split_at(8 * structure.len());
    (status, structure.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect(), out.to_vec())
}

/// Two 32-bit fields as one of 64.
const fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

fn create(file: &OpenFile, bytes: u64) -> u32 {
    let (status, answer, _) = ask(file, 0x40, &[bytes, 4096, 2, 0], &[]);
    assert_eq!(status, 0);
    answer[0] as u32
}

fn va(file: &OpenFile, handle: u32, operation: u32, flags: u32, place: [u64; 3]) -> i32 {
    let [va, offset, size] = place;
    ask(file, 0x48, &[u64::from(handle), pair(operation, flags), va, offset, size], &[]).0
}

const READ_WRITE: u32 = 6;

#[test]
fn every_ioctl_has_one_row() {
    let mut numbers: Vec<_> = ROWS.iter().map(|row| row.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), ROWS.len());
    assert!(
        wire::POINTERS.iter().all(|p| numbers.contains(&p.number)),
        "a pointer of an ioctl that is not answered"
    );
}

#[test]
fn handles_and_mappings_follow_the_kernels_rules() {
    let file = open();
    let (first, second) = (create(&file, 5000), create(&file, 4096));
    assert_eq!((first, second), (1, 2));
    assert_eq!(va(&file, first, 1, READ_WRITE, [A, 0, 8192]), 0);
    assert_eq!(va(&file, second, 1, READ_WRITE, [A + 4096, 0, 4096]), INVALID, "the addresses are taken");
    assert_eq!(va(&file, second, 4, READ_WRITE, [A + 4096, 0, 4096]), 0);
    for wrong in [[A + 1, 0, 4096], [A, 0, 0], [A, 4096, 4096], [A, 0, 4097], [u64::MAX - 4095, 0, 8192]] {
        assert_eq!(va(&file, second, 4, READ_WRITE, wrong), INVALID, "{wrong:x?}");
    }
    assert_eq!(va(&file, 9, 1, READ_WRITE, [A + 8192, 0, 4096]), -2);
    assert_eq!(ask(&file, 0x09, &[u64::from(first)], &[]).0, 0);
    assert_eq!(ask(&file, 0x09, &[u64::from(first)], &[]).0, INVALID);
    let map = file.state.lock().unwrap().map.clone();
    assert_eq!(map.iter().map(|m| m.range.start).collect::<Vec<_>>(), [guestwave_cp::canonical(A) + 4096]);
    assert_eq!(create(&file, 4096), 1, "the smallest handle that is free");
}

/// What a submission sees stays what it was, and so does the memory behind it.
#[test]
fn an_address_space_that_is_held_does_not_change() {
    let file = open();
    let handle = create(&file, 4096);
    assert_eq!(va(&file, handle, 1, READ_WRITE, [A, 0, 4096]), 0);
    let space = Space::new(Arc::clone(file.device.store.memory()));
    let held = file.state.lock().unwrap().map.clone();
    space.enter(&held);
    space.write(A + 8, &[1, 2, 3, 4]).unwrap();
    let since = space.generation();
    assert_eq!(ask(&file, 0x09, &[u64::from(handle)], &[]).0, 0);
    assert_eq!(read_u32(&space, A + 8), Ok(0x0403_0201));
    let span = space.host_span(A + 8).unwrap();
    assert_eq!((span.guest, span.len, span.writable), (guestwave_cp::canonical(A), 4096, true));
    drop(held);
    let now = file.state.lock().unwrap().map.clone();
    space.enter(&now);
    assert!(read_u32(&space, A + 8).is_err());
    let mut changed = Vec::new();
    space.changed_since(since, &mut |range| changed.push(range));
    assert!(changed.iter().any(|r| r.contains(&guestwave_cp::canonical(A))), "{changed:x?}");
    assert_eq!(file.device.store.used(), [0, 0]);
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let file = open();
    for too_much in [(1 << 20) + 1, 2 << 20, 1 << 50, u64::MAX] {
        assert_eq!(ask(&file, 0x40, &[too_much, 4096, 4, 0], &[]).0, -12, "{too_much:#x} bytes");
    }
    let all = create(&file, 1 << 20);
    assert_eq!(ask(&file, 0x40, &[1, 4096, 4, 0], &[]).0, -12, "everything is taken");
    assert_eq!(ask(&file, 0x09, &[u64::from(all)], &[]).0, 0);
    create(&file, 1 << 20);
    assert_eq!(ask(&file, 0x40, &[4096, 4096, 8, 0], &[]).0, INVALID, "on-chip memory");
}

#[test]
fn a_strings_length_is_told_and_its_room_is_kept() {
    let rooms = [3u32, 0, 100].iter().flat_map(|room| room.to_le_bytes()).collect::<Vec<_>>();
    let pointers = [0, 0, 3, 1, 0, 1, 100, 1];
    let (status, answer, out) = ask(&open(), 0x00, &pointers, &rooms);
    assert_eq!((status, answer[0], answer[2], answer[4], answer[6]), (0, pair(3, 42), 6, 8, 7));
    assert_eq!(out, [&[3, 0, 0, 0], &b"amd"[..], &[0; 4], &[7, 0, 0, 0], b"AMD GPU"].concat());
}

#[test]
fn submissions_are_checked_before_they_are_made() {
    let file = open();
    let context = ask(&file, 0x42, &[1, 0], &[]).1[0];
    let chunk = |id: u32, words: &[u32]| {
        let all = [&[1, id, words.len() as u32], words].concat();
        all.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>()
    };
    let submit = |context: u64, parts: &[u8]| ask(&file, 0x44, &[context, 1, 1], parts).0;
    let ib = |engine, ring| [0, 0, A as u32, (A >> 32) as u32, 32, engine, 0, ring];
    assert_eq!(submit(context, &chunk(1, &ib(2, 0))), INVALID, "no SDMA ring");
    assert_eq!(submit(context, &chunk(1, &ib(0, 1))), INVALID, "no second ring");
    assert_eq!(submit(context + 1, &chunk(1, &ib(0, 0))), INVALID, "no such context");
    assert_eq!(submit(context, &chunk(1, &[1, 2])), INVALID, "a short chunk");
    assert_eq!(submit(context, &chunk(77, &[])), INVALID, "an unknown chunk");
    assert_eq!(submit(context, &chunk(2, &[5, 0])), -2, "no such fence buffer");
    // An IB that nobody mapped is refused when it is carried out, and the submission completes.
    assert_eq!(submit(context, &chunk(1, &ib(0, 0))), 0);
    let (status, answer, _) = ask(&file, 0x49, &[u64::MAX, u64::MAX >> 1, 0, pair(0, context as u32)], &[]);
    assert_eq!((status, answer[0]), (0, 0));
    assert_eq!(file.device.report.summary().refusals.len(), 1);
    file.close();
}

/// What a program can make the executor hold has an end.
#[test]
fn what_is_held_is_bounded() {
    let file = open();
    let entries = |count: usize| [&(8 * count as u32).to_le_bytes()[..], &vec![0; 8 * count]].concat();
    let list = |count: usize| ask(&file, 0x43, &[0, pair(count as u32, 8), 1], &entries(count)).0;
    assert_eq!((list(128 << 10), list((128 << 10) + 1)), (0, INVALID));
    assert_eq!((0..40).map(|_| list(128 << 10)).find(|status| *status != 0), Some(-12));
    let object = ask(&file, 0xbf, &[0], &[]).1[0] as u32;
    lock(&file.state).syncobjs.get(object).unwrap().put(1, Fence::new());
    let signal = |points: u32| {
        let words = |word: u64, bytes: u32| {
            let all: Vec<u8> =
                (0..points).flat_map(|_| word.to_le_bytes()[..bytes as usize].to_vec()).collect();
            [&(bytes * points).to_le_bytes()[..], &all].concat()
        };
        ask(&file, 0xcd, &[1, 1, u64::from(points)], &[words(u64::from(object), 4), words(9, 8)].concat()).0
    };
    assert_eq!((signal(1000), signal(1 << 16), signal(1)), (0, -12, -12));
}

fn number() -> impl Strategy<Value = u8> {
    prop_oneof![9 => proptest::sample::select(ROWS.iter().map(|r| r.number).collect::<Vec<_>>()), 1 => any::<u8>()]
}

fn word() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..4, 2 => (0u64..8).prop_map(|n| n << 32 | 1), 1 => Just(A), 1 => Just(4096), 1 => any::<u64>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A file that is closed already ends every wait.
    #[test]
    fn no_calls_whatever_panic_or_hang(calls in prop::collection::vec((number(), prop::collection::vec(word(), 0..8), prop::collection::vec(any::<u8>(), 0..64)), 1..40)) {
        let file = open();
        file.close();
        for (number, structure, parts) in calls {
            let mut body: Vec<u8> = structure.iter().flat_map(|w| w.to_le_bytes()).collect();
            let head = wire::Head { bytes: 0, code: code(number, body.len()), file: 1, inode: structure.len() as u64 };
            body.extend(&parts);
            if let Some(mut call) = Call::parse(&head, &body) {
                super::call(&file, &mut call);
                prop_assert!(call.answer().len() >= 8 * structure.len());
            }
        }
        file.close();
    }
}
