//! Loads of a wave whose addresses follow from the parameter block: the host makes them once a launch and puts the words
//! into the launch block, where every lane has them at no cost.
//!
//! The host reads before the launch. A launch that stores to what was read for it is run again without.

use std::collections::{HashMap, HashSet};

use crate::program::{
    Access, BinOp, Block, Expr, Program, Rate, Space, Stmt, TriOp, UnOp, Value, Width, constant_bin,
};

/// Most words that are put into a launch block.
const MOST_WORDS: u32 = 512;

/// What the host does to have the words.
#[derive(Clone, Debug)]
enum Step {
    /// Works a value out.
    Let(Value, Expr),
    /// Reads words at an address, as far as `valid` covers them; the others are 0.
    Load { dst: Vec<Value>, address: Value, valid: Value },
}

/// The loads that a host makes for the launches of a program.
#[derive(Clone, Debug, Default)]
pub struct Hoists {
    steps: Vec<Step>,
    types: HashMap<Value, crate::program::Type>,
    /// Where the loaded words stand among those in the launch block.
    places: HashMap<Value, u32>,
    words: u32,
}

impl Hoists {
    /// Finds the loads of a program.
    pub fn new(program: &Program) -> Self {
        let mut finder = Finder { program, known: HashSet::new(), hoists: Hoists::default() };
        finder.block(&program.body);
        finder.hoists.without_what_no_load_needs(program)
    }

    /// Words that a launch block has of them.
    pub fn words(&self) -> u32 {
        self.words
    }

    /// The place of a loaded value among the words.
    pub(super) fn place(&self, value: Value) -> Option<u32> {
        self.places.get(&value).copied()
    }

    fn without_what_no_load_needs(mut self, program: &Program) -> Self {
        let mut needed = HashSet::new();
        let mut steps = Vec::new();
        for step in self.steps.drain(..).rev() {
            match &step {
                Step::Let(value, expr) if needed.contains(value) => expr.operands(|v| {
                    needed.insert(v);
                }),
                Step::Let(..) => continue,
                Step::Load { address, valid, .. } => needed.extend([*address, *valid]),
            }
            steps.push(step);
        }
        steps.reverse();
        self.types = needed.iter().map(|v| (*v, program.info(*v).ty)).collect();
        self.steps = steps;
        self
    }

    /// The words for a launch with these parameters; `read` gives the dword at an address. `None` if something cannot be read.
    pub fn read(&self, params: &[u32], mut read: impl FnMut(u64) -> Option<u32>) -> Option<Vec<u32>> {
        let mut numbers: HashMap<Value, u64> = HashMap::new();
        let mut words = Vec::with_capacity(self.words as usize);
        for step in &self.steps {
            match step {
                Step::Let(value, expr) => {
                    let number = self.number(expr, params, &numbers)?;
                    numbers.insert(*value, number);
                }
                Step::Load { dst, address, valid } => {
                    let (address, valid) = (*numbers.get(address)?, *numbers.get(valid)?);
                    for (offset, value) in (0..).step_by(4).zip(dst) {
                        let exists = offset < valid;
                        let word = if exists { read(address.wrapping_add(offset))? } else { 0 };
                        words.push(word);
                        numbers.insert(*value, word.into());
                    }
                }
            }
        }
        Some(words)
    }

    fn number(&self, expr: &Expr, params: &[u32], numbers: &HashMap<Value, u64>) -> Option<u64> {
        let of = |v: Value| numbers.get(&v).copied();
        match *expr {
            Expr::ConstBool(b) => Some(b.into()),
            Expr::Const32(c) => Some(c.into()),
            Expr::Const64(c) => Some(c),
            Expr::Param(index) => params.get(usize::from(index)).map(|p| (*p).into()),
            Expr::Un(UnOp::Low, a) => of(a).map(|x| x & u64::from(u32::MAX)),
            Expr::Un(UnOp::High, a) => of(a).map(|x| x >> 32),
            Expr::Un(UnOp::Extend | UnOp::FromBool, a) => of(a),
            Expr::Un(UnOp::ExtendS, a) => of(a).map(|x| i64::from(x as u32 as i32) as u64),
            Expr::Bin(op, a, b) => {
                let (x, y) = (of(a)?, of(b)?);
                constant_bin(op, *self.types.get(&a)?, x, y).map(|(bits, _)| bits)
            }
            Expr::Tri(TriOp::Select, c, a, b) => {
                if of(c)? != 0 {
                    of(a)
                } else {
                    of(b)
                }
            }
            _ => None,
        }
    }
}

