//! VOP3P: two 16-bit operations at once, and the mixed-precision fused multiply-add.
//!
//! OP_SEL bit i chooses the half of source i that the low result reads, OP_SEL_HI that of the high result; NEG and
//! NEG_HI (which stands in `abs`) negate the low and high result's float source. CLAMP acts on each result.

use super::arith::{add, fma, fused_towards, mul};
use super::convert::change;
use super::format::{F16, F32, Format, first_nan, store_rounded};
use super::output::{clamp_to_unit, fit};
use super::select::{max, min};
use super::{Mode, Output, Sources, VectorOp, VectorRow};
use crate::gfx10::{Op, VopMods};

/// The half of each source that the selection bits name, zero-extended.
pub(super) fn halves(sources: [u32; 3], selection: u8) -> Sources {
    std::array::from_fn(|i| u64::from(sources[i] >> (u32::from(selection >> i & 1) * 16) & 0xffff))
}

/// The halves with the sign flipped where `negation` has a bit.
pub(super) fn negated(halves: Sources, negation: u8) -> Sources {
    std::array::from_fn(|i| halves[i] ^ if negation >> i & 1 != 0 { F16::SIGN } else { 0 })
}

fn both(low: u64, high: u64) -> u32 {
    (low & 0xffff | high << 16) as u32
}

fn floats(mode: &Mode, s: [u32; 3], mods: &VopMods, f: fn(&Mode, Sources) -> u64) -> u32 {
    let one = |selection, negation| {
        let bits = f(mode, negated(halves(s, selection), negation));
        if mods.clamp { clamp_to_unit::<F16>(mode, bits) } else { bits }
    };
    both(one(mods.op_sel, mods.neg), one(mods.op_sel_hi, mods.abs))
}

/// Integers whose exact results wrap, or saturate with CLAMP.
fn integers(s: [u32; 3], mods: &VopMods, output: Output, f: fn(Sources) -> i128) -> u32 {
    let one = |selection| fit(output, f(halves(s, selection)), mods.clamp);
    both(one(mods.op_sel), one(mods.op_sel_hi))
}

/// Integers whose results always wrap.
fn wrapping(s: [u32; 3], mods: &VopMods, f: fn(Sources) -> i128) -> u32 {
    integers(s, &VopMods { clamp: false, ..*mods }, Output::U16, f)
}

fn signed(bits: u64) -> i128 {
    (bits as i16).into()
}

fn unsigned(bits: u64) -> i128 {
    bits.into()
}

/// `v_pk_fmac_f16` has no modifiers.
fn fmac(mode: &Mode, s: [u32; 3], _: &VopMods) -> u32 {
    floats(mode, s, &VopMods { op_sel_hi: 7, ..VopMods::default() }, fma::<F16>)
}

/// The sources of a mixed operation as f32: with OP_SEL_HI a half of the register, chosen by OP_SEL, else the
/// register. NEG_HI takes the absolute value, then NEG negates.
fn mixed(mode: &Mode, s: [u32; 3], mods: &VopMods) -> Sources {
    let chosen = halves(s, mods.op_sel);
    std::array::from_fn(|i| {
        let has = |mask: u8| mask >> i & 1 != 0;
        let wide = match has(mods.op_sel_hi) {
            true => change::<F16, F32>(mode, mode.round32(), chosen[i]),
            false => s[i].into(),
        };
        let size = if has(mods.abs) { wide & !F32::SIGN } else { wide };
        if has(mods.neg) { size ^ F32::SIGN } else { size }
    })
}

fn mix_f32(mode: &Mode, s: [u32; 3], mods: &VopMods) -> u32 {
    let bits = fma::<F32>(mode, mixed(mode, s, mods));
    (if mods.clamp { clamp_to_unit::<F32>(mode, bits) } else { bits }) as u32
}

