//! EVENT_WRITE, by the table `tables/amd/events.tsv`.

use super::context::{Context, Flow};
use super::counters;
use super::packet::{Handled, Packet, body};
use super::place::aligned;
use super::registers::{field, reg};
use crate::Refusal;

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing here, for this reason.
    Inert(&'static str),
    /// It ends the stream, for this reason.
    Refuse(&'static str),
    /// It is refused and the stream goes on.
    Report(&'static str),
    /// Writes the streamout counters of a stream.
    SampleStreamout(u32),
    /// Starts or stops counting.
    Counting(bool),
    /// Sets the register bit that drivers wait for before they touch streamout offsets.
    StreamoutFlush,
}

/// EVENT_INDEX of a sample of the streamout counters. Later generations have others, whose samples look different.
const SAMPLE_INDEX: u32 = 3;

/// One row of the event table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventRow {
    pub(crate) name: &'static str,
    pub(crate) effect: Effect,
}

include!(concat!(env!("OUT_DIR"), "/amd_events.rs"));

/// The row of an event type.
pub(crate) fn event_row(event: u32) -> Result<&'static EventRow, Refusal> {
    match EVENTS.get(event as usize) {
        Some(Some(row)) => Ok(row),
        _ => Err(Refusal::UnknownEvent { event: event as u8 }),
    }
}

/// EVENT_WRITE.
pub(crate) fn event_write(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use body::EVENT_WRITE as F;
    let event = packet.get(F::EVENT_TYPE);
    let row = event_row(event)?;
    let dwords = packet.body.len() as u32;
    let addressed = dwords >= 3;
    match row.effect {
        Effect::Inert(_) if addressed => return Err(Refusal::EventAddress { name: row.name, dwords }),
        Effect::Inert(_) => {}
        Effect::Refuse(reason) => return Err(Refusal::EventRefused { name: row.name, reason }),
        Effect::Report(reason) => {
            cx.report_only(packet.at, Refusal::EventRefused { name: row.name, reason })?
        }
        Effect::Counting(on) => cx.machine_mut().streamout.set_counting(on),
        Effect::StreamoutFlush => {
            let done =
                cx.registers().get(reg::CP_STRMOUT_CNTL) | 1 << field::CP_STRMOUT_CNTL::OFFSET_UPDATE_DONE.lo;
            cx.set_register(packet.at, reg::CP_STRMOUT_CNTL, done)?;
        }
        Effect::SampleStreamout(_) if !addressed => {
            return Err(Refusal::EventAddress { name: row.name, dwords });
        }
        Effect::SampleStreamout(_) if packet.get(F::EVENT_INDEX) != SAMPLE_INDEX => {
            return Err(packet.bad("EVENT_INDEX", packet.get(F::EVENT_INDEX)));
        }
        Effect::SampleStreamout(stream) => {
            let address = packet.get64(F::ADDRESS_LO, F::ADDRESS_HI);
            aligned(packet, address, 8)?;
            counters::sample(cx, packet.at, event as u8, stream, address)?;
        }
    }
    Ok(Flow::Next)
}
