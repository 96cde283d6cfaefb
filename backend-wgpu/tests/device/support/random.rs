//! Random programs that mean the same in every holding.
//!
//! In uniform control flow the lanes of a wave reach the same memory, so that their order shows; in varying control flow each
//! lane has bytes of its own. Waves have memory of their own, except that they meet in LDS at barriers. A NaN is made
//! the same NaN before anyone sees its bits.

use guestwave_translate::program::{
    Access, AtomicOp, BinOp, Block, Builder, Builtin, Program, Rate, Slot, Space, Stmt, Trace, TriOp, Type,
    UnOp, Value, Var, WaveOp, Width,
};

/// Guest address of what is only read.
pub(crate) const INPUT: u64 = 0x12_3450_0000;
/// Guest address of what is stored to.
pub(crate) const OUTPUT: u64 = 0x12_3460_0000;
/// Bytes of the input, and of each wave's part of the output.
pub(crate) const PART: u64 = 4096;
/// Waves of a launch.
pub(crate) const WAVES: u32 = 4;

/// Random numbers from a seed.
pub(crate) struct Random(u64);

impl Random {
    /// Numbers that follow from the seed.
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several.
    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Bits that make interesting numbers.
    pub(crate) fn bits(&mut self) -> u64 {
        let odd =
            [0, 1, u64::MAX, 0x8000_0000, 0x7f80_0000_7f80_0000, 0x0010_0000, 0x3f80_0000, 0xff, 0x7fc0_0000];
        match self.below(4) {
            0 => self.one(&odd),
            1 => self.next() & 0xff,
            2 => self.next() >> self.below(60),
            _ => self.next(),
        }
    }
}

/// What may occur in a program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    /// Accesses that are not in their natural places, or of some units only.
    pub(crate) odd: bool,
    /// LDS, and barriers.
    pub(crate) lds: bool,
    /// Several waves in a workgroup.
    pub(crate) groups: bool,
}

struct Maker<'r> {
    r: &'r mut Random,
    b: Builder,
    f: Features,
    vars: Vec<Var>,
    /// Values at hand, innermost block last.
    scopes: Vec<Vec<Value>>,
    /// Whether lanes may be away.
    diverged: bool,
    loops: u32,
    lane: Value,
    wave_part: Value,
    lds_part: Value,
    slots: [u16; 2],
}

/// A random program.
pub(crate) fn program(seed: u64, features: Features) -> Program {
    let mut r = Random::new(seed);
    let lanes = r.one(&[32u8, 64]);
    let mut b = Builder::new(format!("random-{seed}"), lanes);
    b.program_mut().lds_bytes = if features.lds { 2048 } else { 0 };
    b.program_mut().scratch_bytes = 32;
    let (lane, wave) = (b.builtin(Builtin::Lane), b.builtin(Builtin::Wave));
    let in_group = b.builtin(Builtin::WaveInGroup);
    let (part, lds) = (b.c32(PART as u32), b.c32(512));
    let (wave_part, lds_part) = (b.bin(BinOp::Mul, wave, part), b.bin(BinOp::Mul, in_group, lds));
    let slot = |b: &mut Builder, base, bytes, written| {
        b.slot(Slot { base: Trace::Const(base), size: Some(Trace::Const(bytes)), written })
    };
    let slots = [slot(&mut b, INPUT, PART, false), slot(&mut b, OUTPUT, PART * u64::from(WAVES), true)];
    let vars = (0..6)
        .map(|i| {
            let ty = r.one(&[Type::B32, Type::B32, Type::B32, Type::B64, Type::Bool]);
            b.var(format!("v{i}"), ty, if i < 2 { Rate::Uniform } else { Rate::Varying })
        })
        .collect();
    let scopes = vec![vec![lane, wave, in_group]];
    let (diverged, loops) = (false, 0);
    let mut m =
        Maker { r: &mut r, b, f: features, vars, scopes, diverged, loops, lane, wave_part, lds_part, slots };
    let steps = 6 + m.r.below(14);
    m.steps(steps, 3);
    m.finish()
}

const INT: [BinOp; 15] = [
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
    BinOp::Eq,
    BinOp::LtS,
];
const FLOAT32: [BinOp; 4] = [BinOp::AddF32, BinOp::SubF32, BinOp::MulF32, BinOp::DivF32];
const FLOAT64: [BinOp; 4] = [BinOp::AddF64, BinOp::SubF64, BinOp::MulF64, BinOp::DivF64];
const COMPARE: [BinOp; 8] =
    [BinOp::Eq, BinOp::Ne, BinOp::LtU, BinOp::LeU, BinOp::LtS, BinOp::LeS, BinOp::LtF32, BinOp::EqF32];
