//! WRITE_DATA: dwords from the packet to memory or registers.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};
use super::place::{Place, aligned};
use crate::Refusal;

use body::WRITE_DATA as F;

/// WRITE_DATA. Without address increment every dword goes to the same place, so that the last one stays.
pub(crate) fn write_data(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let place = destination(packet)?;
    let data = packet.tail(F::DATA);
    let data = match packet.flag(F::ADDR_INCR_DISABLE) {
        true => &data[data.len().saturating_sub(1)..],
        false => data,
    };
    match place {
        Place::Register(first) => cx.set_registers(packet.at, first, data)?,
        Place::Memory(address) => {
            aligned(packet, address, 4)?;
            cx.write_dwords(packet.at, address, data)?;
        }
    }
    Ok(Flow::Next)
}

/// DST_SEL: 0 a register; 1, 2 and 5 memory, which differ in the caches on the way.
fn destination(packet: &Packet<'_>) -> Result<Place, Refusal> {
    let address = packet.get64(F::ADDRESS_LO, F::ADDRESS_HI);
    match packet.get(F::DST_SEL) {
        0 => Ok(Place::register(address)),
        1 | 2 | 5 => Ok(Place::Memory(address)),
        select => Err(Refusal::Place { packet: packet.name(), what: "DST_SEL", select }),
    }
}
