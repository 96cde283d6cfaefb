//! Whether the waves of a launch may run at the same time.
//!
//! What each wave does must not depend on what others have done before it. That follows from the program only in part: atomics
//! must commute and give nothing back. For the rest the launch is tried, and afterwards the bytes that the threads stored are
//! held against each other and against what was loaded. A load is *its lane's own* if the same lane stores the same bytes
//! in the same block: then whoever else stored there shows up as two stores of the same byte.

use std::collections::HashMap;

use guestwave_translate::program::{
    Access, AtomicOp, Block, Expr, Program, Space, Stmt, Value, Var, WaveOp, Width,
};

/// What is known of the launches of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sharing {
    /// Whether waves may run at the same time, if the bytes that they reach are apart.
    pub(crate) splits: bool,
    /// Whether all that is stored are atomics of one kind, which may meet.
    pub(crate) meets: bool,
    /// Address and `valid` of the loads that are their lane's own.
    pub(crate) own: Vec<(Value, Value)>,
}

/// What is known of a program's launches.
pub(crate) fn sharing(program: &Program) -> Sharing {
    let mut stores = Stores::default();
    stores.block(&program.body);
    let mut used = vec![false; program.values.len()];
    mark_used(&program.body, &mut used);
    let silent =
        stores.atomics.iter().all(|(op, _, dst)| commutes(*op) && dst.is_none_or(|v| !used[v.0 as usize]));
    let first = stores.atomics.first().map(|(op, width, _)| (*op, *width));
    let alike = stores.atomics.iter().all(|(op, width, _)| Some((*op, *width)) == first);
    let mut numbers = Numbers::new(program);
    numbers.block(&program.body);
    let mut own = Vec::new();
    own_loads(&program.body, &numbers.of, &mut own);
    Sharing { splits: silent, meets: first.is_some() && alike && stores.plain == 0, own }
}

/// Whether the order of these atomics does not show in the end.
fn commutes(op: AtomicOp) -> bool {
    use AtomicOp as A;
    matches!(op, A::Add | A::Sub | A::MinS | A::MinU | A::MaxS | A::MaxU | A::And | A::Or | A::Xor)
}

/// Stores to guest memory.
#[derive(Default)]
struct Stores {
    plain: usize,
    atomics: Vec<(AtomicOp, Width, Option<Value>)>,
}

impl Stores {
    fn block(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::Store { access, .. } if access.space == Space::Global => self.plain += 1,
                Stmt::Atomic { dst, op, access, .. } if access.space == Space::Global => {
                    self.atomics.push((*op, access.width, *dst));
                }
                _ => stmt.blocks().into_iter().for_each(|b| self.block(b)),
            }
        }
    }
}

fn mark_used(block: &[Stmt], used: &mut [bool]) {
    for stmt in block {
        stmt.operands(|v| used[v.0 as usize] = true);
        stmt.blocks().into_iter().for_each(|b| mark_used(b, used));
    }
}

/// Equal numbers for values that are computed alike from equal ones.
struct Numbers {
    of: Vec<u32>,
    known: HashMap<Expr, u32>,
    /// For each variable, a number that changes wherever its value may.
    versions: Vec<u32>,
    next: u32,
}

