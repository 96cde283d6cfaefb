//! Attributes: addresses from descriptors, loads with conversion, and stores with conversion.

use super::StopKind;
use super::buffer::{Buffer, Handle};
use super::control::Next;
use super::thread::{Special, Thread};
use crate::format::half_of_single;
use crate::mali::valhall::{Channel, Conversion, Inst, Op, RegisterFormat, field};

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Special)] = &[
    (Op::LoadAttrImm, |t, i| load(t, i, Handle::immediate(i))),
    (Op::LoadAttr, |t, i| {
        let handle = Handle::of(t.word(i, 2)?);
        load(t, i, handle)
    }),
    (Op::LeaAttrImm, |t, i| lea(t, i, Handle::immediate(i))),
    (Op::LeaAttr, |t, i| {
        let handle = Handle::of(t.word(i, 2)?);
        lea(t, i, handle)
    }),
    (Op::StoreConvert, store_converted),
    (Op::LoadConvert, load_converted),
];

/// An attribute descriptor of v9 and later.
struct Attribute {
    words: [u32; 6],
}

impl Attribute {
    fn format(&self) -> u32 {
        self.words[0] >> 10
    }

    /// Which element a thread takes.
    fn element(&self, thread: &Thread<'_>, vertex: u32, instance: u32) -> Option<u32> {
        let per_instance = self.words[1] >> 6 & 3;
        let number = *[vertex, instance].get(per_instance as usize)?;
        let number = match self.words[0] >> 8 & 1 {
            0 => number,
            _ => number.wrapping_add(thread.env.attribute_offset),
        };
        let (shift, round_up) = (self.words[1] >> 24 & 31, self.words[1] >> 29 & 1);
        match self.words[0] >> 4 & 15 {
            1 => Some(number),
            2 => Some(number >> shift),
            3 => {
                let magic = u64::from(self.words[5] | 1 << 31);
                let product = (u64::from(number) + u64::from(round_up)) * magic;
                Some((product >> 32 >> shift) as u32)
            }
            _ => None,
        }
    }

    /// Byte of the buffer at which an element begins.
    fn offset(&self, element: u32) -> i64 {
        i64::from(element)
            .wrapping_mul(i64::from(self.words[4]))
            .wrapping_add(i64::from(self.words[2] as i32))
    }
}

fn bad(inst: &Inst, what: &'static str) -> StopKind {
    StopKind::Descriptor { name: inst.row.name, what }
}

fn conversion(inst: &Inst, format: u32) -> Result<Conversion, StopKind> {
    let found = Conversion::of(format, inst.code(&field::REGFMT));
    found.ok_or(StopKind::Conversion { name: inst.row.name, format })
}

/// An attribute, its buffer, and the byte at which this thread's element begins.
fn locate(
    thread: &mut Thread<'_>,
    inst: &Inst,
    handle: Handle,
) -> Result<(Attribute, Buffer, i64), StopKind> {
    let (vertex, instance) = (thread.word(inst, 0)?, thread.word(inst, 1)?);
    let at = thread.descriptor(inst, handle)?;
    let mut words = [0; 6];
    for (i, word) in (0..).zip(&mut words) {
        *word = thread.load_word(at.wrapping_add(4 * i))?;
    }
    let attribute = Attribute { words };
    if words[0] & 15 != 5 {
        return Err(bad(inst, "a type other than that of an attribute"));
    }
    let element = attribute.element(thread, vertex, instance);
    let element = element.ok_or(bad(inst, "an attribute type or frequency that is not carried out"))?;
    let buffer = thread.buffer(inst, Handle { table: words[1] & 0x3f, index: words[3] })?;
    let offset = attribute.offset(element);
    Ok((attribute, buffer, offset))
}

fn load(thread: &mut Thread<'_>, inst: &Inst, handle: Handle) -> Result<Next, StopKind> {
    let (attribute, buffer, offset) = locate(thread, inst, handle)?;
    let conversion = conversion(inst, attribute.format())?;
    let bytes = conversion.format.bytes();
    let inside = offset >= 0 && offset + bytes as i64 <= i64::from(buffer.bytes);
    let registers = if inside {
        let mut element = [0; 16];
        thread.read(buffer.address.wrapping_add(offset as u64), &mut element[..bytes])?;
        loaded(&conversion, &element)
    } else {
        [0; 4]
    };
    put(thread, inst, &conversion, registers);
    Ok(Next::Follow)
}

