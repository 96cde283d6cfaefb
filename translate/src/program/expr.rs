//! Expressions: what a `Let` computes.

use super::{Rate, Type, Value, Var};

/// The right side of a `Let`. Operands are values; the result's rate is varying if any operand is, unless the
/// operation says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A uniform `Bool`.
    ConstBool(bool),
    /// A uniform `B32`.
    Const32(u32),
    /// A uniform `B64`.
    Const64(u64),
    /// The present value of a variable.
    Get(Var),
    /// Word of the parameter block, uniform `B32`.
    Param(u16),
    /// A value that the launch gives.
    Builtin(Builtin),
    /// One operand.
    Un(UnOp, Value),
    /// Two operands.
    Bin(BinOp, Value, Value),
    /// Three operands.
    Tri(TriOp, Value, Value, Value),
    /// An operation over the lanes of the wave; uniform control flow only.
    Wave(WaveOp),
}

/// What a launch gives each wave or lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Builtin {
    /// Lane number in the wave, varying `B32`.
    Lane,
    /// Wave number in the dispatch, uniform `B32`.
    Wave,
    /// Wave number in its workgroup, uniform `B32`.
    WaveInGroup,
    /// Workgroup number in the dispatch, uniform `B32`.
    Group,
}

/// Operations of one operand. Names end in the operand's type; the result's type is in [`UnOp::result`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants name their operations; the module says how they behave")]
pub enum UnOp {
    /// Bitwise; of a `Bool`, logical.
    Not,
    Neg,
    CountOnes,
    /// Leading zeros; the width for 0.
    LeadingZeros,
    /// Trailing zeros; the width for 0.
    TrailingZeros,
    ReverseBits,
    /// Low half of a `B64`.
    Low,
    /// High half of a `B64`.
    High,
    /// Zero-extends a `B32` to a `B64`.
    Extend,
    /// Sign-extends a `B32` to a `B64`.
    ExtendS,
    /// Sign-extends the low 8 bits of a `B32`.
    Sext8,
    /// Sign-extends the low 16 bits of a `B32`.
    Sext16,
    /// 1 or 0 as a `B32`.
    FromBool,
    SqrtF32,
    FloorF32,
    CeilF32,
    TruncF32,
    /// Round to nearest even.
    RoundF32,
    SqrtF64,
    FloorF64,
    CeilF64,
    TruncF64,
    /// Round to nearest even.
    RoundF64,
    F32FromU32,
    F32FromS32,
    F64FromU32,
    F64FromS32,
    U32FromF32,
    S32FromF32,
    U32FromF64,
    S32FromF64,
    F64FromF32,
    F32FromF64,
    /// f16 in the low half to f32, exact.
    F32FromF16,
    /// f32 to f16, round to nearest even, high half 0.
    F16FromF32,
    FastRcpF32,
    FastRsqF32,
    FastSqrtF32,
    FastExp2F32,
    FastLog2F32,
    /// Sine of an angle in revolutions.
    FastSinF32,
    /// Cosine of an angle in revolutions.
    FastCosF32,
}

/// Operations of two operands of one type (shifts: the amount is a `B32`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants name their operations; the module says how they behave")]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// High half of the unsigned 32 x 32 product.
    MulHighU,
    /// High half of the signed 32 x 32 product.
    MulHighS,
    /// Unsigned quotient of `B32`s; all ones if the divisor is 0.
    DivU,
    /// Unsigned remainder of `B32`s; the dividend if the divisor is 0.
    RemU,
    And,
    Or,
    Xor,
    Shl,
    ShrU,
    ShrS,
    MinU,
    MaxU,
    MinS,
    MaxS,
    Eq,
    Ne,
    LtU,
    LeU,
    LtS,
    LeS,
    /// A `B64` of a low and a high `B32`.
    Pack,
    AddF32,
    SubF32,
    MulF32,
    DivF32,
    EqF32,
    LtF32,
    LeF32,
    AddF64,
    SubF64,
    MulF64,
    DivF64,
    EqF64,
    LtF64,
    LeF64,
}

/// Operations of three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TriOp {
    /// `first ? second : third`; the first is a `Bool`.
    Select,
    /// `first * second + third`, one rounding.
    FmaF32,
    /// `first * second + third`, one rounding.
    FmaF64,
    /// Multiply and add however the host likes: one rounding or two.
    FastMadF32,
}

