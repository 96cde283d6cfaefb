//! Programs for workgroups of one shape.
//!
//! What a kernel does first is to find out which thread each lane is, and whether it is one: divisions, remainders and comparisons
//! by numbers that are the same in every launch with workgroups of that shape. With those numbers known most of it goes, and with
//! it the lanes that are away, which every later step would ask for.

use std::collections::HashMap;

use super::simplify;
use super::{
    Access, BinOp, Block, Builder, Builtin, Expr, ParamSource, Program, Stmt, Type, UnOp, Value, Var, WaveOp,
};

/// The workgroups of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Workgroups {
    /// Waves of each.
    pub waves: u32,
    /// Threads of each along its axes.
    pub threads: [u32; 3],
    /// Threads of the last one along each axis.
    pub last: [u32; 3],
    /// Whether they stand in one row along the first axis.
    pub row: bool,
}

impl Workgroups {
    /// The word that a launch has of a source, if the program asks for it.
    fn word(program: &Program, params: &[u32], source: ParamSource) -> Option<u32> {
        let at = program.params.iter().position(|p| *p == source)?;
        params.get(at).copied()
    }

    /// Whether a program asks for the shape of its workgroups.
    pub fn concern(program: &Program) -> bool {
        program.params.contains(&ParamSource::GroupThreads(0))
    }

    /// The workgroups of a launch of `waves` waves, `each` a workgroup; `None` if the program does not ask for them.
    pub fn of(program: &Program, params: &[u32], waves: u32, each: u32) -> Option<Self> {
        let word = |source| Self::word(program, params, source);
        let axes =
            |source: fn(u8) -> ParamSource| Some([word(source(0))?, word(source(1))?, word(source(2))?]);
        let counts = axes(ParamSource::GroupCount)?;
        let row = counts[1..] == [1, 1] && u64::from(waves) <= u64::from(counts[0]) * u64::from(each);
        Some(Workgroups {
            waves: each,
            threads: axes(ParamSource::GroupThreads)?,
            last: axes(ParamSource::LastThreads)?,
            row,
        })
    }

    /// What a parameter is in every launch with such workgroups, if it follows.
    fn param(&self, source: ParamSource) -> Option<u32> {
        let axis = |words: &[u32; 3], axis: u8| words.get(usize::from(axis)).copied();
        match source {
            ParamSource::GroupThreads(a) => axis(&self.threads, a),
            ParamSource::LastThreads(a) => axis(&self.last, a),
            ParamSource::GroupCount(1 | 2) if self.row => Some(1),
            ParamSource::WavesPerGroup => Some(self.waves),
            _ => None,
        }
    }
}

/// The same program for launches with such workgroups only, with less to do.
pub fn specialize(program: &Program, groups: &Workgroups) -> Program {
    let mut b = Builder::new(program.name.clone(), program.wave_lanes);
    let header = Program { body: Vec::new(), values: Vec::new(), ..program.clone() };
    *b.program_mut() = header;
    // Every variable starts as 0.
    let vars = (0..program.vars.len() as u32).map(|v| (Var(v), 0)).collect();
    let mut maker = Maker { b, program, groups, new: HashMap::new(), vars };
    maker.block(&program.body);
    simplify(&maker.b.finish())
}

struct Maker<'p> {
    b: Builder,
    program: &'p Program,
    groups: &'p Workgroups,
    /// What the program's values have become.
    new: HashMap<Value, Value>,
    /// Variables that hold one number here in every lane.
    vars: HashMap<Var, u64>,
}

/// How deep the limits of a value are looked for.
const DEPTH: u32 = 8;

