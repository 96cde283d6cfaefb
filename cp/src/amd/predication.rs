//! SET_PREDICATION: whether packets with the predicate bit are carried out.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};
use super::place::{Place, Width, aligned};
use crate::Refusal;

use body::SET_PREDICATION as F;

/// What packets with the predicate bit depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Predicate {
    /// Nothing: they are carried out.
    #[default]
    None,
    /// They are carried out if the two are equal.
    Set {
        /// What memory said: a value other than 0, or that a buffer overflowed.
        found: bool,
        /// What is needed.
        wanted: bool,
    },
}

impl Predicate {
    /// Whether packets with the predicate bit are passed over.
    pub(crate) fn skips(self) -> bool {
        matches!(self, Predicate::Set { found, wanted } if found != wanted)
    }
}

/// SET_PREDICATION. The condition is read here, once all programs before have run; CONTINUE joins it to the one before
/// by "or". Predication by samples is refused, as samples are not counted.
pub(crate) fn set_predication(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    const CLEAR: u32 = 0;
    let operation = packet.get(F::OP);
    let predicate = match operation {
        CLEAR => Predicate::None,
        _ => condition(cx, packet, operation)?,
    };
    cx.machine_mut().predicate = predicate;
    Ok(Flow::Next)
}

/// OP: 1 samples, 2 streamout counters, 3 a 64-bit word, 4 a dword.
fn condition(cx: &mut Context<'_>, packet: &Packet<'_>, operation: u32) -> Result<Predicate, Refusal> {
    let address = packet.get64(F::ADDRESS_LO, F::ADDRESS_HI);
    let draw_if = packet.flag(F::DRAW_IF);
    let (found, wanted) = match operation {
        2 => (overflowed(cx, packet, address)?, !draw_if),
        3 => (Place::Memory(address).read(cx, packet, Width::Bits64)? != 0, draw_if),
        4 => (Place::Memory(address).read(cx, packet, Width::Bits32)? != 0, draw_if),
        operation => return Err(Refusal::Predication { operation }),
    };
    let before = match cx.machine().predicate {
        Predicate::Set { found, .. } if packet.flag(F::CONTINUE) => found,
        _ => false,
    };
    Ok(Predicate::Set { found: found || before, wanted })
}

/// Whether between the two samples of a 32-byte block more primitives were needed than were written.
fn overflowed(cx: &mut Context<'_>, packet: &Packet<'_>, address: u64) -> Result<bool, Refusal> {
    aligned(packet, address, 16)?;
    let mut block = [0u8; 32];
    cx.read(address, &mut block)?;
    let words: &[[u8; 8]] = block.as_chunks().0;
    let [needed0, written0, needed1, written1] = [0, 1, 2, 3].map(|i| u64::from_le_bytes(words[i]));
    Ok(written1.wrapping_sub(written0) != needed1.wrapping_sub(needed0))
}
