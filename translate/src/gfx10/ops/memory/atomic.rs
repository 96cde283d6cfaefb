//! Read-modify-write of all memories.
//!
//! What the form has no operation for is made of compare-and-swap, one lane after the other, so that every backend gives
//! the order of the lanes.

use guestwave_isa::gfx10::{Inst, Op, Operand};

use super::Run;
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::exact::{VectorKind, vector_row};
use crate::program::{AtomicOp, BinOp, Builtin, Rate, Stmt, Type, UnOp, Value, Var, WaveOp, Width};

/// What an operation is made of: the old value, the data, and the second data operand.
#[derive(Clone, Copy)]
pub(in crate::gfx10) struct Operands {
    old: Value,
    data: Value,
    other: Value,
}

/// How a unit is changed.
#[derive(Clone, Copy)]
pub(in crate::gfx10) enum Modify {
    /// By an operation of the form.
    Native(AtomicOp),
    /// By what a sequence makes of the operands, of which it has one or two.
    Sequence(fn(&mut Emit<'_>, Operands) -> Value, u32),
}

impl Modify {
    /// Data operands.
    fn operands(self) -> u32 {
        match self {
            Modify::Native(AtomicOp::CompareSwap) => 2,
            Modify::Native(_) => 1,
            Modify::Sequence(_, operands) => operands,
        }
    }
}

/// One atomic operation as the mnemonics name it.
pub(in crate::gfx10) struct AtomicRow {
    /// The mnemonic between `atomic_` and `_x2`.
    pub(super) name: &'static str,
    pub(super) modify: Modify,
}

impl AtomicRow {
    /// Data operands.
    pub(super) fn operands(&self) -> u32 {
        self.modify.operands()
    }
}

const fn row(name: &'static str, modify: Modify) -> AtomicRow {
    AtomicRow { name, modify }
}

pub(super) const SWAP: Modify = Modify::Native(AtomicOp::Swap);
pub(super) const CMPSWAP: Modify = Modify::Native(AtomicOp::CompareSwap);
pub(super) const ADD: Modify = Modify::Native(AtomicOp::Add);
pub(super) const SUB: Modify = Modify::Native(AtomicOp::Sub);
pub(super) const SMIN: Modify = Modify::Native(AtomicOp::MinS);
pub(super) const UMIN: Modify = Modify::Native(AtomicOp::MinU);
pub(super) const SMAX: Modify = Modify::Native(AtomicOp::MaxS);
pub(super) const UMAX: Modify = Modify::Native(AtomicOp::MaxU);
pub(super) const AND: Modify = Modify::Native(AtomicOp::And);
pub(super) const OR: Modify = Modify::Native(AtomicOp::Or);
pub(super) const XOR: Modify = Modify::Native(AtomicOp::Xor);
pub(super) const INC: Modify = Modify::Native(AtomicOp::IncWrap);
pub(super) const DEC: Modify = Modify::Native(AtomicOp::DecWrap);
pub(super) const RSUB: Modify = Modify::Sequence(|e, o| e.b.bin(BinOp::Sub, o.data, o.old), 1);
pub(super) const MSKOR: Modify = Modify::Sequence(masked_or, 2);
pub(super) const WRAP: Modify = Modify::Sequence(wrap, 2);
pub(super) const FMIN: Modify = Modify::Sequence(|e, o| float_choose(e, o, o.data, o.old), 1);
pub(super) const FMAX: Modify = Modify::Sequence(|e, o| float_choose(e, o, o.old, o.data), 1);
pub(super) const FCMPSWAP: Modify = Modify::Sequence(float_compare, 2);
pub(super) const FADD: Modify = Modify::Sequence(float_add, 1);

pub(super) const ATOMICS: &[AtomicRow] = &[
    row("swap", SWAP),
    row("cmpswap", CMPSWAP),
    row("add", ADD),
    row("sub", SUB),
    row("csub", Modify::Native(AtomicOp::SubClamp)),
    row("smin", SMIN),
    row("umin", UMIN),
    row("smax", SMAX),
    row("umax", UMAX),
    row("and", AND),
    row("or", OR),
    row("xor", XOR),
    row("inc", INC),
    row("dec", DEC),
    row("fcmpswap", FCMPSWAP),
    row("fmin", FMIN),
    row("fmax", FMAX),
];

/// `old & !data | other`.
fn masked_or(e: &mut Emit<'_>, o: Operands) -> Value {
    let keep = e.b.un(UnOp::Not, o.data);
    let kept = e.b.bin(BinOp::And, o.old, keep);
    e.b.bin(BinOp::Or, kept, o.other)
}

/// `old >= data ? old - data : old + other`.
fn wrap(e: &mut Emit<'_>, o: Operands) -> Value {
    let below = e.b.bin(BinOp::LtU, o.old, o.data);
    let (less, more) = (e.b.bin(BinOp::Sub, o.old, o.data), e.b.bin(BinOp::Add, o.old, o.other));
    e.b.select(below, more, less)
}

/// The data where `a < b` as floats; zeros of both signs are equal, and a NaN is below nothing.
fn float_choose(e: &mut Emit<'_>, o: Operands, a: Value, b: Value) -> Value {
    let op = if e.is_wide(a) { BinOp::LtF64 } else { BinOp::LtF32 };
    let wins = e.b.bin(op, a, b);
    e.b.select(wins, o.data, o.old)
}

fn float_compare(e: &mut Emit<'_>, o: Operands) -> Value {
    let op = if e.is_wide(o.old) { BinOp::EqF64 } else { BinOp::EqF32 };
    let equal = e.b.bin(op, o.old, o.other);
    e.b.select(equal, o.data, o.old)
}

/// A sum as `v_add_f32` makes it in the program's MODE.
fn float_add(e: &mut Emit<'_>, o: Operands) -> Value {
    let zero = e.b.c32(0);
    match vector_row(Op::V_ADD_F32).map(|row| (row.kind, row.output)) {
        Some((VectorKind::Value(f), output)) => {
            let mut exact = e.exact();
            let sum = f(&mut exact, [o.old, o.data, zero]);
            exact.finish(output, sum, 0, false)
        }
        _ => e.b.bin(BinOp::AddF32, o.old, o.data),
    }
}

impl Emit<'_> {
    /// A pair of registers as a `B64`, or one as a `B32`.
    pub(super) fn operand_value(&mut self, registers: &[u8]) -> Value {
        let low = self.vgpr(registers[0]);
        match registers.get(1) {
            Some(high) => {
                let high = self.vgpr(*high);
                self.b.bin(BinOp::Pack, low, high)
            }
            None => low,
        }
    }

    /// An atomic by lanes that each reach one of the runs, or none, with its data in `data` and the old value to the
    /// destination if there is one.
    pub(super) fn atomic_access(
        &mut self,
        inst: &Inst,
        runs: &[Run],
        (row, wide): (&AtomicRow, bool),
        data: Operand,
    ) -> Result<(), Stop> {
        let step = if wide { 2 } else { 1 };
        let two = row.operands() == 2;
        let registers = self.registers(inst, data, if two { 2 * step } else { step })?;
        let (first, second) = registers.split_at(usize::from(step));
        let value = self.operand_value(first);
        let other = two.then(|| self.operand_value(second));
        let mut old = self.modify(inst, runs[0], row.modify, (value, other))?;
        for run in &runs[1..] {
            let more = self.modify(inst, *run, row.modify, (value, other))?;
            old = self.b.bin(BinOp::Or, old, more);
        }
        self.put_old(inst, old, wide)
    }

    /// Changes the unit at `run` in each lane that reaches it, one lane after the other, and gives the old values.
    pub(super) fn modify(
        &mut self,
        inst: &Inst,
        run: Run,
        modify: Modify,
        (data, other): (Value, Option<Value>),
    ) -> Result<Value, Stop> {
        let width = if self.is_wide(data) { Width::W64 } else { Width::W32 };
        self.trap_misaligned(inst, run, width);
        let run = self.by_lane(run);
        match modify {
            Modify::Native(op) => Ok(self.b.atomic(op, data, other, run.access(width, inst.offset))),
            Modify::Sequence(f, _) => {
                let other = other.unwrap_or(data);
                self.lane_by_lane(inst, run, width, |e, old| f(e, Operands { old, data, other }))
            }
        }
    }

    /// Changes the unit at `run` once for the wave and gives the old value.
    pub(super) fn modify_once(
        &mut self,
        inst: &Inst,
        run: Run,
        modify: Modify,
        (data, other): (Value, Option<Value>),
    ) -> Value {
        let width = if self.is_wide(data) { Width::W64 } else { Width::W32 };
        self.trap_misaligned(inst, run, width);
        match modify {
            Modify::Native(op) => self.b.atomic(op, data, other, run.access(width, inst.offset)),
            Modify::Sequence(f, _) => {
                let other = other.unwrap_or(data);
                let old = self.old_value(width, Rate::Uniform);
                self.b.open();
                self.attempt(inst, run, width, &|e, old| f(e, Operands { old, data, other }), old);
                let body = self.b.close();
                self.b.push(Stmt::Loop { body });
                self.b.get(old)
            }
        }
    }

    fn lane_by_lane(
        &mut self,
        inst: &Inst,
        run: Run,
        width: Width,
        new: impl Fn(&mut Self, Value) -> Value,
    ) -> Result<Value, Stop> {
        let old = self.old_value(width, Rate::Varying);
        self.each_lane(run.valid, |e| {
            e.b.open();
            e.attempt(inst, run, width, &new, old);
            let body = e.b.close();
            e.b.push(Stmt::Loop { body });
        })?;
        Ok(self.b.get(old))
    }

    /// A variable for what a unit held, 0 for now.
    fn old_value(&mut self, width: Width, rate: Rate) -> Var {
        let (ty, zero) = match width {
            Width::W64 => (Type::B64, self.b.c64(0)),
            _ => (Type::B32, self.b.c32(0)),
        };
        let old = self.b.var("old", ty, rate);
        self.b.set(old, zero);
        old
    }

    /// Statements for each lane whose `takes_part` is not 0, one lane after the other.
    fn each_lane(&mut self, takes_part: Value, statements: impl FnOnce(&mut Self)) -> Result<(), Stop> {
        self.want_wave()?;
        let left = self.b.var("left", Type::B64, Rate::Uniform);
        let (none, lane) = (self.b.c32(0), self.b.builtin(Builtin::Lane));
        let reaches = self.b.bin(BinOp::Ne, takes_part, none);
        let all = self.b.wave(WaveOp::Ballot(reaches));
        self.b.set(left, all);
        self.b.open();
        let lanes = self.b.get(left);
        let empty = self.b.c64(0);
        let done = self.b.bin(BinOp::Eq, lanes, empty);
        self.b.push(Stmt::If { cond: done, then: vec![Stmt::Break], otherwise: Vec::new() });
        let next = self.b.un(UnOp::TrailingZeros, lanes);
        let mine = self.b.bin(BinOp::Eq, lane, next);
        self.b.open();
        statements(self);
        let then = self.b.close();
        self.b.push(Stmt::If { cond: mine, then, otherwise: Vec::new() });
        let less = self.with_constant(BinOp::Sub, lanes, 1);
        let rest = self.b.bin(BinOp::And, lanes, less);
        self.b.set(left, rest);
        let body = self.b.close();
        self.b.push(Stmt::Loop { body });
        Ok(())
    }

    /// Tries to put the new value in the place of the old one; leaves the loop if no other wave has come in between.
    fn attempt(
        &mut self,
        inst: &Inst,
        run: Run,
        width: Width,
        new: &impl Fn(&mut Self, Value) -> Value,
        old: Var,
    ) {
        let nothing = if width == Width::W64 { self.b.c64(0) } else { self.b.c32(0) };
        let before = self.b.atomic(AtomicOp::Or, nothing, None, run.access(width, inst.offset));
        let after = new(self, before);
        let seen = self.b.atomic(AtomicOp::CompareSwap, after, Some(before), run.access(width, inst.offset));
        self.b.set(old, seen);
        let same = self.b.bin(BinOp::Eq, seen, before);
        self.b.push(Stmt::If { cond: same, then: vec![Stmt::Break], otherwise: Vec::new() });
    }

    /// Exchanges two units, both in one lane before any in the next, and gives the old values.
    pub(super) fn exchange_pairs(
        &mut self,
        inst: &Inst,
        runs: [Run; 2],
        data: [Value; 2],
    ) -> Result<[Value; 2], Stop> {
        let width = if self.is_wide(data[0]) { Width::W64 } else { Width::W32 };
        runs.iter().for_each(|run| self.trap_misaligned(inst, *run, width));
        let old = runs.map(|_| self.old_value(width, Rate::Varying));
        let runs = runs.map(|run| self.by_lane(run));
        self.each_lane(runs[0].valid, |e| {
            for ((run, data), old) in runs.into_iter().zip(data).zip(old) {
                let seen = e.b.atomic(AtomicOp::Swap, data, None, run.access(width, inst.offset));
                e.b.set(old, seen);
            }
        })?;
        Ok(old.map(|old| self.b.get(old)))
    }

    /// Writes an atomic's old value to the vector destination, if there is one.
    pub(super) fn put_old(&mut self, inst: &Inst, old: Value, wide: bool) -> Result<(), Stop> {
        let Operand::Vgpr(first) = inst.dst[0] else { return Ok(()) };
        if !wide {
            self.put_registers(&[first], old);
            return Ok(());
        }
        let second = self.vgpr_after(inst, first)?;
        self.put_registers(&[first, second], old);
        Ok(())
    }

    /// Writes a `B32` to one vector register or a `B64` to two.
    pub(super) fn put_registers(&mut self, registers: &[u8], value: Value) {
        match registers {
            [low, high] => {
                let halves = [self.b.un(UnOp::Low, value), self.b.un(UnOp::High, value)];
                self.set_vgpr(*low, halves[0]);
                self.set_vgpr(*high, halves[1]);
            }
            _ => registers.iter().for_each(|r| self.set_vgpr(*r, value)),
        }
    }

    /// Atomics are refused where they are not aligned.
    pub(super) fn trap_misaligned(&mut self, inst: &Inst, run: Run, width: Width) {
        let low = if self.is_wide(run.address) { self.b.un(UnOp::Low, run.address) } else { run.address };
        let within = self.with_constant(BinOp::And, low, u64::from(width.bytes() - 1));
        let zero = self.b.c32(0);
        let off = self.b.bin(BinOp::Ne, within, zero);
        let there = self.b.bin(BinOp::Ne, run.valid, zero);
        let bad = self.b.bin(BinOp::And, off, there);
        self.trap_if(bad, "TR-MEM-001", inst.offset);
    }
}
