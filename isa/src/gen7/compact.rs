//! Compacted instructions: 8 bytes that stand for 16.

use super::table::compaction_of;

/// Bits `hi` to `lo` of an instruction word.
pub(super) const fn bits(word: u128, hi: u32, lo: u32) -> u32 {
    let width = hi - lo + 1;
    (word >> lo & ((1 << width) - 1)) as u32
}

/// Register file of immediates.
const IMMEDIATE: u32 = 3;
/// Fields that keep their meaning: bits of the compacted instruction, and where they go.
const KEPT: [(u32, u32, u32); 6] =
    [(6, 0, 0), (7, 7, 7), (23, 23, 28), (27, 24, 24), (47, 40, 53), (55, 48, 69)];

/// The instruction that a compacted one stands for.
pub(super) fn expand(compacted: u64) -> u128 {
    let from = u128::from(compacted);
    let mut word = 0;
    let mut put = |lo: u32, value: u32| word |= u128::from(value) << lo;
    for (hi, lo, to) in KEPT {
        put(to, bits(from, hi, lo));
    }
    let control = compaction_of(bits(from, 12, 8)).control;
    put(8, control & 0xffff);
    put(31, control >> 16 & 1);
    put(89, control >> 17);
    let datatype = compaction_of(bits(from, 17, 13)).datatype;
    put(32, datatype & 0x7fff);
    put(61, datatype >> 15);
    let subreg = compaction_of(bits(from, 22, 18)).subreg;
    put(48, subreg & 0x1f);
    put(64, subreg >> 5 & 0x1f);
    put(77, compaction_of(bits(from, 34, 30)).source);
    let files = [bits(u128::from(datatype), 6, 5), bits(u128::from(datatype), 11, 10)];
    let (index, number) = (bits(from, 39, 35), bits(from, 63, 56));
    match files.contains(&IMMEDIATE) {
        true => put(96, sign_extend(index << 8 | number, 13)),
        false => {
            put(96, subreg >> 10);
            put(101, number);
            put(109, compaction_of(index).source);
        }
    }
    word
}

/// The number that the low `width` bits are in two's complement, as 32 bits.
fn sign_extend(value: u32, width: u32) -> u32 {
    ((value << (32 - width)) as i32 >> (32 - width)) as u32
}
