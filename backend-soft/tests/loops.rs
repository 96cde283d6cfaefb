//! Loops that a wave goes round as one: lanes may run them one after the other, and nobody can tell.

#[cfg(test)]
mod support;

use guestwave_translate::backend::Launch;
use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, Program, Rate, Space, Stmt, Type, UnOp, Value, Var, WaveOp, Width,
};
use proptest::prelude::*;
use support::{Arena, agree, launch};

const INPUT: u64 = 0x10_0000_0000;
const OUTPUT: u64 = 0x20_0000;
const LANES: u32 = 32;

/// What a loop does besides adding up what it loads.
#[derive(Clone, Copy, Debug)]
struct Menu {
    /// Iterations.
    rounds: u32,
    /// Dwords from lane to lane, and from iteration to iteration.
    steps: [u32; 2],
    /// Every third iteration ends early.
    skips: bool,
    /// Lanes below this number do more.
    some: u32,
    /// A loop inside it, of so many iterations.
    inner: u32,
    /// An operation after which lanes do not go one after the other.
    meets: Option<Meeting>,
    /// Behind it, lanes below this number go round once in a loop that they leave together.
    branch: u32,
}

#[derive(Clone, Copy, Debug)]
enum Meeting {
    Store,
    Vote,
    Trap,
}

struct Maker {
    b: Builder,
    sum: Var,
    last: Var,
}

impl Maker {
    fn access(&mut self, base: u64, dword: Value, space: Space) -> Access {
        let offset = self.b.shift(BinOp::Shl, dword, 2);
        let address = match space {
            Space::Global => {
                let (base, offset) = (self.b.c64(base), self.b.un(UnOp::Extend, offset));
                self.b.bin(BinOp::Add, base, offset)
            }
            _ => self.b.with_constant(BinOp::And, offset, 0xfc),
        };
        let valid = self.b.c32(4);
        Access { space, address, valid, width: Width::W32, pc: 0, slot: None }
    }

    /// Adds to the sum, as floats with one NaN.
    fn add(&mut self, value: Value) {
        let old = self.b.get(self.sum);
        let new = self.b.bin(BinOp::AddF32, old, value);
        let (infinity, magnitude) = (self.b.c32(0x7f80_0000), self.b.c32(0x7fff_ffff));
        let size = self.b.bin(BinOp::And, new, magnitude);
        let is_nan = self.b.bin(BinOp::LtU, infinity, size);
        let quiet = self.b.with_constant(BinOp::Or, old, 0x7fc0_0000);
        let new = self.b.select(is_nan, quiet, new);
        self.b.set(self.sum, new);
    }

    fn leave_if(&mut self, cond: Value, how: Stmt) {
        self.b.push(Stmt::If { cond, then: vec![how], otherwise: vec![] });
    }

    /// A loop that counts in a uniform variable; `body` gets the count.
    fn count(&mut self, name: &str, rounds: u32, body: impl FnOnce(&mut Self, Value)) {
        let counter = self.b.var(name, Type::B32, Rate::Uniform);
        let zero = self.b.c32(0);
        self.b.set(counter, zero);
        self.b.open();
        let now = self.b.get(counter);
        let next = self.b.with_constant(BinOp::Add, now, 1);
        self.b.set(counter, next);
        let rounds = self.b.c32(rounds);
        let ends = self.b.bin(BinOp::LtU, rounds, next);
        self.leave_if(ends, Stmt::Break);
        body(self, now);
        let body = self.b.close();
        self.b.push(Stmt::Loop { body });
    }

    /// A branch of some lanes with a loop that the wave's number leaves early.
    fn once(&mut self, menu: Menu) {
        let (lane, wave) = (self.b.builtin(Builtin::Lane), self.b.builtin(Builtin::Wave));
        let taken = self.b.with_constant(BinOp::LtU, lane, u64::from(menu.branch));
        self.b.open();
        self.b.open();
        let early = self.b.with_constant(BinOp::Eq, wave, 1);
        self.leave_if(early, Stmt::Break);
        self.body(wave, Menu { meets: None, skips: false, ..menu });
        self.b.push(Stmt::Break);
        let body = self.b.close();
        self.b.push(Stmt::Loop { body });
        let then = self.b.close();
        self.b.push(Stmt::If { cond: taken, then, otherwise: vec![] });
    }

