//! Lanes at a wave's end that do nothing.
//!
//! A wave of a linear grid starts with EXEC set in the lanes that have an item, the first ones. Where all that a program does to
//! memory or tells other lanes hangs on EXEC, the other lanes need not run: a draw of three vertices is one group of four lanes
//! and not the whole wave. This is shown by following which `Bool`s are false, and which numbers 0, in every lane without an item.

use guestwave_translate::program::{
    Access, BinOp, Builtin, Expr, ParamSource, Program, Rate, Space, Stmt, TriOp, UnOp, Value, VarInfo,
    WaveOp,
};

use super::facts::parts_inside;

/// What says how many lanes of a wave have an item: two words of the parameter block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    items: usize,
    per_wave: usize,
}

impl Tail {
    /// The first lanes of `lanes` that wave number `wave` of a launch with these parameters runs.
    pub(crate) fn alive(self, params: &[u32], wave: u32, lanes: u64) -> u64 {
        let (Some(items), Some(per_wave)) = (params.get(self.items), params.get(self.per_wave)) else {
            return lanes;
        };
        // As the program counts: in 32 bits. A count that could begin again at 0 is not shortened.
        let first = u64::from(wave.wrapping_mul(*per_wave));
        match first + lanes <= 1 << 32 {
            true => u64::from(*items).saturating_sub(first).min(u64::from(*per_wave)).min(lanes),
            false => lanes,
        }
    }
}

/// The tail of a program all of whose lanes without an item do nothing.
pub(crate) fn tail(program: &Program) -> Option<Tail> {
    let word = |source| program.params.iter().position(|p| *p == source);
    let tail = Tail { items: word(ParamSource::Items)?, per_wave: word(ParamSource::ItemsPerWave)? };
    let mut known = Known::new(program, tail);
    while known.solve(&program.body) {}
    known.idle(&program.body, false).then_some(tail)
}

/// What holds in lanes without an item.
struct Known<'p> {
    program: &'p Program,
    tail: Tail,
    /// Each value's definition.
    definitions: Vec<Option<Expr>>,
    /// Values that are false or 0.
    nothing: Vec<bool>,
    /// Variables that are false or 0 throughout, as long as nothing speaks against it.
    idle_vars: Vec<bool>,
}

impl<'p> Known<'p> {
    fn new(program: &'p Program, tail: Tail) -> Self {
        let mut definitions = vec![None; program.values.len()];
        define(&program.body, &mut definitions);
        let varying = |v: &VarInfo| v.rate == Rate::Varying;
        let idle_vars = program.vars.iter().map(varying).collect();
        Known { program, tail, definitions, nothing: vec![false; program.values.len()], idle_vars }
    }

    /// Works out all values again; gives whether a variable turned out to be more than false or 0.
    fn solve(&mut self, body: &[Stmt]) -> bool {
        let before = self.idle_vars.clone();
        self.nothing.fill(false);
        self.values(body);
        self.idle_vars != before
    }

