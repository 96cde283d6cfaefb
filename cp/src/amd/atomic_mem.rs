//! ATOMIC_MEM: one integer atomic on memory.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};
use super::place::{Place, Width};
use crate::Refusal;

use body::ATOMIC_MEM as F;

/// One operation: the new value from the old one, the source and the comparand, all of the same width.
struct Operation {
    /// The low five bits of OP; bit 5 chooses 64 bits, bit 6 returns nothing.
    op: u32,
    apply: fn(Width, u64, u64, u64) -> u64,
}

/// `value` as a signed number of this width.
fn signed(width: Width, value: u64) -> i64 {
    match width {
        Width::Bits32 => i64::from(value as u32 as i32),
        Width::Bits64 => value as i64,
    }
}

/// The integer operations of the texture cache's TC_OP numbers (PAL's headers). Floating-point ones are refused.
static OPERATIONS: [Operation; 13] = [
    Operation { op: 7, apply: |_, _, source, _| source },
    Operation { op: 8, apply: |_, old, source, compare| if old == compare { source } else { old } },
    Operation { op: 15, apply: |_, old, source, _| old.wrapping_add(source) },
    Operation { op: 16, apply: |_, old, source, _| old.wrapping_sub(source) },
    Operation {
        op: 17,
        apply: |w, old, source, _| if signed(w, source) < signed(w, old) { source } else { old },
    },
    Operation { op: 18, apply: |_, old, source, _| old.min(source) },
    Operation {
        op: 19,
        apply: |w, old, source, _| if signed(w, source) > signed(w, old) { source } else { old },
    },
    Operation { op: 20, apply: |_, old, source, _| old.max(source) },
    Operation { op: 21, apply: |_, old, source, _| old & source },
    Operation { op: 22, apply: |_, old, source, _| old | source },
    Operation { op: 23, apply: |_, old, source, _| old ^ source },
    Operation { op: 24, apply: |_, old, source, _| if old >= source { 0 } else { old + 1 } },
    Operation { op: 25, apply: |_, old, source, _| if old == 0 || old > source { source } else { old - 1 } },
];

/// ATOMIC_MEM. COMMAND 1 repeats until the comparand is found, which is a wait. A write by another thread between the
/// read and the write is lost: [`GuestMemory`](crate::GuestMemory) has no atomic access.
pub(crate) fn atomic_mem(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    const LOOP: u32 = 1;
    let op = packet.get(F::OP);
    let operation = OPERATIONS.iter().find(|o| o.op == op & 0x1f).ok_or_else(|| packet.bad("OP", op))?;
    let width = Width::wide(op & 0x20 != 0);
    let command = packet.get(F::COMMAND);
    if command > LOOP {
        return Err(packet.bad("COMMAND", command));
    }
    let source = width.cut(packet.get64(F::SOURCE_LO, F::SOURCE_HI));
    let compare = width.cut(packet.get64(F::COMPARE_LO, F::COMPARE_HI));
    let address = packet.get64(F::ADDRESS_LO, F::ADDRESS_HI);
    let value = Place::Memory(address).read(cx, packet, width)?;
    if command == LOOP && value != compare {
        return Err(Refusal::AtomicLoop { address, value, compare });
    }
    Place::Memory(address).write(cx, packet, width, (operation.apply)(width, value, source, compare))?;
    Ok(Flow::Next)
}
