//! The parameter block of a stream-output program.

use std::sync::Arc;

use guestwave_cp::intel::sol::SolJob;

use crate::program::ParamSource;

/// Bytes of a slot of a vertex.
pub(super) const SLOT_BYTES: u32 = 16;

/// Words of the block, by what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Vertices that are stored.
    Count,
    /// Vertices of an instance, as drawn.
    Drawn,
    /// Vertices of an instance, as stored.
    Stored,
    /// Bytes of a vertex in the tables.
    VertexBytes,
    /// Bytes of a vertex before slot 0 of the declarations.
    FirstBytes,
    /// Byte offset in the tables of the list of vertices.
    List,
    /// Low half of the address of a buffer's first record.
    StartLow(u8),
    /// High half of it.
    StartHigh(u8),
    /// Bytes from there to the end of the last record, at most 2^32 - 1.
    Span(u8),
}

/// Words of the block.
const WORDS: u8 = 18;

impl Word {
    /// Its place in the block.
    pub(super) const fn place(self) -> u8 {
        match self {
            Word::Count => 0,
            Word::Drawn => 1,
            Word::Stored => 2,
            Word::VertexBytes => 3,
            Word::FirstBytes => 4,
            Word::List => 5,
            Word::StartLow(buffer) => 6 + buffer,
            Word::StartHigh(buffer) => 10 + buffer,
            Word::Span(buffer) => 14 + buffer,
        }
    }
}

/// The sources of a block's words, all of them, in order.
pub(super) fn sources() -> Vec<ParamSource> {
    (0..WORDS).map(ParamSource::Own).collect()
}

/// The block and the tables of a job; `None` where the vertices are more than 32-bit byte offsets reach.
pub(super) fn fill(job: &SolJob) -> Option<(Vec<u32>, Arc<[u32]>)> {
    let list_at = u32::try_from(job.vues.words.len().checked_mul(4)?).ok()?;
    u32::try_from(job.list.len().checked_mul(4)?).ok()?.checked_add(list_at)?;
    let tables = match job.list.is_empty() {
        true => job.vues.words.clone(),
        false => job.vues.words.iter().chain(&*job.list).copied().collect(),
    };
    let mut block = vec![0; usize::from(WORDS)];
    let mut set = |word: Word, value: u32| block[usize::from(word.place())] = value;
    set(Word::Count, job.count);
    set(Word::Drawn, job.drawn.max(1));
    set(Word::Stored, job.stored.max(1));
    set(Word::VertexBytes, job.vues.slots.checked_mul(SLOT_BYTES)?);
    set(Word::FirstBytes, job.first_slot.checked_mul(SLOT_BYTES)?);
    set(Word::List, list_at);
    for (buffer, (start, pitch)) in (0..).zip(job.starts.iter().zip(job.shape.pitches)) {
        set(Word::StartLow(buffer), *start as u32);
        set(Word::StartHigh(buffer), (*start >> 32) as u32);
        set(Word::Span(buffer), job.count.saturating_mul(pitch));
    }
    Some((block, tables))
}