impl Maker<'_> {
    fn at(&self, value: Value) -> Value {
        self.new.get(&value).copied().unwrap_or(value)
    }

    /// Appends statements; what follows a jump is dropped. Says whether the end is reached.
    fn block(&mut self, block: &Block) -> bool {
        block.iter().all(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(v, expr) => {
                let expr = expr.renamed(|v| self.at(v));
                let new = self.simpler(&expr).unwrap_or_else(|| self.b.expr(expr));
                self.new.insert(*v, new);
            }
            Stmt::Set(var, v) => self.set(*var, *v),
            Stmt::If { cond, then, otherwise } => return self.branch(*cond, then, otherwise),
            Stmt::Loop { body } => self.repeat(body),
            Stmt::Break | Stmt::Continue | Stmt::Return => {
                self.b.push(stmt.clone());
                return false;
            }
            other => self.memory(other),
        }
        true
    }

    fn set(&mut self, var: Var, value: Value) {
        let value = self.at(value);
        match self.b.constant(value) {
            Some(constant) => self.vars.insert(var, constant),
            None => self.vars.remove(&var),
        };
        self.b.set(var, value);
    }

    fn branch(&mut self, cond: Value, then: &Block, otherwise: &Block) -> bool {
        let cond = self.at(cond);
        if let Some(known) = self.b.constant(cond) {
            return self.block(if known != 0 { then } else { otherwise });
        }
        let before = self.vars.clone();
        let (then, _) = self.inner(then);
        let after = std::mem::replace(&mut self.vars, before);
        let (otherwise, _) = self.inner(otherwise);
        self.vars.retain(|var, number| after.get(var) == Some(number));
        self.b.push(Stmt::If { cond, then, otherwise });
        true
    }

    fn inner(&mut self, block: &Block) -> (Block, bool) {
        self.b.open();
        let ends = self.block(block);
        (self.b.close(), ends)
    }

    fn repeat(&mut self, body: &Block) {
        // What an iteration sets is not known in the next one, nor behind the loop.
        forget(body, &mut self.vars);
        let (inside, _) = self.inner(body);
        forget(body, &mut self.vars);
        self.b.push(Stmt::Loop { body: inside });
    }

    fn memory(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Load { dst, access } => {
                let access = access.renamed(|v| self.at(v));
                let new = self.b.load(dst.len(), access);
                self.new.extend(dst.iter().copied().zip(new));
            }
            Stmt::Store { src, access } => {
                let access = self.each_lanes(access);
                let src = src.iter().map(|v| self.at(*v)).collect();
                self.b.store(src, access);
            }
            Stmt::Atomic { dst, op, data, compare, access } => {
                let access = self.each_lanes(access);
                let (data, compare) = (self.at(*data), compare.map(|v| self.at(v)));
                let new = dst.map(|old| {
                    let info = self.b.info(data);
                    let new = self.b.fresh(info.ty, self.b.program().access_rate(&access));
                    self.new.insert(old, new);
                    new
                });
                self.b.push(Stmt::Atomic { dst: new, op: *op, data, compare, access });
            }
            other => self.b.push(other.clone()),
        }
    }

    /// An access that stores, still once a lane where it was so.
    fn each_lanes(&mut self, old: &Access) -> Access {
        let access = old.renamed(|v| self.at(v));
        let before = self.program.access_rate(old);
        if before == self.b.program().access_rate(&access) {
            return access;
        }
        // No lane has this number.
        let lane = self.b.builtin(Builtin::Lane);
        let (none, zero) = (self.b.c32(u32::MAX), self.b.c32(0));
        let never = self.b.bin(BinOp::Eq, lane, none);
        Access { valid: self.b.select(never, zero, access.valid), ..access }
    }

    /// A value that is known to equal the expression, if that is simpler.
    fn simpler(&mut self, expr: &Expr) -> Option<Value> {
        match *expr {
            Expr::Param(p) => {
                let source = *self.program.params.get(usize::from(p))?;
                self.groups.param(source).map(|word| self.b.c32(word))
            }
            Expr::Get(var) => {
                let number = *self.vars.get(&var)?;
                Some(self.constant(self.program.var(var).ty, number))
            }
            Expr::Bin(op, x, y) => self.simpler_bin(op, x, y),
            Expr::Wave(WaveOp::Any(v)) => self.b.constant(v).map(|_| v),
            Expr::Wave(WaveOp::Ballot(v)) => {
                let all = u64::MAX >> (64 - u32::from(self.program.wave_lanes));
                self.b.constant(v).map(|v| self.b.c64(if v != 0 { all } else { 0 }))
            }
            _ => None,
        }
    }

    fn constant(&mut self, ty: Type, number: u64) -> Value {
        match ty {
            Type::Bool => self.b.cbool(number != 0),
            Type::B32 => self.b.c32(number as u32),
            Type::B64 => self.b.c64(number),
        }
    }

    fn simpler_bin(&mut self, op: BinOp, x: Value, y: Value) -> Option<Value> {
        let (most, by) = (self.most(x, DEPTH), self.b.constant(y));
        match (op, by) {
            (BinOp::RemU | BinOp::DivU, _) if self.numbers_the_row(x, y) => {
                Some(if op == BinOp::RemU { x } else { self.b.c32(0) })
            }
            (BinOp::RemU, Some(by)) if most < by => Some(x),
            (BinOp::DivU, Some(by)) if most < by => Some(self.b.c32(0)),
            (BinOp::RemU, Some(by)) if by.is_power_of_two() => {
                Some(self.b.with_constant(BinOp::And, x, by - 1))
            }
            (BinOp::DivU, Some(by)) if by.is_power_of_two() => {
                Some(self.b.shift(BinOp::ShrU, x, by.trailing_zeros()))
            }
            (BinOp::LtU, Some(0)) => Some(self.b.cbool(false)),
            (BinOp::LtU, Some(y)) if most < y => Some(self.b.cbool(true)),
            (BinOp::MinU, Some(y)) if most <= y => Some(x),
            (BinOp::MaxU, Some(0)) => Some(x),
            (BinOp::Or, None) if self.apart(x, y) || self.apart(y, x) => Some(self.b.bin(BinOp::Add, x, y)),
            _ => None,
        }
    }

    /// Whether `x` is the number of the workgroup, and `y` how many stand in the only row.
    fn numbers_the_row(&self, x: Value, y: Value) -> bool {
        let param = |p: u16| self.program.params.get(usize::from(p)).copied();
        let counts = matches!(self.b.definition(y), Some(Expr::Param(p)) if param(p) == Some(ParamSource::GroupCount(0)));
        self.groups.row && counts && self.b.definition(x) == Some(Expr::Builtin(Builtin::Group))
    }

    /// Whether all of `low` lies below the lowest bit that `high` may have.
    fn apart(&self, high: Value, low: Value) -> bool {
        let zeros = self.zeros(high, DEPTH);
        self.b.info(high).ty != Type::Bool && zeros < 64 && self.most(low, DEPTH) < 1 << zeros
    }

    /// The largest number that a value may be.
    fn most(&self, value: Value, depth: u32) -> u64 {
        let all = match self.b.info(value).ty {
            Type::Bool => 1,
            Type::B32 => u64::from(u32::MAX),
            Type::B64 => u64::MAX,
        };
        let Some(depth) = depth.checked_sub(1) else { return all };
        let most = |v| self.most(v, depth);
        let known = match self.b.definition(value) {
            Some(Expr::Builtin(Builtin::Lane)) => Some(u64::from(self.program.wave_lanes) - 1),
            Some(Expr::Builtin(Builtin::WaveInGroup)) => Some(u64::from(self.groups.waves.max(1)) - 1),
            Some(Expr::Un(UnOp::Extend | UnOp::Low | UnOp::FromBool, a)) => Some(most(a)),
            Some(Expr::Bin(op, a, b)) => most_bin(op, most(a), most(b), self.b.constant(b)),
            _ => self.b.constant(value),
        };
        known.map_or(all, |k| if k > all { all } else { k })
    }

    /// How many low bits of a value are certainly 0.
    fn zeros(&self, value: Value, depth: u32) -> u32 {
        let Some(depth) = depth.checked_sub(1) else { return 0 };
        if let Some(constant) = self.b.constant(value) {
            return constant.trailing_zeros();
        }
        let zeros = |v| self.zeros(v, depth);
        match self.b.definition(value) {
            Some(Expr::Un(UnOp::Extend | UnOp::Low, a)) => zeros(a),
            Some(Expr::Bin(BinOp::Shl, a, by)) => match self.b.constant(by) {
                Some(by) if by < 32 => zeros(a) + by as u32,
                _ => 0,
            },
            Some(Expr::Bin(BinOp::Add | BinOp::Or, a, b)) => zeros(a).min(zeros(b)),
            Some(Expr::Bin(BinOp::And, a, b)) => zeros(a).max(zeros(b)),
            _ => 0,
        }
    }
}

