//! Float addition and multiplication, fused and not, plain and with the DirectX 9 zero rule.

use super::exact::Number;
use super::format::{
    F16, F32, F64, Format, canonical, decode, first_nan, flush_result, is_nan, is_zero, number, source, store,
};
use super::{Mode, Output, Rounding, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

/// The stored bits of an operation: the host's result where it serves, else the exact one, rounded.
fn rounded<F: Format>(mode: &Mode, host: Option<u64>, exact: impl FnOnce() -> Option<Number>) -> u64 {
    match host {
        Some(bits) if F::rounding(mode) == Rounding::NearestEven => {
            if is_nan::<F>(bits) {
                F::NAN
            } else {
                flush_result::<F>(mode, bits)
            }
        }
        _ => store::<F>(mode, exact()),
    }
}

pub(super) fn add<F: Format>(mode: &Mode, a: u64, b: u64) -> u64 {
    match first_nan::<F>(&[a, b]) {
        Some(nan) => nan,
        None => {
            let (a, b) = (source::<F>(mode, a), source::<F>(mode, b));
            rounded::<F>(mode, F::sum(a, b), || decode::<F>(a).plus(decode::<F>(b), F::rounding(mode)))
        }
    }
}

pub(super) fn sub<F: Format>(mode: &Mode, a: u64, b: u64) -> u64 {
    match first_nan::<F>(&[a, b]) {
        Some(nan) => nan,
        None => add::<F>(mode, a, b ^ F::SIGN),
    }
}

/// `b - a`, with `a` still the first source when both are NaN.
fn sub_reversed<F: Format>(mode: &Mode, a: u64, b: u64) -> u64 {
    match first_nan::<F>(&[a, b]) {
        Some(nan) => nan,
        None => sub::<F>(mode, b, a),
    }
}

pub(super) fn mul<F: Format>(mode: &Mode, a: u64, b: u64) -> u64 {
    match first_nan::<F>(&[a, b]) {
        Some(nan) => nan,
        None => {
            let (a, b) = (source::<F>(mode, a), source::<F>(mode, b));
            rounded::<F>(mode, F::product(a, b), || decode::<F>(a).times(decode::<F>(b)))
        }
    }
}

/// `a * b + c` before its rounding, or `None` if it is invalid; no source may be NaN.
pub(super) fn fused<F: Format>(mode: &Mode, sources: Sources) -> Option<Number> {
    fused_towards::<F>(mode, F::rounding(mode), sources)
}

/// The same for a result that another format's field of MODE rounds: it decides the sign of an exact zero too.
pub(super) fn fused_towards<F: Format>(
    mode: &Mode,
    rounding: Rounding,
    [a, b, c]: Sources,
) -> Option<Number> {
    let product = number::<F>(mode, a).times(number::<F>(mode, b))?;
    product.plus(number::<F>(mode, c), rounding)
}

/// `a * b + c` with one rounding.
pub(super) fn fma<F: Format>(mode: &Mode, sources: Sources) -> u64 {
    match first_nan::<F>(&sources) {
        Some(nan) => nan,
        None => {
            let [a, b, c] = sources.map(|s| source::<F>(mode, s));
            rounded::<F>(mode, F::fused(a, b, c), || fused::<F>(mode, sources))
        }
    }
}

/// `a * b + c` with two roundings, denormals flushed whatever MODE says.
fn mad_f32(mode: &Mode, [a, b, c]: Sources) -> u64 {
    let mode = &mode.flushing32();
    match first_nan::<F32>(&[a, b, c]) {
        Some(nan) => nan,
        None => add::<F32>(mode, mul::<F32>(mode, a, b), c),
    }
}

/// Whether a product is zero by the DirectX 9 rule: a zero factor wins over everything, NaN and infinity included.
fn zero_factor(mode: &Mode, a: u64, b: u64) -> bool {
    let zero = |s| source::<F32>(mode, s);
    is_zero::<F32>(zero(a)) || is_zero::<F32>(zero(b))
}

pub(super) fn mul_legacy(mode: &Mode, a: u64, b: u64) -> u64 {
    if zero_factor(mode, a, b) { 0 } else { mul::<F32>(mode, a, b) }
}

/// With a zero product the result is the addend itself.
fn fma_legacy(mode: &Mode, [a, b, c]: Sources) -> u64 {
    match zero_factor(mode, a, b) {
        true => canonical::<F32>(mode, c),
        false => fma::<F32>(mode, [a, b, c]),
    }
}

fn mad_legacy(mode: &Mode, [a, b, c]: Sources) -> u64 {
    let mode = &mode.flushing32();
    match zero_factor(mode, a, b) {
        true => canonical::<F32>(mode, c),
        false => mad_f32(mode, [a, b, c]),
    }
}

/// The lighting product: the most negative number where the specular part is off or the exponent base is out of
/// range, else the product with the DirectX 9 zero rule.
fn mullit(mode: &Mode, [a, b, c]: Sources) -> u64 {
    const LEAST: u64 = F32::SIGN | F32::LARGEST;
    let c = source::<F32>(mode, c);
    let off = first_nan::<F32>(&[b, c]).is_some() || b >= LEAST || is_zero::<F32>(c) || c & F32::SIGN != 0;
    if off { LEAST } else { mul_legacy(mode, a, b) }
}

const fn row(op: Op, f: fn(&Mode, Sources) -> u64, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Value(f), output)
}

