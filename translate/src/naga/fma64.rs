//! Fused multiply-add of f64 in integers, for hosts that round twice.
//!
//! The product of the significands and the addend are placed in 128 bits, the larger with its first bit at 124 or 125; what is
//! shifted out of the smaller stays as a last bit. The sum is brought to 63 bits likewise and rounded once.

use naga::{MathFunction as M, ScalarKind as K};

use super::func::{Ex, Func};

/// 128 bits.
#[derive(Clone, Copy)]
struct Wide {
    low: Ex,
    high: Ex,
}

/// A finite number that is not 0: `significand * 2^(exponent - 52 - 1023)`, the significand with 53 bits.
struct Parts {
    negative: Ex,
    exponent: Ex,
    significand: Ex,
}

const FRACTION: u64 = (1 << 52) - 1;

fn leading_zeros64(f: &mut Func, x: Ex) -> Ex {
    super::int::leading_zeros(f, x, crate::program::Type::B64)
}

/// An exponent field.
fn field(f: &mut Func, x: Ex) -> Ex {
    let high = f.high(x);
    let high = f.shr_u32(high, 20);
    f.and_u32(high, 0x7ff)
}

fn split(f: &mut Func, x: Ex) -> Parts {
    let (mask, hidden) = (f.u64(FRACTION), f.u64(1 << 52));
    let (fraction, stored) = (f.and(x, mask), field(f, x));
    let normal = f.or(fraction, hidden);
    let denormal = f.is_u32(stored, 0);
    // A denormal is brought to 53 bits; its exponent is 1 less what that took.
    let zeros = leading_zeros64(f, fraction);
    let eleven = f.u32(11);
    let by = f.sub(zeros, eleven);
    let by = f.and_u32(by, 63);
    let (shifted, one) = (f.shl(fraction, by), f.u32(1));
    let lowered = f.sub(one, by);
    let exponent = f.select(denormal, lowered, stored);
    let top = f.u64(u64::MAX >> 1);
    Parts {
        negative: f.gt(x, top),
        exponent: f.bits(K::Sint, exponent),
        significand: f.select(denormal, shifted, normal),
    }
}

/// The product of two 53-bit significands.
fn product(f: &mut Func, a: Ex, b: Ex) -> Wide {
    let mask = f.u64(u64::from(u32::MAX));
    let [a0, b0] = [a, b].map(|x| f.and(x, mask));
    let [a1, b1] = [a, b].map(|x| f.shr_u32(x, 32));
    let (low, high) = (f.mul(a0, b0), f.mul(a1, b1));
    // Neither middle product has more than 53 bits, so that their sum fits.
    let (left, right) = (f.mul(a0, b1), f.mul(a1, b0));
    let middle = f.add(left, right);
    let carry = f.shr_u32(low, 32);
    let middle = f.add(middle, carry);
    let low_half = f.and(low, mask);
    let middle_low = f.shl_u32(middle, 32);
    let middle_high = f.shr_u32(middle, 32);
    Wide { low: f.or(middle_low, low_half), high: f.add(high, middle_high) }
}

/// `x << by`, `by` a constant from 1 to 63.
fn shl_const(f: &mut Func, x: Wide, by: u32) -> Wide {
    let (high, crossing) = (f.shl_u32(x.high, by), f.shr_u32(x.low, 64 - by));
    Wide { low: f.shl_u32(x.low, by), high: f.or(high, crossing) }
}

/// `x >> by` with the last bit set if any bit was lost; `by` from 0 up.
fn shr_jam(f: &mut Func, x: Wide, by: Ex) -> Wide {
    let (most, zero64) = (f.u32(127), f.u64(0));
    let by = f.math(M::Min, &[by, most]);
    let fine = f.and_u32(by, 63);
    let coarse = f.u32(64);
    let coarse = f.ge(by, coarse);
    let lost_low = f.select(coarse, x.low, zero64);
    let low = f.select(coarse, x.high, x.low);
    let high = f.select(coarse, zero64, x.high);
    // `high << (64 - fine)` in two steps, since a shift by 64 has no meaning.
    let rest = f.u32(63);
    let rest = f.sub(rest, fine);
    let crossing = f.shl_u32(high, 1);
    let crossing = f.shl(crossing, rest);
    let kept = f.shr(low, fine);
    let back = f.shl(kept, fine);
    let lost = f.xor(back, low);
    let lost = f.or(lost, lost_low);
    let joined = f.or(kept, crossing);
    Wide { low: jam(f, joined, lost), high: f.shr(high, fine) }
}