struct Finder<'p> {
    program: &'p Program,
    /// Values that the host can work out.
    known: HashSet<Value>,
    hoists: Hoists,
}

impl Finder<'_> {
    fn block(&mut self, block: &Block) {
        for stmt in block {
            match stmt {
                Stmt::Let(value, expr) if self.can(expr) => {
                    self.known.insert(*value);
                    self.hoists.steps.push(Step::Let(*value, *expr));
                }
                Stmt::Load { dst, access } if self.can_load(dst.len(), access) => self.load(dst, access),
                Stmt::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                Stmt::Loop { body } => self.block(body),
                _ => {}
            }
        }
    }

    fn can(&self, expr: &Expr) -> bool {
        let host_knows = match expr {
            Expr::ConstBool(_) | Expr::Const32(_) | Expr::Const64(_) | Expr::Param(_) => true,
            Expr::Un(op, _) => {
                matches!(op, UnOp::Low | UnOp::High | UnOp::Extend | UnOp::ExtendS | UnOp::FromBool)
            }
            Expr::Bin(op, ..) => !is_float(*op),
            Expr::Tri(op, ..) => *op == TriOp::Select,
            Expr::Get(_) | Expr::Builtin(_) | Expr::Wave(_) => false,
        };
        let mut all = host_knows;
        expr.operands(|v| all &= self.known.contains(&v));
        all
    }

    fn can_load(&self, units: usize, access: &Access) -> bool {
        access.space == Space::Global
            && access.width == Width::W32
            && self.program.access_rate(access) == Rate::Uniform
            && [access.address, access.valid].iter().all(|v| self.known.contains(v))
            && self.hoists.words + units as u32 <= MOST_WORDS
    }

    fn load(&mut self, dst: &[Value], access: &Access) {
        for value in dst {
            self.known.insert(*value);
            self.hoists.places.insert(*value, self.hoists.words);
            self.hoists.words += 1;
        }
        let (address, valid) = (access.address, access.valid);
        self.hoists.steps.push(Step::Load { dst: dst.to_vec(), address, valid });
    }
}

fn is_float(op: BinOp) -> bool {
    use BinOp as B;
    matches!(
        op,
        B::AddF32
            | B::SubF32
            | B::MulF32
            | B::DivF32
            | B::EqF32
            | B::LtF32
            | B::LeF32
            | B::AddF64
            | B::SubF64
            | B::MulF64
            | B::DivF64
            | B::EqF64
            | B::LtF64
            | B::LeF64
            | B::MulHighU
            | B::MulHighS
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Builder, ParamSource};

    /// Loads a pointer at the address in two parameters, then two words where it points to, of which one exists.
    fn chained() -> Program {
        let mut b = Builder::new("chained", 32);
        let pair = [0, 1].map(|i| b.param(ParamSource::Sgpr(i)));
        let address = b.bin(BinOp::Pack, pair[0], pair[1]);
        let (eight, four) = (b.c32(8), b.c32(4));
        let access = |address, valid| Access {
            space: Space::Global,
            address,
            valid,
            width: Width::W32,
            pc: 0,
            slot: None,
        };
        let pointer = b.load(2, access(address, eight));
        let there = b.bin(BinOp::Pack, pointer[0], pointer[1]);
        b.load(2, access(there, four));
        b.finish()
    }

    #[test]
    fn loads_that_follow_from_parameters_are_made_by_the_host() {
        let hoists = Hoists::new(&chained());
        assert_eq!(hoists.words(), 4);
        let memory = HashMap::from([(0x1_0000_2000, 0x3000), (0x1_0000_2004, 2), (0x2_0000_3000, 77)]);
        let words = hoists.read(&[0x2000, 1], |at| memory.get(&at).copied());
        assert_eq!(words, Some(vec![0x3000, 2, 77, 0]));
    }

    #[test]
    fn what_cannot_be_read_gives_nothing() {
        assert_eq!(Hoists::new(&chained()).read(&[0x2000, 1], |_| None), None);
    }
}
