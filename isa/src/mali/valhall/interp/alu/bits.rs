//! Moves, selections, shifts and bit counts.

use super::{Args, Lane, Meaning, mask, number};
use crate::mali::valhall::{Op, field};
use Meaning::{Each, Whole};

fn shift_amount(lane: &Lane<'_>) -> u32 {
    lane.s[1] as u32 % u32::from(lane.ty().bits())
}

fn left(lane: &Lane<'_>) -> u64 {
    lane.s[0] << shift_amount(lane)
}

fn right(lane: &Lane<'_>) -> u64 {
    let bits = lane.s[0] & mask(lane.ty());
    if lane.inst.code(&field::SIGNED) == 0 {
        return bits >> shift_amount(lane);
    }
    let unused = 64 - u32::from(lane.ty().bits());
    ((bits << unused) as i64 >> unused >> shift_amount(lane)) as u64
}

fn inverted(lane: &Lane<'_>, result: u64) -> u64 {
    if lane.inst.code(&field::NOT_RESULT) == 0 { result } else { !result }
}

fn mux(lane: &Lane<'_>) -> u64 {
    let [a, b, select, _] = lane.s;
    let sign = (mask(lane.ty()) >> 1) + 1;
    let select = select & mask(lane.ty());
    let first = match lane.inst.code(&field::MUX) {
        0 => select & sign != 0,
        1 => select == 0,
        2 => select & !sign == 0,
        _ => return a & select | b & !select,
    };
    if first { a } else { b }
}

fn leading_zeros(lane: &Lane<'_>) -> u64 {
    let bits = u32::from(lane.ty().bits());
    u64::from((lane.s[0] & mask(lane.ty())).leading_zeros() - (64 - bits))
}

fn magnitude(lane: &Lane<'_>) -> u64 {
    number(lane.s[0], lane.ty()).unsigned_abs() as u64
}

fn make_halves(args: &Args<'_>) -> u64 {
    (args.sources[0][0] & 0xffff) | (args.sources[1][0] & 0xffff) << 16
}

fn make_bytes(args: &Args<'_>) -> u64 {
    let [a, b, rest, _] = [0, 1, 2, 3].map(|i: usize| args.sources[i][0]);
    (a & 0xff) | (b & 0xff) << 8 | (rest & 0xffff) << 16
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::Mov, Each(|l| l.s[0])),
    (Op::Not, Each(|l| !l.s[0])),
    (Op::Mux, Each(mux)),
    (Op::Clz, Each(leading_zeros)),
    (Op::Iabs, Each(magnitude)),
    (Op::Popcount, Each(|l| u64::from(l.s[0].count_ones()))),
    (Op::BitReverse, Each(|l| u64::from((l.s[0] as u32).reverse_bits()))),
    (Op::LshiftAnd, Each(|l| inverted(l, left(l) & l.s[2]))),
    (Op::LshiftOr, Each(|l| inverted(l, left(l) | l.s[2]))),
    (Op::LshiftXor, Each(|l| inverted(l, left(l) ^ l.s[2]))),
    (Op::RshiftAnd, Each(|l| inverted(l, right(l) & l.s[2]))),
    (Op::RshiftOr, Each(|l| inverted(l, right(l) | l.s[2]))),
    (Op::RshiftXor, Each(|l| inverted(l, right(l) ^ l.s[2]))),
    (Op::MakeHalves, Whole(make_halves)),
    (Op::MakeBytes, Whole(make_bytes)),
];
