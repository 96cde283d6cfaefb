//! Conversions between floats and integers, and packing.

use guestwave_isa::gfx10::Op;

use super::Rounding;
use super::format::Format::{self, F16, F32, F64};
use super::row::{Exact, Output, Sources, VectorRow, value};
use crate::program::{BinOp, UnOp, Value};

impl Exact<'_> {
    /// A number of the format as an f64, exact.
    fn as_double(&self, f: Format, bits: Value) -> Value {
        match f {
            F16 => self.un(UnOp::F64FromF32, self.un(UnOp::F32FromF16, bits)),
            F32 => self.un(UnOp::F64FromF32, bits),
            F64 => bits,
        }
    }

    /// An f64 as an integer in f64.
    fn whole_double(&self, number: Value, rounding: Rounding) -> Value {
        let op = match rounding {
            Rounding::NearestEven => UnOp::RoundF64,
            Rounding::Up => UnOp::CeilF64,
            Rounding::Down => UnOp::FloorF64,
            Rounding::Zero => UnOp::TruncF64,
        };
        self.un(op, number)
    }

    /// The same of an f32.
    fn whole_single(&self, number: Value, rounding: Rounding) -> Value {
        let op = match rounding {
            Rounding::NearestEven => UnOp::RoundF32,
            Rounding::Up => UnOp::CeilF32,
            Rounding::Down => UnOp::FloorF32,
            Rounding::Zero => UnOp::TruncF32,
        };
        self.un(op, number)
    }

    /// A source of a conversion to a coarser grid: a denormal, which is below the grid, only matters where it is rounded away
    /// from zero.
    fn source_rounded(&self, f: Format, a: Value, rounding: Rounding) -> Value {
        match rounding {
            Rounding::NearestEven | Rounding::Zero => a,
            Rounding::Up | Rounding::Down => self.source(f, a),
        }
    }

    /// An f32 as an f16. A NaN keeps its sign and the leading bits of its payload.
    pub(super) fn half_of_single(&self, a: Value, rounding: Rounding) -> Value {
        let result = self.flush_result(F16, self.half(self.source_rounded(F32, a, rounding), rounding));
        if !self.careful() {
            return result;
        }
        self.select(self.is_nan(F32, a), self.nan_half_of_single(a), result)
    }

    pub(super) fn nan_half_of_single(&self, a: Value) -> Value {
        let sign = self.and(self.shr_u(a, 16), F16.sign());
        let payload = self.and(self.shr_u(a, 13), F16.quiet() - 1);
        self.or(self.or(sign, payload), F16.infinity() | F16.quiet())
    }

    /// An f16 as an f32, likewise; exact.
    pub(super) fn single_of_half(&self, a: Value) -> Value {
        let result = self.un(UnOp::F32FromF16, self.source(F16, a));
        if !self.careful() {
            return result;
        }
        let sign = self.shl(self.and(a, F16.sign()), 16);
        let payload = self.shl(self.and(a, F16.quiet() - 1), 13);
        let nan = self.or(self.or(sign, payload), F32.infinity() | F32.quiet());
        self.select(self.is_nan(F16, a), nan, result)
    }

    /// An f64 as an f32, likewise, rounded as f64 results are.
    fn single_of_double(&self, a: Value) -> Value {
        let rounding = self.rounding(F64);
        let number = self.single(self.source_rounded(F64, a, rounding), rounding);
        let result = self.flush_result(F32, number);
        if !self.careful() {
            return result;
        }
        let high = self.high(a);
        let payload = self.or(self.shl(self.and(high, 0x7_ffff), 3), self.shr_u(self.low(a), 29));
        let nan = self.or(self.or(self.and(high, F32.sign()), payload), F32.infinity() | F32.quiet());
        self.select(self.is_nan(F64, a), nan, result)
    }

    /// An f32 as an f64, likewise; exact.
    fn double_of_single(&self, a: Value) -> Value {
        let result = self.un(UnOp::F64FromF32, self.source(F32, a));
        if !self.careful() {
            return result;
        }
        let payload = self.shr_u(self.and(a, F32.quiet() - 1), 3);
        let high = self.or(self.or(self.and(a, F32.sign()), payload), 0x7ff8_0000);
        let nan = self.pack(self.shl(a, 29), high);
        self.select(self.is_nan(F32, a), nan, result)
    }

    /// An integer, exact in f64, as an f32.
    fn single_of_integer(&self, a: Value, [single, double]: [UnOp; 2]) -> Value {
        match self.rounding(F32) {
            Rounding::NearestEven => self.un(single, a),
            rounding => self.single(self.un(double, a), rounding),
        }
    }

    /// An integer of 16 bits, exact in f32, as an f16.
    fn half_of_integer(&self, op: UnOp, a: Value) -> Value {
        self.half(self.un(op, a), self.rounding(F16))
    }

    /// To the nearest integer, halves upward.
    fn round_half_up(&self, a: Value) -> Value {
        let below = self.un(UnOp::FloorF32, a);
        // Exact but next to -0, where it is nearly 1; a NaN for an infinity.
        let distance = self.bin(BinOp::SubF32, a, below);
        let half = self.constant(F32.ty(), F32.power(-1));
        let up = self.number(self.less_or_equal(F32, half, distance));
        self.add(self.un(UnOp::S32FromF32, below), up)
    }

    /// A number times a scale of at most 16 bits as an integer in f64; the product is exact.
    fn scaled_whole(&self, f: Format, a: Value, scale: f64) -> Value {
        let rounding = self.rounding(f);
        // An f16 denormal times the scale can be half of 1 or more.
        let source = if f == F16 { self.source(f, a) } else { self.source_rounded(f, a, rounding) };
        let number = self.as_double(f, source);
        let product = self.bin(BinOp::MulF64, number, scale.to_bits());
        self.whole_double(product, rounding)
    }

    /// To signed normalized 16 bits.
    fn snorm(&self, f: Format, a: Value) -> Value {
        let whole = self.un(UnOp::S32FromF64, self.scaled_whole(f, a, 32767.0));
        self.min_s(self.max_s(whole, self.c32((-32767i32).cast_unsigned())), 32767)
    }

    /// To unsigned normalized 16 bits.
    fn unorm(&self, f: Format, a: Value) -> Value {
        self.min_u(self.un(UnOp::U32FromF64, self.scaled_whole(f, a, 65535.0)), 65535)
    }

    /// A dword of two halves.
    pub(super) fn halves(&self, low: Value, high: Value) -> Value {
        self.or(self.and(low, 0xffff), self.shl(high, 16))
    }

    fn both(&self, [a, b, _]: Sources, half: impl Fn(&Self, Value) -> Value) -> Value {
        let (low, high) = (half(self, a), half(self, b));
        self.halves(low, high)
    }

    /// The byte of `c` that `b` names replaced by `a` as an unsigned byte, rounded by MODE.
    fn pack_byte(&self, [a, b, c]: Sources) -> Value {
        let rounding = self.rounding(F32);
        let whole = self.whole_single(self.source_rounded(F32, a, rounding), rounding);
        let byte = self.min_u(self.un(UnOp::U32FromF32, whole), 255);
        let shift = self.shl(b, 3);
        let hole = self.not(self.shl(self.c32(255), self.and(shift, 24)));
        self.or(self.and(c, hole), self.shl(byte, self.and(shift, 24)))
    }

    fn saturated_bytes(&self, a: Value) -> Value {
        let byte = |s| self.min_s(self.max_s(s, 0), 255);
        self.or(byte(self.sext16(a)), self.shl(byte(self.shr_s(a, 16)), 8))
    }

    fn byte_to_float(&self, a: Value, index: u64) -> Value {
        self.un(UnOp::F32FromU32, self.and(self.shr_u(a, 8 * index), 0xff))
    }

    /// A signed 4-bit integer in sixteenths.
    fn offset_of_nibble(&self, a: Value) -> Value {
        let signed = self.shr_s(self.shl(a, 28), 28);
        self.times(F32, self.un(UnOp::F32FromS32, signed), F32.power(-4))
    }

    /// To an integer of 16 bits.
    fn short_of_half(&self, a: Value) -> Value {
        let whole = self.un(UnOp::S32FromF32, self.un(UnOp::F32FromF16, a));
        self.min_s(self.max_s(whole, self.c32(0xffff_8000)), 0x7fff)
    }

    fn unsigned_short_of_half(&self, a: Value) -> Value {
        self.min_u(self.un(UnOp::U32FromF32, self.un(UnOp::F32FromF16, a)), 0xffff)
    }

    fn floor_to_integer(&self, a: Value) -> Value {
        self.un(UnOp::S32FromF32, self.un(UnOp::FloorF32, self.source(F32, a)))
    }
}

