//! What conversions should give, by arithmetic that shares nothing with the codec: rationals in 128 bits.

use guestwave_isa::format::{Numeric, Register};

/// A binary float: exponent bits and fraction bits.
#[derive(Clone, Copy)]
pub(super) struct Binary(u32, u32);

pub(super) const F16: Binary = Binary(5, 10);
pub(super) const F32: Binary = Binary(8, 23);
pub(super) const F64: Binary = Binary(11, 52);

/// A number: a rational times a power of two, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Exact {
    Rational { negative: bool, top: u128, bottom: u128, power: i32 },
    Infinite { negative: bool },
    Nan { negative: bool, payload: u64 },
}

fn whole(value: i128) -> Exact {
    Exact::Rational { negative: value < 0, top: value.unsigned_abs(), bottom: 1, power: 0 }
}

pub(super) fn signed(bits: u64, width: u32) -> i128 {
    let value = i128::from(bits);
    if bits >> (width - 1) & 1 == 1 { value - (1 << width) } else { value }
}

impl Binary {
    fn least(self) -> i32 {
        2 - (1 << (self.0 - 1)) - self.1 as i32
    }

    /// The number of some bits, the sign above the exponent.
    pub(super) fn decode(self, bits: u64) -> Exact {
        let fraction = bits % (1 << self.1);
        let exponent = bits >> self.1 & ((1 << self.0) - 1);
        let negative = bits >> (self.0 + self.1) & 1 == 1;
        if exponent == (1 << self.0) - 1 {
            let payload = fraction << (64 - self.1);
            return if fraction == 0 {
                Exact::Infinite { negative }
            } else {
                Exact::Nan { negative, payload }
            };
        }
        let (top, power) = match exponent {
            0 => (fraction, self.least()),
            e => (fraction + (1 << self.1), self.least() + e as i32 - 1),
        };
        Exact::Rational { negative, top: top.into(), bottom: 1, power }
    }

    /// The nearest bits, ties to even.
    pub(super) fn encode(self, value: Exact) -> u64 {
        let infinity = ((1u64 << self.0) - 1) << self.1;
        let sign = 1u64 << (self.0 + self.1);
        let (negative, magnitude) = match value {
            Exact::Nan { negative, payload } => {
                let kept = payload >> (64 - self.1);
                (negative, infinity + if kept == 0 { 1 << (self.1 - 1) } else { kept })
            }
            Exact::Infinite { negative } => (negative, infinity),
            Exact::Rational { negative, top, bottom, power } => (negative, self.nearest(top, bottom, power)),
        };
        magnitude + if negative { sign } else { 0 }
    }

    fn nearest(self, top: u128, bottom: u128, power: i32) -> u64 {
        if top == 0 {
            return 0;
        }
        // The exponent of the highest bit, found by trying.
        let bits = |v: u128| 128 - v.leading_zeros() as i32;
        let mut exponent = bits(top) - bits(bottom) + power;
        if !at_least(top, bottom, power, exponent) {
            exponent -= 1;
        }
        let step = (exponent - self.1 as i32).max(self.least());
        let count = divided(top, bottom, power - step) as u64;
        let code = count + (((step - self.least()) as u64) << self.1);
        code.min(((1u64 << self.0) - 1) << self.1)
    }
}

/// Whether `top / bottom * 2^power >= 2^exponent`.
fn at_least(top: u128, bottom: u128, power: i32, exponent: i32) -> bool {
    let by = power - exponent;
    if by >= 0 { top << by.min(60) >= bottom } else { top >= bottom << (-by).min(60) }
}

/// `top / bottom * 2^by` to the nearest integer, ties to even.
fn divided(top: u128, bottom: u128, by: i32) -> u128 {
    if by < -64 {
        return 0;
    }
    let (top, bottom) = if by >= 0 { (top << by, bottom) } else { (top, bottom << -by) };
    let (quotient, rest) = (top / bottom, top % bottom);
    quotient + u128::from(2 * rest > bottom || (2 * rest == bottom && quotient % 2 == 1))
}

/// The number of a component's bits.
pub(super) fn value(kind: Numeric, width: u32, bits: u64) -> Exact {
    let ratio = |value: i128, bottom: u128| Exact::Rational {
        negative: value < 0,
        top: value.unsigned_abs(),
        bottom,
        power: 0,
    };
    let half = (1i128 << (width - 1)) - 1;
    match kind {
        Numeric::Uint | Numeric::Uscaled => whole(bits.into()),
        Numeric::Sint | Numeric::Sscaled => whole(signed(bits, width)),
        Numeric::Unorm => ratio(bits.into(), (1 << width) - 1),
        Numeric::Snorm => ratio(signed(bits, width).max(-half), half.unsigned_abs()),
        Numeric::Fixed => ratio(signed(bits, width), 65536),
        Numeric::Float | Numeric::Snapped => match width {
            16 => F16.decode(bits),
            32 => F32.decode(bits),
            _ => F64.decode(bits),
        },
        Numeric::Ufloat => Binary(5, width - 5).decode(bits),
        Numeric::Shared => unreachable!("not a component by itself"),
    }
}

fn is_integer(kind: Numeric) -> bool {
    matches!(kind, Numeric::Uint | Numeric::Sint)
}

