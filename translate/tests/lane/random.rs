//! Random programs from a tape of choices.

use guestwave_translate::program::{
    BinOp, Block, Builder, Builtin, Expr, ParamSource, Program, Rate, Stmt, TriOp, Type, UnOp, Value, Var,
    WaveOp,
};

use super::tape::Tape;

/// What a random program may do besides computing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Menu {
    /// Addresses that nothing stands behind, now and then, and the heap alone.
    pub(crate) hostile: bool,
    /// Accesses that are not in their natural places, or of some units only.
    pub(crate) odd: bool,
    /// LDS.
    pub(crate) lds: bool,
    /// Barriers, and waves that see each other's LDS between them.
    pub(crate) groups: bool,
    /// Waves reach the same bytes, one wave after the other.
    pub(crate) in_common: bool,
}

pub(super) struct Generator<'t> {
    pub(super) b: Builder,
    pub(super) tape: Tape<'t>,
    pub(super) menu: Menu,
    /// Slots of the input and of the heap.
    pub(super) slots: [u16; 2],
    /// Values of the open blocks, innermost last.
    scopes: Vec<Vec<Value>>,
    vars: Vec<Var>,
    /// Each loop's counter must be its own, or loops might not end.
    loops: u32,
    pub(super) diverged: bool,
}

/// Scalar registers that are parameters.
const PARAMS: [u8; 2] = [0, 1];

/// A random program for waves of 32 or 64 lanes.
pub(crate) fn program(choices: &[u32], menu: Menu) -> Program {
    let mut tape = Tape::new(choices);
    let lanes = tape.pick(&[32, 64]);
    let mut b = Builder::new("random", lanes);
    b.program_mut().lds_bytes = menu.lds_bytes() + if menu.odd { tape.below(3) } else { 0 };
    b.program_mut().scratch_bytes = 40 + tape.below(8);
    let types = [Type::Bool, Type::B32, Type::B64];
    let rates = [Rate::Uniform, Rate::Varying];
    let kinds = types.into_iter().flat_map(|ty| rates.map(|rate| (ty, rate)));
    let vars = kinds.chain([(Type::B32, Rate::Varying)]).map(|(ty, rate)| b.var("v", ty, rate)).collect();
    let (scopes, slots) = (vec![Vec::new()], [0; 2]);
    let mut g = Generator { b, tape, menu, slots, scopes, vars, loops: 0, diverged: false };
    g.slots = g.make_slots();
    g.start();
    while !g.tape.is_over() {
        g.stmt(3);
    }
    g.end();
    g.b.finish()
}

/// Operations on integers; the first so many are there for 64 bits too.
const INTEGER: [BinOp; 16] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
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
    BinOp::MulHighU,
    BinOp::MulHighS,
    BinOp::Pack,
];
const WIDE: usize = 13;