    fn values(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, expr) => self.nothing[value.0 as usize] = self.is_nothing(expr),
                Stmt::Set(var, value) => {
                    let idle = self.is(*value);
                    self.idle_vars[var.0 as usize] &= idle;
                }
                Stmt::If { cond, then, otherwise } => {
                    if !self.never(*cond) {
                        self.values(then);
                    }
                    if !self.always(*cond) {
                        self.values(otherwise);
                    }
                }
                _ => stmt.blocks().into_iter().for_each(|inner| self.values(inner)),
            }
        }
    }

    /// Whether a value is false or 0.
    fn is(&self, value: Value) -> bool {
        self.nothing[value.0 as usize]
    }

    /// Whether lanes without an item never take the branch of a condition.
    fn never(&self, cond: Value) -> bool {
        self.is(cond) && self.program.info(cond).rate == Rate::Varying
    }

    /// Whether lanes without an item always take the branch of a condition.
    fn always(&self, cond: Value) -> bool {
        matches!(self.definition(cond), Some(Expr::Un(UnOp::Not, not)) if self.never(not))
    }

    fn is_nothing(&self, expr: &Expr) -> bool {
        match *expr {
            Expr::ConstBool(false) | Expr::Const32(0) | Expr::Const64(0) => true,
            Expr::Get(var) => self.idle_vars[var.0 as usize],
            Expr::Un(UnOp::FromBool | UnOp::Extend | UnOp::Low | UnOp::High, a) => self.is(a),
            Expr::Bin(BinOp::Mul | BinOp::MinU, a, b) => self.is(a) || self.is(b),
            Expr::Bin(BinOp::LtU, _, b) => self.is(b),
            Expr::Bin(BinOp::Ne, a, b) => self.is(a) && self.is(b),
            Expr::Bin(BinOp::And, a, b) => self.is(a) || self.is(b) || self.is_alive(a, b),
            Expr::Bin(BinOp::Or | BinOp::Xor, a, b) => self.is(a) && self.is(b),
            Expr::Tri(TriOp::Select, cond, a, b) => self.is(b) && (self.is(cond) || self.is(a)),
            _ => false,
        }
    }

    /// Whether two conditions say together that the lane has an item.
    fn is_alive(&self, a: Value, b: Value) -> bool {
        let both = |a, b| self.is_within_wave(a) && self.is_within_items(b);
        both(a, b) || both(b, a)
    }

    fn definition(&self, value: Value) -> Option<Expr> {
        self.definitions[value.0 as usize]
    }

    fn is_param(&self, value: Value, word: usize) -> bool {
        matches!(self.definition(value), Some(Expr::Param(p)) if usize::from(p) == word)
    }

    fn is_builtin(&self, value: Value, wanted: Builtin) -> bool {
        self.definition(value) == Some(Expr::Builtin(wanted))
    }

    /// `lane < items of a wave`.
    fn is_within_wave(&self, value: Value) -> bool {
        let Some(Expr::Bin(BinOp::LtU, lane, count)) = self.definition(value) else { return false };
        self.is_builtin(lane, Builtin::Lane) && self.is_param(count, self.tail.per_wave)
    }

    /// `wave * items of a wave + lane < items`.
    fn is_within_items(&self, value: Value) -> bool {
        let Some(Expr::Bin(BinOp::LtU, item, count)) = self.definition(value) else { return false };
        let Some(Expr::Bin(BinOp::Add, a, b)) = self.definition(item) else { return false };
        let is_item = |first, lane| self.is_first(first) && self.is_builtin(lane, Builtin::Lane);
        (is_item(a, b) || is_item(b, a)) && self.is_param(count, self.tail.items)
    }

    fn is_first(&self, value: Value) -> bool {
        let Some(Expr::Bin(BinOp::Mul, a, b)) = self.definition(value) else { return false };
        let is_first =
            |wave, count| self.is_builtin(wave, Builtin::Wave) && self.is_param(count, self.tail.per_wave);
        is_first(a, b) || is_first(b, a)
    }

    /// Whether lanes without an item do nothing in a block that they come to; `apart`: perhaps without the others.
    fn idle(&self, block: &[Stmt], apart: bool) -> bool {
        block.iter().all(|stmt| self.idles(stmt, apart))
    }

    fn idles(&self, stmt: &Stmt, apart: bool) -> bool {
        match stmt {
            Stmt::Let(_, Expr::Wave(op)) => self.tells_nothing(*op),
            Stmt::Let(..) | Stmt::Set(..) => true,
            Stmt::Load { access, .. } => self.loads_nothing(access),
            Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => {
                access.space == Space::Scratch || self.is(access.valid)
            }
            Stmt::If { cond, then, otherwise } => {
                let apart = apart || self.program.info(*cond).rate == Rate::Varying;
                (self.never(*cond) || self.idle(then, apart))
                    && (self.always(*cond) || self.idle(otherwise, apart))
            }
            // A lane that goes round alone uses up the wave's budget.
            Stmt::Loop { body } => !apart && !parts_inside(self.program, body) && self.idle(body, apart),
            Stmt::Break | Stmt::Continue | Stmt::Return => true,
            Stmt::Trap { .. } | Stmt::Barrier { .. } => !apart,
        }
    }

    /// A load can fault. Where lanes have it in common, those with an item make it too.
    fn loads_nothing(&self, access: &Access) -> bool {
        access.space != Space::Global
            || self.is(access.valid)
            || self.program.access_rate(access) == Rate::Uniform
    }

    fn tells_nothing(&self, op: WaveOp) -> bool {
        match op {
            WaveOp::Ballot(told) | WaveOp::Any(told) | WaveOp::Send { active: told, .. } => {
                self.is(told) && self.program.info(told).rate == Rate::Varying
            }
            WaveOp::ReadLane { .. } | WaveOp::Shuffle { .. } => false,
        }
    }
}

/// Notes the definitions in a block and the blocks inside it.
fn define(block: &[Stmt], definitions: &mut [Option<Expr>]) {
    for stmt in block {
        if let Stmt::Let(value, expr) = stmt {
            definitions[value.0 as usize] = Some(*expr);
        }
        stmt.blocks().into_iter().for_each(|inner| define(inner, definitions));
    }
}

#[cfg(test)]
mod tests {
    use guestwave_translate::program::{Builder, Type, Width};

    use super::*;

