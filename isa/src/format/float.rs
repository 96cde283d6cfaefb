//! Binary floating-point formats of up to 64 bits, on integers.

/// A binary format with a hidden bit, denormals, infinity and NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Binary {
    exponent_bits: u32,
    fraction_bits: u32,
    signed: bool,
}

pub(super) const F64: Binary = Binary { exponent_bits: 11, fraction_bits: 52, signed: true };
pub(super) const F32: Binary = Binary { exponent_bits: 8, fraction_bits: 23, signed: true };
pub(super) const F16: Binary = Binary { exponent_bits: 5, fraction_bits: 10, signed: true };
pub(super) const U11: Binary = Binary { exponent_bits: 5, fraction_bits: 6, signed: false };
pub(super) const U10: Binary = Binary { exponent_bits: 5, fraction_bits: 5, signed: false };

/// A value of a [`Binary`] format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// With the fraction bits as the top bits of 64.
    Nan {
        negative: bool,
        payload: u64,
    },
    Infinite {
        negative: bool,
    },
    /// `magnitude * 2^exponent`.
    Finite {
        negative: bool,
        magnitude: u64,
        exponent: i32,
    },
}

impl Binary {
    fn exponent_max(self) -> u64 {
        (1 << self.exponent_bits) - 1
    }

    /// Exponent of a denormal's lowest bit.
    fn least_exponent(self) -> i32 {
        2 - (1 << (self.exponent_bits - 1)) - self.fraction_bits as i32
    }

    /// The value that `bits` stand for.
    pub(super) fn decode(self, bits: u64) -> Value {
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let biased = (bits >> self.fraction_bits) & self.exponent_max();
        let negative = self.signed && (bits >> (self.fraction_bits + self.exponent_bits)) & 1 != 0;
        if biased == self.exponent_max() {
            return match fraction {
                0 => Value::Infinite { negative },
                f => Value::Nan { negative, payload: f << (64 - self.fraction_bits) },
            };
        }
        let hidden = u64::from(biased != 0) << self.fraction_bits;
        let exponent = self.least_exponent() + biased.max(1) as i32 - 1;
        Value::Finite { negative, magnitude: fraction | hidden, exponent }
    }

    /// The nearest bits, ties to even; too large becomes infinite. A format without a sign holds negative numbers
    /// as 0. NaN keeps its sign and the top of its payload and becomes quiet if that leaves nothing.
    pub(super) fn encode(self, value: Value) -> u64 {
        let infinity = self.exponent_max() << self.fraction_bits;
        let (negative, bits) = match value {
            Value::Nan { negative, payload } => {
                let kept = payload >> (64 - self.fraction_bits);
                let quiet = u64::from(kept == 0) << (self.fraction_bits - 1);
                (negative && self.signed, infinity | kept | quiet)
            }
            Value::Infinite { negative } => (negative, infinity),
            Value::Finite { negative, magnitude, exponent } => (negative, self.round(magnitude, exponent)),
        };
        match (negative, self.signed) {
            (true, true) => bits | 1 << (self.fraction_bits + self.exponent_bits),
            (true, false) => 0,
            (false, _) => bits,
        }
    }

    /// The nearest bits to `magnitude * 2^exponent`, ties to even, without a sign.
    fn round(self, magnitude: u64, exponent: i32) -> u64 {
        if magnitude == 0 {
            return 0;
        }
        let top = 63 - magnitude.leading_zeros() as i32;
        let lowest = (top + exponent - self.fraction_bits as i32).max(self.least_exponent());
        let significand = shift_to_even(magnitude.into(), exponent - lowest) as u64;
        // A significand that rounded up to the next power of two carries into the exponent by itself.
        let biased = (lowest - self.least_exponent()) as u64;
        let infinity = self.exponent_max() << self.fraction_bits;
        // Far past the largest number the exponent's field would overflow into the sign and beyond.
        if biased > self.exponent_max() {
            infinity
        } else {
            (significand + (biased << self.fraction_bits)).min(infinity)
        }
    }
}

/// `value * 2^by`, rounded to nearest, ties to even. Shifts to the left must not overflow.
pub(super) fn shift_to_even(value: u128, by: i32) -> u128 {
    if by >= 0 {
        return value << by.min(127);
    }
    let right = by.unsigned_abs();
    if right > 127 {
        return 0;
    }
    let (whole, rest) = (value >> right, value & ((1 << right) - 1));
    let half = 1u128 << (right - 1);
    let up = rest > half || (rest == half && whole & 1 != 0);
    whole + u128::from(up)
}
