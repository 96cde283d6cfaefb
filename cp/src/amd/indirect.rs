//! INDIRECT_BUFFER: calls and chains.

use super::IndirectBuffer;
use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};

/// INDIRECT_BUFFER. PRE_ENA and the VMID do not matter here; VALID is not required, as the hardware does not.
pub(crate) fn indirect_buffer(_: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use body::INDIRECT_BUFFER as F;
    let ib = IndirectBuffer {
        address: packet.get64(F::IB_BASE_LO, F::IB_BASE_HI) & !3,
        dwords: packet.get(F::IB_SIZE),
    };
    Ok(match packet.flag(F::CHAIN) {
        true => Flow::Chain(ib),
        false => Flow::Call(ib),
    })
}