use UnOp::{F32FromS32, F32FromU32, F64FromS32, F64FromU32, S32FromF32, S32FromF64, U32FromF32, U32FromF64};

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    value(Op::V_CVT_I32_F32, |e, [a, ..]| e.un(S32FromF32, a), Output::B32),
    value(Op::V_CVT_I32_F64, |e, [a, ..]| e.un(S32FromF64, a), Output::B32),
    value(Op::V_CVT_U32_F32, |e, [a, ..]| e.un(U32FromF32, a), Output::B32),
    value(Op::V_CVT_U32_F64, |e, [a, ..]| e.un(U32FromF64, a), Output::B32),
    value(Op::V_CVT_FLR_I32_F32, |e, [a, ..]| e.floor_to_integer(a), Output::B32),
    value(Op::V_CVT_RPI_I32_F32, |e, [a, ..]| e.round_half_up(a), Output::B32),
    value(Op::V_CVT_I16_F16, |e, [a, ..]| e.short_of_half(a), Output::B16),
    value(Op::V_CVT_U16_F16, |e, [a, ..]| e.unsigned_short_of_half(a), Output::B16),
    value(Op::V_CVT_F32_I32, |e, [a, ..]| e.single_of_integer(a, [F32FromS32, F64FromS32]), Output::F32),
    value(Op::V_CVT_F32_U32, |e, [a, ..]| e.single_of_integer(a, [F32FromU32, F64FromU32]), Output::F32),
    value(Op::V_CVT_F64_I32, |e, [a, ..]| e.un(F64FromS32, a), Output::F64),
    value(Op::V_CVT_F64_U32, |e, [a, ..]| e.un(F64FromU32, a), Output::F64),
    value(Op::V_CVT_F16_I16, |e, [a, ..]| e.half_of_integer(F32FromS32, e.sext16(a)), Output::F16),
    value(Op::V_CVT_F16_U16, |e, [a, ..]| e.half_of_integer(F32FromU32, a), Output::F16),
    value(Op::V_CVT_F16_F32, |e, [a, ..]| e.half_of_single(a, e.rounding(F16)), Output::F16),
    value(Op::V_CVT_F32_F16, |e, [a, ..]| e.single_of_half(a), Output::F32),
    value(Op::V_CVT_F32_F64, |e, [a, ..]| e.single_of_double(a), Output::F32),
    value(Op::V_CVT_F64_F32, |e, [a, ..]| e.double_of_single(a), Output::F64),
    value(Op::V_CVT_F32_UBYTE0, |e, [a, ..]| e.byte_to_float(a, 0), Output::F32),
    value(Op::V_CVT_F32_UBYTE1, |e, [a, ..]| e.byte_to_float(a, 1), Output::F32),
    value(Op::V_CVT_F32_UBYTE2, |e, [a, ..]| e.byte_to_float(a, 2), Output::F32),
    value(Op::V_CVT_F32_UBYTE3, |e, [a, ..]| e.byte_to_float(a, 3), Output::F32),
    value(Op::V_CVT_OFF_F32_I4, |e, [a, ..]| e.offset_of_nibble(a), Output::F32),
    value(Op::V_CVT_NORM_I16_F16, |e, [a, ..]| e.snorm(F16, a), Output::B16),
    value(Op::V_CVT_NORM_U16_F16, |e, [a, ..]| e.unorm(F16, a), Output::B16),
    value(Op::V_CVT_PKNORM_I16_F16, |e, s| e.both(s, |e, a| e.snorm(F16, a)), Output::B32),
    value(Op::V_CVT_PKNORM_U16_F16, |e, s| e.both(s, |e, a| e.unorm(F16, a)), Output::B32),
    value(Op::V_CVT_PKNORM_I16_F32, |e, s| e.both(s, |e, a| e.snorm(F32, a)), Output::B32),
    value(Op::V_CVT_PKNORM_U16_F32, |e, s| e.both(s, |e, a| e.unorm(F32, a)), Output::B32),
    value(Op::V_CVT_PKRTZ_F16_F32, |e, s| e.both(s, |e, a| e.half_of_single(a, Rounding::Zero)), Output::B32),
    value(
        Op::V_CVT_PK_I16_I32,
        |e, s| e.both(s, |e, a| e.min_s(e.max_s(a, e.c32(0xffff_8000)), 0x7fff)),
        Output::B32,
    ),
    value(Op::V_CVT_PK_U16_U32, |e, s| e.both(s, |e, a| e.min_u(a, 0xffff)), Output::B32),
    value(Op::V_CVT_PK_U8_F32, |e, s| e.pack_byte(s), Output::B32),
    value(Op::V_PACK_B32_F16, |e, s| e.both(s, |e, a| e.canonical(F16, a)), Output::B32),
    value(Op::V_SAT_PK_U8_I16, |e, [a, ..]| e.saturated_bytes(a), Output::B16),
];
