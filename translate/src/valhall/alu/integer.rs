//! Integer arithmetic.

use guestwave_isa::mali::valhall::{Inst, Op, field};

use super::Meaning::{self, Each, Whole};
use super::{Components, Lane};
use crate::program::{BinOp, Builder, Value};

impl Lane<'_> {
    fn saturates(&self) -> bool {
        self.inst.code(&field::SATURATE) != 0
    }

    /// Largest number of the type.
    fn most(&self) -> u64 {
        u64::MAX >> (64 - self.bits()) >> u32::from(self.ty().signed())
    }

    /// A result that fits 32 bits, of a narrower type, clamped to the type.
    fn clamped(&mut self, exact: Value) -> Value {
        let most = self.most();
        if !self.ty().signed() {
            let positive = self.with(BinOp::MaxS, exact, 0);
            return self.with(BinOp::MinU, positive, most);
        }
        let below = self.with(BinOp::MinS, exact, most);
        self.with(BinOp::MaxS, below, u64::from(!(most as u32)))
    }

    /// The end of the range that a sum whose first operand is `a` runs over.
    fn signed_limit(&mut self, a: Value) -> Value {
        let most = self.most();
        let (low, high) = (self.b.like(a, !most), self.b.like(a, most));
        let negative = self.with(BinOp::LtS, a, 0);
        self.select(negative, low, high)
    }

    fn is_negative(&mut self, a: Value) -> Value {
        self.with(BinOp::LtS, a, 0)
    }

    fn add(&mut self) -> Value {
        let [a, b, ..] = self.s;
        let sum = self.bin(BinOp::Add, a, b);
        match (self.saturates(), self.bits() < 32, self.ty().signed()) {
            (false, ..) => sum,
            (_, true, _) => self.clamped(sum),
            (_, _, false) => {
                let wrapped = self.bin(BinOp::LtU, sum, a);
                let most = self.b.like(a, u64::MAX);
                self.select(wrapped, most, sum)
            }
            _ => {
                let [x, y] = [a, b].map(|s| self.bin(BinOp::Xor, s, sum));
                let both = self.bin(BinOp::And, x, y);
                let wrapped = self.is_negative(both);
                let limit = self.signed_limit(a);
                self.select(wrapped, limit, sum)
            }
        }
    }

    fn subtract(&mut self) -> Value {
        let [a, b, ..] = self.s;
        let difference = self.bin(BinOp::Sub, a, b);
        match (self.saturates(), self.bits() < 32, self.ty().signed()) {
            (false, ..) => difference,
            (_, true, _) => self.clamped(difference),
            (_, _, false) => {
                let wrapped = self.bin(BinOp::LtU, a, b);
                let zero = self.b.like(a, 0);
                self.select(wrapped, zero, difference)
            }
            _ => {
                let [x, y] = [b, difference].map(|s| self.bin(BinOp::Xor, s, a));
                let both = self.bin(BinOp::And, x, y);
                let wrapped = self.is_negative(both);
                let limit = self.signed_limit(a);
                self.select(wrapped, limit, difference)
            }
        }
    }

    fn multiply(&mut self) -> Value {
        let [a, b, ..] = self.s;
        let low = self.bin(BinOp::Mul, a, b);
        match (self.saturates(), self.bits() < 32, self.ty().signed()) {
            (false, ..) => low,
            // Products of unsigned halves use all 32 bits.
            (_, true, false) => self.with(BinOp::MinU, low, self.most()),
            (_, true, true) => self.clamped(low),
            (_, _, false) => {
                let high = self.bin(BinOp::MulHighU, a, b);
                let wrapped = self.with(BinOp::Ne, high, 0);
                let most = self.b.like(a, u64::MAX);
                self.select(wrapped, most, low)
            }
            _ => {
                let high = self.bin(BinOp::MulHighS, a, b);
                let sign = self.b.shift(BinOp::ShrS, low, 31);
                let wrapped = self.bin(BinOp::Ne, high, sign);
                let limit = self.signed_limit(high);
                self.select(wrapped, limit, low)
            }
        }
    }

    /// Half of a sum, without its 33rd bit.
    fn halved_sum(&mut self) -> Value {
        let [a, b, ..] = self.s;
        let shift = if self.ty().signed() { BinOp::ShrS } else { BinOp::ShrU };
        let differ = self.bin(BinOp::Xor, a, b);
        let half = self.b.shift(shift, differ, 1);
        if self.inst.code(&field::RHADD) != 0 {
            let either = self.bin(BinOp::Or, a, b);
            return self.bin(BinOp::Sub, either, half);
        }
        let both = self.bin(BinOp::And, a, b);
        self.bin(BinOp::Add, both, half)
    }

    fn shifted_add(&mut self) -> Value {
        let by = self.inst.immediate("shift");
        let shifted = self.b.shift(BinOp::Shl, self.s[1], by);
        self.bin(BinOp::Add, self.s[0], shifted)
    }
}

fn multiply_wide(b: &mut Builder, _: &Inst, s: [Components; 4]) -> Value {
    let low = b.bin(BinOp::Mul, s[0][0], s[1][0]);
    let high = b.bin(BinOp::MulHighU, s[0][0], s[1][0]);
    b.bin(BinOp::Pack, low, high)
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::Iadd, Each(|l| l.add())),
    (Op::Isub, Each(|l| l.subtract())),
    (Op::Imul, Each(|l| l.multiply())),
    (Op::Hadd, Each(|l| l.halved_sum())),
    (Op::ShiftAdd, Each(|l| l.shifted_add())),
    (Op::ImulWide, Whole(multiply_wide)),
];
