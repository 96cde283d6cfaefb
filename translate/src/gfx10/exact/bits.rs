//! Moves, bitwise operations, shifts, bit fields and bit counts.

use guestwave_isa::gfx10::Op;

use super::row::{Exact, Output, Sources, VectorKind, VectorRow, row, value};
use crate::program::{UnOp, Value};

impl Exact<'_> {
    /// The lowest `width` (modulo 32) bits.
    fn field_mask(&self, width: Value) -> Value {
        self.sub(self.shl(self.c32(1), width), 1)
    }

    /// The field of the source, sign-extended from its own highest bit.
    fn signed_field(&self, [a, offset, width]: Sources) -> Value {
        let width = self.and(width, 31);
        let unused = self.sub(self.c32(32), width);
        // The source counts as sign-extended, so fields that reach beyond it have its sign.
        let shifted = self.shl(self.shr_s(a, offset), unused);
        let field = self.shr_s(shifted, unused);
        self.select(self.eq(width, 0), self.c32(0), field)
    }

    /// The 64 bits of `high` and `low` shifted right by less than 32, of which the low half stays.
    fn funnel(&self, high: Value, low: Value, by: Value) -> Value {
        let by = self.and(by, 31);
        let rest = self.shl(self.shl(high, 1), self.xor(by, 31));
        self.or(self.shr_u(low, by), rest)
    }

    /// The byte that a selector names: one of the eight of the sources, the sign of a half of them, all zeros or all ones.
    fn permuted_byte(&self, [high, low, _]: Sources, selector: Value) -> Value {
        if let Some(known) = self.known(selector) {
            return self.known_byte([high, low], known);
        }
        let bytes = self.pack(low, high);
        let eights = self.shl(selector, 3);
        let chosen = self.and(self.low(self.shr_u(bytes, self.and(eights, 63))), 0xff);
        // Selectors 8 to 11 name the highest bits of the four halves: of bytes 1, 3, 5 and 7.
        let odd = self.or(self.shl(self.and(selector, 3), 4), 15);
        let signs = self.neg(self.and(self.low(self.shr_u(bytes, odd)), 1));
        let fixed = self.select(self.eq(selector, 12), self.c32(0), self.c32(0xff));
        let beyond = self.select(self.lt_u(selector, 12), self.and(signs, 0xff), fixed);
        self.select(self.lt_u(selector, 8), chosen, beyond)
    }

    /// The same where the selector is a constant.
    fn known_byte(&self, [high, low]: [Value; 2], selector: u64) -> Value {
        match selector {
            0..8 => self.and(self.shr_u(if selector < 4 { low } else { high }, 8 * (selector & 3)), 0xff),
            8..12 => {
                let half = if selector < 10 { low } else { high };
                self.and(self.shr_s(self.shl(half, 16 * (1 - (selector & 1))), 31), 0xff)
            }
            12 => self.c32(0),
            _ => self.c32(0xff),
        }
    }

    fn permute(&self, sources: Sources) -> Value {
        let bytes = [0u64, 8, 16, 24].map(|at| {
            let selector = self.and(self.shr_u(sources[2], at), 0xff);
            self.shl(self.permuted_byte(sources, selector), at)
        });
        self.or(self.or(bytes[0], bytes[1]), self.or(bytes[2], bytes[3]))
    }

    /// A count of zeros, or -1 where it is the whole dword.
    fn count_or_none(&self, op: UnOp, a: Value) -> Value {
        self.select(self.eq(a, 0), self.c32(u32::MAX), self.un(op, a))
    }
}

use Output::{B16, B32, B64};

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    value(Op::V_MOV_B32, |_, [a, ..]| a, B32),
    value(Op::V_NOT_B32, |e, [a, ..]| e.not(a), B32),
    value(Op::V_AND_B32, |e, [a, b, _]| e.and(a, b), B32),
    value(Op::V_OR_B32, |e, [a, b, _]| e.or(a, b), B32),
    value(Op::V_XOR_B32, |e, [a, b, _]| e.xor(a, b), B32),
    value(Op::V_XNOR_B32, |e, [a, b, _]| e.not(e.xor(a, b)), B32),
    value(Op::V_AND_OR_B32, |e, [a, b, c]| e.or(e.and(a, b), c), B32),
    value(Op::V_OR3_B32, |e, [a, b, c]| e.or(e.or(a, b), c), B32),
    value(Op::V_XOR3_B32, |e, [a, b, c]| e.xor(e.xor(a, b), c), B32),
    value(Op::V_LSHL_OR_B32, |e, [a, b, c]| e.or(e.shl(a, b), c), B32),
    value(Op::V_LSHLREV_B32, |e, [a, b, _]| e.shl(b, a), B32),
    value(Op::V_LSHRREV_B32, |e, [a, b, _]| e.shr_u(b, a), B32),
    value(Op::V_ASHRREV_I32, |e, [a, b, _]| e.shr_s(b, a), B32),
    value(Op::V_LSHLREV_B16, |e, [a, b, _]| e.shl(b, e.and(a, 15)), B16),
    value(Op::V_LSHRREV_B16, |e, [a, b, _]| e.shr_u(b, e.and(a, 15)), B16),
    value(Op::V_ASHRREV_I16, |e, [a, b, _]| e.shr_s(e.sext16(b), e.and(a, 15)), B16),
    value(Op::V_LSHLREV_B64, |e, [a, b, _]| e.shl(b, a), B64),
    value(Op::V_LSHRREV_B64, |e, [a, b, _]| e.shr_u(b, a), B64),
    value(Op::V_ASHRREV_I64, |e, [a, b, _]| e.shr_s(b, a), B64),
    value(Op::V_BFE_U32, |e, [a, b, c]| e.and(e.shr_u(a, b), e.field_mask(c)), B32),
    value(Op::V_BFE_I32, |e, s| e.signed_field(s), B32),
    // `mask ? a : b` a bit.
    value(Op::V_BFI_B32, |e, [mask, a, b]| e.xor(e.and(e.xor(a, b), mask), b), B32),
    value(Op::V_BFM_B32, |e, [width, offset, _]| e.shl(e.field_mask(width), offset), B32),
    value(Op::V_BFREV_B32, |e, [a, ..]| e.un(UnOp::ReverseBits, a), B32),
    value(Op::V_ALIGNBIT_B32, |e, [a, b, c]| e.funnel(a, b, c), B32),
    value(Op::V_ALIGNBYTE_B32, |e, [a, b, c]| e.funnel(a, b, e.shl(e.and(c, 3), 3)), B32),
    value(Op::V_PERM_B32, |e, s| e.permute(s), B32),
    value(Op::V_BCNT_U32_B32, |e, [a, b, _]| e.add(e.un(UnOp::CountOnes, a), b), B32),
    value(Op::V_FFBH_U32, |e, [a, ..]| e.count_or_none(UnOp::LeadingZeros, a), B32),
    value(Op::V_FFBL_B32, |e, [a, ..]| e.count_or_none(UnOp::TrailingZeros, a), B32),
    value(Op::V_FFBH_I32, |e, [a, ..]| e.count_or_none(UnOp::LeadingZeros, e.xor(a, e.shr_s(a, 31))), B32),
    row(Op::V_CNDMASK_B32, VectorKind::MaskIn(|e, [a, b, _], mask| e.select(mask, b, a)), B32),
];
