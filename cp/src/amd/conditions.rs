//! COND_EXEC and COND_WRITE.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};
use super::place::{Place, Width, by_space};
use super::wait::function;
use crate::Refusal;

/// COND_EXEC: passes over the dwords that follow if a dword in memory is 0.
pub(crate) fn cond_exec(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use body::COND_EXEC as F;
    let dwords = packet.get(F::EXEC_COUNT);
    if dwords > packet.left {
        return Err(Refusal::SpanPastEnd { dwords, left: packet.left });
    }
    let address = packet.get64(F::ADDRESS_LO, F::ADDRESS_HI);
    Ok(match Place::Memory(address).read(cx, packet, Width::Bits32)? {
        0 => Flow::Skip(dwords),
        _ => Flow::Next,
    })
}

/// COND_WRITE: a dword to memory or a register if a comparison holds.
pub(crate) fn cond_write(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use body::COND_WRITE as F;
    let poll = (F::POLL_ADDRESS_LO, F::POLL_ADDRESS_HI);
    let write = (F::WRITE_ADDRESS_LO, F::WRITE_ADDRESS_HI);
    let poll = by_space(packet, "POLL_SPACE", packet.get(F::POLL_SPACE), poll)?;
    let write = by_space(packet, "WRITE_SPACE", packet.get(F::WRITE_SPACE), write)?;
    let function = function(packet, packet.get(F::FUNCTION))?;
    let value = poll.read(cx, packet, Width::Bits32)? & u64::from(packet.get(F::MASK));
    if (function.holds)(value, u64::from(packet.get(F::REFERENCE))) {
        write.write(cx, packet, Width::Bits32, u64::from(packet.get(F::WRITE_DATA)))?;
    }
    Ok(Flow::Next)
}
