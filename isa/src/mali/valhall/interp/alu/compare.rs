//! Comparisons and selections by them.

use std::cmp::Ordering;

use super::float::value;
use super::{Lane, Meaning, mask};
use crate::mali::valhall::{Op, field};
use Meaning::Each;

/// Which outcomes of a comparison each condition code accepts: less, equal, greater, unordered.
const CONDITIONS: [[bool; 4]; 8] = [
    [false, true, false, false],
    [false, false, true, false],
    [false, true, true, false],
    [true, false, true, true],
    [true, false, false, false],
    [true, true, false, false],
    [true, false, true, false],
    [true, true, true, false],
];

/// How the first two sources of `lane` compare.
fn order(lane: &Lane<'_>) -> Option<Ordering> {
    if !lane.inst.row.from.float() {
        return Some(lane.number(0).cmp(&lane.number(1)));
    }
    let [a, b] = [0, 1].map(|i: usize| value(lane.s[i], lane.inst.row.from));
    a.partial_cmp(&b)
}

fn holds(lane: &Lane<'_>) -> bool {
    let code = field::CONDITION.of(lane.inst.word) as usize;
    let outcome = match order(lane) {
        Some(Ordering::Less) => 0,
        Some(Ordering::Equal) => 1,
        Some(Ordering::Greater) => 2,
        None => 3,
    };
    CONDITIONS[code & 7][outcome]
}

/// A truth as the instruction writes it. `u1` never comes here.
fn truth(lane: &Lane<'_>, holds: bool) -> u64 {
    let ty = lane.ty();
    let yes = match (field::RESULT.of(lane.inst.word), ty.bits()) {
        (0, _) => 1,
        (1, 32) => u64::from(1f32.to_bits()),
        (1, _) => 0x3c00,
        _ => mask(ty),
    };
    if holds { yes } else { 0 }
}

fn accumulated(lane: &Lane<'_>) -> bool {
    lane.s[2] & mask(lane.ty()) != 0
}

fn or(lane: &Lane<'_>) -> u64 {
    truth(lane, holds(lane) || accumulated(lane))
}

fn and(lane: &Lane<'_>) -> u64 {
    truth(lane, holds(lane) && accumulated(lane))
}

fn select(lane: &Lane<'_>) -> u64 {
    if holds(lane) { lane.s[2] } else { lane.s[3] }
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::Csel, Each(select)),
    (Op::IcmpOr, Each(or)),
    (Op::IcmpAnd, Each(and)),
    (Op::FcmpOr, Each(or)),
    (Op::FcmpAnd, Each(and)),
];
