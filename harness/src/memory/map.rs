//! Which addresses belong to which buffer object.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Buffer;

/// A run of addresses backed by a run of one buffer object's bytes.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    /// The addresses, canonical.
    pub(super) range: Range<u64>,
    /// What is behind them.
    pub(super) buffer: Arc<Buffer>,
    /// Byte of the buffer object at the first address.
    pub(super) offset: u64,
    /// Whether the guest may store.
    pub(super) writable: bool,
}

impl Mapping {
    /// The part of the mapping inside `range`, if any.
    fn part(&self, range: Range<u64>) -> Option<Mapping> {
        let start = self.range.start.max(range.start);
        let end = self.range.end.min(range.end);
        let offset = self.offset + start.saturating_sub(self.range.start);
        (start < end).then(|| Mapping { range: start..end, offset, ..self.clone() })
    }

    /// Addresses whose pages were written after `since`.
    pub(super) fn changed(&self, since: u64, changed: &mut dyn FnMut(Range<u64>)) {
        let bytes = self.offset..self.offset + (self.range.end - self.range.start);
        let shift = |b: u64| b - self.offset + self.range.start;
        self.buffer.changed(since, bytes, &mut |r| changed(shift(r.start)..shift(r.end)));
    }
}

/// All mappings, sorted and disjoint.
#[derive(Debug, Default)]
pub(super) struct AddressMap {
    mappings: Vec<Mapping>,
    /// Where the last access hit: most accesses stay in one buffer object for a while.
    last: AtomicUsize,
}

impl AddressMap {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Mapping> {
        self.mappings.iter()
    }

    /// The mapping that contains `address`.
    pub(super) fn find(&self, address: u64) -> Option<&Mapping> {
        let hint = self.mappings.get(self.last.load(Ordering::Relaxed));
        if let Some(mapping) = hint.filter(|m| m.range.contains(&address)) {
            return Some(mapping);
        }
        let place = self.place(address);
        let found = self.mappings.get(place).filter(|m| m.range.contains(&address))?;
        self.last.store(place, Ordering::Relaxed);
        Some(found)
    }

    /// The first mapping that ends after `address`.
    fn place(&self, address: u64) -> usize {
        self.mappings.partition_point(|m| m.range.end <= address)
    }

    /// The largest run of mapped addresses around `address`.
    pub(super) fn extent(&self, address: u64) -> Option<Range<u64>> {
        let place = self.place(address);
        let mut extent = self.mappings.get(place).filter(|m| m.range.contains(&address))?.range.clone();
        for m in self.mappings[..place].iter().rev() {
            if m.range.end < extent.start {
                break;
            }
            extent.start = m.range.start;
        }
        for m in &self.mappings[place + 1..] {
            if m.range.start > extent.end {
                break;
            }
            extent.end = m.range.end;
        }
        Some(extent)
    }

    /// The first address where byte `offset` of `bo` is mapped.
    pub(super) fn address_of(&self, bo: u32, offset: u64) -> Option<u64> {
        self.mappings.iter().filter(|m| m.buffer.bo == bo).find_map(|m| {
            let from = offset.checked_sub(m.offset)?;
            (from < m.range.end - m.range.start).then_some(m.range.start + from)
        })
    }

    /// Maps, in place of whatever was there.
    pub(super) fn insert(&mut self, mapping: Mapping) {
        self.remove(mapping.range.clone(), None);
        let place = self.place(mapping.range.start);
        self.mappings.insert(place, mapping);
    }

    /// Unmaps what lies in `range` (only that of `bo`, if given) and returns the addresses that were mapped.
    pub(super) fn remove(&mut self, range: Range<u64>, bo: Option<u32>) -> Vec<Range<u64>> {
        let mut gone = Vec::new();
        let mut kept = Vec::with_capacity(self.mappings.len() + 1);
        for mapping in self.mappings.drain(..) {
            let part = mapping.part(range.clone()).filter(|m| bo.is_none_or(|bo| m.buffer.bo == bo));
            let Some(part) = part else {
                kept.push(mapping);
                continue;
            };
            kept.extend(mapping.part(0..part.range.start));
            kept.extend(mapping.part(part.range.end..u64::MAX));
            gone.push(part.range);
        }
        self.mappings = kept;
        gone
    }
}