impl Numbers {
    fn new(program: &Program) -> Self {
        let vars = program.vars.len() as u32;
        Numbers {
            of: vec![u32::MAX; program.values.len()],
            known: HashMap::new(),
            versions: (0..vars).collect(),
            next: vars,
        }
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn block(&mut self, block: &Block) {
        for stmt in block {
            match stmt {
                Stmt::Let(v, expr) => self.of[v.0 as usize] = self.number(*expr),
                Stmt::Set(var, _) => self.versions[var.0 as usize] = self.fresh(),
                Stmt::Load { dst, .. } => {
                    for v in dst {
                        self.of[v.0 as usize] = self.fresh();
                    }
                }
                Stmt::Atomic { dst: Some(v), .. } => self.of[v.0 as usize] = self.fresh(),
                Stmt::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                Stmt::Loop { body } => self.around(body),
                _ => {}
            }
        }
    }

    /// A loop: what a variable holds in it may come from its end.
    fn around(&mut self, body: &Block) {
        self.forget();
        self.block(body);
        self.forget();
    }

    fn forget(&mut self) {
        for var in 0..self.versions.len() {
            self.versions[var] = self.fresh();
        }
    }

    fn number(&mut self, expr: Expr) -> u32 {
        let n = |v: Value| Value(self.of[v.0 as usize]);
        let key = match expr {
            Expr::Un(op, a) => Expr::Un(op, n(a)),
            Expr::Bin(op, a, b) => Expr::Bin(op, n(a), n(b)),
            Expr::Tri(op, a, b, c) => Expr::Tri(op, n(a), n(b), n(c)),
            Expr::Get(var) => Expr::Get(Var(self.versions[var.0 as usize])),
            // Each is its own: what it gives depends on more than its operands.
            Expr::Wave(WaveOp::Ballot(_) | WaveOp::Any(_)) | Expr::Wave(_) => return self.fresh(),
            constant => constant,
        };
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let number = self.fresh();
        self.known.insert(key, number);
        number
    }
}

/// Notes the loads of a block whose bytes the same lane stores in the same block, with no way out between them.
fn own_loads(block: &[Stmt], numbers: &[u32], own: &mut Vec<(Value, Value)>) {
    let same = |a: &Access, b: &Access| {
        let number = |v: Value| numbers[v.0 as usize];
        (number(a.address), number(a.valid), a.width) == (number(b.address), number(b.valid), b.width)
    };
    let mut loads: Vec<(&Access, usize)> = Vec::new();
    for stmt in block {
        match stmt {
            Stmt::Load { dst, access } if access.space == Space::Global => loads.push((access, dst.len())),
            Stmt::Store { src, access } if access.space == Space::Global => {
                let found = loads.iter().filter(|(a, units)| *units <= src.len() && same(a, access));
                own.extend(found.map(|(a, _)| (a.address, a.valid)));
            }
            _ if stmt.leaves() => loads.clear(),
            _ => {}
        }
        stmt.blocks().into_iter().for_each(|b| own_loads(b, numbers, own));
    }
}

#[cfg(test)]
mod tests {
    use guestwave_translate::program::{BinOp, Builder, Builtin, UnOp};

    use super::*;

    /// `base + 4 * lane`, computed anew.
    fn address(b: &mut Builder, base: u64) -> Value {
        let (lane, four) = (b.builtin(Builtin::Lane), b.c32(4));
        let offset = b.bin(BinOp::Mul, lane, four);
        let (base, offset) = (b.c64(base), b.un(UnOp::Extend, offset));
        b.bin(BinOp::Add, base, offset)
    }

    fn access(b: &mut Builder, base: u64) -> Access {
        let (address, valid) = (address(b, base), b.c32(4));
        Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None }
    }

    /// Loads from one address and stores to another, with `between` between them.
    fn program(to: u64, between: impl FnOnce(&mut Builder)) -> (Program, Access) {
        let mut b = Builder::new("p", 32);
        let from = access(&mut b, 0x1000);
        let loaded = b.load(1, from)[0];
        between(&mut b);
        let to = access(&mut b, to);
        b.store(vec![loaded], to);
        (b.finish(), from)
    }

    #[test]
    fn a_load_is_its_lanes_own_where_the_lane_stores_the_same_bytes() {
        let (same, from) = program(0x1000, |_| {});
        assert_eq!(sharing(&same).own, [(from.address, from.valid)]);
        let (other, _) = program(0x1004, |_| {});
        assert_eq!(sharing(&other).own, []);
        let (left, _) = program(0x1000, |b| {
            let cond = b.cbool(true);
            b.push(Stmt::If { cond, then: vec![Stmt::Return], otherwise: vec![] });
        });
        assert_eq!(sharing(&left).own, []);
    }

    fn atomics(ops: &[AtomicOp], shown: bool) -> Sharing {
        let mut b = Builder::new("p", 32);
        for op in ops {
            let (access, one) = (access(&mut b, 0x1000), b.c32(1));
            let old = b.atomic(*op, one, None, access);
            if shown {
                b.store(vec![old], access);
            }
        }
        sharing(&b.finish())
    }

    #[test]
    fn atomics_may_meet_if_nobody_can_tell_their_order() {
        use AtomicOp as A;
        let of = |s: Sharing| (s.splits, s.meets);
        assert_eq!(of(atomics(&[A::Add, A::Add], false)), (true, true));
        assert_eq!(of(atomics(&[A::Add, A::Or], false)), (true, false));
        assert!(!of(atomics(&[A::Swap], false)).0);
        assert_eq!(of(atomics(&[A::Add], true)), (false, false));
    }
}
