//! The table of 2/pi for the reduction of large angles.

use guestwave_isa::gfx10::Op;

use super::format::Format::F64;
use super::row::{Exact, Output, Sources, VectorRow, value};
use crate::program::{Type, UnOp, Value};

/// The first 1201 bits of 2/pi after the binary point, then zeros.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_0000,
];

/// Bits of a segment.
const SEGMENT: u64 = 53;

impl Exact<'_> {
    /// Entry `index` of the table, 0 past its end: a tree of selections by the bits of the index.
    fn two_over_pi(&self, index: Value) -> Value {
        let zero = self.constant(Type::B64, 0);
        let mut level: Vec<Value> = TWO_OVER_PI.iter().map(|w| self.constant(Type::B64, *w)).collect();
        // Six bits reach past every index that there is.
        for bit in 0..6u64 {
            let set = self.ne(self.and(index, 1 << bit), 0);
            level = level
                .chunks(2)
                .map(|pair| self.select(set, pair.get(1).copied().unwrap_or(zero), pair[0]))
                .collect();
        }
        level.first().copied().unwrap_or(zero)
    }

    /// Segment `b` of 2/pi as an f64, counted from where the product with `a` stops being a whole number of turns. Only the
    /// exponent field of `a` matters. Arguments so large that callers scale them by 2^-128 get 2^128 in return.
    fn preop(&self, [a, b, _]: Sources) -> Value {
        let exponent = self.and(self.shr_u(self.high(a), 20), 0x7ff);
        let skipped = self.max_s(self.sub(exponent, 1077), 0);
        let first = self.add(self.mul(self.and(b, 31), SEGMENT), skipped);
        let (index, by) = (self.shr_u(first, 6), self.and(first, 63));
        let (word, next) = (self.two_over_pi(index), self.two_over_pi(self.add(index, 1)));
        let rest = self.shr_u(self.shr_u(next, 1), self.xor(by, 63));
        let bits = self.shr_u(self.or(self.shl(word, by), rest), 64 - SEGMENT);
        let [high, low] = [self.high(bits), self.low(bits)].map(|half| self.un(UnOp::F64FromU32, half));
        let number = self.plus(F64, self.times(F64, high, F64.power(32)), low);
        let large = self.lt_u(self.c32(1967), exponent);
        let scale = self.sub(
            self.select(large, self.c32(128 - SEGMENT as u32), self.c32(0u32.wrapping_sub(SEGMENT as u32))),
            first,
        );
        self.flush_result(F64, self.scale_double(number, scale))
    }
}

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[value(Op::V_TRIG_PREOP_F64, |e, s| e.preop(s), Output::F64)];
