//! Short names for the program's operations, so that sequences read as expressions.

use super::Exact;
use crate::program::{BinOp, TriOp, Type, UnOp, Value};

/// A value, or a constant of the type that the operation wants there.
pub(super) trait Arg {
    fn value(self, e: &Exact<'_>, ty: Type) -> Value;
}

impl Arg for Value {
    fn value(self, _: &Exact<'_>, _: Type) -> Value {
        self
    }
}

impl Arg for u64 {
    fn value(self, e: &Exact<'_>, ty: Type) -> Value {
        e.constant(ty, self)
    }
}

macro_rules! unary {
    ($($name:ident $op:ident;)*) => {
        impl Exact<'_> {
            $(pub(super) fn $name(&self, a: Value) -> Value {
                self.un(UnOp::$op, a)
            })*
        }
    };
}

macro_rules! binary {
    ($($name:ident $op:ident;)*) => {
        impl Exact<'_> {
            $(pub(super) fn $name(&self, a: Value, b: impl Arg) -> Value {
                self.bin(BinOp::$op, a, b)
            })*
        }
    };
}

unary! {
    not Not;
    neg Neg;
    low Low;
    high High;
    extend Extend;
    extend_s ExtendS;
    sext16 Sext16;
    number FromBool;
}

binary! {
    add Add;
    sub Sub;
    mul Mul;
    mul_high_u MulHighU;
    mul_high_s MulHighS;
    and And;
    or Or;
    xor Xor;
    shl Shl;
    shr_u ShrU;
    shr_s ShrS;
    min_u MinU;
    max_u MaxU;
    min_s MinS;
    max_s MaxS;
    eq Eq;
    ne Ne;
    lt_u LtU;
    le_u LeU;
    lt_s LtS;
    pack Pack;
}

impl Exact<'_> {
    pub(super) fn constant(&self, ty: Type, bits: u64) -> Value {
        let mut b = self.b.borrow_mut();
        match ty {
            Type::Bool => b.cbool(bits != 0),
            Type::B32 => b.c32(bits as u32),
            Type::B64 => b.c64(bits),
        }
    }

    /// A `B32`.
    pub(super) fn c32(&self, bits: u32) -> Value {
        self.constant(Type::B32, bits.into())
    }

    /// The constant behind a value, if it is one.
    pub(super) fn known(&self, value: Value) -> Option<u64> {
        self.b.borrow().constant(value)
    }

    fn ty(&self, value: Value) -> Type {
        self.b.borrow().info(value).ty
    }

    pub(super) fn un(&self, op: UnOp, a: Value) -> Value {
        self.b.borrow_mut().un(op, a)
    }

    pub(super) fn bin(&self, op: BinOp, a: Value, b: impl Arg) -> Value {
        let ty = if op.is_shift() { Type::B32 } else { self.ty(a) };
        let b = b.value(self, ty);
        self.b.borrow_mut().bin(op, a, b)
    }

    pub(super) fn tri(&self, op: TriOp, a: Value, b: Value, c: Value) -> Value {
        self.b.borrow_mut().tri(op, a, b, c)
    }

    /// `cond ? a : b`.
    pub(super) fn select(&self, cond: Value, a: Value, b: impl Arg) -> Value {
        let b = b.value(self, self.ty(a));
        self.tri(TriOp::Select, cond, a, b)
    }

    /// `cond ? a : b` for two constants of a type.
    pub(super) fn choose(&self, cond: Value, ty: Type, [a, b]: [u64; 2]) -> Value {
        let [a, b] = [a, b].map(|c| self.constant(ty, c));
        self.select(cond, a, b)
    }
}
