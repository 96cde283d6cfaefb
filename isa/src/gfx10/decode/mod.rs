//! From instruction words to [`Inst`].
//!
//! The encoding, the opcode's row, and the places of its operands come from the tables. Code here knows the codings
//! of operand fields ([`operand`]), the dword that SDWA and DPP add ([`lane`]), the modifiers of each encoding
//! ([`mods`]) and the address registers of images ([`image`]).

mod error;
mod image;
mod lane;
mod mods;
mod operand;

pub use error::{CATALOGUE as DECODE_CATALOGUE, DecodeError, DecodeErrorKind};

use super::table::{Coding, EncodingLayout, Flags, OpRow, OperandSpec, Place, bits};
use super::{Encoding, Inst, Mods, NumberKind, Operand, Target, VopMods, WaveSize, sreg};

/// Decodes the instruction that begins with `words[0]`.
///
/// `words` is the rest of the code, `offset` the byte offset of its first word, kept in the instruction and in the
/// error. Words beyond the instruction are not looked at.
///
/// # Errors
///
/// [`DecodeError`] if the words are not an instruction of the target, or end inside one.
pub fn decode(words: &[u32], offset: u32, target: Target) -> Result<Inst, DecodeError> {
    let word = words.first().copied().unwrap_or(0);
    Reader::new(words, target).and_then(|reader| reader.read(offset)).map_err(|kind| DecodeError {
        offset,
        word,
        kind,
    })
}

/// Decodes as [`decode`] does and checks that the instruction can stand in a program of this wave size.
///
/// # Errors
///
/// Those of [`decode`], and in wave64 a lane mask in a register that has no pair (`vcc_hi`, `m0`, `exec_hi`).
pub fn decode_wave(words: &[u32], offset: u32, target: Target, wave: WaveSize) -> Result<Inst, DecodeError> {
    let inst = decode(words, offset, target)?;
    let masks =
        |o: Operand, s: Option<OperandSpec>| s.is_some_and(|s| s.kind == NumberKind::Mask).then_some(o);
    let Some(row) = inst.row() else { return Ok(inst) };
    let operands = inst.dst.into_iter().zip(row.dst).chain(inst.src.into_iter().zip(row.src));
    let unpaired = operands.filter_map(|(o, s)| masks(o, s)).find(|o| !operand::is_wide_mask(*o));
    match unpaired {
        Some(Operand::Sgpr(code)) if wave == WaveSize::W64 => {
            let kind = DecodeErrorKind::Operand { op: inst.op, code: code.into() };
            Err(DecodeError { offset, word: inst.words[0], kind })
        }
        _ => Ok(inst),
    }
}

type Result<T, E = DecodeErrorKind> = std::result::Result<T, E>;

/// One instruction as it is read.
struct Reader<'a> {
    words: &'a [u32],
    target: Target,
    row: &'static OpRow,
    /// The encoding's dwords, without what follows them.
    bits: u64,
    /// Dwords that are known to belong to the instruction.
    len: u8,
    literal: Option<u32>,
}

impl<'a> Reader<'a> {
    fn new(words: &'a [u32], target: Target) -> Result<Self> {
        let &word = words.first().ok_or(DecodeErrorKind::Truncated { needed: 1 })?;
        let layout = EncodingLayout::of(word).ok_or(DecodeErrorKind::UnknownEncoding)?;
        let high = match layout.dwords {
            1 => 0,
            needed => *words.get(1).ok_or(DecodeErrorKind::Truncated { needed })?,
        };
        let bits = u64::from(word) | u64::from(high) << 32;
        let opcode = layout.opcode(bits);
        let row = layout
            .row(opcode, target)
            .ok_or(DecodeErrorKind::UnknownOpcode { encoding: layout.encoding, opcode })?;
        let wrong = (bits & row.fixed.mask) ^ row.fixed.value;
        match wrong {
            0 => Ok(Reader { words, target, row, bits, len: layout.dwords, literal: None }),
            bits => Err(DecodeErrorKind::ReservedBits { op: row.op, bits }),
        }
    }

    fn read(mut self, offset: u32) -> Result<Inst> {
        let mut inst = Inst {
            op: self.row.op,
            encoding: self.row.encoding,
            offset,
            words: [0; 5],
            len: 0,
            dst: [Operand::None; 2],
            src: [Operand::None; 4],
            mods: Mods::None,
        };
        match self.lane_form() {
            Some(form) => self.read_lane_form(form, &mut inst)?,
            None => self.read_plain(&mut inst)?,
        }
        inst.len = self.len;
        for (to, from) in inst.words.iter_mut().zip(self.words).take(usize::from(self.len)) {
            *to = *from;
        }
        Ok(inst)
    }

    fn read_plain(&mut self, inst: &mut Inst) -> Result<()> {
        self.read_operands(inst)?;
        inst.mods = self.mods()?;
        match self.row.encoding {
            Encoding::Mimg => self.finish_image(inst),
            Encoding::Mubuf | Encoding::Mtbuf => self.finish_buffer(inst),
            Encoding::Flat | Encoding::Global | Encoding::Scratch => self.finish_flat(inst),
            Encoding::Smem => self.finish_scalar_memory(inst),
            _ => Ok(()),
        }
    }

    fn read_operands(&mut self, inst: &mut Inst) -> Result<()> {
        // An atomic that does not return has no destination.
        if !self.row.has(Flags::RTN) || self.returns() {
            for (i, place) in self.row.dst_places.into_iter().enumerate() {
                inst.dst[i] = self.operand(place, self.row.dst[i])?;
            }
        }
        for (i, place) in self.row.src_places.into_iter().enumerate() {
            inst.src[i] = self.operand(place, self.row.src[i])?;
        }
        Ok(())
    }

    fn operand(&mut self, place: Place, spec: Option<OperandSpec>) -> Result<Operand> {
        match (place, spec) {
            (Place::Field(coding, bits), Some(spec)) => self.coded(coding, bits.of(self.bits) as u16, &spec),
            (Place::Vcc, _) => Ok(Operand::Sgpr(sreg::VCC_LO)),
            (Place::Exec, _) => Ok(Operand::Sgpr(sreg::EXEC_LO)),
            (Place::Literal, _) => self.literal(),
            _ => Ok(Operand::None),
        }
    }

    /// The dword after the encoding's own; the instruction has at most one.
    fn literal(&mut self) -> Result<Operand> {
        if self.literal.is_none() {
            self.literal = Some(self.next_word()?);
        }
        Ok(self.literal.map_or(Operand::None, Operand::Literal))
    }

    fn next_word(&mut self) -> Result<u32> {
        let needed = self.len + 1;
        let word = self.words.get(usize::from(self.len)).ok_or(DecodeErrorKind::Truncated { needed })?;
        self.len = needed;
        Ok(*word)
    }

    fn bad_operand(&self, code: u16) -> DecodeErrorKind {
        DecodeErrorKind::Operand { op: self.row.op, code }
    }
}
