//! COPY_DATA: one value from somewhere to somewhere.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};
use super::place::{Place, Width};
use crate::Refusal;

use body::COPY_DATA as F;

/// COPY_DATA. GDS, performance counters and atomic results are refused.
pub(crate) fn copy_data(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let width = Width::wide(packet.flag(F::COUNT_SEL));
    let destination = destination(packet)?;
    let value = source(cx, packet, width)?;
    destination.write(cx, packet, width, value)?;
    Ok(Flow::Next)
}

/// SRC_SEL: 0 a register, 1 and 2 memory, 5 the packet itself, 9 and 10 the clocks, which are one here.
fn source(cx: &mut Context<'_>, packet: &Packet<'_>, width: Width) -> Result<u64, Refusal> {
    let word = packet.get64(F::SRC_LO, F::SRC_HI);
    match packet.get(F::SRC_SEL) {
        0 => Place::register(word).read(cx, packet, width),
        1 | 2 => Place::Memory(word).read(cx, packet, width),
        5 => Ok(word),
        9 | 10 => Ok(cx.clock()),
        select => Err(Refusal::Place { packet: packet.name(), what: "SRC_SEL", select }),
    }
}

/// DST_SEL: 0 a register; 1, 2 and 5 memory.
fn destination(packet: &Packet<'_>) -> Result<Place, Refusal> {
    let word = packet.get64(F::DST_LO, F::DST_HI);
    match packet.get(F::DST_SEL) {
        0 => Ok(Place::register(word)),
        1 | 2 | 5 => Ok(Place::Memory(word)),
        select => Err(Refusal::Place { packet: packet.name(), what: "DST_SEL", select }),
    }
}