const UN32: [UnOp; 9] = [
    UnOp::Not,
    UnOp::Neg,
    UnOp::CountOnes,
    UnOp::LeadingZeros,
    UnOp::TrailingZeros,
    UnOp::ReverseBits,
    UnOp::Sext8,
    UnOp::Sext16,
    UnOp::F32FromS32,
];
const FROM_FLOAT: [UnOp; 3] = [UnOp::U32FromF32, UnOp::S32FromF32, UnOp::F16FromF32];
const ROUND: [UnOp; 5] = [UnOp::FloorF32, UnOp::CeilF32, UnOp::TruncF32, UnOp::RoundF32, UnOp::SqrtF32];
const ATOMICS: [AtomicOp; 16] = [
    AtomicOp::Swap,
    AtomicOp::CompareSwap,
    AtomicOp::Add,
    AtomicOp::Sub,
    AtomicOp::MinS,
    AtomicOp::MinU,
    AtomicOp::MaxS,
    AtomicOp::MaxU,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
    AtomicOp::IncWrap,
    AtomicOp::DecWrap,
    AtomicOp::SubClamp,
    AtomicOp::MinF,
    AtomicOp::MaxF,
];

impl Maker<'_> {
    fn finish(mut self) -> Program {
        // What is left in the variables shows.
        for var in self.vars.clone() {
            let value = self.b.get(var);
            let bits = self.as32(value);
            self.store_own(vec![bits]);
        }
        self.b.finish()
    }

    fn keep(&mut self, value: Value) -> Value {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(value);
        }
        value
    }

    /// A value at hand of a type, or a constant.
    fn value(&mut self, ty: Type) -> Value {
        let known: Vec<Value> =
            self.scopes.iter().flatten().copied().filter(|v| self.b.info(*v).ty == ty).collect();
        if known.is_empty() || self.r.once_in(5) {
            return self.constant(ty);
        }
        // Rather a late one.
        let from = if self.r.once_in(3) { 0 } else { known.len().saturating_sub(6) };
        known[from + self.r.below(known.len() - from)]
    }

    fn uniform(&mut self, ty: Type) -> Value {
        let known: Vec<Value> = self.scopes.iter().flatten().copied().collect();
        let fits = |b: &Builder, v: &Value| b.info(*v).ty == ty && b.info(*v).rate == Rate::Uniform;
        let known: Vec<Value> = known.into_iter().filter(|v| fits(&self.b, v)).collect();
        if known.is_empty() { self.constant(ty) } else { self.r.one(&known) }
    }

    fn constant(&mut self, ty: Type) -> Value {
        let bits = self.r.bits();
        match ty {
            Type::Bool => self.b.cbool(bits & 1 != 0),
            Type::B32 => self.b.c32(bits as u32),
            Type::B64 => self.b.c64(bits),
        }
    }

    fn steps(&mut self, count: usize, depth: u32) {
        for _ in 0..count {
            self.step(depth);
        }
    }

    fn step(&mut self, depth: u32) {
        match self.r.below(20) {
            0..=6 => self.arithmetic(),
            7 | 8 => self.float(),
            9 | 10 => self.variable(),
            11 if depth > 0 => self.branch(depth),
            12 if depth > 0 => self.round(depth),
            13 | 14 if !self.diverged => self.wave(),
            15 => self.load(),
            16 | 17 => self.store(),
            18 => self.atomic(),
            19 if !self.diverged && self.f.lds => self.share(),
            _ => self.arithmetic(),
        }
    }

    fn arithmetic(&mut self) {
        let value = match self.r.below(8) {
            0 => {
                let (op, a, b) = (self.r.one(&COMPARE), self.value(Type::B32), self.value(Type::B32));
                self.b.bin(op, a, b)
            }
            1 => {
                let (op, a) = (self.r.one(&UN32), self.value(Type::B32));
                self.b.un(op, a)
            }
            2 => {
                let ty = self.r.one(&[Type::B32, Type::B64, Type::Bool]);
                let (c, a, b) = (self.value(Type::Bool), self.value(ty), self.value(ty));
                self.b.select(c, a, b)
            }
            3 => {
                let op = self.r.one(&[BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Eq, BinOp::Ne]);
                let (a, b) = (self.value(Type::Bool), self.value(Type::Bool));
                self.b.bin(op, a, b)
            }
            4 => self.wide(),
            5 => {
                let op = self.r.one(&[BinOp::MulHighU, BinOp::MulHighS, BinOp::Pack]);
                let (a, b) = (self.value(Type::B32), self.value(Type::B32));
                self.b.bin(op, a, b)
            }
            _ => {
                let (op, a, b) = (self.r.one(&INT), self.value(Type::B32), self.value(Type::B32));
                self.b.bin(op, a, b)
            }
        };
        self.keep(value);
    }

    fn wide(&mut self) -> Value {
        match self.r.below(4) {
            0 => {
                let (op, a) = (self.r.one(&[UnOp::Extend, UnOp::ExtendS]), self.value(Type::B32));
                self.b.un(op, a)
            }
            1 => {
                let ops = [UnOp::Low, UnOp::High, UnOp::CountOnes, UnOp::LeadingZeros, UnOp::TrailingZeros];
                let (op, a) = (self.r.one(&ops), self.value(Type::B64));
                self.b.un(op, a)
            }
            _ => {
                let (op, a) = (self.r.one(&INT), self.value(Type::B64));
                let b = if op.is_shift() { self.value(Type::B32) } else { self.value(Type::B64) };
                self.b.bin(op, a, b)
            }
        }
    }

    /// A float result whose NaNs are made alike.
    fn float(&mut self) {
        if self.r.once_in(4) {
            return self.float64();
        }
        let [a, b, c] = [0; 3].map(|_| self.value(Type::B32));
        let result = match self.r.below(6) {
            0 => self.b.tri(TriOp::FmaF32, a, b, c),
            1 => {
                let op = self.r.one(&ROUND);
                self.b.un(op, a)
            }
            2 => {
                let op = self.r.one(&FROM_FLOAT);
                let made = self.b.un(op, a);
                self.keep(made);
                return;
            }
            3 => self.b.un(UnOp::F32FromF16, a),
            _ => {
                let op = self.r.one(&FLOAT32);
                self.b.bin(op, a, b)
            }
        };
        let (top, infinity, nan) =
            (self.b.c32(0x7fff_ffff), self.b.c32(0x7f80_0000), self.b.c32(0x7fc0_0000));
        let magnitude = self.b.bin(BinOp::And, result, top);
        let is_nan = self.b.bin(BinOp::LtU, infinity, magnitude);
        let alike = self.b.select(is_nan, nan, result);
        self.keep(alike);
    }

    fn float64(&mut self) {
        let [a, b, c] = [0; 3].map(|_| self.value(Type::B64));
        let result = match self.r.below(4) {
            0 => self.b.tri(TriOp::FmaF64, a, b, c),
            1 => {
                let op = self.r.one(&[UnOp::U32FromF64, UnOp::S32FromF64]);
                let made = self.b.un(op, a);
                self.keep(made);
                return;
            }
            2 => {
                let narrow = self.value(Type::B32);
                self.b.un(UnOp::F64FromF32, narrow)
            }
            _ => {
                let op = self.r.one(&FLOAT64);
                self.b.bin(op, a, b)
            }
        };
        let (top, infinity) = (self.b.c64(u64::MAX >> 1), self.b.c64(0x7ff0_0000_0000_0000));
        let nan = self.b.c64(0x7ff8_0000_0000_0000);
        let magnitude = self.b.bin(BinOp::And, result, top);
        let is_nan = self.b.bin(BinOp::LtU, infinity, magnitude);
        let alike = self.b.select(is_nan, nan, result);
        self.keep(alike);
    }

    fn variable(&mut self) {
        let var = self.r.one(&self.vars.clone());
        let info = self.b.program().var(var).clone();
        if self.r.once_in(2) {
            let value = self.b.get(var);
            self.keep(value);
        } else if info.rate == Rate::Varying {
            let value = self.value(info.ty);
            self.b.set(var, value);
        } else if !self.diverged {
            let value = self.uniform(info.ty);
            self.b.set(var, value);
        }
    }

    fn block(&mut self, count: usize, depth: u32) -> Block {
        self.b.open();
        self.scopes.push(Vec::new());
        self.steps(count, depth);
        self.scopes.pop();
        self.b.close()
    }

    fn branch(&mut self, depth: u32) {
        let cond = self.value(Type::Bool);
        let before = self.diverged;
        self.diverged |= self.b.info(cond).rate == Rate::Varying;
        let (count, other) = (1 + self.r.below(5), self.r.below(4));
        let (then, otherwise) = (self.block(count, depth - 1), self.block(other, depth - 1));
        self.diverged = before;
        self.b.push(Stmt::If { cond, then, otherwise });
    }

    /// A loop that ends after a few rounds, which the wave or each lane counts.
    fn round(&mut self, depth: u32) {
        if self.loops >= 2 {
            return;
        }
        let varying = self.diverged || self.r.once_in(2);
        let rate = if varying { Rate::Varying } else { Rate::Uniform };
        let count = self.b.var("count", Type::B32, rate);
        let most = self.b.c32(1 + self.r.below(4) as u32);
        let zero = self.b.c32(0);
        self.b.set(count, zero);
        let end = if varying { self.value(Type::B32) } else { self.uniform(Type::B32) };
        let end = self.b.bin(BinOp::MinU, end, most);
        let before = self.diverged;
        self.diverged |= self.b.info(end).rate == Rate::Varying || rate == Rate::Varying;
        self.loops += 1;
        self.b.open();
        self.scopes.push(Vec::new());
        let now = self.b.get(count);
        let done = self.b.bin(BinOp::LeU, end, now);
        self.b.open();
        self.b.push(Stmt::Break);
        let then = self.b.close();
        self.b.push(Stmt::If { cond: done, then, otherwise: Vec::new() });
        let one = self.b.c32(1);
        let next = self.b.bin(BinOp::Add, now, one);
        self.b.set(count, next);
        let steps = 1 + self.r.below(5);
        self.steps(steps, depth - 1);
        self.scopes.pop();
        let body = self.b.close();
        self.loops -= 1;
        self.diverged = before;
        self.b.push(Stmt::Loop { body });
    }

    fn wave(&mut self) {
        let value = self.value(Type::B32);
        let op = match self.r.below(5) {
            0 => WaveOp::Ballot(self.value(Type::Bool)),
            1 => WaveOp::Any(self.value(Type::Bool)),
            2 => WaveOp::ReadLane { value, lane: self.uniform(Type::B32) },
            3 => WaveOp::Shuffle { value, lane: self.value(Type::B32) },
            _ => WaveOp::Send { value, lane: self.value(Type::B32), active: self.value(Type::Bool) },
        };
        let result = self.b.wave(op);
        self.keep(result);
    }

    fn as32(&mut self, value: Value) -> Value {
        match self.b.info(value).ty {
            Type::Bool => self.b.un(UnOp::FromBool, value),
            Type::B32 => value,
            Type::B64 => {
                let (low, high) = (self.b.un(UnOp::Low, value), self.b.un(UnOp::High, value));
                self.b.bin(BinOp::Xor, low, high)
            }
        }
    }

    fn c32(&mut self, c: u32) -> Value {
        self.b.c32(c)
    }

    /// `valid` for an access of `bytes`: mostly all or nothing.
    fn valid(&mut self, bytes: u32) -> Value {
        let all = self.c32(bytes);
        match self.r.below(4) {
            0 => {
                let (cond, none) = (self.value(Type::Bool), self.c32(0));
                self.b.select(cond, all, none)
            }
            1 if self.f.odd => {
                let value = self.value(Type::B32);
                let fifteen = self.c32(15);
                self.b.bin(BinOp::And, value, fifteen)
            }
            _ => all,
        }
    }

    /// A byte offset below `size` for `bytes`, of the lane's own bytes if lanes are apart.
    fn offset(&mut self, size: u32, bytes: u32, own: bool) -> Value {
        let align = if self.f.odd && self.r.once_in(2) { 0 } else { bytes.next_power_of_two().min(4) - 1 };
        let value = self.value(Type::B32);
        if own {
            // 32 bytes a lane.
            let (mask, five) = (self.c32((31 & !align).min(32 - bytes)), self.c32(5));
            let mask = if align == 0 { self.c32(7) } else { mask };
            let start = self.b.bin(BinOp::Shl, self.lane, five);
            let place = self.b.bin(BinOp::And, value, mask);
            return self.b.bin(BinOp::Add, start, place);
        }
        let mask = self.c32((((size - 64 - 1) / 64 * 32) & !align) | (15 & !align));
        self.b.bin(BinOp::And, value, mask)
    }

    /// An access to a memory; `own`: of the lane's own bytes.
    fn access(&mut self, space: Space, width: Width, units: u32, (own, write): (bool, bool)) -> Access {
        let bytes = units * width.bytes();
        let size = match space {
            Space::Global => PART as u32,
            Space::Lds => 512,
            Space::Scratch => 32,
            Space::Table => 64,
        };
        let mut slot = None;
        let address = match space {
            Space::Global => {
                let offset = self.offset(size, bytes, own);
                let (base, index) =
                    if write || self.r.once_in(2) { (OUTPUT, self.slots[1]) } else { (INPUT, self.slots[0]) };
                slot = (!self.r.once_in(3)).then_some(index);
                let offset =
                    if base == OUTPUT { self.b.bin(BinOp::Add, offset, self.wave_part) } else { offset };
                let (base, offset) = (self.b.c64(base), self.b.un(UnOp::Extend, offset));
                self.b.bin(BinOp::Add, base, offset)
            }
            Space::Lds => {
                // 16 bytes a lane for 32 lanes; lanes have none of their own beyond.
                let value = self.offset(size, bytes, false);
                self.b.bin(BinOp::Add, value, self.lds_part)
            }
            _ => {
                let (value, mask) = (self.value(Type::B32), self.c32(if self.f.odd { 31 } else { 28 }));
                self.b.bin(BinOp::And, value, mask)
            }
        };
        let valid = self.valid(bytes);
        Access { space, address, valid, width, pc: 8, slot }
    }

    fn space(&mut self, write: bool) -> Space {
        match self.r.below(8) {
            0 => Space::Scratch,
            1 if !write => Space::Table,
            2 | 3 if self.f.lds && !self.diverged => Space::Lds,
            _ => Space::Global,
        }
    }

    fn width(&mut self) -> Width {
        self.r.one(&[Width::W32, Width::W32, Width::W32, Width::W16, Width::W8])
    }

    fn load(&mut self) {
        let (space, width) = (self.space(false), self.width());
        let units = if width == Width::W32 { 1 + self.r.below(4) as u32 } else { 1 };
        // Whoever loads in varying control flow must not see what another lane stores meanwhile.
        let own = self.diverged;
        let access = self.access(space, width, units, (own, false));
        for value in self.b.load(units as usize, access) {
            self.keep(value);
        }
    }

    fn data(&mut self, access: &Access, ty: Type) -> Value {
        let varies = self.b.info(access.address).rate.max(self.b.info(access.valid).rate) == Rate::Varying;
        if varies { self.value(ty) } else { self.uniform(ty) }
    }

    fn store(&mut self) {
        let (space, width) = (self.space(true), self.width());
        let units = if width == Width::W32 { 1 + self.r.below(4) as u32 } else { 1 };
        let access = self.access(space, width, units, (self.diverged, true));
        let uniform = self.b.info(access.address).rate.max(self.b.info(access.valid).rate) == Rate::Uniform;
        if uniform && self.diverged {
            return;
        }
        let values = (0..units).map(|_| self.data(&access, Type::B32)).collect();
        self.b.store(values, access);
    }

    /// Stores words of the lane at its own place.
    fn store_own(&mut self, values: Vec<Value>) {
        let access = self.access(Space::Global, Width::W32, values.len() as u32, (true, true));
        let all = self.c32(values.len() as u32 * 4);
        self.b.store(values, Access { valid: all, ..access });
    }

    fn atomic(&mut self) {
        let space = match self.space(true) {
            Space::Table => Space::Global,
            space => space,
        };
        let op = self.r.one(&ATOMICS);
        let wide = space == Space::Global && self.r.once_in(4);
        let (width, ty) = if wide { (Width::W64, Type::B64) } else { (Width::W32, Type::B32) };
        let access = self.access(space, width, 1, (self.diverged, true));
        let uniform = self.b.info(access.address).rate.max(self.b.info(access.valid).rate) == Rate::Uniform;
        if uniform && self.diverged {
            return;
        }
        let data = self.data(&access, ty);
        let compare = (op == AtomicOp::CompareSwap).then(|| self.data(&access, ty));
        if self.r.once_in(2) {
            let old = self.b.atomic(op, data, compare, access);
            self.keep(old);
        } else {
            self.b.push(Stmt::Atomic { dst: None, op, data, compare, access });
        }
    }

    /// Waves of a workgroup see each other's LDS between barriers.
    fn share(&mut self) {
        let value = self.value(Type::B32);
        let four = self.c32(4);
        let place = self.b.bin(BinOp::And, self.lane, four);
        let mine = self.b.bin(BinOp::Add, place, self.lds_part);
        let varies =
            Access { space: Space::Lds, address: mine, valid: four, width: Width::W32, pc: 4, slot: None };
        self.b.push(Stmt::Barrier { pc: 12 });
        self.b.store(vec![value], varies);
        self.b.push(Stmt::Barrier { pc: 16 });
        let size = self.c32(511);
        let theirs = self.value(Type::B32);
        let theirs = self.b.bin(BinOp::And, theirs, size);
        let three = self.c32(!3);
        let theirs = self.b.bin(BinOp::And, theirs, three);
        let loaded = self.b.load(1, Access { address: theirs, ..varies });
        self.keep(loaded[0]);
        self.b.push(Stmt::Barrier { pc: 20 });
    }
}
