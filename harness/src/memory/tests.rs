use guestwave_cp::{read_u32, read_u64};

use super::*;
use crate::capture::Run;

const A: u64 = 0xffff_8000_0000_0000;

fn bo(bo: u32, pages: u64) -> BufferObject {
    BufferObject { bo, handle: bo, size: pages * 4096, domains: 2, flags: 0, userptr: 0 }
}

fn op(kind: VaKind, bo: u32, va: u64, offset: u64, pages: u64) -> VaOp {
    VaOp { bo, kind, flags: 14, va, offset, size: pages * 4096 }
}

fn memory() -> CaptureMemory {
    let m = CaptureMemory::new();
    m.create(&bo(1, 4)).unwrap();
    m.create(&bo(2, 2)).unwrap();
    m.va(&op(VaKind::Map, 1, A, 0, 4)).unwrap();
    m
}

#[test]
fn both_forms_of_an_address_reach_the_same_byte() {
    let m = memory();
    m.write(A + 8, &5u32.to_le_bytes()).unwrap();
    assert_eq!(read_u32(&m, canonical(A) + 8), Ok(5));
    assert_eq!(read_u64(&m, 0x1234_0000_0000_0000 | (canonical(A) + 4)), Ok(5 << 32));
}

#[test]
fn aliases_share_bytes_and_cross_into_each_other() {
    let m = memory();
    m.va(&op(VaKind::Map, 1, A + 0x4000, 0, 1)).unwrap();
    m.write(A + 0x3ffe, &[1, 2, 3, 4]).unwrap();
    assert_eq!(read_u32(&m, A).unwrap() & 0xffff, 0x0403);
    assert_eq!(m.mapping(A + 5), Some(canonical(A)..canonical(A) + 0x5000));
}

#[test]
fn a_fault_names_the_first_unmapped_byte_and_writes_nothing() {
    let m = memory();
    let fault = m.write(A + 0x3ffe, &[9; 4]).unwrap_err();
    assert_eq!(fault, MemoryFault { address: canonical(A) + 0x4000, size: 4, kind: AccessKind::Write });
    let mut two = [7; 2];
    m.read(A + 0x3ffe, &mut two).unwrap();
    assert_eq!(two, [0, 0]);
    assert_eq!(m.read(0, &mut two).unwrap_err().address, 0);
    assert!(m.read(canonical(u64::MAX), &mut two).is_err());
    assert_eq!(m.mapping(A + 0x4000), None);
}

#[test]
fn read_only_mappings_refuse_stores() {
    let m = memory();
    let flags = 10;
    m.va(&VaOp { flags, ..op(VaKind::Replace, 1, A, 0, 1) }).unwrap();
    assert_eq!(m.write(A + 0xffe, &[1; 4]).unwrap_err().address, canonical(A) + 0xffe);
    m.write(A + 0x1000, &[1; 4]).unwrap();
    assert_eq!(read_u32(&m, A), Ok(0));
}

#[test]
fn replace_clear_and_unmap_split_what_they_meet() {
    let m = memory();
    m.write(A + 0x2000, &[1; 4]).unwrap();
    m.va(&op(VaKind::Replace, 2, A + 0x1000, 0x1000, 1)).unwrap();
    m.write(A + 0x1000, &[2; 4]).unwrap();
    let mut word = [0; 4];
    m.buffer(2).unwrap().read(0x1000, &mut word).unwrap();
    assert_eq!(word, [2; 4]);
    assert_eq!(read_u32(&m, A + 0x2000), Ok(0x0101_0101));
    m.va(&op(VaKind::Unmap, 1, A, 0, 3)).unwrap();
    assert_eq!(m.mapping(A + 0x1000), Some(canonical(A) + 0x1000..canonical(A) + 0x2000));
    m.va(&op(VaKind::Clear, 0, A, 0, 2)).unwrap();
    assert_eq!(m.mapping(A + 0x1000), None);
    assert_eq!(m.mapping(A + 0x3000), Some(canonical(A) + 0x3000..canonical(A) + 0x4000));
    m.free(1).unwrap();
    assert_eq!(m.mapping(A + 0x3000), None);
    assert_eq!(m.free(1).unwrap_err(), MemoryError::Unknown { bo: 1 });
}

fn changes(m: &CaptureMemory, since: Generation) -> Vec<Range<u64>> {
    let mut out = Vec::new();
    m.changed_since(since, &mut |r| out.push(r.start - canonical(A)..r.end - canonical(A)));
    out
}

