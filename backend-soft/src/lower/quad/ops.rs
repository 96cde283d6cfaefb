//! Operations on four lanes. Where all operands are the same in all lanes, one scalar operation does; where there is a vector
//! operation, that; else a scalar operation a lane.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value as Ir, types};
use guestwave_translate::program::{BinOp, Expr, TriOp, Type, UnOp, Value};

use super::super::Lowering;
use super::Quad;

type Emit1 = fn(&mut Lowering<'_, '_>, Ir) -> Ir;
type Emit2 = fn(&mut Lowering<'_, '_>, Ir, Ir) -> Ir;

/// How an operation of one operand is done on vectors.
enum Un {
    /// Integers or masks to the same.
    Four(Emit1),
    /// Floats in, anything of 32 bits out.
    Floats(Emit1),
    /// Each half of 64-bit lanes.
    Wide(Emit1),
    WideFloats(Emit1),
    /// 64-bit lanes to 32-bit ones.
    Narrow(fn(&mut Lowering<'_, '_>, [Ir; 2]) -> Ir),
    /// 32-bit lanes to 64-bit ones.
    Widen(fn(&mut Lowering<'_, '_>, Ir) -> [Ir; 2]),
}

fn un_form(op: UnOp, ty: Type) -> Option<Un> {
    use UnOp as U;
    Some(match (op, ty) {
        (U::Not, Type::B64) => Un::Wide(|l, x| l.b.ins().bnot(x)),
        (U::Not, _) => Un::Four(|l, x| l.b.ins().bnot(x)),
        (U::Neg, Type::B64) => Un::Wide(|l, x| l.b.ins().ineg(x)),
        (U::Neg, _) => Un::Four(|l, x| l.b.ins().ineg(x)),
        (U::Sext8, _) => Un::Four(|l, x| l.sign_extended(x, 24)),
        (U::Sext16, _) => Un::Four(|l, x| l.sign_extended(x, 16)),
        (U::FromBool, _) => Un::Four(|l, x| {
            let one = l.splat32(1);
            l.b.ins().band(x, one)
        }),
        (U::Low, _) => Un::Narrow(|l, x| l.dwords_of(x, false)),
        (U::High, _) => Un::Narrow(|l, x| l.dwords_of(x, true)),
        (U::Extend, _) => Un::Widen(|l, x| [l.b.ins().uwiden_low(x), l.b.ins().uwiden_high(x)]),
        (U::ExtendS, _) => Un::Widen(|l, x| [l.b.ins().swiden_low(x), l.b.ins().swiden_high(x)]),
        (op, _) => return float_form(op),
    })
}

fn float_form(op: UnOp) -> Option<Un> {
    use UnOp as U;
    Some(match op {
        U::SqrtF32 | U::FastSqrtF32 => Un::Floats(|l, x| l.b.ins().sqrt(x)),
        U::FloorF32 => Un::Floats(|l, x| l.b.ins().floor(x)),
        U::CeilF32 => Un::Floats(|l, x| l.b.ins().ceil(x)),
        U::TruncF32 => Un::Floats(|l, x| l.b.ins().trunc(x)),
        U::RoundF32 => Un::Floats(|l, x| l.b.ins().nearest(x)),
        U::FastRcpF32 => Un::Floats(|l, x| l.reciprocals(x)),
        U::FastRsqF32 => Un::Floats(|l, x| {
            let root = l.b.ins().sqrt(x);
            l.reciprocals(root)
        }),
        U::U32FromF32 => Un::Floats(|l, x| l.b.ins().fcvt_to_uint_sat(types::I32X4, x)),
        U::S32FromF32 => Un::Floats(|l, x| l.b.ins().fcvt_to_sint_sat(types::I32X4, x)),
        U::F32FromU32 => Un::Four(|l, x| l.b.ins().fcvt_from_uint(types::F32X4, x)),
        U::F32FromS32 => Un::Four(|l, x| l.b.ins().fcvt_from_sint(types::F32X4, x)),
        U::SqrtF64 => Un::WideFloats(|l, x| l.b.ins().sqrt(x)),
        U::FloorF64 => Un::WideFloats(|l, x| l.b.ins().floor(x)),
        U::CeilF64 => Un::WideFloats(|l, x| l.b.ins().ceil(x)),
        U::TruncF64 => Un::WideFloats(|l, x| l.b.ins().trunc(x)),
        U::RoundF64 => Un::WideFloats(|l, x| l.b.ins().nearest(x)),
        U::F64FromF32 => Un::Widen(|l, x| {
            let low = l.cast(types::F32X4, x);
            let high = l.shuffled(x, x, [2, 3, 2, 3]);
            let high = l.cast(types::F32X4, high);
            [l.b.ins().fvpromote_low(low), l.b.ins().fvpromote_low(high)]
        }),
        U::F32FromF64 => Un::Narrow(|l, halves| {
            let [x, y] = halves.map(|v| {
                let v = l.cast(types::F64X2, v);
                l.b.ins().fvdemote(v)
            });
            l.shuffled(x, y, [0, 1, 4, 5])
        }),
        _ => return None,
    })
}

