//! Comparing with the pages that another executor left ("golden" pages, GPAG and GPDF).

use std::collections::HashMap;

use serde::Serialize;

use crate::capture::{PAGE_BYTES, Page, PageDiff, Record};
use crate::memory::CaptureMemory;

type PageBytes = Box<[u8; PAGE_BYTES]>;

/// The pages of a capture as its records say they are.
#[derive(Debug, Default)]
pub(super) struct Golden {
    pages: HashMap<(u32, u32), PageBytes>,
}

/// A page that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoldenDifference {
    /// The submission after which it was recorded.
    pub submission: u32,
    /// The buffer object.
    pub bo: u32,
    /// Page number in it.
    pub page: u32,
    /// Bytes that differ.
    pub bytes: u32,
    /// Byte offset in the page of the first dword that differs.
    pub first: u32,
    /// That dword here.
    pub ours: String,
    /// That dword in the capture.
    pub theirs: String,
}

impl Golden {
    /// Follows a record. Returns the page that it says another executor left, if it does.
    pub(super) fn follow(&mut self, record: &Record) -> Option<(u32, u32)> {
        match record {
            Record::Page(p) => drop(self.set(p)),
            Record::Diff(d) => drop(self.change(d)),
            Record::GoldenPage(p) => return Some(self.set(p)),
            Record::GoldenDiff(d) => return Some(self.change(d)),
            Record::Free { bo } => self.pages.retain(|(b, _), _| b != bo),
            _ => (),
        }
        None
    }

    fn set(&mut self, page: &Page) -> (u32, u32) {
        self.pages.insert((page.bo, page.page), page.data.clone());
        (page.bo, page.page)
    }

    fn change(&mut self, diff: &PageDiff) -> (u32, u32) {
        let key = (diff.bo, diff.page);
        let page = self.pages.entry(key).or_insert_with(|| Box::new([0; PAGE_BYTES]));
        for run in &diff.runs {
            let places = page.as_chunks_mut::<4>().0.iter_mut().skip(usize::from(run.first));
            places.zip(&run.words).for_each(|(place, word)| *place = word.to_le_bytes());
        }
        key
    }

    /// How a page differs from what memory holds.
    pub(super) fn compare(
        &self,
        memory: &CaptureMemory,
        submission: u32,
        key: (u32, u32),
    ) -> Option<GoldenDifference> {
        let theirs = self.pages.get(&key)?;
        let mut ours = [0; PAGE_BYTES];
        let (bo, page) = key;
        memory.buffer(bo).ok()?.read(u64::from(page) * PAGE_BYTES as u64, &mut ours).ok()?;
        let bytes = ours.iter().zip(theirs.iter()).filter(|(a, b)| a != b).count() as u32;
        let words = ours.as_chunks::<4>().0.iter().zip(theirs.as_chunks::<4>().0);
        let (first, (a, b)) = words.enumerate().find(|(_, (a, b))| a != b)?;
        let text = |w: &[u8; 4]| format!("{:08x}", u32::from_le_bytes(*w));
        Some(GoldenDifference {
            submission,
            bo,
            page,
            bytes,
            first: 4 * first as u32,
            ours: text(a),
            theirs: text(b),
        })
    }
}
