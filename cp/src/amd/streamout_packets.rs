//! STRMOUT_BUFFER_UPDATE: where a streamout buffer stands, set, loaded or stored.
//!
//! The packet speaks in dwords or in bytes, as DATA_TYPE says, of a position counted from the base that the program
//! stores to. Policies where public documents leave it open: the present position is stored before a new one is taken,
//! and a position in bytes has to be whole dwords, because programs are given it in dwords.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body::STRMOUT_BUFFER_UPDATE as F};
use super::streamout_unit::DWORD;
use crate::Refusal;
use crate::streamout::Slot;

/// OFFSET_SOURCE: the packet itself.
const FROM_PACKET: u32 = 0;
/// OFFSET_SOURCE: memory.
const FROM_MEMORY: u32 = 2;

/// Bits of the control word that have a meaning.
const CONTROL: u32 = 0b11_1000_0111;

/// STRMOUT_BUFFER_UPDATE.
pub(crate) fn buffer_update(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let control = packet.body.first().copied().unwrap_or(0);
    if control & !CONTROL != 0 {
        return Err(packet.bad("CONTROL", control));
    }
    let buffer = Slot::from_bits(packet.get(F::BUFFER_SELECT));
    let unit = if packet.flag(F::DATA_TYPE) { 1 } else { DWORD };
    let new = new_position(cx, packet, unit)?;
    if packet.flag(F::UPDATE_MEMORY) {
        store(cx, packet, buffer, unit)?;
    }
    if let Some(position) = new {
        cx.machine_mut().streamout.set_position(buffer, position);
    }
    Ok(Flow::Next)
}

/// The position in bytes that the packet sets, if it sets one.
fn new_position(cx: &mut Context<'_>, packet: &Packet<'_>, unit: u64) -> Result<Option<u64>, Refusal> {
    let count = match packet.get(F::SOURCE_SELECT) {
        FROM_PACKET => packet.get(F::OFFSET_OR_ADDRESS_LO),
        FROM_MEMORY => cx.read_u32(packet.get64(F::OFFSET_OR_ADDRESS_LO, F::SRC_ADDRESS_HI) & !3)?,
        // What the unit has filled, or none: there is one position a buffer, so it is what it should be.
        _ => return Ok(None),
    };
    match u64::from(count) * unit {
        bytes if bytes % DWORD == 0 => Ok(Some(bytes)),
        bytes => Err(Refusal::StreamoutPosition { bytes }),
    }
}

/// Stores the position, modulo 2^32 as the packet has 32 bits for it.
fn store(cx: &mut Context<'_>, packet: &Packet<'_>, buffer: Slot, unit: u64) -> Result<(), Refusal> {
    let position = cx.machine().streamout.core().buffer(buffer).position / unit;
    let address = packet.get64(F::DST_ADDRESS_LO, F::DST_ADDRESS_HI) & !3;
    cx.write(packet.at, address, &(position as u32).to_le_bytes())
}
