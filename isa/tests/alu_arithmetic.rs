//! Float arithmetic in every rounding and denormal mode, held against big integers.

#![expect(clippy::unwrap_used, reason = "a test may stop at what must not happen")]

#[path = "alu/floats.rs"]
mod floats;
#[path = "alu/model.rs"]
mod model;

use floats::Random;
use guestwave_isa::gfx10::interp::alu::{Mode, vector_op};
use guestwave_isa::gfx10::{Op, VopMods};
use model::{Big, F16, F32, F64, Format, product, round};

/// MODE with the same rounding and denormal fields for all formats: `denormals` bit 0 keeps those of sources, bit 1
/// those of results.
fn mode(rounding: u32, denormals: u32) -> Mode {
    Mode { bits: (rounding * 5) | (denormals * 0x50) }
}

fn run(op: Op, mode: &Mode, sources: [u64; 3]) -> u64 {
    vector_op(op).unwrap().evaluate(mode, sources, false, &VopMods::default()).value
}

/// What one operation must give for finite sources that have been flushed.
type Exact = fn(Format, [u64; 3], bool) -> Big;

fn sum(f: Format, [a, b, _]: [u64; 3], down: bool) -> Big {
    Big::decode(f, a).plus(&Big::decode(f, b), down)
}

fn difference(f: Format, [a, b, c]: [u64; 3], down: bool) -> Big {
    sum(f, [a, b ^ f.sign(), c], down)
}

fn fused(f: Format, [a, b, c]: [u64; 3], down: bool) -> Big {
    product(f, a, b).plus(&Big::decode(f, c), down)
}

/// Holds an operation against its exact value in all sixteen modes.
fn check(op: Op, f: Format, exact: Exact, seed: u64) {
    let mut random = Random(seed);
    for i in 0..6400 {
        let (rounding, denormals) = (i & 3, i >> 2 & 3);
        let sources = [random.finite(f), random.finite(f), random.finite(f)];
        let seen = sources.map(|s| f.flushed(s, denormals & 1 == 0));
        let rounded = round(f, rounding, &exact(f, seen, rounding == 2));
        let want = f.flushed(rounded, denormals & 2 == 0);
        let got = run(op, &mode(rounding, denormals), sources);
        assert_eq!(got, want, "{op:?} {sources:x?} rounding {rounding} denormals {denormals}");
    }
}

#[test]
fn sums_are_correctly_rounded() {
    check(Op::V_ADD_F16, F16, sum, 1);
    check(Op::V_ADD_F32, F32, sum, 2);
    check(Op::V_ADD_F64, F64, sum, 3);
    check(Op::V_SUB_F16, F16, difference, 4);
    check(Op::V_SUB_F32, F32, difference, 5);
    check(Op::V_SUBREV_F16, F16, |f, [a, b, c], down| difference(f, [b, a, c], down), 6);
    check(Op::V_SUBREV_F32, F32, |f, [a, b, c], down| difference(f, [b, a, c], down), 7);
}

#[test]
fn products_are_correctly_rounded() {
    check(Op::V_MUL_F16, F16, |f, [a, b, _], _| product(f, a, b), 1);
    check(Op::V_MUL_F32, F32, |f, [a, b, _], _| product(f, a, b), 2);
    check(Op::V_MUL_F64, F64, |f, [a, b, _], _| product(f, a, b), 3);
}

#[test]
fn fused_sums_are_rounded_once() {
    check(Op::V_FMA_F16, F16, fused, 1);
    check(Op::V_FMA_F32, F32, fused, 2);
    check(Op::V_FMA_F64, F64, fused, 3);
    check(Op::V_FMAC_F32, F32, fused, 4);
    check(Op::V_FMAMK_F32, F32, fused, 5);
    check(Op::V_FMAAK_F16, F16, fused, 6);
}

