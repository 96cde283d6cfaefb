//! Buffers that a program marked so that they can be found again.
//!
//! The last 64 bytes of a tracked buffer begin with the dwords 0x46425831, tag, size. The trailer can be there more
//! than once: the driver uploads a buffer through staging memory and may read it back through other staging memory.
//! The buffer itself is the copy in video memory if there is one (staging memory never is), and otherwise the copy
//! that was written last (a driver that maps its buffers makes no others).

use std::sync::Arc;

use crate::capture::DOMAIN_VRAM;
use crate::memory::Buffer;

/// First dword of a trailer.
pub const TRAILER_MAGIC: u32 = 0x4642_5831;

/// Bytes of a trailer.
const TRAILER_BYTES: u64 = 64;

/// A place that looks like a tracked buffer.
#[derive(Clone, Debug)]
pub struct Tracked {
    /// The buffer object it lies in.
    pub buffer: Arc<Buffer>,
    /// Byte offset of its start.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
}

impl Tracked {
    /// `count` words from byte `offset` of the tracked buffer, if they are all in it.
    pub fn words(&self, offset: u64, count: usize) -> Option<Vec<u32>> {
        let bytes = 4 * count as u64;
        (offset.checked_add(bytes)? <= self.size).then_some(())?;
        let mut raw = vec![0; bytes as usize];
        self.buffer.read(self.offset + offset, &mut raw).ok()?;
        Some(raw.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect())
    }

    /// In video memory, then when it was last written.
    fn rank(&self) -> (bool, u64) {
        let vram = self.buffer.domains == DOMAIN_VRAM;
        (vram, self.buffer.stamp(self.offset..self.offset + self.size))
    }
}

/// The tracked buffer of that tag and size among `buffers`, if its trailer is anywhere.
pub fn find(buffers: &[Arc<Buffer>], tag: u32, size: u32) -> Option<Tracked> {
    let mut found = Vec::new();
    for buffer in buffers {
        places(buffer, tag, size, &mut found);
    }
    found.into_iter().max_by_key(Tracked::rank)
}

/// Appends every place in `buffer` with that trailer. Trailers are dword-aligned and never cross into a page that was
/// never written.
fn places(buffer: &Arc<Buffer>, tag: u32, size: u32, found: &mut Vec<Tracked>) {
    let mark = [TRAILER_MAGIC, tag, size].map(u32::to_le_bytes).concat();
    let size = u64::from(size);
    buffer.written(|range, bytes| {
        for at in (0..bytes.len().saturating_sub(mark.len() - 1)).step_by(4) {
            if bytes[at..].starts_with(&mark) {
                let start = (range.start + at as u64 + TRAILER_BYTES).checked_sub(size);
                found.extend(start.map(|offset| Tracked { buffer: buffer.clone(), offset, size }));
            }
        }
    });
    found.retain(|t| t.offset + t.size <= t.buffer.size);
}
