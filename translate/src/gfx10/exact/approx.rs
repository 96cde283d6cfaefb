//! The approximate operations: reciprocal, roots, exponential, logarithm, sine and cosine.
//!
//! Public documents bound their errors and leave their bits open. The algorithm that every executor follows is plain f64
//! arithmetic: the source widened, a polynomial by Horner's rule with separate multiplications and additions, one rounding to
//! nearest even whatever MODE says. f32 denormals are flushed at both ends whatever MODE says. Where f32 arithmetic gives
//! the same bits (reciprocals and square roots of f32 and f16: 24 bits are enough to round twice), it is used instead.

use guestwave_isa::gfx10::Op;

use super::Rounding;
use super::format::Format::{self, F16, F32, F64};
use super::row::{Exact, Output, Sources, VectorKind, VectorRow};
use crate::program::{BinOp, Type, UnOp, Value};

/// `(2^r - 1) / r` for `|r| <= 1/2`, from its lowest coefficient.
const EXP2: [f64; 9] = [
    std::f64::consts::LN_2,
    0.2402265069581299,
    0.055504108664760424,
    0.009618129159402558,
    0.0013333558179043112,
    0.00015403455852453838,
    1.525268684626772e-05,
    1.3255224878668817e-06,
    1.0203121063391729e-07,
];

/// `log2((1 + s) / (1 - s)) / s` in `s^2`, for `|s| <= (sqrt 2 - 1) / (sqrt 2 + 1)`.
const LOG2: [f64; 6] = [
    2.885390081777851,
    0.9617966941122649,
    0.5770779426603044,
    0.41220922406110433,
    0.31990680380701336,
    0.28288502340748234,
];

/// `sin(2 pi r) / r` in `r^2`, for `|r| <= 1/8`.
const SIN: [f64; 6] = [
    6.28318530717956,
    -41.34170224027578,
    81.60524918348393,
    -76.70583445845129,
    42.05556925594499,
    -14.916565118819118,
];

/// `(cos(2 pi r) - 1) / r^2` in `r^2`, for `|r| <= 1/8`.
const COS: [f64; 6] = [
    -19.739208802178705,
    64.93939402261259,
    -85.45681716509442,
    60.244630008143865,
    -26.424853147906646,
    7.823560405842185,
];

/// Turns from which on every f32 and f16 is a whole number.
const WHOLE_TURNS: f32 = 16_777_216.0;

/// `sqrt(2) - 1` as the fraction of an f32, rounded up: from here on a mantissa counts as one of the next power of two.
const ROOT_FRACTION: u64 = 0x35_04f4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    Rcp,
    Rsq,
    Sqrt,
    Exp2,
    Log2,
    Sin,
    Cos,
}

impl Function {
    /// The host's own.
    fn fast(self) -> UnOp {
        match self {
            Function::Rcp => UnOp::FastRcpF32,
            Function::Rsq => UnOp::FastRsqF32,
            Function::Sqrt => UnOp::FastSqrtF32,
            Function::Exp2 => UnOp::FastExp2F32,
            Function::Log2 => UnOp::FastLog2F32,
            Function::Sin => UnOp::FastSinF32,
            Function::Cos => UnOp::FastCosF32,
        }
    }
}