/// How an operation of two operands is done on vectors.
enum Bin {
    Four(Emit2),
    Floats(Emit2),
    Wide(Emit2),
    WideFloats(Emit2),
    /// Each half of 64-bit lanes to masks.
    WideTest(Emit2),
    WideFloatTest(Emit2),
    Pack,
    High(bool),
}

fn bin_form(op: BinOp, ty: Type) -> Option<Bin> {
    use BinOp as B;
    Some(match (op, ty) {
        (B::And, Type::B64) => Bin::Wide(|l, x, y| l.b.ins().band(x, y)),
        (B::Or, Type::B64) => Bin::Wide(|l, x, y| l.b.ins().bor(x, y)),
        (B::Xor, Type::B64) => Bin::Wide(|l, x, y| l.b.ins().bxor(x, y)),
        (B::Add, Type::B64) => Bin::Wide(|l, x, y| l.b.ins().iadd(x, y)),
        (B::Sub, Type::B64) => Bin::Wide(|l, x, y| l.b.ins().isub(x, y)),
        (B::Eq, Type::B64) => Bin::WideTest(|l, x, y| l.b.ins().icmp(IntCC::Equal, x, y)),
        (B::Ne, Type::B64) => Bin::WideTest(|l, x, y| l.b.ins().icmp(IntCC::NotEqual, x, y)),
        (B::LtS, Type::B64) => Bin::WideTest(|l, x, y| l.b.ins().icmp(IntCC::SignedLessThan, x, y)),
        (B::LtU, Type::B64) => Bin::WideTest(|l, x, y| l.wide_less(x, y)),
        (B::Mul, Type::B64) => Bin::Wide(|l, x, y| l.b.ins().imul(x, y)),
        (_, Type::B64) => return float_bin_form(op),
        (B::And, _) => Bin::Four(|l, x, y| l.b.ins().band(x, y)),
        (B::Or, _) => Bin::Four(|l, x, y| l.b.ins().bor(x, y)),
        (B::Xor, _) => Bin::Four(|l, x, y| l.b.ins().bxor(x, y)),
        (B::Add, _) => Bin::Four(|l, x, y| l.b.ins().iadd(x, y)),
        (B::Sub, _) => Bin::Four(|l, x, y| l.b.ins().isub(x, y)),
        (B::Mul, _) => Bin::Four(|l, x, y| l.b.ins().imul(x, y)),
        (B::MinU, _) => Bin::Four(|l, x, y| l.b.ins().umin(x, y)),
        (B::MaxU, _) => Bin::Four(|l, x, y| l.b.ins().umax(x, y)),
        (B::MinS, _) => Bin::Four(|l, x, y| l.b.ins().smin(x, y)),
        (B::MaxS, _) => Bin::Four(|l, x, y| l.b.ins().smax(x, y)),
        (B::Pack, _) => Bin::Pack,
        (B::MulHighU, _) => Bin::High(false),
        (B::MulHighS, _) => Bin::High(true),
        _ => return compare_form(op),
    })
}

fn compare_form(op: BinOp) -> Option<Bin> {
    use BinOp as B;
    Some(match op {
        B::Eq => Bin::Four(|l, x, y| l.b.ins().icmp(IntCC::Equal, x, y)),
        B::Ne => Bin::Four(|l, x, y| l.b.ins().icmp(IntCC::NotEqual, x, y)),
        B::LtU => Bin::Four(|l, x, y| l.b.ins().icmp(IntCC::UnsignedLessThan, x, y)),
        B::LeU => Bin::Four(|l, x, y| l.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, x, y)),
        B::LtS => Bin::Four(|l, x, y| l.b.ins().icmp(IntCC::SignedLessThan, x, y)),
        B::LeS => Bin::Four(|l, x, y| l.b.ins().icmp(IntCC::SignedLessThanOrEqual, x, y)),
        _ => return float_bin_form(op),
    })
}

