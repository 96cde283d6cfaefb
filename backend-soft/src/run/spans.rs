//! From guest addresses to host memory.

use std::collections::BTreeMap;
use std::ops::Range;

use guestwave_cp::GuestMemory;

use crate::raw::{Buffer, HostMemory};

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
}

/// The spans met so far, by first address; those that the embedder does not offer in place are copies.
pub(crate) struct Spans<'m> {
    memory: &'m dyn GuestMemory,
    known: BTreeMap<u64, Span<'m>>,
    /// Behind the copies in `known`.
    copies: Vec<Buffer<u8>>,
}

impl<'m> Spans<'m> {
    pub(crate) fn new(memory: &'m dyn GuestMemory) -> Self {
        Spans { memory, known: BTreeMap::new(), copies: Vec::new() }
    }

    /// The span that contains `address` (48 bits), if anything is mapped there.
    pub(crate) fn at(&mut self, address: u64) -> Option<Span<'m>> {
        let known = self.known.range(..=address).next_back().map(|(_, s)| *s);
        match known.filter(|s| s.range().contains(&address)) {
            Some(span) => Some(span),
            None => self.ask(address),
        }
    }

    fn ask(&mut self, address: u64) -> Option<Span<'m>> {
        let span = self.in_place(address).or_else(|| self.copied(address))?;
        if !span.range().contains(&address) {
            return None;
        }
        self.known.insert(span.guest, span);
        Some(span)
    }

    fn in_place(&self, address: u64) -> Option<Span<'m>> {
        let span = self.memory.host_span(address)?;
        let host = HostMemory::of_span(&span, self.memory);
        Some(Span { guest: span.guest, host, writable: span.writable, copy: false })
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