/// The address of an element and its format.
fn lea(thread: &mut Thread<'_>, inst: &Inst, handle: Handle) -> Result<Next, StopKind> {
    let (attribute, buffer, offset) = locate(thread, inst, handle)?;
    let address = buffer.address.wrapping_add(offset as u64);
    thread.set_staged(inst, &[address as u32, (address >> 32) as u32, attribute.format()]);
    Ok(Next::Follow)
}

fn converted_place(thread: &mut Thread<'_>, inst: &Inst) -> Result<(u64, Conversion), StopKind> {
    let address = thread.pair(inst, 0)?.wrapping_add(inst.immediate("offset").into());
    let format = thread.word(inst, 1)? & 0x3f_ffff;
    Ok((address, conversion(inst, format)?))
}

fn load_converted(thread: &mut Thread<'_>, inst: &Inst) -> Result<Next, StopKind> {
    let (address, conversion) = converted_place(thread, inst)?;
    let mut element = [0; 16];
    thread.read(address, &mut element[..conversion.format.bytes()])?;
    let registers = loaded(&conversion, &element);
    put(thread, inst, &conversion, registers);
    Ok(Next::Follow)
}

fn store_converted(thread: &mut Thread<'_>, inst: &Inst) -> Result<Next, StopKind> {
    let (address, conversion) = converted_place(thread, inst)?;
    let half = conversion.register.is_half();
    let count = components(inst);
    let mut memory = [0; 4];
    for (i, channel) in (0u8..count).zip(conversion.channels) {
        let word = thread.staged(inst, if half { i / 2 } else { i });
        let part = if half { word >> (16 * (i % 2)) & 0xffff } else { word };
        if let (Channel::Memory(m), Some(c)) = (channel, conversion.format.components()[0])
            && let Some(slot) = memory.get_mut(usize::from(m))
        {
            *slot = widened(part, conversion.register, c.numeric.is_integer());
        }
    }
    let element = conversion.format.store(memory);
    thread.store_bytes(address, &element[..conversion.format.bytes()])?;
    Ok(Next::Follow)
}

/// A register component as the 32-bit number that formats are stored from.
fn widened(part: u32, register: RegisterFormat, integer: bool) -> u32 {
    match register {
        RegisterFormat::F16 if !integer => crate::format::single_of_half(part as u16),
        RegisterFormat::S16 => i32::from(part as u16 as i16) as u32,
        _ => part,
    }
}

/// Components that the instruction moves.
fn components(inst: &Inst) -> u8 {
    inst.code(&field::VECSIZE) as u8 + 1
}

/// The components that an element reads as, each in 32 bits.
fn loaded(conversion: &Conversion, element: &[u8; 16]) -> [u32; 4] {
    let memory = conversion.format.load(element);
    conversion.channels.map(|channel| match channel {
        Channel::Memory(m) => memory[usize::from(m & 3)],
        Channel::One => conversion.format.one(),
    })
}

/// Puts components into staging registers in their format.
fn put(thread: &mut Thread<'_>, inst: &Inst, conversion: &Conversion, values: [u32; 4]) {
    let count = usize::from(components(inst));
    if !conversion.register.is_half() {
        thread.set_staged(inst, &values[..count]);
        return;
    }
    let signed = conversion.format.components().iter().flatten().any(|c| c.numeric.is_signed());
    let half = |v: u32| match conversion.register.range() {
        None => u32::from(half_of_single(v)),
        Some((low, high)) if signed => (v as i32).clamp(low, high) as u32 & 0xffff,
        Some((_, high)) => v.min(high as u32),
    };
    let halves = values.map(half);
    let used = |i: usize| if i < count { halves[i] } else { 0 };
    let words = [used(0) | used(1) << 16, used(2) | used(3) << 16];
    thread.set_staged(inst, &words[..count.div_ceil(2)]);
}
