//! Decoding: a word, its row, and what its fields say.

use super::fields::{Field, field};
use super::lanes::Pick;
use super::operand::{Source, SourceMods};
use super::table::{Dst, Row, Staging, row_of};
use crate::coded::coded;

/// How a thread goes on after an instruction, besides branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// At the next instruction; what is waited for has no effect here.
    Next,
    /// The program ends.
    End,
}

/// A decoded instruction. Every field of the word has a meaning in its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inst {
    /// Byte offset from the program's start.
    pub offset: u32,
    /// The word.
    pub word: u64,
    /// What it is.
    pub row: &'static Row,
}

/// Why a word is not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{kind} (byte offset {offset:#x}, word {word:#018x})")]
pub struct DecodeError {
    /// Byte offset from the program's start.
    pub offset: u32,
    /// The word.
    pub word: u64,
    /// What is wrong.
    pub kind: DecodeErrorKind,
}

coded! {
    /// What is wrong with a word.
    #[derive(Copy, Hash)]
    DecodeErrorKind: DECODE_CATALOGUE;
    /// No row has this opcode.
    UnknownOpcode { opcode: u16 } = "ISA-VAL-001", "no Valhall instruction has opcode {opcode:#x} with these bits";
    /// Bits that the instruction has no field at.
    ReservedBits { name: &'static str, bits: u64 } = "ISA-VAL-002",
        "{name} has no meaning for the bits {bits:#018x} of its word";
    /// A field holds a code without a meaning.
    ReservedCode { name: &'static str, field: &'static str, code: u32 } = "ISA-VAL-003",
        "{name} cannot have code {code} of {field}";
    /// A source code without a meaning.
    Source { name: &'static str, code: u8 } = "ISA-VAL-004", "{name} cannot have source code {code:#x}";
    /// Registers past the last one, or a pair at an odd one.
    Registers { name: &'static str, first: u8, count: u8 } = "ISA-VAL-005",
        "{name} takes {count} registers from r{first}: they must end at r63, and a pair begins at an even one";
    /// Bits 46 and 47: halves of a destination that are none, staging registers read that are written, or the reverse.
    Halves { name: &'static str, code: u8 } = "ISA-VAL-006",
        "{name} cannot have code {code} for the halves of its destination or the use of its staging registers";
}

impl Inst {
    /// Decodes the word at byte `offset`.
    ///
    /// # Errors
    /// The word is no instruction, or a field of it has no meaning.
    pub fn decode(word: u64, offset: u32) -> Result<Inst, DecodeError> {
        Inst::of(word, offset).map_err(|kind| DecodeError { offset, word, kind })
    }

    fn of(word: u64, offset: u32) -> Result<Inst, DecodeErrorKind> {
        let opcode = (word >> 48) as u16 & 0x1ff;
        let row = row_of(word).ok_or(DecodeErrorKind::UnknownOpcode { opcode })?;
        let inst = Inst { offset, word, row };
        if row.known {
            inst.check()?;
        }
        inst.check_field(&field::FLOW)?;
        Ok(inst)
    }

    fn check(&self) -> Result<(), DecodeErrorKind> {
        let name = self.row.name;
        let bits = self.word & !self.row.meant();
        if bits != 0 {
            return Err(DecodeErrorKind::ReservedBits { name, bits });
        }
        self.row.fields.iter().try_for_each(|f| self.check_field(f))?;
        (0..self.row.sources.len()).try_for_each(|i| self.check_source(i))?;
        self.check_destination()
    }

    fn check_field(&self, field: &Field) -> Result<(), DecodeErrorKind> {
        let code = field.of(self.word);
        let reserved = DecodeErrorKind::ReservedCode { name: self.row.name, field: field.name, code };
        field.name_in(self.word).map(|_| ()).ok_or(reserved)
    }

    fn check_source(&self, i: usize) -> Result<(), DecodeErrorKind> {
        let (name, kind) = (self.row.name, self.row.sources[i].1);
        let code = self.source_code(i);
        let source = Source::decode(code, self.page()).ok_or(DecodeErrorKind::Source { name, code })?;
        if let Source::Register(first, _) = source
            && self.takes_pair(i)
            && first % 2 != 0
        {
            return Err(DecodeErrorKind::Registers { name, first, count: 2 });
        }
        let Some(lanes) = kind.lanes(i) else { return Ok(()) };
        let code = ((self.word & lanes.mask()) >> lanes.lsb) as u32;
        let reserved = DecodeErrorKind::ReservedCode { name, field: "lanes", code };
        lanes.pick(self.word).map(|_| ()).ok_or(reserved)
    }

    fn check_destination(&self) -> Result<(), DecodeErrorKind> {
        let (name, first) = (self.row.name, self.register());
        let count = match self.row.staging {
            Staging::None if self.row.dst == Dst::Pair => 2,
            Staging::None => 1,
            Staging::Read | Staging::Write => self.staging_count(),
        };
        let odd = self.row.dst == Dst::Pair && first % 2 != 0;
        if odd || first + count > 64 {
            return Err(DecodeErrorKind::Registers { name, first, count });
        }
        let code = (self.word >> 46) as u8 & 3;
        let fits = match self.row.staging {
            Staging::None => match self.row.dst {
                Dst::None => true,
                Dst::Word => code != 0,
                Dst::Pair => code == 3,
            },
            Staging::Read => code == 1,
            Staging::Write => code & 2 != 0,
        };
        if fits { Ok(()) } else { Err(DecodeErrorKind::Halves { name, code }) }
    }

    fn source_code(&self, i: usize) -> u8 {
        (self.word >> (8 * self.row.sources[i].0)) as u8
    }

    fn page(&self) -> u8 {
        field::PAGE.of(self.word) as u8
    }

    /// Source `i`; what the row does not have is the constant 0.
    pub fn source(&self, i: usize) -> Source {
        let source = (i < self.row.sources.len()).then(|| Source::decode(self.source_code(i), self.page()));
        source.flatten().unwrap_or(Source::Constant(0))
    }

    /// Whether source `i` is a register pair: not if only parts of its low word are taken.
    pub fn takes_pair(&self, i: usize) -> bool {
        let Some((_, kind)) = self.row.sources.get(i) else { return false };
        kind.is_pair() && self.pick(i).is_none_or(|p| p.pieces[0].width == 64)
    }

    /// Which parts of source `i` are taken, where the row lets the word say so.
    pub fn pick(&self, i: usize) -> Option<Pick> {
        self.row.sources.get(i)?.1.lanes(i)?.pick(self.word)
    }

    /// What happens to source `i` before the operation sees it.
    pub fn source_mods(&self, i: usize) -> SourceMods {
        let Some((_, kind)) = self.row.sources.get(i) else { return SourceMods::default() };
        let [abs, neg] = kind.signs(i).unwrap_or_default().map(|bit| self.word & bit != 0);
        SourceMods { abs, neg, not: self.word & kind.not().unwrap_or(0) != 0 }
    }

    /// Destination, or first staging register.
    pub fn register(&self) -> u8 {
        (self.word >> 40) as u8 & 0x3f
    }

    /// Which halves of the destination are written: bit 0 the low one, bit 1 the high one.
    pub fn halves(&self) -> u8 {
        (self.word >> 46) as u8 & 3
    }

    /// Staging registers.
    pub fn staging_count(&self) -> u8 {
        field::STAGING_COUNT.of(self.word) as u8
    }

    /// The code of a modifier if the row has it, else 0.
    pub fn code(&self, field: &Field) -> u32 {
        if self.row.fields.contains(field) { field.of(self.word) } else { 0 }
    }

    /// The immediate of this name, 0 if the row has none.
    pub fn immediate(&self, name: &str) -> u32 {
        self.row.immediates.iter().find(|i| i.name == name).map_or(0, |i| i.of(self.word))
    }

    /// How the thread goes on.
    pub fn flow(&self) -> Flow {
        if field::FLOW.of(self.word) == 15 { Flow::End } else { Flow::Next }
    }
}
