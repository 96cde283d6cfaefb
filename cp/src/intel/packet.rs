//! Packet headers, lengths, and the packet table.

use super::context::Context;
use super::{Gen, Refusal};
use crate::Origin;
use crate::words::{WordField as Field, WordFieldRow as FieldRow};

/// The first dword of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header(pub u32);

/// Dwords that a packet's length does not count.
const BIAS: u32 = 2;

impl Header {
    /// 0 MI, 2 blitter, 3 render.
    pub const fn packet_type(self) -> u8 {
        (self.0 >> 29) as u8
    }

    /// What the packet table is keyed by: bits 31:16, of MI packets without the flags in 22:16.
    pub const fn key(self) -> u16 {
        let high = (self.0 >> 16) as u16;
        match self.packet_type() {
            0 => high & 0xff80,
            _ => high,
        }
    }

    /// Dwords of the packet, header included; `None` for types that do not exist.
    pub fn dwords(self, generation: Gen) -> Option<u32> {
        match self.row(generation) {
            Some(row) => Some(row.length.of(self.0)),
            None => self.dwords_by_type(),
        }
    }

    /// The length that packets of this kind have.
    fn dwords_by_type(self) -> Option<u32> {
        let counted = |bits: u32| Some((self.0 & ((1 << bits) - 1)) + BIAS);
        let (subtype, opcode) = (self.0 >> 27 & 3, self.0 >> 24 & 7);
        match (self.packet_type(), subtype) {
            (0, _) if self.0 >> 23 < 16 => Some(1),
            (0 | 2, _) => counted(8),
            (3, 1) => Some(1),
            (3, 2) if matches!(opcode, 1 | 2) => counted(16),
            (3, _) => counted(8),
            _ => None,
        }
    }

    /// Whether a packet without a row can only set state: 3DSTATE and common state.
    pub(crate) fn is_state(self) -> bool {
        let (subtype, opcode) = (self.0 >> 27 & 3, self.0 >> 24 & 7);
        self.packet_type() == 3 && (subtype < 2 || subtype == 3 && opcode < 2)
    }

    pub(crate) fn row(self, generation: Gen) -> Option<&'static PacketRow> {
        let key = self.key();
        let first = ROWS.partition_point(|row| row.key < key);
        ROWS[first..].iter().take_while(|row| row.key == key).find(|row| row.gens & generation.bit() != 0)
    }
}

/// A packet in the walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<'a> {
    /// All dwords, header included.
    pub(crate) words: &'a [u32],
    pub(crate) at: Origin,
    pub(crate) row: &'static PacketRow,
}

impl<'a> Packet<'a> {
    /// The value of a field; 0 where the packet is too short to have it.
    pub(crate) fn get(&self, field: Field) -> u32 {
        field.of(self.words)
    }

    /// Whether a one-bit field is set.
    pub(crate) fn flag(&self, field: Field) -> bool {
        self.get(field) != 0
    }

    /// A 64-bit value from two fields of one dword each.
    pub(crate) fn get64(&self, lo: Field, hi: Field) -> u64 {
        u64::from(self.get(lo)) | u64::from(self.get(hi)) << 32
    }

    /// The dwords from that of `field` on.
    pub(crate) fn tail(&self, field: Field) -> &'a [u32] {
        self.words.get(field.dword()..).unwrap_or(&[])
    }

    /// The dwords from that of `field` on, in groups.
    ///
    /// # Errors
    /// They are no whole number of groups.
    pub(crate) fn groups<const N: usize>(&self, field: Field) -> Result<&'a [[u32; N]], Refusal> {
        let tail = self.tail(field);
        match tail.as_chunks() {
            (groups, []) => Ok(groups),
            _ => Err(Refusal::Groups { packet: self.row.name, dwords: tail.len() as u32, group: N as u32 }),
        }
    }

    /// A refusal of this packet's value of a field.
    pub(crate) fn bad(&self, field: &'static str, value: u32) -> Refusal {
        Refusal::FieldValue { packet: self.row.name, field, value }
    }

    /// Refuses the packet if a flag says that its addresses are the kernel's.
    pub(crate) fn own_addresses(&self, global: Field) -> Result<(), Refusal> {
        match self.flag(global) {
            true => Err(Refusal::GlobalTable { packet: self.row.name }),
            false => Ok(()),
        }
    }
}

