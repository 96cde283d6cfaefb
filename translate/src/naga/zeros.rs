//! Bits of values that are 0 whatever a program is given, as far as shifts, masks and selections show it: drivers' compilers
//! find such zeros too.

use std::collections::HashMap;

use crate::program::{BinOp, Expr, Program, TriOp, Type, UnOp, Value, Var};

/// How far a value is followed back.
const DEPTH: u32 = 32;

/// What is known of a program's values.
pub(super) struct Zeros<'a> {
    pub(super) program: &'a Program,
    /// What values are defined as.
    pub(super) exprs: &'a HashMap<Value, Expr>,
    /// What variables are set to anywhere; they start as 0.
    pub(super) sets: &'a HashMap<Var, Vec<Value>>,
    /// What was found, or is being looked for, of which nothing is known.
    pub(super) found: HashMap<Value, u64>,
}

impl Zeros<'_> {
    /// Whether a value is always 0.
    pub(super) fn always(&mut self, value: Value) -> bool {
        self.bits(value, DEPTH) == u64::MAX
    }

    /// The bits of a value that are certainly 0; those beyond its width are.
    fn bits(&mut self, value: Value, depth: u32) -> u64 {
        if let Some(found) = self.found.get(&value) {
            return *found;
        }
        let beyond = match self.program.info(value).ty {
            Type::Bool => !1,
            Type::B32 => !u64::from(u32::MAX),
            Type::B64 => 0,
        };
        self.found.insert(value, beyond);
        let inside = match (self.exprs.get(&value).copied(), depth.checked_sub(1)) {
            (Some(expr), Some(depth)) => self.of(expr, depth),
            _ => 0,
        };
        self.found.insert(value, inside | beyond);
        inside | beyond
    }

    fn of(&mut self, expr: Expr, depth: u32) -> u64 {
        match expr {
            Expr::ConstBool(b) => !u64::from(b),
            Expr::Const32(c) => !u64::from(c),
            Expr::Const64(c) => !c,
            Expr::Get(var) => {
                let sets = self.sets.get(&var).map_or(&[][..], Vec::as_slice);
                sets.iter().fold(u64::MAX, |all, v| all & self.bits(*v, depth))
            }
            Expr::Un(op, a) => {
                let a = self.bits(a, depth);
                un(op, a)
            }
            Expr::Bin(op, a, b) => self.bin(op, [a, b], depth),
            Expr::Tri(TriOp::Select, _, a, b) => self.bits(a, depth) & self.bits(b, depth),
            _ => 0,
        }
    }

    fn bin(&mut self, op: BinOp, [a, b]: [Value; 2], depth: u32) -> u64 {
        let width = if self.program.info(a).ty == Type::B64 { 64 } else { 32 };
        let by = match self.exprs.get(&b) {
            Some(Expr::Const32(c)) => Some(c % width),
            _ => None,
        };
        let mut each = || [self.bits(a, depth), self.bits(b, depth)];
        match (op, by) {
            (BinOp::And | BinOp::MinU, _) => {
                let [a, b] = each();
                if op == BinOp::And { a | b } else { above(a) | above(b) }
            }
            (BinOp::Or | BinOp::Xor, _) => each().into_iter().fold(u64::MAX, |all, x| all & x),
            (BinOp::Pack, _) => {
                let [low, high] = each();
                low & u64::from(u32::MAX) | high << 32
            }
            (BinOp::Shl, Some(by)) => self.bits(a, depth) << by | !(u64::MAX << by),
            (BinOp::ShrU, Some(by)) => !(!self.bits(a, depth) >> by),
            (BinOp::Mul, _) if each().contains(&u64::MAX) => u64::MAX,
            _ => 0,
        }
    }
}

/// The zeros above the highest bit that may be set.
fn above(zeros: u64) -> u64 {
    match zeros.leading_ones() {
        0 => 0,
        count => u64::MAX << (64 - count),
    }
}

fn un(op: UnOp, a: u64) -> u64 {
    match op {
        UnOp::Low | UnOp::Extend | UnOp::FromBool => a,
        UnOp::High => !(!a >> 32),
        UnOp::F32FromU32
        | UnOp::F32FromS32
        | UnOp::F64FromU32
        | UnOp::F64FromS32
        | UnOp::ExtendS
        | UnOp::Sext8
        | UnOp::Sext16
            if a == u64::MAX =>
        {
            u64::MAX
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Builder, Builtin, Rate, Stmt};

    /// Whether what `make` makes of the lane's number is found to be 0.
    fn vanishes(make: impl FnOnce(&mut Builder, Value) -> Value) -> bool {
        let mut b = Builder::new("zeros", 32);
        let lane = b.builtin(Builtin::Lane);
        let value = make(&mut b, lane);
        let var = b.var("kept", Type::B32, Rate::Varying);
        b.set(var, value);
        let program = b.finish();
        let mut exprs = HashMap::new();
        super::super::group::definitions(&program.body, &mut exprs);
        let mut sets: HashMap<Var, Vec<Value>> = HashMap::new();
        program.body.iter().for_each(|stmt| {
            if let Stmt::Set(var, value) = stmt {
                sets.entry(*var).or_default().push(*value);
            }
        });
        Zeros { program: &program, exprs: &exprs, sets: &sets, found: HashMap::new() }.always(value)
    }

    fn shifted(b: &mut Builder, op: BinOp, value: Value, by: u32) -> Value {
        let by = b.c32(by);
        b.bin(op, value, by)
    }

    #[test]
    fn shifts_masks_and_selections_show_zeros() {
        assert!(vanishes(|b, lane| {
            let high = shifted(b, BinOp::ShrU, lane, 16);
            shifted(b, BinOp::ShrU, high, 16)
        }));
        assert!(vanishes(|b, lane| {
            let (high, mask, none) = (shifted(b, BinOp::Shl, lane, 8), b.c32(0xff), b.c32(0));
            let masked = b.bin(BinOp::And, high, mask);
            let some = b.bin(BinOp::Eq, lane, mask);
            b.select(some, masked, none)
        }));
        assert!(vanishes(|b, lane| {
            let wide = b.un(UnOp::Extend, lane);
            b.un(UnOp::High, wide)
        }));
    }

    #[test]
    fn what_may_have_a_bit_does_not_vanish() {
        assert!(!vanishes(|b, lane| shifted(b, BinOp::ShrU, lane, 31)));
        assert!(!vanishes(|b, lane| {
            let (high, mask) = (shifted(b, BinOp::Shl, lane, 7), b.c32(0xff));
            b.bin(BinOp::And, high, mask)
        }));
        assert!(!vanishes(|b, lane| {
            let (one, none) = (b.c32(1), b.c32(0));
            let some = b.bin(BinOp::Eq, lane, one);
            b.select(some, one, none)
        }));
    }

    #[test]
    fn a_variable_that_is_set_to_itself_ends_the_search() {
        let mut b = Builder::new("loop", 32);
        let var = b.var("round", Type::B32, Rate::Varying);
        let old = b.get(var);
        let half = shifted(&mut b, BinOp::ShrU, old, 1);
        b.set(var, half);
        let program = b.finish();
        let exprs =
            HashMap::from([(old, Expr::Get(var)), (half, Expr::Bin(BinOp::ShrU, old, Value(u32::MAX)))]);
        let sets = HashMap::from([(var, vec![half])]);
        let mut zeros = Zeros { program: &program, exprs: &exprs, sets: &sets, found: HashMap::new() };
        assert!(!zeros.always(half));
    }
}
