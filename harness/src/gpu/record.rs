//! Recording: what a program asked of the device, as a capture that replays to the same bytes.
//!
//! Submissions are carried out one at a time while a program is recorded, and each call that submits returns when the work is
//! done. Before a submission every page that differs from what the capture says so far is written down; after it, the
//! dwords that the work stored, as recorded pages to compare with. Each open file has a tape of its own, because a capture
//! has one address space; the file that submitted first is the one that is kept.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use guestwave_cp::{AccessKind, Completed, Interest, Observer, Origin};

use super::lock;
use super::store::{Bo, Store};
use super::sys::MemoryFile;
use crate::capture::{BufferObject, Capture, Chunk, PAGE_BYTES, Page, PageDiff, Record, Run, Submit, VaOp};
use crate::memory::map::AddressMap;

type PageBytes = [u8; PAGE_BYTES];

/// Bytes of a page in an offset.
const PAGE: u64 = PAGE_BYTES as u64;

/// The tapes.
pub(super) struct Recorder {
    memory: Arc<MemoryFile>,
    device_info: Vec<u8>,
    tapes: Mutex<Tapes>,
    /// Held while a submission is carried out.
    submission: Mutex<()>,
}

#[derive(Default)]
struct Tapes {
    by_file: BTreeMap<u64, Tape>,
    /// The file that submitted first.
    kept: Option<u64>,
}

/// What one open file did.
#[derive(Default)]
struct Tape {
    records: Vec<Record>,
    buffers: BTreeMap<u32, Arc<Bo>>,
    /// Pages as the records so far have them, by buffer object and page.
    pages: BTreeMap<(u32, u32), Box<PageBytes>>,
}

/// The ranges that a submission stored, if somebody wants them.
pub(super) struct Stored {
    wanted: bool,
    ranges: Vec<Range<u64>>,
}

impl Stored {
    /// Collects ranges, or nothing.
    pub(super) fn wanted(wanted: bool) -> Stored {
        Stored { wanted, ranges: Vec::new() }
    }
}

impl Observer for Stored {
    fn interest(&self) -> Interest {
        Interest { work: self.wanted, ..Interest::default() }
    }

    fn completed(&mut self, completed: &Completed) {
        self.ranges.extend(completed.stored.iter().cloned());
    }

    fn stored(&mut self, _: Origin, range: Range<u64>) {
        self.ranges.push(range);
    }
}

impl Recorder {
    /// A recorder of programs on this memory.
    pub(super) fn new(store: &Store, device_info: Vec<u8>) -> Recorder {
        let memory = Arc::clone(store.memory());
        Recorder { memory, device_info, tapes: Mutex::default(), submission: Mutex::default() }
    }

    fn on_tape(&self, file: u64, write: impl FnOnce(&mut Tape)) {
        let mut tapes = lock(&self.tapes);
        let fresh = || Tape { records: vec![Record::Device(self.device_info.clone())], ..Tape::default() };
        write(tapes.by_file.entry(file).or_insert_with(fresh));
    }

    /// A buffer object was made, or came from another open file.
    pub(super) fn created(&self, file: u64, bo: &Arc<Bo>, handle: u32) {
        let wanted = bo.wanted;
        let record = BufferObject {
            bo: bo.number,
            handle,
            size: bo.size,
            domains: wanted.domains,
            flags: wanted.flags,
            userptr: 0,
        };
        self.on_tape(file, |tape| {
            tape.records.push(Record::Create(record));
            tape.buffers.insert(bo.number, Arc::clone(bo));
        });
    }

    /// A buffer object was freed.
    pub(super) fn freed(&self, file: u64, bo: u32) {
        self.on_tape(file, |tape| {
            tape.records.push(Record::Free { bo });
            tape.buffers.remove(&bo);
            tape.pages.retain(|(of, _), _| *of != bo);
        });
    }

    /// Addresses changed their meaning.
    pub(super) fn va(&self, file: u64, op: VaOp) {
        self.on_tape(file, |tape| tape.records.push(Record::Va(op)));
    }

    /// Keeps other submissions away until this one has been carried out.
    pub(super) fn alone(&self) -> MutexGuard<'_, ()> {
        lock(&self.submission)
    }

    /// Writes down what memory holds now, and a submission.
    pub(super) fn submitted(&self, file: u64, chunks: Vec<Chunk>, submit: &Submit) {
        self.on_tape(file, |tape| {
            tape.take_pages(&self.memory);
            tape.records.extend(chunks.into_iter().map(Record::Chunk));
            tape.records.push(Record::Submit(submit.clone()));
        });
        lock(&self.tapes).kept.get_or_insert(file);
    }

    /// Writes down what a submission stored.
    pub(super) fn carried_out(&self, file: u64, map: &AddressMap<Bo>, stored: Stored) {
        let mut words: BTreeMap<(u32, u32), Vec<Range<usize>>> = BTreeMap::new();
        for range in &stored.ranges {
            let len = range.end.saturating_sub(range.start);
            let Ok(pieces) = map.pieces(range.start, len, AccessKind::Read) else { continue };
            for piece in pieces {
                let bytes = piece.offset()..piece.offset() + piece.places().len() as u64;
                split(piece.mapping.buffer.number, bytes, &mut words);
            }
        }
        self.on_tape(file, |tape| tape.take_stored(&self.memory, &words));
    }

    /// The capture of the file that submitted first, and how many other files submitted nothing that is in it.
    pub(super) fn finish(&self, gpu: &str) -> Option<Capture> {
        let mut tapes = lock(&self.tapes);
        let kept = tapes.kept?;
        let tape = tapes.by_file.remove(&kept)?;
        Some(Capture { gpu: gpu.to_owned(), records: tape.records })
    }
}

