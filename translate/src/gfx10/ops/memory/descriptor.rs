//! Buffer descriptors (V#) in a program: their fields, places and bounds.
//!
//! The rules are those of GFX10: OOB_SELECT 0 checks index and offset, 1 the index, 2 whether there is any record, 3 the offset (of
//! swizzled buffers, the swizzled one). SOFFSET is not in the check.

use guestwave_isa::gfx10::{BufferMods, Inst, Operand};

use super::Run;
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Builtin, Slot, Space, Trace, UnOp, Value};

/// Bytes that any access wants at most: what "unlimited" is.
const ALL: u32 = 16;

/// A buffer descriptor and one instruction's offsets into it.
pub(super) struct Buffer {
    /// Base and SOFFSET, a `B64`.
    base: Value,
    /// A `B32`.
    stride: Value,
    records: Value,
    /// A `Bool`.
    pub(super) swizzled: Value,
    /// `log2` of the records that are interleaved.
    interleave: Value,
    /// OOB_SELECT, a `B32`.
    bounds: Value,
    /// The fourth word: format and selectors.
    pub(super) flags: Value,
    /// Index of the record, a `B64`.
    index: Value,
    /// Byte offset in it, a `B64`.
    offset: Value,
    slot: Option<u16>,
}

impl Emit<'_> {
    /// The descriptor in src[1] with the offsets of a buffer instruction.
    pub(super) fn buffer(&mut self, inst: &Inst, mods: &BufferMods, stores: bool) -> Result<Buffer, Stop> {
        if mods.lds || mods.tfe {
            return Err(self.refuse(inst, "LDS or TFE"));
        }
        let Operand::Sgpr(first) = inst.src[1] else {
            return Err(self.refuse(inst, "a descriptor in no scalar register"));
        };
        self.within(inst, first, 4)?;
        let words = [self.sgpr(first)?, self.sgpr(first + 1)?, self.sgpr(first + 2)?, self.sgpr(first + 3)?];
        let flags = self.assume(words[3], u32::MAX, inst.offset);
        let high = self.assume(words[1], 1 << 31, inst.offset);
        self.check_type(inst, flags);
        let index_and_offset = self.offsets(inst, mods, flags)?;
        let soffset = self.scalar_source(inst, 2)?;
        let slot = self.buffer_slot(words, soffset, stores);
        Ok(self.decoded(words, flags, high, soffset, index_and_offset, slot))
    }

    fn decoded(
        &mut self,
        words: [Value; 4],
        flags: Value,
        high: Value,
        soffset: Value,
        (index, offset): (Value, Value),
        slot: Option<u16>,
    ) -> Buffer {
        let top = self.with_constant(BinOp::And, words[1], 0xffff);
        let base = self.b.bin(BinOp::Pack, words[0], top);
        let soffset = self.b.un(UnOp::Extend, soffset);
        let base = self.b.bin(BinOp::Add, base, soffset);
        let stride = self.field(words[1], 16, 14);
        let swizzle = self.field(high, 31, 1);
        let one = self.b.c32(1);
        let swizzled = self.b.bin(BinOp::Eq, swizzle, one);
        let interleave = self.field(flags, 21, 2);
        let interleave = self.with_constant(BinOp::Add, interleave, 3);
        let bounds = self.field(flags, 28, 2);
        Buffer { base, stride, records: words[2], swizzled, interleave, bounds, flags, index, offset, slot }
    }

    /// `width` bits of `word` from bit `shift` on.
    pub(super) fn field(&mut self, word: Value, shift: u32, width: u32) -> Value {
        let moved = self.shift(BinOp::ShrU, word, shift);
        self.with_constant(BinOp::And, moved, (1 << width) - 1)
    }

    fn check_type(&mut self, inst: &Inst, flags: Value) {
        let kind = self.shift(BinOp::ShrU, flags, 30);
        let zero = self.b.c32(0);
        let other = self.b.bin(BinOp::Ne, kind, zero);
        self.trap_if(other, "TR-MEM-002", inst.offset);
    }

    /// Record index and byte offset of each lane, `B64`s.
    fn offsets(&mut self, inst: &Inst, mods: &BufferMods, flags: Value) -> Result<(Value, Value), Stop> {
        let zero = self.b.c64(0);
        let (mut index, mut register) = (zero, None);
        if let Operand::Vgpr(first) = inst.src[0] {
            if mods.idxen {
                let v = self.vgpr(first);
                index = self.b.un(UnOp::Extend, v);
            }
            if mods.offen {
                let at = if mods.idxen { self.vgpr_after(inst, first)? } else { first };
                register = Some(self.vgpr(at));
            }
        }
        let add_lane = self.field(flags, 23, 1);
        let lane = self.b.builtin(Builtin::Lane);
        let lane = self.b.bin(BinOp::Mul, add_lane, lane);
        let lane = self.wide(lane);
        let index = self.b.bin(BinOp::Add, index, lane);
        // The sum of register and immediate wraps at 32 bits.
        let immediate = self.b.c32(u32::from(mods.offset));
        let offset = match register {
            Some(r) => self.b.bin(BinOp::Add, r, immediate),
            None => immediate,
        };
        Ok((index, self.b.un(UnOp::Extend, offset)))
    }

    /// The slot of a descriptor whose words can be traced.
    fn buffer_slot(&mut self, words: [Value; 4], soffset: Value, written: bool) -> Option<u16> {
        let [low, high, records, _] = words.map(|w| self.trace(w));
        let (low, high, records) = (low?, high?, records?);
        let soffset = self.trace(soffset)?;
        let boxed = |t: Trace| Box::new(t);
        let top = Trace::And(boxed(high.clone()), boxed(Trace::Const(0xffff)));
        let start = Trace::Pack(boxed(low), boxed(top));
        let base = Trace::Add(boxed(start), boxed(soffset));
        let stride = Trace::And(boxed(Trace::Shr(boxed(high), 16)), boxed(Trace::Const(0x3fff)));
        // With stride 0 the records are bytes: at least one byte a record either way.
        let strides = Trace::Mul(boxed(records.clone()), boxed(stride));
        let size = Trace::Add(boxed(strides), boxed(records));
        Some(self.b.slot(Slot { base, size: Some(size), written }))
    }
}

