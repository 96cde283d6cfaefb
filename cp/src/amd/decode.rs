//! Packets as text tools see them: names, fields and registers, without carrying anything out.

use std::borrow::Cow;

use super::IndirectBuffer;
use super::events::event_row;
use super::packet::{BodyField, Handling, Header, PacketRow, body, row};
use super::registers::Register;
pub use crate::words::FieldView;
use crate::words::views;

/// The packets of a buffer, in order. A packet that runs past the end is the last one, with the dwords that there are.
pub fn packets(dwords: &[u32]) -> Packets<'_> {
    Packets { dwords, at: 0 }
}

/// Iterator of [`packets`].
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    dwords: &'a [u32],
    at: usize,
}

impl<'a> Iterator for Packets<'a> {
    type Item = PacketView<'a>;

    fn next(&mut self) -> Option<PacketView<'a>> {
        let header = Header(*self.dwords.get(self.at)?);
        let start = self.at + 1;
        let end = start + header.body_dwords() as usize;
        let truncated = end > self.dwords.len();
        let body = &self.dwords[start..end.min(self.dwords.len())];
        let view = PacketView { offset: (self.at * 4) as u32, header, body, truncated };
        self.at = end;
        Some(view)
    }
}

/// One packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketView<'a> {
    /// Byte offset of the header.
    pub offset: u32,
    /// The header.
    pub header: Header,
    /// The body, as far as there is one.
    pub body: &'a [u32],
    /// Whether the buffer ends before the packet does.
    pub truncated: bool,
}

/// What the command processor does with a kind of packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It is carried out, or refused for a reason that depends on its fields.
    CarriedOut,
    /// It has no effect, for this reason.
    Inert(&'static str),
    /// It is refused, for this reason.
    Refused(&'static str),
}

impl<'a> PacketView<'a> {
    fn row(&self) -> Option<&'static PacketRow> {
        match self.header.packet_type() {
            3 => row(self.header.opcode()),
            _ => None,
        }
    }

    /// The packet's name: the table's for type 3, `TYPE0`, `FILLER`, `TYPE1`, or `OPCODE_xx`.
    pub fn name(&self) -> Cow<'static, str> {
        match (self.header.packet_type(), self.row()) {
            (3, Some(row)) => Cow::Borrowed(row.name),
            (3, None) => Cow::Owned(format!("OPCODE_{:02X}", self.header.opcode())),
            (0, _) => Cow::Borrowed("TYPE0"),
            (2, _) => Cow::Borrowed("FILLER"),
            _ => Cow::Borrowed("TYPE1"),
        }
    }

    /// What is done with packets of this kind.
    pub fn treatment(&self) -> Treatment {
        match (self.header.packet_type(), self.row().map(|row| row.handling)) {
            (3, Some(Handling::Run(_))) | (0, _) => Treatment::CarriedOut,
            (3, Some(Handling::Inert(reason))) => Treatment::Inert(reason),
            (3, Some(Handling::Refuse(reason))) => Treatment::Refused(reason),
            (3, None) => Treatment::Refused("the opcode has no row in the packet table"),
            (2, _) => Treatment::Inert("filler"),
            _ => Treatment::Refused("packets of type 1 do not exist"),
        }
    }

    /// Where the packet's facts come from, for a type-3 packet with a row.
    pub fn source(&self) -> Option<&'static str> {
        self.row().map(|row| row.source)
    }

    /// The named fields of the body, as far as it reaches. Fields that repeat (data, register values) come once a
    /// dword.
    pub fn fields(&self) -> impl Iterator<Item = FieldView> + use<'a> {
        views(self.row().map_or(&[][..], |row| row.fields), self.body)
    }

    /// The registers that the packet sets from its own body, with their values: SET packets, type 0, and WRITE_DATA to
    /// registers.
    pub fn register_writes(&self) -> impl Iterator<Item = (Register, u32)> + use<'a> {
        let (first, values) = self.register_run().unwrap_or((Register(0), &[]));
        values
            .iter()
            .enumerate()
            .map(move |(i, value)| (Register(first.0.wrapping_add(i as u32 * 4)), *value))
    }

    fn register_run(&self) -> Option<(Register, &'a [u32])> {
        if self.header.packet_type() == 0 {
            return Some((Register::from_dword_index(self.header.type0_register()), self.body));
        }
        let row = self.row()?;
        match row.name {
            "WRITE_DATA" if self.get(body::WRITE_DATA::DST_SEL) == 0 => {
                let index = self.get(body::WRITE_DATA::ADDRESS_LO) & 0x3_ffff;
                Some((Register::from_dword_index(index), self.body.get(3..)?))
            }
            name if name.starts_with("SET_") => {
                let offset = self.get(body::SET_CONTEXT_REG::REG_OFFSET);
                Some((row.space?.at(offset), self.body.get(1..)?))
            }
            _ => None,
        }
    }

    /// The event's name, for a packet that carries one.
    pub fn event(&self) -> Option<&'static str> {
        const EVENTS: [&str; 4] = ["EVENT_WRITE", "EVENT_WRITE_EOP", "EVENT_WRITE_EOS", "RELEASE_MEM"];
        EVENTS
            .contains(&self.row()?.name)
            .then(|| self.get(body::EVENT_WRITE::EVENT_TYPE))
            .and_then(|event| event_row(event).ok().map(|row| row.name))
    }

    /// The buffer that the packet calls or chains to (`true`), for an INDIRECT_BUFFER.
    pub fn indirect_buffer(&self) -> Option<(IndirectBuffer, bool)> {
        use body::INDIRECT_BUFFER as F;
        if self.row()?.name != "INDIRECT_BUFFER" || self.body.len() < 3 {
            return None;
        }
        let address = u64::from(self.get(F::IB_BASE_LO) & !3) | u64::from(self.get(F::IB_BASE_HI)) << 32;
        Some((IndirectBuffer { address, dwords: self.get(F::IB_SIZE) }, self.get(F::CHAIN) != 0))
    }

    fn get(&self, field: BodyField) -> u32 {
        field.of(self.body)
    }
}