#[test]
fn changes_are_told_by_page_at_every_alias() {
    let m = memory();
    m.va(&op(VaKind::Map, 1, A + 0x8000, 0x1000, 1)).unwrap();
    let since = m.generation();
    assert_eq!(changes(&m, since), []);
    m.write(A + 0x1ffc, &[0; 8]).unwrap();
    assert_eq!(changes(&m, since), [0x1000..0x3000, 0x8000..0x9000]);
    let later = m.changed_since(since, &mut |_| ());
    assert_eq!(changes(&m, later), []);
    m.va(&op(VaKind::Clear, 0, A, 0, 1)).unwrap();
    assert_eq!(changes(&m, later).first(), Some(&(0..0x1000)));
    m.va(&op(VaKind::Map, 1, A, 0, 1)).unwrap();
    assert_eq!(changes(&m, later).last(), Some(&(0..0x1000)));
}

#[test]
fn a_state_of_the_mappings_holds_until_one_changes() {
    let m = memory();
    let same = m.mappings();
    assert!(same.is_some());
    m.write(A, &[1; 4]).unwrap();
    m.create(&bo(7, 1)).unwrap();
    m.generation();
    assert_eq!(m.mappings(), same);
    let mut states = vec![same, memory().mappings()];
    let change = |f: &dyn Fn()| {
        f();
        m.mappings()
    };
    states.push(change(&|| m.va(&op(VaKind::Map, 7, A + 0x8000, 0, 1)).unwrap()));
    states.push(change(&|| m.va(&op(VaKind::Replace, 2, A, 0, 1)).unwrap()));
    states.push(change(&|| m.va(&op(VaKind::Unmap, 2, A, 0, 1)).unwrap()));
    states.push(change(&|| m.va(&op(VaKind::Clear, 0, A, 0, 2)).unwrap()));
    states.push(change(&|| drop(m.free(7).unwrap())));
    for (i, state) in states.iter().enumerate() {
        assert!(!states[..i].contains(state), "state {i}");
    }
}

#[test]
fn an_access_over_several_mappings_is_made_of_their_parts() {
    let m = memory();
    m.va(&op(VaKind::Map, 2, A + 0x4000, 0x1000, 1)).unwrap();
    m.va(&VaOp { flags: 10, ..op(VaKind::Map, 2, A + 0x5000, 0, 1) }).unwrap();
    m.write(A + 0x3ff8, &[1; 16]).unwrap();
    let mut bytes = [9; 0x1010];
    m.read(A + 0x3ff8, &mut bytes).unwrap();
    assert_eq!((&bytes[..16], &bytes[16..]), (&[1; 16][..], &[0; 0x1000][..]));
    let fault = m.write(A + 0x3ff8, &[2; 0x1010]).unwrap_err();
    assert_eq!((fault.address, fault.size), (canonical(A) + 0x5000, 0x1010));
    m.read(A + 0x3ff8, &mut bytes).unwrap();
    assert_eq!(bytes[..16], [1; 16]);
    m.read(A + 0x10_0000, &mut []).unwrap();
}

#[test]
fn records_that_contradict_each_other_are_named() {
    let m = memory();
    assert_eq!(m.create(&bo(1, 1)), Err(MemoryError::Exists { bo: 1 }));
    let huge = BufferObject { size: u64::MAX, ..bo(9, 1) };
    assert_eq!(m.create(&huge), Err(MemoryError::NoRoom { bo: 9, size: u64::MAX, limit: MAX_BUFFER_BYTES }));
    let outside = m.va(&op(VaKind::Map, 2, A, 0x1000, 2));
    assert_eq!(outside, Err(MemoryError::Outside { bo: 2, size: 0x2000, offset: 0x1000, end: 0x3000 }));
    assert!(matches!(m.va(&op(VaKind::Map, 1, A, 0, 0)), Err(MemoryError::BadRange { .. })));
    let end = canonical(u64::MAX) - 0xfff;
    assert!(matches!(m.va(&op(VaKind::Map, 1, end, 0, 2)), Err(MemoryError::BadRange { .. })));
    assert_eq!(m.va(&op(VaKind::Map, 1, end, 0, 1)), Ok(()));
    let diff = PageDiff { bo: 2, page: 2, runs: vec![Run { first: 0, words: vec![1] }] };
    assert!(matches!(m.apply_diff(&diff), Err(MemoryError::Outside { .. })));
    let page = Page { bo: 2, page: u32::MAX, data: Box::new([0; PAGE_BYTES]) };
    assert!(matches!(m.set_page(&page), Err(MemoryError::Outside { .. })));
}

