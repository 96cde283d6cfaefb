//! Packets that set addresses and programs.

use super::context::Context;
use super::packet::{Flow, Handled, Packet, field};
use super::registers::reg::INSTPM;
use super::state::ConstantRange;
use crate::words::WordField;

/// Bit 0 of a base address: it is to change.
const MODIFY: u64 = 1;
/// Bits of a base address.
const BASE: u64 = !0xfff;
/// INSTPM: the pointer of a program's first constants is an address and no offset.
const CONSTANTS_ABSOLUTE: u32 = 1 << 6;

/// STATE_BASE_ADDRESS.
pub(crate) fn state_base_address(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::{BASE_7 as F7, BASE_8 as F8};
    let bases = &mut cx.state.bases;
    let wide = cx.config.generation.wide();
    let places: [(&mut u64, WordField, [WordField; 2]); 5] = [
        (&mut bases.general, F7::GENERAL, [F8::GENERAL, F8::GENERAL_HI]),
        (&mut bases.surface, F7::SURFACE, [F8::SURFACE, F8::SURFACE_HI]),
        (&mut bases.dynamic, F7::DYNAMIC, [F8::DYNAMIC, F8::DYNAMIC_HI]),
        (&mut bases.indirect, F7::INDIRECT, [F8::INDIRECT, F8::INDIRECT_HI]),
        (&mut bases.instruction, F7::INSTRUCTION, [F8::INSTRUCTION, F8::INSTRUCTION_HI]),
    ];
    for (base, narrow, [low, high]) in places {
        let value = if wide { packet.get64(low, high) } else { u64::from(packet.get(narrow)) };
        if value & MODIFY != 0 {
            *base = value & BASE;
        }
    }
    Ok(Flow::Next)
}

/// 3DSTATE_VF_STATISTICS.
pub(crate) fn vf_statistics(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.state.pipeline.fetch_statistics = packet.flag(field::VF_STATISTICS::STATISTICS);
    Ok(Flow::Next)
}

/// 3DSTATE_VS.
pub(crate) fn vs(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::{VS_7 as F7, VS_8 as F8};
    let vertex = &mut cx.state.pipeline.vertex;
    match cx.config.generation.wide() {
        true => {
            vertex.kernel =
                u64::from(packet.get(F8::KERNEL_LO)) << 6 | u64::from(packet.get(F8::KERNEL_HI)) << 32;
            vertex.grf_start = packet.get(F8::GRF_START);
            vertex.read_length = packet.get(F8::URB_READ_LENGTH);
            vertex.read_offset = packet.get(F8::URB_READ_OFFSET);
            vertex.statistics = packet.flag(F8::STATISTICS);
            vertex.enabled = packet.flag(F8::ENABLE);
        }
        false => {
            vertex.kernel = u64::from(packet.get(F7::KERNEL)) << 6;
            vertex.grf_start = packet.get(F7::GRF_START);
            vertex.read_length = packet.get(F7::URB_READ_LENGTH);
            vertex.read_offset = packet.get(F7::URB_READ_OFFSET);
            vertex.single_program_flow = packet.flag(F7::SINGLE_PROGRAM_FLOW);
            vertex.alternate_floats = packet.flag(F7::FLOATING_POINT_MODE);
            vertex.scratch = packet.get(F7::SCRATCH) != 0 || packet.get(F7::PER_THREAD_SCRATCH) != 0;
            vertex.statistics = packet.flag(F7::STATISTICS);
            vertex.enabled = packet.flag(F7::ENABLE);
        }
    }
    Ok(Flow::Next)
}

/// 3DSTATE_URB_VS.
pub(crate) fn urb_vs(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.state.pipeline.vertex.urb_units = packet.get(field::URB_VS::ENTRY_SIZE) + 1;
    Ok(Flow::Next)
}

/// 3DSTATE_CONSTANT_VS of Gen7.
pub(crate) fn constant_vs(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use field::CONSTANT_VS_7 as F;
    let places = [
        (F::POINTER_0, F::LENGTH_0),
        (F::POINTER_1, F::LENGTH_1),
        (F::POINTER_2, F::LENGTH_2),
        (F::POINTER_3, F::LENGTH_3),
    ];
    cx.state.pipeline.vertex.constants = places.map(|(pointer, length)| ConstantRange {
        pointer: u64::from(packet.get(pointer)) << 5,
        registers: packet.get(length),
    });
    // The first run's pointer is an offset or an address by a mode that may change later; it is settled here, where the
    // hardware reads both.
    if cx.state.registers.get(INSTPM) & CONSTANTS_ABSOLUTE == 0 {
        let first = &mut cx.state.pipeline.vertex.constants[0];
        first.pointer = first.pointer.wrapping_add(cx.state.bases.dynamic);
    }
    Ok(Flow::Next)
}

/// 3DSTATE_GS.
pub(crate) fn gs(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.state.pipeline.geometry = match cx.generation().wide() {
        true => packet.flag(field::GS_8::ENABLE),
        false => packet.flag(field::GS_7::ENABLE),
    };
    Ok(Flow::Next)
}

/// 3DSTATE_HS.
pub(crate) fn hs(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.state.pipeline.hull = packet.flag(field::HS::ENABLE);
    Ok(Flow::Next)
}

/// 3DSTATE_TE.
pub(crate) fn te(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.state.pipeline.tessellator = packet.flag(field::TE::ENABLE);
    Ok(Flow::Next)
}

/// 3DSTATE_DS.
pub(crate) fn ds(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.state.pipeline.domain = match cx.generation().wide() {
        true => packet.flag(field::DS_8::ENABLE),
        false => packet.flag(field::DS_7::ENABLE),
    };
    Ok(Flow::Next)
}

/// 3DSTATE_CLIP.
pub(crate) fn clip(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    cx.state.pipeline.clip_statistics = packet.flag(field::CLIP::STATISTICS);
    Ok(Flow::Next)
}