impl Exact<'_> {
    fn double(&self, op: BinOp, x: Value, y: Value) -> Value {
        self.bin(op, x, y)
    }

    fn double_constant(&self, x: f64) -> Value {
        self.constant(Type::B64, x.to_bits())
    }

    fn horner(&self, coefficients: impl DoubleEndedIterator<Item = Value>, x: Value) -> Value {
        let mut from_highest = coefficients.rev();
        let Some(highest) = from_highest.next() else { return x };
        from_highest.fold(highest, |sum, c| self.plus(F64, self.times(F64, sum, x), c))
    }

    /// `2^x` of an f32, as an f64. Beyond +-1000 the narrower formats overflow and underflow alike.
    fn exp2(&self, x: Value) -> Value {
        let [most, least] = [1000.0f32, -1000.0].map(|c| self.c32(c.to_bits()));
        let x = self.select(self.less(F32, most, x), most, x);
        let x = self.select(self.less(F32, x, least), least, x);
        let x = self.un(UnOp::F64FromF32, x);
        let shifted = self.plus(F64, x, self.double_constant(1024.5));
        let whole = self.sub(self.un(UnOp::S32FromF64, shifted), 1024);
        let rest = self.minus(F64, x, self.un(UnOp::F64FromS32, whole));
        let slope = self.horner(EXP2.iter().map(|c| self.double_constant(*c)), rest);
        let fraction = self.plus(F64, self.double_constant(1.0), self.times(F64, rest, slope));
        self.times(F64, fraction, self.power(F64, whole))
    }

    /// The binary logarithm of a positive normal f32, as an f64: `x = m 2^e` with `m` in `[sqrt 1/2, sqrt 2)`, and the
    /// polynomial in `(m - 1) / (m + 1)`.
    fn log2(&self, x: Value) -> Value {
        let moved = self.add(x, (1 << 23) - ROOT_FRACTION);
        let exponent = self.sub(self.shr_u(moved, 23), 127);
        let mantissa = self.un(UnOp::F64FromF32, self.sub(x, self.shl(exponent, 23)));
        let one = self.double_constant(1.0);
        let s = self.double(BinOp::DivF64, self.minus(F64, mantissa, one), self.plus(F64, mantissa, one));
        let slope = self.horner(LOG2.iter().map(|c| self.double_constant(*c)), self.times(F64, s, s));
        self.plus(F64, self.un(UnOp::F64FromS32, exponent), self.times(F64, s, slope))
    }

    /// The sine or cosine of an f32 of turns below [`WHOLE_TURNS`], as an f64: exact at multiples of a quarter.
    fn circular(&self, function: Function, x: Value) -> Value {
        let turns = self.un(UnOp::F64FromF32, self.size(F32, x));
        let [four, half, quarter] = [4.0, 0.5, 0.25].map(|c| self.double_constant(c));
        let quarters = self.un(UnOp::S32FromF64, self.plus(F64, self.times(F64, four, turns), half));
        let rest = self.minus(F64, turns, self.times(F64, quarter, self.un(UnOp::F64FromS32, quarters)));
        let odd = self.eq(self.and(quarters, 1), 1);
        let sine = function == Function::Sin;
        // Quarters 2 and 3 turn the sine's sign, 1 and 2 the cosine's; the sine has its argument's sign besides.
        let turned =
            if sine { self.xor(self.shl(quarters, 30), x) } else { self.shl(self.add(quarters, 1), 30) };
        let value = self.near_zero(if sine { odd } else { self.not(odd) }, rest);
        let opposite = self.minus(F64, self.double_constant(0.0), value);
        self.select(self.lt_s(turned, 0), opposite, value)
    }

    /// The cosine or the sine of a turn of at most an eighth.
    fn near_zero(&self, cosine: Value, r: Value) -> Value {
        let square = self.times(F64, r, r);
        let coefficient = |(c, s): (&f64, &f64)| self.choose(cosine, Type::B64, [c.to_bits(), s.to_bits()]);
        let slope = self.horner(COS.iter().zip(&SIN).map(coefficient), square);
        let product = self.times(F64, self.select(cosine, square, r), slope);
        self.select(cosine, self.plus(F64, self.double_constant(1.0), product), product)
    }

    /// An f64 as an f16, rounded once: what an f32 cannot hold becomes its odd last bit.
    pub(super) fn half_of_double(&self, x: Value, rounding: Rounding) -> Value {
        let x = if rounding == Rounding::NearestEven { x } else { self.within_single(x) };
        let low = self.low(x);
        let lost = self.min_u(self.and(low, 0x1fff_ffff), 1);
        let kept = self.or(self.and(low, 0xe000_0000), self.shl(lost, 29));
        self.half(self.un(UnOp::F32FromF64, self.pack(kept, self.high(x))), rounding)
    }

    /// Numbers too large or too small for f16 as others that an f32 can hold, which directed rounding takes to the same f16.
    fn within_single(&self, x: Value) -> Value {
        let size = self.size(F64, x);
        let bounded = self.min_u(self.max_u(size, F64.power(-40)), F64.power(17));
        let number = self.or(self.and(x, F64.sign()), bounded);
        // Zeros, infinities and NaNs stay: the sizes outside 1 to the largest number.
        let finite = self.lt_u(self.sub(size, 1), F64.infinity() - 1);
        self.select(finite, number, x)
    }

    /// A result of the function in the format, not flushed yet, of a flushed source.
    fn function(&self, f: Format, function: Function, x: Value) -> Value {
        let one = self.c32(F32.one() as u32);
        match (function, f) {
            (Function::Rcp, F64) => self.double(BinOp::DivF64, self.double_constant(1.0), x),
            (Function::Sqrt, F64) => self.un(UnOp::SqrtF64, x),
            (Function::Rsq, F64) => {
                self.double(BinOp::DivF64, self.double_constant(1.0), self.un(UnOp::SqrtF64, x))
            }
            (Function::Rcp, _) => self.stored_single(f, self.bin(BinOp::DivF32, one, x)),
            (Function::Sqrt, _) => self.stored_single(f, self.un(UnOp::SqrtF32, x)),
            (Function::Rsq, _) => {
                let root = self.un(UnOp::SqrtF64, self.un(UnOp::F64FromF32, x));
                self.stored_double(f, self.double(BinOp::DivF64, self.double_constant(1.0), root))
            }
            (Function::Exp2, _) => self.stored_double(f, self.exp2(x)),
            (Function::Log2, _) => self.logarithm(f, x),
            (Function::Sin | Function::Cos, _) => {
                let value = self.stored_double(f, self.circular(function, x));
                self.beyond_whole_turns(f, function, x, value)
            }
        }
    }

    fn stored_single(&self, f: Format, x: Value) -> Value {
        if f == F16 { self.half(x, Rounding::NearestEven) } else { x }
    }

    fn stored_double(&self, f: Format, x: Value) -> Value {
        if f == F16 { self.half_of_double(x, Rounding::NearestEven) } else { self.un(UnOp::F32FromF64, x) }
    }

    fn logarithm(&self, f: Format, x: Value) -> Value {
        let number = self.stored_double(f, self.log2(x));
        let [infinity, least, nan] =
            [f.infinity(), f.sign() | f.infinity(), f.default_nan()].map(|c| self.constant(f.ty(), c));
        let large = self.select(self.eq(x, F32.infinity()), infinity, number);
        let signed = self.select(self.lt_s(x, 0), nan, large);
        self.select(self.eq(self.size(F32, x), 0), least, signed)
    }

    /// From [`WHOLE_TURNS`] on the sine is +0 and the cosine 1; an infinity has neither. The sine of a zero is that zero.
    fn beyond_whole_turns(&self, f: Format, function: Function, x: Value, value: Value) -> Value {
        let sine = function == Function::Sin;
        let whole = self.constant(f.ty(), if sine { 0 } else { f.one() });
        let size = self.size(F32, x);
        let value = if sine {
            let zero = self.and(self.shr_u(x, if f == F16 { 16 } else { 0 }), f.sign());
            self.select(self.eq(size, 0), zero, value)
        } else {
            value
        };
        let from = self.c32(WHOLE_TURNS.to_bits());
        let bounded = self.select(self.le_u(from, size), whole, value);
        let nan = self.constant(f.ty(), f.default_nan());
        self.select(self.eq(size, F32.infinity()), nan, bounded)
    }

    fn approximate(&self, f: Format, function: Function, a: Value) -> Value {
        if !self.careful() && f != F64 {
            let x = if f == F16 { self.un(UnOp::F32FromF16, a) } else { a };
            return self.stored_single(f, self.un(function.fast(), x));
        }
        let source = self.numeric(f, a);
        let x = if f == F16 { self.un(UnOp::F32FromF16, source) } else { source };
        let number = self.function(f, function, x);
        let result = self.flush_result(f, number);
        match function {
            Function::Rsq | Function::Sqrt => self.settle_nan(f, (f, number), &[a], result),
            Function::Rcp | Function::Exp2 => self.carry_nan(f, a, result),
            // These have NaNs of other sources, and none of a NaN's bits.
            Function::Log2 | Function::Sin | Function::Cos => self.keep_nan(f, a, result),
        }
    }
}

