//! The environment of a launch: uniforms, resource tables, buffers.
//!
//! The numbers here follow from the parameter block and guest memory alone, so each comes with the way in which a launch can work
//! it out before it runs.

use guestwave_cp::mali::job::environment::WORDS;
use guestwave_isa::mali::valhall::{Inst, Op};

use super::Refusal;
use super::emit::{Emit, Lower};
use super::error::{BAD_DESCRIPTOR, NO_RESOURCE};
use crate::gfx10::Assumption;
use crate::program::{BinOp, ParamSource, Trace, UnOp, Value, Width};

/// Places of the environment's words among the launch's.
pub(super) mod env {
    pub(in crate::valhall) const FAU: u8 = 0;
    pub(in crate::valhall) const FAU_WORDS: u8 = 2;
    pub(in crate::valhall) const RESOURCES: u8 = 3;
    pub(in crate::valhall) const TABLES: u8 = 5;
    pub(in crate::valhall) const ATTRIBUTE_OFFSET: u8 = 6;
    pub(in crate::valhall) const PACKETS: u8 = 7;
    pub(in crate::valhall) const PACKET_STRIDE: u8 = 9;
    pub(in crate::valhall) const COLOURS: u8 = 10;
}
const _: () = assert!(env::COLOURS as usize + 2 == WORDS);

/// The table that the vertex packets are.
const HIDDEN_TABLE: u32 = 61;

/// Descriptor type and buffer type of a simple buffer.
const SIMPLE_BUFFER: u32 = 0x19;

/// A number and how a launch works it out.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) value: Value,
    trace: Trace,
}

/// A resource that an instruction names.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    pub(super) table: u32,
    pub(super) index: Number,
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Lower)] = &[(Op::LeaBufImm, lea_immediate), (Op::LeaBuf, lea_handle)];