pub(super) const ROWS: &[VectorRow] = &[
    row(Op::V_ADD_F16, |m, [a, b, _]| add::<F16>(m, a, b), Output::F16),
    row(Op::V_ADD_F32, |m, [a, b, _]| add::<F32>(m, a, b), Output::F32),
    row(Op::V_ADD_F64, |m, [a, b, _]| add::<F64>(m, a, b), Output::F64),
    row(Op::V_SUB_F16, |m, [a, b, _]| sub::<F16>(m, a, b), Output::F16),
    row(Op::V_SUB_F32, |m, [a, b, _]| sub::<F32>(m, a, b), Output::F32),
    row(Op::V_SUBREV_F16, |m, [a, b, _]| sub_reversed::<F16>(m, a, b), Output::F16),
    row(Op::V_SUBREV_F32, |m, [a, b, _]| sub_reversed::<F32>(m, a, b), Output::F32),
    row(Op::V_MUL_F16, |m, [a, b, _]| mul::<F16>(m, a, b), Output::F16),
    row(Op::V_MUL_F32, |m, [a, b, _]| mul::<F32>(m, a, b), Output::F32),
    row(Op::V_MUL_F64, |m, [a, b, _]| mul::<F64>(m, a, b), Output::F64),
    row(Op::V_MUL_LEGACY_F32, |m, [a, b, _]| mul_legacy(m, a, b), Output::F32),
    row(Op::V_MULLIT_F32, mullit, Output::F32),
    row(Op::V_FMA_F16, fma::<F16>, Output::F16),
    row(Op::V_FMA_F32, fma::<F32>, Output::F32),
    row(Op::V_FMA_F64, fma::<F64>, Output::F64),
    row(Op::V_FMAC_F16, fma::<F16>, Output::F16),
    row(Op::V_FMAC_F32, fma::<F32>, Output::F32),
    row(Op::V_FMAMK_F16, fma::<F16>, Output::F16),
    row(Op::V_FMAMK_F32, fma::<F32>, Output::F32),
    row(Op::V_FMAAK_F16, fma::<F16>, Output::F16),
    row(Op::V_FMAAK_F32, fma::<F32>, Output::F32),
    row(Op::V_FMA_LEGACY_F32, fma_legacy, Output::F32),
    row(Op::V_FMAC_LEGACY_F32, fma_legacy, Output::F32),
    row(Op::V_MAD_F32, mad_f32, Output::F32),
    row(Op::V_MAC_F32, mad_f32, Output::F32),
    row(Op::V_MADMK_F32, mad_f32, Output::F32),
    row(Op::V_MADAK_F32, mad_f32, Output::F32),
    row(Op::V_MAD_LEGACY_F32, mad_legacy, Output::F32),
    row(Op::V_MAC_LEGACY_F32, mad_legacy, Output::F32),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats that meet each other: exponents at the ends and the middle of the range, fractions with runs of bits.
    fn float<F: Format>(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let random = *seed >> 11;
        let most = (F::INFINITY >> F::FRACTION_BITS) - 1;
        let exponent = match random & 3 {
            0 => random >> 2 & 3,
            1 => most - (random >> 2 & 3),
            _ => most / 2 - 32 + (random >> 2 & 63),
        };
        let run = u64::MAX << (random >> 8 & 63) ^ u64::MAX << (random >> 14 & 63);
        let fraction = if random >> 20 & 1 == 0 { run } else { run ^ random >> 21 };
        ((random >> 40 & 1) * F::SIGN)
            | (exponent << F::FRACTION_BITS)
            | fraction & ((1 << F::FRACTION_BITS) - 1)
    }

    fn agrees<F: Format>() {
        let mode = &Mode { bits: 0xf0 };
        let mut seed = 1;
        for _ in 0..200_000 {
            let [a, b, c] = std::array::from_fn(|_| float::<F>(&mut seed));
            if first_nan::<F>(&[a, b, c]).is_some() {
                continue;
            }
            let (x, y) = (decode::<F>(a), decode::<F>(b));
            assert_eq!(
                add::<F>(mode, a, b),
                store::<F>(mode, x.plus(y, Rounding::NearestEven)),
                "{a:x} + {b:x}"
            );
            assert_eq!(mul::<F>(mode, a, b), store::<F>(mode, x.times(y)), "{a:x} * {b:x}");
            assert_eq!(
                fma::<F>(mode, [a, b, c]),
                store::<F>(mode, fused::<F>(mode, [a, b, c])),
                "{a:x} {b:x} {c:x}"
            );
        }
    }

    #[test]
    fn the_host_rounds_as_exact_numbers_do() {
        agrees::<F32>();
        agrees::<F64>();
    }
}
