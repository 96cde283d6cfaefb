//! Conversions between number formats, and rounding to integers.

use super::float::{clamped, encoded, nan, value};
use super::{Args, Lane, Meaning, mask};
use crate::format::half_of_single;
use crate::mali::valhall::{Op, Ty, field};
use Meaning::{Each, Whole};

/// A number as an integer in one of the four rounding modes.
fn integral(x: f64, mode: u32) -> f64 {
    match mode {
        0 => x.round_ties_even(),
        1 => x.ceil(),
        2 => x.floor(),
        _ => x.trunc(),
    }
}

fn to_integer(x: f64, ty: Ty) -> u64 {
    let most = mask(ty);
    let (low, high) = match ty.signed() {
        true => (-((most >> 1) as f64) - 1.0, (most >> 1) as f64),
        false => (0.0, most as f64),
    };
    if x.is_nan() { 0 } else { x.clamp(low, high) as i64 as u64 }
}

fn convert(lane: &Lane<'_>) -> u64 {
    let (from, to) = (lane.inst.row.from, lane.ty());
    let mode = lane.inst.code(&field::ROUND);
    match (from.float(), to.float()) {
        (true, true) => encoded(value(lane.s[0], from) as f32, to),
        (true, false) => to_integer(integral(value(lane.s[0], from), mode), to),
        (false, true) => encoded(lane.number(0) as f32, to),
        (false, false) => lane.number(0) as u64,
    }
}

fn round(lane: &Lane<'_>) -> u64 {
    let x = value(lane.s[0], lane.ty());
    encoded(integral(x, lane.inst.code(&field::ROUND)) as f32, lane.ty())
}

/// The f16 of an f32 in one of the four rounding modes.
fn half(single: f32, mode: u32) -> u64 {
    if single.is_nan() {
        return nan(Ty::F16);
    }
    let nearest = half_of_single(single.to_bits());
    let back = value(nearest.into(), Ty::F16);
    let x = f64::from(single);
    let up = mode == 1 || (mode == 3 && x < 0.0);
    let wrong = match mode {
        0 => false,
        _ if up => back < x,
        _ => back > x,
    };
    // The neighbour in the wanted direction: away from zero if that is the sign's own direction.
    let away = up != single.is_sign_negative();
    match (wrong, away) {
        (false, _) => nearest.into(),
        (true, true) => u64::from(nearest) + 1,
        (true, false) => u64::from(nearest).wrapping_sub(1) & 0xffff,
    }
}

fn pack(args: &Args<'_>) -> u64 {
    let mode = args.inst.code(&field::ROUND);
    let one = |i: usize| {
        let half = half(f32::from_bits(args.sources[i][0] as u32), mode);
        clamped(&Lane { inst: args.inst, s: [0; 4] }, half)
    };
    one(0) | one(1) << 16
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Meaning)] =
    &[(Op::Convert, Each(convert)), (Op::Fround, Each(round)), (Op::PackHalves, Whole(pack))];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_in_every_direction() {
        let x = 1.0 + 2f32.powi(-12);
        assert_eq!([0, 1, 2, 3].map(|m| half(x, m)), [0x3c00, 0x3c01, 0x3c00, 0x3c00]);
        assert_eq!([0, 1, 2, 3].map(|m| half(-x, m)), [0xbc00, 0xbc00, 0xbc01, 0xbc00]);
        // Beyond the largest number.
        assert_eq!([0, 1, 2, 3].map(|m| half(1e6, m)), [0x7c00, 0x7c00, 0x7bff, 0x7bff]);
        assert_eq!([0, 1, 2, 3].map(|m| half(-1e6, m)), [0xfc00, 0xfbff, 0xfc00, 0xfbff]);
        // Below the smallest.
        assert_eq!([0, 1, 2, 3].map(|m| half(1e-9, m)), [0, 1, 0, 0]);
        assert_eq!([0, 1, 2, 3].map(|m| half(-1e-9, m)), [0x8000, 0x8000, 0x8001, 0x8000]);
    }

    #[test]
    fn integers_saturate_and_nans_vanish() {
        assert_eq!(to_integer(3e9, Ty::S32), 0x7fff_ffff);
        assert_eq!(to_integer(-1.0, Ty::U32), 0);
        assert_eq!(to_integer(f64::NAN, Ty::S16), 0);
    }
}
