//! Operations on one lane's values. Integers and `Bool`s are held as integers, floats as whichever of integer and float they were
//! last computed as; [`Lowering::as_int`] and [`Lowering::as_float`] turn one into the other.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value as Ir, types};
use guestwave_translate::program::{BinOp, TriOp, UnOp, Value};

use super::Lowering;

/// The integer type as wide as `ty`.
fn int_type(ty: Type) -> Type {
    match ty {
        types::F32 => types::I32,
        types::F64 => types::I64,
        ty => ty,
    }
}

impl Lowering<'_, '_> {
    /// The bits of a value, as an integer.
    pub(super) fn int(&mut self, value: Value) -> Ir {
        let v = self.cell(value);
        self.as_int(v)
    }

    /// `v`'s bits as an integer.
    pub(super) fn as_int(&mut self, v: Ir) -> Ir {
        let ty = self.b.func.dfg.value_type(v);
        if ty.is_float() { self.b.ins().bitcast(int_type(ty), MemFlagsData::new(), v) } else { v }
    }

    /// `v`'s bits as a float of its width.
    pub(super) fn as_float(&mut self, v: Ir) -> Ir {
        match self.b.func.dfg.value_type(v) {
            types::I32 => self.b.ins().bitcast(types::F32, MemFlagsData::new(), v),
            types::I64 => self.b.ins().bitcast(types::F64, MemFlagsData::new(), v),
            _ => v,
        }
    }

    /// An operation of one operand.
    pub(super) fn un(&mut self, op: UnOp, x: Ir) -> Ir {
        if let Some(emit) = float_un(op) {
            let x = self.as_float(x);
            return emit(self, x);
        }
        let x = self.as_int(x);
        if let Some(helper) = self.helpers.fast(op) {
            return self.call(helper, &[x]);
        }
        let ty = self.b.func.dfg.value_type(x);
        int_un(op)(self, x, ty)
    }

    /// An operation of two operands.
    pub(super) fn bin(&mut self, op: BinOp, x: Ir, y: Ir) -> Ir {
        if let Some(emit) = float_bin(op) {
            let (x, y) = (self.as_float(x), self.as_float(y));
            return emit(self, x, y);
        }
        let (x, y) = (self.as_int(x), self.as_int(y));
        match condition(op) {
            Some(cc) => self.b.ins().icmp(cc, x, y),
            None => int_bin(op)(self, x, y),
        }
    }

    /// An operation of three operands.
    pub(super) fn tri(&mut self, op: TriOp, operands: [Ir; 3]) -> Ir {
        match op {
            TriOp::Select => self.select(operands),
            TriOp::FmaF32 | TriOp::FmaF64 | TriOp::FastMadF32 if self.host.fma => {
                let [x, y, z] = operands.map(|v| self.as_float(v));
                self.b.ins().fma(x, y, z)
            }
            TriOp::FastMadF32 => {
                let [x, y, z] = operands.map(|v| self.as_float(v));
                let product = self.b.ins().fmul(x, y);
                self.b.ins().fadd(product, z)
            }
            TriOp::FmaF32 | TriOp::FmaF64 => {
                let helper = if op == TriOp::FmaF32 { self.helpers.fma_f32 } else { self.helpers.fma_f64 };
                let operands = operands.map(|v| self.as_int(v));
                self.call(helper, &operands)
            }
        }
    }

    fn select(&mut self, [c, x, y]: [Ir; 3]) -> Ir {
        let floats = [x, y].iter().all(|v| self.b.func.dfg.value_type(*v).is_float());
        let (x, y) = if floats { (x, y) } else { (self.as_int(x), self.as_int(y)) };
        self.b.ins().select(c, x, y)
    }

    pub(super) fn c32(&mut self, bits: u32) -> Ir {
        self.b.ins().iconst(types::I32, i64::from(bits))
    }
}

type Emit1 = fn(&mut Lowering<'_, '_>, Ir) -> Ir;
type Emit1Typed = fn(&mut Lowering<'_, '_>, Ir, Type) -> Ir;
type Emit2 = fn(&mut Lowering<'_, '_>, Ir, Ir) -> Ir;

