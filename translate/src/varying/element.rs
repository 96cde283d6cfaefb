//! From an element's bytes to registers and back.

use guestwave_isa::format::{Component, Fill, Format, Numeric, Register};

use super::{Emit, Move};
use crate::convert::Convert;
use crate::program::{BinOp, UnOp, Value, Width};

/// The largest units that an element is whole ones of.
fn unit(bytes: usize) -> Width {
    match bytes {
        b if b.is_multiple_of(4) => Width::W32,
        b if b.is_multiple_of(2) => Width::W16,
        _ => Width::W8,
    }
}

/// What a component's number is once it is loaded.
fn is_float(register: Register, memory: Numeric) -> bool {
    register.is_float() || (register == Register::Auto32 && !memory.is_integer())
}

impl Emit {
    /// The element as 32-bit words.
    pub(super) fn load_element(&mut self, format: &Format, place: (Value, Value)) -> Vec<Value> {
        let width = unit(format.bytes());
        let count = format.bytes() / width.bytes() as usize;
        if count == 0 {
            return Vec::new();
        }
        let units = self.b.load(count, self.access(place, width));
        let per_word = 4 / width.bytes() as usize;
        units.chunks(per_word).map(|units| self.joined(units, 8 * width.bytes())).collect()
    }

    /// Units of `bits` bits side by side, the first lowest.
    fn joined(&mut self, units: &[Value], bits: u32) -> Value {
        let mut word = None;
        for (at, unit) in (0u32..).zip(units) {
            let by = self.b.c32(at * bits);
            let moved = self.b.bin(BinOp::Shl, *unit, by);
            word = Some(word.map_or(moved, |w| self.b.bin(BinOp::Or, w, moved)));
        }
        word.unwrap_or_else(|| self.b.c32(0))
    }

    /// The four registers of an element's words.
    pub(super) fn load_registers(&mut self, one: &Move, words: &[Value]) -> [Value; 4] {
        let format = one.from.format;
        let float =
            if one.register == Register::Auto32 { !format.is_integer() } else { one.register.is_float() };
        std::array::from_fn(|i| match (format.components()[i], format.fill()[i]) {
            (Some(c), _) => self.load_register(one.register, c, words),
            (None, Fill::One) if float => self.b.c32(1f32.to_bits()),
            (None, Fill::One) => self.b.c32(1),
            (None, Fill::Zero) => self.b.c32(0),
        })
    }

    fn load_register(&mut self, register: Register, c: Component, words: &[Value]) -> Value {
        let at = usize::from(c.shift / 32);
        let low = words.get(at).copied();
        let word = low.unwrap_or_else(|| self.b.c32(0));
        // A component may lie across two words (24-bit formats do): shift it to the front first.
        let crosses = c.shift % 32 + c.width > 32;
        let (c, word) = match words.get(at + 1) {
            Some(next) if crosses => (Component { shift: 0, ..c }, self.across(word, *next, c.shift % 32)),
            _ => (c, word),
        };
        let loaded = Convert { b: &mut self.b }.load_component(c, word);
        match (is_float(register, c.numeric), c.numeric) {
            (true, Numeric::Uint) => self.b.un(UnOp::F32FromU32, loaded),
            (true, Numeric::Sint) => self.b.un(UnOp::F32FromS32, loaded),
            _ => loaded,
        }
    }

    /// 32 bits from bit `shift` of `low` on, going on in `high`.
    fn across(&mut self, low: Value, high: Value, shift: u8) -> Value {
        let (down, up) = (self.b.c32(shift.into()), self.b.c32(32 - u32::from(shift)));
        let low = self.b.bin(BinOp::ShrU, low, down);
        let high = self.b.bin(BinOp::Shl, high, up);
        self.b.bin(BinOp::Or, low, high)
    }

    /// Stores registers as an element.
    pub(super) fn store_element(&mut self, one: &Move, registers: [Value; 4], place: (Value, Value)) {
        let format = one.to.format;
        let zero = self.b.c32(0);
        let mut words = vec![zero; format.bytes().div_ceil(4)];
        for (i, c) in format.components().iter().enumerate() {
            let Some(c) = c else { continue };
            let twice = format.components().iter().take(i).flatten().any(|e| e.shift == c.shift);
            if !twice {
                let bits = self.store_register(one.register, *c, registers[i]);
                self.put(&mut words, *c, bits);
            }
        }
        let width = unit(format.bytes());
        let units = self.parted(&words, format.bytes(), width);
        if !units.is_empty() {
            let access = self.access(place, width);
            self.b.store(units, access);
        }
    }

    /// The bits of a component. An integer of the other sign than the component's is limited as the codec does.
    fn store_register(&mut self, register: Register, c: Component, value: Value) -> Value {
        let signed = match register {
            Register::S32 => true,
            Register::U32 => false,
            // An automatic register is of the memory's kind.
            _ => c.numeric == Numeric::Sint,
        };
        let value = match (c.numeric, signed) {
            _ if c.width == 32 || !c.numeric.is_integer() => value,
            (Numeric::Uint, true) => {
                let zero = self.b.c32(0);
                self.b.bin(BinOp::MaxS, value, zero)
            }
            (Numeric::Sint, false) => {
                let most = self.b.c32(u32::MAX >> (33 - u32::from(c.width)));
                self.b.bin(BinOp::MinU, value, most)
            }
            _ => value,
        };
        Convert { b: &mut self.b }.store_component(c, value)
    }

    fn put(&mut self, words: &mut [Value], c: Component, bits: Value) {
        let (at, shift) = (usize::from(c.shift / 32), u32::from(c.shift % 32));
        let by = self.b.c32(shift);
        let low = self.b.bin(BinOp::Shl, bits, by);
        if let Some(word) = words.get_mut(at) {
            *word = self.b.bin(BinOp::Or, *word, low);
        }
        if shift + u32::from(c.width) > 32
            && let Some(word) = words.get_mut(at + 1)
        {
            let by = self.b.c32(32 - shift);
            let high = self.b.bin(BinOp::ShrU, bits, by);
            *word = self.b.bin(BinOp::Or, *word, high);
        }
    }

    /// The units of words, as many as `bytes` are.
    fn parted(&mut self, words: &[Value], bytes: usize, width: Width) -> Vec<Value> {
        let per_word = 4 / width.bytes();
        let count = bytes / width.bytes() as usize;
        let places = (0..count as u32).map(|n| ((n / per_word) as usize, n % per_word * 8 * width.bytes()));
        places
            .map(|(word, shift)| {
                let by = self.b.c32(shift);
                let word = words.get(word).copied().unwrap_or(by);
                self.b.bin(BinOp::ShrU, word, by)
            })
            .collect()
    }
}