impl Buffer {
    /// Byte offset from the base of byte `further` of the lane's access.
    fn distance(&self, e: &mut Emit<'_>, further: u32) -> Value {
        let offset = e.with_constant(BinOp::Add, self.offset, u64::from(further));
        let stride = e.wide(self.stride);
        let linear = e.b.bin(BinOp::Mul, self.index, stride);
        let linear = e.b.bin(BinOp::Add, linear, offset);
        if e.b.constant(self.swizzled) == Some(0) {
            return linear;
        }
        let swizzled = self.swizzle(e, stride, offset);
        e.b.select(self.swizzled, swizzled, linear)
    }

    /// `index / IS * stride * IS + offset / 4 * 4 * IS + index % IS * 4 + offset % 4`, IS the interleaved records.
    fn swizzle(&self, e: &mut Emit<'_>, stride: Value, offset: Value) -> Value {
        let row = e.b.bin(BinOp::ShrU, self.index, self.interleave);
        let row = e.b.bin(BinOp::Mul, row, stride);
        let row = e.b.bin(BinOp::Shl, row, self.interleave);
        let element = e.with_constant(BinOp::And, offset, !3);
        let element = e.b.bin(BinOp::Shl, element, self.interleave);
        let one = e.b.c64(1);
        let count = e.b.bin(BinOp::Shl, one, self.interleave);
        let mask = e.with_constant(BinOp::Sub, count, 1);
        let within = e.b.bin(BinOp::And, self.index, mask);
        let within = e.shift(BinOp::Shl, within, 2);
        let byte = e.with_constant(BinOp::And, offset, 3);
        let sum = e.b.bin(BinOp::Add, row, element);
        let rest = e.b.bin(BinOp::Add, within, byte);
        e.b.bin(BinOp::Add, sum, rest)
    }

    /// Bytes that exist from byte `further` of the access on, at most 16, judged dword by dword. `from_base` is that byte's
    /// offset from the base.
    fn existing(&self, e: &mut Emit<'_>, further: u32, from_base: Value) -> Value {
        let (none, all) = (e.b.c32(0), e.b.c32(ALL));
        let records = e.wide(self.records);
        let offset = e.with_constant(BinOp::Add, self.offset, u64::from(further));
        let in_records = e.b.bin(BinOp::LtU, self.index, records);
        let stride = e.wide(self.stride);
        let to_stride = left(e, stride, offset);
        let by_index = e.b.select(in_records, all, none);
        let structured = e.b.select(in_records, to_stride, none);
        let empty = e.b.bin(BinOp::Eq, self.records, none);
        let unchecked = e.b.select(empty, none, all);
        let raw_at = e.b.select(self.swizzled, from_base, offset);
        let raw = left(e, records, raw_at);
        let mut result = raw;
        for (code, value) in [(2, unchecked), (1, by_index), (0, structured)] {
            let code = e.b.c32(code);
            let is = e.b.bin(BinOp::Eq, self.bounds, code);
            result = e.b.select(is, value, result);
        }
        result
    }

    /// The bytes from byte `further` on, each dword judged by itself.
    pub(super) fn run(&self, e: &mut Emit<'_>, further: u32) -> Run {
        let from_base = self.distance(e, further);
        let valid = self.existing(e, further, from_base);
        self.at(e, from_base, valid)
    }

    /// `bytes` bytes from byte `further` on, all of them or none, judged by the first byte of the access.
    pub(super) fn whole(&self, e: &mut Emit<'_>, further: u32, bytes: u32) -> Run {
        let first = self.distance(e, 0);
        let existing = self.existing(e, 0, first);
        let (zero, bytes) = (e.b.c32(0), e.b.c32(bytes));
        let there = e.b.bin(BinOp::Ne, existing, zero);
        let valid = e.b.select(there, bytes, zero);
        let from_base = self.distance(e, further);
        self.at(e, from_base, valid)
    }

    fn at(&self, e: &mut Emit<'_>, from_base: Value, valid: Value) -> Run {
        let address = e.b.bin(BinOp::Add, self.base, from_base);
        let valid = e.if_active(valid);
        Run { space: Space::Global, address, valid, slot: self.slot }
    }
}

/// `end - at` as a `B32` of at most 16, 0 if `at` is past the end.
fn left(e: &mut Emit<'_>, end: Value, at: Value) -> Value {
    let (none, all) = (e.b.c32(0), e.b.c32(ALL));
    let difference = e.b.bin(BinOp::Sub, end, at);
    let inside = e.b.bin(BinOp::LtU, at, end);
    let limit = e.b.c64(u64::from(ALL));
    let many = e.b.bin(BinOp::LtU, limit, difference);
    let few = e.b.un(UnOp::Low, difference);
    let count = e.b.select(many, all, few);
    e.b.select(inside, count, none)
}