/// The fused sum with its one rounding to f16.
fn mix_f16(mode: &Mode, s: [u32; 3], mods: &VopMods) -> u32 {
    let sources = mixed(mode, s, mods);
    let rounding = F16::rounding(mode);
    let bits = match first_nan::<F32>(&sources) {
        Some(nan) => change::<F32, F16>(mode, rounding, nan),
        None => store_rounded::<F16>(mode, rounding, fused_towards::<F32>(mode, rounding, sources)),
    };
    (if mods.clamp { clamp_to_unit::<F16>(mode, bits) } else { bits }) as u32
}

type PackedFn = fn(&Mode, [u32; 3], &VopMods) -> u32;

const fn row(op: Op, f: PackedFn) -> VectorRow {
    VectorRow::new(op, VectorOp::Packed(f), Output::U32)
}

const fn half_row(op: Op, f: PackedFn, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Packed(f), output)
}

use Output::{I16, U16};

pub(super) const ROWS: &[VectorRow] = &[
    row(Op::V_PK_MAD_I16, |_, s, m| integers(s, m, I16, |[a, b, c]| signed(a) * signed(b) + signed(c))),
    row(Op::V_PK_MAD_U16, |_, s, m| integers(s, m, U16, |[a, b, c]| unsigned(a) * unsigned(b) + unsigned(c))),
    row(Op::V_PK_ADD_I16, |_, s, m| integers(s, m, I16, |[a, b, _]| signed(a) + signed(b))),
    row(Op::V_PK_SUB_I16, |_, s, m| integers(s, m, I16, |[a, b, _]| signed(a) - signed(b))),
    row(Op::V_PK_ADD_U16, |_, s, m| integers(s, m, U16, |[a, b, _]| unsigned(a) + unsigned(b))),
    row(Op::V_PK_SUB_U16, |_, s, m| integers(s, m, U16, |[a, b, _]| unsigned(a) - unsigned(b))),
    row(Op::V_PK_MUL_LO_U16, |_, s, m| wrapping(s, m, |[a, b, _]| unsigned(a) * unsigned(b))),
    row(Op::V_PK_LSHLREV_B16, |_, s, m| wrapping(s, m, |[a, b, _]| unsigned(b) << (a & 15))),
    row(Op::V_PK_LSHRREV_B16, |_, s, m| wrapping(s, m, |[a, b, _]| unsigned(b) >> (a & 15))),
    row(Op::V_PK_ASHRREV_I16, |_, s, m| wrapping(s, m, |[a, b, _]| signed(b) >> (a & 15))),
    row(Op::V_PK_MAX_I16, |_, s, m| wrapping(s, m, |[a, b, _]| signed(a).max(signed(b)))),
    row(Op::V_PK_MIN_I16, |_, s, m| wrapping(s, m, |[a, b, _]| signed(a).min(signed(b)))),
    row(Op::V_PK_MAX_U16, |_, s, m| wrapping(s, m, |[a, b, _]| unsigned(a).max(unsigned(b)))),
    row(Op::V_PK_MIN_U16, |_, s, m| wrapping(s, m, |[a, b, _]| unsigned(a).min(unsigned(b)))),
    row(Op::V_PK_FMA_F16, |mode, s, m| floats(mode, s, m, fma::<F16>)),
    row(Op::V_PK_FMAC_F16, fmac),
    row(Op::V_PK_ADD_F16, |mode, s, m| floats(mode, s, m, |mode, [a, b, _]| add::<F16>(mode, a, b))),
    row(Op::V_PK_MUL_F16, |mode, s, m| floats(mode, s, m, |mode, [a, b, _]| mul::<F16>(mode, a, b))),
    row(Op::V_PK_MIN_F16, |mode, s, m| floats(mode, s, m, |mode, [a, b, _]| min::<F16>(mode, a, b))),
    row(Op::V_PK_MAX_F16, |mode, s, m| floats(mode, s, m, |mode, [a, b, _]| max::<F16>(mode, a, b))),
    half_row(Op::V_FMA_MIX_F32, mix_f32, Output::F32),
    half_row(Op::V_FMA_MIXLO_F16, mix_f16, Output::F16),
    half_row(Op::V_FMA_MIXHI_F16, mix_f16, Output::F16High),
];
