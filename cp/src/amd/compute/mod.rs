//! Compute dispatches.

mod grid;
mod inputs;

use super::context::{Context, Flow};
use super::launch::{COMPUTE_PROGRAM, MustBeZero, first_set};
use super::packet::{Handled, Packet, body};
use super::processor::Ring;
use super::register_file::RegisterFile;
use super::registers::field;
use crate::{ExactDispatch, Isa, Origin, Outputs, Refusal, Stage};
use field::COMPUTE_DISPATCH_INITIATOR as INITIATOR;
use field::COMPUTE_PGM_RSRC2 as RSRC2;
use grid::Request;

/// The index of SET_BASE that indirect dispatches start from.
const INDIRECT_BASE: usize = 1;

/// Bytes in a unit of LDS_SIZE.
const LDS_UNIT: u32 = 512;
/// LDS bytes that a workgroup can have.
const MAX_LDS_BYTES: u32 = 1 << 16;

/// Fields that change what a program sees or does and are not carried out.
const MUST_BE_ZERO: &[MustBeZero] = &[
    (field::COMPUTE_PGM_RSRC1::FP16_OVFL, "clamping of half-precision overflow (FP16_OVFL)"),
    (RSRC2::TRAP_PRESENT, "a trap handler"),
    (field::COMPUTE_PGM_RSRC3::SHARED_VGPR_CNT, "shared VGPRs"),
];

/// Initiator fields that are not carried out.
const INITIATOR_MUST_BE_ZERO: &[MustBeZero] = &[
    (INITIATOR::ORDERED_APPEND_ENBL, "ordered append"),
    (INITIATOR::TUNNEL_ENABLE, "tunnelling"),
    (INITIATOR::RESTORE, "the restoring of a context"),
];

/// DISPATCH_DIRECT.
pub(crate) fn dispatch_direct(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use body::DISPATCH_DIRECT as F;
    let dims = [F::DIM_X, F::DIM_Y, F::DIM_Z].map(|dim| packet.get(dim));
    launch(cx, packet, Request { dims, initiator: word(packet, 3)? })
}

/// DISPATCH_INDIRECT: the dims are read from memory, at an offset from the base that SET_BASE gave on a graphics ring,
/// at an address on a compute ring.
pub(crate) fn dispatch_indirect(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let first = u64::from(word(packet, 0)?);
    let (address, initiator) = match cx.ring {
        Ring::Gfx => (cx.machine().bases[INDIRECT_BASE].wrapping_add(first), word(packet, 1)?),
        Ring::Compute => (first | u64::from(word(packet, 1)?) << 32, word(packet, 2)?),
    };
    let mut dims = [0; 12];
    cx.read(address & !3, &mut dims)?;
    let dims = bytemuck::cast::<[u8; 12], [u32; 3]>(dims).map(u32::from_le);
    launch(cx, packet, Request { dims, initiator })
}

/// A body dword that the packet's ring needs.
fn word(packet: &Packet<'_>, index: u32) -> Result<u32, Refusal> {
    let has = packet.body.len() as u32;
    let short = Refusal::ShortBody { packet: packet.name(), needs: index + 1, has };
    packet.body.get(index as usize).copied().ok_or(short)
}

fn launch(cx: &mut Context<'_>, packet: &Packet<'_>, request: Request) -> Handled {
    if let Some(dispatch) = dispatch(cx.registers(), cx.config.isa, packet.at, request)? {
        cx.launch(dispatch, None)?;
    }
    cx.report.work.dispatches += 1;
    Ok(Flow::Next)
}

/// The dispatch that the registers and a packet describe; `None` where it has no threads.
fn dispatch(
    registers: &RegisterFile,
    isa: Isa,
    at: Origin,
    request: Request,
) -> Result<Option<ExactDispatch>, Refusal> {
    check_options(registers, request.initiator)?;
    let Some(grid) = grid::grid(registers, request)? else { return Ok(None) };
    let wave_lanes = if INITIATOR::CS_W32_EN.of(request.initiator) != 0 { 32 } else { 64 };
    let (sgprs, scratch) = inputs::scalars(registers)?;
    Ok(Some(ExactDispatch {
        stage: Stage::Compute,
        program: COMPUTE_PROGRAM.read(registers, isa, wave_lanes),
        grid,
        sgprs,
        vgprs: inputs::lanes(registers)?,
        lds_bytes: lds_bytes(registers)?,
        scratch,
        outputs: Outputs::Dropped,
        origin: at,
    }))
}

fn check_options(registers: &RegisterFile, initiator: u32) -> Result<(), Refusal> {
    let asked =
        INITIATOR_MUST_BE_ZERO.iter().find(|(field, _)| field.of(initiator) != 0).map(|(_, what)| *what);
    if let Some(option) = asked.or_else(|| first_set(registers, MUST_BE_ZERO)) {
        return Err(Refusal::DispatchOption { option });
    }
    match INITIATOR::COMPUTE_SHADER_EN.of(initiator) {
        0 => Err(Refusal::DispatchOption { option: "no compute program (COMPUTE_SHADER_EN 0)" }),
        _ => Ok(()),
    }
}

fn lds_bytes(registers: &RegisterFile) -> Result<u32, Refusal> {
    match registers.field(RSRC2::LDS_SIZE) * LDS_UNIT {
        bytes if bytes <= MAX_LDS_BYTES => Ok(bytes),
        bytes => Err(Refusal::DispatchLds { bytes, limit: MAX_LDS_BYTES }),
    }
}
