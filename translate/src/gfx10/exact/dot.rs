//! Dot products of two, four and eight components with an accumulator.

use guestwave_isa::gfx10::{Op, VopMods};

use super::format::Format::F32;
use super::row::{Exact, Output, Sources, VectorKind, VectorRow, row};
use crate::program::Value;

/// Fields of the components.
#[derive(Clone, Copy)]
struct Fields {
    width: u64,
    signed: bool,
}

impl Exact<'_> {
    /// `a.lo * b.lo + c`, then `a.hi * b.hi` added, each step fused, in a mode that rounds to nearest and flushes everything.
    /// CLAMP has no effect.
    fn dot2_floats(&mut self, s: Sources, mods: [u8; 5]) -> Value {
        let [low, high, neg_low, neg_high, neg_sum] = mods;
        self.flushing(|e| {
            let wide = |halves: Sources| halves.map(|h| e.single_of_half(h));
            let sum = if neg_sum != 0 { e.xor(s[2], F32.sign()) } else { s[2] };
            let [a, b, _] = wide(e.negated(e.selected(s, low), neg_low));
            let first = e.float_fma(F32, [a, b, sum]);
            let [a, b, _] = wide(e.negated(e.selected(s, high), neg_high));
            e.float_fma(F32, [a, b, first])
        })
    }

    /// The same for 16-bit integers: exact, then wrapped or with CLAMP saturated.
    fn dot2_integers(&self, s: Sources, mods: &VopMods, signed: bool) -> Value {
        let extended = |half| if signed { self.sext16(half) } else { half };
        let terms = [mods.op_sel, mods.op_sel_hi].map(|selection| {
            let [a, b, _] = self.selected(s, selection).map(extended);
            self.mul(a, b)
        });
        if !mods.clamp {
            return self.add(self.add(terms[0], terms[1]), s[2]);
        }
        let [x, y, z] =
            [terms[0], terms[1], s[2]].map(|t| if signed { self.extend_s(t) } else { self.extend(t) });
        let exact = self.add(self.add(x, y), z);
        if signed { self.fit_i32(exact) } else { self.fit_u32(exact) }
    }

    /// Products of the fields, whose sum fits a dword, and the accumulator.
    fn dot_fields(&self, [a, b, c]: Sources, Fields { width, signed }: Fields, clamp: bool) -> Value {
        let field = |bits, at: u64| {
            let top = self.shl(bits, 32 - width - at);
            if signed { self.shr_s(top, 32 - width) } else { self.shr_u(top, 32 - width) }
        };
        let term = |i: u64| self.mul(field(a, i * width), field(b, i * width));
        let first = term(0);
        let sum = (1..32 / width).fold(first, |sum, i| self.add(sum, term(i)));
        if signed { self.add_i32(sum, c, clamp) } else { self.add_u32(sum, c, clamp) }
    }
}

const I8: Fields = Fields { width: 8, signed: true };
const U8: Fields = Fields { width: 8, signed: false };
const I4: Fields = Fields { width: 4, signed: true };
const U4: Fields = Fields { width: 4, signed: false };

type PackedFn = fn(&mut Exact<'_>, Sources, &VopMods) -> Value;

const fn dot(op: Op, f: PackedFn) -> VectorRow {
    row(op, VectorKind::Packed(f), Output::B32)
}

/// A float dot product: documents leave open whether its steps round one by one.
const fn floats(op: Op, f: PackedFn) -> VectorRow {
    VectorRow { approximate: true, ..row(op, VectorKind::Packed(f), Output::F32) }
}

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    floats(Op::V_DOT2_F32_F16, |e, s, m| {
        e.dot2_floats(s, [m.op_sel, m.op_sel_hi, m.neg & 3, m.abs & 3, m.neg & 4])
    }),
    floats(Op::V_DOT2C_F32_F16, |e, s, _| e.dot2_floats(s, [0, 3, 0, 0, 0])),
    dot(Op::V_DOT2_I32_I16, |e, s, m| e.dot2_integers(s, m, true)),
    dot(Op::V_DOT2_U32_U16, |e, s, m| e.dot2_integers(s, m, false)),
    dot(Op::V_DOT4_I32_I8, |e, s, m| e.dot_fields(s, I8, m.clamp)),
    dot(Op::V_DOT4_U32_U8, |e, s, m| e.dot_fields(s, U8, m.clamp)),
    dot(Op::V_DOT8_I32_I4, |e, s, m| e.dot_fields(s, I4, m.clamp)),
    dot(Op::V_DOT8_U32_U4, |e, s, m| e.dot_fields(s, U4, m.clamp)),
    dot(Op::V_DOT4C_I32_I8, |e, s, _| e.dot_fields(s, I8, false)),
];
