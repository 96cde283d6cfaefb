//! How far apart the lanes' values of an address are.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::program::{BinOp, Builtin, Expr, Program, Rate, Type, UnOp, Value};

/// An address as `constant + sum of coefficient * atom`; an atom is a value that is not looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    /// Sorted by value, coefficients not 0.
    terms: Vec<(Value, u64)>,
    constant: u64,
    /// Any two lanes' values are at least this far apart, counted round the ring of 2^64 (or 2^32). 0: not known.
    spacing: u64,
}

impl Spread {
    /// Whether any two lanes' values are at least `bytes` apart.
    pub(super) fn apart(&self, bytes: u64) -> bool {
        self.spacing >= bytes.max(1)
    }

    /// Whether what one lane reaches from its `a` never meets what another lane reaches from its `b`.
    pub(super) fn lanes_apart((a, a_reach): (&Spread, Reach), (b, b_reach): (&Spread, Reach)) -> bool {
        let gap = b.constant.wrapping_sub(a.constant) as i64;
        let overlap = |from: i64, above: u64, below: u64| {
            from.checked_add_unsigned(above).and_then(|n| n.checked_add_unsigned(below)).unwrap_or(i64::MAX)
        };
        let fits = |x: i64| x <= 0 || x as u64 <= a.spacing;
        a.terms == b.terms
            && a.spacing != 0
            && fits(overlap(gap, b_reach.above, a_reach.below))
            && fits(overlap(gap.saturating_neg(), a_reach.above, b_reach.below))
    }
}

/// From one lane to the next, `times` a uniform `B32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) of: Value,
    pub(super) times: u32,
}

/// Steps that add up to less than half the ring of 2^32, whatever the lanes.
pub(super) const FAR: u32 = 1 << 24;

/// Bytes that an access reaches around its address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// Before it.
    pub(super) below: u64,
    /// From it on.
    pub(super) above: u64,
}

/// Spreads of a program's values.
pub(super) struct Spreads<'p> {
    program: &'p Program,
    exprs: HashMap<Value, Expr>,
    /// What has been asked for.
    known: RefCell<HashMap<Value, Option<Rc<Spread>>>>,
}

/// How deep sums are looked into.
const DEPTH: u32 = 24;

