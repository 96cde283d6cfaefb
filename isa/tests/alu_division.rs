//! The usual division sequences of compilers give correctly rounded quotients.

#![expect(clippy::unwrap_used, reason = "a test may stop at what must not happen")]

#[path = "alu/floats.rs"]
mod floats;
#[expect(dead_code, reason = "only the formats are used here")]
#[path = "alu/model.rs"]
mod model;

use floats::Random;
use guestwave_isa::gfx10::interp::alu::{Mode, Outcome, vector_op};
use guestwave_isa::gfx10::{Op, VopMods};
use model::{F16, F32, F64, Format};

/// Denormals kept, as compilers set it around a division.
const MODE: Mode = Mode { bits: 0xf0 };

fn evaluate(op: Op, sources: [u64; 3], mask: bool) -> Outcome {
    vector_op(op).unwrap().evaluate(&MODE, sources, mask, &VopMods::default())
}

fn run(op: Op, sources: [u64; 3]) -> u64 {
    evaluate(op, sources, false).value
}

fn divide_f32(n: u64, d: u64) -> u64 {
    let one = u64::from(1f32.to_bits());
    let negative = |x: u64| x ^ F32.sign();
    let fma = |a, b, c| run(Op::V_FMA_F32, [a, b, c]);
    let scaled_d = run(Op::V_DIV_SCALE_F32, [d, d, n]);
    let Outcome { value: scaled_n, mask } = evaluate(Op::V_DIV_SCALE_F32, [n, d, n], false);
    let r = run(Op::V_RCP_F32, [scaled_d, 0, 0]);
    let r = fma(fma(negative(scaled_d), r, one), r, r);
    let q = run(Op::V_MUL_F32, [scaled_n, r, 0]);
    let q = fma(fma(negative(scaled_d), q, scaled_n), r, q);
    let rest = fma(negative(scaled_d), q, scaled_n);
    let q = evaluate(Op::V_DIV_FMAS_F32, [rest, r, q], mask).value;
    run(Op::V_DIV_FIXUP_F32, [q, d, n])
}

fn divide_f64(n: u64, d: u64) -> u64 {
    let one = 1f64.to_bits();
    let negative = |x: u64| x ^ F64.sign();
    let fma = |a, b, c| run(Op::V_FMA_F64, [a, b, c]);
    let scaled_d = run(Op::V_DIV_SCALE_F64, [d, d, n]);
    let Outcome { value: scaled_n, mask } = evaluate(Op::V_DIV_SCALE_F64, [n, d, n], false);
    let r = run(Op::V_RCP_F64, [scaled_d, 0, 0]);
    let r = fma(r, fma(negative(scaled_d), r, one), r);
    let r = fma(r, fma(negative(scaled_d), r, one), r);
    let q = run(Op::V_MUL_F64, [scaled_n, r, 0]);
    let rest = fma(negative(scaled_d), q, scaled_n);
    let q = evaluate(Op::V_DIV_FMAS_F64, [rest, r, q], mask).value;
    run(Op::V_DIV_FIXUP_F64, [q, d, n])
}

/// Half division: in f32, then narrowed.
fn divide_f16(n: u64, d: u64) -> u64 {
    let wide = |x| run(Op::V_CVT_F32_F16, [x, 0, 0]);
    let r = run(Op::V_RCP_F32, [wide(d), 0, 0]);
    let q = run(Op::V_MUL_F32, [wide(n), r, 0]);
    run(Op::V_DIV_FIXUP_F16, [run(Op::V_CVT_F16_F32, [q, 0, 0]), d, n])
}

/// The quotient that the host's IEEE division gives, with a NaN as the operations give it.
fn quotient(f: Format, n: u64, d: u64) -> u64 {
    let bits = match f.bits() {
        32 => u64::from((f32::from_bits(n as u32) / f32::from_bits(d as u32)).to_bits()),
        _ => (f64::from_bits(n) / f64::from_bits(d)).to_bits(),
    };
    let quiet = 1 << (f.fraction - 1);
    match (f.is_nan(n), f.is_nan(d)) {
        (true, _) => n | quiet,
        (_, true) => d | quiet,
        _ if f.is_nan(bits) => f.sign() | f.infinity() | quiet,
        _ => bits,
    }
}

