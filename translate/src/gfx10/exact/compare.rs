//! Comparisons and class tests. The `v_cmpx` forms compare alike; where their mask goes is the driver's affair.

use guestwave_isa::gfx10::Op;

use super::format::Format::{self, F16, F32, F64};
use super::row::{Exact, Output, Sources, VectorKind, VectorRow, row};
use crate::program::{Type, UnOp, Value};

/// When a comparison of floats holds.
#[derive(Clone, Copy)]
enum Truth {
    Never,
    Less,
    Equal,
    LessOrEqual,
    Greater,
    /// Less or greater.
    Different,
    GreaterOrEqual,
    /// Neither is a NaN.
    Ordered,
}

/// How integers are compared.
#[derive(Clone, Copy)]
enum Kind {
    Signed16,
    Unsigned16,
    Signed,
    Unsigned,
}

impl Exact<'_> {
    fn truth(&self, value: bool) -> Value {
        self.constant(Type::Bool, value.into())
    }

    fn holds(&self, f: Format, truth: Truth, [a, b, _]: Sources) -> Value {
        match truth {
            Truth::Never => return self.truth(false),
            Truth::Ordered => return self.not(self.or(self.is_nan(f, a), self.is_nan(f, b))),
            _ => {}
        }
        let [x, y] = [a, b].map(|s| self.numeric(f, s)).map(|s| match f {
            F16 => self.un(UnOp::F32FromF16, s),
            F32 | F64 => s,
        });
        let c = if f == F64 { F64 } else { F32 };
        match truth {
            Truth::Less => self.less(c, x, y),
            Truth::Equal => self.equal(c, x, y),
            Truth::LessOrEqual => self.less_or_equal(c, x, y),
            Truth::Greater => self.less(c, y, x),
            Truth::GreaterOrEqual => self.less_or_equal(c, y, x),
            _ => self.or(self.less(c, x, y), self.less(c, y, x)),
        }
    }

    fn holds_not(&self, f: Format, truth: Truth, sources: Sources) -> Value {
        self.not(self.holds(f, truth, sources))
    }

    fn compared(&self, kind: Kind, truth: Truth, [a, b, _]: Sources) -> Value {
        let [a, b] = match kind {
            Kind::Signed16 => [a, b].map(|s| self.sext16(s)),
            _ => [a, b],
        };
        let signed = matches!(kind, Kind::Signed16 | Kind::Signed);
        let less = |x, y| if signed { self.lt_s(x, y) } else { self.lt_u(x, y) };
        match truth {
            Truth::Never => self.truth(false),
            Truth::Less => less(a, b),
            Truth::Equal => self.eq(a, b),
            Truth::LessOrEqual => self.not(less(b, a)),
            Truth::Greater => less(b, a),
            Truth::Different => self.ne(a, b),
            Truth::GreaterOrEqual => self.not(less(a, b)),
            Truth::Ordered => self.truth(true),
        }
    }

    /// Whether the class of `a` (signalling and quiet NaN, then from minus to plus infinity) is in the set `classes`.
    fn in_classes(&self, f: Format, [a, classes, _]: Sources) -> Value {
        let size = self.size(f, a);
        let least_normal = 1 << f.fraction_bits();
        // How far from zero: 0 zero, 1 denormal, 2 normal, 3 infinity; mirrored below zero.
        let steps = [1, least_normal, f.infinity()].map(|from| {
            let from = self.constant(f.ty(), from);
            self.number(self.le_u(from, size))
        });
        let far = self.add(self.add(steps[0], steps[1]), steps[2]);
        let negative = match f {
            F16 => self.shr_s(self.sext16(a), 31),
            F32 => self.shr_s(a, 31),
            F64 => self.shr_s(self.high(a), 31),
        };
        let class = self.add(self.xor(far, negative), 6);
        let quiet = self.number(self.ne(self.and(a, f.quiet()), 0));
        let class = self.select(self.is_nan(f, a), quiet, class);
        self.eq(self.and(self.shr_u(classes, class), 1), 1)
    }
}

