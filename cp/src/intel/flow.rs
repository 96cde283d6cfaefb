//! Packets that end batches and lead to others.

use super::Gen;
use super::context::Context;
use super::packet::{Flow, Handled, Packet, field};

/// MI_BATCH_BUFFER_END.
pub(crate) fn batch_end(_: &mut Context<'_>, _: &Packet<'_>) -> Handled {
    Ok(Flow::End)
}

/// MI_BATCH_BUFFER_START: a first-level one is a jump; a second-level one, which Gen7 does not have, returns. From inside
/// a second-level batch it is a jump to another.
pub(crate) fn batch_start(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::BATCH_BUFFER_START_8 as F;
    if packet.flag(F::PREDICATE) {
        return Err(packet.bad("PREDICATE", 1));
    }
    let address = match cx.generation().wide() {
        true => packet.get64(F::ADDRESS_LO, F::ADDRESS_HI),
        false => u64::from(packet.get(field::BATCH_BUFFER_START_7::ADDRESS)),
    } & !3;
    let second_level = packet.flag(F::SECOND_LEVEL) && cx.generation() != Gen::Gen7;
    Ok(match second_level {
        true => Flow::Call(address),
        false => {
            cx.second_level = false;
            Flow::Jump(address)
        }
    })
}
