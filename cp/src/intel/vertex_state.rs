//! Packets that tell the vertex fetcher what to read.

use super::Gen;
use super::context::Context;
use super::packet::{Flow, Handled, Packet, field};
use super::state::{GeneratedValue, IndexBuffer, VertexBuffer, VertexElement};
use crate::canonical;
use crate::words::extract;

/// 3DSTATE_VERTEX_BUFFERS: four dwords a buffer.
pub(crate) fn vertex_buffers(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    for entry in packet.groups(field::VERTEX_BUFFERS_7::ENTRY)? {
        let (number, buffer) = buffer(entry, cx.generation());
        cx.state.fetch.buffers.insert(number, buffer);
    }
    Ok(Flow::Next)
}

/// The number and the buffer of an entry.
pub(super) fn buffer(entry: &[u32; 4], generation: Gen) -> (u32, VertexBuffer) {
    match generation.wide() {
        true => wide_buffer(entry),
        false => narrow_buffer(entry),
    }
}

/// An entry of Gen7: start, last byte, step rate.
fn narrow_buffer(entry: &[u32; 4]) -> (u32, VertexBuffer) {
    let (start, last) = (u64::from(entry[1]), u64::from(entry[2]));
    let buffer = VertexBuffer {
        start,
        size: (last + 1).saturating_sub(start),
        pitch: extract(entry[0], 11, 0),
        null: extract(entry[0], 13, 13) != 0,
        instanced: extract(entry[0], 20, 20) != 0,
        step_rate: entry[3],
    };
    (extract(entry[0], 31, 26), buffer)
}

/// An entry of Gen8 and later: a start of two dwords, and the size.
fn wide_buffer(entry: &[u32; 4]) -> (u32, VertexBuffer) {
    let buffer = VertexBuffer {
        start: canonical(u64::from(entry[1]) | u64::from(entry[2]) << 32),
        size: u64::from(entry[3]),
        pitch: extract(entry[0], 11, 0),
        null: extract(entry[0], 13, 13) != 0,
        instanced: false,
        step_rate: 0,
    };
    (extract(entry[0], 31, 26), buffer)
}

/// 3DSTATE_VERTEX_ELEMENTS: two dwords an element, replacing all that were set before.
pub(crate) fn vertex_elements(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let entries = packet.groups::<2>(field::VERTEX_ELEMENTS::ENTRY)?;
    cx.state.fetch.elements = entries.iter().map(element).collect();
    Ok(Flow::Next)
}

/// The element of an entry.
pub(super) fn element([place, controls]: &[u32; 2]) -> VertexElement {
    VertexElement {
        buffer: extract(*place, 31, 26),
        valid: extract(*place, 25, 25) != 0,
        format: extract(*place, 24, 16),
        edge_flag: extract(*place, 15, 15) != 0,
        offset: extract(*place, 11, 0),
        controls: [30, 26, 22, 18].map(|hi| extract(*controls, hi, hi - 2)),
    }
}

/// 3DSTATE_INDEX_BUFFER; the cut index is its matter on Gen7 only.
pub(crate) fn index_buffer(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::{INDEX_BUFFER_7 as F7, INDEX_BUFFER_8 as F8};
    let buffer = match cx.generation().wide() {
        true => IndexBuffer {
            start: canonical(packet.get64(F8::START_LO, F8::START_HI)),
            size: u64::from(packet.get(F8::SIZE)),
            format: packet.get(F8::FORMAT),
        },
        false => {
            let (start, last) = (u64::from(packet.get(F7::START)), u64::from(packet.get(F7::END)));
            IndexBuffer { start, size: (last + 1).saturating_sub(start), format: packet.get(F7::FORMAT) }
        }
    };
    if cx.generation() == Gen::Gen7 {
        cx.state.fetch.cut_enabled = packet.flag(F7::CUT_INDEX_ENABLE);
        cx.state.fetch.cut_index = None;
    }
    cx.state.fetch.index_buffer = Some(buffer);
    Ok(Flow::Next)
}

/// 3DSTATE_VF.
pub(crate) fn vf(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::VF as F;
    cx.state.fetch.cut_enabled = packet.flag(F::CUT_INDEX_ENABLE);
    cx.state.fetch.cut_index = Some(packet.get(F::CUT_INDEX));
    cx.state.fetch.packed = cx.generation() >= Gen::Gen9 && packet.flag(F::COMPONENT_PACKING_ENABLE);
    Ok(Flow::Next)
}

/// 3DSTATE_VF_INSTANCING.
pub(crate) fn vf_instancing(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::VF_INSTANCING as F;
    let instancing = &mut cx.state.fetch.instancing;
    match packet.flag(F::ENABLE) {
        true => instancing.insert(packet.get(F::ELEMENT), packet.get(F::STEP_RATE)),
        false => instancing.remove(&packet.get(F::ELEMENT)),
    };
    Ok(Flow::Next)
}

/// 3DSTATE_VF_SGVS.
pub(crate) fn vf_sgvs(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::VF_SGVS as F;
    let place = |enable, element, component| {
        packet
            .flag(enable)
            .then(|| GeneratedValue { element: packet.get(element), component: packet.get(component) })
    };
    cx.state.fetch.vertex_id = place(F::VERTEX_ID_ENABLE, F::VERTEX_ID_ELEMENT, F::VERTEX_ID_COMPONENT);
    cx.state.fetch.instance_id =
        place(F::INSTANCE_ID_ENABLE, F::INSTANCE_ID_ELEMENT, F::INSTANCE_ID_COMPONENT);
    Ok(Flow::Next)
}

/// 3DSTATE_VF_SGVS_2.
pub(crate) fn vf_sgvs_2(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::VF_SGVS_2 as F;
    let enables = [F::XP0_ENABLE, F::XP1_ENABLE, F::XP2_ENABLE];
    cx.state.fetch.further_values = enables.into_iter().any(|enable| packet.flag(enable));
    Ok(Flow::Next)
}

/// 3DSTATE_VF_TOPOLOGY.
pub(crate) fn vf_topology(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.state.fetch.topology = packet.get(field::VF_TOPOLOGY::TOPOLOGY);
    Ok(Flow::Next)
}