    fn body(&mut self, now: Value, menu: Menu) {
        let [lane_step, step] = menu.steps;
        let lane = self.b.builtin(Builtin::Lane);
        let mine = self.b.with_constant(BinOp::Mul, lane, u64::from(lane_step));
        let first = self.b.with_constant(BinOp::Mul, now, u64::from(step));
        if menu.skips {
            let three = self.b.c32(3);
            let part = self.b.bin(BinOp::RemU, now, three);
            let skipped = self.b.with_constant(BinOp::Eq, part, 1);
            self.leave_if(skipped, Stmt::Continue);
        }
        let dword = self.b.bin(BinOp::Add, mine, first);
        let own = self.access(INPUT, dword, Space::Global);
        let own = self.b.load(1, own)[0];
        self.add(own);
        let common = self.access(INPUT, first, Space::Global);
        let common = self.b.load(1, common)[0];
        self.add(common);
        let local = self.access(0, dword, Space::Lds);
        let local = self.b.load(1, local)[0];
        self.add(local);
        let below = self.b.with_constant(BinOp::LtU, lane, u64::from(menu.some));
        self.b.open();
        let float = self.b.un(UnOp::F32FromU32, dword);
        self.add(float);
        self.b.set(self.last, own);
        let then = self.b.close();
        self.b.push(Stmt::If { cond: below, then, otherwise: vec![] });
        match menu.meets {
            Some(Meeting::Store) => {
                let next = self.b.with_constant(BinOp::Add, lane, 1);
                let other = self.access(INPUT, next, Space::Global);
                self.b.store(vec![own], other);
            }
            Some(Meeting::Vote) => {
                let odd = self.b.with_constant(BinOp::And, own, 1);
                let zero = self.b.c32(0);
                let odd = self.b.bin(BinOp::Ne, odd, zero);
                let votes = self.b.wave(WaveOp::Ballot(odd));
                let votes = self.b.un(UnOp::Low, votes);
                self.add(votes);
            }
            Some(Meeting::Trap) => {
                let many = self.b.with_constant(BinOp::Eq, now, 7);
                self.b.trap_if(many, "TEST", 8);
            }
            None => {}
        }
    }
}

fn program(menu: Menu) -> Program {
    let mut b = Builder::new("loops", LANES as u8);
    b.program_mut().lds_bytes = 256;
    let var = |b: &mut Builder, name: &str| b.var(name, Type::B32, Rate::Varying);
    let (sum, last) = (var(&mut b, "sum"), var(&mut b, "last"));
    let mut m = Maker { b, sum, last };
    let lane = m.b.builtin(Builtin::Lane);
    let local = m.access(0, lane, Space::Lds);
    let odd = m.b.with_constant(BinOp::Mul, lane, 0x9e37_79b9);
    m.b.store(vec![odd], local);
    m.count("i", menu.rounds, |m, now| {
        m.body(now, menu);
        if menu.inner > 0 {
            m.count("j", menu.inner, |m, inner| {
                let both = m.b.bin(BinOp::Add, now, inner);
                m.body(both, Menu { meets: None, ..menu });
            });
        }
    });
    m.once(menu);
    let results = [sum, last].map(|var| m.b.get(var));
    let first = m.b.shift(BinOp::Shl, lane, 1);
    let access = m.access(OUTPUT, first, Space::Global);
    let eight = m.b.c32(8);
    m.b.store(results.into(), Access { valid: eight, ..access });
    m.b.finish()
}

/// A launch in which a wave may go round so often.
fn rounds(budget: u64) -> Launch {
    Launch { budget, ..launch(3, 1) }
}

fn memory(dwords: u32) -> Arena {
    let words =
        (0..dwords).map(|i| if i % 11 == 5 { i.wrapping_mul(0x2c9d_54f1) } else { (i as f32).to_bits() });
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    Arena::new().with(INPUT, &bytes).with(OUTPUT, &[0; 8 * LANES as usize])
}

fn menus() -> impl Strategy<Value = Menu> {
    let meets = prop_oneof![
        6 => Just(None),
        1 => Just(Some(Meeting::Store)),
        1 => Just(Some(Meeting::Vote)),
        1 => Just(Some(Meeting::Trap)),
    ];
    let numbers = (0u32..12, 0u32..3, 0u32..3, 0..LANES + 2, 0u32..4, 0..LANES + 2);
    (numbers, any::<bool>(), meets).prop_map(|((rounds, lane, step, some, inner, branch), skips, meets)| {
        Menu { rounds, steps: [lane, step], skips, some, inner, meets, branch }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lanes_go_round_as_the_wave_does(menu in menus()) {
        let _ = agree(&program(menu), &rounds(1 << 20), &memory(256));
    }

    /// The budget ends at the same iteration.
    #[test]
    fn a_lane_uses_up_what_the_wave_would(menu in menus(), budget in 0u64..80) {
        let _ = agree(&program(menu), &rounds(budget), &memory(256));
    }

    /// What is loaded ends somewhere.
    #[test]
    fn a_loop_that_faults_has_no_effect(menu in menus(), dwords in 1u32..120) {
        let _ = agree(&program(menu), &rounds(1 << 20), &memory(dwords));
    }
}
