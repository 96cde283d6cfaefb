//! The approximate operations stay within the documented error, by a wide margin.

#![expect(clippy::unwrap_used, reason = "a test may stop at what must not happen")]

#[expect(dead_code, reason = "only finite floats are used here")]
#[path = "alu/floats.rs"]
mod floats;
#[expect(dead_code, reason = "only the formats are used here")]
#[path = "alu/model.rs"]
mod model;

use floats::Random;
use guestwave_isa::gfx10::interp::alu::{Mode, vector_op};
use guestwave_isa::gfx10::{Op, VopMods};
use model::{Big, F16, F32, Format, round};

/// Denormals kept, to nearest even.
const MODE: Mode = Mode { bits: 0xf0 };

fn run(op: Op, a: u64) -> u64 {
    vector_op(op).unwrap().evaluate(&MODE, [a, 0, 0], false, &VopMods::default()).value
}

fn sin_of_turns(x: f64) -> f64 {
    let turns = x - x.round();
    let folded = if turns.abs() > 0.25 { 0.5f64.copysign(turns) - turns } else { turns };
    (std::f64::consts::TAU * folded).sin()
}

fn cos_of_turns(x: f64) -> f64 {
    sin_of_turns(x - x.round() + 0.25)
}

type Function = fn(f64) -> f64;

/// The operation for f32, for f16, and what both approximate.
const FUNCTIONS: [(Op, Op, Function); 7] = [
    (Op::V_RCP_F32, Op::V_RCP_F16, f64::recip),
    (Op::V_RSQ_F32, Op::V_RSQ_F16, |x| x.sqrt().recip()),
    (Op::V_SQRT_F32, Op::V_SQRT_F16, f64::sqrt),
    (Op::V_EXP_F32, Op::V_EXP_F16, f64::exp2),
    (Op::V_LOG_F32, Op::V_LOG_F16, f64::log2),
    (Op::V_SIN_F32, Op::V_SIN_F16, sin_of_turns),
    (Op::V_COS_F32, Op::V_COS_F16, cos_of_turns),
];

fn value(f: Format, bits: u64) -> f64 {
    match f.bits() {
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from(f32::from_bits(run(Op::V_CVT_F32_F16, bits) as u32)),
    }
}

/// Error in units of the last place of the exact result.
fn error(f: Format, got: u64, exact: f64) -> f64 {
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    let least = 2 - (1 << (f.exponent - 1));
    let unit = 2f64.powi(exponent.max(least) - f.fraction as i32);
    (value(f, got) - exact).abs() / unit
}

/// Results past the largest value and, for f32, denormal ones have rules of their own.
fn in_range(f: Format, exact: f64) -> bool {
    let least = if f.bits() == 32 { f64::from(f32::MIN_POSITIVE) } else { 0.0 };
    exact.is_finite() && exact.abs() >= least && exact.abs() < value(f, f.infinity() - 1)
}

fn check(f: Format, op: Op, function: Function, a: u64) {
    let exact = function(value(f, a));
    if !f.is_nan(a) && in_range(f, exact) {
        let got = run(op, a);
        assert!(error(f, got, exact) < 0.501, "{op:?} of {a:x} gave {got:x} for {exact:e}");
    }
}

#[test]
fn every_half_is_nearly_correctly_rounded() {
    for (_, op, function) in FUNCTIONS {
        (0..=0xffff).for_each(|a| check(F16, op, function, a));
    }
}

#[test]
fn floats_are_nearly_correctly_rounded() {
    let mut random = Random(1);
    for (op, _, function) in FUNCTIONS {
        for _ in 0..60_000 {
            let a = random.finite(F32);
            if a & F32.infinity() != 0 {
                check(F32, op, function, a);
            }
        }
    }
}

/// Arguments next to the places where the algorithms change from one piece to the next.
#[test]
fn the_pieces_meet() {
    let seams = [
        0.125f32,
        0.25,
        0.375,
        0.5,
        0.625,
        0.75,
        1.0,
        2.5,
        -0.5,
        -1.5,
        -125.5,
        127.5,
        2f32.sqrt(),
        0.5f32.sqrt(),
    ];
    for (op, _, function) in FUNCTIONS {
        for seam in seams {
            for step in -200i32..=200 {
                check(F32, op, function, u64::from(seam.to_bits().wrapping_add_signed(step)));
            }
        }
    }
}

