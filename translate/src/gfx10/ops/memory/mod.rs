//! Memory instructions: what their mnemonics mean, and the lowering of each family.

mod access;
mod atomic;
mod buffer;
mod descriptor;
mod flat;
mod image;
mod lds;
mod scalar;
mod typed;
mod typed_convert;

use guestwave_isa::gfx10::{Inst, Operand};

pub(super) use access::meaning;
pub(super) use lds::offset as ds_offset;
pub(super) use lds::{ATOMIC_ROWS as LDS_ATOMIC_ROWS, ROWS as LDS_ROWS};
pub(in crate::gfx10) use scalar::lower_atomic as lower_scalar_atomic;
pub(super) use scalar::{ROWS as SCALAR_ROWS, ScalarAtomic, atomic_meaning as scalar_atomic};

use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::{Access, BinOp, Rate, Space, Type, UnOp, Value, Width};
use access::{Half, Part};

/// How an instruction forms addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gfx10) enum Family {
    Buffer,
    TypedBuffer,
    Flat,
    Global,
    Scratch,
    Image,
}

pub(in crate::gfx10) use access::Kind;

/// A run of bytes that a lane reaches.
#[derive(Clone, Copy)]
struct Run {
    space: Space,
    address: Value,
    /// Bytes that exist from there on, 0 in lanes that do not take part.
    valid: Value,
    slot: Option<u16>,
}

impl Run {
    fn access(self, width: Width, pc: u32) -> Access {
        Access { space: self.space, address: self.address, valid: self.valid, width, pc, slot: self.slot }
    }
}

/// Lowers a vector memory instruction.
pub(in crate::gfx10) fn lower(e: &mut Emit<'_>, inst: &Inst, family: Family, kind: Kind) -> Result<(), Stop> {
    match family {
        Family::Buffer | Family::TypedBuffer => buffer::lower(e, inst, family, kind),
        Family::Flat | Family::Global | Family::Scratch => flat::lower(e, inst, family, kind),
        Family::Image => image::lower(e, inst, kind),
    }
}

impl Emit<'_> {
    /// `count` vector registers from the one that an operand names.
    fn registers(&mut self, inst: &Inst, operand: Operand, count: u8) -> Result<Vec<u8>, Stop> {
        let Operand::Vgpr(first) = operand else {
            return Err(self.refuse(inst, "data that is no vector register"));
        };
        (0..count)
            .map(|i| {
                first.checked_add(i).ok_or_else(|| {
                    crate::gfx10::Refusal::Registers { mnemonic: inst.op.name(), pc: inst.offset }.into()
                })
            })
            .collect()
    }

    /// `bytes` in the lanes of EXEC, else 0.
    fn if_active(&mut self, bytes: Value) -> Value {
        let exec = self.exec();
        let zero = self.b.c32(0);
        self.b.select(exec, bytes, zero)
    }

    /// A run that each lane reaches by itself even where all lanes reach the same bytes, as stores and atomics do.
    fn by_lane(&mut self, run: Run) -> Run {
        let uniform = |e: &Self, v| e.b.info(v).rate == Rate::Uniform;
        if !uniform(self, run.address) || !uniform(self, run.valid) {
            return run;
        }
        let exec = self.exec_lanes();
        let zero = self.b.c32(0);
        Run { valid: self.b.select(exec, run.valid, zero), ..run }
    }

    /// Stores values as units of a width.
    fn store_run(&mut self, inst: &Inst, run: Run, values: Vec<Value>, width: Width) {
        let run = self.by_lane(run);
        self.b.store(values, run.access(width, inst.offset));
    }

    /// Loads units that lanes reach in one of several runs, or in none: what does not exist is 0.
    fn load_any(&mut self, inst: &Inst, runs: &[Run], count: usize, width: Width) -> Vec<Value> {
        let mut loads = runs.iter().map(|run| run.access(width, inst.offset)).collect::<Vec<_>>().into_iter();
        let first = loads.next().map(|access| self.b.load(count, access)).unwrap_or_default();
        loads.fold(first, |values, access| {
            let more = self.b.load(count, access);
            values.into_iter().zip(more).map(|(a, b)| self.b.bin(BinOp::Or, a, b)).collect()
        })
    }

    /// Loads dwords into vector registers.
    fn load_registers(&mut self, inst: &Inst, runs: &[Run], registers: &[u8]) {
        let values = self.load_any(inst, runs, registers.len(), Width::W32);
        for (register, value) in registers.iter().zip(values) {
            self.set_vgpr(*register, value);
        }
    }

    /// Stores vector registers as dwords.
    fn store_registers(&mut self, inst: &Inst, run: Run, registers: &[u8]) {
        let values = registers.iter().map(|r| self.vgpr(*r)).collect();
        self.store_run(inst, run, values, Width::W32);
    }

    /// Loads a byte or a short.
    fn load_part(&mut self, inst: &Inst, runs: &[Run], register: u8, part: Part) {
        let raw = self.load_any(inst, runs, 1, part.width)[0];
        let value = match (part.signed, part.width) {
            (false, _) => raw,
            (true, Width::W8) => self.b.un(UnOp::Sext8, raw),
            (true, _) => self.b.un(UnOp::Sext16, raw),
        };
        let new = match part.half {
            Half::Whole => value,
            half => {
                let old = self.vgpr(register);
                self.insert_half(old, value, half == Half::High)
            }
        };
        self.set_vgpr(register, new);
    }

    /// Stores a byte or a short.
    fn store_part(&mut self, inst: &Inst, run: Run, register: u8, part: Part) {
        let word = self.vgpr(register);
        let value = if part.half == Half::High { self.shift(BinOp::ShrU, word, 16) } else { word };
        self.store_run(inst, run, vec![value], part.width);
    }

    /// Ends the dispatch where `cond` holds in any lane that comes here.
    pub(in crate::gfx10) fn trap_if(&mut self, cond: Value, code: &'static str, pc: u32) {
        self.b.trap_if(cond, code, pc);
    }

    /// A value as a `B64`, zero-extended.
    fn wide(&mut self, v: Value) -> Value {
        if self.b.info(v).ty == Type::B64 { v } else { self.b.un(UnOp::Extend, v) }
    }
}