/// `x` with its last bit set if `lost` is not 0.
fn jam(f: &mut Func, x: Ex, lost: Ex) -> Ex {
    let (zero, one) = (f.u64(0), f.u64(1));
    let any = f.ne(lost, zero);
    let bit = f.select(any, one, zero);
    f.or(x, bit)
}

fn add(f: &mut Func, a: Wide, b: Wide) -> Wide {
    let low = f.add(a.low, b.low);
    let carry = f.lt(low, a.low);
    let high = f.add(a.high, b.high);
    let (one, zero) = (f.u64(1), f.u64(0));
    let carry = f.select(carry, one, zero);
    Wide { low, high: f.add(high, carry) }
}

fn sub(f: &mut Func, a: Wide, b: Wide) -> Wide {
    let low = f.sub(a.low, b.low);
    let borrow = f.lt(a.low, b.low);
    let high = f.sub(a.high, b.high);
    let (one, zero) = (f.u64(1), f.u64(0));
    let borrow = f.select(borrow, one, zero);
    Wide { low, high: f.sub(high, borrow) }
}

fn select(f: &mut Func, condition: Ex, a: Wide, b: Wide) -> Wide {
    Wide { low: f.select(condition, a.low, b.low), high: f.select(condition, a.high, b.high) }
}

fn less(f: &mut Func, a: Wide, b: Wide) -> Ex {
    let (above, equal) = (f.lt(a.high, b.high), f.eq(a.high, b.high));
    let low = f.lt(a.low, b.low);
    let low = f.both(equal, low);
    f.either(above, low)
}

/// `a - b` of signed numbers, not below 0, as a `u32`.
fn distance(f: &mut Func, a: Ex, b: Ex) -> Ex {
    let difference = f.sub(a, b);
    let zero = f.u32(0);
    let zero = f.bits(K::Sint, zero);
    let positive = f.math(M::Max, &[difference, zero]);
    f.bits(K::Uint, positive)
}

/// A signed constant.
fn int(f: &mut Func, value: i32) -> Ex {
    let bits = f.u32(value as u32);
    f.bits(K::Sint, bits)
}

/// Finite numbers, none of them 0: `a * b + c` rounded once.
fn general(f: &mut Func, [a, b, c]: [Ex; 3]) -> Ex {
    let [a, b, c] = [a, b, c].map(|x| split(f, x));
    let product = product(f, a.significand, b.significand);
    // First bits: the product's at 124 or 125, the addend's at 124, both for an exponent of `scale`.
    let product = shl_const(f, product, 20);
    let zero64 = f.u64(0);
    let addend = Wide { low: zero64, high: f.shl_u32(c.significand, 8) };
    let bias = int(f, 1023);
    let product_exponent = f.add(a.exponent, b.exponent);
    let product_exponent = f.sub(product_exponent, bias);
    let [down_product, down_addend] = [(c.exponent, product_exponent), (product_exponent, c.exponent)]
        .map(|(over, under)| distance(f, over, under));
    let (product, addend) = (shr_jam(f, product, down_product), shr_jam(f, addend, down_addend));
    let scale = f.math(M::Max, &[product_exponent, c.exponent]);
    let product_negative = f.ne(a.negative, b.negative);
    let (sum, negative) = signed_sum(f, (product, product_negative), (addend, c.negative));
    let result = round(f, sum, scale);
    let sign = sign_bit(f, negative);
    f.or(result, sign)
}

fn sign_bit(f: &mut Func, negative: Ex) -> Ex {
    let (sign, zero) = (f.u64(1 << 63), f.u64(0));
    f.select(negative, sign, zero)
}

/// The magnitude of a sum of signed numbers and whether it is negative; exactly 0 is positive.
fn signed_sum(f: &mut Func, a: (Wide, Ex), b: (Wide, Ex)) -> (Wide, Ex) {
    let (sum, alike) = (add(f, a.0, b.0), f.eq(a.1, b.1));
    let b_larger = less(f, a.0, b.0);
    let (large, small) = (select(f, b_larger, b.0, a.0), select(f, b_larger, a.0, b.0));
    let difference = sub(f, large, small);
    let result = select(f, alike, sum, difference);
    let larger_sign = f.select(b_larger, b.1, a.1);
    let any = f.or(result.low, result.high);
    let zero = f.u64(0);
    let any = f.ne(any, zero);
    (result, f.both(larger_sign, any))
}

