//! Addresses of four lanes as sums: of what all lanes have in common, and of what each has for itself.
//!
//! Guests add 64 bits in halves, with a carry; that is one addition here. What lanes have for themselves mostly comes from the
//! lane's number and is the same for several accesses, so that whether they lie in a row is found out once.

use cranelift_codegen::ir::{InstBuilder, Value as Ir, types};
use guestwave_translate::program::{BinOp, Expr, SumOfHalves, UnOp, Value, sum_of_halves};

use super::super::Lowering;
use super::Quad;

/// A sum of 64 bits.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum {
    /// What the lanes have in common.
    pub(super) common: Option<Ir>,
    /// What each has for itself.
    pub(super) lanes: Option<[Ir; 2]>,
}

/// The low half of a number, and the high one; `None`: 0.
type Halves = (Value, Option<Value>);

/// Sums inside sums that are taken apart.
const DEPTH: u32 = 6;

impl Lowering<'_, '_> {
    /// A 64-bit value as a sum.
    pub(super) fn sum(&mut self, value: Value) -> Sum {
        self.sum_within(value, DEPTH)
    }

    fn sum_within(&mut self, value: Value, depth: u32) -> Sum {
        let quad = self.quad(value);
        let taken = match quad {
            Quad::One(v) => return Sum { common: Some(self.as_int(v)), lanes: None },
            _ => depth.checked_sub(1).and_then(|depth| self.taken_apart(value, depth)),
        };
        taken.filter(|sum| sum.common.is_some()).unwrap_or_else(|| self.own(quad))
    }

    /// What each lane has for itself only.
    fn own(&mut self, quad: Quad) -> Sum {
        Sum { common: None, lanes: Some(self.wide(quad)) }
    }

    fn taken_apart(&mut self, value: Value, depth: u32) -> Option<Sum> {
        match self.definition(value)? {
            Expr::Bin(BinOp::Add, a, b) => self.added(a, b, depth),
            Expr::Bin(BinOp::Shl, a, by) if self.at_hand(a) => {
                let (sum, by) = (self.sum_within(a, depth), self.constant(by)?);
                let by = (by & 63) as i64;
                Some(Sum {
                    common: sum.common.map(|v| self.b.ins().ishl_imm_u(v, by)),
                    lanes: sum.lanes.map(|halves| halves.map(|v| self.b.ins().ishl_imm_u(v, by))),
                })
            }
            Expr::Bin(BinOp::Pack, low, high) => self.halves_within(low, high, depth),
            _ => None,
        }
    }

    fn added(&mut self, a: Value, b: Value, depth: u32) -> Option<Sum> {
        (self.at_hand(a) && self.at_hand(b)).then(|| {
            let (a, b) = (self.sum_within(a, depth), self.sum_within(b, depth));
            self.plus(a, b)
        })
    }

    fn plus(&mut self, a: Sum, b: Sum) -> Sum {
        let common = match (a.common, b.common) {
            (Some(a), Some(b)) => Some(self.b.ins().iadd(a, b)),
            (a, b) => a.or(b),
        };
        let lanes = match (a.lanes, b.lanes) {
            (Some(a), Some(b)) => Some([0, 1].map(|i| self.b.ins().iadd(a[i], b[i]))),
            (a, b) => a.or(b),
        };
        Sum { common, lanes }
    }

    /// What two halves are together, if they are those of a sum.
    pub(super) fn halves(&mut self, low: Value, high: Value) -> Option<Sum> {
        self.halves_within(low, high, DEPTH)
    }

    fn halves_within(&mut self, low: Value, high: Value, depth: u32) -> Option<Sum> {
        let [first, second] = self.summands(low, high)?;
        let depth = depth.checked_sub(1)?;
        let (first, second) = (self.pair_of(first, depth)?, self.pair_of(second, depth)?);
        Some(self.plus(first, second))
    }

    /// Two numbers whose sum has these halves.
    fn summands(&self, low: Value, high: Value) -> Option<[Halves; 2]> {
        let SumOfHalves { lows: [a, b], rest } = sum_of_halves(|v| self.definition(v), low, high)?;
        match self.definition(rest) {
            Some(Expr::Bin(BinOp::Add, c, d)) if self.are_halves(a, d) || self.are_halves(b, c) => {
                Some([(a, Some(d)), (b, Some(c))])
            }
            Some(Expr::Bin(BinOp::Add, c, d)) if self.at_hand(c) && self.at_hand(d) => {
                Some([(a, Some(c)), (b, Some(d))])
            }
            _ => Some([(a, Some(rest)), (b, None)]),
        }
    }

    /// The number that has these halves.
    fn halved(&self, low: Value, high: Value) -> Option<Value> {
        match (self.definition(low)?, self.definition(high)?) {
            (Expr::Un(UnOp::Low, x), Expr::Un(UnOp::High, y)) if x == y && self.at_hand(x) => Some(x),
            _ => None,
        }
    }

    fn are_halves(&self, low: Value, high: Value) -> bool {
        self.halved(low, high).is_some()
    }

    /// A number of two halves.
    fn pair_of(&mut self, (low, high): Halves, depth: u32) -> Option<Sum> {
        if let Some(whole) = high.and_then(|high| self.halved(low, high)) {
            return Some(self.sum_within(whole, depth));
        }
        if !self.at_hand(low) || !high.is_none_or(|high| self.at_hand(high)) {
            return None;
        }
        let low = self.quad(low);
        let high = match high {
            Some(high) => self.quad(high),
            None => Quad::One(self.c32(0)),
        };
        Some(match (low, high) {
            (Quad::One(low), Quad::One(high)) => {
                let both = self.bin(BinOp::Pack, low, high);
                Sum { common: Some(both), lanes: None }
            }
            (low, high) => {
                let both = self.packed(low, high);
                self.own(both)
            }
        })
    }

    /// The four lanes' sums.
    pub(super) fn summed(&mut self, sum: Sum) -> Quad {
        match (sum.common, sum.lanes) {
            (Some(common), Some(lanes)) => {
                let common = self.b.ins().splat(types::I64X2, common);
                Quad::Wide(lanes.map(|v| self.b.ins().iadd(v, common)))
            }
            (None, Some(lanes)) => Quad::Wide(lanes),
            (Some(common), None) => Quad::One(common),
            (None, None) => Quad::One(self.b.ins().iconst(types::I64, 0)),
        }
    }
}
