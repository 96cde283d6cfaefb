//! Dot products of two, four and eight components with an accumulator.

use super::arith::fma;
use super::convert::change;
use super::format::{F16, F32, Format};
use super::output::fit;
use super::packed::{halves, negated};
use super::{Mode, Output, Sources, VectorOp, VectorRow};
use crate::gfx10::{Op, VopMods};

/// Selection and negation of a plain dot product: low with low, high with high.
const PLAIN: VopMods = VopMods {
    neg: 0,
    abs: 0,
    clamp: false,
    omod: 0,
    op_sel: 0,
    op_sel_hi: 7,
    lane: crate::gfx10::LaneForm::None,
    attr: 0,
    chan: 0,
};

/// `a.lo * b.lo + c`, then `a.hi * b.hi` added, each step fused, to nearest even with all denormals flushed
/// whatever MODE says. CLAMP has no effect.
fn dot2_floats(s: [u32; 3], mods: &VopMods) -> u32 {
    let mode = &Mode { bits: 0 };
    let wide = |bits| change::<F16, F32>(mode, mode.round32(), bits);
    let step = |[a, b, _]: Sources, sum| fma::<F32>(mode, [wide(a), wide(b), sum]);
    let negation = if mods.neg & 4 != 0 { F32::SIGN } else { 0 };
    let first = step(negated(halves(s, mods.op_sel), mods.neg), u64::from(s[2]) ^ negation);
    step(negated(halves(s, mods.op_sel_hi), mods.abs), first) as u32
}

/// The same for 16-bit integers: exact, then wrapped or with CLAMP saturated.
fn dot2_integers(s: [u32; 3], mods: &VopMods, output: Output, extend: fn(u64) -> i128) -> u32 {
    let term = |[a, b, _]: Sources| extend(a) * extend(b);
    let exact = term(halves(s, mods.op_sel)) + term(halves(s, mods.op_sel_hi)) + accumulator(output, s[2]);
    fit(output, exact, mods.clamp) as u32
}

fn accumulator(output: Output, bits: u32) -> i128 {
    match output {
        Output::I32 => (bits as i32).into(),
        _ => bits.into(),
    }
}

/// Fields of `width` bits, sign-extended if the accumulator is signed.
fn dot_fields(s: [u32; 3], width: u32, output: Output, clamp: bool) -> u32 {
    let unused = 32 - width;
    let field = |bits: u32, at: u32| match output {
        Output::I32 => i128::from((bits << (unused - at)) as i32 >> unused),
        _ => i128::from(bits << (unused - at) >> unused),
    };
    let terms = (0..32).step_by(width as usize).map(|at| field(s[0], at) * field(s[1], at));
    fit(output, terms.sum::<i128>() + accumulator(output, s[2]), clamp) as u32
}

const fn row(op: Op, f: fn(&Mode, [u32; 3], &VopMods) -> u32, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Packed(f), output)
}

use Output::{I32, U32};

pub(super) const ROWS: &[VectorRow] = &[
    // Documents leave open whether the steps round one by one.
    VectorRow::approximate(Op::V_DOT2_F32_F16, VectorOp::Packed(|_, s, m| dot2_floats(s, m)), Output::F32),
    VectorRow::approximate(
        Op::V_DOT2C_F32_F16,
        VectorOp::Packed(|_, s, _| dot2_floats(s, &PLAIN)),
        Output::F32,
    ),
    row(Op::V_DOT2_I32_I16, |_, s, m| dot2_integers(s, m, I32, |b| (b as i16).into()), I32),
    row(Op::V_DOT2_U32_U16, |_, s, m| dot2_integers(s, m, U32, |b| b.into()), U32),
    row(Op::V_DOT4_I32_I8, |_, s, m| dot_fields(s, 8, I32, m.clamp), I32),
    row(Op::V_DOT4_U32_U8, |_, s, m| dot_fields(s, 8, U32, m.clamp), U32),
    row(Op::V_DOT8_I32_I4, |_, s, m| dot_fields(s, 4, I32, m.clamp), I32),
    row(Op::V_DOT8_U32_U4, |_, s, m| dot_fields(s, 4, U32, m.clamp), U32),
    row(Op::V_DOT4C_I32_I8, |_, s, _| dot_fields(s, 8, I32, false), I32),
];