/// The largest result of an operation on numbers up to `a` and `b`, `by` being the second if that is known; `None`: any.
fn most_bin(op: BinOp, a: u64, b: u64, by: Option<u64>) -> Option<u64> {
    match (op, by) {
        (BinOp::And | BinOp::MinU, _) => Some(a.min(b)),
        (BinOp::Or, _) => (a | b).checked_next_power_of_two().map(|p| (p - 1) | a | b),
        (BinOp::Add, _) => a.checked_add(b),
        (BinOp::Mul, _) => a.checked_mul(b),
        (BinOp::RemU, Some(1..)) => Some(b - 1),
        (BinOp::DivU, Some(by @ 1..)) => Some(a / by),
        (BinOp::ShrU, Some(by)) if by < 32 => Some(a >> by),
        (BinOp::Shl, Some(by)) if by < 32 => a.checked_mul(1 << by),
        (BinOp::Pack, Some(0)) => Some(a),
        _ => None,
    }
}

/// Drops what is known of variables that a block sets.
fn forget(block: &Block, vars: &mut HashMap<Var, u64>) {
    let mut note = |stmt: &Stmt| {
        if let Stmt::Set(var, _) = stmt {
            vars.remove(var);
        }
    };
    block.iter().for_each(|stmt| stmt.each(&mut note));
}