/// Where the walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Behind the packet.
    Next,
    /// At an address, for good.
    Jump(u64),
    /// At an address, and behind the packet when the batch there ends.
    Call(u64),
    /// Where the batch was called from, or nowhere.
    End,
}

/// What carrying out a packet comes to.
pub(crate) type Handled = Result<Flow, Refusal>;

/// Carries out one kind of packet.
pub(crate) type Handler = fn(&mut Context<'_>, &Packet<'_>) -> Handled;

/// What is done with a kind of packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handling {
    /// It is carried out.
    Run(Handler),
    /// It has no effect here, for this reason.
    Skip(&'static str),
    /// It is refused, for this reason.
    Refuse(&'static str),
}

/// Total dwords of a kind of packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    Fixed(u32),
    /// Header bits `hi` to 0, and `bias`.
    Counted {
        hi: u32,
        bias: u32,
    },
}

impl Length {
    fn of(self, header: u32) -> u32 {
        match self {
            Length::Fixed(dwords) => dwords,
            Length::Counted { hi, bias } => (header & (u32::MAX >> (31 - hi))) + bias,
        }
    }
}

/// One row of the packet table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRow {
    pub(crate) key: u16,
    pub(crate) name: &'static str,
    /// Generations that have it, one bit each.
    pub(crate) gens: u8,
    pub(crate) length: Length,
    /// Dwords that its fields need.
    pub(crate) least: u32,
    pub(crate) handling: Handling,
    pub(crate) source: &'static str,
    pub(crate) fields: &'static [FieldRow],
}

include!(concat!(env!("OUT_DIR"), "/intel_packets.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_reach_no_further_than_their_length() {
        assert!(ROWS.is_sorted_by_key(|row| row.key));
        for row in ROWS {
            if let Length::Fixed(dwords) = row.length {
                assert!(row.least <= dwords, "{}", row.name);
            }
        }
    }

    #[test]
    fn lengths_follow_the_kinds_of_packets() {
        let dwords = |header, generation| Header(header).dwords(generation);
        assert_eq!(dwords(0x7917_0101, Gen::Gen7), Some(259), "nine bits");
        assert_eq!(dwords(0x7818_0101, Gen::Gen7), Some(3), "eight bits");
        assert_eq!(dwords(0x680b_0001, Gen::Gen7), Some(1), "a payload bit, no length");
        assert_eq!(dwords(0x0500_0000, Gen::Gen12), Some(1));
        assert_eq!(dwords(0x1100_0003, Gen::Gen9), Some(5));
        assert_eq!(dwords(0x7105_000d, Gen::Gen7), Some(15));
        assert_eq!(dwords(0x5440_0003, Gen::Gen7), Some(5), "a blitter packet");
        assert_eq!(dwords(0xffff_ffff, Gen::Gen7), None);
        assert_eq!(dwords(0x2000_0000, Gen::Gen7), None);
    }

    #[test]
    fn the_same_header_means_what_its_generation_says() {
        let name = |header, generation| Header(header).row(generation).map(|row| row.name);
        assert_eq!(name(0x780d_0000, Gen::Gen7), None);
        assert_eq!(name(0x780d_0000, Gen::Gen9), Some("3DSTATE_MULTISAMPLE"));
        assert_eq!(name(0x790d_0002, Gen::Gen75), Some("3DSTATE_MULTISAMPLE"));
        assert_eq!(name(0x7860_0006, Gen::Gen12), Some("3DSTATE_SO_BUFFER_INDEX_0"));
        assert_eq!(name(0x7860_0006, Gen::Gen11), None);
    }
}
