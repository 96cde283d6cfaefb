//! Attributes: addresses from descriptors, loads with conversion, and stores with conversion.

use guestwave_isa::format::{Component, Fill, Numeric, Register};
use guestwave_isa::mali::valhall::{Conversion, Inst, Op, field};

use super::Refusal;
use super::emit::{Emit, Lower};
use super::error::BAD_DESCRIPTOR;
use super::memory::units;
use super::resource::{Handle, env};
use crate::program::{BinOp, UnOp, Value};

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Lower)] = &[
    (Op::LoadAttrImm, |e, i| {
        let handle = e.immediate_handle(i);
        load(e, i, &handle)
    }),
    (Op::LoadAttr, |e, i| {
        let handle = e.register_handle(i, 2)?;
        load(e, i, &handle)
    }),
    (Op::LeaAttrImm, |e, i| {
        let handle = e.immediate_handle(i);
        lea(e, i, &handle)
    }),
    (Op::LeaAttr, |e, i| {
        let handle = e.register_handle(i, 2)?;
        lea(e, i, &handle)
    }),
    (Op::StoreConvert, store_converted),
    (Op::LoadConvert, load_converted),
];

/// Bits of an attribute descriptor's second word that are assumed: table, frequency, divisor.
const MODES: u32 = 0x3f00_00ff;

/// Where a thread's element lies.
struct Place {
    /// The format word.
    format: u32,
    /// Address of the buffer, a `B64`, and its bytes, a `B32`.
    buffer: (Value, Value),
    /// Byte of the buffer at which the element begins, a `B64`.
    offset: Value,
}

/// Where this thread's element lies; `None` if the descriptor is not an attribute's, after a trap that says so.
fn locate(e: &mut Emit<'_>, inst: &Inst, handle: &Handle) -> Result<Option<Place>, Refusal> {
    let (vertex, instance) = (e.word(inst, 0)?, e.word(inst, 1)?);
    let at = e.descriptor(inst, handle);
    let words = [0, 4, 8, 12, 16, 20].map(|byte| e.dword(inst, &at, byte));
    let kind = e.assume(inst, &words[0], u32::MAX)?;
    let modes = e.assume(inst, &words[1], MODES)?;
    let (frequency, attribute) = (modes >> 6 & 3, kind >> 4 & 15);
    if kind & 15 != 5 || frequency > 1 || !(1..=3).contains(&attribute) {
        let always = e.b.cbool(true);
        e.b.trap_if(always, BAD_DESCRIPTOR, inst.offset);
        return Ok(None);
    }
    let mut number = [vertex, instance][frequency as usize];
    if kind >> 8 & 1 != 0 {
        let offset = e.environment(env::ATTRIBUTE_OFFSET);
        number = e.b.bin(BinOp::Add, number, offset);
    }
    let shift = modes >> 24 & 31;
    let element = match attribute {
        1 => number,
        2 => e.b.shift(BinOp::ShrU, number, shift),
        _ => divided(e, number, words[5].value, shift, modes >> 29 & 1),
    };
    let [element, stride] = [element, words[4].value].map(|n| e.b.un(UnOp::Extend, n));
    let offset = e.b.bin(BinOp::Mul, element, stride);
    let start = e.b.un(UnOp::ExtendS, words[2].value);
    let offset = e.b.bin(BinOp::Add, offset, start);
    let [.., index, _, _] = words;
    let handle = Handle { table: modes & 0x3f, index: e.extended(index) };
    let buffer = e.buffer(inst, &handle);
    Ok(Some(Place { format: kind >> 10, buffer, offset }))
}

/// A number divided by an NPOT divisor: the high half of its product with a magic number, shifted.
fn divided(e: &mut Emit<'_>, number: Value, magic: Value, shift: u32, round_up: u32) -> Value {
    let magic = e.b.with_constant(BinOp::Or, magic, 1 << 31);
    let [number, magic] = [number, magic].map(|n| e.b.un(UnOp::Extend, n));
    let number = e.b.with_constant(BinOp::Add, number, round_up.into());
    let product = e.b.bin(BinOp::Mul, number, magic);
    let quotient = e.b.shift(BinOp::ShrU, product, 32 + shift);
    e.b.un(UnOp::Low, quotient)
}

fn conversion(e: &Emit<'_>, inst: &Inst, found: Option<Conversion>) -> Result<Conversion, Refusal> {
    let conversion = found.ok_or(e.refuse(inst, "a format that does not go with its registers"))?;
    let known = |c: &Component| c.numeric != Numeric::Shared && c.shift % 32 + c.width <= 32;
    match conversion.format.components().iter().flatten().all(known) {
        true => Ok(conversion),
        false => Err(e.refuse(inst, "components across words or with a shared exponent")),
    }
}