/// Operations over the lanes of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaveOp {
    /// The lanes' `Bool`s as bits, lane 0 lowest: a uniform `B64` (high half 0 for 32 lanes).
    Ballot(Value),
    /// Whether any lane's `Bool` is true: a uniform `Bool`.
    Any(Value),
    /// A varying `B32` as lane `lane` (uniform `B32`, modulo the wave size) has it: a uniform `B32`.
    ReadLane {
        /// What is read.
        value: Value,
        /// From where.
        lane: Value,
    },
    /// Each lane reads a varying `B32` of the lane that its own `lane` names (modulo the wave size).
    Shuffle {
        /// What is read.
        value: Value,
        /// From where, varying.
        lane: Value,
    },
    /// Each lane with `active` sends its `B32` to the lane that its `lane` names (modulo the wave size); a lane to which several
    /// send gets the highest lane's, one to which none sends gets 0.
    Send {
        /// What is sent.
        value: Value,
        /// To where, varying.
        lane: Value,
        /// Whether this lane sends.
        active: Value,
    },
}

impl UnOp {
    /// Operand and result type; `None` means that `Bool`, `B32` and `B64` are all possible as the operation allows and
    /// operand and result agree, except where the operation fixes one side.
    pub fn signature(self) -> (Option<Type>, Option<Type>) {
        use Type::{B32, B64, Bool};
        use UnOp as U;
        match self {
            U::Not | U::Neg | U::ReverseBits => (None, None),
            U::CountOnes | U::LeadingZeros | U::TrailingZeros => (None, Some(B32)),
            U::Low | U::High => (Some(B64), Some(B32)),
            U::Extend | U::ExtendS => (Some(B32), Some(B64)),
            U::FromBool => (Some(Bool), Some(B32)),
            U::SqrtF64 | U::FloorF64 | U::CeilF64 | U::TruncF64 | U::RoundF64 => (Some(B64), Some(B64)),
            U::F64FromU32 | U::F64FromS32 | U::F64FromF32 => (Some(B32), Some(B64)),
            U::U32FromF64 | U::S32FromF64 | U::F32FromF64 => (Some(B64), Some(B32)),
            _ => (Some(B32), Some(B32)),
        }
    }
}

impl BinOp {
    /// Type of both operands (`None`: either `B32` or `B64`, or `Bool` for the bitwise ones and `Eq`/`Ne`) and of the result
    /// (`None`: that of the operands).
    pub fn signature(self) -> (Option<Type>, Option<Type>) {
        use BinOp as B;
        use Type::{B32, B64, Bool};
        match self {
            B::Eq | B::Ne | B::LtU | B::LeU | B::LtS | B::LeS => (None, Some(Bool)),
            B::MulHighU | B::MulHighS | B::DivU | B::RemU | B::AddF32 | B::SubF32 | B::MulF32 | B::DivF32 => {
                (Some(B32), Some(B32))
            }
            B::EqF32 | B::LtF32 | B::LeF32 => (Some(B32), Some(Bool)),
            B::AddF64 | B::SubF64 | B::MulF64 | B::DivF64 => (Some(B64), Some(B64)),
            B::EqF64 | B::LtF64 | B::LeF64 => (Some(B64), Some(Bool)),
            B::Pack => (Some(B32), Some(B64)),
            _ => (None, None),
        }
    }

    /// Whether the second operand is a shift amount, always a `B32`.
    pub fn is_shift(self) -> bool {
        matches!(self, BinOp::Shl | BinOp::ShrU | BinOp::ShrS)
    }

    /// Whether `Bool` operands are allowed.
    pub fn takes_bool(self) -> bool {
        matches!(self, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Eq | BinOp::Ne)
    }
}

impl Expr {
    /// Calls `f` with each operand.
    pub fn operands(&self, mut f: impl FnMut(Value)) {
        match *self {
            Expr::Un(_, a) => f(a),
            Expr::Bin(_, a, b) => [a, b].into_iter().for_each(f),
            Expr::Tri(_, a, b, c) => [a, b, c].into_iter().for_each(f),
            Expr::Wave(w) => w.operands(f),
            _ => {}
        }
    }
}

impl WaveOp {
    /// Calls `f` with each operand.
    pub fn operands(&self, f: impl FnMut(Value)) {
        match *self {
            WaveOp::Ballot(v) | WaveOp::Any(v) => [v].into_iter().for_each(f),
            WaveOp::ReadLane { value, lane } | WaveOp::Shuffle { value, lane } => {
                [value, lane].into_iter().for_each(f);
            }
            WaveOp::Send { value, lane, active } => [value, lane, active].into_iter().for_each(f),
        }
    }

    /// Type and rate of the result.
    pub fn result(&self) -> (Type, Rate) {
        match self {
            WaveOp::Ballot(_) => (Type::B64, Rate::Uniform),
            WaveOp::Any(_) => (Type::Bool, Rate::Uniform),
            WaveOp::ReadLane { .. } => (Type::B32, Rate::Uniform),
            WaveOp::Shuffle { .. } | WaveOp::Send { .. } => (Type::B32, Rate::Varying),
        }
    }
}
