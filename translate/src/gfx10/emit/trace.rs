//! Numbers that a launch can work out: where values come from, and assumptions about them.

use super::Emit;
use crate::gfx10::translation::Assumption;
use crate::program::{Access, BinOp, Expr, ParamSource, Slot, Space, Trace, TriOp, Type, UnOp, Value};

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

    /// The slot of a pointer that `address` is made of, as far as that can be guessed: an access need not lie in its slot.
    pub(in crate::gfx10) fn pointer_slot(&mut self, address: Value, written: bool) -> Option<u16> {
        let (low, high) = self.pointer(address, DEPTH)?;
        let base = Trace::Pack(Box::new(low), Box::new(high));
        Some(self.b.slot(Slot { base, size: None, written }))
    }

    /// Both halves of a pointer among the summands of a `B64`.
    fn pointer(&self, value: Value, depth: u32) -> Option<(Trace, Trace)> {
        let depth = depth.checked_sub(1)?;
        match self.b.definition(value)? {
            Expr::Bin(BinOp::Pack, low, high) => {
                Some((self.pointer_half(low, depth)?, self.pointer_half(high, depth)?))
            }
            Expr::Bin(BinOp::Add, a, b) => self.pointer(a, depth).or_else(|| self.pointer(b, depth)),
            Expr::Tri(TriOp::Select, _, a, _) => self.pointer(a, depth),
            _ => None,
        }
    }

    /// The half of a pointer among the summands of a `B32`: what was loaded, or what the dispatch came with.
    fn pointer_half(&self, value: Value, depth: u32) -> Option<Trace> {
        let depth = depth.checked_sub(1)?;
        if self.loaded.contains_key(&value) {
            return self.trace(value);
        }
        let of = |v| self.pointer_half(v, depth);
        match self.b.definition(value)? {
            Expr::Param(p) => {
                let source = self.b.program().params.get(usize::from(p));
                matches!(source, Some(ParamSource::Sgpr(_))).then_some(Trace::Param(p))
            }
            Expr::Get(var) => of(self.b.last_set(var)?),
            Expr::Bin(BinOp::Add, a, b) => of(a).or_else(|| of(b)),
            Expr::Tri(TriOp::Select, _, a, _) => of(a),
            Expr::Un(UnOp::Low, a) => self.pointer(a, depth).map(|(low, _)| low),
            Expr::Un(UnOp::High, a) => self.pointer(a, depth).map(|(_, high)| high),
            _ => None,
        }
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
