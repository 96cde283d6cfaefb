//! AMD's streamout unit: the shared state machine, set up from registers whose units are dwords.

use super::register_file::RegisterFile;
use super::registers::{Register, RegisterArray, family, field, reg};
use crate::Refusal;
use crate::streamout::{Counting, Plan, Slot, Streamout};

/// Bytes of the unit that registers and programs count streamout buffers in.
pub(crate) const DWORD: u64 = 4;

/// The registers in which the hardware keeps what [`StreamoutUnit`] keeps.
const OWN_REGISTERS: [RegisterArray; 2] =
    [reg::VGT_STRMOUT_BUFFER_OFFSET, reg::VGT_STRMOUT_BUFFER_FILLED_SIZE];

/// Refuses a run of registers with one that the unit keeps to itself. When the hardware brings them up to date, and
/// whether a write moves a buffer, is not documented, and no driver does either.
pub(crate) fn check_registers(first: Register, count: usize) -> Result<(), Refusal> {
    let run = first.0..first.0.saturating_add((count as u32).saturating_mul(4));
    for array in OWN_REGISTERS {
        let last = array.at(array.count - 1);
        if run.start > last.0 || run.end <= array.first.0 {
            continue;
        }
        if (0..array.count).any(|n| run.contains(&array.at(n).0)) {
            return Err(Refusal::StreamoutRegister { register: family(array.first) });
        }
    }
    Ok(())
}

/// Positions, counters, and whether the counters run. A clone is a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamoutUnit {
    core: Streamout,
    counting: Counting,
    /// Streams that are on, one bit each.
    streams: u8,
}

impl Default for StreamoutUnit {
    /// As after a reset. The counters stand still until PIPELINESTAT_START.
    fn default() -> Self {
        StreamoutUnit { core: Streamout::default(), counting: Counting::Off, streams: 0 }
    }
}

impl StreamoutUnit {
    /// The positions and counters.
    pub(crate) fn core(&self) -> &Streamout {
        &self.core
    }

    /// Moves a buffer, in bytes.
    pub(crate) fn set_position(&mut self, buffer: Slot, position: u64) {
        self.core.set_position(buffer, position);
    }

    /// Starts (PIPELINESTAT_START) or stops (PIPELINESTAT_STOP) the counters.
    pub(crate) fn set_counting(&mut self, on: bool) {
        self.counting = if on { Counting::On } else { Counting::Off };
    }

    /// Takes sizes, strides and routes from the registers as a draw finds them.
    pub(crate) fn configure(&mut self, registers: &RegisterFile) {
        let streams = registers.get(reg::VGT_STRMOUT_CONFIG);
        let routes = registers.get(reg::VGT_STRMOUT_BUFFER_CONFIG);
        self.streams = (streams & 0xf) as u8;
        for slot in Slot::ALL {
            let n = slot.index() as u32;
            let size = u64::from(registers.get(reg::VGT_STRMOUT_BUFFER_SIZE.at(n))) * DWORD;
            let stride = registers.get(reg::VGT_STRMOUT_VTX_STRIDE.at(n));
            let stride = u64::from(field::VGT_STRMOUT_VTX_STRIDE::STRIDE.of(stride)) * DWORD;
            self.core.bind(slot, 0, size, stride, true);
            self.core.route(slot, if self.is_on(slot) { (routes >> (4 * n) & 0xf) as u8 } else { 0 });
        }
    }

    /// Whether a stream was on when the unit was configured: it counts, and stores where it has a buffer.
    pub(crate) fn is_on(&self, stream: Slot) -> bool {
        stream.is_in(self.streams)
    }

    /// What drawing `primitives` primitives of `vertices` vertices each on a stream would store.
    pub(crate) fn plan(&self, stream: Slot, primitives: u64, vertices: u32) -> Plan {
        self.core.plan(stream, primitives, vertices)
    }

    /// Carries a plan out, and counts where the counters run.
    pub(crate) fn commit(&mut self, plan: &Plan) {
        self.core.commit(plan, self.counting);
    }
}
