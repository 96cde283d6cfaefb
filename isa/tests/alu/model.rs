//! A second opinion on float arithmetic: every finite value as one big integer of units 2^-2200, nothing rounded
//! before the end.

use std::cmp::Ordering;

/// Units are so small that products of the least f64 values are whole numbers of them.
const UNIT: usize = 2200;

/// A float format by the widths of its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) exponent: u32,
    pub(crate) fraction: u32,
}

pub(crate) const F16: Format = Format { exponent: 5, fraction: 10 };
pub(crate) const F32: Format = Format { exponent: 8, fraction: 23 };
pub(crate) const F64: Format = Format { exponent: 11, fraction: 52 };

impl Format {
    pub(crate) fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }
    pub(crate) fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }
    pub(crate) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }
    pub(crate) fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }
    pub(crate) fn is_infinite(self, bits: u64) -> bool {
        bits & !self.sign() == self.infinity()
    }
    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }
    /// A denormal made a zero of its sign if `flush`.
    pub(crate) fn flushed(self, bits: u64, flush: bool) -> u64 {
        if flush && bits & self.infinity() == 0 { bits & self.sign() } else { bits }
    }
}

/// A signed big integer, least limb first.
#[derive(Clone, Debug)]
pub(crate) struct Big {
    pub(crate) negative: bool,
    limbs: Vec<u64>,
}

impl Big {
    pub(crate) fn zero(negative: bool) -> Big {
        Big { negative, limbs: Vec::new() }
    }

    /// `value * 2^exponent` units' worth.
    pub(crate) fn new(negative: bool, value: u128, exponent: i64) -> Big {
        let at = (exponent + UNIT as i64) as usize;
        Big { negative, limbs: vec![value as u64, (value >> 64) as u64] }.shifted_left(at)
    }

    /// The value of a finite encoding.
    pub(crate) fn decode(f: Format, bits: u64) -> Big {
        let field = (bits & f.infinity()) >> f.fraction;
        let fraction = bits & ((1 << f.fraction) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << f.fraction };
        let exponent = field.max(1) as i64 - f.bias() - i64::from(f.fraction);
        Big::new(bits & f.sign() != 0, significand.into(), exponent)
    }

    /// The value times `2^by`; what falls below the units must be zeros.
    pub(crate) fn times_power_of_two(self, by: i64) -> Big {
        if by >= 0 {
            return self.shifted_left(by as usize);
        }
        let down = by.unsigned_abs() as usize;
        assert!(!self.any_below(down));
        let limbs = (0..self.limbs.len()).map(|i| self.bits_from(down + 64 * i)).collect();
        Big { limbs, ..self }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.limbs.iter().all(|&l| l == 0)
    }

    fn shifted_left(mut self, by: usize) -> Big {
        let spill = (by % 64) as u32;
        if spill > 0 {
            self.limbs.push(0);
            for i in (0..self.limbs.len()).rev() {
                let below = if i == 0 { 0 } else { self.limbs[i - 1] >> (64 - spill) };
                self.limbs[i] = self.limbs[i] << spill | below;
            }
        }
        self.limbs.splice(0..0, std::iter::repeat_n(0, by / 64));
        self
    }

    fn bit_length(&self) -> usize {
        let top = self.limbs.iter().rposition(|&l| l != 0);
        top.map_or(0, |i| 64 * i + 64 - self.limbs[i].leading_zeros() as usize)
    }

    fn bit(&self, at: usize) -> bool {
        self.limbs.get(at / 64).is_some_and(|l| l >> (at % 64) & 1 == 1)
    }

    /// The integer that the bits from `at` on make; they must fit.
    fn bits_from(&self, at: usize) -> u64 {
        (0..64).filter(|i| self.bit(at + i)).map(|i| 1 << i).sum()
    }

    fn any_below(&self, at: usize) -> bool {
        (0..at).any(|i| self.bit(i))
    }

