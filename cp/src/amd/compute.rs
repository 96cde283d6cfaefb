//! Compute dispatches.

use super::context::Context;
use super::packet::{Handled, Packet};
use crate::Refusal;

/// DISPATCH_DIRECT.
pub(crate) fn dispatch_direct(_: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    Err(Refusal::PacketRefused { packet: packet.name(), reason: "compute launches are not written yet" })
}

/// DISPATCH_INDIRECT.
pub(crate) fn dispatch_indirect(_: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    Err(Refusal::PacketRefused { packet: packet.name(), reason: "compute launches are not written yet" })
}