    /// Which lane has an item, as translated programs begin.
    fn alive(b: &mut Builder) -> Value {
        let (wave, lane) = (b.builtin(Builtin::Wave), b.builtin(Builtin::Lane));
        let (per_wave, items) = (b.param(ParamSource::ItemsPerWave), b.param(ParamSource::Items));
        let first = b.bin(BinOp::Mul, wave, per_wave);
        let item = b.bin(BinOp::Add, first, lane);
        let (in_wave, in_items) = (b.bin(BinOp::LtU, lane, per_wave), b.bin(BinOp::LtU, item, items));
        b.bin(BinOp::And, in_wave, in_items)
    }

    fn store(b: &mut Builder, address: Value, valid: Value) {
        let value = b.builtin(Builtin::Lane);
        let access = Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None };
        b.store(vec![value], access);
    }

    fn bytes_where(b: &mut Builder, cond: Value) -> Value {
        let (four, zero) = (b.c32(4), b.c32(0));
        b.select(cond, four, zero)
    }

    /// Whether the tail of what `f` adds after the beginning is idle.
    fn idles(f: impl FnOnce(&mut Builder, Value)) -> bool {
        let mut b = Builder::new("tail", 32);
        let exec = alive(&mut b);
        f(&mut b, exec);
        tail(&b.finish()).is_some()
    }

    #[test]
    fn stores_under_exec_are_idle_behind_the_last_item() {
        assert!(idles(|b, exec| {
            let (address, valid) = (b.c64(0), bytes_where(b, exec));
            store(b, address, valid);
        }));
        assert!(!idles(|b, _| {
            let (address, four) = (b.c64(0), b.c32(4));
            store(b, address, four);
        }));
        assert!(!idles(|b, exec| {
            let not = b.un(UnOp::Not, exec);
            let (address, valid) = (b.c64(0), bytes_where(b, not));
            store(b, address, valid);
        }));
    }

    #[test]
    fn exec_in_a_variable_is_followed() {
        let run = |sets_true: bool| {
            idles(|b, exec| {
                let var = b.var("exec", Type::Bool, Rate::Varying);
                b.set(var, exec);
                if sets_true {
                    let yes = b.cbool(true);
                    b.set(var, yes);
                }
                let now = b.get(var);
                let (address, valid) = (b.c64(0), bytes_where(b, now));
                store(b, address, valid);
            })
        };
        assert_eq!([run(false), run(true)], [true, false]);
    }

    #[test]
    fn what_lanes_without_an_item_would_tell_others_counts() {
        for op in [WaveOp::Ballot as fn(Value) -> WaveOp, WaveOp::Any] {
            assert!(idles(|b, exec| {
                b.wave(op(exec));
            }));
            assert!(!idles(|b, exec| {
                let not = b.un(UnOp::Not, exec);
                b.wave(op(not));
            }));
        }
        assert!(!idles(|b, _| {
            let (value, lane) = (b.builtin(Builtin::Lane), b.c32(31));
            b.wave(WaveOp::ReadLane { value, lane });
        }));
    }

    #[test]
    fn lanes_that_trap_or_go_round_alone_count() {
        let alone = |guarded: bool, stmt: Stmt, looping: bool| {
            idles(|b, exec| {
                let cond = if guarded { exec } else { b.un(UnOp::Not, exec) };
                b.open();
                b.push(stmt);
                let then = b.close();
                let branch = Stmt::If { cond, then, otherwise: vec![] };
                let body = vec![branch.clone(), Stmt::Break];
                b.push(if looping { Stmt::Loop { body } } else { branch });
            })
        };
        let trap = Stmt::Trap { code: "TEST", pc: 0 };
        assert_eq!([true, false].map(|guarded| alone(guarded, trap.clone(), false)), [true, false]);
        assert_eq!([true, false].map(|guarded| alone(guarded, Stmt::Break, true)), [false, false]);
        assert_eq!([true, false].map(|guarded| alone(guarded, Stmt::Return, false)), [true, true]);
    }

    #[test]
    fn the_lanes_with_items_are_counted_as_the_program_counts() {
        let tail = Tail { items: 0, per_wave: 1 };
        let lanes = |items: u32, per_wave: u32, wave: u32| tail.alive(&[items, per_wave], wave, 32);
        assert_eq!((0..4).map(|wave| lanes(70, 30, wave)).collect::<Vec<_>>(), [30, 30, 10, 0]);
        assert_eq!([lanes(3, 32, 0), lanes(u32::MAX, 64, 0), lanes(0, 32, 0)], [3, 32, 0]);
        // Item numbers that begin again at 0.
        assert_eq!(lanes(5, u32::MAX - 7, 1), 32);
        assert_eq!(tail.alive(&[5], 0, 32), 32);
    }
}
