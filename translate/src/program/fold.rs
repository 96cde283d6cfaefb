//! Constants folded and identities dropped while a program is built. Integer and `Bool` operations only: float folding is
//! left alone, since its exactness is the point.

use super::eval::ops;
use super::{BinOp, Builder, Expr, TriOp, Type, UnOp, Value};

/// Operations whose results on constants are constants.
const INTEGER_UN: [UnOp; 13] = [
    UnOp::Not,
    UnOp::Neg,
    UnOp::CountOnes,
    UnOp::LeadingZeros,
    UnOp::TrailingZeros,
    UnOp::ReverseBits,
    UnOp::Low,
    UnOp::High,
    UnOp::Extend,
    UnOp::ExtendS,
    UnOp::Sext8,
    UnOp::Sext16,
    UnOp::FromBool,
];
const INTEGER_BIN: [BinOp; 24] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::MulHighU,
    BinOp::MulHighS,
    BinOp::DivU,
    BinOp::RemU,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Shl,
    BinOp::ShrU,
    BinOp::ShrS,
    BinOp::MinU,
    BinOp::MaxU,
    BinOp::MinS,
    BinOp::MaxS,
    BinOp::Eq,
    BinOp::Ne,
    BinOp::LtU,
    BinOp::LeU,
    BinOp::LtS,
    BinOp::LeS,
    BinOp::Pack,
];

/// A value known to equal `expr`, or the expression to define (in its simplest form).
pub(super) fn fold(b: &mut Builder, expr: Expr) -> Result<Value, Expr> {
    match expr {
        Expr::Un(op, a) => fold_un(b, op, a).ok_or(expr),
        Expr::Bin(op, x, y) => fold_bin(b, op, x, y).ok_or(expr),
        Expr::Tri(TriOp::Select, c, x, y) => fold_select(b, c, x, y).ok_or(expr),
        _ => Err(expr),
    }
}

fn constant(b: &mut Builder, ty: Type, bits: u64) -> Value {
    match ty {
        Type::Bool => b.cbool(bits & 1 != 0),
        Type::B32 => b.c32(bits as u32),
        Type::B64 => b.c64(bits),
    }
}

fn fold_un(b: &mut Builder, op: UnOp, a: Value) -> Option<Value> {
    if let (UnOp::Low | UnOp::High, Some(Expr::Bin(BinOp::Pack, lo, hi))) = (op, b.definition(a)) {
        return Some(if op == UnOp::Low { lo } else { hi });
    }
    if let (UnOp::Not, Some(Expr::Un(UnOp::Not, inner))) = (op, b.definition(a)) {
        return Some(inner);
    }
    let x = b.constant(a).filter(|_| INTEGER_UN.contains(&op))?;
    let ty = b.info(a).ty;
    Some(constant(b, op.signature().1.unwrap_or(ty), ops::un(op, ty, x)))
}

fn fold_bin(b: &mut Builder, op: BinOp, x: Value, y: Value) -> Option<Value> {
    let ty = b.info(x).ty;
    let (cx, cy) = (b.constant(x), b.constant(y));
    if let (Some(p), Some(q)) = (cx, cy) {
        return constant_bin(op, ty, p, q).map(|(bits, ty)| constant(b, ty, bits));
    }
    let ones = match ty {
        Type::Bool => 1,
        Type::B32 => u64::from(u32::MAX),
        Type::B64 => u64::MAX,
    };
    match (op, cx, cy) {
        (BinOp::Add | BinOp::Or | BinOp::Xor, Some(0), _) => Some(y),
        (BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor, _, Some(0)) => Some(x),
        (BinOp::Shl | BinOp::ShrU | BinOp::ShrS, _, Some(0)) => Some(x),
        (BinOp::And, Some(0), _) | (BinOp::Or, _, Some(_)) if cx == Some(0) || cy == Some(ones) => {
            Some(constant(b, ty, cx.or(cy)?))
        }
        (BinOp::And | BinOp::Mul, _, Some(0)) => Some(constant(b, ty, 0)),
        (BinOp::Mul, Some(0), _) => Some(constant(b, ty, 0)),
        (BinOp::And, Some(c), _) if c == ones => Some(y),
        (BinOp::And, _, Some(c)) if c == ones => Some(x),
        (BinOp::Mul, _, Some(1)) => Some(x),
        (BinOp::And | BinOp::Or, _, _) if x == y => Some(x),
        _ => None,
    }
}

fn fold_select(b: &mut Builder, c: Value, x: Value, y: Value) -> Option<Value> {
    if x == y {
        return Some(x);
    }
    b.constant(c).map(|c| if c != 0 { x } else { y })
}

/// What an integer operation gives of two numbers, the first of type `ty`, and of what type that is.
pub(crate) fn constant_bin(op: BinOp, ty: Type, x: u64, y: u64) -> Option<(u64, Type)> {
    let result = op.signature().1.unwrap_or(ty);
    INTEGER_BIN.contains(&op).then(|| (ops::bin(op, ty, x, y), result))
}