impl Generator<'_> {
    /// Some values to work on.
    fn start(&mut self) {
        for register in PARAMS {
            let v = self.b.param(ParamSource::Sgpr(register));
            self.put(v);
        }
        for builtin in [Builtin::Lane, Builtin::Wave, Builtin::WaveInGroup, Builtin::Group] {
            let v = self.b.builtin(builtin);
            self.put(v);
        }
        let (lane, five) = (self.b.builtin(Builtin::Lane), self.b.c32(5));
        let low = self.b.bin(BinOp::LtU, lane, five);
        self.put(low);
        let wide = self.b.bin(BinOp::Pack, lane, five);
        self.put(wide);
    }

    /// Shows what the variables hold.
    fn end(&mut self) {
        for var in self.vars.clone() {
            let v = self.b.get(var);
            self.put(v);
            let units = self.units_of(v);
            self.own_store(units);
        }
    }

    pub(super) fn put(&mut self, value: Value) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(value);
        }
    }

    /// A value of a type, uniform if need be: one that is there, most often a late one, or a constant.
    pub(super) fn value(&mut self, ty: Type, uniform: bool) -> Value {
        let fits = |b: &Builder, v: Value| {
            let info = b.info(v);
            info.ty == ty && (!uniform || info.rate == Rate::Uniform)
        };
        let found: Vec<Value> =
            self.scopes.iter().flatten().copied().filter(|v| fits(&self.b, *v)).rev().take(12).collect();
        let choice = self.tape.below(14) as usize;
        match found.get(choice) {
            Some(v) => *v,
            None => self.constant(ty),
        }
    }

    fn constant(&mut self, ty: Type) -> Value {
        let x = self.tape.next();
        let specials = [
            0,
            1,
            2,
            31,
            63,
            0x8000_0000,
            0xffff_ffff,
            0x3f80_0000,
            0x7f80_0000,
            0x7f80_0001,
            0x0040_0000,
            0x4049_0fdb,
            x,
            x,
        ];
        let special = self.tape.pick(&specials);
        match ty {
            Type::Bool => self.b.cbool(x & 1 != 0),
            Type::B32 => self.b.c32(special),
            Type::B64 => self.b.c64(u64::from(special) << 32 | u64::from(x)),
        }
    }

    fn any_type(&mut self) -> Type {
        self.tape.pick(&[Type::B32, Type::B32, Type::B32, Type::Bool, Type::B64])
    }

    fn expr(&mut self, expr: Expr) -> Value {
        let v = self.b.expr(expr);
        self.put(v);
        v
    }

    fn stmt(&mut self, depth: u32) {
        match self.tape.below(20) {
            0..=5 => self.compute(),
            6 => self.float(),
            7 if self.tape.once_in(2) => self.exact_float(),
            7 => self.convert(),
            8 | 9 => self.set(),
            10 => self.get(),
            11 | 12 => self.load(),
            13 | 14 => self.store(),
            15 => self.atomic(),
            16 if depth > 0 => self.branch(depth - 1),
            17 if depth > 0 && self.loops < 4 => self.repeat(depth - 1),
            18 | 16 if !self.diverged => self.wave(),
            19 if !self.diverged && self.menu.groups => self.meet(),
            _ => self.compute(),
        }
    }

    fn meet(&mut self) {
        if self.tape.once_in(2) && self.menu.lds {
            return self.share();
        }
        self.b.push(Stmt::Barrier { pc: 4 });
    }

    fn compute(&mut self) {
        use BinOp as B;
        use UnOp as U;
        let ty = self.any_type();
        let (x, y) = (self.value(ty, false), self.value(ty, false));
        let expr = match (self.tape.below(4), ty) {
            (0, Type::Bool) => Expr::Un(self.tape.pick(&[U::Not, U::FromBool]), x),
            (0, Type::B32) => {
                let ops = [
                    U::Not,
                    U::Neg,
                    U::CountOnes,
                    U::LeadingZeros,
                    U::TrailingZeros,
                    U::ReverseBits,
                    U::Extend,
                    U::ExtendS,
                    U::Sext8,
                    U::Sext16,
                ];
                Expr::Un(self.tape.pick(&ops), x)
            }
            (0, Type::B64) => Expr::Un(self.tape.pick(&[U::Low, U::High, U::Not, U::TrailingZeros]), x),
            (1, _) => {
                let cond = self.value(Type::Bool, false);
                Expr::Tri(TriOp::Select, cond, x, y)
            }
            (_, Type::Bool) => Expr::Bin(self.tape.pick(&[B::And, B::Or, B::Xor, B::Eq, B::Ne]), x, y),
            (2, _) => Expr::Bin(self.tape.pick(&[B::Eq, B::Ne, B::LtU, B::LeU, B::LtS, B::LeS]), x, y),
            (_, Type::B32) => Expr::Bin(self.tape.pick(&INTEGER), x, y),
            (_, Type::B64) => {
                let op = self.tape.pick(&INTEGER[..WIDE]);
                let y = if op.is_shift() { self.value(Type::B32, false) } else { y };
                Expr::Bin(op, x, y)
            }
        };
        self.expr(expr);
    }

    /// A float operation whose NaNs are made one.
    fn float(&mut self) {
        use BinOp as B;
        let wide = self.tape.below(4) == 0;
        let ty = if wide { Type::B64 } else { Type::B32 };
        let [x, y, z] = [(); 3].map(|()| self.value(ty, false));
        let pick = self.tape.below(5) as usize;
        let value = if wide {
            match [B::AddF64, B::SubF64, B::MulF64, B::DivF64].get(pick) {
                Some(op) => self.b.bin(*op, x, y),
                None => self.b.tri(TriOp::FmaF64, x, y, z),
            }
        } else {
            match [B::AddF32, B::SubF32, B::MulF32, B::DivF32].get(pick) {
                Some(op) => self.b.bin(*op, x, y),
                None => self.b.tri(TriOp::FmaF32, x, y, z),
            }
        };
        let (eq, nan) =
            if wide { (B::EqF64, self.b.c64(0x7ff8 << 48)) } else { (B::EqF32, self.b.c32(0x7fc0_0000)) };
        let number = self.b.bin(eq, value, value);
        let settled = self.b.select(number, value, nan);
        self.put(settled);
    }

    /// Conversions from floats and roundings, whose NaNs are made one.
    fn convert(&mut self) {
        use UnOp as U;
        let wide = self.tape.below(4) == 0;
        let narrow = [
            U::U32FromF32,
            U::S32FromF32,
            U::F16FromF32,
            U::F32FromS32,
            U::F32FromF16,
            U::FloorF32,
            U::CeilF32,
            U::TruncF32,
            U::RoundF32,
            U::SqrtF32,
        ];
        let op = self.tape.pick(if wide { &[U::U32FromF64, U::S32FromF64] } else { &narrow[..] });
        let x = self.value(if wide { Type::B64 } else { Type::B32 }, false);
        let made = self.b.un(op, x);
        if narrow[3..].contains(&op) {
            let (number, nan) = (self.b.bin(BinOp::EqF32, made, made), self.b.c32(0x7fc0_0000));
            let settled = self.b.select(number, made, nan);
            return self.put(settled);
        }
        self.put(made);
    }

    /// A float operation as exact translations have it: denormals flushed, a NaN taken from the sources.
    fn exact_float(&mut self) {
        let wide = self.tape.below(4) == 0;
        let (ty, op) = if wide { (Type::B64, BinOp::MulF64) } else { (Type::B32, BinOp::MulF32) };
        let (x, y) = (self.value(ty, false), self.value(ty, false));
        let (p, q) = if wide { (x, y) } else { (self.flushed(x), self.flushed(y)) };
        let number = self.b.bin(op, p, q);
        let result = if wide { number } else { self.flushed(number) };
        let invalid = self.is_nan(number, ty);
        let (default, quiet) = self.nan_bits(ty);
        let nan = [y, x].into_iter().fold(default, |rest, s| {
            let is_nan = self.is_nan(s, ty);
            self.b.select(is_nan, s, rest)
        });
        let nan = self.b.bin(BinOp::Or, nan, quiet);
        let value = self.b.select(invalid, nan, result);
        self.put(value);
    }

    /// The NaN of an invalid operation, and the bit that makes one quiet.
    fn nan_bits(&mut self, ty: Type) -> (Value, Value) {
        match ty {
            Type::B64 => (self.b.c64(0xfff8 << 48), self.b.c64(1 << 51)),
            _ => (self.b.c32(0xffc0_0000), self.b.c32(1 << 22)),
        }
    }

    fn is_nan(&mut self, x: Value, ty: Type) -> Value {
        let (mask, infinity) = match ty {
            Type::B64 => (self.b.c64(u64::MAX >> 1), self.b.c64(0x7ff0 << 48)),
            _ => (self.b.c32(u32::MAX >> 1), self.b.c32(0x7f80_0000)),
        };
        let size = self.b.bin(BinOp::And, x, mask);
        self.b.bin(BinOp::LtU, infinity, size)
    }

    fn flushed(&mut self, x: Value) -> Value {
        let (mask, none, sign) = (self.b.c32(0x7f80_0000), self.b.c32(0), self.b.c32(1 << 31));
        let exponent = self.b.bin(BinOp::And, x, mask);
        let tiny = self.b.bin(BinOp::Eq, exponent, none);
        let signed = self.b.bin(BinOp::And, x, sign);
        self.b.select(tiny, signed, x)
    }

    fn set(&mut self) {
        let var = self.tape.pick(&self.vars.clone());
        let info = self.b.program().var(var).clone();
        let uniform = info.rate == Rate::Uniform;
        if uniform && self.diverged {
            return self.compute();
        }
        let value = self.value(info.ty, uniform);
        self.b.set(var, value);
    }

    fn get(&mut self) {
        let var = self.tape.pick(&self.vars.clone());
        let v = self.b.get(var);
        self.put(v);
    }

    /// A block with its own scope.
    fn block(&mut self, depth: u32, most: u32, first: impl FnOnce(&mut Self)) -> Block {
        self.b.open();
        self.scopes.push(Vec::new());
        first(self);
        for _ in 0..self.tape.below(most) {
            self.stmt(depth);
        }
        self.scopes.pop();
        self.b.close()
    }

    fn branch(&mut self, depth: u32) {
        let uniform = self.tape.below(2) == 0;
        let cond = self.value(Type::Bool, uniform);
        let diverged = self.diverged;
        self.diverged |= self.b.info(cond).rate == Rate::Varying;
        let then = self.block(depth, 7, |_| {});
        let otherwise = self.block(depth, 5, |_| {});
        self.diverged = diverged;
        self.b.push(Stmt::If { cond, then, otherwise });
    }

    /// A loop that a counter ends; if the counter's end varies, each lane leaves by itself.
    fn repeat(&mut self, depth: u32) {
        self.loops += 1;
        let varying = self.diverged || self.tape.below(2) == 0;
        let rate = if varying { Rate::Varying } else { Rate::Uniform };
        let (counter, zero) = (self.b.var("counter", Type::B32, rate), self.b.c32(0));
        self.b.set(counter, zero);
        let end = self.loop_end(varying);
        let diverged = self.diverged;
        self.diverged |= varying;
        let body = self.block(depth, 8, |g| g.count(counter, end));
        self.diverged = diverged;
        self.b.push(Stmt::Loop { body });
    }

    fn loop_end(&mut self, varying: bool) -> Value {
        let (x, three, one) = (self.value(Type::B32, !varying), self.b.c32(3), self.b.c32(1));
        let few = self.b.bin(BinOp::And, x, three);
        let end = self.b.bin(BinOp::Add, few, one);
        // A constant would not vary.
        let lane = if varying { self.b.builtin(Builtin::Lane) } else { zero(&mut self.b) };
        let extra = self.b.bin(BinOp::And, lane, one);
        self.b.bin(BinOp::Add, end, extra)
    }

    /// Leaves the loop if the counter has come to its end; may leave or go on early as well.
    fn count(&mut self, counter: Var, end: Value) {
        let (old, one) = (self.b.get(counter), self.b.c32(1));
        let next = self.b.bin(BinOp::Add, old, one);
        self.b.set(counter, next);
        self.put(old);
        let done = self.b.bin(BinOp::LeU, end, old);
        self.leave(done, Stmt::Break);
        let uniform = !self.diverged;
        if self.tape.below(3) == 0 {
            let early = self.value(Type::Bool, uniform);
            let how = self.tape.pick(&[0, 1, 2]);
            let can_return = self.b.info(early).rate == Rate::Uniform && !self.diverged;
            let how =
                [Stmt::Break, Stmt::Continue, Stmt::Return][if can_return { how } else { how % 2 }].clone();
            self.leave(early, how);
        }
    }

    fn leave(&mut self, cond: Value, how: Stmt) {
        self.b.open();
        self.b.push(how);
        let then = self.b.close();
        self.b.push(Stmt::If { cond, then, otherwise: Vec::new() });
    }

    fn wave(&mut self) {
        let (flag, value) = (self.value(Type::Bool, false), self.value(Type::B32, false));
        let lane = self.value(Type::B32, false);
        let op = match self.tape.below(5) {
            0 => WaveOp::Ballot(flag),
            1 => WaveOp::Any(flag),
            2 => WaveOp::ReadLane { value, lane: self.value(Type::B32, true) },
            3 => WaveOp::Shuffle { value, lane },
            _ => WaveOp::Send { value, lane, active: flag },
        };
        let v = self.b.wave(op);
        self.put(v);
    }

    fn units_of(&mut self, value: Value) -> Vec<Value> {
        match self.b.info(value).ty {
            Type::Bool => vec![self.b.un(UnOp::FromBool, value)],
            Type::B32 => vec![value],
            Type::B64 => [UnOp::Low, UnOp::High].map(|half| self.b.un(half, value)).into(),
        }
    }
}

fn zero(b: &mut Builder) -> Value {
    b.c32(0)
}
