//! VOP3P: two 16-bit operations at once, and the mixed-precision fused multiply-add.
//!
//! OP_SEL bit i chooses the half of source i that the low result reads, OP_SEL_HI that of the high result; NEG and NEG_HI
//! (which stands in `abs`) negate the low and high result's float source. CLAMP acts on each result.

use guestwave_isa::gfx10::{Op, VopMods};

use super::extremes::Extreme;
use super::format::Format::{F16, F32, F64};
use super::row::{Exact, Output, Sources, VectorKind, VectorRow, row};
use crate::program::{UnOp, Value};

impl Exact<'_> {
    /// The half of each source that the selection bits name, zero-extended.
    pub(super) fn selected(&self, sources: Sources, selection: u8) -> Sources {
        let half = |i: usize| match selection >> i & 1 {
            0 => self.and(sources[i], 0xffff),
            _ => self.shr_u(sources[i], 16),
        };
        [half(0), half(1), half(2)]
    }

    /// The halves with the sign flipped where `negation` has a bit.
    pub(super) fn negated(&self, halves: Sources, negation: u8) -> Sources {
        let half = |i: usize| match negation >> i & 1 {
            0 => halves[i],
            _ => self.xor(halves[i], F16.sign()),
        };
        [half(0), half(1), half(2)]
    }

    fn packed_floats(&self, s: Sources, mods: &VopMods, f: impl Fn(&Self, Sources) -> Value) -> Value {
        let one = |selection, negation| {
            let result = f(self, self.negated(self.selected(s, selection), negation));
            if mods.clamp { self.clamp_to_unit(F16, result) } else { result }
        };
        let (low, high) = (one(mods.op_sel, mods.neg), one(mods.op_sel_hi, mods.abs));
        self.halves(low, high)
    }

    fn packed_integers(&self, s: Sources, mods: &VopMods, f: impl Fn(&Self, Sources) -> Value) -> Value {
        let (low, high) = (f(self, self.selected(s, mods.op_sel)), f(self, self.selected(s, mods.op_sel_hi)));
        self.halves(low, high)
    }

    /// The same of signed integers.
    fn packed_signed(&self, s: Sources, mods: &VopMods, f: impl Fn(&Self, Sources) -> Value) -> Value {
        self.packed_integers(s, mods, |e, s| f(e, s.map(|s| e.sext16(s))))
    }

    /// The sources of a mixed operation as f32: with OP_SEL_HI a half of the register, chosen by OP_SEL, else the register.
    /// NEG_HI takes the absolute value, then NEG negates.
    fn mixed(&self, s: Sources, mods: &VopMods) -> Sources {
        let chosen = self.selected(s, mods.op_sel);
        let one = |i: usize| {
            let has = |mask: u8| mask >> i & 1 != 0;
            let wide = if has(mods.op_sel_hi) { self.single_of_half(chosen[i]) } else { s[i] };
            let size = if has(mods.abs) { self.size(F32, wide) } else { wide };
            if has(mods.neg) { self.xor(size, F32.sign()) } else { size }
        };
        [one(0), one(1), one(2)]
    }

    fn mix_single(&self, s: Sources, mods: &VopMods) -> Value {
        let result = self.float_fma(F32, self.mixed(s, mods));
        if mods.clamp { self.clamp_to_unit(F32, result) } else { result }
    }

    /// The fused sum with its one rounding to f16.
    fn mix_half(&self, s: Sources, mods: &VopMods) -> Value {
        let sources = self.mixed(s, mods);
        let (number, is_nan) = if mods.op_sel_hi & 7 == 7 {
            self.half_of_halves(sources)
        } else {
            self.half_of_singles(sources)
        };
        let result = self.flush_result(F16, number);
        let result = if self.careful() {
            let nan = self.nan_half_of_single(self.nan_of(F32, &sources));
            self.select(is_nan, nan, result)
        } else {
            result
        };
        if mods.clamp { self.clamp_to_unit(F16, result) } else { result }
    }

    /// The fused sum of f32 that are all exact f16, as an f16, and whether it is a NaN.
    fn half_of_halves(&self, [x, y, z]: Sources) -> (Value, Value) {
        let sum = self.exact_sum(F16, F32, self.times(F32, x, y), z);
        (self.half(sum, self.rounding(F16)), self.is_nan(F32, sum))
    }

    /// The same of any f32.
    fn half_of_singles(&self, sources: Sources) -> (Value, Value) {
        let [x, y, z] = sources.map(|s| self.un(UnOp::F64FromF32, self.source(F32, s)));
        let sum = self.exact_sum(F16, F64, self.times(F64, x, y), z);
        (self.half_of_double(sum, self.rounding(F16)), self.is_nan(F64, sum))
    }
}

