//! Packets that load registers from memory.

use super::context::{Context, Flow};
use super::packet::{Handled, Packet, body};
use super::place::aligned;
use super::registers::Register;
use super::streamout_unit::check_registers;
use crate::Refusal;

/// The most dwords that one packet loads: more than all registers of the largest space.
const MAX_DWORDS: usize = 1 << 15;

/// A run of registers to load and where its dwords are.
#[derive(Clone, Copy)]
struct Run {
    first: Register,
    address: u64,
    count: u32,
}

/// A run, or why it is refused.
type Checked = Result<Run, Refusal>;

/// LOAD_UCONFIG_REG, LOAD_SH_REG, LOAD_CONTEXT_REG: ranges of an image that holds a whole space, a register at its
/// offset in the space.
pub(crate) fn load_ranges(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use body::LOAD_CONTEXT_REG as F;
    let base = packet.get64(F::BASE_LO, F::BASE_HI);
    let (pairs, rest) = packet.tail(F::RANGES).as_chunks::<2>();
    if let [odd] = rest {
        return Err(packet.bad("a range without a count", *odd));
    }
    let runs = pairs.iter().map(|[offset, count]| {
        let offset = offset & 0xffff;
        let address = base.wrapping_add(u64::from(offset) * 4);
        Ok(Run { first: packet.register(offset)?, address, count: count & 0x3fff })
    });
    load(cx, packet, runs)
}

/// LOAD_SH_REG_INDEX, LOAD_UCONFIG_REG_INDEX, LOAD_CONTEXT_REG_INDEX: consecutive dwords from the address itself.
pub(crate) fn load_index(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    use body::LOAD_CONTEXT_REG_INDEX as F;
    for (name, field) in [("INDEX", F::INDEX), ("DATA_FORMAT", F::DATA_FORMAT)] {
        if packet.flag(field) {
            return Err(packet.bad(name, 1));
        }
    }
    let address = u64::from(packet.get(F::ADDRESS_LO)) << 2 | u64::from(packet.get(F::ADDRESS_HI)) << 32;
    let first = packet.register(packet.get(F::REG_OFFSET))?;
    load(cx, packet, std::iter::once(Ok(Run { first, address, count: packet.get(F::NUM_DWORDS) })))
}

/// Loads every run, or none: all are read and checked before a register changes.
fn load(cx: &mut Context<'_>, packet: &Packet<'_>, runs: impl Iterator<Item = Checked> + Clone) -> Handled {
    let mut words = std::mem::take(&mut cx.scratch.dwords);
    let result = fetch(cx, packet, runs.clone(), &mut words).and_then(|()| set(cx, packet, runs, &words));
    cx.scratch.dwords = words;
    result.map(|()| Flow::Next)
}

fn fetch(
    cx: &mut Context<'_>,
    packet: &Packet<'_>,
    runs: impl Iterator<Item = Checked>,
    words: &mut Vec<u32>,
) -> Result<(), Refusal> {
    words.clear();
    for run in runs {
        let Run { first, address, count } = run?;
        aligned(packet, address, 4)?;
        check_registers(first, count as usize)?;
        cx.registers().run(first, count as usize)?;
        let start = words.len();
        if start + count as usize > MAX_DWORDS {
            return Err(packet.bad("NUM_DWORDS of all ranges", (start as u32).saturating_add(count)));
        }
        words.resize(start + count as usize, 0);
        cx.read_words(address, &mut words[start..])?;
    }
    Ok(())
}

fn set(
    cx: &mut Context<'_>,
    packet: &Packet<'_>,
    runs: impl Iterator<Item = Checked>,
    words: &[u32],
) -> Result<(), Refusal> {
    let mut rest = words;
    for run in runs {
        let run = run?;
        let (now, later) = rest.split_at(run.count as usize);
        cx.set_registers(packet.at, run.first, now)?;
        rest = later;
    }
    Ok(())
}
