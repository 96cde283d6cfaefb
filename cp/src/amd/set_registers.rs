//! Packets that set registers from their body.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};

/// SET_CONFIG_REG, SET_CONTEXT_REG, SET_SH_REG, SET_UCONFIG_REG and their INDEX forms, whose index does not matter
/// here.
pub(crate) fn set(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let first = packet.register(packet.get(body::SET_CONTEXT_REG::REG_OFFSET))?;
    cx.set_registers(packet.at, first, packet.tail(body::SET_CONTEXT_REG::VALUE))?;
    Ok(Flow::Next)
}

/// CONTEXT_REG_RMW.
pub(crate) fn context_rmw(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use body::CONTEXT_REG_RMW as F;
    let register = packet.register(packet.get(F::OFFSET))?;
    let (mask, data) = (packet.get(F::MASK), packet.get(F::DATA));
    let value = cx.registers().get(register) & !mask | data & mask;
    cx.set_register(packet.at, register, value)?;
    Ok(Flow::Next)
}
