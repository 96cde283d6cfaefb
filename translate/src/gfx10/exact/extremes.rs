//! Float minimum, maximum and median.
//!
//! -0 is below +0. A NaN loses to a number, of two NaNs the first wins; with MODE's IEEE bit a signalling one wins over all.

use guestwave_isa::gfx10::Op;

use super::format::Format::{self, F16, F32, F64};
use super::row::{Exact, Output, Sources, VectorRow, value};
use crate::program::{Type, UnOp, Value};

/// Which end of the order is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extreme {
    Least,
    Most,
}

use Extreme::{Least, Most};

impl Exact<'_> {
    /// f16 bits as integers in the order of the floats.
    fn half_key(&self, bits: Value) -> Value {
        let signed = self.sext16(bits);
        self.xor(signed, self.shr_u(self.shr_s(signed, 31), 17))
    }

    /// The first or second of two numbers, by their order; zeros of both signs by theirs. `first_wins` decides beforehand.
    fn pick(&self, f: Format, x: Extreme, first_wins: Value, [a, b]: [Value; 2]) -> Value {
        if f == F16 {
            let [p, q] = [a, b].map(|s| self.half_key(s));
            let ordered = if x == Least { self.lt_s(p, q) } else { self.lt_s(q, p) };
            return self.select(self.or(first_wins, ordered), a, b);
        }
        let ordered = if x == Least { self.less(f, a, b) } else { self.less(f, b, a) };
        // Equal numbers are equal bits but for zeros, where the sign is to win or to lose.
        let both = if x == Least { self.or(a, b) } else { self.and(a, b) };
        let otherwise = self.select(self.equal(f, a, b), both, b);
        self.select(self.or(first_wins, ordered), a, otherwise)
    }

    /// The extreme of two sources that are flushed already.
    fn extreme_of_flushed(&self, f: Format, x: Extreme, [a, b]: [Value; 2]) -> Value {
        if !self.careful() {
            return self.pick(f, x, self.constant(Type::Bool, 0), [a, b]);
        }
        let number = if f == F16 {
            self.half_beside_nan(x, [a, b])
        } else {
            self.pick(f, x, self.is_nan(f, b), [a, b])
        };
        let chosen = if self.mode.ieee {
            let second = self.select(self.is_signalling(f, b), b, number);
            self.select(self.is_signalling(f, a), a, second)
        } else {
            number
        };
        self.quieted(f, self.is_nan(f, chosen), chosen)
    }

    /// [`Exact::pick`] of halves, whose integer order knows no NaN.
    fn half_beside_nan(&self, x: Extreme, [a, b]: [Value; 2]) -> Value {
        let picked = self.pick(F16, x, self.is_nan(F16, b), [a, b]);
        let second_wins = self.and(self.is_nan(F16, a), self.not(self.is_nan(F16, b)));
        self.select(second_wins, b, picked)
    }

    pub(super) fn extreme(&self, f: Format, x: Extreme, sources: [Value; 2]) -> Value {
        self.extreme_of_flushed(f, x, sources.map(|s| self.passed(f, s)))
    }

    fn extreme_of_three(&self, f: Format, x: Extreme, sources: Sources) -> Value {
        let [a, b, c] = sources.map(|s| self.passed(f, s));
        let first = self.extreme_of_flushed(f, x, [a, b]);
        self.extreme_of_flushed(f, x, [first, c])
    }

    /// The median: what is left when the first source that *equals* the maximum is taken away, zeros of both signs being
    /// equal there. With a NaN it is the minimum.
    fn median(&self, f: Format, sources: Sources) -> Value {
        let flushed @ [a, b, c] = sources.map(|s| self.passed(f, s));
        let never = self.constant(Type::Bool, 0);
        let carrier = if f == F16 { F32 } else { f };
        let [x, y, z] = flushed.map(|s| if f == F16 { self.un(UnOp::F32FromF16, s) } else { s });
        let later = self.pick(carrier, Most, never, [y, z]);
        let first_is_most = self.less_or_equal(carrier, later, x);
        let second_is_most = self.less_or_equal(carrier, z, y);
        let rest = self.pick(carrier, Most, never, [x, self.select(second_is_most, z, y)]);
        let wide = self.select(first_is_most, later, rest);
        let number = if f == F16 { self.un(UnOp::F16FromF32, wide) } else { wide };
        if !self.careful() {
            return number;
        }
        let nan = self.or(self.or(self.is_nan(f, a), self.is_nan(f, b)), self.is_nan(f, c));
        self.select(nan, self.extreme_of_three(f, Least, sources), number)
    }
}

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    value(Op::V_MIN_F16, |e, [a, b, _]| e.extreme(F16, Least, [a, b]), Output::F16),
    value(Op::V_MIN_F32, |e, [a, b, _]| e.extreme(F32, Least, [a, b]), Output::F32),
    value(Op::V_MIN_F64, |e, [a, b, _]| e.extreme(F64, Least, [a, b]), Output::F64),
    value(Op::V_MAX_F16, |e, [a, b, _]| e.extreme(F16, Most, [a, b]), Output::F16),
    value(Op::V_MAX_F32, |e, [a, b, _]| e.extreme(F32, Most, [a, b]), Output::F32),
    value(Op::V_MAX_F64, |e, [a, b, _]| e.extreme(F64, Most, [a, b]), Output::F64),
    value(Op::V_MIN3_F16, |e, s| e.extreme_of_three(F16, Least, s), Output::F16),
    value(Op::V_MIN3_F32, |e, s| e.extreme_of_three(F32, Least, s), Output::F32),
    value(Op::V_MAX3_F16, |e, s| e.extreme_of_three(F16, Most, s), Output::F16),
    value(Op::V_MAX3_F32, |e, s| e.extreme_of_three(F32, Most, s), Output::F32),
    value(Op::V_MED3_F16, |e, s| e.median(F16, s), Output::F16),
    value(Op::V_MED3_F32, |e, s| e.median(F32, s), Output::F32),
];