/// What programs take for granted: whole powers and quarter turns come out exactly.
#[test]
fn exact_results_are_exact() {
    for k in -126..=127 {
        let power = round(F32, 0, &Big::new(false, 1, k));
        assert_eq!(run(Op::V_EXP_F32, u64::from((k as f32).to_bits())), power, "2^{k}");
        assert_eq!(run(Op::V_LOG_F32, power), u64::from((k as f32).to_bits()), "log2 2^{k}");
    }
    for k in -4096i32..=4096 {
        let turns = u64::from((k as f32 / 4.0).to_bits());
        let sine = [0f32, 1.0, 0.0, -1.0][k.rem_euclid(4) as usize];
        let cosine = [1f32, 0.0, -1.0, 0.0][k.rem_euclid(4) as usize];
        assert_eq!(run(Op::V_SIN_F32, turns), u64::from(sine.to_bits()), "sin of {k} quarters");
        assert_eq!(run(Op::V_COS_F32, turns), u64::from(cosine.to_bits()), "cos of {k} quarters");
    }
}

/// Denormals of f32 vanish at both ends even where MODE keeps them; those of f16 follow MODE.
#[test]
fn denormals_follow_the_format() {
    assert_eq!(run(Op::V_SQRT_F32, 0x0000_4000), 0);
    assert_eq!(run(Op::V_EXP_F32, u64::from((-127f32).to_bits())), 0);
    assert_eq!(run(Op::V_EXP_F16, 0xcb80), 0x0200);
    let flushing = |op, a| {
        let mode = Mode { bits: 0 };
        vector_op(op).unwrap().evaluate(&mode, [a, 0, 0], false, &VopMods::default()).value
    };
    assert_eq!(flushing(Op::V_EXP_F16, 0xcb80), 0);
    assert_eq!(flushing(Op::V_LOG_F16, 0x0001), 0xfc00);
}

/// Results never depend on the rounding of MODE.
#[test]
fn rounding_is_always_to_nearest() {
    let mut random = Random(4);
    for (op, half, _) in FUNCTIONS {
        for i in 1..400 {
            let mode = Mode { bits: 0xf0 | (5 * (i & 3)) };
            for (op, a) in [(op, random.finite(F32)), (half, random.finite(F16))] {
                let got = vector_op(op).unwrap().evaluate(&mode, [a, 0, 0], false, &VopMods::default()).value;
                assert_eq!(got, run(op, a), "{op:?} {a:x}");
            }
        }
    }
}

/// The algorithms are the definition: other executors repeat their bits, so they must not change unnoticed.
#[test]
fn the_bits_are_pinned() {
    // Arguments of moderate size, where the polynomials decide.
    let argument = |random: &mut Random, f: Format| {
        let middle = (1 << (f.exponent - 1)) - 9 + random.below(16);
        random.finite(f) & (f.sign() | ((1 << f.fraction) - 1)) | middle << f.fraction
    };
    let digest = |op: Op, f: Format| {
        let mut random = Random(2);
        (0..100_000).fold(0u64, |sum, _| {
            (sum ^ run(op, argument(&mut random, f))).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(11)
        })
    };
    let pinned: [(Op, Format, u64); 10] = [
        (Op::V_EXP_F32, F32, 0x79b0_ff9d_40c3_7786),
        (Op::V_LOG_F32, F32, 0xf345_d415_e23d_b394),
        (Op::V_SIN_F32, F32, 0xe818_8873_1e14_6ff0),
        (Op::V_COS_F32, F32, 0xea2d_6ab6_edc3_fb1c),
        (Op::V_RCP_F32, F32, 0xc426_9113_f9fb_c7ce),
        (Op::V_RSQ_F32, F32, 0xc5f5_228f_9cbb_7b13),
        (Op::V_SQRT_F32, F32, 0x3bbd_ac4a_c9bc_35c2),
        (Op::V_EXP_F16, F16, 0x3718_95da_c5e6_6541),
        (Op::V_LOG_F16, F16, 0xad06_f9d9_530d_df5c),
        (Op::V_SIN_F16, F16, 0x27bc_324f_57a0_4c66),
    ];
    let now = pinned.map(|(op, f, _)| (op, digest(op, f)));
    assert_eq!(now, pinned.map(|(op, _, bits)| (op, bits)), "{now:x?}");
}