fn float_bin_form(op: BinOp) -> Option<Bin> {
    use BinOp as B;
    Some(match op {
        B::AddF32 => Bin::Floats(|l, x, y| l.b.ins().fadd(x, y)),
        B::SubF32 => Bin::Floats(|l, x, y| l.b.ins().fsub(x, y)),
        B::MulF32 => Bin::Floats(|l, x, y| l.b.ins().fmul(x, y)),
        B::DivF32 => Bin::Floats(|l, x, y| l.b.ins().fdiv(x, y)),
        B::EqF32 => Bin::Floats(|l, x, y| l.b.ins().fcmp(FloatCC::Equal, x, y)),
        B::LtF32 => Bin::Floats(|l, x, y| l.b.ins().fcmp(FloatCC::LessThan, x, y)),
        B::LeF32 => Bin::Floats(|l, x, y| l.b.ins().fcmp(FloatCC::LessThanOrEqual, x, y)),
        B::AddF64 => Bin::WideFloats(|l, x, y| l.b.ins().fadd(x, y)),
        B::SubF64 => Bin::WideFloats(|l, x, y| l.b.ins().fsub(x, y)),
        B::MulF64 => Bin::WideFloats(|l, x, y| l.b.ins().fmul(x, y)),
        B::DivF64 => Bin::WideFloats(|l, x, y| l.b.ins().fdiv(x, y)),
        B::EqF64 => Bin::WideFloatTest(|l, x, y| l.b.ins().fcmp(FloatCC::Equal, x, y)),
        B::LtF64 => Bin::WideFloatTest(|l, x, y| l.b.ins().fcmp(FloatCC::LessThan, x, y)),
        B::LeF64 => Bin::WideFloatTest(|l, x, y| l.b.ins().fcmp(FloatCC::LessThanOrEqual, x, y)),
        _ => return None,
    })
}

fn both([x, y]: [Ir; 2], mut f: impl FnMut(Ir) -> Ir) -> [Ir; 2] {
    [f(x), f(y)]
}

impl Lowering<'_, '_> {
    fn sign_extended(&mut self, x: Ir, shift: i64) -> Ir {
        let high = self.b.ins().ishl_imm_u(x, shift);
        self.b.ins().sshr_imm_u(high, shift)
    }

    fn reciprocals(&mut self, x: Ir) -> Ir {
        let one = self.b.ins().f32const(1.0);
        let ones = self.b.ins().splat(types::F32X4, one);
        self.b.ins().fdiv(ones, x)
    }

    /// Unsigned: with their highest bits turned over, numbers are in the order of signed ones.
    fn wide_less(&mut self, x: Ir, y: Ir) -> Ir {
        let high = self.vector_constant([0, 1 << 31, 0, 1 << 31]);
        let high = self.cast(types::I64X2, high);
        let (x, y) = (self.b.ins().bxor(x, high), self.b.ins().bxor(y, high));
        self.b.ins().icmp(IntCC::SignedLessThan, x, y)
    }

    pub(super) fn quad_un(&mut self, op: UnOp, a: Value) -> Quad {
        let (x, ty) = (self.quad(a), self.ty(a));
        if let Quad::One(x) = x {
            return Quad::One(self.un(op, x));
        }
        match un_form(op, ty) {
            Some(Un::Four(emit)) => {
                let x = self.four(x);
                Quad::Four(emit(self, x))
            }
            Some(Un::Floats(emit)) => {
                let x = self.four_floats(x);
                Quad::Four(emit(self, x))
            }
            Some(Un::Wide(emit)) => Quad::Wide(both(self.wide(x), |v| emit(self, v))),
            Some(Un::WideFloats(emit)) => Quad::Wide(both(self.wide_floats(x), |v| emit(self, v))),
            Some(Un::Narrow(emit)) => {
                let x = self.wide(x);
                Quad::Four(emit(self, x))
            }
            Some(Un::Widen(emit)) => {
                let x = self.four(x);
                Quad::Wide(emit(self, x))
            }
            None => {
                let result = op.signature().1.unwrap_or(ty);
                self.lane_by_lane(result, |l, i| {
                    let x = l.lane_of(x, ty, i);
                    l.un(op, x)
                })
            }
        }
    }

