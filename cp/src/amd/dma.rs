//! DMA_DATA: copies and fills of any size.

use super::context::{Context, Flow};
use super::packet::{BodyField, Handled, Packet, body};
use crate::Refusal;

use body::DMA_DATA as F;

/// Bytes of scratch that are kept for the next copy.
const KEPT: usize = 1 << 20;

/// DMA_DATA. Overlapping copies behave as if all bytes were read before any is written (a policy: the hardware's
/// order within a copy is not documented).
pub(crate) fn dma_data(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    const NOWHERE: u32 = 2;
    let bytes = packet.get(F::BYTE_COUNT) as usize;
    if bytes == 0 || packet.get(F::DST_SEL) == NOWHERE {
        // A synchronization, or a prefetch into the cache.
        return Ok(Flow::Next);
    }
    let destination = destination(packet)?;
    let source = source(packet)?;
    let mut buffer = std::mem::take(&mut cx.scratch.bytes);
    buffer.clear();
    buffer.resize(bytes, 0);
    let result = fill(cx, source, &mut buffer).and_then(|()| cx.write(packet.at, destination, &buffer));
    buffer.truncate(KEPT);
    buffer.shrink_to(KEPT);
    cx.scratch.bytes = buffer;
    result.map(|()| Flow::Next)
}

/// Where the bytes come from.
enum Source {
    Memory(u64),
    /// This dword again and again.
    Immediate(u32),
}

/// SRC_SEL: 0 and 3 memory (0 a register where SAS says so), 1 GDS, 2 the packet itself.
fn source(packet: &Packet<'_>) -> Result<Source, Refusal> {
    const IMMEDIATE: u32 = 2;
    if packet.get(F::SRC_SEL) == IMMEDIATE {
        return Ok(Source::Immediate(packet.get(F::SRC_LO_OR_DATA)));
    }
    require_memory(packet, ("SRC_SEL", F::SRC_SEL), ("SAS", F::SAS), ("SAIC", F::SAIC))?;
    Ok(Source::Memory(packet.get64(F::SRC_LO_OR_DATA, F::SRC_HI)))
}

/// DST_SEL: 0 and 3 memory (0 a register where DAS says so), 1 GDS, 2 nowhere.
fn destination(packet: &Packet<'_>) -> Result<u64, Refusal> {
    require_memory(packet, ("DST_SEL", F::DST_SEL), ("DAS", F::DAS), ("DAIC", F::DAIC))?;
    Ok(packet.get64(F::DST_LO, F::DST_HI))
}

type Named = (&'static str, BodyField);

/// Refuses an end that is not memory with addresses that count up: GDS, a register, or one place again and again.
fn require_memory(packet: &Packet<'_>, select: Named, register: Named, fixed: Named) -> Result<(), Refusal> {
    let value = packet.get(select.1);
    if !matches!(value, 0 | 3) {
        return Err(Refusal::Place { packet: packet.name(), what: select.0, select: value });
    }
    if value == 0 && packet.flag(register.1) {
        return Err(packet.bad(register.0, 1));
    }
    match packet.get(fixed.1) {
        0 => Ok(()),
        value => Err(packet.bad(fixed.0, value)),
    }
}

fn fill(cx: &mut Context<'_>, source: Source, buffer: &mut [u8]) -> Result<(), Refusal> {
    match source {
        Source::Memory(address) => cx.read(address, buffer),
        Source::Immediate(word) => {
            let bytes = word.to_le_bytes();
            buffer.chunks_mut(4).for_each(|chunk| chunk.copy_from_slice(&bytes[..chunk.len()]));
            Ok(())
        }
    }
}
