//! What only NaNs need, made only where there is one.
//!
//! The NaN that an operation gives is chosen among its operands', by steps whose result nearly never counts. Hosts that need not
//! run what a branch guards do better with a branch.

use std::collections::{HashMap, HashSet};

use super::{BinOp, Block, Expr, Program, Rate, Stmt, TriOp, Type, Value, Var, VarInfo};

/// Steps that are worth a branch.
const LEAST: usize = 3;
/// Plus infinity of f32, and all bits but the sign.
const INFINITY: u32 = 0x7f80_0000;
const MAGNITUDE: u32 = 0x7fff_ffff;

/// The same program with the steps that only choose a NaN's bits put aside. Values keep their numbers.
pub fn put_aside(program: &Program) -> Program {
    let mut maker =
        Maker { program, exprs: HashMap::new(), uses: HashMap::new(), vars: program.vars.clone() };
    let mut look = |stmt: &Stmt| {
        stmt.operands(|v| *maker.uses.entry(v).or_default() += 1);
        if let Stmt::Let(v, expr) = stmt {
            maker.exprs.insert(*v, *expr);
        }
    };
    program.body.iter().for_each(|stmt| stmt.each(&mut look));
    let body = maker.block(&program.body);
    Program { body, vars: maker.vars, ..program.clone() }
}

struct Maker<'p> {
    program: &'p Program,
    exprs: HashMap<Value, Expr>,
    /// How often each value is used.
    uses: HashMap<Value, usize>,
    vars: Vec<VarInfo>,
}

impl Maker<'_> {
    fn block(&mut self, stmts: &[Stmt]) -> Block {
        // From the end on, so that what a choice needs is put aside with it.
        let mut rest = stmts.to_vec();
        let mut out = Vec::with_capacity(rest.len());
        while let Some(stmt) = rest.pop() {
            match stmt {
                Stmt::If { cond, then, otherwise } => {
                    out.push(Stmt::If { cond, then: self.block(&then), otherwise: self.block(&otherwise) });
                }
                Stmt::Loop { body } => out.push(Stmt::Loop { body: self.block(&body) }),
                Stmt::Let(v, Expr::Tri(TriOp::Select, cond, nan, number)) if self.chooses_nan(v, cond) => {
                    let steps = self.only_for(nan, &mut rest);
                    out.extend(self.choice(v, [cond, nan, number], steps).into_iter().rev());
                }
                other => out.push(other),
            }
        }
        out.reverse();
        out
    }

    /// Whether a choice depends on whether something is a NaN.
    fn chooses_nan(&self, value: Value, cond: Value) -> bool {
        let bin = |v: Value, op| match self.exprs.get(&v) {
            Some(Expr::Bin(found, a, b)) if *found == op => Some([*a, *b]),
            _ => None,
        };
        let is = |v: Value, c| self.exprs.get(&v) == Some(&Expr::Const32(c));
        let varies = |v| self.program.info(v).rate == Rate::Varying;
        let test = || bin(cond, BinOp::LtU).filter(|[infinity, _]| is(*infinity, INFINITY));
        let masked = test().and_then(|[_, size]| bin(size, BinOp::And));
        let info = self.program.info(value);
        info.ty == Type::B32
            && varies(value)
            && varies(cond)
            && masked.is_some_and(|[_, mask]| is(mask, MAGNITUDE))
    }

    /// Takes the steps from the end of `before` that nothing but `value` needs.
    fn only_for(&self, value: Value, before: &mut Block) -> Block {
        let mut needed = HashMap::from([(value, 1)]);
        let mut taken = HashSet::new();
        for (at, stmt) in before.iter().enumerate().rev() {
            let Stmt::Let(v, expr) = stmt else { continue };
            let still = matches!(expr, Expr::Un(..) | Expr::Bin(..) | Expr::Tri(..));
            if still && needed.get(v).is_some_and(|n| self.uses.get(v) == Some(n)) {
                taken.insert(at);
                expr.operands(|v| *needed.entry(v).or_default() += 1);
            }
        }
        if taken.len() < LEAST {
            return Block::new();
        }
        let (mut kept, mut steps) = (Block::new(), Block::new());
        for (at, stmt) in before.drain(..).enumerate() {
            if taken.contains(&at) { steps.push(stmt) } else { kept.push(stmt) }
        }
        *before = kept;
        steps
    }

    /// `cond ? nan : number`, where `nan` is made by `steps`.
    fn choice(&mut self, value: Value, [cond, nan, number]: [Value; 3], steps: Block) -> Block {
        if steps.is_empty() {
            return vec![Stmt::Let(value, Expr::Tri(TriOp::Select, cond, nan, number))];
        }
        let name = format!("nan{}", value.0);
        self.vars.push(VarInfo { ty: Type::B32, rate: Rate::Varying, name });
        let var = Var(self.vars.len() as u32 - 1);
        let then = steps.into_iter().chain([Stmt::Set(var, nan)]).collect();
        vec![
            Stmt::Set(var, number),
            Stmt::If { cond, then, otherwise: Block::new() },
            Stmt::Let(value, Expr::Get(var)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::put_aside;
    use crate::program::{BinOp, Builder, Builtin, Rate, Stmt, Type, verify};

    #[test]
    fn only_what_a_nan_needs_is_put_aside() {
        let mut b = Builder::new("nan", 32);
        let out = b.var("out", Type::B32, Rate::Varying);
        let (x, mask, infinity) = (b.builtin(Builtin::Lane), b.c32(0x7fff_ffff), b.c32(0x7f80_0000));
        let sum = b.bin(BinOp::AddF32, x, x);
        let size = b.bin(BinOp::And, sum, mask);
        let is_nan = b.bin(BinOp::LtU, infinity, size);
        let shared = b.bin(BinOp::Mul, x, x);
        let steps = (0..4).fold(shared, |v, _| b.bin(BinOp::Xor, v, x));
        let result = b.select(is_nan, steps, sum);
        let result = b.bin(BinOp::Add, result, shared);
        b.set(out, result);
        let small = put_aside(&b.finish());
        verify(&small).unwrap();
        let asides: Vec<usize> = small
            .body
            .iter()
            .filter_map(|s| if let Stmt::If { then, .. } = s { Some(then.len()) } else { None })
            .collect();
        assert_eq!(asides, [5], "{small}");
    }
}
