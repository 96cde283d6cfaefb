//! From destination offsets to the shortest list.

use super::{DWORD, DeclList, MAX_PITCH, MAX_REGISTERS, SoDecl, SoDeclError};
use crate::streamout::{BUFFERS, STREAMS, Slot};

/// Dwords of the largest hole.
const LARGEST_HOLE: u32 = 4;

/// One output: consecutive components of one VUE slot, and where they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output {
    /// Destination buffer.
    pub buffer: Slot,
    /// Vertex stream.
    pub stream: Slot,
    /// VUE slot, counted from the stream's read offset.
    pub register: u8,
    /// First component, 0 to 3.
    pub first: u8,
    /// Components, 1 to 4.
    pub count: u8,
    /// Byte offset in the buffer's record.
    pub offset: u32,
}

/// What is to be captured of each vertex.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Record {
    /// The outputs; those of one buffer by rising offsets.
    pub outputs: Vec<Output>,
    /// Bytes of each buffer's record, skips after the last output included; 0 for a buffer without a record.
    pub pitches: [u32; BUFFERS],
}

/// A linked record: what the packets say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Linked {
    /// 3DSTATE_SO_DECL_LIST.
    pub list: DeclList,
    /// Bytes of each buffer's record.
    pub pitches: [u32; BUFFERS],
    /// Buffers that take part, one bit a buffer: those with a record, whether or not anything is stored to it.
    pub buffers: u8,
}

impl Record {
    /// Makes the declaration list with the fewest entries: holes of four dwords as long as they fit a gap, then one of
    /// what is left, and none behind a buffer's last output.
    ///
    /// # Errors
    /// Outputs that overlap, lie between dwords or past their pitch, name no slot or not 1 to 4 components of one,
    /// a pitch that cannot be, a buffer with two streams, or more than 128 entries.
    pub fn link(&self) -> Result<Linked, SoDeclError> {
        let mut linked = Linked { pitches: self.pitches, ..Linked::default() };
        let mut next = [0; BUFFERS];
        for output in &self.outputs {
            output.check()?;
            let at = &mut next[output.buffer.index()];
            output.declare(*at, &mut linked.list)?;
            *at = output.offset + u32::from(output.count) * DWORD;
        }
        for buffer in Slot::ALL {
            check_pitch(buffer, self.pitches[buffer.index()], next[buffer.index()])?;
            linked.buffers |= u8::from(self.pitches[buffer.index()] != 0) << buffer.index();
        }
        check_counts(&linked.list)?;
        linked.list.check()?;
        Ok(linked)
    }
}

impl Output {
    fn check(&self) -> Result<(), SoDeclError> {
        let (first, count) = (u32::from(self.first), u32::from(self.count));
        let register = u32::from(self.register);
        match () {
            () if count == 0 || first + count > 4 => Err(SoDeclError::Components { first, count }),
            () if register >= MAX_REGISTERS => Err(SoDeclError::Register { register }),
            () if !self.offset.is_multiple_of(DWORD) => {
                Err(SoDeclError::Unaligned { buffer: self.buffer.index() as u32, bytes: self.offset })
            }
            () if self.offset >= MAX_PITCH => Err(SoDeclError::Pitch {
                buffer: self.buffer.index() as u32,
                pitch: MAX_PITCH,
                bytes: self.offset.saturating_add(count * DWORD),
            }),
            () => Ok(()),
        }
    }

    /// Appends the gap before the output and the output itself; the buffer's record has `next` bytes so far.
    fn declare(&self, next: u32, list: &mut DeclList) -> Result<(), SoDeclError> {
        let buffer = self.buffer;
        let gap = self.offset.checked_sub(next).ok_or(SoDeclError::Overlap {
            buffer: buffer.index() as u32,
            offset: self.offset,
            next,
        })?;
        let decls = &mut list.streams[self.stream.index()];
        holes(decls, buffer, gap / DWORD);
        list.selects[self.stream.index()] |= 1 << buffer.index();
        decls.push(SoDecl::data(buffer, self.register, self.first, self.count));
        Ok(())
    }
}

/// Appends a gap of `dwords` dwords.
fn holes(decls: &mut Vec<SoDecl>, buffer: Slot, mut dwords: u32) {
    while dwords > 0 {
        let hole = dwords.min(LARGEST_HOLE);
        decls.push(SoDecl::hole(buffer, hole as u8));
        dwords -= hole;
    }
}

fn check_pitch(buffer: Slot, pitch: u32, bytes: u32) -> Result<(), SoDeclError> {
    let buffer = buffer.index() as u32;
    match pitch {
        _ if pitch > MAX_PITCH || !pitch.is_multiple_of(DWORD) => {
            Err(SoDeclError::PitchRange { buffer, pitch })
        }
        _ if bytes > pitch => Err(SoDeclError::Pitch { buffer, pitch, bytes }),
        _ => Ok(()),
    }
}

fn check_counts(list: &DeclList) -> Result<(), SoDeclError> {
    let long = (0..STREAMS).find(|s| list.streams[*s].len() > super::MAX_ENTRIES);
    match long {
        Some(stream) => Err(SoDeclError::TooManyEntries {
            stream: stream as u32,
            entries: list.streams[stream].len() as u32,
        }),
        None => Ok(()),
    }
}