/// A number of 128 bits whose bit 124 counts 2^(scale - 1023), rounded to f64 bits.
fn round(f: &mut Func, x: Wide, scale: Ex) -> Ex {
    // The first bit goes to bit 127; 64 bits remain.
    let (zero64, high_zero) = (f.u64(0), f.u64(0));
    let high_empty = f.eq(x.high, high_zero);
    let top = f.select(high_empty, x.low, x.high);
    let below = f.select(high_empty, zero64, x.low);
    let zeros = leading_zeros64(f, top);
    let fine = f.and_u32(zeros, 63);
    let rest = f.u32(63);
    let rest = f.sub(rest, fine);
    let crossing = f.shr_u32(below, 1);
    let crossing = f.shr(crossing, rest);
    let (up, lost) = (f.shl(top, fine), f.shl(below, fine));
    let joined = f.or(up, crossing);
    let significand = jam(f, joined, lost);
    let sixty_four = f.u32(64);
    let none = f.u32(0);
    let coarse = f.select(high_empty, sixty_four, none);
    let moved = f.add(fine, coarse);
    let moved = f.bits(K::Sint, moved);
    let three = int(f, 3);
    let exponent = f.add(scale, three);
    let exponent = f.sub(exponent, moved);
    let rounded = pack(f, significand, exponent);
    let none = f.eq(top, zero64);
    f.select(none, zero64, rounded)
}

/// `significand * 2^(exponent - 63 - 1023)`, the significand with 64 bits, as f64 bits.
fn pack(f: &mut Func, significand: Ex, exponent: Ex) -> Ex {
    let one = int(f, 1);
    // Denormals lose more bits.
    let down = distance(f, one, exponent);
    let zero64 = f.u64(0);
    let down = f.add_u32(down, 11);
    let x = shr_jam(f, Wide { low: zero64, high: significand }, down);
    // The high half is the significand, the low half what is below it.
    let half = f.u64(1 << 63);
    let (above, tie) = (f.gt(x.low, half), f.eq(x.low, half));
    let last = f.low(x.high);
    let odd = f.and_u32(last, 1);
    let odd = f.isnt_u32(odd, 0);
    let up_at_tie = f.both(tie, odd);
    let up = f.either(above, up_at_tie);
    let more = f.u64(1);
    let more = f.add(x.high, more);
    let rounded = f.select(up, more, x.high);
    // The hidden bit, and a carry out of the fraction, go into the exponent.
    let biased = distance(f, exponent, one);
    let most = f.u32(0x7ff);
    let biased = f.math(M::Min, &[biased, most]);
    let biased = f.widen(biased);
    let biased = f.shl_u32(biased, 52);
    let result = f.add(biased, rounded);
    let infinity = f.u64(0x7ff0_0000_0000_0000);
    let over = f.gt(result, infinity);
    f.select(over, infinity, result)
}

/// The body of `a * b + c` on f64 bits.
pub(super) fn body(f: &mut Func, x: [Ex; 3]) {
    let magnitudes = x.map(|x| {
        let mask = f.u64(u64::MAX >> 1);
        f.and(x, mask)
    });
    let (zero, infinity) = (f.u64(0), f.u64(0x7ff0_0000_0000_0000));
    let finite = magnitudes.map(|m| f.lt(m, infinity));
    let factors_finite = f.both(finite[0], finite[1]);
    let addend_special = f.not(finite[2]);
    let only_addend = f.both(factors_finite, addend_special);
    f.when(only_addend, |f| f.ret(Some(x[2])));
    let some = magnitudes.map(|m| f.ne(m, zero));
    let product_some = f.both(some[0], some[1]);
    let all_some = f.both(product_some, some[2]);
    let all_general = f.both(all_some, factors_finite);
    f.when(all_general, |f| {
        let result = general(f, x);
        f.ret(Some(result));
    });
    // A factor is 0 or not finite, or the addend is 0: two roundings are as good as one, but adding a zero must not turn a
    // product that underflowed to -0.
    let result = plain(f, x, product_some, some[2]);
    f.ret(Some(result));
}

/// `a * b + c` where one step is exact.
fn plain(f: &mut Func, [a, b, c]: [Ex; 3], product_some: Ex, addend_some: Ex) -> Ex {
    let [a, b, c] = [a, b, c].map(|x| f.bits(K::Float, x));
    let product = f.mul(a, b);
    let sum = f.add(product, c);
    let [product, sum] = [product, sum].map(|x| f.bits(K::Uint, x));
    let addend_none = f.not(addend_some);
    let alone = f.both(product_some, addend_none);
    f.select(alone, product, sum)
}
