//! From guest addresses to host memory.

use std::collections::BTreeMap;
use std::ops::Range;

use guestwave_cp::GuestMemory;

use crate::raw::{Buffer, HostMemory, KeptSpans};

/// Bytes of a page, of which the embedder offers all that is mapped in place, or nothing.
const PAGE: u64 = 4096;

/// A run of guest bytes and where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'m> {
    /// First guest address.
    pub(crate) guest: u64,
    /// The bytes.
    pub(crate) host: HostMemory<'m>,
    /// Whether stores are allowed, as far as one can tell.
    pub(crate) writable: bool,
    /// Whether this is a copy, whose stores must be written to the guest.
    pub(crate) copy: bool,
}

impl Span<'_> {
    /// Guest addresses of the run.
    pub(crate) fn range(&self) -> Range<u64> {
        self.guest..self.guest.saturating_add(self.host.len())
    }

    /// Whether `address` is in the run.
    pub(crate) fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.guest) < self.host.len()
    }
}

/// The spans met so far; those that the embedder does not offer in place are copies.
pub(crate) struct Spans<'m> {
    memory: &'m dyn GuestMemory,
    in_place: KeptSpans,
    /// By first address.
    copied: BTreeMap<u64, Span<'m>>,
    /// Behind the copies.
    copies: Vec<Buffer<u8>>,
}

impl<'m> Spans<'m> {
    /// Spans of `memory`; what was `kept` of other memory, or of other mappings, is forgotten.
    pub(crate) fn new(memory: &'m dyn GuestMemory, mut kept: KeptSpans) -> Self {
        kept.turn_to(memory);
        Spans { memory, in_place: kept, copied: BTreeMap::new(), copies: Vec::new() }
    }

    /// Changes whenever spans that were met before may not be used any more.
    pub(crate) fn epoch(&self) -> u64 {
        self.in_place.epoch()
    }

    /// What the next launches may keep. The copies end here, and with them all places that were noted.
    pub(crate) fn into_kept(mut self) -> KeptSpans {
        if !self.copies.is_empty() {
            self.in_place.forget();
        }
        self.in_place
    }

    /// The span that contains `address` (48 bits), if anything is mapped there.
    pub(crate) fn at(&mut self, address: u64) -> Option<Span<'m>> {
        self.in_place.at(address, self.memory).or_else(|| self.copy_at(address))
    }

    fn copy_at(&mut self, address: u64) -> Option<Span<'m>> {
        let known = self.copied.range(..=address).next_back().map(|(_, s)| *s);
        if let Some(span) = known.filter(|s| s.contains(address)) {
            return Some(span);
        }
        let span = self.copied(address).filter(|s| s.contains(address))?;
        self.copied.insert(span.guest, span);
        Some(span)
    }

    fn copied(&mut self, address: u64) -> Option<Span<'m>> {
        let mapped = self.memory.mapping(address)?;
        let start = mapped.start.max(address & !(PAGE - 1));
        let end = mapped.end.min((address | (PAGE - 1)) + 1);
        let mut bytes = vec![0; usize::try_from(end.checked_sub(start)?).ok()?];
        self.memory.read(start, &mut bytes).ok()?;
        let copy = Buffer::zeroed(bytes.len());
        let host = copy.memory();
        host.write(0, &bytes);
        self.copies.push(copy);
        Some(Span { guest: start, host, writable: true, copy: true })
    }
}
