//! f64 results that MODE rounds in a direction: `(x * y + z) * 2^by` on integers, rounded once.
//!
//! Product and addend stand in frames of 128 bits whose lowest bit counts `2^exponent`; the one with the smaller exponent is
//! shifted to the other's, and whether that lost anything is kept.

use super::format::Format::F64;
use super::{Exact, Rounding};
use crate::program::{TriOp, Type, UnOp, Value};

/// Exponent of the lowest bit of a denormal.
const LEAST: i32 = -1074;
/// An exponent far below any, for zeros.
const NOTHING: i32 = -30_000;

/// A number of 128 bits, the high half first.
#[derive(Clone, Copy)]
struct Wide(Value, Value);

/// A number as sign (in its place), 128 bits, and the exponent of the lowest of them.
#[derive(Clone, Copy)]
struct Framed {
    sign: Value,
    bits: Wide,
    exponent: Value,
}

impl Exact<'_> {
    fn signed32(&self, n: i32) -> Value {
        self.c32(n.cast_unsigned())
    }

    /// `(x * y + z) * 2^by` with one rounding in MODE's direction; of values that are not finite, what the fused operation has.
    pub(super) fn directed_fused(&self, [x, y, z]: [Value; 3], by: Value) -> Value {
        let nearest = self.tri(TriOp::FmaF64, x, y, z);
        let (product, addend) = (self.framed_product(x, y), self.framed_addend(z));
        let (sum, lost) = self.framed_sum(product, addend);
        let none = self.and(self.eq(self.or(sum.bits.0, sum.bits.1), 0), self.not(lost));
        let finite = self.rounded(Framed { exponent: self.add(sum.exponent, by), ..sum }, lost);
        let same = self.eq(product.sign, addend.sign);
        let mixed = if self.rounding(F64) == Rounding::Down { F64.sign() } else { 0 };
        let zero = self.select(same, product.sign, mixed);
        let result = self.select(none, zero, finite);
        let special = |v| self.le_u(self.constant(Type::B64, F64.infinity()), self.size(F64, v));
        let any = self.or(self.or(special(x), special(y)), special(z));
        self.select(any, nearest, result)
    }

    /// `x * 2^by`, rounded likewise.
    pub(super) fn directed_scaled(&self, x: Value, by: Value) -> Value {
        let one = self.constant(Type::B64, F64.one());
        self.directed_fused([x, one, self.and(x, F64.sign())], by)
    }

    /// `x * y`, rounded likewise.
    pub(super) fn directed_product(&self, x: Value, y: Value) -> Value {
        let zero = self.and(self.xor(x, y), F64.sign());
        self.directed_fused([x, y, zero], self.c32(0))
    }

    /// The significand with its highest bit in place 52 (0 of a zero), and the exponent of its lowest bit.
    fn significand(&self, v: Value) -> (Value, Value) {
        let size = self.size(F64, v);
        let field = self.shr_u(self.high(size), 20);
        let fraction = self.and(size, (1 << 52) - 1);
        let raw = self.select(self.eq(field, 0), fraction, self.or(fraction, 1 << 52));
        let shift = self.sub(self.un(UnOp::LeadingZeros, raw), 11);
        let exponent = self.sub(self.sub(self.max_u(field, 1), 1075), shift);
        let exponent = self.select(self.eq(raw, 0), self.signed32(NOTHING), exponent);
        (self.shl(raw, shift), exponent)
    }

    fn framed_product(&self, x: Value, y: Value) -> Framed {
        let ((a, of_a), (b, of_b)) = (self.significand(x), self.significand(y));
        let bits = self.wide_product(self.shl(a, 10), self.shl(b, 10));
        let exponent = self.sub(self.add(of_a, of_b), 20);
        let exponent = self.max_s(exponent, self.signed32(NOTHING));
        let zero = self.eq(self.or(bits.0, bits.1), 0);
        let exponent = self.select(zero, self.signed32(NOTHING), exponent);
        Framed { sign: self.and(self.xor(x, y), F64.sign()), bits, exponent }
    }

    fn framed_addend(&self, z: Value) -> Framed {
        let (significand, exponent) = self.significand(z);
        let bits = Wide(self.shl(significand, 9), self.constant(Type::B64, 0));
        let exponent = self.max_s(self.sub(exponent, 73), self.signed32(NOTHING));
        Framed { sign: self.and(z, F64.sign()), bits, exponent }
    }

    fn wide_product(&self, a: Value, b: Value) -> Wide {
        let halves = |v| (self.shr_u(v, 32), self.and(v, 0xffff_ffff));
        let ((ah, al), (bh, bl)) = (halves(a), halves(b));
        let [low, up, down, high] =
            [self.mul(al, bl), self.mul(ah, bl), self.mul(al, bh), self.mul(ah, bh)].map(halves);
        let middle = self.add(self.add(low.0, up.1), down.1);
        let (carry, middle) = halves(middle);
        let top = self.add(self.or(self.shl(high.0, 32), high.1), self.add(self.add(up.0, down.0), carry));
        Wide(top, self.or(low.1, self.shl(middle, 32)))
    }

    fn either(&self, cond: Value, a: Framed, b: Framed) -> Framed {
        let of = |a, b| self.select(cond, a, b);
        let bits = Wide(of(a.bits.0, b.bits.0), of(a.bits.1, b.bits.1));
        Framed { sign: of(a.sign, b.sign), bits, exponent: of(a.exponent, b.exponent) }
    }

    /// The sum, and whether there is more of it below its lowest bit.
    fn framed_sum(&self, p: Framed, z: Framed) -> (Framed, Value) {
        let below = self.lt_s(p.exponent, z.exponent);
        let (upper, lower) = (self.either(below, z, p), self.either(below, p, z));
        let distance = self.min_u(self.sub(upper.exponent, lower.exponent), 127);
        let (moved, lost) = self.wide_right(lower.bits, distance);
        let sum = self.wide_add(upper.bits, moved);
        let swapped = self.wide_less(upper.bits, moved);
        let one = |a: Value, b: Value| self.select(swapped, a, b);
        let large = Wide(one(moved.0, upper.bits.0), one(moved.1, upper.bits.1));
        let small = Wide(one(upper.bits.0, moved.0), one(upper.bits.1, moved.1));
        // What was lost of the smaller one is missing from the difference's last bit.
        let difference = self.wide_sub(large, small, self.const64(0));
        let difference =
            self.wide_sub(difference, Wide(self.const64(0), self.const64(0)), self.extend(self.number(lost)));
        let same = self.eq(upper.sign, lower.sign);
        let bits = Wide(self.select(same, sum.0, difference.0), self.select(same, sum.1, difference.1));
        let sign = self.select(same, upper.sign, self.select(swapped, lower.sign, upper.sign));
        (Framed { sign, bits, exponent: upper.exponent }, lost)
    }

    fn const64(&self, n: u64) -> Value {
        self.constant(Type::B64, n)
    }

    fn wide_add(&self, a: Wide, b: Wide) -> Wide {
        let low = self.add(a.1, b.1);
        let carry = self.extend(self.number(self.lt_u(low, a.1)));
        Wide(self.add(self.add(a.0, b.0), carry), low)
    }

    /// `a - b - c`, `c` being 0 or 1 and one of `b` and `c` being 0.
    fn wide_sub(&self, a: Wide, b: Wide, c: Value) -> Wide {
        let taken = self.add(b.1, c);
        let borrow = self.extend(self.number(self.lt_u(a.1, taken)));
        Wide(self.sub(self.sub(a.0, b.0), borrow), self.sub(a.1, taken))
    }

    fn wide_less(&self, a: Wide, b: Wide) -> Value {
        let low = self.and(self.eq(a.0, b.0), self.lt_u(a.1, b.1));
        self.or(self.lt_u(a.0, b.0), low)
    }

    /// Shifted to the right by 0 to 127, and whether ones were lost.
    fn wide_right(&self, v: Wide, by: Value) -> (Wide, Value) {
        let far = self.ne(self.and(by, 64), 0);
        let near = self.and(by, 63);
        let zero = self.const64(0);
        let (high, low) = (self.select(far, zero, v.0), self.select(far, v.0, v.1));
        let between = self.shl(self.shl(high, 1), self.xor(near, 63));
        let result = Wide(self.shr_u(high, near), self.or(self.shr_u(low, near), between));
        // Ones among the bits that go, of the word they go from and of the one that goes whole.
        let last = self.shl(self.shr_u(low, near), near);
        let whole = self.select(far, v.1, zero);
        let lost = self.or(self.xor(low, last), whole);
        (result, self.ne(lost, 0))
    }

    /// A sum as an f64, rounded in MODE's direction; `lost` says that there is more below.
    fn rounded(&self, sum: Framed, lost: Value) -> Value {
        let leading = |v| self.un(UnOp::LeadingZeros, v);
        let Wide(high, low) = sum.bits;
        let zeros = self.select(self.eq(high, 0), self.add(leading(low), 64), leading(high));
        let to_precision = self.sub(self.c32(127 - 52), zeros);
        let to_least = self.sub(self.signed32(LEAST), sum.exponent);
        let right = self.max_s(to_precision, to_least);
        let ((cut, more), grown) = (
            self.wide_right(sum.bits, self.min_s(self.max_s(right, 0), 127)),
            self.shl(low, self.and(self.neg(right), 63)),
        );
        let is_right = self.lt_s(self.c32(0), right);
        let truncated = self.select(is_right, cut.1, grown);
        let inexact = self.or(lost, self.and(is_right, more));
        let positive = self.eq(sum.sign, 0);
        let away = match self.rounding(F64) {
            Rounding::Up => positive,
            Rounding::Down => self.not(positive),
            Rounding::Zero | Rounding::NearestEven => self.constant(Type::Bool, 0),
        };
        let magnitude = self.add(truncated, self.extend(self.number(self.and(inexact, away))));
        // The significand's highest bit adds the 1 by which the field is more.
        let field = self.add(self.add(sum.exponent, right), 1074);
        let bits = self.add(magnitude, self.shl(self.extend(field), 52));
        let infinity = self.const64(F64.infinity());
        let over = self.or(self.lt_s(self.c32(2046), field), self.le_u(infinity, bits));
        let most = self.select(away, infinity, F64.infinity() - 1);
        self.or(self.select(over, most, bits), sum.sign)
    }
}
