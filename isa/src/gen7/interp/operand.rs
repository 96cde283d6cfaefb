//! Register file, and what sources read and destinations take.

use super::super::error::Refusal;
use super::super::inst::{AccessMode, File, Inst, Region, Src, Type};

/// Bytes of a register, and of all of them.
const REGISTER: usize = 32;
const FILE: usize = 128 * REGISTER;
/// Components of a vertex.
const VECTOR: u32 = 4;

/// The general registers.
#[derive(Clone)]
pub(super) struct Registers {
    bytes: Vec<u8>,
}

/// A source's element, or a result: a float's bits, or an integer wide enough for every type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Element {
    Float(u32),
    Integer(i64),
}

impl Registers {
    pub(super) fn new() -> Registers {
        Registers { bytes: vec![0; FILE] }
    }

    /// A dword of a register; 0 past the end of the file.
    pub(super) fn dword(&self, register: usize, index: usize) -> u32 {
        let at = register * REGISTER + index * 4;
        self.bytes.get(at..at + 4).map_or(0, little)
    }

    pub(super) fn set_dword(&mut self, register: usize, index: usize, value: u32) {
        let at = register * REGISTER + index * 4;
        if let Some(bytes) = self.bytes.get_mut(at..at + 4) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }

    /// The element that a channel of an instruction reads of a source, with its modifiers.
    pub(super) fn source(&self, inst: &Inst, src: &Src, channel: u32) -> Result<Element, Refusal> {
        let pc = inst.pc;
        let doubles = Refusal::Operand { pc, what: "a source of 64-bit floats" };
        let element = match src.file {
            File::Immediate => immediate(src, channel),
            File::General => element(self.raw(inst, src, channel)?, src.ty),
            File::Architecture => {
                return Err(Refusal::Operand { pc, what: "an architecture register as a source" });
            }
        };
        Ok(modified(element.ok_or(doubles)?, src))
    }

    fn raw(&self, inst: &Inst, src: &Src, channel: u32) -> Result<u32, Refusal> {
        let (pc, size) = (inst.pc, src.ty.bytes().min(4));
        if size != 4 && inst.access == AccessMode::Align16 {
            return Err(Refusal::Operand { pc, what: "an align16 source that is not of 32 bits" });
        }
        let base = u32::from(src.register) * REGISTER as u32 + u32::from(src.byte);
        let byte = base + place(src.region, channel) * size;
        let bytes = self.bytes.get(byte as usize..(byte + size) as usize);
        bytes.map(little).ok_or(Refusal::Register { pc, byte })
    }

    /// Stores a channel's result.
    pub(super) fn store(&mut self, inst: &Inst, channel: u32, result: Element) -> Result<(), Refusal> {
        let (dst, pc) = (&inst.dst, inst.pc);
        if dst.file == File::Architecture && dst.register == 0 {
            return Ok(());
        }
        if dst.file != File::General {
            return Err(Refusal::Operand { pc, what: "an architecture register as a destination" });
        }
        let size = destination_bytes(inst)?;
        let stride = if inst.access == AccessMode::Align16 { 1 } else { u32::from(dst.stride) };
        let base = u32::from(dst.register) * REGISTER as u32 + u32::from(dst.byte);
        let byte = base + channel * stride * size;
        let raw = match result {
            Element::Float(bits) => bits,
            Element::Integer(value) => value as u32,
        };
        let bytes = self.bytes.get_mut(byte as usize..(byte + size) as usize);
        let bytes = bytes.ok_or(Refusal::Register { pc, byte })?;
        bytes.copy_from_slice(&raw.to_le_bytes()[..size as usize]);
        Ok(())
    }
}

fn destination_bytes(inst: &Inst) -> Result<u32, Refusal> {
    match (inst.dst.ty.bytes(), inst.access) {
        (8, _) => Err(Refusal::Operand { pc: inst.pc, what: "a destination of 64-bit floats" }),
        (4, _) | (_, AccessMode::Align1) => Ok(inst.dst.ty.bytes()),
        _ => Err(Refusal::Operand { pc: inst.pc, what: "an align16 destination that is not of 32 bits" }),
    }
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// The element of a channel, counted from the source's first.
fn place(region: Region, channel: u32) -> u32 {
    match region {
        Region::Elements { vertical, width, horizontal } => {
            let width = u32::from(width.max(1));
            channel / width * u32::from(vertical) + channel % width * u32::from(horizontal)
        }
        Region::Vectors { vertical, swizzle } => {
            channel / VECTOR * u32::from(vertical) + u32::from(swizzle[(channel % VECTOR) as usize])
        }
    }
}

/// An element's value; `None` for 64-bit floats.
fn element(raw: u32, ty: Type) -> Option<Element> {
    Some(match ty {
        Type::F | Type::Vf => Element::Float(raw),
        Type::Ud | Type::Uw | Type::Ub | Type::Uv => Element::Integer(i64::from(raw)),
        Type::D => Element::Integer(i64::from(raw as i32)),
        Type::W | Type::V => Element::Integer(i64::from(raw as u16 as i16)),
        Type::B => Element::Integer(i64::from(raw as u8 as i8)),
        Type::Df => return None,
    })
}

/// An immediate's element: packed ones have one for each channel in turn.
fn immediate(src: &Src, channel: u32) -> Option<Element> {
    let bits = src.immediate;
    match src.ty {
        Type::Vf => Some(Element::Float(small_float((bits >> (8 * (channel % 4))) as u8))),
        Type::V => Some(Element::Integer(i64::from((bits << (28 - 4 * (channel % 8))) as i32 >> 28))),
        Type::Uv => Some(Element::Integer(i64::from(bits >> (4 * (channel % 8)) & 0xf))),
        Type::Uw | Type::W => element(bits & 0xffff, src.ty),
        ty => element(bits, ty),
    }
}

/// The f32 of an 8-bit float: a sign, three bits of exponent, four of fraction; zero has none of them.
fn small_float(bits: u8) -> u32 {
    let (sign, rest) = (u32::from(bits >> 7) << 31, u32::from(bits & 0x7f));
    match rest {
        0 => sign,
        _ => sign | ((rest >> 4) + 124) << 23 | (rest & 0xf) << 19,
    }
}

fn modified(element: Element, src: &Src) -> Element {
    const SIGN: u32 = 1 << 31;
    match element {
        Element::Float(bits) => {
            let bits = if src.absolute { bits & !SIGN } else { bits };
            Element::Float(if src.negate { bits ^ SIGN } else { bits })
        }
        Element::Integer(value) => {
            let value = if src.absolute { value.abs() } else { value };
            Element::Integer(if src.negate { -value } else { value })
        }
    }
}
