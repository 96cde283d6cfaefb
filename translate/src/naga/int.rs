//! Integer and logical operations on bits (`u32`, `u64`, `bool`).

use naga::{BinaryOperator as N, MathFunction as M, ScalarKind as K, UnaryOperator};

use super::convert;
use super::func::{Ex, Func};
use super::lower::Lower;
use super::ops::viewed;
use crate::program::Type;

pub(super) fn and(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    if ty == Type::Bool { f.both(x[0], x[1]) } else { f.and(x[0], x[1]) }
}

pub(super) fn or(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    if ty == Type::Bool { f.either(x[0], x[1]) } else { f.or(x[0], x[1]) }
}

pub(super) fn xor(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    if ty == Type::Bool { f.ne(x[0], x[1]) } else { f.xor(x[0], x[1]) }
}

pub(super) fn not(f: &mut Func, x: Ex, ty: Type) -> Ex {
    if ty == Type::Bool { f.not(x) } else { f.un(UnaryOperator::BitwiseNot, x) }
}

fn zero(f: &mut Func, ty: Type) -> Ex {
    if ty == Type::B64 { f.u64(0) } else { f.u32(0) }
}

pub(super) fn neg(f: &mut Func, x: Ex, ty: Type) -> Ex {
    let zero = zero(f, ty);
    f.sub(zero, x)
}

/// A shift amount modulo the width.
fn amount(f: &mut Func, amount: Ex, ty: Type) -> Ex {
    f.and_u32(amount, if ty == Type::B64 { 63 } else { 31 })
}

pub(super) fn shl(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    let by = amount(f, x[1], ty);
    f.shl(x[0], by)
}

pub(super) fn shr_u(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    let by = amount(f, x[1], ty);
    f.shr(x[0], by)
}

pub(super) fn shr_s(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    let by = amount(f, x[1], ty);
    let signed = f.bits(K::Sint, x[0]);
    let shifted = f.shr(signed, by);
    f.bits(K::Uint, shifted)
}

/// Whether the divisor is 0, and a divisor that is not.
fn divisor(f: &mut Func, y: Ex) -> (Ex, Ex) {
    let (zero, one) = (f.u32(0), f.u32(1));
    let none = f.eq(y, zero);
    (none, f.select(none, one, y))
}

/// The quotient of a divisor that is not 0. Where the host divides integers lane by lane, by way of f64, whose quotient of
/// 32-bit numbers never rounds up to the next whole number.
fn quotient(l: &mut Lower<'_>, x: Ex, by: Ex) -> Ex {
    if !(l.caps.slow_integer_division && l.caps.floats.div64) {
        return l.f.bin(N::Divide, x, by);
    }
    let f = &mut l.f;
    let [wide, wide_by] = [x, by].map(|x| convert::number(f, x, (K::Uint, K::Float), 8));
    let quotient = viewed(f, K::Float, N::Divide, [wide, wide_by]);
    f.convert(K::Uint, 4, quotient)
}

pub(super) fn div_u(l: &mut Lower<'_>, [x, y]: [Ex; 2]) -> Ex {
    let (none, by) = divisor(&mut l.f, y);
    let quotient = quotient(l, x, by);
    let ones = l.f.u32(u32::MAX);
    l.f.select(none, ones, quotient)
}

pub(super) fn rem_u(l: &mut Lower<'_>, [x, y]: [Ex; 2]) -> Ex {
    let (none, by) = divisor(&mut l.f, y);
    let quotient = quotient(l, x, by);
    let taken = l.f.mul(quotient, by);
    let rest = l.f.sub(x, taken);
    l.f.select(none, x, rest)
}

/// `fun` of 32-bit numbers of one kind, or a comparison and a choice for 64 bits.
fn extreme(f: &mut Func, x: [Ex; 2], ty: Type, kind: K, (fun, test): (M, N)) -> Ex {
    if ty == Type::B64 {
        let first = viewed(f, kind, test, x);
        return f.select(first, x[0], x[1]);
    }
    let [a, b] = x.map(|x| f.bits(kind, x));
    let result = f.math(fun, &[a, b]);
    f.bits(K::Uint, result)
}

pub(super) fn min_u(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    extreme(f, x, ty, K::Uint, (M::Min, N::Less))
}

pub(super) fn max_u(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    extreme(f, x, ty, K::Uint, (M::Max, N::Greater))
}

pub(super) fn min_s(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    extreme(f, x, ty, K::Sint, (M::Min, N::Less))
}

pub(super) fn max_s(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    extreme(f, x, ty, K::Sint, (M::Max, N::Greater))
}

pub(super) fn mul_high_u(f: &mut Func, x: [Ex; 2], _: Type) -> Ex {
    let [a, b] = x.map(|x| f.widen(x));
    let product = f.mul(a, b);
    f.high(product)
}

pub(super) fn mul_high_s(f: &mut Func, x: [Ex; 2], ty: Type) -> Ex {
    let [a, b] = x.map(|x| extend_s(f, x, ty));
    let product = f.mul(a, b);
    f.high(product)
}

pub(super) fn extend_s(f: &mut Func, x: Ex, _: Type) -> Ex {
    let signed = f.bits(K::Sint, x);
    let wide = f.convert(K::Sint, 8, signed);
    f.bits(K::Uint, wide)
}

/// Sign-extends the low `32 - by` bits.
pub(super) fn sign_extend(f: &mut Func, x: Ex, by: u32) -> Ex {
    let top = f.shl_u32(x, by);
    let signed = f.bits(K::Sint, top);
    let down = f.shr_u32(signed, by);
    f.bits(K::Uint, down)
}

pub(super) fn from_bool(f: &mut Func, x: Ex) -> Ex {
    let (one, zero) = (f.u32(1), f.u32(0));
    f.select(x, one, zero)
}

pub(super) fn count_ones(f: &mut Func, x: Ex, ty: Type) -> Ex {
    if ty != Type::B64 {
        return f.math(M::CountOneBits, &[x]);
    }
    let [low, high] = [f.low(x), f.high(x)].map(|h| f.math(M::CountOneBits, &[h]));
    f.add(low, high)
}

/// `fun` of the half `first` of a `u64`, or 32 more than that of `second` if `first` is 0.
fn zeros(f: &mut Func, fun: M, first: Ex, second: Ex) -> Ex {
    let [here, there] = [first, second].map(|h| f.math(fun, &[h]));
    let (none, there) = (f.is_u32(first, 0), f.add_u32(there, 32));
    f.select(none, there, here)
}

pub(super) fn leading_zeros(f: &mut Func, x: Ex, ty: Type) -> Ex {
    if ty != Type::B64 {
        return f.math(M::CountLeadingZeros, &[x]);
    }
    let (low, high) = (f.low(x), f.high(x));
    zeros(f, M::CountLeadingZeros, high, low)
}

pub(super) fn trailing_zeros(f: &mut Func, x: Ex, ty: Type) -> Ex {
    if ty != Type::B64 {
        return f.math(M::CountTrailingZeros, &[x]);
    }
    let (low, high) = (f.low(x), f.high(x));
    zeros(f, M::CountTrailingZeros, low, high)
}

pub(super) fn reverse_bits(f: &mut Func, x: Ex, ty: Type) -> Ex {
    if ty != Type::B64 {
        return f.math(M::ReverseBits, &[x]);
    }
    let [low, high] = [f.low(x), f.high(x)].map(|h| f.math(M::ReverseBits, &[h]));
    f.pack(high, low)
}
