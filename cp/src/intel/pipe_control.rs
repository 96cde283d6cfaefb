//! PIPE_CONTROL: flushes, which have no effect in a walk in order, and a write when they are done.

use super::context::Context;
use super::packet::{Flow, Handled, Packet, field};

/// Post-sync operations.
const NONE: u32 = 0;
const WRITE_IMMEDIATE: u32 = 1;
const WRITE_TIMESTAMP: u32 = 3;

/// On Gen7 bit 2 of the address, where a write is of eight aligned bytes, says that it is the kernel's.
const GLOBAL_ADDRESS: u64 = 4;

/// PIPE_CONTROL.
pub(crate) fn pipe_control(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::{PIPE_CONTROL_7 as F7, PIPE_CONTROL_8 as F8};
    let operation = packet.get(F7::POST_SYNC);
    if operation == NONE {
        return Ok(Flow::Next);
    }
    let wide = cx.generation().wide();
    let (address, data) = match wide {
        true => (packet.get64(F8::ADDRESS_LO, F8::ADDRESS_HI), packet.get64(F8::DATA_LO, F8::DATA_HI)),
        false => (u64::from(packet.get(F7::ADDRESS)), packet.get64(F7::DATA_LO, F7::DATA_HI)),
    };
    let global = packet.flag(F7::USE_GGTT) || !wide && address & GLOBAL_ADDRESS != 0;
    if global {
        return Err(super::Refusal::GlobalTable { packet: packet.row.name });
    }
    if packet.flag(F7::STORE_DATA_INDEX) {
        return Err(packet.bad("STORE_DATA_INDEX", 1));
    }
    let value = match operation {
        WRITE_IMMEDIATE => data,
        WRITE_TIMESTAMP => (cx.parts.clock)(),
        other => return Err(packet.bad("POST_SYNC", other)),
    };
    cx.write(packet.at, address & !7, &value.to_le_bytes())?;
    Ok(Flow::Next)
}
