//! The part of a copy that does not change from draw to draw.

use std::sync::Arc;

use super::super::so_decl::{DWORD, SoDecl};
use crate::primitives::{Provoking, Topology};
use crate::streamout::{BUFFERS, Slot};

/// Components of one slot and where they go in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Copy {
    /// Destination buffer.
    pub buffer: Slot,
    /// Slot, counted from the stream's read offset.
    pub register: u8,
    /// First component.
    pub first: u8,
    /// Components, 1 to 4.
    pub count: u8,
    /// Byte offset in the record.
    pub offset: u32,
}

/// Which vertex is stored at which place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SolOrder {
    /// One run of vertices, assembled by the primitive table.
    Assembled(Topology, Provoking),
    /// As the job lists them.
    Listed,
}

/// The copies of one stream: what a program for them is made from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SolShape {
    /// In the order of the declarations; holes are the gaps between them.
    pub copies: Arc<[Copy]>,
    /// Bytes of each buffer's record.
    pub pitches: [u32; BUFFERS],
    /// Which vertex is stored at which place.
    pub order: SolOrder,
}

impl SolShape {
    /// The shape of a stream's declarations.
    pub fn new(decls: &[SoDecl], pitches: [u32; BUFFERS], order: SolOrder) -> SolShape {
        let mut next = [0; BUFFERS];
        let mut copies = Vec::new();
        for decl in decls {
            let offset = &mut next[decl.buffer.index()];
            if !decl.hole && decl.mask != 0 {
                copies.push(Copy {
                    buffer: decl.buffer,
                    register: decl.register,
                    first: decl.first(),
                    count: decl.dwords() as u8,
                    offset: *offset,
                });
            }
            *offset += decl.dwords() * DWORD;
        }
        SolShape { copies: copies.into(), pitches, order }
    }

    /// Buffers that are stored to, one bit a buffer.
    pub fn buffers(&self) -> u8 {
        self.copies.iter().fold(0, |mask, copy| mask | 1 << copy.buffer.index())
    }

    /// Bytes of a buffer's record up to its last stored dword.
    pub fn stored_bytes(&self, buffer: Slot) -> u32 {
        let ends = self.copies.iter().filter(|c| c.buffer == buffer);
        ends.map(|c| c.offset + u32::from(c.count) * DWORD).max().unwrap_or(0)
    }
}
