//! Packets that set registers from their body.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};
use super::registers::{Register, Space};

/// SET_CONFIG_REG.
pub(crate) fn set_config(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    set(cx, packet, Space::Config)
}

/// SET_CONTEXT_REG.
pub(crate) fn set_context(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    set(cx, packet, Space::Context)
}

/// SET_SH_REG and SET_SH_REG_INDEX.
pub(crate) fn set_sh(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    set(cx, packet, Space::Sh)
}

/// SET_UCONFIG_REG and SET_UCONFIG_REG_INDEX.
pub(crate) fn set_uconfig(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    set(cx, packet, Space::Uconfig)
}

/// All SET packets have the offset and the values in the same places.
fn set(cx: &mut Context<'_>, packet: &Packet<'_>, space: Space) -> Handled {
    let first = in_space(space, packet.get(body::SET_CONTEXT_REG::REG_OFFSET));
    cx.set_registers(packet.at, first, packet.tail(body::SET_CONTEXT_REG::VALUE))?;
    Ok(Flow::Next)
}

/// The register at dword `offset` of `space`. An offset beyond the space gives a register outside of it, which
/// [`Context::set_registers`] refuses or which lies in the space that follows.
pub(super) fn in_space(space: Space, offset: u32) -> Register {
    Register(space.bounds().0.wrapping_add(offset.wrapping_mul(4)))
}

/// CONTEXT_REG_RMW.
pub(crate) fn context_rmw(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let register = in_space(Space::Context, packet.get(body::CONTEXT_REG_RMW::OFFSET));
    let (mask, data) = (packet.get(body::CONTEXT_REG_RMW::MASK), packet.get(body::CONTEXT_REG_RMW::DATA));
    let value = cx.registers().get(register) & !mask | data & mask;
    cx.set_register(packet.at, register, value)?;
    Ok(Flow::Next)
}