type ValueFn = fn(&mut Exact<'_>, Sources) -> Value;

const fn approximate(op: Op, f: ValueFn, output: Output) -> VectorRow {
    VectorRow { op, kind: VectorKind::Value(f), output, approximate: true }
}

/// Rows of a function: the operation and the format.
macro_rules! rows {
    ($($op:ident $function:ident $f:ident;)*) => {
        &[$(approximate(Op::$op, |e, [a, ..]| rows!(@ $f e, $function, a), Output::$f)),*]
    };
    (@ F32 $e:ident, $function:ident, $a:ident) => {
        $e.flushing32(|e| e.approximate(F32, Function::$function, $a))
    };
    (@ $f:ident $e:ident, $function:ident, $a:ident) => {
        $e.approximate($f, Function::$function, $a)
    };
}

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = rows! {
    V_RCP_F16 Rcp F16;
    V_RCP_F32 Rcp F32;
    V_RCP_IFLAG_F32 Rcp F32;
    V_RCP_F64 Rcp F64;
    V_RSQ_F16 Rsq F16;
    V_RSQ_F32 Rsq F32;
    V_RSQ_F64 Rsq F64;
    V_SQRT_F16 Sqrt F16;
    V_SQRT_F32 Sqrt F32;
    V_SQRT_F64 Sqrt F64;
    V_EXP_F16 Exp2 F16;
    V_EXP_F32 Exp2 F32;
    V_LOG_F16 Log2 F16;
    V_LOG_F32 Log2 F32;
    V_SIN_F16 Sin F16;
    V_SIN_F32 Sin F32;
    V_COS_F16 Cos F16;
    V_COS_F32 Cos F32;
};
