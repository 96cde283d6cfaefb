//! Integer arithmetic.

use super::{Args, Lane, Meaning, mask};
use crate::mali::valhall::{Op, field};
use Meaning::{Each, Whole};

/// A result cut to its type, or saturated to its range.
fn settled(lane: &Lane<'_>, exact: i128) -> u64 {
    if lane.inst.code(&field::SATURATE) == 0 {
        return exact as u64;
    }
    let (ty, most) = (lane.ty(), i128::from(mask(lane.ty())));
    let (low, high) = if ty.signed() { (-(most >> 1) - 1, most >> 1) } else { (0, most) };
    exact.clamp(low, high) as u64
}

fn add(lane: &Lane<'_>) -> u64 {
    settled(lane, lane.number(0) + lane.number(1))
}

fn subtract(lane: &Lane<'_>) -> u64 {
    settled(lane, lane.number(0) - lane.number(1))
}

/// Factors have at most 32 bits, so the product is exact.
fn multiply(lane: &Lane<'_>) -> u64 {
    settled(lane, lane.number(0) * lane.number(1))
}

fn halved_sum(lane: &Lane<'_>) -> u64 {
    let up = i128::from(lane.inst.code(&field::RHADD));
    ((lane.number(0) + lane.number(1) + up) >> 1) as u64
}

fn shifted_add(lane: &Lane<'_>) -> u64 {
    let by = lane.inst.immediate("shift");
    lane.s[0].wrapping_add(lane.s[1] << by)
}

fn multiply_wide(args: &Args<'_>) -> u64 {
    let [a, b] = [0, 1].map(|i: usize| args.sources[i][0] & 0xffff_ffff);
    a.wrapping_mul(b)
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::Iadd, Each(add)),
    (Op::Isub, Each(subtract)),
    (Op::Imul, Each(multiply)),
    (Op::Hadd, Each(halved_sum)),
    (Op::ShiftAdd, Each(shifted_add)),
    (Op::ImulWide, Whole(multiply_wide)),
];
