//! Float operations on bits: the host's own where they are right, sequences where they are not.

use naga::{BinaryOperator as N, MathFunction as M, ScalarKind as K};

use super::convert;
use super::func::{Ex, Func};
use super::helpers::Helper;
use super::lower::Lower;
use super::ops::viewed;

/// naga's function `fun` of floats, as bits.
pub(super) fn call(f: &mut Func, fun: M, x: &[Ex]) -> Ex {
    let floats: Vec<Ex> = x.iter().map(|x| f.bits(K::Float, *x)).collect();
    let result = f.math(fun, &floats);
    f.bits(K::Uint, result)
}

/// naga's operator on floats, as bits.
fn arithmetic(f: &mut Func, op: N, x: [Ex; 2]) -> Ex {
    let result = viewed(f, K::Float, op, x);
    f.bits(K::Uint, result)
}

/// An f32 as an f64; `native`: the host keeps denormals there.
fn to64(f: &mut Func, x: Ex, native: bool) -> Ex {
    if native {
        return convert::number(f, x, (K::Float, K::Float), 8);
    }
    let large = convert::number(f, x, (K::Float, K::Float), 8);
    // A denormal is its fraction in units of 2^-149.
    let magnitude = f.and_u32(x, 0x7fff_ffff);
    let units = convert::number(f, magnitude, (K::Uint, K::Float), 8);
    let (bias, zero, least) = (f.u64(149 << 52), f.u64(0), f.u32(0x80_0000));
    let small = f.sub(units, bias);
    let is_zero = f.is_u32(magnitude, 0);
    let small = f.select(is_zero, zero, small);
    let (sign, none) = (f.and_u32(x, 0x8000_0000), f.u32(0));
    let sign = f.pack(none, sign);
    let small = f.or(small, sign);
    let is_small = f.lt(magnitude, least);
    f.select(is_small, small, large)
}

pub(super) fn widen32(l: &mut Lower<'_>, x: Ex) -> Ex {
    let native = l.native(l.caps.floats.widen32);
    to64(&mut l.f, x, native)
}

fn to32(f: &mut Func, x: Ex) -> Ex {
    convert::number(f, x, (K::Float, K::Float), 4)
}

/// Division. The f64 quotient of two f32 has more than twice their bits and two, so that rounding it again is harmless.
pub(super) fn div32(l: &mut Lower<'_>, x: [Ex; 2]) -> Ex {
    if l.native(l.caps.floats.div32) {
        return arithmetic(&mut l.f, N::Divide, x);
    }
    let wide = x.map(|x| widen32(l, x));
    let quotient = arithmetic(&mut l.f, N::Divide, wide);
    to32(&mut l.f, quotient)
}

/// Square root, by way of f64 likewise.
pub(super) fn sqrt32(l: &mut Lower<'_>, x: Ex) -> Ex {
    if l.native(l.caps.floats.sqrt32) {
        return call(&mut l.f, M::Sqrt, &[x]);
    }
    let wide = widen32(l, x);
    let root = call(&mut l.f, M::Sqrt, &[wide]);
    to32(&mut l.f, root)
}

pub(super) fn eq32(l: &mut Lower<'_>, x: [Ex; 2]) -> Ex {
    compare(l, N::Equal, x)
}

pub(super) fn lt32(l: &mut Lower<'_>, x: [Ex; 2]) -> Ex {
    compare(l, N::Less, x)
}

pub(super) fn le32(l: &mut Lower<'_>, x: [Ex; 2]) -> Ex {
    compare(l, N::LessEqual, x)
}

/// An ordered comparison; by integers where the host does not see denormals.
fn compare(l: &mut Lower<'_>, op: N, x: [Ex; 2]) -> Ex {
    if l.native(l.caps.floats.compare32) {
        return viewed(&mut l.f, K::Float, op, x);
    }
    let f = &mut l.f;
    let [(a, a_nan), (b, b_nan)] = x.map(|x| ordered(f, x));
    let (holds, unordered) = (viewed(f, K::Sint, op, [a, b]), f.either(a_nan, b_nan));
    let ordered = f.not(unordered);
    f.both(holds, ordered)
}

/// An integer that orders as the float does, and whether it is a NaN.
fn ordered(f: &mut Func, x: Ex) -> (Ex, Ex) {
    let magnitude = f.and_u32(x, 0x7fff_ffff);
    let (zero, sign, infinity) = (f.u32(0), f.u32(0x8000_0000), f.u32(0x7f80_0000));
    let (negated, negative) = (f.sub(zero, magnitude), f.ge(x, sign));
    (f.select(negative, negated, magnitude), f.gt(magnitude, infinity))
}

