//! Words of memory instructions whose addresses stay inside the environment's memory.

use guestwave_isa::gfx10::{Encoding, OpRow};

use super::dice::Dice;
use super::encode::registers::{
    DATA, IMAGE, INPUT, INPUT_BUFFER, LANE, OUTPUT, OUTPUT_BUFFER, OWN, OWN_LDS, SCALARS, SHARED, WILD,
};

const NULL: u32 = 125;
const ZERO: u32 = 128;

/// Formats of one to four components of 8 to 32 bits, normalised, scaled, integers and floats.
const FORMATS: [u32; 14] = [1, 4, 5, 7, 13, 20, 22, 29, 31, 36, 56, 60, 64, 77];

/// Words of a memory instruction; loads reach the input or the wave's own memory, stores that only.
pub(super) fn words(row: &OpRow, op: u32, d: &mut Dice) -> Option<[u32; 2]> {
    let name = row.op.name();
    let stores = name.contains("store") || name.contains("atomic") || name.contains("write");
    match row.encoding {
        Encoding::Ds => Some(lds(op, d)),
        Encoding::Global => Some(global(op, stores, d)),
        Encoding::Scratch => Some(scratch(op, d)),
        Encoding::Mubuf | Encoding::Mtbuf => Some(buffer(row.encoding, op, stores, d)),
        Encoding::Smem => Some(scalar(op, stores, d)),
        Encoding::Mimg if !stores => Some(image(op, d)),
        _ => None,
    }
}

fn lds(op: u32, d: &mut Dice) -> [u32; 2] {
    let address = d.one(&[OWN_LDS, OWN_LDS, SHARED]);
    let offsets = if d.once_in(2) { 0 } else { (d.below(4) * 8) | (d.below(2) << 11) };
    let data = [d.within(DATA), d.within(DATA), d.within(DATA)];
    [0xd800_0000 | op << 18 | offsets, address | data[0] << 8 | data[1] << 16 | data[2] << 24]
}

/// An offset of the instruction that keeps accesses of 16 bytes in the lane's 64.
fn offset(d: &mut Dice) -> u32 {
    d.below(4) * 16
}

fn global(op: u32, stores: bool, d: &mut Dice) -> [u32; 2] {
    let base = if stores || d.once_in(3) { OUTPUT } else { INPUT };
    let address = if d.once_in(4) { SHARED } else { OWN };
    let glc = d.below(2) << 16;
    let (data, to) = (d.within(DATA), d.within(DATA));
    [0xdc00_8000 | op << 18 | glc | offset(d), address | data << 8 | base << 16 | to << 24]
}

fn scratch(op: u32, d: &mut Dice) -> [u32; 2] {
    let (data, to) = (d.within(DATA), d.within(DATA));
    [0xdc00_4000 | op << 18 | offset(d), LANE | data << 8 | NULL << 16 | to << 24]
}

fn buffer(encoding: Encoding, op: u32, stores: bool, d: &mut Dice) -> [u32; 2] {
    let descriptor = if stores || d.once_in(3) { OUTPUT_BUFFER } else { INPUT_BUFFER };
    // IDXEN is bit 13, OFFEN bit 12: an index of the lane's own, any index, an offset of the lane's own.
    let (address, enables) = match (stores, d.below(3)) {
        (true, _) => (LANE, 1 << 13),
        (_, 0) => (WILD, 1 << 13),
        (_, 1) => (WILD, 1 << 12),
        _ => (OWN, 1 << 12),
    };
    let (data, glc) = (d.within(DATA), d.below(2) << 14);
    let second = address | data << 8 | (descriptor / 4) << 16 | ZERO << 24;
    let offset = offset(d);
    match encoding {
        Encoding::Mubuf => [0xe000_0000 | op << 18 | enables | glc | offset, second],
        _ => {
            let format = d.one(&FORMATS) << 19;
            [0xe800_0000 | format | (op & 7) << 16 | enables | glc | offset, second | (op >> 3) << 21]
        }
    }
}

fn scalar(op: u32, stores: bool, d: &mut Dice) -> [u32; 2] {
    let base = match (stores, d.once_in(2)) {
        (true, true) => OUTPUT,
        (true, false) => OUTPUT_BUFFER,
        (false, true) => INPUT,
        (false, false) => INPUT_BUFFER,
    };
    // Four registers of data fit; more would reach what must be kept.
    let data = SCALARS.start + 4 * d.below(3);
    let glc = d.below(2) << 16;
    [0xf400_0000 | op << 18 | glc | data << 6 | base >> 1, (d.below(16) << 3) | (NULL << 25)]
}

/// Two-dimensional texels of the input, in it and outside.
fn image(op: u32, d: &mut Dice) -> [u32; 2] {
    let (masks, to) = (1 + d.below(15), d.within(DATA.start..DATA.end - 4));
    let address = d.one(&[LANE, WILD]);
    let low = op & 0x7f;
    [0xf000_0000 | low << 18 | op >> 7 | masks << 8 | 1 << 3, address | to << 8 | (IMAGE / 4) << 16]
}