/// Without modifiers, as `v_pk_fmac_f16` has it.
const PLAIN: VopMods = VopMods { op_sel_hi: 7, ..NONE };
const NONE: VopMods = VopMods {
    neg: 0,
    abs: 0,
    clamp: false,
    omod: 0,
    op_sel: 0,
    op_sel_hi: 0,
    lane: guestwave_isa::gfx10::LaneForm::None,
    attr: 0,
    chan: 0,
};

type PackedFn = fn(&mut Exact<'_>, Sources, &VopMods) -> Value;

const fn packed(op: Op, f: PackedFn) -> VectorRow {
    row(op, VectorKind::Packed(f), Output::B32)
}

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    packed(Op::V_PK_MAD_I16, |e, s, m| {
        e.packed_signed(s, m, |e, [a, b, c]| e.fit_i16(e.add(e.mul(a, b), c), m.clamp))
    }),
    packed(Op::V_PK_MAD_U16, |e, s, m| {
        e.packed_integers(s, m, |e, [a, b, c]| e.fit_u16(e.add(e.mul(a, b), c), m.clamp))
    }),
    packed(Op::V_PK_ADD_I16, |e, s, m| e.packed_signed(s, m, |e, [a, b, _]| e.fit_i16(e.add(a, b), m.clamp))),
    packed(Op::V_PK_SUB_I16, |e, s, m| e.packed_signed(s, m, |e, [a, b, _]| e.fit_i16(e.sub(a, b), m.clamp))),
    packed(Op::V_PK_ADD_U16, |e, s, m| {
        e.packed_integers(s, m, |e, [a, b, _]| e.fit_u16(e.add(a, b), m.clamp))
    }),
    packed(Op::V_PK_SUB_U16, |e, s, m| {
        e.packed_integers(s, m, |e, [a, b, _]| e.fit_difference_u16(e.sub(a, b), m.clamp))
    }),
    packed(Op::V_PK_MUL_LO_U16, |e, s, m| e.packed_integers(s, m, |e, [a, b, _]| e.mul(a, b))),
    packed(Op::V_PK_LSHLREV_B16, |e, s, m| e.packed_integers(s, m, |e, [a, b, _]| e.shl(b, e.and(a, 15)))),
    packed(Op::V_PK_LSHRREV_B16, |e, s, m| e.packed_integers(s, m, |e, [a, b, _]| e.shr_u(b, e.and(a, 15)))),
    packed(Op::V_PK_ASHRREV_I16, |e, s, m| e.packed_signed(s, m, |e, [a, b, _]| e.shr_s(b, e.and(a, 15)))),
    packed(Op::V_PK_MAX_I16, |e, s, m| e.packed_signed(s, m, |e, [a, b, _]| e.max_s(a, b))),
    packed(Op::V_PK_MIN_I16, |e, s, m| e.packed_signed(s, m, |e, [a, b, _]| e.min_s(a, b))),
    packed(Op::V_PK_MAX_U16, |e, s, m| e.packed_integers(s, m, |e, [a, b, _]| e.max_u(a, b))),
    packed(Op::V_PK_MIN_U16, |e, s, m| e.packed_integers(s, m, |e, [a, b, _]| e.min_u(a, b))),
    packed(Op::V_PK_FMA_F16, |e, s, m| e.packed_floats(s, m, |e, s| e.float_fma(F16, s))),
    packed(Op::V_PK_FMAC_F16, |e, s, _| e.packed_floats(s, &PLAIN, |e, s| e.float_fma(F16, s))),
    packed(Op::V_PK_ADD_F16, |e, s, m| e.packed_floats(s, m, |e, [a, b, _]| e.float_add(F16, a, b))),
    packed(Op::V_PK_MUL_F16, |e, s, m| e.packed_floats(s, m, |e, [a, b, _]| e.float_mul(F16, a, b))),
    packed(Op::V_PK_MIN_F16, |e, s, m| {
        e.packed_floats(s, m, |e, [a, b, _]| e.extreme(F16, Extreme::Least, [a, b]))
    }),
    packed(Op::V_PK_MAX_F16, |e, s, m| {
        e.packed_floats(s, m, |e, [a, b, _]| e.extreme(F16, Extreme::Most, [a, b]))
    }),
    row(Op::V_FMA_MIX_F32, VectorKind::Packed(|e, s, m| e.mix_single(s, m)), Output::F32),
    row(Op::V_FMA_MIXLO_F16, VectorKind::Packed(|e, s, m| e.mix_half(s, m)), Output::F16),
    row(Op::V_FMA_MIXHI_F16, VectorKind::Packed(|e, s, m| e.mix_half(s, m)), Output::F16High),
];
