//! WAIT_REG_MEM, WAIT_REG_MEM64 and REWIND.
//!
//! A wait is judged once all programs before it have run. Nothing else on this ring can make it hold then; another
//! thread may, and the embedder's hook decides whether to judge again.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};
use super::place::{Place, Width, by_space};
use super::registers::family;
use crate::{Refusal, WaitEvent, WaitPlace};

/// One comparison of waits and conditional writes, by its number.
pub(super) struct Function {
    pub(super) sign: &'static str,
    pub(super) holds: fn(u64, u64) -> bool,
}

/// FUNCTION, 0 to 6.
static FUNCTIONS: [Function; 7] = [
    Function { sign: "anything", holds: |_, _| true },
    Function { sign: "<", holds: |a, b| a < b },
    Function { sign: "<=", holds: |a, b| a <= b },
    Function { sign: "==", holds: |a, b| a == b },
    Function { sign: "!=", holds: |a, b| a != b },
    Function { sign: ">=", holds: |a, b| a >= b },
    Function { sign: ">", holds: |a, b| a > b },
];

/// The comparison of a FUNCTION field.
pub(super) fn function(packet: &Packet<'_>, function: u32) -> Result<&'static Function, Refusal> {
    FUNCTIONS
        .get(function as usize)
        .ok_or_else(|| Refusal::CompareFunction { packet: packet.name(), function })
}

/// What is waited for.
struct Wait {
    place: Place,
    width: Width,
    function: &'static Function,
    reference: u64,
    mask: u64,
}

/// WAIT_REG_MEM.
pub(crate) fn wait_reg_mem(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use body::WAIT_REG_MEM as F;
    let reference = u64::from(packet.get(F::REFERENCE));
    let mask = u64::from(packet.get(F::MASK));
    wait_for(cx, packet, Width::Bits32, reference, mask)
}

/// WAIT_REG_MEM64.
pub(crate) fn wait_reg_mem64(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use body::WAIT_REG_MEM64 as F;
    let reference = packet.get64(F::REFERENCE_LO, F::REFERENCE_HI);
    let mask = packet.get64(F::MASK_LO, F::MASK_HI);
    wait_for(cx, packet, Width::Bits64, reference, mask)
}

/// Both waits have their other fields in the same places. OPERATION: 0 wait, 3 a wait that other queues may
/// interrupt; 1 writes a register first.
fn wait_for(cx: &mut Context<'_>, packet: &Packet<'_>, width: Width, reference: u64, mask: u64) -> Handled {
    use body::WAIT_REG_MEM as F;
    let operation = packet.get(F::OPERATION);
    if !matches!(operation, 0 | 3) {
        return Err(packet.bad("OPERATION", operation));
    }
    let address = (F::POLL_ADDRESS_LO, F::POLL_ADDRESS_HI);
    let place = by_space(packet, "MEM_SPACE", packet.get(F::MEM_SPACE), address)?;
    let function = function(packet, packet.get(F::FUNCTION))?;
    Wait { place, width, function, reference, mask }.until_it_holds(cx, packet)
}

impl Wait {
    fn until_it_holds(&self, cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
        loop {
            let value = self.place.read(cx, packet, self.width)?;
            let held = (self.function.holds)(value & self.mask, self.reference);
            let event = WaitEvent { at: packet.at, place: self.observed(), value, held };
            cx.observe_wait(&event);
            if held {
                return Ok(Flow::Next);
            }
            if !cx.wait_again(&event) {
                return Err(self.refusal(value));
            }
        }
    }

    fn observed(&self) -> WaitPlace {
        match self.place {
            Place::Register(register) => WaitPlace::Register(register),
            Place::Memory(address) => WaitPlace::Memory(address),
        }
    }

    fn refusal(&self, value: u64) -> Refusal {
        let Wait { function, reference, mask, .. } = *self;
        match self.place {
            Place::Memory(address) => {
                Refusal::WaitMemory { address, value, function: function.sign, reference, mask }
            }
            Place::Register(register) => Refusal::WaitRegister {
                register: family(register),
                address: register.0,
                value,
                function: function.sign,
                reference,
                mask,
            },
        }
    }
}

/// REWIND: goes on once the packet in memory is valid, which it is or never becomes.
pub(crate) fn rewind(_: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    match packet.flag(body::REWIND::VALID) {
        true => Ok(Flow::Next),
        false => Err(Refusal::RewindInvalid {}),
    }
}
