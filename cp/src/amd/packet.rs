//! Packet headers and bodies, and the packet table.

use super::context::{Context, Flow};
use super::registers::{Register, Space};
pub(crate) use crate::words::{WordField as BodyField, WordFieldRow as BodyFieldRow};
use crate::{Origin, Refusal};

/// The first dword of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header(pub u32);

/// A type-3 NOP of one dword: padding whose count field says 16,384.
const FILLER: u32 = 0xffff_1000;

impl Header {
    /// Packet type, 0 to 3.
    pub const fn packet_type(self) -> u8 {
        (self.0 >> 30) as u8
    }

    /// Opcode of a type-3 packet.
    pub const fn opcode(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Whether a type-3 packet is skipped when predication says so.
    pub const fn predicated(self) -> bool {
        self.packet_type() == 3 && self.0 & 1 != 0
    }

    /// Whether a type-3 packet speaks of the compute pipeline.
    pub const fn compute(self) -> bool {
        self.0 & 2 != 0
    }

    /// First register of a type-0 packet, as a dword index.
    pub const fn type0_register(self) -> u32 {
        self.0 & 0xffff
    }

    /// Dwords of the body.
    pub const fn body_dwords(self) -> u32 {
        match self.packet_type() {
            3 if self.0 == FILLER => 0,
            0 | 3 => (self.0 >> 16 & 0x3fff) + 1,
            _ => 0,
        }
    }
}

/// A packet that is carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<'a> {
    /// What its opcode means.
    pub(crate) row: &'static PacketRow,
    pub(crate) body: &'a [u32],
    pub(crate) at: Origin,
    /// Dwords of the indirect buffer after this packet.
    pub(crate) left: u32,
}

impl Packet<'_> {
    /// The value of a body field; 0 where the body is too short to have it.
    pub(crate) fn get(&self, field: BodyField) -> u32 {
        field.of(self.body)
    }

    /// Whether a one-bit field is set.
    pub(crate) fn flag(&self, field: BodyField) -> bool {
        self.get(field) != 0
    }

    /// A 64-bit value from two fields of one dword each.
    pub(crate) fn get64(&self, lo: BodyField, hi: BodyField) -> u64 {
        u64::from(self.get(lo)) | u64::from(self.get(hi)) << 32
    }

    /// The body from the dword of `field` on.
    pub(crate) fn tail(&self, field: BodyField) -> &[u32] {
        self.body.get(field.dword()..).unwrap_or(&[])
    }

    /// The packet's name.
    pub(crate) fn name(&self) -> &'static str {
        self.row.name
    }

    /// The register at dword `offset` of the packet's space.
    pub(crate) fn register(&self, offset: u32) -> Result<Register, Refusal> {
        let Some(space) = self.row.space else { return Err(Refusal::NoRegister { address: 0 }) };
        let register = space.at(offset);
        match space.contains(register) {
            true => Ok(register),
            false => Err(Refusal::NoRegister { address: register.0 }),
        }
    }

    /// A refusal of this packet's value of a field.
    pub(crate) fn bad(&self, field: &'static str, value: u32) -> Refusal {
        Refusal::FieldValue { packet: self.name(), field, value }
    }
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
    Inert(&'static str),
    /// It is refused, for this reason.
    Refuse(&'static str),
}

/// One row of the packet table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRow {
    pub(crate) name: &'static str,
    pub(crate) min_body: u32,
    /// The register space that the packet's offset counts in.
    pub(crate) space: Option<Space>,
    pub(crate) handling: Handling,
    pub(crate) source: &'static str,
    pub(crate) fields: &'static [BodyFieldRow],
}

/// In [`ROW_OF`]: the opcode has no row.
const NO_ROW: u8 = u8::MAX;

/// The row of an opcode.
pub(crate) fn row(opcode: u8) -> Option<&'static PacketRow> {
    match ROW_OF[opcode as usize] {
        NO_ROW => None,
        i => ROWS.get(i as usize),
    }
}

include!(concat!(env!("OUT_DIR"), "/amd_packets.rs"));
