//! Draw packets.

use super::context::Context;
use super::packet::{Handled, Packet};
use super::walk::require_gfx;
use crate::Refusal;

/// Every draw packet, told apart by its opcode.
pub(crate) fn draw(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    require_gfx(cx)?;
    Err(Refusal::DrawForm { packet: packet.name() })
}
