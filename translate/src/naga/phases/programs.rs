//! Programs whose waves part at barriers and exchange words in LDS. Their waves have 32 lanes and store a word a lane.
//!
//! Whoever includes this file has the program form as `form`.

use super::form::{
    Access, AtomicOp, BinOp, Builder, Builtin, Program, Rate, Space, Stmt, Type, UnOp, Value, Var, WaveOp,
    Width,
};

/// Waves that programs are for, and how many make a workgroup: the last one lacks one.
pub(crate) const WAVES: u32 = 7;
pub(crate) const GROUP: u32 = 4;
/// Where they store, and how much.
pub(crate) const BASE: u64 = 0x1000;
pub(crate) const BYTES: usize = 128 * WAVES as usize;

/// A program and whether its waves go back without a barrier.
pub(crate) struct Parted {
    pub(crate) program: Program,
    pub(crate) goes_back: bool,
}

/// All programs.
pub(crate) fn all() -> Vec<Parted> {
    let forward = |program| Parted { program, goes_back: false };
    let back = Parted { program: iterations(false), goes_back: true };
    let among_lanes = [Maker::tell, Maker::in_order].map(|what| forward(parting(what)));
    let among_waves = [forward(branch()), forward(early_end()), forward(iterations(true)), back];
    among_waves.into_iter().chain(among_lanes).collect()
}

fn unit(space: Space, address: Value, valid: Value) -> Access {
    Access { space, address, valid, width: Width::W32, pc: 0x40, slot: None }
}

/// A program under construction: each wave has a number and a sum a lane, which it stores at the end.
struct Maker {
    b: Builder,
    wave: Value,
    sum: Var,
}

impl Maker {
    fn new() -> Self {
        let mut b = Builder::new("parted", 32);
        b.program_mut().lds_bytes = 4 * GROUP;
        let (wave, lane) = (b.builtin(Builtin::WaveInGroup), b.builtin(Builtin::Lane));
        let sum = b.var("sum", Type::B32, Rate::Varying);
        b.set(sum, lane);
        Maker { b, wave, sum }
    }

    fn when(&mut self, cond: Value, then: impl FnOnce(&mut Self)) {
        self.b.open();
        then(self);
        let then = self.b.close();
        self.b.push(Stmt::If { cond, then, otherwise: Vec::new() });
    }

    fn around(&mut self, body: impl FnOnce(&mut Self)) {
        self.b.open();
        body(self);
        let body = self.b.close();
        self.b.push(Stmt::Loop { body });
    }

    /// Whether the wave's number is below `n`.
    fn below(&mut self, n: u32) -> Value {
        let n = self.b.c32(n);
        self.b.bin(BinOp::LtU, self.wave, n)
    }

    fn place(&mut self, wave: Value) -> Value {
        let (four, last) = (self.b.c32(4), self.b.c32(GROUP - 1));
        let wave = self.b.bin(BinOp::And, wave, last);
        self.b.bin(BinOp::Mul, wave, four)
    }

    /// Tells the next wave its number and what was told it by the wave before, with a barrier between; adds all that is told
    /// to the sum. What stands before the barrier is used behind it.
    fn meet(&mut self) {
        let one = self.b.c32(1);
        let (here, before) = (self.place(self.wave), self.b.bin(BinOp::Sub, self.wave, one));
        let (there, four) = (self.place(before), self.b.c32(4));
        let old = self.b.load(1, unit(Space::Lds, here, four))[0];
        let sum = self.b.get(self.sum);
        let mine = self.b.bin(BinOp::Add, old, self.wave);
        let told = self.b.bin(BinOp::Add, mine, one);
        self.b.store(vec![told], unit(Space::Lds, here, four));
        self.b.push(Stmt::Barrier { pc: 4 });
        let seen = self.b.load(1, unit(Space::Lds, there, four))[0];
        let both = self.b.bin(BinOp::Add, seen, mine);
        let new = self.b.bin(BinOp::Add, sum, both);
        self.b.set(self.sum, new);
        self.b.push(Stmt::Barrier { pc: 8 });
    }

    fn add(&mut self, what: Value) {
        let sum = self.b.get(self.sum);
        let new = self.b.bin(BinOp::Add, sum, what);
        self.b.set(self.sum, new);
    }