/// Operations whose operand is a float.
fn float_un(op: UnOp) -> Option<Emit1> {
    use UnOp as U;
    Some(match op {
        U::SqrtF32 | U::SqrtF64 | U::FastSqrtF32 => |l, x| l.b.ins().sqrt(x),
        U::FloorF32 | U::FloorF64 => |l, x| l.b.ins().floor(x),
        U::CeilF32 | U::CeilF64 => |l, x| l.b.ins().ceil(x),
        U::TruncF32 | U::TruncF64 => |l, x| l.b.ins().trunc(x),
        U::RoundF32 | U::RoundF64 => |l, x| l.b.ins().nearest(x),
        U::U32FromF32 | U::U32FromF64 => |l, x| l.b.ins().fcvt_to_uint_sat(types::I32, x),
        U::S32FromF32 | U::S32FromF64 => |l, x| l.b.ins().fcvt_to_sint_sat(types::I32, x),
        U::F64FromF32 => |l, x| l.b.ins().fpromote(types::F64, x),
        U::F32FromF64 => |l, x| l.b.ins().fdemote(types::F32, x),
        U::FastRcpF32 => reciprocal,
        U::FastRsqF32 => |l, x| {
            let root = l.b.ins().sqrt(x);
            reciprocal(l, root)
        },
        _ => return None,
    })
}

fn reciprocal(l: &mut Lowering<'_, '_>, x: Ir) -> Ir {
    let one = l.b.ins().f32const(1.0);
    l.b.ins().fdiv(one, x)
}

/// Operations whose operand is an integer, a `Bool` or bits.
fn int_un(op: UnOp) -> Emit1Typed {
    use UnOp as U;
    match op {
        U::Not => |l, x, ty| {
            if ty == types::I8 { l.b.ins().bxor_imm_u(x, 1) } else { l.b.ins().bnot(x) }
        },
        U::Neg => |l, x, _| l.b.ins().ineg(x),
        U::CountOnes => |l, x, _| {
            let n = l.b.ins().popcnt(x);
            l.low32(n)
        },
        U::LeadingZeros => |l, x, _| {
            let n = l.b.ins().clz(x);
            l.low32(n)
        },
        U::TrailingZeros => |l, x, _| {
            let n = l.b.ins().ctz(x);
            l.low32(n)
        },
        U::ReverseBits => |l, x, _| l.b.ins().bitrev(x),
        _ => conversion(op),
    }
}

fn conversion(op: UnOp) -> Emit1Typed {
    use UnOp as U;
    match op {
        U::High => |l, x, _| {
            let high = l.b.ins().ushr_imm_u(x, 32);
            l.low32(high)
        },
        U::Extend => |l, x, _| l.b.ins().uextend(types::I64, x),
        U::ExtendS => |l, x, _| l.b.ins().sextend(types::I64, x),
        U::Sext8 => |l, x, _| {
            let byte = l.b.ins().ireduce(types::I8, x);
            l.b.ins().sextend(types::I32, byte)
        },
        U::Sext16 => |l, x, _| {
            let half = l.b.ins().ireduce(types::I16, x);
            l.b.ins().sextend(types::I32, half)
        },
        U::FromBool => |l, x, _| l.b.ins().uextend(types::I32, x),
        U::F32FromU32 => |l, x, _| l.b.ins().fcvt_from_uint(types::F32, x),
        U::F32FromS32 => |l, x, _| l.b.ins().fcvt_from_sint(types::F32, x),
        U::F64FromU32 => |l, x, _| l.b.ins().fcvt_from_uint(types::F64, x),
        U::F64FromS32 => |l, x, _| l.b.ins().fcvt_from_sint(types::F64, x),
        U::F32FromF16 => |l, x, _| l.f32_from_f16(x),
        U::F16FromF32 => |l, x, _| l.f16_from_f32(x),
        // `Low`; the others are floats' and the fast ones'.
        _ => |l, x, _| l.low32(x),
    }
}

impl Lowering<'_, '_> {
    /// The low half of 64 bits; 32 bits as they are.
    fn low32(&mut self, x: Ir) -> Ir {
        let wide = self.b.func.dfg.value_type(x) == types::I64;
        if wide { self.b.ins().ireduce(types::I32, x) } else { x }
    }

