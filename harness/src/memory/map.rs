//! Which addresses belong to which buffer object.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use guestwave_cp::{AccessKind, MemoryFault, canonical};

/// A buffer object, as far as a map of addresses looks at it.
pub(crate) trait Backing {
    /// Its number, which no other one has.
    fn number(&self) -> u32;
}

/// A run of addresses backed by a run of one buffer object's bytes.
#[derive(Debug)]
pub(crate) struct Mapping<B> {
    /// The addresses, canonical.
    pub(crate) range: Range<u64>,
    /// What is behind them.
    pub(crate) buffer: Arc<B>,
    /// Byte of the buffer object at the first address.
    pub(crate) offset: u64,
    /// Whether the guest may store.
    pub(crate) writable: bool,
}

impl<B> Clone for Mapping<B> {
    fn clone(&self) -> Self {
        let Mapping { range, buffer, offset, writable } = self;
        Mapping { range: range.clone(), buffer: buffer.clone(), offset: *offset, writable: *writable }
    }
}

impl<B> Mapping<B> {
    /// The part of the mapping inside `range`, if any.
    fn part(&self, range: Range<u64>) -> Option<Mapping<B>> {
        let start = self.range.start.max(range.start);
        let end = self.range.end.min(range.end);
        let offset = self.offset + start.saturating_sub(self.range.start);
        (start < end).then(|| Mapping { range: start..end, offset, ..self.clone() })
    }

    /// The buffer object's bytes that are mapped.
    pub(crate) fn bytes(&self) -> Range<u64> {
        self.offset..self.offset + (self.range.end - self.range.start)
    }

    /// The addresses of a run of its bytes.
    pub(crate) fn addresses(&self, bytes: Range<u64>) -> Range<u64> {
        let shift = |b: u64| b - self.offset + self.range.start;
        shift(bytes.start)..shift(bytes.end)
    }
}

/// All mappings, sorted and disjoint.
#[derive(Debug)]
pub(crate) struct AddressMap<B> {
    mappings: Vec<Mapping<B>>,
    /// Where the last access hit: most accesses stay in one buffer object for a while.
    last: AtomicUsize,
}

impl<B> Default for AddressMap<B> {
    fn default() -> Self {
        AddressMap { mappings: Vec::new(), last: AtomicUsize::new(0) }
    }
}

impl<B> Clone for AddressMap<B> {
    fn clone(&self) -> Self {
        AddressMap { mappings: self.mappings.clone(), last: AtomicUsize::new(0) }
    }
}

impl<B: Backing> AddressMap<B> {
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Mapping<B>> {
        self.mappings.iter()
    }

    /// The parts of `address .. address + len`, each inside one mapping, or the first byte that no mapping covers.
    pub(crate) fn pieces(
        &self,
        address: u64,
        len: u64,
        kind: AccessKind,
    ) -> Result<Pieces<'_, B>, MemoryFault> {
        let start = canonical(address);
        let end = start.saturating_add(len);
        let first = if len == 0 { Some(0) } else { self.hit(start) };
        let fault = |address| MemoryFault { address, size: len, kind };
        let mappings = self.mappings.get(first.ok_or(fault(start))?..).unwrap_or_default();
        let mut at = start;
        for mapping in mappings {
            if at >= end {
                break;
            }
            if !mapping.range.contains(&at) || !(mapping.writable || kind == AccessKind::Read) {
                return Err(fault(at));
            }
            at = mapping.range.end;
        }
        if at < end { Err(fault(at)) } else { Ok(Pieces { mappings, start, at: start, end }) }
    }

    /// The mapping that holds all of `address .. address + len` and may be accessed so, and the first byte in its buffer
    /// object. None where [`AddressMap::pieces`] has something to say.
    #[inline]
    pub(crate) fn whole(&self, address: u64, len: u64, kind: AccessKind) -> Option<(&Mapping<B>, u64)> {
        let start = canonical(address);
        let mapping = self.find(start)?;
        let held = len <= mapping.range.end - start && (mapping.writable || kind == AccessKind::Read);
        held.then(|| (mapping, mapping.offset + (start - mapping.range.start)))
    }

    /// The mapping that contains `address`.
    pub(crate) fn find(&self, address: u64) -> Option<&Mapping<B>> {
        self.mappings.get(self.hit(address)?)
    }

    /// The place of the mapping that contains `address`.
    fn hit(&self, address: u64) -> Option<usize> {
        let hits = |place: usize| self.mappings.get(place).is_some_and(|m| m.range.contains(&address));
        let last = self.last.load(Ordering::Relaxed);
        if hits(last) {
            return Some(last);
        }
        let place = self.place(address);
        hits(place).then(|| {
            self.last.store(place, Ordering::Relaxed);
            place
        })
    }

    /// The first mapping that ends after `address`.
    fn place(&self, address: u64) -> usize {
        self.mappings.partition_point(|m| m.range.end <= address)
    }

    /// The largest run of mapped addresses around `address`.
    pub(crate) fn extent(&self, address: u64) -> Option<Range<u64>> {
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
    pub(crate) fn address_of(&self, bo: u32, offset: u64) -> Option<u64> {
        self.mappings.iter().filter(|m| m.buffer.number() == bo).find_map(|m| {
            let from = offset.checked_sub(m.offset)?;
            (from < m.range.end - m.range.start).then_some(m.range.start + from)
        })
    }

    /// Maps, in place of whatever was there.
    pub(crate) fn insert(&mut self, mapping: Mapping<B>) {
        self.remove(mapping.range.clone(), None);
        let place = self.place(mapping.range.start);
        self.mappings.insert(place, mapping);
    }

    /// Unmaps what lies in `range` (only that of `bo`, if given) and returns the addresses that were mapped.
    pub(crate) fn remove(&mut self, range: Range<u64>, bo: Option<u32>) -> Vec<Range<u64>> {
        let mut gone = Vec::new();
        let mut kept = Vec::with_capacity(self.mappings.len() + 1);
        for mapping in self.mappings.drain(..) {
            let part = mapping.part(range.clone()).filter(|m| bo.is_none_or(|bo| m.buffer.number() == bo));
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

/// The parts of an access all of which is mapped.
pub(crate) struct Pieces<'a, B> {
    /// From the one that has the rest's first byte on.
    mappings: &'a [Mapping<B>],
    start: u64,
    at: u64,
    end: u64,
}

impl<'a, B> Iterator for Pieces<'a, B> {
    type Item = Piece<'a, B>;

    fn next(&mut self) -> Option<Piece<'a, B>> {
        let Pieces { start, at, end, .. } = *self;
        let (mapping, rest) = self.mappings.split_first().filter(|_| at < end)?;
        let stop = mapping.range.end.min(end);
        (self.mappings, self.at) = (rest, stop);
        Some(Piece { mapping, from: at - mapping.range.start, bytes: at - start..stop - start })
    }
}

/// One part of an access.
pub(crate) struct Piece<'a, B> {
    pub(crate) mapping: &'a Mapping<B>,
    /// Byte in the mapping.
    from: u64,
    /// Bytes of the access.
    bytes: Range<u64>,
}

impl<B> Piece<'_, B> {
    /// The first byte in the buffer object.
    pub(crate) fn offset(&self) -> u64 {
        self.mapping.offset + self.from
    }

    /// The access's bytes as places in its slice, which is as long as the access.
    pub(crate) fn places(&self) -> Range<usize> {
        self.bytes.start as usize..self.bytes.end as usize
    }
}
