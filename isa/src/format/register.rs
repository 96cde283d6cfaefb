//! What a register holds, and what a load or a store between two kinds of numbers does.

use super::Component;
use super::float::{Binary, F16, F32, F64};
use super::numeric::{Number, Numeric};

/// How a register holds a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// 32 bits: an f32 for float memory, a signed or unsigned integer for memory of integers. Memory of 32-bit components
    /// is copied as it is.
    Auto32,
    /// A 16-bit float.
    F16,
    /// A 32-bit float.
    F32,
    /// A 64-bit float.
    F64,
    /// A signed 16-bit integer.
    S16,
    /// An unsigned 16-bit integer.
    U16,
    /// A signed 32-bit integer.
    S32,
    /// An unsigned 32-bit integer.
    U32,
    /// A 64-bit integer with the sign of the memory's.
    I64,
}

/// What happens to a component between memory and a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Crossing {
    /// Between two floats or two integers: the value, or its bits where the sizes are equal.
    Same,
    /// An integer in memory becomes a float register of its value (scaled vertex formats).
    Scaled,
    /// A float and an integer that public facts leave open and call lossy. Here: equal sizes keep their bits, else the
    /// value is converted, its fraction dropped. Whoever meets it should say so.
    Lossy,
}

impl Register {
    /// Bits of one component.
    pub const fn bits(self) -> u8 {
        match self {
            Register::F16 | Register::S16 | Register::U16 => 16,
            Register::Auto32 | Register::F32 | Register::S32 | Register::U32 => 32,
            Register::F64 | Register::I64 => 64,
        }
    }

    /// Whether it holds a float.
    pub const fn is_float(self) -> bool {
        matches!(self, Register::F16 | Register::F32 | Register::F64)
    }

    /// The kind of register that [`Register::Auto32`] stands for with memory of this kind.
    pub(super) fn settled(self, memory: Numeric) -> Register {
        match (self, memory) {
            (Register::Auto32, Numeric::Sint) => Register::S32,
            (Register::Auto32, Numeric::Uint) => Register::U32,
            (Register::Auto32, _) => Register::F32,
            (register, _) => register,
        }
    }

    /// What a load from memory of this kind does.
    pub fn load_crossing(self, memory: Numeric) -> Crossing {
        match (memory.is_integer(), self.settled(memory).is_float()) {
            (true, true) => Crossing::Scaled,
            (false, false) => Crossing::Lossy,
            _ => Crossing::Same,
        }
    }

    /// What a store to memory of this kind does.
    pub fn store_crossing(self, memory: Numeric) -> Crossing {
        match memory.is_integer() == self.settled(memory).is_float() {
            true => Crossing::Lossy,
            false => Crossing::Same,
        }
    }

    fn binary(self) -> Binary {
        match self {
            Register::F16 => F16,
            Register::F64 => F64,
            _ => F32,
        }
    }

    /// The register's bits of 1.
    pub(super) fn one(self) -> u64 {
        self.encode(Number::Integer(1), 1)
    }

    /// The register that a component's bits read as.
    pub(super) fn load(self, c: Component, bits: u64, exponent: u32) -> u64 {
        let register = self.settled(c.numeric);
        if register.load_crossing(c.numeric) == Crossing::Lossy && c.width == register.bits() {
            return bits;
        }
        register.encode(c.numeric.load(bits, c.width, exponent), c.width)
    }

    /// The bits that a register is stored as in a component.
    pub(super) fn store(self, c: Component, register: u64) -> u64 {
        let kind = self.settled(c.numeric);
        let lossy = kind.store_crossing(c.numeric) == Crossing::Lossy;
        // A component no smaller than the register takes an integer as it is, whatever either thinks of the sign.
        let kept =
            if lossy { c.width == kind.bits() } else { c.numeric.is_integer() && c.width >= kind.bits() };
        let number = kind.number(register, c.numeric);
        match number {
            Number::Integer(value) if kept => value as u64 & super::mask(c.width),
            Number::Float(_) if kept => register & super::mask(c.width),
            _ => c.numeric.store(number, c.width),
        }
    }

    /// What a register of this kind stands for.
    pub(super) fn number(self, register: u64, memory: Numeric) -> Number {
        let bits = register & super::mask(self.bits());
        match self {
            _ if self.is_float() => Number::Float(self.binary().decode(bits)),
            Register::S16 => Number::Integer((bits as i16).into()),
            Register::S32 => Number::Integer((bits as i32).into()),
            Register::I64 if memory == Numeric::Sint => Number::Integer((bits as i64).into()),
            _ => Number::Integer(bits.into()),
        }
    }

    /// The register's bits for a number that came from `width` bits of memory: floats round to nearest even; integers
    /// are extended, or clamped if the register is smaller.
    fn encode(self, number: Number, width: u8) -> u64 {
        match number {
            Number::Float(value) if self.is_float() => self.binary().encode(value),
            Number::Integer(value) if self.is_float() => {
                let magnitude = u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX);
                self.binary().encode(super::float::Value::Finite {
                    negative: value < 0,
                    magnitude,
                    exponent: 0,
                })
            }
            Number::Integer(value) if width <= self.bits() => value as u64 & super::mask(self.bits()),
            number => self.integer().store(number, self.bits()) & super::mask(self.bits()),
        }
    }

    /// The integer that a register of this kind holds.
    fn integer(self) -> Numeric {
        match self {
            Register::S16 | Register::S32 | Register::I64 => Numeric::Sint,
            _ => Numeric::Uint,
        }
    }
}