    fn lane_by_lane(&mut self, result: Type, mut lane: impl FnMut(&mut Self, u8) -> Ir) -> Quad {
        let lanes = [0, 1, 2, 3].map(|i| lane(self, i));
        self.of_lanes(result, lanes)
    }

    /// The 32-bit values that a comparison of two extended ones compares as well.
    fn narrow(&self, op: BinOp, a: Value, b: Value) -> Option<(Value, Value)> {
        let of = |v| match self.definition(v) {
            Some(Expr::Un(UnOp::Extend, x)) if self.at_hand(x) => Some(x),
            _ => None,
        };
        let compares = matches!(op, BinOp::LtU | BinOp::LeU | BinOp::Eq | BinOp::Ne);
        compares.then(|| Some((of(a)?, of(b)?))).flatten()
    }

    pub(super) fn quad_bin(&mut self, op: BinOp, a: Value, b: Value) -> Quad {
        let (a, b) = self.narrow(op, a, b).unwrap_or((a, b));
        let (x, y, ty) = (self.quad(a), self.quad(b), self.ty(a));
        match (x, y) {
            (Quad::One(x), Quad::One(y)) => return Quad::One(self.bin(op, x, y)),
            (x, Quad::One(by)) if op.is_shift() => return self.shifted(op, x, ty, by),
            _ => {}
        }
        if op == BinOp::Pack
            && let Some(sum) = self.halves(a, b)
        {
            return self.summed(sum);
        }
        match bin_form(op, ty) {
            Some(form) => self.bin_vectors(form, x, y),
            None if matches!(op, BinOp::DivU | BinOp::RemU) => {
                let remainder = op == BinOp::RemU;
                self.quad_division(x, y, remainder, |l| l.bin_lane_by_lane(op, (x, ty), (y, ty)))
            }
            None => self.bin_lane_by_lane(op, (x, ty), (y, self.ty(b))),
        }
    }

    fn bin_lane_by_lane(&mut self, op: BinOp, x: (Quad, Type), y: (Quad, Type)) -> Quad {
        let result = op.signature().1.unwrap_or(x.1);
        self.lane_by_lane(result, |l, i| {
            let (x, y) = (l.lane_of(x.0, x.1, i), l.lane_of(y.0, y.1, i));
            l.bin(op, x, y)
        })
    }

    fn bin_vectors(&mut self, form: Bin, x: Quad, y: Quad) -> Quad {
        match form {
            Bin::Four(emit) => {
                let (x, y) = (self.four(x), self.four(y));
                Quad::Four(emit(self, x, y))
            }
            Bin::Floats(emit) => {
                let (x, y) = (self.four_floats(x), self.four_floats(y));
                Quad::Four(emit(self, x, y))
            }
            Bin::Wide(emit) => {
                let ([a, b], [c, d]) = (self.wide(x), self.wide(y));
                Quad::Wide([emit(self, a, c), emit(self, b, d)])
            }
            Bin::WideFloats(emit) => {
                let ([a, b], [c, d]) = (self.wide_floats(x), self.wide_floats(y));
                Quad::Wide([emit(self, a, c), emit(self, b, d)])
            }
            Bin::WideTest(emit) => {
                let ([a, b], [c, d]) = (self.wide(x), self.wide(y));
                let masks = [emit(self, a, c), emit(self, b, d)];
                Quad::Four(self.dwords_of(masks, false))
            }
            Bin::WideFloatTest(emit) => {
                let ([a, b], [c, d]) = (self.wide_floats(x), self.wide_floats(y));
                let masks = [emit(self, a, c), emit(self, b, d)];
                Quad::Four(self.dwords_of(masks, false))
            }
            Bin::Pack => self.packed(x, y),
            Bin::High(signed) => {
                let (x, y) = (self.four(x), self.four(y));
                Quad::Four(self.high_products(x, y, signed))
            }
        }
    }

    /// Four numbers of 64 bits, by their halves.
    pub(super) fn packed(&mut self, low: Quad, high: Quad) -> Quad {
        let (x, y) = (self.four(low), self.four(high));
        Quad::Wide([self.shuffled(x, y, [0, 4, 1, 5]), self.shuffled(x, y, [2, 6, 3, 7])])
    }

