//! Numbers that a launch can work out: where values come from, and assumptions about them.

use super::Emit;
use crate::gfx10::translation::Assumption;
use crate::program::{Access, BinOp, Expr, Space, Trace, Type, UnOp, Value};

/// How deep a number is followed.
const DEPTH: u32 = 24;

impl Emit<'_> {
    /// How a launch can work `value` out, if it can.
    pub(in crate::gfx10) fn trace(&self, value: Value) -> Option<Trace> {
        self.trace_to(value, DEPTH)
    }

    fn trace_to(&self, value: Value, depth: u32) -> Option<Trace> {
        let depth = depth.checked_sub(1)?;
        if let Some((address, at)) = self.loaded.get(&value) {
            let address = self.trace_to(*address, depth)?;
            let offset = Trace::Const(u64::from(*at) * 4);
            return Some(Trace::Dword(Box::new(Trace::Add(Box::new(address), Box::new(offset)))));
        }
        match self.b.definition(value)? {
            Expr::Const32(c) => Some(Trace::Const(u64::from(c))),
            Expr::Const64(c) => Some(Trace::Const(c)),
            Expr::Param(p) => Some(Trace::Param(p)),
            Expr::Un(op, a) => self.trace_un(op, a, depth),
            Expr::Bin(op, a, b) => self.trace_bin(op, a, b, depth),
            _ => None,
        }
    }

    fn trace_un(&self, op: UnOp, a: Value, depth: u32) -> Option<Trace> {
        let inner = Box::new(self.trace_to(a, depth)?);
        match op {
            UnOp::Extend => Some(*inner),
            UnOp::Low => Some(Trace::And(inner, Box::new(Trace::Const(0xffff_ffff)))),
            UnOp::High => Some(Trace::Shr(inner, 32)),
            _ => None,
        }
    }

    fn trace_bin(&self, op: BinOp, a: Value, b: Value, depth: u32) -> Option<Trace> {
        let (x, y) = (Box::new(self.trace_to(a, depth)?), Box::new(self.trace_to(b, depth)?));
        let amount = |y: &Trace| match y {
            Trace::Const(c) => Some((*c & 63) as u8),
            _ => None,
        };
        let result = match op {
            BinOp::Add => Trace::Add(x, y),
            BinOp::Mul => Trace::Mul(x, y),
            BinOp::And => Trace::And(x, y),
            BinOp::Or => Trace::Or(x, y),
            BinOp::Pack => Trace::Pack(x, y),
            BinOp::Shl => Trace::Shl(x, amount(&y)?),
            BinOp::ShrU => Trace::Shr(x, amount(&y)?),
            _ => return None,
        };
        let narrow = self.b.info(a).ty == Type::B32 && op != BinOp::Pack;
        Some(if narrow { Trace::And(Box::new(result), Box::new(Trace::Const(0xffff_ffff))) } else { result })
    }

    /// Loads `count` dwords and remembers where they came from.
    pub(in crate::gfx10) fn load_traced(&mut self, access: Access, count: usize) -> Vec<Value> {
        let values = self.b.load(count, access);
        if access.space == Space::Global {
            for (i, v) in (0u32..).zip(&values) {
                self.loaded.insert(*v, (access.address, i));
            }
        }
        values
    }

    /// The bits of `word` under `mask` as a constant, if the launch at hand can say what they are. The program then holds for
    /// launches that say the same, and ends without effect if the word is another after all.
    pub(in crate::gfx10) fn assume(&mut self, word: Value, mask: u32, pc: u32) -> Value {
        if self.b.constant(word).is_some() {
            return word;
        }
        let Some(trace) = self.trace(word) else { return word };
        let Some(number) = (self.input.known)(&trace, &self.b.program().params) else { return word };
        let expected = number as u32 & mask;
        let assumption = Assumption { trace, mask, value: expected };
        if !self.assumptions.contains(&assumption) {
            self.assumptions.push(assumption);
        }
        let bits = self.with_constant(BinOp::And, word, u64::from(mask));
        let expected = self.b.c32(expected);
        let differs = self.b.bin(BinOp::Ne, bits, expected);
        if self.guarded.insert((differs, self.block)) {
            self.trap_if(differs, "TR-SPEC-001", pc);
        }
        expected
    }
}