fn loading(e: &Emit<'_>, inst: &Inst, format: u32) -> Result<Conversion, Refusal> {
    conversion(e, inst, Conversion::load(format, inst.code(&field::REGFMT)))
}

fn load(e: &mut Emit<'_>, inst: &Inst, handle: &Handle) -> Result<(), Refusal> {
    let Some(place) = locate(e, inst, handle)? else { return Ok(()) };
    let conversion = loading(e, inst, place.format)?;
    let bytes = conversion.format.bytes() as u64;
    // Beyond 32 bits nothing is inside, and below nothing overflows.
    let near = e.b.with_constant(BinOp::LtU, place.offset, 1 << 32);
    let end = e.b.with_constant(BinOp::Add, place.offset, bytes);
    let size = e.b.un(UnOp::Extend, place.buffer.1);
    let fits = e.b.bin(BinOp::LeU, end, size);
    let inside = e.b.bin(BinOp::And, near, fits);
    let address = e.b.bin(BinOp::Add, place.buffer.0, place.offset);
    let values = element(e, inst, &conversion, address, inside);
    let zero = e.b.c32(0);
    let values = values.map(|v| e.b.select(inside, v, zero));
    put(e, inst, &conversion, values);
    Ok(())
}

/// The components that the element at an address reads as where `there` holds.
fn element(
    e: &mut Emit<'_>,
    inst: &Inst,
    conversion: &Conversion,
    address: Value,
    there: Value,
) -> [Value; 4] {
    let format = conversion.format;
    let (bytes, zero) = (e.b.c32(format.bytes() as u32), e.b.c32(0));
    let valid = e.b.select(there, bytes, zero);
    let words = match format.bytes() {
        0 => Vec::new(),
        n => e.load_units(address, valid, units(n), inst.offset),
    };
    let one = one(conversion);
    [0, 1, 2, 3].map(|i: usize| match (format.components()[i], format.fill()[i]) {
        (Some(c), _) => {
            let word = words.get(usize::from(c.shift / 32)).copied().unwrap_or(zero);
            component(e, conversion.register, c, word)
        }
        (None, Fill::One) => e.b.c32(one),
        (None, Fill::Zero) => zero,
    })
}

/// The 1 of registers.
fn one(conversion: &Conversion) -> u32 {
    match conversion.register {
        Register::F16 => 0x3c00,
        Register::F32 => 0x3f80_0000,
        Register::Auto32 => conversion.format.one(),
        _ => 1,
    }
}

/// A component of a word as a register has it.
fn component(e: &mut Emit<'_>, register: Register, c: Component, word: Value) -> Value {
    let numeric = match (register.is_float(), c.numeric) {
        (true, Numeric::Uint) => Numeric::Uscaled,
        (true, Numeric::Sint) => Numeric::Sscaled,
        (_, numeric) => numeric,
    };
    if register == Register::F16 && numeric == Numeric::Float && c.width == 16 {
        let half = e.b.shift(BinOp::ShrU, word, (c.shift % 32).into());
        return e.b.with_constant(BinOp::And, half, 0xffff);
    }
    let value = e.convert().load_component(Component { numeric, ..c }, word);
    match (register, c.numeric) {
        (Register::F16, _) => e.convert().half_of_single(value),
        // A register smaller than the component takes the nearest value it can hold.
        (Register::U16, Numeric::Sint) if c.width > 16 => {
            let positive = e.b.with_constant(BinOp::MaxS, value, 0);
            e.b.with_constant(BinOp::MinU, positive, 0xffff)
        }
        (Register::U16, _) if c.width > 16 => e.b.with_constant(BinOp::MinU, value, 0xffff),
        (Register::S16, Numeric::Uint) if c.width > 16 => e.b.with_constant(BinOp::MinU, value, 0x7fff),
        (Register::S16, _) if c.width > 16 => {
            let below = e.b.with_constant(BinOp::MinS, value, 0x7fff);
            e.b.with_constant(BinOp::MaxS, below, 0xffff_8000)
        }
        _ => value,
    }
}

/// The address of an element and its format.
fn lea(e: &mut Emit<'_>, inst: &Inst, handle: &Handle) -> Result<(), Refusal> {
    let Some(place) = locate(e, inst, handle)? else { return Ok(()) };
    let address = e.b.bin(BinOp::Add, place.buffer.0, place.offset);
    let words = [e.b.un(UnOp::Low, address), e.b.un(UnOp::High, address), e.b.c32(place.format)];
    e.set_staged(inst, &words);
    Ok(())
}