    /// Whether a divisor is 0, and a divisor that is not.
    fn divisor(&mut self, y: Ir) -> (Ir, Ir) {
        let none = self.b.ins().icmp_imm_u(IntCC::Equal, y, 0);
        let one = self.b.ins().iconst(types::I32, 1);
        (none, self.b.ins().select(none, one, y))
    }

    /// The high half of a product of two 32-bit numbers, given both as 64 bits.
    fn high_product(&mut self, x: Ir, y: Ir) -> Ir {
        let product = self.b.ins().imul(x, y);
        let high = self.b.ins().ushr_imm_u(product, 32);
        self.low32(high)
    }
}

fn float_bin(op: BinOp) -> Option<Emit2> {
    use BinOp as B;
    Some(match op {
        B::AddF32 | B::AddF64 => |l, x, y| l.b.ins().fadd(x, y),
        B::SubF32 | B::SubF64 => |l, x, y| l.b.ins().fsub(x, y),
        B::MulF32 | B::MulF64 => |l, x, y| l.b.ins().fmul(x, y),
        B::DivF32 | B::DivF64 => |l, x, y| l.b.ins().fdiv(x, y),
        B::EqF32 | B::EqF64 => |l, x, y| l.b.ins().fcmp(FloatCC::Equal, x, y),
        B::LtF32 | B::LtF64 => |l, x, y| l.b.ins().fcmp(FloatCC::LessThan, x, y),
        B::LeF32 | B::LeF64 => |l, x, y| l.b.ins().fcmp(FloatCC::LessThanOrEqual, x, y),
        _ => return None,
    })
}

/// Integer comparisons.
fn condition(op: BinOp) -> Option<IntCC> {
    Some(match op {
        BinOp::Eq => IntCC::Equal,
        BinOp::Ne => IntCC::NotEqual,
        BinOp::LtU => IntCC::UnsignedLessThan,
        BinOp::LeU => IntCC::UnsignedLessThanOrEqual,
        BinOp::LtS => IntCC::SignedLessThan,
        BinOp::LeS => IntCC::SignedLessThanOrEqual,
        _ => return None,
    })
}

fn int_bin(op: BinOp) -> Emit2 {
    use BinOp as B;
    match op {
        B::Add => |l, x, y| l.b.ins().iadd(x, y),
        B::Sub => |l, x, y| l.b.ins().isub(x, y),
        B::Mul => |l, x, y| l.b.ins().imul(x, y),
        B::MulHighU => |l, x, y| {
            let (x, y) = (l.b.ins().uextend(types::I64, x), l.b.ins().uextend(types::I64, y));
            l.high_product(x, y)
        },
        B::MulHighS => |l, x, y| {
            let (x, y) = (l.b.ins().sextend(types::I64, x), l.b.ins().sextend(types::I64, y));
            l.high_product(x, y)
        },
        B::DivU => |l, x, y| {
            let (none, by) = l.divisor(y);
            let (quotient, ones) = (l.b.ins().udiv(x, by), l.b.ins().iconst(types::I32, 0xffff_ffff));
            l.b.ins().select(none, ones, quotient)
        },
        B::RemU => |l, x, y| {
            let (none, by) = l.divisor(y);
            let rest = l.b.ins().urem(x, by);
            l.b.ins().select(none, x, rest)
        },
        B::And => |l, x, y| l.b.ins().band(x, y),
        B::Or => |l, x, y| l.b.ins().bor(x, y),
        B::Xor => |l, x, y| l.b.ins().bxor(x, y),
        B::Shl => |l, x, y| l.b.ins().ishl(x, y),
        B::ShrU => |l, x, y| l.b.ins().ushr(x, y),
        B::ShrS => |l, x, y| l.b.ins().sshr(x, y),
        B::MinU => |l, x, y| l.b.ins().umin(x, y),
        B::MaxU => |l, x, y| l.b.ins().umax(x, y),
        B::MinS => |l, x, y| l.b.ins().smin(x, y),
        B::MaxS => |l, x, y| l.b.ins().smax(x, y),
        // `Pack`; the others are comparisons' and floats'.
        _ => |l, x, y| {
            let (low, high) = (l.b.ins().uextend(types::I64, x), l.b.ins().uextend(types::I64, y));
            let high = l.b.ins().ishl_imm_u(high, 32);
            l.b.ins().bor(low, high)
        },
    }
}