impl Emit<'_> {
    /// A word of the environment.
    pub(super) fn environment(&mut self, word: u8) -> Value {
        self.b.param(ParamSource::Sgpr(word))
    }

    /// A pair of words of the environment.
    pub(super) fn environment_pair(&mut self, word: u8) -> Number {
        let (low, high) = (ParamSource::Sgpr(word), ParamSource::Sgpr(word + 1));
        let trace = [low, high].map(|p| Box::new(Trace::Param(self.b.param_index(p))));
        let [trace_low, trace_high] = trace;
        let (low, high) = (self.b.param(low), self.b.param(high));
        Number { value: self.b.bin(BinOp::Pack, low, high), trace: Trace::Pack(trace_low, trace_high) }
    }

    /// A word of the uniforms; those past the end are 0.
    pub(super) fn uniform(&mut self, inst: &Inst, n: u8) -> Value {
        let base = self.environment_pair(env::FAU).value;
        let address = self.b.with_constant(BinOp::Add, base, 4 * u64::from(n));
        let (count, number) = (self.environment(env::FAU_WORDS), self.b.c32(n.into()));
        let there = self.b.bin(BinOp::LtU, number, count);
        let (four, zero) = (self.b.c32(4), self.b.c32(0));
        let valid = self.b.select(there, four, zero);
        self.load_units(address, valid, (Width::W32, 1), inst.offset)[0]
    }

    pub(super) fn constant(&mut self, number: u64) -> Number {
        Number { value: self.b.c64(number), trace: Trace::Const(number) }
    }

    pub(super) fn plus(&mut self, a: &Number, b: &Number) -> Number {
        let trace = Trace::Add(Box::new(a.trace.clone()), Box::new(b.trace.clone()));
        Number { value: self.b.bin(BinOp::Add, a.value, b.value), trace }
    }

    /// The word of guest memory at byte `offset` of `base`.
    pub(super) fn dword(&mut self, inst: &Inst, base: &Number, offset: u64) -> Number {
        let offset = self.constant(offset);
        let address = self.plus(base, &offset);
        let four = self.b.c32(4);
        let value = self.load_units(address.value, four, (Width::W32, 1), inst.offset)[0];
        Number { value, trace: Trace::Dword(Box::new(address.trace)) }
    }

    /// The bits of a word under `mask` that the launch at hand says it has. The program then holds for launches that say the
    /// same, and ends without effect if the word is another after all.
    pub(super) fn assume(&mut self, inst: &Inst, number: &Number, mask: u32) -> Result<u32, Refusal> {
        let said = (self.launch)(&number.trace, &self.b.program().params);
        let value = said.ok_or(self.refuse(inst, "a descriptor that cannot be read before the launch"))?;
        let value = value as u32 & mask;
        let assumption = Assumption { trace: number.trace.clone(), mask, value };
        if !self.assumptions.contains(&assumption) {
            self.assumptions.push(assumption);
        }
        let bits = self.b.with_constant(BinOp::And, number.value, mask.into());
        let differs = self.b.with_constant(BinOp::Ne, bits, value.into());
        self.b.trap_if(differs, "TR-SPEC-001", inst.offset);
        Ok(value)
    }

    /// The handle in an instruction: of 16 tables, the last four are tables 60 to 63.
    pub(super) fn immediate_handle(&mut self, inst: &Inst) -> Handle {
        let table = inst.immediate("table");
        let index = self.constant(inst.immediate("index").into());
        Handle { table: if table < 12 { table } else { table + 48 }, index }
    }

    /// The handle in source `i`, which must be a constant.
    pub(super) fn register_handle(&mut self, inst: &Inst, i: usize) -> Result<Handle, Refusal> {
        let word = self.word(inst, i)?;
        let bits = self.b.constant(word);
        let bits = bits.ok_or(self.refuse(inst, "a resource handle that is no constant"))? as u32;
        let index = self.constant(u64::from(bits & 0xff_ffff));
        Ok(Handle { table: bits >> 24, index })
    }

    /// The address of a descriptor of 32 bytes.
    pub(super) fn descriptor(&mut self, inst: &Inst, handle: &Handle) -> Number {
        let (tables, table) = (self.environment(env::TABLES), self.b.c32(handle.table));
        let missing = self.b.bin(BinOp::LeU, tables, table);
        self.b.trap_if(missing, NO_RESOURCE, inst.offset);
        let resources = self.environment_pair(env::RESOURCES);
        let place = self.constant(16 * u64::from(handle.table));
        let entry = self.plus(&resources, &place);
        let [low, high, bytes] = [0, 4, 8].map(|byte| self.dword(inst, &entry, byte));
        let address = self.pack_address(&low, &high);
        let offset = self.scaled(&handle.index, 32);
        let needed = self.b.with_constant(BinOp::Add, offset.value, 32);
        let bytes = self.b.un(UnOp::Extend, bytes.value);
        let missing = self.b.bin(BinOp::LtU, bytes, needed);
        self.b.trap_if(missing, NO_RESOURCE, inst.offset);
        self.plus(&address, &offset)
    }

    fn scaled(&mut self, number: &Number, by: u64) -> Number {
        let trace = Trace::Mul(Box::new(number.trace.clone()), Box::new(Trace::Const(by)));
        Number { value: self.b.with_constant(BinOp::Mul, number.value, by), trace }
    }

    /// An address of 56 bits.
    fn pack_address(&mut self, low: &Number, high: &Number) -> Number {
        const TOP: u64 = 0xff_ffff;
        let top = self.b.with_constant(BinOp::And, high.value, TOP);
        let trace = Trace::And(Box::new(high.trace.clone()), Box::new(Trace::Const(TOP)));
        let trace = Trace::Pack(Box::new(low.trace.clone()), Box::new(trace));
        Number { value: self.b.bin(BinOp::Pack, low.value, top), trace }
    }

    /// Address and bytes of a simple buffer.
    pub(super) fn buffer(&mut self, inst: &Inst, handle: &Handle) -> (Value, Value) {
        let at = self.descriptor(inst, handle);
        let [kind, bytes, low, high] = [0, 4, 8, 12].map(|byte| self.dword(inst, &at, byte).value);
        let kind = self.b.with_constant(BinOp::And, kind, 0xff);
        let other = self.b.with_constant(BinOp::Ne, kind, SIMPLE_BUFFER.into());
        self.b.trap_if(other, BAD_DESCRIPTOR, inst.offset);
        (self.b.bin(BinOp::Pack, low, high), bytes)
    }

    /// A word as an index.
    pub(super) fn extended(&mut self, number: Number) -> Number {
        Number { value: self.b.un(UnOp::Extend, number.value), trace: number.trace }
    }

    /// The address of an entry of the vertex packets.
    pub(super) fn packet(&mut self, number: Value) -> Value {
        let base = self.environment_pair(env::PACKETS).value;
        let stride = self.environment(env::PACKET_STRIDE);
        let [number, stride] = [number, stride].map(|n| self.b.un(UnOp::Extend, n));
        let offset = self.b.bin(BinOp::Mul, number, stride);
        self.b.bin(BinOp::Add, base, offset)
    }
}

fn lea_immediate(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Refusal> {
    let handle = e.immediate_handle(inst);
    lea(e, inst, &handle)
}

fn lea_handle(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Refusal> {
    let handle = e.register_handle(inst, 1)?;
    lea(e, inst, &handle)
}

fn lea(e: &mut Emit<'_>, inst: &Inst, handle: &Handle) -> Result<(), Refusal> {
    if handle.table != HIDDEN_TABLE || e.b.constant(handle.index.value) != Some(0) {
        return Err(e.refuse(inst, "a buffer other than the vertex packets"));
    }
    let number = e.word(inst, 0)?;
    let address = e.packet(number);
    let words = [e.b.un(UnOp::Low, address), e.b.un(UnOp::High, address)];
    e.set_staged(inst, &words);
    Ok(())
}