    /// High halves of four products of 32 bits.
    fn high_products(&mut self, x: Ir, y: Ir, signed: bool) -> Ir {
        let [x, y] = [x, y].map(|v| {
            let (low, high) = if signed {
                (self.b.ins().swiden_low(v), self.b.ins().swiden_high(v))
            } else {
                (self.b.ins().uwiden_low(v), self.b.ins().uwiden_high(v))
            };
            [low, high]
        });
        let products = [self.b.ins().imul(x[0], y[0]), self.b.ins().imul(x[1], y[1])];
        self.dwords_of(products, true)
    }

    /// A shift of all lanes by the same amount.
    fn shifted(&mut self, op: BinOp, x: Quad, ty: Type, by: Ir) -> Quad {
        let by = self.as_int(by);
        let emit: Emit2 = match op {
            BinOp::Shl => |l, x, by| l.b.ins().ishl(x, by),
            BinOp::ShrU => |l, x, by| l.b.ins().ushr(x, by),
            _ => |l, x, by| l.b.ins().sshr(x, by),
        };
        if ty == Type::B64 {
            return Quad::Wide(both(self.wide(x), |v| emit(self, v, by)));
        }
        let x = self.four(x);
        Quad::Four(emit(self, x, by))
    }

    pub(super) fn quad_tri(&mut self, op: TriOp, a: Value, b: Value, c: Value) -> Quad {
        let operands = [a, b, c].map(|v| self.quad(v));
        if let [Quad::One(x), Quad::One(y), Quad::One(z)] = operands {
            return Quad::One(self.tri(op, [x, y, z]));
        }
        if op == TriOp::Select
            && let Some(x) = self.flushed_by(a, b, c)
        {
            return self.flushed(x);
        }
        match op {
            TriOp::Select => self.quad_select(operands, self.ty(b)),
            TriOp::FmaF64 if self.host.fma => {
                let [x, y, z] = operands.map(|v| self.wide_floats(v));
                Quad::Wide([0, 1].map(|i| self.b.ins().fma(x[i], y[i], z[i])))
            }
            TriOp::FmaF32 | TriOp::FastMadF32 if self.host.fma => {
                let [x, y, z] = operands.map(|v| self.four_floats(v));
                Quad::Four(self.b.ins().fma(x, y, z))
            }
            TriOp::FastMadF32 => {
                let [x, y, z] = operands.map(|v| self.four_floats(v));
                let product = self.b.ins().fmul(x, y);
                Quad::Four(self.b.ins().fadd(product, z))
            }
            TriOp::FmaF32 | TriOp::FmaF64 => {
                let ty = self.ty(b);
                self.lane_by_lane(ty, |l, i| {
                    let operands = operands.map(|v| l.lane_of(v, ty, i));
                    l.tri(op, operands)
                })
            }
        }
    }

    fn quad_select(&mut self, [c, x, y]: [Quad; 3], ty: Type) -> Quad {
        if let Quad::One(c) = c {
            return self.select_alike(c, x, y, ty);
        }
        let mask = self.four(c);
        if ty != Type::B64 && self.is_zero(y) {
            let x = self.four(x);
            return Quad::Four(self.b.ins().band(mask, x));
        }
        if ty == Type::B64 {
            let (masks, x, y) = (self.wide_mask(mask), self.wide(x), self.wide(y));
            return Quad::Wide([0, 1].map(|i| self.b.ins().bitselect(masks[i], x[i], y[i])));
        }
        let (x, y) = (self.four(x), self.four(y));
        Quad::Four(self.b.ins().bitselect(mask, x, y))
    }

    fn is_zero(&self, quad: Quad) -> bool {
        matches!(quad, Quad::One(v) if self.constant_bits(v) == Some(0))
    }

    /// A choice that all lanes make alike.
    fn select_alike(&mut self, c: Ir, x: Quad, y: Quad, ty: Type) -> Quad {
        if ty == Type::B64 {
            let (x, y) = (self.wide(x), self.wide(y));
            return Quad::Wide([0, 1].map(|i| self.b.ins().select(c, x[i], y[i])));
        }
        let (x, y) = (self.four(x), self.four(y));
        Quad::Four(self.b.ins().select(c, x, y))
    }
}
