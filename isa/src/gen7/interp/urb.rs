//! Messages to shared functions: URB writes, and the names of the others.

use super::super::error::Refusal;
use super::super::inst::{File, Inst};
use super::operand::Registers;

/// Shared functions by number.
const FUNCTIONS: [&str; 16] = [
    "no function",
    "function 1",
    "the sampler",
    "the message gateway",
    "the sampler cache's data port",
    "the render cache's data port",
    "the URB",
    "the thread spawner",
    "the video motion estimator",
    "the constant cache's data port",
    "the data cache's data port",
    "the pixel interpolator",
    "the second data cache's data port",
    "the check and refinement engine",
    "function 14",
    "function 15",
];
const URB: u8 = 6;
/// Slots of a unit of the message's offset.
const SLOTS: u32 = 2;

/// What a descriptor must say: what it is, its bits, and their value.
const WRITES_PAIRS: [(&str, u32, u32, u32); 4] = [
    ("opcode", 2, 0, 0),
    ("swizzle control", 14, 14, 1),
    ("per-slot offset", 16, 16, 0),
    ("header", 19, 19, 1),
];

/// One vertex's entry: its slots of four dwords.
pub(super) type Entry = Vec<[u32; 4]>;

fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    word >> lo & (u32::MAX >> (31 - hi + lo))
}

/// Carries a message out; `true` if it ends the thread.
///
/// # Errors
/// A message of a kind that is not carried out.
pub(super) fn send(inst: &Inst, registers: &Registers, entries: &mut [Entry; 2]) -> Result<bool, Refusal> {
    let pc = inst.pc;
    let (function, descriptor) = inst.message;
    if function != URB {
        return Err(Refusal::Message { pc, function: FUNCTIONS[usize::from(function & 15)] });
    }
    let Some(descriptor) = descriptor else {
        return Err(Refusal::Operand { pc, what: "a message descriptor in a register" });
    };
    if inst.src[0].file != File::General {
        return Err(Refusal::Operand { pc, what: "a message that is not in general registers" });
    }
    for (what, hi, lo, value) in WRITES_PAIRS {
        if bits(descriptor, hi, lo) != value {
            return Err(Refusal::Urb { pc, what, value: bits(descriptor, hi, lo) });
        }
    }
    write(inst, registers, entries, descriptor)?;
    Ok(inst.ends_thread())
}

/// Each register behind the header holds a slot of either vertex; the header says whose entries they are and which
/// components are written.
fn write(
    inst: &Inst,
    registers: &Registers,
    entries: &mut [Entry; 2],
    descriptor: u32,
) -> Result<(), Refusal> {
    let pc = inst.pc;
    let header = usize::from(inst.src[0].register);
    let length = bits(descriptor, 28, 25).saturating_sub(1);
    let first = bits(descriptor, 13, 3) * SLOTS;
    let mask = registers.dword(header, 5) >> 8;
    for vertex in 0..2 {
        let handle = registers.dword(header, vertex);
        let entry = entries.get_mut(handle as usize);
        let entry = entry.ok_or(Refusal::Urb { pc, what: "handle", value: handle })?;
        for row in 0..length {
            let (slot, slots) = (first + row, entry.len() as u32);
            let words = entry.get_mut(slot as usize).ok_or(Refusal::UrbRange { pc, slot, slots })?;
            for component in (0..4).filter(|c| mask >> (4 * vertex + c) & 1 != 0) {
                words[component] = registers.dword(header + 1 + row as usize, 4 * vertex + component);
            }
        }
    }
    Ok(())
}
