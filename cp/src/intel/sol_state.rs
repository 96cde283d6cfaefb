//! Packets that set stream output up.

use super::context::Context;
use super::packet::{Flow, Handled, Packet, field};
use super::so_decl::{DWORD, DeclList};
use super::sol::{Reorder, SoBuffer, StreamReads, StreamoutControl};
use crate::canonical;
use crate::streamout::Slot;

/// Slots of a unit of the read lengths and offsets.
const SLOTS_PER_READ: u32 = 2;
/// Stream Offset: load the write offset from the offset address.
const LOAD_OFFSET: u32 = u32::MAX;

/// 3DSTATE_STREAMOUT.
pub(crate) fn streamout(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::{STREAMOUT_7 as F7, STREAMOUT_8 as F8};
    let wide = cx.generation().wide();
    cx.state.sol.control = StreamoutControl {
        enabled: packet.flag(F7::SO_FUNCTION_ENABLE),
        rendering_disabled: packet.flag(F7::RENDERING_DISABLE),
        render_stream: Slot::from_bits(packet.get(F7::RENDER_STREAM_SELECT)),
        reorder: if packet.flag(F7::REORDER_MODE) { Reorder::Trailing } else { Reorder::Leading },
        statistics: packet.flag(F7::SO_STATISTICS_ENABLE),
        force_rendering: if wide { packet.get(F8::FORCE_RENDERING) } else { 0 },
        buffers: if wide { 0 } else { packet.get(F7::SO_BUFFER_ENABLE) as u8 },
        reads: reads(packet),
        pitches: [F8::BUFFER0_PITCH, F8::BUFFER1_PITCH, F8::BUFFER2_PITCH, F8::BUFFER3_PITCH]
            .map(|pitch| if wide { packet.get(pitch) } else { 0 }),
    };
    let sol = &mut cx.state.sol;
    for (slot, buffer) in Slot::ALL.into_iter().zip(&mut sol.buffers) {
        match wide {
            true => buffer.pitch = sol.control.pitches[slot.index()],
            false => buffer.enabled = slot.is_in(sol.control.buffers),
        }
    }
    Ok(Flow::Next)
}

fn reads(packet: &Packet<'_>) -> [StreamReads; 4] {
    use field::STREAMOUT_7 as F;
    let places = [
        (F::STREAM0_READ_OFFSET, F::STREAM0_READ_LENGTH),
        (F::STREAM1_READ_OFFSET, F::STREAM1_READ_LENGTH),
        (F::STREAM2_READ_OFFSET, F::STREAM2_READ_LENGTH),
        (F::STREAM3_READ_OFFSET, F::STREAM3_READ_LENGTH),
    ];
    places.map(|(offset, length)| StreamReads {
        first: packet.get(offset) * SLOTS_PER_READ,
        count: (packet.get(length) + 1) * SLOTS_PER_READ,
    })
}

/// 3DSTATE_SO_BUFFER.
pub(crate) fn so_buffer(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::SO_BUFFER_7 as F;
    let slot = Slot::from_bits(packet.get(F::INDEX));
    if cx.generation().wide() {
        return wide_buffer(cx, packet, slot);
    }
    let (base, end) = (u64::from(packet.get(F::BASE) & !3), u64::from(packet.get(F::END) & !3));
    let buffer = &mut cx.state.sol.buffers[slot.index()];
    *buffer = SoBuffer {
        base,
        size: end.saturating_sub(base),
        pitch: packet.get(F::PITCH),
        enabled: buffer.enabled,
        offset_address: None,
    };
    Ok(Flow::Next)
}

/// 3DSTATE_SO_BUFFER_INDEX_n of Gen12: the buffer is in the header.
pub(crate) fn so_buffer_index(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    wide_buffer(cx, packet, Slot::from_bits(u32::from(packet.row.key)))
}

/// The body of Gen8 and later. A stream offset is set or loaded as the packet is carried out.
fn wide_buffer(cx: &mut Context<'_>, packet: &Packet<'_>, slot: Slot) -> Handled {
    use field::SO_BUFFER_8 as F;
    let address = canonical(packet.get64(F::OFFSET_ADDRESS_LO, F::OFFSET_ADDRESS_HI) & !3);
    let offset = match (packet.flag(F::STREAM_OFFSET_WRITE_ENABLE), packet.get(F::STREAM_OFFSET)) {
        (false, _) => None,
        (true, LOAD_OFFSET) => Some(cx.read_u32(address)?),
        (true, offset) => Some(offset),
    };
    let sol = &mut cx.state.sol;
    sol.buffers[slot.index()] = SoBuffer {
        base: canonical(packet.get64(F::BASE_LO, F::BASE_HI) & !3),
        size: (u64::from(packet.get(F::SURFACE_SIZE)) + 1) * u64::from(DWORD),
        pitch: sol.control.pitches[slot.index()],
        enabled: packet.flag(F::SO_BUFFER_ENABLE),
        offset_address: packet.flag(F::OFFSET_ADDRESS_ENABLE).then_some(address),
    };
    if let Some(offset) = offset {
        sol.unit.set_position(slot, u64::from(offset & !3));
    }
    Ok(Flow::Next)
}

/// 3DSTATE_SO_DECL_LIST.
pub(crate) fn so_decl_list(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.state.sol.list = DeclList::decode(packet.words, cx.config.policies.hole_masks)?;
    Ok(Flow::Next)
}
