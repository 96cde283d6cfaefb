//! Moves, selections, shifts and bit counts.

use guestwave_isa::mali::valhall::{Inst, Op, field};

use super::Meaning::{self, Each, Whole};
use super::{Components, Lane};
use crate::program::{BinOp, Builder, UnOp, Value};

impl Lane<'_> {
    fn amount(&mut self) -> Value {
        let by = self.bits() - 1;
        self.with(BinOp::And, self.s[1], by.into())
    }

    fn left(&mut self) -> Value {
        let by = self.amount();
        self.bin(BinOp::Shl, self.s[0], by)
    }

    fn right(&mut self) -> Value {
        let by = self.amount();
        if self.inst.code(&field::SIGNED) == 0 {
            return self.bin(BinOp::ShrU, self.s[0], by);
        }
        // Narrow components come without their sign.
        let value = match self.bits() {
            8 => self.un(UnOp::Sext8, self.s[0]),
            16 => self.un(UnOp::Sext16, self.s[0]),
            _ => self.s[0],
        };
        self.bin(BinOp::ShrS, value, by)
    }

    /// `shifted` and the third source, perhaps inverted.
    fn combined(&mut self, op: BinOp, shifted: Value) -> Value {
        let result = self.bin(op, shifted, self.s[2]);
        if self.inst.code(&field::NOT_RESULT) == 0 { result } else { self.un(UnOp::Not, result) }
    }

    fn mux(&mut self) -> Value {
        let [a, b, select, _] = self.s;
        let bits = self.bits();
        let select = self.with(BinOp::And, select, u64::MAX >> (64 - bits));
        let zero = self.b.c32(0);
        let first = match self.inst.code(&field::MUX) {
            0 => {
                let sign = self.b.shift(BinOp::ShrU, select, bits - 1);
                self.bin(BinOp::Ne, sign, zero)
            }
            1 => self.bin(BinOp::Eq, select, zero),
            2 => {
                let size = self.with(BinOp::And, select, (1 << (bits - 1)) - 1);
                self.bin(BinOp::Eq, size, zero)
            }
            _ => {
                let of_a = self.bin(BinOp::And, a, select);
                let other = self.un(UnOp::Not, select);
                let of_b = self.bin(BinOp::And, b, other);
                return self.bin(BinOp::Or, of_a, of_b);
            }
        };
        self.select(first, a, b)
    }

    fn leading_zeros(&mut self) -> Value {
        let count = self.un(UnOp::LeadingZeros, self.s[0]);
        let unused = 32 - self.bits();
        self.with(BinOp::Sub, count, unused.into())
    }

    fn magnitude(&mut self) -> Value {
        let zero = self.b.c32(0);
        let negative = self.bin(BinOp::LtS, self.s[0], zero);
        let turned = self.un(UnOp::Neg, self.s[0]);
        self.select(negative, turned, self.s[0])
    }
}

fn make_halves(b: &mut Builder, _: &Inst, s: [Components; 4]) -> Value {
    let low = b.with_constant(BinOp::And, s[0][0], 0xffff);
    let high = b.shift(BinOp::Shl, s[1][0], 16);
    b.bin(BinOp::Or, low, high)
}

fn make_bytes(b: &mut Builder, _: &Inst, s: [Components; 4]) -> Value {
    let low = b.with_constant(BinOp::And, s[0][0], 0xff);
    let second = b.with_constant(BinOp::And, s[1][0], 0xff);
    let second = b.shift(BinOp::Shl, second, 8);
    let rest = b.shift(BinOp::Shl, s[2][0], 16);
    let low = b.bin(BinOp::Or, low, second);
    b.bin(BinOp::Or, low, rest)
}

fn shifted(lane: &mut Lane<'_>, op: BinOp, left: bool) -> Value {
    let shifted = if left { lane.left() } else { lane.right() };
    lane.combined(op, shifted)
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::Mov, Each(|l| l.s[0])),
    (Op::Not, Each(|l| l.un(UnOp::Not, l.s[0]))),
    (Op::Mux, Each(|l| l.mux())),
    (Op::Clz, Each(|l| l.leading_zeros())),
    (Op::Iabs, Each(|l| l.magnitude())),
    (Op::Popcount, Each(|l| l.un(UnOp::CountOnes, l.s[0]))),
    (Op::BitReverse, Each(|l| l.un(UnOp::ReverseBits, l.s[0]))),
    (Op::LshiftAnd, Each(|l| shifted(l, BinOp::And, true))),
    (Op::LshiftOr, Each(|l| shifted(l, BinOp::Or, true))),
    (Op::LshiftXor, Each(|l| shifted(l, BinOp::Xor, true))),
    (Op::RshiftAnd, Each(|l| shifted(l, BinOp::And, false))),
    (Op::RshiftOr, Each(|l| shifted(l, BinOp::Or, false))),
    (Op::RshiftXor, Each(|l| shifted(l, BinOp::Xor, false))),
    (Op::MakeHalves, Whole(make_halves)),
    (Op::MakeBytes, Whole(make_bytes)),
];