    fn size_cmp(&self, other: &Big) -> Ordering {
        let n = self.limbs.len().max(other.limbs.len());
        let limb = |b: &Big, i: usize| b.limbs.get(i).copied().unwrap_or(0);
        (0..n)
            .rev()
            .map(|i| limb(self, i).cmp(&limb(other, i)))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// The sum; `down` is the rounding that makes exact zeros from opposite signs negative.
    pub(crate) fn plus(&self, other: &Big, down: bool) -> Big {
        if self.is_zero() && other.is_zero() {
            return Big::zero(if self.negative == other.negative { self.negative } else { down });
        }
        if self.negative == other.negative {
            return Big { negative: self.negative, limbs: add(&self.limbs, &other.limbs) };
        }
        match self.size_cmp(other) {
            Ordering::Equal => Big::zero(down),
            Ordering::Greater => Big { negative: self.negative, limbs: sub(&self.limbs, &other.limbs) },
            Ordering::Less => Big { negative: other.negative, limbs: sub(&other.limbs, &self.limbs) },
        }
    }
}

fn add(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut carry = 0u128;
    let limb = |s: &[u64], i: usize| u128::from(s.get(i).copied().unwrap_or(0));
    let sum = |i| {
        carry += limb(a, i) + limb(b, i);
        let low = carry as u64;
        carry >>= 64;
        low
    };
    (0..=a.len().max(b.len())).map(sum).collect()
}

/// `a - b` for `a >= b`.
fn sub(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut borrow = false;
    let limb = |s: &[u64], i: usize| s.get(i).copied().unwrap_or(0);
    let difference = |i| {
        let (x, under) = limb(a, i).overflowing_sub(limb(b, i));
        let (y, again) = x.overflowing_sub(borrow.into());
        borrow = under || again;
        y
    };
    (0..a.len().max(b.len())).map(difference).collect()
}

/// Product of two finite encodings.
pub(crate) fn product(f: Format, a: u64, b: u64) -> Big {
    let part = |bits: u64| {
        let field = (bits & f.infinity()) >> f.fraction;
        let fraction = bits & ((1 << f.fraction) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << f.fraction };
        (u128::from(significand), field.max(1) as i64 - f.bias() - i64::from(f.fraction))
    };
    let ((x, ex), (y, ey)) = (part(a), part(b));
    Big::new((a ^ b) & f.sign() != 0, x * y, ex + ey)
}

/// Rounds to a format: 0 to nearest even, 1 up, 2 down, 3 to zero.
pub(crate) fn round(f: Format, rounding: u32, value: &Big) -> u64 {
    let sign = if value.negative { f.sign() } else { 0 };
    if value.is_zero() {
        return sign;
    }
    let least = 1 - f.bias() - i64::from(f.fraction) + UNIT as i64;
    let quantum = (value.bit_length() as i64 - 1 - i64::from(f.fraction)).max(least) as usize;
    let below = value.bits_from(quantum);
    let half = value.bit(quantum - 1);
    let rest = half || value.any_below(quantum - 1);
    let away = match rounding {
        0 => half && (value.any_below(quantum - 1) || below & 1 == 1),
        1 => rest && !value.negative,
        2 => rest && value.negative,
        _ => false,
    };
    sign | compose(f, below + u64::from(away), quantum as i64 - least, rounding, value.negative)
}

/// The encoding of `significand` quanta, `quantum` powers of two above the least one.
fn compose(f: Format, significand: u64, quantum: i64, rounding: u32, negative: bool) -> u64 {
    let (significand, quantum) = match significand >> (f.fraction + 1) {
        0 => (significand, quantum),
        _ => (significand >> 1, quantum + 1),
    };
    let field = if significand >> f.fraction == 0 { 0 } else { quantum + 1 };
    if field >= (1 << f.exponent) - 1 {
        let outward = rounding == 0 || rounding == 1 && !negative || rounding == 2 && negative;
        return f.infinity() - u64::from(!outward);
    }
    (field as u64) << f.fraction | significand & ((1 << f.fraction) - 1)
}
