//! Bytes that code of this process may reach in place while others read and write them: a run of atomic words.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a word.
const WORD: usize = 8;

/// A run of bytes that never moves, zero at first. Every access is atomic in each byte, and bytes next to those written are left
/// alone.
pub(super) struct Cells(Box<[AtomicU64]>);

impl Cells {
    /// `bytes` bytes (a multiple of 8), `None` if the host has no room. The host's pages stay untouched until they are
    /// written.
    pub(super) fn new(bytes: usize) -> Option<Self> {
        bytemuck::try_zeroed_slice_box(bytes / WORD).ok().map(Cells)
    }

    /// Where byte `at` lies; from there on all bytes follow each other.
    pub(super) fn host(&self, at: usize) -> Option<NonNull<u8>> {
        NonNull::new(NonNull::from(&*self.0).cast::<u8>().as_ptr().wrapping_add(at))
    }

    /// Fills `into` from byte `at`; what lies past the end is left as it was.
    pub(super) fn read(&self, at: usize, into: &mut [u8]) {
        if let (Ok(dword), 0) = (<&mut [u8; 4]>::try_from(&mut *into), at % 4) {
            return self.read_dword(at, dword);
        }
        let (head, rest) = into.split_at_mut(head(at, into.len()));
        if let Some(cell) = self.0.get(at / WORD) {
            take(cell, at % WORD, head);
        }
        let words = self.from((at + head.len()) / WORD);
        let (whole, tail) = rest.as_chunks_mut::<WORD>();
        for (cell, bytes) in words.iter().zip(&mut *whole) {
            *bytes = cell.load(Ordering::Relaxed).to_ne_bytes();
        }
        if let Some(cell) = words.get(whole.len()) {
            take(cell, 0, tail);
        }
    }

    /// As [`Cells::read`] of the four bytes from a multiple of four, which is what packets and descriptors are read by.
    fn read_dword(&self, at: usize, into: &mut [u8; 4]) {
        if let Some(cell) = self.0.get(at / WORD) {
            let [low, high] = *cell.load(Ordering::Relaxed).to_ne_bytes().as_chunks().0 else { return };
            *into = if at.is_multiple_of(WORD) { low } else { high };
        }
    }

    /// Writes `bytes` from byte `at` on; what lies past the end is dropped.
    pub(super) fn write(&self, at: usize, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(head(at, bytes.len()));
        if let Some(cell) = self.0.get(at / WORD) {
            put(cell, at % WORD, head);
        }
        let words = self.from((at + head.len()) / WORD);
        let (whole, tail) = rest.as_chunks::<WORD>();
        for (cell, bytes) in words.iter().zip(whole) {
            cell.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
        if let Some(cell) = words.get(whole.len()) {
            put(cell, 0, tail);
        }
    }

    fn from(&self, word: usize) -> &[AtomicU64] {
        self.0.get(word..).unwrap_or_default()
    }
}

/// Bytes of an access of `len` bytes at `at` that lie before the first whole word.
fn head(at: usize, len: usize) -> usize {
    (at.next_multiple_of(WORD) - at).min(len)
}

/// Some bytes of a word, from its byte `at` on.
fn take(cell: &AtomicU64, at: usize, into: &mut [u8]) {
    if !into.is_empty() {
        let word = cell.load(Ordering::Relaxed).to_ne_bytes();
        into.copy_from_slice(&word[at..at + into.len()]);
    }
}

/// Replaces some bytes of a word, whatever others do to the rest of it meanwhile.
fn put(cell: &AtomicU64, at: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    cell.update(Ordering::Relaxed, Ordering::Relaxed, |old| {
        let mut word = old.to_ne_bytes();
        word[at..at + bytes.len()].copy_from_slice(bytes);
        u64::from_ne_bytes(word)
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Any write followed by any read is what a plain array would give.
        #[test]
        fn cells_are_bytes(at in 0usize..40, bytes in prop::collection::vec(any::<u8>(), 0..40), from in 0usize..48, len in 0usize..40) {
            let cells = Cells::new(48).unwrap();
            cells.write(0, &[0xee; 48]);
            let mut plain = [0xee; 96];
            cells.write(at, &bytes);
            plain[at..at + bytes.len()].copy_from_slice(&bytes);
            plain[48..].fill(0x11);
            let mut read = vec![0x11; len];
            cells.read(from, &mut read);
            prop_assert_eq!(read, &plain[from..from + len]);
        }
    }
}
