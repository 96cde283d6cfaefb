//! Packets as text tools see them: names and fields, without carrying anything out.

use std::borrow::Cow;

use super::Gen;
use super::packet::{Handling, Header, PacketRow};
use super::state::{VertexBuffer, VertexElement};
use super::vertex_state;
pub use crate::words::FieldView;
use crate::words::views;

/// The packets of a batch, in order. The walk ends behind MI_BATCH_BUFFER_END, before a header of no type, or with a
/// packet that runs past the end, with the dwords that there are.
pub fn packets(dwords: &[u32], generation: Gen) -> Packets<'_> {
    Packets { dwords, generation, at: 0 }
}

/// Iterator of [`packets`].
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    dwords: &'a [u32],
    generation: Gen,
    at: usize,
}

/// What a batch ends with.
const BATCH_END: u16 = 0x0500;
/// 3DSTATE_VERTEX_BUFFERS and 3DSTATE_VERTEX_ELEMENTS.
const VERTEX_BUFFERS: u16 = 0x7808;
const VERTEX_ELEMENTS: u16 = 0x7809;

impl<'a> Iterator for Packets<'a> {
    type Item = PacketView<'a>;

    fn next(&mut self) -> Option<PacketView<'a>> {
        let header = Header(*self.dwords.get(self.at)?);
        let end = self.at + header.dwords(self.generation)? as usize;
        let words = &self.dwords[self.at..end.min(self.dwords.len())];
        let truncated = end > self.dwords.len();
        let view = PacketView { offset: (self.at * 4) as u32, generation: self.generation, words, truncated };
        self.at = if header.key() == BATCH_END { usize::MAX } else { end };
        Some(view)
    }
}

/// One packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketView<'a> {
    /// Byte offset of the header.
    pub offset: u32,
    /// The generation whose packet it is.
    pub generation: Gen,
    /// The dwords, header included, as far as there are any.
    pub words: &'a [u32],
    /// Whether the batch ends before the packet does.
    pub truncated: bool,
}

/// What the command processor does with a kind of packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It is carried out, or refused for a reason that depends on its fields.
    CarriedOut,
    /// It has no effect, for this reason.
    Skipped(&'static str),
    /// It is refused, for this reason.
    Refused(&'static str),
}

impl<'a> PacketView<'a> {
    /// The header.
    pub fn header(&self) -> Header {
        Header(self.words.first().copied().unwrap_or(0))
    }

    fn row(&self) -> Option<&'static PacketRow> {
        self.header().row(self.generation)
    }

    /// The packet's name, or its header where the table has none.
    pub fn name(&self) -> Cow<'static, str> {
        match self.row() {
            Some(row) => Cow::Borrowed(row.name),
            None => Cow::Owned(format!("PACKET_{:04X}", self.header().key())),
        }
    }

    /// What is done with packets of this kind.
    pub fn treatment(&self) -> Treatment {
        match self.row().map(|row| row.handling) {
            Some(Handling::Run(_)) => Treatment::CarriedOut,
            Some(Handling::Skip(reason)) => Treatment::Skipped(reason),
            Some(Handling::Refuse(reason)) => Treatment::Refused(reason),
            None if self.header().is_state() => Treatment::Skipped("it has no row and can only set state"),
            None => Treatment::Refused("it has no row in the packet table"),
        }
    }

    /// Where the packet's facts come from, for one with a row.
    pub fn source(&self) -> Option<&'static str> {
        self.row().map(|row| row.source)
    }

    /// The vertex buffers that the packet sets, by number.
    pub fn vertex_buffers(&self) -> Vec<(u32, VertexBuffer)> {
        let (entries, _) = self.body_of(VERTEX_BUFFERS).as_chunks();
        entries.iter().map(|entry| vertex_state::buffer(entry, self.generation)).collect()
    }

    /// The vertex elements that the packet sets, in order.
    pub fn vertex_elements(&self) -> Vec<VertexElement> {
        let (entries, _) = self.body_of(VERTEX_ELEMENTS).as_chunks();
        entries.iter().map(vertex_state::element).collect()
    }

    /// The dwords behind the header, of a packet of this key.
    fn body_of(&self, key: u16) -> &'a [u32] {
        let is_one = self.header().key() == key;
        self.words.get(1..).filter(|_| is_one).unwrap_or(&[])
    }

    /// The named fields, as far as the packet reaches. Fields that repeat (entries, data) come once a dword.
    pub fn fields(&self) -> impl Iterator<Item = FieldView> + use<'a> {
        views(self.row().map_or(&[][..], |row| row.fields), self.words)
    }
}
