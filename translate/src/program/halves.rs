//! Sums of 64 bits that guests add up in halves, with a carry.

use super::{BinOp, Expr, UnOp, Value};

/// A sum in halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumOfHalves {
    /// The two numbers that the low half is the sum of.
    pub lows: [Value; 2],
    /// What the high half has besides the carry: a sum of high halves, or the high half of one number.
    pub rest: Value,
}

/// Takes a sum apart whose halves are `low` and `high`: the high half has the carry, which is there if `low` is below what went into
/// it. `definition` says what a value is made of, if that is known and may be looked into.
pub fn sum_of_halves(
    definition: impl Fn(Value) -> Option<Expr>,
    low: Value,
    high: Value,
) -> Option<SumOfHalves> {
    let summands = |value| match definition(value)? {
        Expr::Bin(BinOp::Add, a, b) => Some([a, b]),
        _ => None,
    };
    let (lows, [x, y]) = (summands(low)?, summands(high)?);
    let carries = |value| match definition(value) {
        Some(Expr::Un(UnOp::FromBool, test)) => match definition(test) {
            Some(Expr::Bin(BinOp::LtU, sum, of)) => sum == low && lows.contains(&of),
            _ => false,
        },
        _ => false,
    };
    let rest = if carries(y) { x } else { Some(y).filter(|_| carries(x))? };
    Some(SumOfHalves { lows, rest })
}