fn check(f: Format, divide: fn(u64, u64) -> u64, n: u64, d: u64) {
    let (got, want) = (divide(n, d), quotient(f, n, d));
    assert_eq!(got, want, "{n:x} / {d:x}: {got:x} for {want:x}");
}

#[test]
fn f32_quotients_are_correctly_rounded() {
    let mut random = Random(1);
    for _ in 0..100_000 {
        check(F32, divide_f32, random.any(F32), random.any(F32));
    }
}

#[test]
fn f64_quotients_are_correctly_rounded() {
    let mut random = Random(2);
    for _ in 0..60_000 {
        check(F64, divide_f64, random.any(F64), random.any(F64));
    }
}

/// Exponents at every distance: scaling, overflow, and quotients that are denormal.
#[test]
fn quotients_of_every_size_are_correctly_rounded() {
    for (f, divide) in [(F32, divide_f32 as fn(u64, u64) -> u64), (F64, divide_f64)] {
        let mut random = Random(3);
        let most = (1u64 << f.exponent) - 2;
        for step in 0..=most {
            for (x, y) in [
                (step, most / 2),
                (most / 2, step),
                (step, most - step),
                (most, step),
                (step, most),
                (0, step),
            ] {
                let fraction = |r: &mut Random| r.next() & ((1 << f.fraction) - 1);
                let (n, d) =
                    (x << f.fraction | fraction(&mut random), y << f.fraction | fraction(&mut random));
                check(f, divide, n, d | 1);
            }
        }
    }
}

#[test]
fn f16_quotients_are_close() {
    let mut random = Random(5);
    for _ in 0..20_000 {
        let (n, d) = (random.finite(F16), random.finite(F16) | 1);
        let wide = |x| f32::from_bits(run(Op::V_CVT_F32_F16, [x, 0, 0]) as u32);
        let exact = u64::from((wide(n) / wide(d)).to_bits());
        let want = run(Op::V_CVT_F16_F32, [exact, 0, 0]);
        assert!(divide_f16(n, d).abs_diff(want) <= 1, "{n:x} / {d:x}");
    }
}

/// Unsigned integer division by way of an approximate reciprocal, corrected twice.
fn divide_u32(n: u32, d: u32) -> u32 {
    let as_float = run(Op::V_CVT_F32_U32, [d.into(), 0, 0]);
    let r = run(Op::V_RCP_IFLAG_F32, [as_float, 0, 0]);
    let z = run(Op::V_CVT_U32_F32, [run(Op::V_MUL_F32, [r, 0x4f7f_fffe, 0]), 0, 0]);
    let low = run(Op::V_MUL_LO_U32, [u64::from(d.wrapping_neg()), z, 0]);
    let z = run(Op::V_ADD_NC_U32, [z, run(Op::V_MUL_HI_U32, [z, low, 0]), 0]);
    let mut q = run(Op::V_MUL_HI_U32, [n.into(), z, 0]) as u32;
    let mut rest = n.wrapping_sub(q.wrapping_mul(d));
    for _ in 0..2 {
        if rest >= d {
            (q, rest) = (q.wrapping_add(1), rest.wrapping_sub(d));
        }
    }
    q
}

#[test]
fn integer_quotients_are_exact() {
    let mut random = Random(7);
    for _ in 0..50_000 {
        let n = (random.next() >> random.below(33)) as u32;
        let d = ((random.next() >> random.below(33)) as u32 >> random.below(32)).max(1);
        assert_eq!(divide_u32(n, d), n / d, "{n} / {d}");
    }
    for (n, d) in [(u32::MAX, 1), (u32::MAX, u32::MAX), (u32::MAX - 1, u32::MAX), (0, 1), (u32::MAX, 2)] {
        assert_eq!(divide_u32(n, d), n / d, "{n} / {d}");
    }
}
