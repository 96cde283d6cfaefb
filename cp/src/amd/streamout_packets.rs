//! STRMOUT_BUFFER_UPDATE.

use super::context::Context;
use super::packet::{Handled, Packet};
use crate::Refusal;

/// Streamout buffers' positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streamout {}

/// STRMOUT_BUFFER_UPDATE.
pub(crate) fn buffer_update(_: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    Err(Refusal::PacketRefused { packet: packet.name(), reason: "streamout is not written yet" })
}
