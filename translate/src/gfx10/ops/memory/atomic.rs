//! Read-modify-write of vector memory.

use guestwave_isa::gfx10::{Inst, Operand};

use super::Run;
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::{AtomicOp, BinOp, UnOp, Value, Width};

/// One atomic operation as the mnemonics name it.
pub(in crate::gfx10) struct AtomicRow {
    /// The mnemonic between `atomic_` and `_x2`.
    pub(super) name: &'static str,
    pub(super) op: AtomicOp,
}

const fn row(name: &'static str, op: AtomicOp) -> AtomicRow {
    AtomicRow { name, op }
}

pub(super) const ATOMICS: &[AtomicRow] = &[
    row("swap", AtomicOp::Swap),
    row("cmpswap", AtomicOp::CompareSwap),
    row("add", AtomicOp::Add),
    row("sub", AtomicOp::Sub),
    row("csub", AtomicOp::SubClamp),
    row("smin", AtomicOp::MinS),
    row("umin", AtomicOp::MinU),
    row("smax", AtomicOp::MaxS),
    row("umax", AtomicOp::MaxU),
    row("and", AtomicOp::And),
    row("or", AtomicOp::Or),
    row("xor", AtomicOp::Xor),
    row("inc", AtomicOp::IncWrap),
    row("dec", AtomicOp::DecWrap),
    row("fmin", AtomicOp::MinF),
    row("fmax", AtomicOp::MaxF),
];

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

    /// An atomic at `run`, with its data in `data` and the old value to the destination if there is one.
    pub(super) fn atomic_access(
        &mut self,
        inst: &Inst,
        run: Run,
        (op, wide): (AtomicOp, bool),
        data: Operand,
    ) -> Result<(), Stop> {
        let width = if wide { Width::W64 } else { Width::W32 };
        let step = width.bytes() as u8 / 4;
        let swap = op == AtomicOp::CompareSwap;
        let registers = self.registers(inst, data, if swap { 2 * step } else { step })?;
        let (first, second) = registers.split_at(usize::from(step));
        let value = self.operand_value(first);
        let compare = swap.then(|| self.operand_value(second));
        self.trap_misaligned(inst, run, width);
        let run = self.by_lane(run);
        let old = self.b.atomic(op, value, compare, run.access(width, inst.offset));
        self.put_old(inst, old, wide)
    }

    /// Writes an atomic's old value to the vector destination, if there is one.
    pub(super) fn put_old(&mut self, inst: &Inst, old: Value, wide: bool) -> Result<(), Stop> {
        let Operand::Vgpr(first) = inst.dst[0] else { return Ok(()) };
        if !wide {
            self.set_vgpr(first, old);
            return Ok(());
        }
        let second = self.vgpr_after(inst, first)?;
        let halves = [self.b.un(UnOp::Low, old), self.b.un(UnOp::High, old)];
        self.set_vgpr(first, halves[0]);
        self.set_vgpr(second, halves[1]);
        Ok(())
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