/// Adds the words of a byte range of a buffer object to those of its pages.
fn split(bo: u32, bytes: Range<u64>, words: &mut BTreeMap<(u32, u32), Vec<Range<usize>>>) {
    let mut at = bytes.start;
    while at < bytes.end {
        let page = at / PAGE;
        let end = bytes.end.min((page + 1) * PAGE);
        let (first, last) = ((at - page * PAGE) as usize / 4, ((end - page * PAGE) as usize).div_ceil(4));
        words.entry((bo, page as u32)).or_default().push(first..last);
        at = end;
    }
}

/// The words of a page that differ.
fn runs(old: &PageBytes, new: &PageBytes) -> Vec<Run> {
    let word =
        |bytes: &PageBytes, i: usize| bytes[4 * i..].first_chunk::<4>().map_or(0, |b| u32::from_le_bytes(*b));
    let mut runs: Vec<Run> = Vec::new();
    for i in 0..PAGE_BYTES / 4 {
        let value = word(new, i);
        if value == word(old, i) {
            continue;
        }
        match runs.last_mut() {
            Some(run) if usize::from(run.first) + run.words.len() == i => run.words.push(value),
            _ => runs.push(Run { first: i as u16, words: vec![value] }),
        }
    }
    runs
}

impl Tape {
    /// Records every page that is not as the records so far have it.
    fn take_pages(&mut self, memory: &MemoryFile) {
        let Tape { records, buffers, pages } = self;
        for bo in buffers.values() {
            for run in bo.data() {
                for page in run.start / PAGE..run.end.div_ceil(PAGE) {
                    let key = (bo.number, page as u32);
                    records.extend(changed(
                        pages,
                        key,
                        read_page(memory, bo, page),
                        Record::Page,
                        Record::Diff,
                    ));
                }
            }
        }
    }

    /// Records the stored words of pages; their other words are as the records so far have them.
    fn take_stored(&mut self, memory: &MemoryFile, words: &BTreeMap<(u32, u32), Vec<Range<usize>>>) {
        let Tape { records, buffers, pages } = self;
        for (key, ranges) in words {
            let Some(bo) = buffers.get(&key.0) else { continue };
            let now = read_page(memory, bo, u64::from(key.1));
            let mut page = pages.get(key).cloned().unwrap_or_else(|| Box::new([0; PAGE_BYTES]));
            for range in ranges {
                page[4 * range.start..4 * range.end].copy_from_slice(&now[4 * range.start..4 * range.end]);
            }
            records.extend(changed(pages, *key, page, Record::GoldenPage, Record::GoldenDiff));
        }
    }
}

fn read_page(memory: &MemoryFile, bo: &Bo, page: u64) -> Box<PageBytes> {
    let mut bytes = Box::new([0; PAGE_BYTES]);
    memory.read(bo.range().start + page * PAGE, bytes.as_mut_slice());
    bytes
}

/// The record of a page that is now like this, if it was not before.
fn changed(
    pages: &mut BTreeMap<(u32, u32), Box<PageBytes>>,
    key: (u32, u32),
    now: Box<PageBytes>,
    whole: fn(Page) -> Record,
    diff: fn(PageDiff) -> Record,
) -> Option<Record> {
    let (bo, page) = key;
    let before = pages.insert(key, now.clone());
    match before {
        None => Some(whole(Page { bo, page, data: now })),
        Some(before) if before == now => None,
        Some(before) => Some(diff(PageDiff { bo, page, runs: runs(&before, &now) })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_that_differ_are_written_down() {
        let (mut old, mut new) = ([0; PAGE_BYTES], [0; PAGE_BYTES]);
        old[8] = 1;
        (new[0], new[9], new[4095]) = (5, 1, 2);
        let found = runs(&old, &new);
        let wanted = [(0, vec![5]), (2, vec![0x100]), (1023, vec![0x0200_0000])];
        assert_eq!(found, wanted.map(|(first, words)| Run { first, words }));
    }

    #[test]
    fn stored_bytes_become_whole_words_page_by_page() {
        let mut words = BTreeMap::new();
        split(7, 4090..4101, &mut words);
        let found: Vec<_> =
            words.into_iter().map(|(key, mut ranges)| (key, ranges.len(), ranges.pop())).collect();
        assert_eq!(found, [((7, 0), 1, Some(1022..1024)), ((7, 1), 1, Some(0..2))]);
    }
}