impl<'p> Spreads<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        let mut exprs = HashMap::new();
        super::group::definitions(&program.body, &mut exprs);
        Spreads { program, exprs, known: RefCell::default() }
    }

    /// The spread of `value`, if its lanes are known to be apart.
    pub(super) fn of(&self, value: Value) -> Option<Rc<Spread>> {
        if let Some(known) = self.known.borrow().get(&value) {
            return known.clone();
        }
        let mut spread = self.sum(value, DEPTH);
        spread.spacing = spread.spacing.max(self.stride_spacing(value));
        let spread = (spread.spacing != 0).then(|| Rc::new(spread));
        self.known.borrow_mut().insert(value, spread.clone());
        spread
    }

    /// How far the low 32 bits of `value` are from one lane to the next, round their ring, if that is always the same.
    pub(super) fn stride(&self, value: Value) -> Option<u32> {
        self.stride_to(value, DEPTH)
    }

    fn stride_to(&self, value: Value, depth: u32) -> Option<u32> {
        let depth = depth.checked_sub(1)?;
        if self.program.info(value).rate == Rate::Uniform {
            return Some(0);
        }
        let of = |v| self.stride_to(v, depth);
        match self.exprs.get(&value).copied()? {
            Expr::Builtin(Builtin::Lane) => Some(1),
            Expr::Un(UnOp::Extend | UnOp::ExtendS | UnOp::Low, a) | Expr::Bin(BinOp::Pack, a, _) => of(a),
            Expr::Bin(BinOp::Add, a, b) => Some(of(a)?.wrapping_add(of(b)?)),
            Expr::Bin(BinOp::Sub, a, b) => Some(of(a)?.wrapping_sub(of(b)?)),
            Expr::Bin(BinOp::Mul, a, b) => Some(of(a)?.wrapping_mul(self.number(b)?)),
            Expr::Bin(BinOp::Shl, a, b) => of(a)?.checked_shl(self.number(b)?),
            _ => None,
        }
    }

    /// How far the low 32 bits of a value are from one lane to the next, where that is a number of the wave's.
    pub(super) fn step(&self, value: Value) -> Option<Step> {
        self.step_to(value, DEPTH)
    }

    fn step_to(&self, value: Value, depth: u32) -> Option<Step> {
        let depth = depth.checked_sub(1)?;
        let of = |v| self.step_to(v, depth);
        let still = |v| self.program.info(v).rate == Rate::Uniform;
        match self.exprs.get(&value).copied()? {
            Expr::Un(UnOp::Extend | UnOp::Low, a) | Expr::Bin(BinOp::Pack, a, _) => of(a),
            Expr::Bin(BinOp::Add, a, b) if still(a) => of(b),
            Expr::Bin(BinOp::Add | BinOp::Sub, a, b) if still(b) => of(a),
            Expr::Bin(BinOp::Mul, a, b) => {
                let (lanes, by) = if still(a) { (b, a) } else { (a, b) };
                let narrow = self.program.info(by).ty == Type::B32;
                let times = self.stride(lanes).filter(|times| *times != 0)?;
                (narrow && still(by)).then_some(Step { of: by, times })
            }
            _ => None,
        }
    }

    fn number(&self, value: Value) -> Option<u32> {
        match self.exprs.get(&value)? {
            Expr::Const32(c) => Some(*c),
            Expr::Const64(c) => Some(*c as u32),
            _ => None,
        }
    }

    /// The least distance of two lanes that follows from the stride.
    fn stride_spacing(&self, value: Value) -> u64 {
        let stride = self.stride(value).unwrap_or(0);
        let distance = u64::from(stride.min(stride.wrapping_neg()));
        // No sum of steps goes half round the ring.
        if distance < u64::from(FAR) { distance } else { 0 }
    }

    fn atom(&self, value: Value, spacing: u64) -> Spread {
        Spread { terms: vec![(value, 1)], constant: 0, spacing }
    }

    fn sum(&self, value: Value, depth: u32) -> Spread {
        let Some(depth) = depth.checked_sub(1) else { return self.atom(value, 0) };
        match self.exprs.get(&value).copied() {
            Some(Expr::Const32(c)) => constant(u64::from(c)),
            Some(Expr::Const64(c)) => constant(c),
            Some(Expr::Builtin(Builtin::Lane)) => self.atom(value, 1),
            Some(Expr::Bin(BinOp::Add, a, b)) => self.plus(value, self.sum(a, depth), self.sum(b, depth)),
            Some(Expr::Bin(BinOp::Shl, a, b)) => match self.exprs.get(&b) {
                Some(Expr::Const32(by)) if *by < 16 => self.times(value, self.sum(a, depth), 1 << by),
                _ => self.atom(value, 0),
            },
            Some(Expr::Bin(BinOp::Mul, a, b)) => self.product(value, [a, b], depth),
            Some(Expr::Un(UnOp::Extend | UnOp::ExtendS, a)) | Some(Expr::Bin(BinOp::Pack, a, _)) => {
                self.widened(value, a, depth)
            }
            _ => self.atom(value, 0),
        }
    }

    fn product(&self, value: Value, factors: [Value; 2], depth: u32) -> Spread {
        let [a, b] = factors.map(|v| self.sum(v, depth));
        match (a.terms.is_empty(), b.terms.is_empty()) {
            (_, true) if b.constant < 1 << 16 => self.times(value, a, b.constant),
            (true, _) if a.constant < 1 << 16 => self.times(value, b, a.constant),
            _ => self.atom(value, 0),
        }
    }

    /// A 64-bit value whose low half is `low`: differences of lanes are the same modulo 2^32.
    fn widened(&self, value: Value, low: Value, depth: u32) -> Spread {
        self.atom(value, self.sum(low, depth).spacing)
    }

    fn plus(&self, value: Value, a: Spread, b: Spread) -> Spread {
        // The lanes of a sum are apart if only one side varies.
        let varies = |s: &Spread| s.terms.iter().any(|(v, _)| self.program.info(*v).rate == Rate::Varying);
        let spacing = match (varies(&a), varies(&b)) {
            (true, true) => 0,
            (true, false) => a.spacing,
            (false, true) => b.spacing,
            (false, false) => 0,
        };
        let mut terms = a.terms;
        terms.extend(b.terms);
        terms.sort_unstable();
        terms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.wrapping_add(next.1);
            }
            same
        });
        if terms.len() > 12 {
            return self.atom(value, spacing);
        }
        Spread { terms, constant: a.constant.wrapping_add(b.constant), spacing }
    }

    /// `spread * factor`. Lanes stay apart as long as no difference of two lanes goes round the ring: lanes are fewer than
    /// 64 steps of the spacing apart wherever the spacing is known.
    fn times(&self, value: Value, spread: Spread, factor: u64) -> Spread {
        let spacing = spread.spacing.saturating_mul(factor);
        if factor == 0 {
            return constant(0);
        }
        if spacing >= 1 << 24 {
            return self.atom(value, 0);
        }
        let terms = spread.terms.into_iter().map(|(v, c)| (v, c.wrapping_mul(factor))).collect();
        Spread { terms, constant: spread.constant.wrapping_mul(factor), spacing }
    }
}

fn constant(constant: u64) -> Spread {
    Spread { terms: Vec::new(), constant, spacing: 0 }
}