const fn compare(op: Op, f: fn(&mut Exact<'_>, Sources) -> Value) -> VectorRow {
    row(op, VectorKind::Compare(f), Output::B32)
}

/// Rows of comparisons: how, when, and the two operations.
macro_rules! comparisons {
    ($($method:ident $of:path { $($truth:ident $cmp:ident $cmpx:ident;)* })*) => {
        &[$($(
            compare(Op::$cmp, |e, s| e.$method($of, Truth::$truth, s)),
            compare(Op::$cmpx, |e, s| e.$method($of, Truth::$truth, s)),
        )*)*]
    };
}

pub(super) const CLASSES: &[VectorRow] = &[
    compare(Op::V_CMP_CLASS_F16, |e, s| e.in_classes(F16, s)),
    compare(Op::V_CMPX_CLASS_F16, |e, s| e.in_classes(F16, s)),
    compare(Op::V_CMP_CLASS_F32, |e, s| e.in_classes(F32, s)),
    compare(Op::V_CMPX_CLASS_F32, |e, s| e.in_classes(F32, s)),
    compare(Op::V_CMP_CLASS_F64, |e, s| e.in_classes(F64, s)),
    compare(Op::V_CMPX_CLASS_F64, |e, s| e.in_classes(F64, s)),
];

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = comparisons! {
    holds F16 {
        Never V_CMP_F_F16 V_CMPX_F_F16;
        Less V_CMP_LT_F16 V_CMPX_LT_F16;
        Equal V_CMP_EQ_F16 V_CMPX_EQ_F16;
        LessOrEqual V_CMP_LE_F16 V_CMPX_LE_F16;
        Greater V_CMP_GT_F16 V_CMPX_GT_F16;
        Different V_CMP_LG_F16 V_CMPX_LG_F16;
        GreaterOrEqual V_CMP_GE_F16 V_CMPX_GE_F16;
        Ordered V_CMP_O_F16 V_CMPX_O_F16;
    }
    holds_not F16 {
        Never V_CMP_TRU_F16 V_CMPX_TRU_F16;
        Less V_CMP_NLT_F16 V_CMPX_NLT_F16;
        Equal V_CMP_NEQ_F16 V_CMPX_NEQ_F16;
        LessOrEqual V_CMP_NLE_F16 V_CMPX_NLE_F16;
        Greater V_CMP_NGT_F16 V_CMPX_NGT_F16;
        Different V_CMP_NLG_F16 V_CMPX_NLG_F16;
        GreaterOrEqual V_CMP_NGE_F16 V_CMPX_NGE_F16;
        Ordered V_CMP_U_F16 V_CMPX_U_F16;
    }
    holds F32 {
        Never V_CMP_F_F32 V_CMPX_F_F32;
        Less V_CMP_LT_F32 V_CMPX_LT_F32;
        Equal V_CMP_EQ_F32 V_CMPX_EQ_F32;
        LessOrEqual V_CMP_LE_F32 V_CMPX_LE_F32;
        Greater V_CMP_GT_F32 V_CMPX_GT_F32;
        Different V_CMP_LG_F32 V_CMPX_LG_F32;
        GreaterOrEqual V_CMP_GE_F32 V_CMPX_GE_F32;
        Ordered V_CMP_O_F32 V_CMPX_O_F32;
    }
    holds_not F32 {
        Never V_CMP_TRU_F32 V_CMPX_TRU_F32;
        Less V_CMP_NLT_F32 V_CMPX_NLT_F32;
        Equal V_CMP_NEQ_F32 V_CMPX_NEQ_F32;
        LessOrEqual V_CMP_NLE_F32 V_CMPX_NLE_F32;
        Greater V_CMP_NGT_F32 V_CMPX_NGT_F32;
        Different V_CMP_NLG_F32 V_CMPX_NLG_F32;
        GreaterOrEqual V_CMP_NGE_F32 V_CMPX_NGE_F32;
        Ordered V_CMP_U_F32 V_CMPX_U_F32;
    }
    holds F64 {
        Never V_CMP_F_F64 V_CMPX_F_F64;
        Less V_CMP_LT_F64 V_CMPX_LT_F64;
        Equal V_CMP_EQ_F64 V_CMPX_EQ_F64;
        LessOrEqual V_CMP_LE_F64 V_CMPX_LE_F64;
        Greater V_CMP_GT_F64 V_CMPX_GT_F64;
        Different V_CMP_LG_F64 V_CMPX_LG_F64;
        GreaterOrEqual V_CMP_GE_F64 V_CMPX_GE_F64;
        Ordered V_CMP_O_F64 V_CMPX_O_F64;
    }
    holds_not F64 {
        Never V_CMP_TRU_F64 V_CMPX_TRU_F64;
        Less V_CMP_NLT_F64 V_CMPX_NLT_F64;
        Equal V_CMP_NEQ_F64 V_CMPX_NEQ_F64;
        LessOrEqual V_CMP_NLE_F64 V_CMPX_NLE_F64;
        Greater V_CMP_NGT_F64 V_CMPX_NGT_F64;
        Different V_CMP_NLG_F64 V_CMPX_NLG_F64;
        GreaterOrEqual V_CMP_NGE_F64 V_CMPX_NGE_F64;
        Ordered V_CMP_U_F64 V_CMPX_U_F64;
    }
    compared Kind::Signed16 {
        Less V_CMP_LT_I16 V_CMPX_LT_I16;
        Equal V_CMP_EQ_I16 V_CMPX_EQ_I16;
        LessOrEqual V_CMP_LE_I16 V_CMPX_LE_I16;
        Greater V_CMP_GT_I16 V_CMPX_GT_I16;
        Different V_CMP_NE_I16 V_CMPX_NE_I16;
        GreaterOrEqual V_CMP_GE_I16 V_CMPX_GE_I16;
    }
    compared Kind::Unsigned16 {
        Less V_CMP_LT_U16 V_CMPX_LT_U16;
        Equal V_CMP_EQ_U16 V_CMPX_EQ_U16;
        LessOrEqual V_CMP_LE_U16 V_CMPX_LE_U16;
        Greater V_CMP_GT_U16 V_CMPX_GT_U16;
        Different V_CMP_NE_U16 V_CMPX_NE_U16;
        GreaterOrEqual V_CMP_GE_U16 V_CMPX_GE_U16;
    }
    compared Kind::Signed {
        Never V_CMP_F_I32 V_CMPX_F_I32;
        Less V_CMP_LT_I32 V_CMPX_LT_I32;
        Equal V_CMP_EQ_I32 V_CMPX_EQ_I32;
        LessOrEqual V_CMP_LE_I32 V_CMPX_LE_I32;
        Greater V_CMP_GT_I32 V_CMPX_GT_I32;
        Different V_CMP_NE_I32 V_CMPX_NE_I32;
        GreaterOrEqual V_CMP_GE_I32 V_CMPX_GE_I32;
        Ordered V_CMP_T_I32 V_CMPX_T_I32;
    }
    compared Kind::Unsigned {
        Never V_CMP_F_U32 V_CMPX_F_U32;
        Less V_CMP_LT_U32 V_CMPX_LT_U32;
        Equal V_CMP_EQ_U32 V_CMPX_EQ_U32;
        LessOrEqual V_CMP_LE_U32 V_CMPX_LE_U32;
        Greater V_CMP_GT_U32 V_CMPX_GT_U32;
        Different V_CMP_NE_U32 V_CMPX_NE_U32;
        GreaterOrEqual V_CMP_GE_U32 V_CMPX_GE_U32;
        Ordered V_CMP_T_U32 V_CMPX_T_U32;
    }
    compared Kind::Signed {
        Never V_CMP_F_I64 V_CMPX_F_I64;
        Less V_CMP_LT_I64 V_CMPX_LT_I64;
        Equal V_CMP_EQ_I64 V_CMPX_EQ_I64;
        LessOrEqual V_CMP_LE_I64 V_CMPX_LE_I64;
        Greater V_CMP_GT_I64 V_CMPX_GT_I64;
        Different V_CMP_NE_I64 V_CMPX_NE_I64;
        GreaterOrEqual V_CMP_GE_I64 V_CMPX_GE_I64;
        Ordered V_CMP_T_I64 V_CMPX_T_I64;
    }
    compared Kind::Unsigned {
        Never V_CMP_F_U64 V_CMPX_F_U64;
        Less V_CMP_LT_U64 V_CMPX_LT_U64;
        Equal V_CMP_EQ_U64 V_CMPX_EQ_U64;
        LessOrEqual V_CMP_LE_U64 V_CMPX_LE_U64;
        Greater V_CMP_GT_U64 V_CMPX_GT_U64;
        Different V_CMP_NE_U64 V_CMPX_NE_U64;
        GreaterOrEqual V_CMP_GE_U64 V_CMPX_GE_U64;
        Ordered V_CMP_T_U64 V_CMPX_T_U64;
    }
};
