//! Constants folded and identities dropped while a program is built. Integer and `Bool` operations only: float folding is
//! left alone, since its exactness is the point.

use super::{BinOp, Builder, Expr, TriOp, Type, UnOp, Value};

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
    let x = b.constant(a)?;
    let ty = b.info(a).ty;
    let (bits, result) = match (op, ty) {
        (UnOp::Not, Type::Bool) => (x ^ 1, Type::Bool),
        (UnOp::Not, _) => (!x, ty),
        (UnOp::Neg, _) => (x.wrapping_neg(), ty),
        (UnOp::Low, _) => (x, Type::B32),
        (UnOp::High, _) => (x >> 32, Type::B32),
        (UnOp::Extend, _) => (x, Type::B64),
        (UnOp::ExtendS, _) => (i64::from(x as u32 as i32) as u64, Type::B64),
        (UnOp::Sext8, _) => (i64::from(x as u8 as i8) as u64, Type::B32),
        (UnOp::Sext16, _) => (i64::from(x as u16 as i16) as u64, Type::B32),
        (UnOp::FromBool, _) => (x, Type::B32),
        _ => return None,
    };
    Some(constant(b, result, bits))
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
    if ty == Type::B64 { constant_bin64(op, x, y) } else { constant_bin32(op, ty, x as u32, y as u32) }
}

fn constant_bin32(op: BinOp, ty: Type, x: u32, y: u32) -> Option<(u64, Type)> {
    let (sx, sy) = (x as i32, y as i32);
    let bits = match op {
        BinOp::Add => x.wrapping_add(y),
        BinOp::Sub => x.wrapping_sub(y),
        BinOp::Mul => x.wrapping_mul(y),
        BinOp::DivU => x.checked_div(y).unwrap_or(u32::MAX),
        BinOp::RemU => x.checked_rem(y).unwrap_or(x),
        BinOp::And => x & y,
        BinOp::Or => x | y,
        BinOp::Xor => x ^ y,
        BinOp::Shl => x.wrapping_shl(y),
        BinOp::ShrU => x.wrapping_shr(y),
        BinOp::ShrS => sx.wrapping_shr(y) as u32,
        BinOp::MinU => x.min(y),
        BinOp::MaxU => x.max(y),
        BinOp::MinS => sx.min(sy) as u32,
        BinOp::MaxS => sx.max(sy) as u32,
        BinOp::Pack => return Some((u64::from(x) | u64::from(y) << 32, Type::B64)),
        _ => return compare(op, i64::from(sx), i64::from(sy), u64::from(x), u64::from(y)),
    };
    Some((u64::from(bits), ty))
}

fn constant_bin64(op: BinOp, x: u64, y: u64) -> Option<(u64, Type)> {
    let bits = match op {
        BinOp::Add => x.wrapping_add(y),
        BinOp::Sub => x.wrapping_sub(y),
        BinOp::Mul => x.wrapping_mul(y),
        BinOp::And => x & y,
        BinOp::Or => x | y,
        BinOp::Xor => x ^ y,
        BinOp::Shl => x.wrapping_shl(y as u32),
        BinOp::ShrU => x.wrapping_shr(y as u32),
        BinOp::ShrS => (x as i64).wrapping_shr(y as u32) as u64,
        _ => return compare(op, x as i64, y as i64, x, y),
    };
    Some((bits, Type::B64))
}

fn compare(op: BinOp, sx: i64, sy: i64, x: u64, y: u64) -> Option<(u64, Type)> {
    let truth = match op {
        BinOp::Eq => x == y,
        BinOp::Ne => x != y,
        BinOp::LtU => x < y,
        BinOp::LeU => x <= y,
        BinOp::LtS => sx < sy,
        BinOp::LeS => sx <= sy,
        _ => return None,
    };
    Some((u64::from(truth), Type::Bool))
}
