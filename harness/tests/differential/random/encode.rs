//! Instruction words from an opcode and random fields.

use guestwave_isa::gfx10::{Encoding, OpRow};

use super::dice::Dice;

/// The registers of the environment that instructions may use.
pub(super) mod registers {
    use std::ops::Range;

    /// Vector registers with data.
    pub(crate) const DATA: Range<u32> = 0..8;
    /// Counters of loops.
    pub(crate) const COUNTERS: u32 = 8;
    /// Vector registers that programs change.
    pub(crate) const CHANGED: u32 = 11;
    /// Any index.
    pub(crate) const WILD: u32 = 11;
    /// The lane's number.
    pub(crate) const LANE: u32 = 12;
    /// A byte offset of the lane's own in global memory, a multiple of 64.
    pub(crate) const OWN: u32 = 13;
    /// A byte offset of the lane's own in LDS, a multiple of 16.
    pub(crate) const OWN_LDS: u32 = 14;
    /// Byte offsets that lanes share, multiples of 8.
    pub(crate) const SHARED: u32 = 15;
    /// The lane's number in the dispatch.
    pub(crate) const ITEM: u32 = 16;

    /// Address of what is only read; address of the wave's own memory.
    pub(crate) const INPUT: u32 = 0;
    pub(crate) const OUTPUT: u32 = 2;
    /// Descriptors: of the input, of the wave's own memory, and of the input as an image.
    pub(crate) const INPUT_BUFFER: u32 = 4;
    pub(crate) const OUTPUT_BUFFER: u32 = 8;
    pub(crate) const IMAGE: u32 = 12;
    /// Scalar registers with data.
    pub(crate) const SCALARS: Range<u32> = 20..36;
    /// EXEC as it was before a branch, two registers a depth.
    pub(crate) const SAVED: u32 = 40;
    /// Counters of uniform loops.
    pub(crate) const SCALAR_COUNTERS: u32 = 60;
}

use registers::{DATA, SCALARS};

const VCC: u32 = 106;
const NULL: u32 = 125;
const EXEC: u32 = 126;
const LITERAL: u32 = 255;
const SDWA: u32 = 249;
const DPP16: u32 = 250;
const DPP8: u32 = 233;
const VGPR: u32 = 256;

/// Bits of a literal that are worth a try.
const LITERALS: [u32; 10] =
    [0, 1, 0xffff_ffff, 0x8000_0000, 0x7f80_0000, 0x7fc0_0001, 0x0000_0001, 0x3f80_0000, 0x7bff, 0x1f];

/// A scalar source: a register with data, VCC, EXEC, a constant or a literal.
fn scalar_source(d: &mut Dice) -> u32 {
    match d.below(12) {
        0..6 => d.within(SCALARS) & !1,
        6 => VCC,
        7 => EXEC,
        8 => LITERAL,
        9 => NULL,
        _ => d.within(128..249),
    }
}

fn vector_source(d: &mut Dice) -> u32 {
    if d.once_in(3) { scalar_source(d) } else { VGPR + d.within(DATA) }
}

fn scalar_destination(d: &mut Dice) -> u32 {
    match d.below(16) {
        0 | 1 => VCC,
        2 => EXEC,
        _ => d.within(SCALARS) & !1,
    }
}

/// The dword of a DPP or SDWA form behind the source codes that stand for it, or a plain source.
fn lane_form(d: &mut Dice) -> (u32, Option<u32>) {
    let source = d.within(DATA);
    let bits = |d: &mut Dice, n: u32| d.word() & ((1 << n) - 1);
    match d.below(10) {
        0 => {
            let ctrl = [0x1b, 0x4e, 0xb1, 0x101, 0x113, 0x12f, 0x140, 0x141, 0x152, 0x161, 0xe4];
            let ctrl = ctrl[d.below(ctrl.len() as u32) as usize];
            let masks = if d.once_in(2) { 0xff } else { bits(d, 8) };
            (DPP16, Some(source | ctrl << 8 | bits(d, 2) << 18 | bits(d, 4) << 20 | masks << 24))
        }
        1 => (DPP8 + bits(d, 1), Some(source | bits(d, 24) << 8)),
        2 => {
            let part = |d: &mut Dice| d.below(7);
            let (to, unused, first, second) = (part(d), d.below(3), part(d), part(d));
            let word = source | to << 8 | unused << 11 | bits(d, 1) << 13 | first << 16 | second << 24;
            (SDWA, Some(word | bits(d, 3) << 19 | bits(d, 3) << 27))
        }
        _ => (vector_source(d), None),
    }
}

/// Words that begin with an instruction of a row's opcode, with random operands and modifiers; often none that decodes.
pub(super) fn words(row: &OpRow, d: &mut Dice) -> Option<Vec<u32>> {
    let op = u32::from(row.opcode);
    let mut tail = None;
    let first = match row.encoding {
        Encoding::Sop2 => {
            0x8000_0000 | op << 23 | scalar_destination(d) << 16 | scalar_source(d) << 8 | scalar_source(d)
        }
        Encoding::Sop1 => 0xbe80_0000 | scalar_destination(d) << 16 | op << 8 | scalar_source(d),
        Encoding::Sopc => 0xbf00_0000 | op << 16 | scalar_source(d) << 8 | scalar_source(d),
        Encoding::Sopk => 0xb000_0000 | op << 23 | scalar_destination(d) << 16 | d.word() & 0xffff,
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => {
            let (source, form) = lane_form(d);
            tail = form;
            source | vector_fields(row.encoding, op, d)
        }
        Encoding::Vop3 | Encoding::Vop3p => return Some(long_form(row.encoding, op, d).to_vec()),
        _ => return super::memory::words(row, op, d).map(|words| words.to_vec()),
    };
    // What no field asks for is no part of the instruction.
    Some(vec![first, tail.unwrap_or_else(|| d.one(&LITERALS))])
}

fn vector_fields(encoding: Encoding, op: u32, d: &mut Dice) -> u32 {
    let (to, second) = (d.within(DATA), d.within(DATA));
    match encoding {
        Encoding::Vop1 => 0x7e00_0000 | to << 17 | op << 9,
        Encoding::Vopc => 0x7c00_0000 | op << 17 | second << 9,
        _ => op << 25 | to << 17 | second << 9,
    }
}

/// VOP3 and VOP3P. A VOP3B's scalar destination stands where others have ABS and OP_SEL.
fn long_form(encoding: Encoding, op: u32, d: &mut Dice) -> [u32; 3] {
    let top = if encoding == Encoding::Vop3 { 0xd400_0000 } else { 0xcc00_0000 };
    let to = if d.once_in(2) { d.within(DATA) } else { scalar_destination(d) & 0xff };
    let modifiers = match d.below(4) {
        0 => d.word() & 0xff,
        1 => scalar_destination(d),
        _ => 0,
    };
    let halves = if encoding == Encoding::Vop3p { 1 << 14 } else { 0 };
    let first = top | op << 16 | halves | modifiers << 8 | to;
    let sources = vector_source(d) | vector_source(d) << 9 | vector_source(d) << 18;
    let output = match (encoding, d.below(3)) {
        (Encoding::Vop3p, 0) => d.word() & 31,
        (Encoding::Vop3p, _) => 3,
        (_, 0) => d.word() & 31,
        _ => 0,
    };
    [first, sources | output << 27, d.one(&LITERALS)]
}
