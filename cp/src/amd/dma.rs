//! DMA_DATA: copies and fills of any size.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};
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
    let select = packet.get(F::SRC_SEL);
    match select {
        2 => Ok(Source::Immediate(packet.get(F::SRC_LO_OR_DATA))),
        0 | 3 if !packet.flag(F::SAIC) && !(select == 0 && packet.flag(F::SAS)) => {
            Ok(Source::Memory(packet.get64(F::SRC_LO_OR_DATA, F::SRC_HI)))
        }
        0 | 3 => Err(packet.bad("SAS and SAIC", packet.get(F::SAS) | packet.get(F::SAIC) << 1)),
        _ => Err(Refusal::Place { packet: packet.name(), what: "SRC_SEL", select }),
    }
}

/// DST_SEL: 0 and 3 memory (0 a register where DAS says so), 1 GDS, 2 nowhere.
fn destination(packet: &Packet<'_>) -> Result<u64, Refusal> {
    let select = packet.get(F::DST_SEL);
    match select {
        0 | 3 if !packet.flag(F::DAIC) && !(select == 0 && packet.flag(F::DAS)) => {
            Ok(packet.get64(F::DST_LO, F::DST_HI))
        }
        0 | 3 => Err(packet.bad("DAS and DAIC", packet.get(F::DAS) | packet.get(F::DAIC) << 1)),
        _ => Err(Refusal::Place { packet: packet.name(), what: "DST_SEL", select }),
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
