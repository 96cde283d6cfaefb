//! From bytes to instructions.

use super::compact::{bits, expand};
use super::error::Refusal;
use super::inst::{AccessMode, Condition, Dst, File, Inst, Region, Src, Type};
use super::table::{Kind, row};

/// Bytes of an instruction, full and compacted.
const FULL: usize = 16;
const COMPACTED: usize = 8;
/// Bytes of a unit of a branch's distance.
const JUMP: i32 = 8;
/// Sources of an operation whose encoding has three.
const THREE: u8 = 3;

/// The instruction at byte `pc` of a program.
///
/// # Errors
/// The code ends there, or a field has no meaning.
pub fn decode(code: &[u8], pc: u32) -> Result<Inst, Refusal> {
    let end = Refusal::CodeEnd { pc };
    let tail = code.get(pc as usize..).ok_or(end.clone())?;
    let low = u64::from_le_bytes(*tail.first_chunk().ok_or(end.clone())?);
    let word = Word { pc, bits: u128::from(low) };
    if word.get(29, 29) != 0 {
        let word = Word { pc, bits: expand(low) };
        return word.inst(COMPACTED as u32);
    }
    let bits = u128::from_le_bytes(*tail.first_chunk::<FULL>().ok_or(end)?);
    Word { pc, bits }.inst(FULL as u32)
}

/// A full instruction word.
#[derive(Clone, Copy)]
struct Word {
    pc: u32,
    bits: u128,
}

/// Types of registers, and of immediates, by their numbers.
const TYPES: [Type; 8] = [Type::Ud, Type::D, Type::Uw, Type::W, Type::Ub, Type::B, Type::Df, Type::F];
const IMMEDIATE_TYPES: [Option<Type>; 8] = [
    Some(Type::Ud),
    Some(Type::D),
    Some(Type::Uw),
    Some(Type::W),
    Some(Type::Uv),
    Some(Type::Vf),
    Some(Type::V),
    Some(Type::F),
];
/// Types of the three-source encoding.
const THREE_TYPES: [Type; 4] = [Type::F, Type::D, Type::Ud, Type::Df];
const FILES: [Option<File>; 4] = [Some(File::Architecture), Some(File::General), None, Some(File::Immediate)];
const CONDITIONS: [Option<Condition>; 10] = [
    None,
    Some(Condition::Z),
    Some(Condition::Nz),
    Some(Condition::G),
    Some(Condition::Ge),
    Some(Condition::L),
    Some(Condition::Le),
    None,
    Some(Condition::O),
    Some(Condition::U),
];

impl Word {
    fn get(self, hi: u32, lo: u32) -> u32 {
        bits(self.bits, hi, lo)
    }

    fn flag(self, bit: u32) -> bool {
        self.get(bit, bit) != 0
    }

    fn bad(self, field: &'static str, value: u32) -> Refusal {
        Refusal::Field { pc: self.pc, field, value }
    }

    fn inst(self, bytes: u32) -> Result<Inst, Refusal> {
        let opcode = self.get(6, 0) as u8;
        let row = row(opcode).ok_or(Refusal::Opcode { pc: self.pc, opcode })?;
        let access = if self.flag(8) { AccessMode::Align16 } else { AccessMode::Align1 };
        let channels = self.get(23, 21);
        let channels =
            1u8.checked_shl(channels).filter(|n| *n <= 32).ok_or(self.bad("execution size", channels))?;
        let is_message = row.kind == Kind::Send;
        let (dst, src) = match row.sources {
            THREE => self.three_operands()?,
            sources => (self.dst(access)?, self.sources(access, sources)?),
        };
        Ok(Inst {
            pc: self.pc,
            bytes,
            row,
            access,
            channels,
            no_mask: self.flag(9),
            predicate: (self.get(19, 16) as u8, self.flag(20)),
            flag: if row.sources == THREE {
                (self.get(34, 34) as u8, self.get(33, 33) as u8)
            } else {
                (self.get(90, 90) as u8, self.get(89, 89) as u8)
            },
            condition: if is_message { None } else { self.condition()? },
            saturate: self.flag(31),
            dst,
            src,
            message: (self.get(27, 24) as u8, (src[1].file == File::Immediate).then_some(src[1].immediate)),
            jumps: (self.jump(111, 96), self.jump(127, 112)),
        })
    }

    /// A branch's distance in bytes.
    fn jump(self, hi: u32, lo: u32) -> i32 {
        i32::from(self.get(hi, lo) as u16 as i16) * JUMP
    }

    fn condition(self) -> Result<Option<Condition>, Refusal> {
        match self.get(27, 24) {
            0 => Ok(None),
            value => match CONDITIONS.get(value as usize).copied().flatten() {
                Some(condition) => Ok(Some(condition)),
                None => Err(self.bad("conditional modifier", value)),
            },
        }
    }

    fn file(self, hi: u32) -> Result<File, Refusal> {
        let value = self.get(hi, hi - 1);
        FILES[value as usize].ok_or(self.bad("register file", value))
    }