/// Fused multiply-add. The product of two f32 is exact in f64; the sum is rounded to odd there, so that rounding it to
/// f32 is right.
pub(super) fn fma32(l: &mut Lower<'_>, x: [Ex; 3]) -> Ex {
    if l.native(l.caps.floats.fma32) {
        return call(&mut l.f, M::Fma, &x);
    }
    if l.caps.floats.fma32_normal && !l.caps.runs_all_branches {
        return fma32_of_normals(l, x);
    }
    let function = l.helper(Helper::Fma32);
    l.f.call_value(function, x.to_vec())
}

/// A fused multiply-add for which the host's own is right unless there are denormals.
fn fma32_of_normals(l: &mut Lower<'_>, x: [Ex; 3]) -> Ex {
    let (function, u32) = (l.helper(Helper::Fma32), l.types.u32);
    let f = &mut l.f;
    let result = call(f, M::Fma, &x);
    // Without the sign, a denormal is from 1 to `most`; so is a result that may have become 0.
    let most = f.u32(0x00ff_ffff);
    let [a, b, c] = x.map(|x| {
        let (size, one) = (f.shl_u32(x, 1), f.u32(1));
        f.sub(size, one)
    });
    let size = f.shl_u32(result, 1);
    let least = [b, c, size].into_iter().fold(a, |least, x| f.math(M::Min, &[least, x]));
    let rare = f.lt(least, most);
    let settled = f.local(u32, None);
    f.store(settled, result);
    f.when(rare, |f| {
        let slow = f.call_value(function, x.to_vec());
        f.store(settled, slow);
    });
    f.load(settled)
}

/// The body of the fused multiply-add of f32 bits; `widens`: the host widens f32 exactly.
pub(super) fn fma32_body(f: &mut Func, operands: [Ex; 3], widens: bool) -> Ex {
    let [a, b, c] = operands.map(|x| to64(f, x, widens));
    let product = arithmetic(f, N::Multiply, [a, b]);
    let (sum, error) = two_sum(f, product, c);
    let odd = round_to_odd(f, sum, error);
    to32(f, odd)
}

/// The f64 sum and what rounding took from it.
fn two_sum(f: &mut Func, a: Ex, b: Ex) -> (Ex, Ex) {
    let sum = arithmetic(f, N::Add, [a, b]);
    let b_part = arithmetic(f, N::Subtract, [sum, a]);
    let a_part = arithmetic(f, N::Subtract, [sum, b_part]);
    let [a_error, b_error] = [[a, a_part], [b, b_part]].map(|x| arithmetic(f, N::Subtract, x));
    (sum, arithmetic(f, N::Add, [a_error, b_error]))
}

/// `sum` towards zero with its last bit set, if `error` says that something is missing.
fn round_to_odd(f: &mut Func, sum: Ex, error: Ex) -> Ex {
    let mask = f.u64(u64::MAX >> 1);
    let magnitude = f.and(error, mask);
    let (zero, infinity, one) = (f.u64(0), f.u64(0x7ff0_0000_0000_0000), f.u64(1));
    let (some, finite) = (f.ne(magnitude, zero), f.lt(magnitude, infinity));
    let missing = f.both(some, finite);
    let signs = f.xor(sum, error);
    let opposite = f.gt(signs, mask);
    let less = f.sub(sum, one);
    let towards_zero = f.select(opposite, less, sum);
    let odd = f.or(towards_zero, one);
    f.select(missing, odd, sum)
}

/// Fused multiply-add of f64.
pub(super) fn fma64(l: &mut Lower<'_>, x: [Ex; 3]) -> Ex {
    if l.native(l.caps.floats.fma64) {
        return call(&mut l.f, M::Fma, &x);
    }
    let function = l.helper(super::helpers::Helper::Fma64);
    l.f.call_value(function, x.to_vec())
}

pub(super) fn fast_rcp(f: &mut Func, x: Ex) -> Ex {
    let one = f.u32(1f32.to_bits());
    arithmetic(f, N::Divide, [one, x])
}

/// `fun` of an angle in revolutions.
pub(super) fn revolutions(f: &mut Func, fun: M, x: Ex) -> Ex {
    let turn = f.u32(std::f32::consts::TAU.to_bits());
    let angle = arithmetic(f, N::Multiply, [x, turn]);
    call(f, fun, &[angle])
}
