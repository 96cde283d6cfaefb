//! SAMPLE_STREAMOUTSTATS: the streamout counters, written to memory.

use super::context::Context;
use crate::streamout::Slot;
use crate::{Origin, Refusal, SampleEvent};

/// Set in each word once it is written: drivers wait for it.
const WRITTEN: u64 = 1 << 63;

/// Writes what `stream` has counted: primitives needed at `address`, primitives written 8 bytes after it.
pub(crate) fn sample(
    cx: &mut Context<'_>,
    at: Origin,
    event: u8,
    stream: u32,
    address: u64,
) -> Result<(), Refusal> {
    let counters = cx.machine().streamout.core().counters(Slot::from_bits(stream));
    let values = [counters.needed, counters.written].map(|count| count | WRITTEN);
    let mut bytes = [0; 16];
    for (place, value) in bytes.chunks_exact_mut(8).zip(values) {
        place.copy_from_slice(&value.to_le_bytes());
    }
    cx.write(at, address, &bytes)?;
    cx.observe_sample(&SampleEvent { at, event, address, values });
    Ok(())
}
