//! DS operations that move values between lanes and touch no memory.

use super::offsets;
use crate::gfx10::Op;
use crate::gfx10::interp::StopKind;
use crate::gfx10::interp::machine::{Flow, Machine};
use crate::gfx10::interp::meaning::Meaning;
use crate::gfx10::interp::slot::Slot;
use crate::gfx10::interp::wave::{LaneWords, lanes_of};

pub(in crate::gfx10::interp) const ROWS: &[(Op, Meaning)] = &[
    (Op::DS_SWIZZLE_B32, Meaning::Special(swizzle)),
    (Op::DS_PERMUTE_B32, Meaning::Special(permute)),
    (Op::DS_BPERMUTE_B32, Meaning::Special(bpermute)),
];

/// Lanes among which permutations move values; a wave64 is two such halves.
const HALF: usize = 32;

/// Offsets from here on select rotation or the FFT pattern.
const ROTATE: u16 = 0xc000;
/// Offsets from here on up to [`ROTATE`] permute quads.
const QUAD_PERMUTE: u16 = 0x8000;

/// The vector registers of an operation: destination and first source.
fn registers(slot: &Slot) -> Result<(u8, u8), StopKind> {
    match (slot.vector_destination(), slot.vector_source(0)) {
        (Some(destination), Some(source)) => Ok((destination, source)),
        _ => Err(slot.form("operands that are no vector registers")),
    }
}

fn data_register(slot: &Slot) -> Result<u8, StopKind> {
    slot.vector_source(1).ok_or_else(|| slot.form("no data register"))
}

/// Writes a value to each active lane.
fn write(m: &mut Machine<'_>, number: u8, values: &LaneWords) -> Result<Flow, StopKind> {
    for lane in lanes_of(m.wave.exec()) {
        m.wave.set_vgpr(number, lane, values[lane]);
    }
    Ok(Flow::Next)
}

/// Inactive lanes read as 0.
fn swizzle(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let (low, high) = offsets(slot)?;
    let pattern = u16::from_le_bytes([low, high]);
    if pattern >= ROTATE {
        return Err(slot.form("a rotation or FFT pattern"));
    }
    let (destination, source) = registers(slot)?;
    let (exec, data) = (m.wave.exec(), *m.wave.vgpr_all(source));
    let values = std::array::from_fn(|lane| {
        let from = swizzle_source(pattern, lane);
        if exec >> from & 1 != 0 { data[from] } else { 0 }
    });
    write(m, destination, &values)
}

/// The lane that `lane` reads: permuted within its four, or masked within its 32.
fn swizzle_source(pattern: u16, lane: usize) -> usize {
    if pattern >= QUAD_PERMUTE {
        return lane & !3 | usize::from(pattern >> (2 * (lane & 3)) & 3);
    }
    let field = |shift: u16| usize::from(pattern >> shift & 31);
    lane & HALF | ((lane & field(0)) | field(5)) ^ field(10)
}

/// The lane that an address names, in the half of `lane`.
fn addressed(address: u32, offset: u32, lane: usize) -> usize {
    (address.wrapping_add(offset) / 4) as usize % HALF + lane / HALF * HALF
}

/// Each lane sends its data to a lane; of several senders the last one stands, and lanes that nobody sends to get 0.
fn permute(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let (offset, (destination, address), data) = (offset(slot)?, registers(slot)?, data_register(slot)?);
    let mut values = [0; 64];
    for lane in lanes_of(m.wave.exec()) {
        values[addressed(m.wave.vgpr(address, lane), offset, lane)] = m.wave.vgpr(data, lane);
    }
    write(m, destination, &values)
}

/// Each lane reads the data of a lane; inactive lanes read as 0.
fn bpermute(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let (offset, (destination, address), data) = (offset(slot)?, registers(slot)?, data_register(slot)?);
    let exec = m.wave.exec();
    let values = std::array::from_fn(|lane| {
        let from = addressed(m.wave.vgpr(address, lane), offset, lane);
        if exec >> from & 1 != 0 { m.wave.vgpr(data, from) } else { 0 }
    });
    write(m, destination, &values)
}

fn offset(slot: &Slot) -> Result<u32, StopKind> {
    let (low, high) = offsets(slot)?;
    Ok(u16::from_le_bytes([low, high]).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swizzle_patterns() {
        for (pattern, lane, from) in [
            // Quad permutation 3, 2, 1, 0.
            (0x8000 | 0b00_01_10_11, 5, 6),
            // And with all, xor with 1: swaps neighbours.
            (0x041f, 6, 7),
            // Broadcast lane 3 of each 32.
            (3 << 5, 40, 35),
            // Reverse 8 lanes.
            (7 << 10 | 0x1f, 10, 13),
        ] {
            assert_eq!(swizzle_source(pattern, lane), from, "{pattern:#x}");
        }
    }
}
