//! Attributes: addresses from descriptors, loads with conversion, and stores with conversion.

use super::StopKind;
use super::buffer::{Buffer, Handle};
use super::control::Next;
use super::thread::{Special, Thread};
use crate::format::ELEMENT_BYTES;
use crate::mali::valhall::{Conversion, Inst, Op, field};

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

fn known(inst: &Inst, format: u32, found: Option<Conversion>) -> Result<Conversion, StopKind> {
    found.ok_or(StopKind::Conversion { name: inst.row.name, format })
}

fn loading(inst: &Inst, format: u32) -> Result<Conversion, StopKind> {
    known(inst, format, Conversion::load(format, inst.code(&field::REGFMT)))
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
    let conversion = loading(inst, attribute.format())?;
    let bytes = conversion.format.bytes();
    let inside = offset >= 0 && offset.saturating_add(bytes as i64) <= i64::from(buffer.bytes);
    let address = buffer.address.wrapping_add(offset as u64);
    let values = if inside { element(thread, &conversion, address)? } else { [0; 4] };
    put(thread, inst, &conversion, values);
    Ok(Next::Follow)
}

/// The components that the element at an address reads as.
fn element(thread: &mut Thread<'_>, conversion: &Conversion, address: u64) -> Result<[u64; 4], StopKind> {
    let mut element = [0; ELEMENT_BYTES];
    let bytes = conversion.format.bytes();
    if bytes != 0 {
        thread.read(address, &mut element[..bytes])?;
    }
    Ok(conversion.format.read(&element, conversion.register))
}

/// The address of an element and its format.
fn lea(thread: &mut Thread<'_>, inst: &Inst, handle: Handle) -> Result<Next, StopKind> {
    let (attribute, buffer, offset) = locate(thread, inst, handle)?;
    let address = buffer.address.wrapping_add(offset as u64);
    thread.set_staged(inst, &[address as u32, (address >> 32) as u32, attribute.format()]);
    Ok(Next::Follow)
}

/// Address and format word of a converting access.
fn converted(thread: &mut Thread<'_>, inst: &Inst) -> Result<(u64, u32), StopKind> {
    let address = thread.pair(inst, 0)?.wrapping_add(inst.immediate("offset").into());
    Ok((address, thread.word(inst, 1)? & 0x3f_ffff))
}

fn load_converted(thread: &mut Thread<'_>, inst: &Inst) -> Result<Next, StopKind> {
    let (address, format) = converted(thread, inst)?;
    let conversion = loading(inst, format)?;
    let values = element(thread, &conversion, address)?;
    put(thread, inst, &conversion, values);
    Ok(Next::Follow)
}

fn store_converted(thread: &mut Thread<'_>, inst: &Inst) -> Result<Next, StopKind> {
    let (address, format) = converted(thread, inst)?;
    let conversion = known(inst, format, Conversion::store(format, inst.code(&field::REGFMT)))?;
    let half = conversion.register.bits() == 16;
    let value = |i: u8| match half {
        _ if usize::from(i) >= components(inst) => 0,
        true => u64::from(thread.staged(inst, i / 2) >> (16 * (i % 2)) & 0xffff),
        false => thread.staged(inst, i).into(),
    };
    let element = conversion.format.write([0, 1, 2, 3].map(value), conversion.register);
    thread.store_bytes(address, &element[..conversion.format.bytes()])?;
    Ok(Next::Follow)
}

/// Components that the instruction moves.
fn components(inst: &Inst) -> usize {
    inst.code(&field::VECSIZE) as usize + 1
}

/// Puts components into staging registers in their format.
fn put(thread: &mut Thread<'_>, inst: &Inst, conversion: &Conversion, values: [u64; 4]) {
    let count = components(inst);
    let used = |i: usize| if i < count { values[i] as u32 } else { 0 };
    let words = match conversion.register.bits() {
        16 => [used(0) | used(1) << 16, used(2) | used(3) << 16, 0, 0],
        _ => [used(0), used(1), used(2), used(3)],
    };
    thread.set_staged(inst, &words[..conversion.registers(count).min(4)]);
}
