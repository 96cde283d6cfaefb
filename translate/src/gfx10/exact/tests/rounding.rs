//! Operands that random ones do not find: sums that are rounded twice if anything is, and many arguments of the approximations.

use std::ops::Range;

use guestwave_isa::gfx10::Op;

use super::machine::Lane;
use super::operands::Random;
use super::{Setting, differences, vector_row};

fn agree(op: Op, settings: &[Setting], lanes: &[Lane]) {
    let row = vector_row(op).unwrap();
    for setting in settings {
        let wrong = differences(op, &row, setting, lanes);
        assert!(wrong.is_empty(), "{} of {}: {}", wrong.len(), lanes.len(), wrong[0]);
    }
}

fn denormal_modes() -> [Setting; 2] {
    [0xf0, 0x00].map(|float| Setting { float, ..Setting::default() })
}

/// A number with one of the exponents and a few random bits of fraction.
fn number(r: &mut Random, exponents: Range<i32>, bits: u32) -> f64 {
    let exponent = exponents.start + r.below(exponents.len() as u64) as i32;
    let fraction = (r.bits() & ((1 << bits) - 1)) as f64 / (1u64 << bits) as f64;
    let sign = if r.below(2) == 0 { 1.0 } else { -1.0 };
    // In two steps, for exponents of denormals.
    sign * (1.0 + fraction) * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

/// Fused sums that `v_div_fmas_f64` scales down among the denormals: on, and a little beside, the middle between two of them.
fn scaled_down_doubles(r: &mut Random) -> Lane {
    let bits = r.below(53);
    let middle = 2f64.powi(-947) * r.below(1 << bits) as f64;
    let (a, b) = match r.below(3) {
        // A product far below the addend, down to where it underflows altogether.
        0 => (number(r, -1074..0, 52), number(r, -1074..0, 52)),
        1 => (number(r, 0..900, 52), number(r, -1074..-1000, 52)),
        _ => (number(r, -471..-470, 52), number(r, -540..-480, 52)),
    };
    let addend = match r.below(3) {
        0 => middle - a * b,
        1 => -middle,
        _ => middle,
    };
    Lane { sources: [a, b, addend].map(f64::to_bits), mask: true }
}

#[test]
fn f64_sums_scaled_down_to_denormals_round_once() {
    let mut r = Random(1);
    let lanes: Vec<Lane> = (0..20_000).map(|_| scaled_down_doubles(&mut r)).collect();
    agree(Op::V_DIV_FMAS_F64, &denormal_modes(), &lanes);
}

#[test]
fn f64_sums_that_overflow_before_they_are_scaled_down_come_back() {
    let mut r = Random(2);
    let lane = |r: &mut Random| {
        let (a, b, c) = (number(r, 960..1023, 52), number(r, 60..200, 52), number(r, -1074..1, 52));
        Lane { sources: [a, b, c].map(f64::to_bits), mask: true }
    };
    let lanes: Vec<Lane> = (0..5_000).map(|_| lane(&mut r)).collect();
    agree(Op::V_DIV_FMAS_F64, &denormal_modes(), &lanes);
}

#[test]
fn f32_sums_scaled_to_either_end_round_once() {
    let mut r = Random(3);
    let lane = |r: &mut Random| {
        let (a, b) = (number(r, -100..-40, 23), number(r, -40..40, 23));
        let c = if r.below(2) == 0 { -a * b } else { number(r, -140..-60, 4) };
        Lane { sources: [a, b, c].map(|x| u64::from((x as f32).to_bits())), mask: r.below(4) != 0 }
    };
    let lanes: Vec<Lane> = (0..20_000).map(|_| lane(&mut r)).collect();
    agree(Op::V_DIV_FMAS_F32, &denormal_modes(), &lanes);
}

/// Products that lie between two halves, or two floats, with an addend far below: the fused sum's direction is the addend's.
#[test]
fn fused_sums_next_to_ties_round_once() {
    let mut r = Random(4);
    let tie = |r: &mut Random, bits: u32| {
        let a = 1 << (bits - 1) | r.below(1 << (bits - 1)) | 1;
        (a as f64, 2f64.powi(r.below(3) as i32) + 2f64.powi(-(bits as i32)))
    };
    let mut halves = Vec::new();
    let mut singles = Vec::new();
    for _ in 0..5_000 {
        let (a, b) = tie(&mut r, 11);
        let half = |x: f64| u64::from(half_bits(x));
        halves.push(Lane {
            sources: [half(a / 1024.0), half(1.5), half(number(&mut r, -23..-22, 1))],
            mask: false,
        });
        halves.push(Lane {
            sources: [half(a / 2048.0), half(b), half(number(&mut r, -20..-19, 0))],
            mask: false,
        });
        let (a, b) = tie(&mut r, 24);
        let single = |x: f64| u64::from((x as f32).to_bits());
        singles.push(Lane {
            sources: [single(a), single(b), single(number(&mut r, -100..-99, 3))],
            mask: false,
        });
        singles.push(Lane {
            sources: [single(a), single(1.5), single(number(&mut r, -60..-59, 0))],
            mask: false,
        });
    }
    agree(Op::V_FMA_F16, &denormal_modes(), &halves);
    agree(Op::V_FMA_F32, &denormal_modes(), &singles);
    let directed = [0x05, 0x0a, 0x0f].map(|round| Setting { float: 0xf0 | round, ..Setting::default() });
    agree(Op::V_FMA_F16, &directed, &halves);
    agree(Op::V_FMA_F32, &directed, &singles);
}

/// An f16 of few bits.
fn half_bits(x: f64) -> u16 {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let (sign, fraction) = ((bits >> 48 & 0x8000) as u16, (bits >> 42 & 0x3ff) as u16);
    match exponent {
        -14..16 => sign | ((exponent + 15) as u16) << 10 | fraction,
        -24..-14 => sign | (0x400 | fraction) >> (-14 - exponent),
        _ => sign,
    }
}

#[test]
fn approximations_agree_on_many_arguments() {
    let mut r = Random(5);
    let lane = |r: &mut Random| {
        // Random bits, and numbers with short fractions around 1.
        let plain = number(r, -20..20, 23) as f32;
        let bits = if r.below(2) == 0 { r.bits() as u32 } else { plain.to_bits() };
        Lane { sources: [bits.into(), 0, 0], mask: false }
    };
    let lanes: Vec<Lane> = (0..20_000).map(|_| lane(&mut r)).collect();
    for op in [
        Op::V_RCP_F32,
        Op::V_RSQ_F32,
        Op::V_SQRT_F32,
        Op::V_EXP_F32,
        Op::V_LOG_F32,
        Op::V_SIN_F32,
        Op::V_COS_F32,
    ] {
        agree(op, &denormal_modes()[..1], &lanes);
    }
}
