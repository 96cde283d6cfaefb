//! 3DSTATE_SO_DECL_LIST: four lists in one packet.

use super::{HoleMasks, MAX_ENTRIES, SoDecl, SoDeclError};
use crate::streamout::{STREAMS, Slot};

/// The packet's header without its length.
const HEADER: u32 = 0x7917_0000;
/// Dwords before the entries.
const FIXED: usize = 3;
/// Dwords that a packet's length does not count.
const BIAS: usize = 2;
/// Bits of the packet's length. The other state packets have eight.
const LENGTH: u32 = 0x1ff;

/// What the packet says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct DeclList {
    /// Buffers that each stream writes, one bit a buffer.
    pub selects: [u8; STREAMS],
    /// The declarations of each stream, in order.
    pub streams: [Vec<SoDecl>; STREAMS],
}

impl DeclList {
    /// Reads a packet, header included.
    ///
    /// # Errors
    /// The packet's length does not fit its counts, a count is past 128, or an entry is malformed.
    pub fn decode(dwords: &[u32], holes: HoleMasks) -> Result<DeclList, SoDeclError> {
        let length = dwords.len() as u32;
        let [_, selects, counts, entries @ ..] = dwords else {
            return Err(SoDeclError::ShortList { dwords: length, needs: FIXED as u32 });
        };
        let counts: [usize; STREAMS] = std::array::from_fn(|s| (counts >> (8 * s) & 0xff) as usize);
        let longest = counts.into_iter().max().unwrap_or(0);
        if let Some(stream) = counts.iter().position(|n| *n > MAX_ENTRIES) {
            return Err(SoDeclError::TooManyEntries {
                stream: stream as u32,
                entries: counts[stream] as u32,
            });
        }
        let (pairs, []) = entries.as_chunks::<2>() else {
            return Err(SoDeclError::ListLength { dwords: length, entries: longest as u32 });
        };
        if pairs.len() != longest {
            return Err(SoDeclError::ListLength { dwords: length, entries: longest as u32 });
        }
        let mut list = DeclList::default();
        for stream in 0..STREAMS {
            list.selects[stream] = (selects >> (4 * stream) & 0xf) as u8;
            list.streams[stream] = pairs[..counts[stream]]
                .iter()
                .map(|pair| SoDecl::decode(half(pair, stream), holes))
                .collect::<Result<_, _>>()?;
        }
        Ok(list)
    }

    /// The packet, header included; streams with fewer entries than the longest are padded with zeros.
    ///
    /// # Errors
    /// A stream has more than 128 entries.
    pub fn encode(&self) -> Result<Vec<u32>, SoDeclError> {
        for (stream, decls) in self.streams.iter().enumerate() {
            if decls.len() > MAX_ENTRIES {
                return Err(SoDeclError::TooManyEntries {
                    stream: stream as u32,
                    entries: decls.len() as u32,
                });
            }
        }
        let longest = self.streams.iter().map(Vec::len).max().unwrap_or(0);
        let total = FIXED + 2 * longest;
        let mut dwords = vec![HEADER | (total - BIAS) as u32 & LENGTH, 0, 0];
        for stream in 0..STREAMS {
            dwords[1] |= u32::from(self.selects[stream] & 0xf) << (4 * stream);
            dwords[2] |= (self.streams[stream].len() as u32) << (8 * stream);
        }
        let entry =
            |stream: usize, i: usize| self.streams[stream].get(i).map_or(0, |decl| u32::from(decl.encode()));
        for i in 0..longest {
            dwords.extend([entry(0, i) | entry(1, i) << 16, entry(2, i) | entry(3, i) << 16]);
        }
        Ok(dwords)
    }

    /// Whether streams and buffers fit together: what a stream declares it selects, and no buffer has two streams.
    ///
    /// # Errors
    /// The first buffer that does not.
    pub fn check(&self) -> Result<(), SoDeclError> {
        for buffer in Slot::ALL {
            let mut of = (0..STREAMS as u32).filter(|s| buffer.is_in(self.selects[*s as usize]));
            if let (Some(first), Some(second)) = (of.next(), of.next()) {
                return Err(SoDeclError::SharedBuffer { buffer: buffer.index() as u32, first, second });
            }
        }
        for (stream, decls) in self.streams.iter().enumerate() {
            let stray = decls.iter().find(|d| d.mask != 0 && !d.buffer.is_in(self.selects[stream]));
            if let Some(decl) = stray {
                let buffer = decl.buffer.index() as u32;
                return Err(SoDeclError::NotSelected { stream: stream as u32, buffer });
            }
        }
        Ok(())
    }

    /// Bytes of each buffer's record up to its last declaration, holes included.
    pub fn record_bytes(&self) -> [u32; STREAMS] {
        let mut bytes = [0; STREAMS];
        for decl in self.streams.iter().flatten() {
            bytes[decl.buffer.index()] += decl.dwords() * super::DWORD;
        }
        bytes
    }
}

/// The entry of a stream in its pair of dwords.
fn half(pair: &[u32; 2], stream: usize) -> u16 {
    (pair[stream / 2] >> (16 * (stream % 2))) as u16
}
