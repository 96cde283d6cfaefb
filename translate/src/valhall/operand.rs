//! Sources: from codes to components.

use guestwave_isa::mali::valhall::{CONSTANTS, Inst, Kind, Piece, Source, Ty};

use super::Refusal;
use super::emit::Emit;
use crate::program::{BinOp, Type, UnOp, Value};

/// Components of a source: 32-bit values, of integers extended by their sign, of f16 the bits; 64-bit ones for 64-bit types.
pub(super) type Components = [Value; 4];

impl Emit<'_> {
    /// The components of every source.
    pub(super) fn components(&mut self, inst: &Inst) -> Result<[Components; 4], Refusal> {
        let zero = if inst.row.from.bits() == 64 { self.b.c64(0) } else { self.b.c32(0) };
        let mut all = [[zero; 4]; 4];
        let count = inst.row.sources.len();
        for (i, components) in all.iter_mut().enumerate().take(count) {
            *components = self.source_components(inst, i, zero)?;
        }
        // The constant of an addition stands behind its source.
        if let (Some(constant), Some(place)) = (inst.row.immediates.first(), all.get_mut(count))
            && constant.name.is_empty()
        {
            let bits = self.b.c32(constant.of(inst.word));
            *place = self.split(bits, inst.row.from, zero);
        }
        Ok(all)
    }

    fn source_components(&mut self, inst: &Inst, i: usize, zero: Value) -> Result<Components, Refusal> {
        let (ty, kind) = (inst.row.from, inst.row.sources[i].1);
        let bits = if inst.takes_pair(i) { self.pair(inst, i)? } else { self.word(inst, i)? };
        let components = match inst.pick(i) {
            Some(pick) => {
                let ty = if kind == Kind::Shift { Ty::V4U8 } else { ty };
                pick.pieces.map(|p| self.piece(bits, p, ty, zero))
            }
            None => self.split(bits, ty, zero),
        };
        let mods = inst.source_mods(i);
        let sign = 1u64 << (ty.bits() - 1);
        let one = |e: &mut Self, mut c: Value| {
            c = if mods.abs { e.b.with_constant(BinOp::And, c, sign - 1) } else { c };
            c = if mods.neg { e.b.with_constant(BinOp::Xor, c, sign) } else { c };
            if mods.not { e.b.un(UnOp::Not, c) } else { c }
        };
        Ok(if mods == Default::default() { components } else { components.map(|c| one(self, c)) })
    }

    /// Source `i` as a word.
    pub(super) fn word(&mut self, inst: &Inst, i: usize) -> Result<Value, Refusal> {
        self.source_word(inst, inst.source(i))
    }

    /// Source `i` as a pair of words.
    pub(super) fn pair(&mut self, inst: &Inst, i: usize) -> Result<Value, Refusal> {
        let low = inst.source(i);
        let high = match low {
            Source::Register(n, last) => Source::Register((n + 1) & 63, last),
            Source::Uniform(n) => Source::Uniform(n | 1),
            Source::Constant(_) => Source::Constant(0),
            Source::Special(name, _) => Source::Special(name, 1),
        };
        let (low, high) = (self.source_word(inst, low)?, self.source_word(inst, high)?);
        Ok(self.b.bin(BinOp::Pack, low, high))
    }

    fn source_word(&mut self, inst: &Inst, source: Source) -> Result<Value, Refusal> {
        match source {
            Source::Register(n, _) => Ok(self.register(n.into())),
            Source::Constant(n) => Ok(self.b.c32(CONSTANTS[usize::from(n & 31)])),
            Source::Uniform(n) => Ok(self.uniform(inst, n)),
            Source::Special(..) => Err(self.refuse(inst, "a special value that no launch gives")),
        }
    }

    /// A piece of a source as a component.
    fn piece(&mut self, bits: Value, piece: Piece, ty: Ty, zero: Value) -> Value {
        let (shift, width) = (u32::from(piece.shift), u32::from(piece.width));
        match width {
            0 => return zero,
            64 => return bits,
            _ => {}
        }
        let narrow = piece.width < ty.bits();
        let part = self.part(bits, shift, width, ty.signed() && !ty.float());
        match (narrow && ty.float(), ty.bits()) {
            (true, _) => self.convert().single_of_half(part),
            (_, 64) if ty.signed() => self.b.un(UnOp::ExtendS, part),
            (_, 64) => self.b.un(UnOp::Extend, part),
            _ => part,
        }
    }

    /// `width` bits of a word (of a pair: its low word) from bit `shift` on, extended.
    fn part(&mut self, bits: Value, shift: u32, width: u32, signed: bool) -> Value {
        let word = if self.b.info(bits).ty == Type::B64 { self.b.un(UnOp::Low, bits) } else { bits };
        match (width, signed) {
            (32, _) => word,
            (_, true) => {
                let top = self.b.shift(BinOp::Shl, word, 32 - shift - width);
                self.b.shift(BinOp::ShrS, top, 32 - width)
            }
            (_, false) => {
                let low = self.b.shift(BinOp::ShrU, word, shift);
                self.b.with_constant(BinOp::And, low, (1 << width) - 1)
            }
        }
    }

    /// A source's components where the instruction takes it as it is.
    fn split(&mut self, bits: Value, ty: Ty, zero: Value) -> Components {
        let width = u32::from(ty.bits());
        if width == 64 {
            return [bits, zero, zero, zero];
        }
        let signed = ty.signed() && !ty.float();
        [0, 1, 2, 3].map(|k: u32| match (k as usize) < ty.count() {
            true => self.part(bits, k * width, width, signed),
            false => zero,
        })
    }
}