    fn dst(self, access: AccessMode) -> Result<Dst, Refusal> {
        if self.flag(63) {
            return Err(Refusal::Operand { pc: self.pc, what: "an indirect destination" });
        }
        let stride = self.get(62, 61);
        let (byte, mask) = match access {
            AccessMode::Align1 => (self.get(52, 48), 0xf),
            AccessMode::Align16 => (self.get(52, 52) * 16, self.get(51, 48)),
        };
        Ok(Dst {
            file: self.file(33)?,
            ty: TYPES[self.get(36, 34) as usize],
            register: self.get(60, 53) as u8,
            byte: byte as u8,
            mask: mask as u8,
            stride: spread(stride),
        })
    }

    fn sources(self, access: AccessMode, count: u8) -> Result<[Src; 3], Refusal> {
        let none = Src {
            file: File::Architecture,
            ty: Type::Ud,
            register: 0,
            byte: 0,
            region: Region::Elements { vertical: 0, width: 1, horizontal: 0 },
            absolute: false,
            negate: false,
            immediate: 0,
        };
        let first = if count > 0 { self.source(access, 64, 38, 41)? } else { none };
        let second = if count > 1 { self.source(access, 96, 43, 46)? } else { none };
        Ok([first, second, none])
    }

    /// The source whose fields start at bit `base`, with its file and type below the bits given.
    fn source(self, access: AccessMode, base: u32, file: u32, ty: u32) -> Result<Src, Refusal> {
        let file = self.file(file)?;
        let ty = self.get(ty, ty - 2);
        let at = |hi: u32, lo: u32| self.get(base + hi, base + lo);
        let (byte, region) = match access {
            AccessMode::Align1 => (at(4, 0), elements(at(24, 21), at(20, 18), at(17, 16))),
            AccessMode::Align16 => (at(4, 4) * 16, Some(vectors(at(24, 21), at(3, 0) | at(19, 16) << 4))),
        };
        if file == File::Immediate {
            let ty = IMMEDIATE_TYPES[ty as usize].ok_or(self.bad("type of an immediate", ty))?;
            let region = Region::Elements { vertical: 0, width: 1, horizontal: 0 };
            let immediate = self.get(127, 96);
            return Ok(Src {
                file,
                ty,
                register: 0,
                byte: 0,
                region,
                absolute: false,
                negate: false,
                immediate,
            });
        }
        if at(15, 15) != 0 {
            return Err(Refusal::Operand { pc: self.pc, what: "an indirect source" });
        }
        Ok(Src {
            file,
            ty: TYPES[ty as usize],
            register: at(12, 5) as u8,
            byte: byte as u8,
            region: region.ok_or(self.bad("region", at(24, 16)))?,
            absolute: at(13, 13) != 0,
            negate: at(14, 14) != 0,
            immediate: 0,
        })
    }

    /// The operands of the three-source encoding, which is always align16.
    fn three_operands(self) -> Result<(Dst, [Src; 3]), Refusal> {
        let ty = |hi: u32| THREE_TYPES[self.get(hi, hi - 1) as usize];
        let dst = Dst {
            file: File::General,
            ty: ty(45),
            register: self.get(63, 56) as u8,
            byte: (self.get(55, 53) * 4) as u8,
            mask: self.get(52, 49) as u8,
            stride: 1,
        };
        let source = |base: u32, modifiers: u32| {
            let replicated = self.flag(base);
            let component = (self.get(base + 11, base + 9) & 3) as u8;
            let swizzle = match replicated {
                true => [component; 4],
                false => swizzle(self.get(base + 8, base + 1)),
            };
            let byte = self.get(base + 11, base + 9) * 4;
            Src {
                file: File::General,
                ty: ty(43),
                register: self.get(base + 19, base + 12) as u8,
                byte: (byte & if replicated { 16 } else { 31 }) as u8,
                region: Region::Vectors { vertical: if replicated { 0 } else { 4 }, swizzle },
                absolute: self.flag(modifiers),
                negate: self.flag(modifiers + 1),
                immediate: 0,
            }
        };
        Ok((dst, [source(64, 36), source(85, 38), source(106, 40)]))
    }
}

/// Elements between channels: 0, 1, 2 and 4 by their code.
fn spread(code: u32) -> u8 {
    if code == 0 { 0 } else { 1 << (code - 1).min(3) }
}

fn elements(vertical: u32, width: u32, horizontal: u32) -> Option<Region> {
    let vertical = match vertical {
        0 => 0,
        1..=6 => 1 << (vertical - 1),
        _ => return None,
    };
    (width <= 4).then(|| Region::Elements { vertical, width: 1 << width, horizontal: spread(horizontal) })
}

fn vectors(vertical: u32, code: u32) -> Region {
    Region::Vectors { vertical: if vertical == 0 { 0 } else { 4 }, swizzle: swizzle(code) }
}

/// Two bits a component.
fn swizzle(code: u32) -> [u8; 4] {
    [0, 2, 4, 6].map(|shift| (code >> shift & 3) as u8)
}
