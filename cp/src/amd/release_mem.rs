//! RELEASE_MEM: a value to memory, and an interrupt, once all work before it is done.

use super::context::{Context, Flow};
use super::events::{Effect, event_row};
use super::packet::{Handled, Packet, body};
use super::place::{Place, Width};
use crate::Refusal;

use body::RELEASE_MEM as F;

/// RELEASE_MEM. Work is done in order, so every event that only marks an end has come when the packet does.
pub(crate) fn release_mem(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let row = event_row(packet.get(F::EVENT_TYPE))?;
    if !matches!(row.effect, Effect::Inert(_)) {
        return Err(Refusal::EventRefused {
            name: row.name,
            reason: "RELEASE_MEM only takes events that mark an end",
        });
    }
    let interrupt = interrupt(packet)?;
    if let Some((width, value)) = value(cx, packet)? {
        destination(packet)?.write(cx, packet, width, value)?;
    }
    if interrupt {
        cx.flush()?;
        cx.interrupt(packet.at, packet.get(F::INT_CTXID));
    }
    Ok(Flow::Next)
}

/// DATA_SEL: 0 nothing, 1 a dword, 2 two dwords, 3 and 4 the clocks, 5 GDS.
fn value(cx: &mut Context<'_>, packet: &Packet<'_>) -> Result<Option<(Width, u64)>, Refusal> {
    let data = packet.get64(F::DATA_LO, F::DATA_HI);
    Ok(match packet.get(F::DATA_SEL) {
        0 => None,
        1 => Some((Width::Bits32, data)),
        2 => Some((Width::Bits64, data)),
        3 | 4 => Some((Width::Bits64, cx.clock())),
        select => return Err(Refusal::Place { packet: packet.name(), what: "DATA_SEL", select }),
    })
}

/// DST_SEL: 0 and 1 memory, which differ in the caches on the way.
fn destination(packet: &Packet<'_>) -> Result<Place, Refusal> {
    match packet.get(F::DST_SEL) {
        0 | 1 => Ok(Place::Memory(packet.get64(F::ADDRESS_LO, F::ADDRESS_HI))),
        select => Err(Refusal::Place { packet: packet.name(), what: "DST_SEL", select }),
    }
}

/// INT_SEL: 0 and 3 no interrupt, 1 and 2 one, 4 to 6 further forms.
fn interrupt(packet: &Packet<'_>) -> Result<bool, Refusal> {
    match packet.get(F::INT_SEL) {
        0 | 3 => Ok(false),
        1 | 2 => Ok(true),
        select => Err(packet.bad("INT_SEL", select)),
    }
}