#[test]
fn a_large_buffer_object_costs_what_is_written() {
    let m = CaptureMemory::new();
    m.create(&bo(1, (1 << 30) / 4096)).unwrap();
    let diff = PageDiff { bo: 1, page: 1000, runs: vec![Run { first: 1, words: vec![3, 4] }] };
    m.apply_diff(&diff).unwrap();
    let mut seen = Vec::new();
    m.buffer(1).unwrap().written(|range, bytes| seen.push((range, bytes[4..12].to_vec())));
    assert_eq!(seen, [(1000 * 4096..1001 * 4096, vec![3, 0, 0, 0, 4, 0, 0, 0])]);
}

#[test]
fn neighbouring_bytes_survive_writers_on_other_threads() {
    let m = &memory();
    std::thread::scope(|s| {
        for t in 0..4u8 {
            s.spawn(move || {
                for i in 0..256u64 {
                    m.write(A + 4 * i + u64::from(t), &[t + 1]).unwrap();
                }
            });
        }
    });
    for i in 0..256 {
        assert_eq!(read_u32(m, A + 4 * i), Ok(0x0403_0201));
    }
}

/// Resident memory of this process in bytes.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
#[cfg(target_os = "linux")]
fn a_large_buffer_object_costs_what_is_written_to_it() {
    let (m, before) = (CaptureMemory::new(), resident());
    m.create(&bo(1, (4 << 30) / 4096)).unwrap();
    m.va(&op(VaKind::Map, 1, A, 0, (4 << 30) / 4096)).unwrap();
    m.write(A + (3 << 30), &[1, 2, 3]).unwrap();
    assert!(resident().saturating_sub(before) < 256 << 20, "the zeros of a buffer object were written");
}

#[test]
fn a_span_is_the_mapping_and_what_is_written_there_is_told() {
    let m = memory();
    m.va(&VaOp { flags: 10, ..op(VaKind::Map, 2, A + 0x8000, 0x1000, 1) }).unwrap();
    let span = m.host_span(A + 0x1234).unwrap();
    assert_eq!((span.guest, span.len, span.writable), (canonical(A), 0x4000, true));
    let read_only = m.host_span(A + 0x8000).unwrap();
    assert_eq!((read_only.guest, read_only.len, read_only.writable), (canonical(A) + 0x8000, 0x1000, false));
    assert!(m.host_span(A + 0x4000).is_none());

    let before = m.generation();
    m.wrote_in_place(canonical(A) + 0xffe..canonical(A) + 0x1002);
    let mut changed = Vec::new();
    m.changed_since(before, &mut |r| changed.push(r));
    assert_eq!(changed, vec![canonical(A)..canonical(A) + 0x2000]);
}

#[test]
fn aliases_have_one_place_on_the_host() {
    let m = memory();
    m.va(&op(VaKind::Map, 1, A + 0x9000, 0x2000, 1)).unwrap();
    let [all, alias] = [A, A + 0x9000].map(|a| m.host_span(a).unwrap().host.addr().get());
    assert_eq!(alias, all + 0x2000);
}

#[test]
fn a_write_says_whether_it_was_alone() {
    let m = memory();
    m.write(A, &[1]).unwrap();
    let since = m.generation();
    let own = m.write_since(A + 0x1004, &[2; 8], since).unwrap().unwrap();
    assert_eq!(own.range, canonical(A) + 0x1000..canonical(A) + 0x2000);
    let mut changed = Vec::new();
    m.changed_since(own.until, &mut |range| changed.push(range));
    assert!(changed.is_empty());
    m.write(A + 0x1ff0, &[3]).unwrap();
    assert_eq!(m.write_since(A + 0x1000, &[4], own.until), Ok(None), "another write came between");
    assert_eq!(m.write_since(A, &[5], own.until).unwrap().map(|own| own.range.start), Some(canonical(A)));
    // Two mappings at once, and a mapping that changed, are told as changed.
    m.va(&op(VaKind::Map, 2, A + 0x4000, 0, 2)).unwrap();
    let since = m.generation();
    assert_eq!(m.write_since(A + 0x3ffe, &[6; 4], since), Ok(None));
    let since = m.generation();
    m.va(&op(VaKind::Map, 2, A + 0x6000, 0, 2)).unwrap();
    assert_eq!(m.write_since(A, &[7], since), Ok(None));
}
