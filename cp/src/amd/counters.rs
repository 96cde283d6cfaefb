//! Streamout counters and the events that write them.

use super::context::Context;
use crate::{Origin, Refusal};

/// Primitives needed and written, by stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    counting: bool,
}

impl Counters {
    /// PIPELINESTAT_START (`true`) and PIPELINESTAT_STOP.
    pub(crate) fn set_counting(&mut self, on: bool) {
        self.counting = on;
    }
}

/// SAMPLE_STREAMOUTSTATS: writes the counters of `stream` at `address`.
pub(crate) fn sample(
    _: &mut Context<'_>,
    _: Origin,
    _event: u8,
    _stream: u32,
    _address: u64,
) -> Result<(), Refusal> {
    Err(Refusal::PacketRefused { packet: "SAMPLE_STREAMOUTSTATS", reason: "counters are not written yet" })
}