/// Address and format word of a converting access.
fn converted(e: &mut Emit<'_>, inst: &Inst) -> Result<(Value, u32), Refusal> {
    let base = e.pair(inst, 0)?;
    let address = e.b.with_constant(BinOp::Add, base, inst.immediate("offset").into());
    let word = e.word(inst, 1)?;
    let format = e.b.constant(word);
    let format = format.ok_or(e.refuse(inst, "a conversion that is no constant"))?;
    Ok((address, format as u32 & 0x3f_ffff))
}

fn load_converted(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Refusal> {
    let (address, format) = converted(e, inst)?;
    let conversion = loading(e, inst, format)?;
    let there = e.b.cbool(true);
    let values = element(e, inst, &conversion, address, there);
    put(e, inst, &conversion, values);
    Ok(())
}

fn store_converted(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Refusal> {
    let (address, format) = converted(e, inst)?;
    let conversion = conversion(e, inst, Conversion::store(format, inst.code(&field::REGFMT)))?;
    let form = conversion.format;
    let zero = e.b.c32(0);
    let mut words = vec![zero; form.bytes().div_ceil(4)];
    let mut put = Vec::new();
    for (i, c) in form.components().iter().enumerate() {
        // Where several components read one channel, the first of them is stored.
        let Some(c) = c.filter(|c| !put.contains(&c.shift)) else { continue };
        put.push(c.shift);
        let register = component_register(e, inst, &conversion, i);
        let bits = stored(e, &conversion, c, register);
        let placed = e.b.shift(BinOp::Shl, bits, (c.shift % 32).into());
        if let Some(word) = words.get_mut(usize::from(c.shift / 32)) {
            *word = e.b.bin(BinOp::Or, *word, placed);
        }
    }
    if form.bytes() != 0 {
        e.store_units(address, &words, units(form.bytes()), inst.offset);
    }
    Ok(())
}

/// Component `i` of the staging registers, 0 if the instruction does not have it.
fn component_register(e: &mut Emit<'_>, inst: &Inst, conversion: &Conversion, i: usize) -> Value {
    if i >= components(inst) {
        return e.b.c32(0);
    }
    if conversion.register.bits() != 16 {
        return e.staged(inst, i as u8);
    }
    let pair = e.staged(inst, i as u8 / 2);
    let half = e.b.shift(BinOp::ShrU, pair, 16 * (i as u32 % 2));
    let half = e.b.with_constant(BinOp::And, half, 0xffff);
    match conversion.register {
        Register::F16 => e.convert().single_of_half(half),
        Register::S16 => e.b.un(UnOp::Sext16, half),
        _ => half,
    }
}

/// The bits that a 32-bit register is stored as in a component.
fn stored(e: &mut Emit<'_>, conversion: &Conversion, c: Component, value: Value) -> Value {
    // An integer goes as it is to a component no smaller than its register, whatever either thinks of the sign.
    if c.numeric.is_integer() && c.width >= conversion.register.bits() {
        let ones = u64::from(u32::MAX >> (32 - u32::from(c.width)));
        return e.b.with_constant(BinOp::And, value, ones);
    }
    let signed = match conversion.register {
        Register::Auto32 => c.numeric == Numeric::Sint,
        register => matches!(register, Register::S16 | Register::S32),
    };
    let value = match (c.numeric, signed) {
        // The ranges of one sign clamp numbers of the other first.
        (Numeric::Uint, true) => e.b.with_constant(BinOp::MaxS, value, 0),
        (Numeric::Sint, false) => e.b.with_constant(BinOp::MinU, value, 0x7fff_ffff),
        _ => value,
    };
    e.convert().store_component(c, value)
}

/// Components that the instruction moves.
fn components(inst: &Inst) -> usize {
    inst.code(&field::VECSIZE) as usize + 1
}

/// Puts components into staging registers in their format.
fn put(e: &mut Emit<'_>, inst: &Inst, conversion: &Conversion, values: [Value; 4]) {
    let count = components(inst);
    let zero = e.b.c32(0);
    let used = |i: usize| if i < count { values[i] } else { zero };
    if conversion.register.bits() != 16 {
        let words: Vec<Value> = (0..count).map(used).collect();
        return e.set_staged(inst, &words);
    }
    let words: Vec<Value> = (0..count.div_ceil(2))
        .map(|i| {
            let low = e.b.with_constant(BinOp::And, used(2 * i), 0xffff);
            let high = e.b.shift(BinOp::Shl, used(2 * i + 1), 16);
            e.b.bin(BinOp::Or, low, high)
        })
        .collect();
    e.set_staged(inst, &words);
}
