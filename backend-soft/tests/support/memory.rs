//! Guest memory made of segments, offered in place or only through reads and writes.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use guestwave_cp::{
    AccessKind, Generation, GuestMemory, HostSpan, MappingState, MemoryFault, MemoryId, canonical,
};

/// How a segment is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// As a host span.
    InPlace,
    /// Through reads and writes.
    Copied,
}

/// Contiguous guest memory.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) guest: u64,
    pub(crate) writable: bool,
    pub(crate) offer: Offer,
    /// One byte more at the start than the guest has if the host's address is to be odd.
    bytes: Vec<AtomicU8>,
}

/// Guest memory of some segments; two that touch are one mapping, but each its own span.
#[derive(Debug)]
pub(crate) struct Arena {
    pub(crate) segments: Vec<Segment>,
    pub(crate) told: Mutex<Vec<Range<u64>>>,
    /// Segments that are mapped no more. They live on, so that who still looks at them finds something.
    gone: Vec<Segment>,
    id: MemoryId,
}

impl Default for Arena {
    fn default() -> Self {
        let (segments, gone) = (Vec::new(), Vec::new());
        Arena { segments, told: Mutex::default(), gone, id: MemoryId::unique() }
    }
}

impl Segment {
    fn range(&self) -> Range<u64> {
        self.guest..self.guest + self.bytes.len() as u64
    }
}

impl Arena {
    /// No memory.
    pub(crate) fn new() -> Self {
        Arena::default()
    }

    /// With a writable segment in place.
    pub(crate) fn with(self, guest: u64, bytes: &[u8]) -> Self {
        self.with_segment(guest, bytes, true, Offer::InPlace)
    }

    /// With a segment.
    pub(crate) fn with_segment(mut self, guest: u64, bytes: &[u8], writable: bool, offer: Offer) -> Self {
        let bytes = bytes.iter().map(|b| AtomicU8::new(*b)).collect();
        self.segments.push(Segment { guest, writable, offer, bytes });
        self
    }

    /// Puts another segment in the place of number `at`.
    pub(crate) fn replace(&mut self, at: usize, bytes: &[u8], writable: bool, offer: Offer) {
        let guest = self.segments[at].guest;
        let bytes = bytes.iter().map(|b| AtomicU8::new(*b)).collect();
        let new = Segment { guest, writable, offer, bytes };
        self.gone.push(std::mem::replace(&mut self.segments[at], new));
    }

    /// The same memory elsewhere.
    pub(crate) fn copy(&self) -> Self {
        self.segments
            .iter()
            .fold(Arena::new(), |arena, s| arena.with_segment(s.guest, &contents(s), s.writable, s.offer))
    }

    /// All bytes, segment by segment.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.segments.iter().flat_map(contents).collect()
    }

    /// The first address at which two copies differ, and what they have there.
    pub(crate) fn first_difference(&self, other: &Self) -> Option<(u64, u8, u8)> {
        self.segments.iter().zip(&other.segments).find_map(|(a, b)| {
            let pairs = contents(a).into_iter().zip(contents(b)).zip(a.guest..);
            pairs.into_iter().find(|((x, y), _)| x != y).map(|((x, y), at)| (at, x, y))
        })
    }

    /// The dword at `address`.
    pub(crate) fn word(&self, address: u64) -> u32 {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }

    fn segment(&self, address: u64) -> Option<&Segment> {
        self.segments.iter().find(|s| s.range().contains(&address))
    }

    fn byte(&self, address: u64) -> Option<(&Segment, &AtomicU8)> {
        let segment = self.segment(address)?;
        Some((segment, &segment.bytes[(address - segment.guest) as usize]))
    }
}

fn contents(segment: &Segment) -> Vec<u8> {
    segment.bytes.iter().map(|b| b.load(Ordering::Relaxed)).collect()
}

impl GuestMemory for Arena {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let size = into.len() as u64;
        for (i, byte) in (0..).zip(into) {
            let at = canonical(address.wrapping_add(i));
            let fault = MemoryFault { address: at, size, kind: AccessKind::Read };
            *byte = self.byte(at).ok_or(fault)?.1.load(Ordering::Relaxed);
        }
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let size = bytes.len() as u64;
        let place = |i: u64| {
            let at = canonical(address.wrapping_add(i));
            let fault = MemoryFault { address: at, size, kind: AccessKind::Write };
            self.byte(at).filter(|(s, _)| s.writable).ok_or(fault)
        };
        (0..size).try_for_each(|i| place(i).map(|_| ()))?;
        for (i, byte) in (0..).zip(bytes) {
            place(i)?.1.store(*byte, Ordering::Relaxed);
        }
        Ok(())
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        let mut range = self.segment(canonical(address))?.range();
        while let Some(next) = self.segment(range.end) {
            range.end = next.range().end;
        }
        while let Some(before) = range.start.checked_sub(1).and_then(|a| self.segment(a)) {
            range.start = before.guest;
        }
        Some(range)
    }

    fn mappings(&self) -> Option<MappingState> {
        Some(MappingState { memory: self.id, changes: self.gone.len() as u64 })
    }

    fn generation(&self) -> Generation {
        Generation::default()
    }

    fn changed_since(&self, _: Generation, _: &mut dyn FnMut(Range<u64>)) -> Generation {
        Generation::default()
    }

    fn host_span(&self, address: u64) -> Option<HostSpan> {
        let segment = self.segment(canonical(address)).filter(|s| s.offer == Offer::InPlace)?;
        Some(HostSpan {
            guest: segment.guest,
            host: NonNull::from(segment.bytes.first()?).cast(),
            len: segment.bytes.len() as u64,
            writable: segment.writable,
        })
    }

    fn wrote_in_place(&self, range: Range<u64>) {
        self.told.lock().unwrap().push(range);
    }
}