/// Sums that nearly cancel, where a lost bit of the product would show.
#[test]
fn fused_sums_keep_every_bit_of_the_product() {
    for (op, f) in [(Op::V_FMA_F16, F16), (Op::V_FMA_F32, F32), (Op::V_FMA_F64, F64)] {
        let mut random = Random(9);
        for i in 0..4000 {
            let one = ((1 << (f.exponent - 1)) - 1) << f.fraction;
            let near = |r: &mut Random| one | r.next() & ((1 << f.fraction) - 1);
            let (a, b) = (near(&mut random), near(&mut random));
            let c = round(f, i & 3, &product(f, a, b)) ^ f.sign() ^ random.below(3);
            let want = round(f, i & 3, &fused(f, [a, b, c], i & 3 == 2));
            assert_eq!(run(op, &mode(i & 3, 3), [a, b, c]), want, "{op:?} {a:x} {b:x} {c:x} {}", i & 3);
        }
    }
}

#[test]
fn unfused_products_are_rounded_twice_and_flushed() {
    let mut random = Random(3);
    for op in [Op::V_MAD_F32, Op::V_MAC_F32, Op::V_MADMK_F32, Op::V_MADAK_F32] {
        for i in 0..4000 {
            let sources = [random.finite(F32), random.finite(F32), random.finite(F32)];
            let flush = &mode(i & 3, 0);
            let step = run(Op::V_MUL_F32, flush, sources);
            let want = run(Op::V_ADD_F32, flush, [step, sources[2], 0]);
            assert_eq!(run(op, &mode(i & 3, i >> 2 & 3), sources), want, "{op:?} {sources:x?}");
        }
    }
}

#[test]
fn scaling_rounds_once() {
    for (op, f, reach) in
        [(Op::V_LDEXP_F16, F16, 60), (Op::V_LDEXP_F32, F32, 600), (Op::V_LDEXP_F64, F64, 1000)]
    {
        let mut random = Random(5);
        for i in 0..4000 {
            let (a, by) = (random.finite(f), random.below(2 * reach) as i64 - reach as i64);
            let field = (a & f.infinity()) >> f.fraction;
            let exact = Big::decode(f, a).times_power_of_two(by);
            let bits = if f.bits() == 16 { u64::from(by as u16) } else { u64::from(by as u32) };
            let got = run(op, &mode(i & 3, 3), [a, bits, 0]);
            assert_eq!(got, round(f, i & 3, &exact), "{op:?} {a:x} by {by} field {field}");
        }
    }
}

#[test]
fn conversions_between_formats_round_once() {
    let mut random = Random(8);
    for i in 0..6400 {
        let (rounding, denormals) = (i & 3, i >> 2 & 3);
        let m = &mode(rounding, denormals);
        for (op, from, to) in [
            (Op::V_CVT_F16_F32, F32, F16),
            (Op::V_CVT_F32_F16, F16, F32),
            (Op::V_CVT_F32_F64, F64, F32),
            (Op::V_CVT_F64_F32, F32, F64),
        ] {
            let a = random.finite(from);
            let seen = from.flushed(a, denormals & 1 == 0);
            let want = to.flushed(round(to, rounding, &Big::decode(from, seen)), denormals & 2 == 0);
            assert_eq!(run(op, m, [a, 0, 0]), want, "{op:?} {a:x} rounding {rounding} denormals {denormals}");
        }
    }
}

#[test]
fn integers_become_floats_with_one_rounding() {
    let mut random = Random(8);
    for i in 0..4000 {
        let bits = random.next() >> random.below(64) & 0xffff_ffff;
        let half = bits & 0xffff;
        for (op, f, source, value) in [
            (Op::V_CVT_F32_U32, F32, bits, bits as i64),
            (Op::V_CVT_F32_I32, F32, bits, i64::from(bits as i32)),
            (Op::V_CVT_F64_U32, F64, bits, bits as i64),
            (Op::V_CVT_F64_I32, F64, bits, i64::from(bits as i32)),
            (Op::V_CVT_F16_U16, F16, half, half as i64),
            (Op::V_CVT_F16_I16, F16, half, i64::from(half as i16)),
        ] {
            let exact = Big::new(value < 0, u128::from(value.unsigned_abs()), 0);
            assert_eq!(
                run(op, &mode(i & 3, 0), [source, 0, 0]),
                round(f, i & 3, &exact),
                "{op:?} {source:x}"
            );
        }
    }
}