    /// Lanes tell each other their sums in every way that there is.
    fn tell(&mut self) {
        let (lane, sum, five, zero) =
            (self.b.builtin(Builtin::Lane), self.b.get(self.sum), self.b.c32(5), self.b.c32(0));
        let other = self.b.bin(BinOp::Xor, lane, five);
        let picked = self.b.bin(BinOp::And, other, sum);
        let vote = self.b.bin(BinOp::Ne, picked, zero);
        let bits = self.b.wave(WaveOp::Ballot(vote));
        let low = self.b.un(UnOp::Low, bits);
        self.add(low);
        let any = self.b.wave(WaveOp::Any(vote));
        let any = self.b.un(UnOp::FromBool, any);
        self.add(any);
        let read = self.b.wave(WaveOp::ReadLane { value: sum, lane: self.wave });
        self.add(read);
        let far = self.b.bin(BinOp::Mul, other, five);
        for op in [
            WaveOp::Shuffle { value: sum, lane: other },
            WaveOp::Send { value: sum, lane: far, active: vote },
            // All lanes read one.
            WaveOp::Shuffle { value: sum, lane: five },
        ] {
            let told = self.b.wave(op);
            self.add(told);
        }
    }

    /// Lanes change one word of LDS in their order, and the wave changes it once.
    fn in_order(&mut self) {
        let (lane, sum, five, four) =
            (self.b.builtin(Builtin::Lane), self.b.get(self.sum), self.b.c32(5), self.b.c32(4));
        let here = self.place(self.wave);
        // No lane's number has a sixth bit.
        let none = self.b.bin(BinOp::ShrU, lane, five);
        let same = self.b.bin(BinOp::Add, here, none);
        let swapped = self.b.atomic(AtomicOp::Swap, sum, None, unit(Space::Lds, same, four));
        self.add(swapped);
        let more = self.b.get(self.sum);
        self.b.store(vec![more], unit(Space::Lds, same, four));
        let once = self.b.atomic(AtomicOp::Add, self.wave, None, unit(Space::Lds, here, four));
        self.add(once);
    }

    fn finish(mut self) -> Program {
        let sum = self.b.get(self.sum);
        let (lane, wave) = (self.b.builtin(Builtin::Lane), self.b.builtin(Builtin::Wave));
        let five = self.b.c32(5);
        let row = self.b.bin(BinOp::Shl, wave, five);
        let word = self.b.bin(BinOp::Add, row, lane);
        let (four, base) = (self.b.c32(4), self.b.c64(BASE));
        let offset = self.b.bin(BinOp::Mul, word, four);
        let offset = self.b.un(UnOp::Extend, offset);
        let address = self.b.bin(BinOp::Add, base, offset);
        self.b.store(vec![sum], unit(Space::Global, address, four));
        self.b.finish()
    }
}

/// The first wave of a workgroup meets nobody for ever.
pub(crate) fn endless() -> Program {
    let mut m = Maker::new();
    let lowest = m.below(1);
    m.when(lowest, |m| m.around(Maker::meet));
    m.meet();
    m.finish()
}

/// A barrier in a branch that some waves take, and one in that which one takes.
fn branch() -> Program {
    let mut m = Maker::new();
    let low = m.below(2);
    m.when(low, |m| {
        m.meet();
        let lowest = m.below(1);
        m.when(lowest, Maker::meet);
    });
    m.meet();
    m.finish()
}

/// Some waves do what others do not, and all of them after they met.
fn parting(what: fn(&mut Maker)) -> Program {
    let mut m = Maker::new();
    let low = m.below(2);
    m.when(low, what);
    m.meet();
    what(&mut m);
    m.finish()
}

/// A wave ends before a barrier.
fn early_end() -> Program {
    let mut m = Maker::new();
    m.meet();
    let low = m.below(1);
    m.when(low, |m| m.b.push(Stmt::Return));
    m.meet();
    m.finish()
}

/// Each wave makes its own number of iterations; `always`: each of them has a barrier, else every other one.
fn iterations(always: bool) -> Program {
    let mut m = Maker::new();
    let (count, one) = (m.b.var("count", Type::B32, Rate::Uniform), m.b.c32(1));
    m.around(|m| {
        let done = m.b.get(count);
        let enough = m.b.bin(BinOp::Eq, done, m.wave);
        m.when(enough, |m| m.b.push(Stmt::Break));
        let next = m.b.bin(BinOp::Add, done, one);
        m.b.set(count, next);
        let odd = m.b.bin(BinOp::And, done, one);
        let even = m.b.bin(BinOp::Ne, odd, one);
        if always {
            return m.meet();
        }
        m.when(even, |m| {
            m.meet();
            m.b.push(Stmt::Continue);
        });
        let (sum, five) = (m.b.get(m.sum), m.b.c32(5));
        let more = m.b.bin(BinOp::Mul, sum, five);
        m.b.set(m.sum, more);
    });
    m.meet();
    m.finish()
}