fn settled(kind: Numeric, register: Register) -> Register {
    match (register, kind) {
        (Register::Auto32, Numeric::Sint) => Register::S32,
        (Register::Auto32, Numeric::Uint) => Register::U32,
        (Register::Auto32, _) => Register::F32,
        (other, _) => other,
    }
}

/// Bits of a register, and the float or the integer limits that it holds.
fn shape(kind: Numeric, register: Register) -> (u32, Option<Binary>, (i128, i128)) {
    match settled(kind, register) {
        Register::F16 => (16, Some(F16), (0, 0)),
        Register::F64 => (64, Some(F64), (0, 0)),
        Register::S16 => (16, None, (-(1 << 15), (1 << 15) - 1)),
        Register::U16 => (16, None, (0, (1 << 16) - 1)),
        Register::S32 => (32, None, (-(1 << 31), (1 << 31) - 1)),
        Register::U32 => (32, None, (0, (1 << 32) - 1)),
        Register::I64 => (64, None, (-(1 << 63), (1 << 63) - 1)),
        _ => (32, Some(F32), (0, 0)),
    }
}

/// The whole part of a number times `scale`, rounded or cut, within limits; NaN is 0.
fn limited(value: Exact, scale: u128, limits: (i128, i128), cut: bool) -> i128 {
    match value {
        Exact::Nan { .. } => 0,
        Exact::Infinite { negative } => {
            if negative {
                limits.0
            } else {
                limits.1
            }
        }
        Exact::Rational { negative, top, bottom, power } => {
            let large = 128 - top.leading_zeros() as i32 + power > 80;
            let magnitude = match (large, cut) {
                (true, _) => i128::MAX,
                (_, false) => divided(top * scale, bottom, power) as i128,
                (_, true) if power >= 0 => ((top << power) / bottom) as i128,
                (_, true) if power < -100 => 0,
                (_, true) => (top / (bottom << -power)) as i128,
            };
            (if negative { -magnitude } else { magnitude }).clamp(limits.0, limits.1)
        }
    }
}

fn low(value: i128, bits: u32) -> u64 {
    (value as u128 & ((1u128 << bits) - 1)) as u64
}

/// What a load should give.
pub(super) fn loaded(kind: Numeric, width: u32, bits: u64, register: Register) -> u64 {
    let (size, float, limits) = shape(kind, register);
    match (float, is_integer(kind)) {
        (Some(float), _) => float.encode(value(kind, width, bits)),
        (None, true) => {
            let number = if kind == Numeric::Sint { signed(bits, width) } else { bits.into() };
            if width <= size { low(number, size) } else { low(number.clamp(limits.0, limits.1), size) }
        }
        (None, false) if width == size => bits,
        (None, false) => low(limited(value(kind, width, bits), 1, limits, true), size),
    }
}

/// What a store should give.
pub(super) fn stored(kind: Numeric, width: u32, register: Register, bits: u64) -> u64 {
    let (size, float, limits) = shape(kind, register);
    let (unsigned, half) = ((1i128 << width) - 1, (1i128 << (width - 1)) - 1);
    let value = match float {
        Some(float) => float.decode(bits),
        None if limits.0 < 0 && (settled(kind, register) != Register::I64 || kind == Numeric::Sint) => {
            whole(signed(bits, size))
        }
        None => whole(bits.into()),
    };
    let crossing = float.is_some() == is_integer(kind);
    if crossing && size == width {
        return bits;
    }
    match kind {
        Numeric::Uint | Numeric::Sint if float.is_none() && width >= size => match value {
            Exact::Rational { negative, top, .. } => {
                low(if negative { -(top as i128) } else { top as i128 }, width)
            }
            _ => 0,
        },
        Numeric::Uint => low(limited(value, 1, (0, unsigned), true), width),
        Numeric::Sint => low(limited(value, 1, (-half - 1, half), true), width),
        Numeric::Uscaled => low(limited(value, 1, (0, unsigned), true), width),
        Numeric::Sscaled => low(limited(value, 1, (-half - 1, half), true), width),
        Numeric::Unorm => low(limited(value, unsigned as u128, (0, unsigned), false), width),
        Numeric::Snorm => low(limited(value, half as u128, (-half, half), false), width),
        Numeric::Fixed => low(limited(value, 65536, (-half - 1, half), false), width),
        Numeric::Snapped => snapped(value),
        Numeric::Ufloat => unsigned_float(value, width),
        _ => match width {
            16 => F16.encode(value),
            32 => F32.encode(value),
            _ => F64.encode(value),
        },
    }
}

fn snapped(value: Exact) -> u64 {
    match value {
        Exact::Rational { negative, top, bottom, power } if power < -8 => {
            let top = divided(top, bottom, power + 8);
            F32.encode(Exact::Rational { negative, top, bottom: 1, power: -8 })
        }
        other => F32.encode(other),
    }
}

fn unsigned_float(value: Exact, width: u32) -> u64 {
    let negative = match value {
        Exact::Rational { negative, .. } | Exact::Infinite { negative } => negative,
        Exact::Nan { .. } => false,
    };
    if negative { 0 } else { Binary(5, width - 5).encode(value) & ((1 << width) - 1) }
}