/// Mixed precision: f32 or f16 sources, one rounding to the result's format.
#[test]
fn mixed_fused_sums_are_rounded_once() {
    let mut random = Random(11);
    for i in 0..6400 {
        let m = &mode(i & 3, 3);
        let sources: [u64; 3] =
            std::array::from_fn(|_| random.finite(F32) & !0x7c00 | random.below(31) << 10);
        let mods =
            VopMods { op_sel: random.below(8) as u8, op_sel_hi: random.below(8) as u8, ..VopMods::default() };
        let wide: [u64; 3] = std::array::from_fn(|k| match mods.op_sel_hi >> k & 1 {
            0 => sources[k],
            _ => {
                let half = sources[k] >> (16 * (mods.op_sel >> k & 1)) & 0xffff;
                let finite = if F16.is_nan(half) || F16.is_infinite(half) { half & !0x4000 } else { half };
                round(F32, 0, &Big::decode(F16, finite))
            }
        });
        let narrow: [u64; 3] = std::array::from_fn(|k| match mods.op_sel_hi >> k & 1 {
            0 => sources[k],
            _ => round(F16, 0, &Big::decode(F32, wide[k])) * 0x1_0001,
        });
        let exact = fused(F32, wide, i & 3 == 2);
        let value = |op| vector_op(op).unwrap().evaluate(m, narrow, false, &mods).value;
        assert_eq!(value(Op::V_FMA_MIX_F32), round(F32, i & 3, &exact), "{narrow:x?} {mods:?}");
        assert_eq!(value(Op::V_FMA_MIXLO_F16), round(F16, i & 3, &exact), "{narrow:x?} {mods:?}");
        assert_eq!(value(Op::V_FMA_MIXHI_F16), round(F16, i & 3, &exact), "{narrow:x?} {mods:?}");
    }
}

/// The rule for NaNs: the first one in source order, made quiet.
#[test]
fn a_nan_comes_back_quiet() {
    let mut random = Random(12);
    for _ in 0..40_000 {
        for (op, f, sources) in [
            (Op::V_ADD_F16, F16, 2),
            (Op::V_SUBREV_F32, F32, 2),
            (Op::V_MUL_F64, F64, 2),
            (Op::V_FMA_F32, F32, 3),
            (Op::V_MAD_F32, F32, 3),
            (Op::V_FRACT_F64, F64, 1),
            (Op::V_LDEXP_F16, F16, 1),
            (Op::V_SQRT_F32, F32, 1),
            (Op::V_DIV_SCALE_F32, F32, 1),
        ] {
            let all: [u64; 3] = std::array::from_fn(|_| random.any(f));
            let nan = all[..sources].iter().find(|&&s| f.is_nan(s));
            if let Some(nan) =
                nan.filter(|_| op != Op::V_DIV_SCALE_F32 || all.iter().all(|s| s & !f.sign() != 0))
            {
                assert_eq!(run(op, &mode(0, 3), all), nan | 1 << (f.fraction - 1), "{op:?} {all:x?}");
            }
        }
    }
}

/// The sum of infinities of opposite signs and the product of zero and infinity are the negative quiet NaN.
#[test]
fn invalid_operations_give_one_nan() {
    for (f, add, mul, fma) in [
        (F16, Op::V_ADD_F16, Op::V_MUL_F16, Op::V_FMA_F16),
        (F32, Op::V_ADD_F32, Op::V_MUL_F32, Op::V_FMA_F32),
        (F64, Op::V_ADD_F64, Op::V_MUL_F64, Op::V_FMA_F64),
    ] {
        let (infinity, nan) = (f.infinity(), f.sign() | f.infinity() | 1 << (f.fraction - 1));
        for rounding in 0..4 {
            let run = |op, sources| run(op, &mode(rounding, 3), sources);
            assert_eq!(run(add, [infinity, infinity | f.sign(), 0]), nan);
            assert_eq!(run(mul, [infinity, f.sign(), 0]), nan);
            assert_eq!(run(fma, [0, infinity, 0]), nan);
            assert_eq!(run(fma, [infinity, infinity, infinity | f.sign()]), nan);
            assert_eq!(run(add, [infinity, infinity, 0]), infinity);
        }
    }
}
