//! Places that memory packets read from and write to: registers and memory, of 32 or 64 bits.

use super::context::Context;
use super::packet::{BodyField, Packet};
use super::registers::Register;
use super::streamout_unit::check_registers;
use crate::Refusal;

/// Bits of a register's absolute dword index.
const REGISTER_INDEX: u64 = 0x3_ffff;

/// How much a packet moves at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// A dword.
    Bits32,
    /// Two dwords.
    Bits64,
}

impl Width {
    /// By a COUNT_SEL bit.
    pub(super) fn wide(bit: bool) -> Width {
        if bit { Width::Bits64 } else { Width::Bits32 }
    }

    fn dwords(self) -> usize {
        match self {
            Width::Bits32 => 1,
            Width::Bits64 => 2,
        }
    }

    fn bytes(self) -> u64 {
        self.dwords() as u64 * 4
    }

    /// `value` cut to this width.
    pub(super) fn cut(self, value: u64) -> u64 {
        match self {
            Width::Bits32 => value & u64::from(u32::MAX),
            Width::Bits64 => value,
        }
    }
}

/// A place of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A register, and the next one for the high half.
    Register(Register),
    /// Guest memory.
    Memory(u64),
}

impl Place {
    /// The register whose absolute dword index stands in `address`.
    pub(super) fn register(address: u64) -> Place {
        Place::Register(Register::from_dword_index((address & REGISTER_INDEX) as u32))
    }

    /// The value there.
    pub(super) fn read(
        self,
        cx: &mut Context<'_>,
        packet: &Packet<'_>,
        width: Width,
    ) -> Result<u64, Refusal> {
        match self {
            Place::Register(first) => {
                check_registers(first, width.dwords())?;
                Ok(join(cx.registers().run(first, width.dwords())?))
            }
            Place::Memory(address) => {
                aligned(packet, address, width.bytes())?;
                match width {
                    Width::Bits32 => cx.read_u32(address).map(u64::from),
                    Width::Bits64 => cx.read_u64(address),
                }
            }
        }
    }

    /// Sets the value there.
    pub(super) fn write(
        self,
        cx: &mut Context<'_>,
        packet: &Packet<'_>,
        width: Width,
        value: u64,
    ) -> Result<(), Refusal> {
        let words = [value as u32, (value >> 32) as u32];
        let words = &words[..width.dwords()];
        match self {
            Place::Register(first) => cx.set_registers(packet.at, first, words),
            Place::Memory(address) => {
                aligned(packet, address, width.bytes())?;
                cx.write_dwords(packet.at, address, words)
            }
        }
    }
}

/// Little-endian words as one value.
fn join(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |value, word| value << 32 | u64::from(*word))
}

/// Refuses an address that is not a multiple of `alignment`: the hardware has no wires for the low bits.
pub(super) fn aligned(packet: &Packet<'_>, address: u64, alignment: u64) -> Result<(), Refusal> {
    match address % alignment {
        0 => Ok(()),
        _ => Err(Refusal::Misaligned { packet: packet.name(), address, alignment }),
    }
}

/// The place that a two-way field selects: 0 a register, 1 memory.
pub(super) fn by_space(
    packet: &Packet<'_>,
    what: &'static str,
    space: u32,
    (lo, hi): (BodyField, BodyField),
) -> Result<Place, Refusal> {
    let address = packet.get64(lo, hi);
    match space {
        0 => Ok(Place::register(address)),
        1 => Ok(Place::Memory(address)),
        select => Err(Refusal::Place { packet: packet.name(), what, select }),
    }
}
