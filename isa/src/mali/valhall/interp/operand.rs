//! Sources: from codes to components.

use super::StopKind;
use super::alu;
use super::thread::Thread;
use crate::format::single_of_half;
use crate::mali::valhall::{CONSTANTS, Inst, Kind, Piece, Source, Ty};

impl Thread<'_> {
    /// The components of every source.
    pub(super) fn components(&mut self, inst: &Inst) -> Result<[[u64; 4]; 4], StopKind> {
        let mut all = [[0; 4]; 4];
        let count = inst.row.sources.len();
        for (i, components) in all.iter_mut().enumerate().take(count) {
            *components = self.source_components(inst, i)?;
        }
        // The constant of an addition stands behind its source.
        if let (Some(constant), Some(place)) = (inst.row.immediates.first(), all.get_mut(count))
            && constant.name.is_empty()
        {
            *place = split(constant.of(inst.word).into(), inst.row.from);
        }
        Ok(all)
    }

    fn source_components(&mut self, inst: &Inst, i: usize) -> Result<[u64; 4], StopKind> {
        let ty = inst.row.from;
        let bits = if inst.takes_pair(i) { self.pair(inst, i)? } else { self.word(inst, i)?.into() };
        let mut components = match inst.pick(i) {
            Some(pick) => pick.pieces.map(|p| piece(bits, p, shape(inst.row.sources[i].1, ty))),
            None => split(bits, ty),
        };
        let mods = inst.source_mods(i);
        let sign = (alu::mask(ty) >> 1) + 1;
        for c in &mut components {
            *c = if mods.abs { *c & !sign } else { *c };
            *c = if mods.neg { *c ^ sign } else { *c };
            *c = if mods.not { !*c & alu::mask(ty) } else { *c };
        }
        Ok(components)
    }

    /// Source `i` as a word.
    pub(super) fn word(&mut self, inst: &Inst, i: usize) -> Result<u32, StopKind> {
        self.source_word(inst, inst.source(i))
    }

    /// Source `i` as a pair of words, the low one first.
    pub(super) fn pair(&mut self, inst: &Inst, i: usize) -> Result<u64, StopKind> {
        let low = inst.source(i);
        let high = match low {
            Source::Register(n, last) => Source::Register((n + 1) & 63, last),
            Source::Uniform(n) => Source::Uniform(n | 1),
            // A constant is a number of 32 bits, extended by zeros.
            Source::Constant(_) => Source::Constant(0),
            Source::Special(name, _) => Source::Special(name, 1),
        };
        Ok(u64::from(self.source_word(inst, low)?) | u64::from(self.source_word(inst, high)?) << 32)
    }

    fn source_word(&mut self, inst: &Inst, source: Source) -> Result<u32, StopKind> {
        match source {
            Source::Register(n, _) => Ok(self.registers[usize::from(n & 63)]),
            Source::Constant(n) => Ok(CONSTANTS[usize::from(n & 31)]),
            Source::Uniform(n) if u32::from(n) >= self.env.fau_words => Ok(0),
            Source::Uniform(n) => self.load_word(self.env.fau.wrapping_add(4 * u64::from(n))),
            Source::Special(special, _) => Err(StopKind::Special { name: inst.row.name, special }),
        }
    }
}

/// The type that pieces widen to: a shift's amounts are bytes whatever is shifted.
fn shape(kind: Kind, ty: Ty) -> Ty {
    if kind == Kind::Shift { Ty::V4U8 } else { ty }
}

/// A piece of a source as a component.
fn piece(bits: u64, piece: Piece, ty: Ty) -> u64 {
    if piece.width == 0 {
        return 0;
    }
    let cut = bits >> piece.shift << (64 - piece.width);
    let unsigned = cut >> (64 - piece.width);
    match (ty.float(), piece.width < ty.bits()) {
        (true, true) => single_of_half(unsigned as u16).into(),
        (false, true) if ty.signed() => (cut as i64 >> (64 - piece.width)) as u64 & alu::mask(ty),
        _ => unsigned,
    }
}

/// A source's components where the instruction takes it as it is.
fn split(bits: u64, ty: Ty) -> [u64; 4] {
    let width = u32::from(ty.bits());
    [0, 1, 2, 3].map(|k| bits.checked_shr(k * width).unwrap_or(0) & alu::mask(ty))
}
