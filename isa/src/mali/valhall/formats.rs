//! Conversions between memory and staging registers, from a format word and an instruction's register format.

use crate::format::{Crossing, Format, Register, mali};

/// Version whose format words these are.
const VERSION: u8 = 9;

/// Registers by the code of the register format field.
const REGISTERS: [Option<Register>; 8] = [
    Some(Register::Auto32),
    None,
    Some(Register::F32),
    Some(Register::F16),
    Some(Register::S32),
    Some(Register::S16),
    Some(Register::U32),
    Some(Register::U16),
];

/// A conversion between an element in memory and registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The element; without bytes it is made of constants.
    pub format: Format,
    /// The registers; two components of 16 bits share one.
    pub register: Register,
}

impl Conversion {
    /// What a load of an element with this format word (22 bits) does with registers of a format code; `None` for words that
    /// are no format, and where floats would become integers, which public facts call lossy.
    pub fn load(word: u32, register: u32) -> Option<Conversion> {
        Conversion::of(word, register, Register::load_crossing)
    }

    /// What a store of registers to such an element does; `None` also where integers would become floats.
    pub fn store(word: u32, register: u32) -> Option<Conversion> {
        Conversion::of(word, register, Register::store_crossing)
    }

    fn of(
        word: u32,
        register: u32,
        crossing: fn(Register, crate::format::Numeric) -> Crossing,
    ) -> Option<Conversion> {
        let register = (*REGISTERS.get(register as usize)?)?;
        let format = mali(VERSION, word).ok()?.format;
        let lossy = |c: &crate::format::Component| crossing(register, c.numeric) == Crossing::Lossy;
        (!format.components().iter().flatten().any(lossy)).then_some(Conversion { format, register })
    }

    /// Registers that `components` of them take.
    pub fn registers(&self, components: usize) -> usize {
        (components * usize::from(self.register.bits())).div_ceil(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_captured_attributes_convert() {
        // RGBA32F to f32, RGBA8 UNORM to f32, R16I (order RGB1) to s32.
        for (word, register, bytes) in [(0x2fc0_0115u32, 2, 16), (0x2ec0_0115, 2, 4), (0x3100_4115, 4, 2)] {
            assert_eq!(Conversion::load(word >> 10, register).map(|c| c.format.bytes()), Some(bytes));
        }
    }

    #[test]
    fn floats_do_not_go_to_integer_registers() {
        assert_eq!(Conversion::load(191 << 12, 4), None);
        assert_eq!(Conversion::store(191 << 12, 4), None);
        // Integers become floats of their value, and are not stored from floats.
        assert!(Conversion::load(155 << 12, 2).is_some());
        assert_eq!(Conversion::store(155 << 12, 2), None);
        assert_eq!(Conversion::load(155 << 12, 1), None);
    }
}
