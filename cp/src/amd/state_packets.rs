//! Packets that set state beside the registers, or whole groups of registers.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};
use super::registers::reg;

/// SET_BASE.
pub(crate) fn set_base(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let index = packet.get(body::SET_BASE::BASE_INDEX);
    let address = packet.get64(body::SET_BASE::ADDRESS_LO, body::SET_BASE::ADDRESS_HI) & !3;
    let Some(base) = cx.machine_mut().bases.get_mut(index as usize) else {
        return Err(packet.bad("BASE_INDEX", index));
    };
    *base = address;
    Ok(Flow::Next)
}

/// CLEAR_STATE: only the plain clear; drivers of this generation neither push nor pop.
pub(crate) fn clear_state(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    match packet.get(body::CLEAR_STATE::CMD) {
        0 => cx.clear_context_registers()?,
        command => return Err(packet.bad("CMD", command)),
    }
    Ok(Flow::Next)
}

/// CONTEXT_CONTROL: the enables themselves have no effect here, as long as nothing is loaded or shadowed.
pub(crate) fn context_control(_: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    const ENABLE: u32 = 1 << 31;
    for (name, word) in ["load enables", "shadow enables"].into_iter().zip(packet.body) {
        if word & ENABLE != 0 && word & !ENABLE != 0 {
            return Err(packet.bad(name, *word));
        }
    }
    Ok(Flow::Next)
}

/// INDEX_BASE.
pub(crate) fn index_base(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.machine_mut().index_base = packet.get64(body::INDEX_BASE::ADDRESS_LO, body::INDEX_BASE::ADDRESS_HI);
    Ok(Flow::Next)
}

/// INDEX_BUFFER_SIZE.
pub(crate) fn index_buffer_size(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.machine_mut().index_buffer_size = packet.get(body::INDEX_BUFFER_SIZE::MAX_INDICES);
    Ok(Flow::Next)
}

/// INDEX_TYPE, the older way to set VGT_INDEX_TYPE.
pub(crate) fn index_type(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.set_register(packet.at, reg::VGT_INDEX_TYPE, packet.body[0])?;
    Ok(Flow::Next)
}

/// NUM_INSTANCES.
pub(crate) fn num_instances(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.set_register(packet.at, reg::VGT_NUM_INSTANCES, packet.get(body::NUM_INSTANCES::NUM_INSTANCES))?;
    Ok(Flow::Next)
}
