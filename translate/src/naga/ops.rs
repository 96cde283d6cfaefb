//! What each operation of the form is in naga: one row an operation.

use naga::{BinaryOperator as N, MathFunction as M, ScalarKind as K};

use super::func::{Ex, Func};
use super::lower::Lower;
use super::{convert, float, int};
use crate::program::{BinOp, TriOp, Type, UnOp, Value};

/// How an operation of two operands is emitted.
#[derive(Clone, Copy)]
enum Two {
    /// naga's operator on unsigned numbers.
    Plain(N),
    /// naga's comparison of signed numbers.
    Signed(N),
    /// naga's arithmetic on floats.
    Float(N),
    /// naga's comparison of floats.
    FloatTest(N),
    /// A sequence on bits.
    Bits(fn(&mut Func, [Ex; 2], Type) -> Ex),
    /// A sequence on floats that depends on the host.
    Host(fn(&mut Lower<'_>, [Ex; 2]) -> Ex),
}

const BINARY: &[(BinOp, Two)] = &[
    (BinOp::Add, Two::Plain(N::Add)),
    (BinOp::Sub, Two::Plain(N::Subtract)),
    (BinOp::Mul, Two::Plain(N::Multiply)),
    (BinOp::MulHighU, Two::Bits(int::mul_high_u)),
    (BinOp::MulHighS, Two::Bits(int::mul_high_s)),
    (BinOp::DivU, Two::Host(int::div_u)),
    (BinOp::RemU, Two::Host(int::rem_u)),
    (BinOp::And, Two::Bits(int::and)),
    (BinOp::Or, Two::Bits(int::or)),
    (BinOp::Xor, Two::Bits(int::xor)),
    (BinOp::Shl, Two::Bits(int::shl)),
    (BinOp::ShrU, Two::Bits(int::shr_u)),
    (BinOp::ShrS, Two::Bits(int::shr_s)),
    (BinOp::MinU, Two::Bits(int::min_u)),
    (BinOp::MaxU, Two::Bits(int::max_u)),
    (BinOp::MinS, Two::Bits(int::min_s)),
    (BinOp::MaxS, Two::Bits(int::max_s)),
    (BinOp::Eq, Two::Plain(N::Equal)),
    (BinOp::Ne, Two::Plain(N::NotEqual)),
    (BinOp::LtU, Two::Plain(N::Less)),
    (BinOp::LeU, Two::Plain(N::LessEqual)),
    (BinOp::LtS, Two::Signed(N::Less)),
    (BinOp::LeS, Two::Signed(N::LessEqual)),
    (BinOp::Pack, Two::Bits(|f, x, _| f.pack(x[0], x[1]))),
    (BinOp::AddF32, Two::Float(N::Add)),
    (BinOp::SubF32, Two::Float(N::Subtract)),
    (BinOp::MulF32, Two::Float(N::Multiply)),
    (BinOp::DivF32, Two::Host(float::div32)),
    (BinOp::EqF32, Two::Host(float::eq32)),
    (BinOp::LtF32, Two::Host(float::lt32)),
    (BinOp::LeF32, Two::Host(float::le32)),
    (BinOp::AddF64, Two::Float(N::Add)),
    (BinOp::SubF64, Two::Float(N::Subtract)),
    (BinOp::MulF64, Two::Float(N::Multiply)),
    (BinOp::DivF64, Two::Float(N::Divide)),
    (BinOp::EqF64, Two::FloatTest(N::Equal)),
    (BinOp::LtF64, Two::FloatTest(N::Less)),
    (BinOp::LeF64, Two::FloatTest(N::LessEqual)),
];

/// How an operation of one operand is emitted.
#[derive(Clone, Copy)]
enum One {
    /// A sequence on bits.
    Bits(fn(&mut Func, Ex, Type) -> Ex),
    /// naga's function on floats.
    Float(M),
    /// A sequence on a float.
    FromFloat(fn(&mut Func, Ex) -> Ex),
    /// A sequence on a float that depends on the host.
    Host(fn(&mut Lower<'_>, Ex) -> Ex),
}

const UNARY: &[(UnOp, One)] = &[
    (UnOp::Not, One::Bits(int::not)),
    (UnOp::Neg, One::Bits(int::neg)),
    (UnOp::CountOnes, One::Bits(int::count_ones)),
    (UnOp::LeadingZeros, One::Bits(int::leading_zeros)),
    (UnOp::TrailingZeros, One::Bits(int::trailing_zeros)),
    (UnOp::ReverseBits, One::Bits(int::reverse_bits)),
    (UnOp::Low, One::Bits(|f, x, _| f.low(x))),
    (UnOp::High, One::Bits(|f, x, _| f.high(x))),
    (UnOp::Extend, One::Bits(|f, x, _| f.widen(x))),
    (UnOp::ExtendS, One::Bits(int::extend_s)),
    (UnOp::Sext8, One::Bits(|f, x, _| int::sign_extend(f, x, 24))),
    (UnOp::Sext16, One::Bits(|f, x, _| int::sign_extend(f, x, 16))),
    (UnOp::FromBool, One::Bits(|f, x, _| int::from_bool(f, x))),
    (UnOp::SqrtF32, One::Host(float::sqrt32)),
    (UnOp::FloorF32, One::Float(M::Floor)),
    (UnOp::CeilF32, One::Float(M::Ceil)),
    (UnOp::TruncF32, One::Float(M::Trunc)),
    (UnOp::RoundF32, One::Float(M::Round)),
    (UnOp::SqrtF64, One::Float(M::Sqrt)),
    (UnOp::FloorF64, One::Float(M::Floor)),
    (UnOp::CeilF64, One::Float(M::Ceil)),
    (UnOp::TruncF64, One::Float(M::Trunc)),
    (UnOp::RoundF64, One::Float(M::Round)),
    (UnOp::F32FromU32, One::Bits(|f, x, _| convert::number(f, x, (K::Uint, K::Float), 4))),
    (UnOp::F32FromS32, One::Bits(|f, x, _| convert::number(f, x, (K::Sint, K::Float), 4))),
    (UnOp::F64FromU32, One::Bits(|f, x, _| convert::number(f, x, (K::Uint, K::Float), 8))),
    (UnOp::F64FromS32, One::Bits(|f, x, _| convert::number(f, x, (K::Sint, K::Float), 8))),
    (UnOp::U32FromF32, One::FromFloat(convert::u32_from_f32)),
    (UnOp::S32FromF32, One::FromFloat(convert::s32_from_f32)),
    (UnOp::U32FromF64, One::FromFloat(convert::u32_from_f64)),
    (UnOp::S32FromF64, One::FromFloat(convert::s32_from_f64)),
    (UnOp::F64FromF32, One::Host(float::widen32)),
    (UnOp::F32FromF64, One::FromFloat(|f, x| convert::number(f, x, (K::Float, K::Float), 4))),
    (UnOp::F32FromF16, One::FromFloat(convert::f32_from_f16)),
    (UnOp::F16FromF32, One::FromFloat(convert::f16_from_f32)),
    (UnOp::FastRcpF32, One::FromFloat(float::fast_rcp)),
    (UnOp::FastRsqF32, One::Float(M::InverseSqrt)),
    (UnOp::FastSqrtF32, One::Float(M::Sqrt)),
    (UnOp::FastExp2F32, One::Float(M::Exp2)),
    (UnOp::FastLog2F32, One::Float(M::Log2)),
    (UnOp::FastSinF32, One::FromFloat(|f, x| float::revolutions(f, M::Sin, x))),
    (UnOp::FastCosF32, One::FromFloat(|f, x| float::revolutions(f, M::Cos, x))),
];

fn row<K: PartialEq + Copy, R: Copy>(table: &[(K, R)], key: K) -> Option<R> {
    table.iter().find(|(k, _)| *k == key).map(|(_, row)| *row)
}

/// Emits `op` of `a`.
pub(super) fn un(l: &mut Lower<'_>, op: UnOp, a: Value) -> Ex {
    let (x, ty) = (l.get(a), l.program.info(a).ty);
    match row(UNARY, op) {
        Some(One::Bits(emit)) => emit(&mut l.f, x, ty),
        Some(One::Float(fun)) => float::call(&mut l.f, fun, &[x]),
        Some(One::FromFloat(emit)) => emit(&mut l.f, x),
        Some(One::Host(emit)) => emit(l, x),
        None => l.trouble(format!("{op:?} has no row")),
    }
}

/// Emits `op` of `a` and `b`.
pub(super) fn bin(l: &mut Lower<'_>, op: BinOp, a: Value, b: Value) -> Ex {
    let Some(how) = row(BINARY, op) else { return l.trouble(format!("{op:?} has no row")) };
    let x = [a, b].map(|v| l.get(v));
    match how {
        Two::Plain(op) => l.f.bin(op, x[0], x[1]),
        Two::Signed(op) => viewed(&mut l.f, K::Sint, op, x),
        Two::FloatTest(op) => viewed(&mut l.f, K::Float, op, x),
        Two::Float(op) => {
            let result = viewed(&mut l.f, K::Float, op, x);
            l.f.bits(K::Uint, result)
        }
        Two::Bits(emit) => emit(&mut l.f, x, l.program.info(a).ty),
        Two::Host(emit) => emit(l, x),
    }
}

/// `op` of two numbers looked at as another kind.
pub(super) fn viewed(f: &mut Func, kind: K, op: N, x: [Ex; 2]) -> Ex {
    let [a, b] = x.map(|x| f.bits(kind, x));
    f.bin(op, a, b)
}

/// Emits `op` of `a`, `b` and `c`.
pub(super) fn tri(l: &mut Lower<'_>, op: TriOp, [a, b, c]: [Value; 3]) -> Ex {
    let x = [a, b, c].map(|v| l.get(v));
    match op {
        TriOp::Select => l.f.select(x[0], x[1], x[2]),
        TriOp::FmaF64 => float::fma64(l, x),
        TriOp::FastMadF32 => float::call(&mut l.f, M::Fma, &x),
        TriOp::FmaF32 => float::fma32(l, x),
    }
}
