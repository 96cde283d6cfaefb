//! Format words of v7 and later, as far as programs' attribute and image accesses convert them.

use crate::format::{Component, Format, Numeric};

/// Format of staging registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterFormat {
    /// 32 bits a component, of whatever kind memory has.
    Auto,
    /// f32.
    F32,
    /// f16, two components a register.
    F16,
    /// Signed 32-bit integers.
    S32,
    /// Signed 16-bit integers, two a register.
    S16,
    /// Unsigned 32-bit integers.
    U32,
    /// Unsigned 16-bit integers, two a register.
    U16,
}

impl RegisterFormat {
    /// The format of a code of the register format field.
    pub fn of(code: u32) -> Option<RegisterFormat> {
        use RegisterFormat as R;
        const CODES: [Option<RegisterFormat>; 8] = [
            Some(R::Auto),
            None,
            Some(R::F32),
            Some(R::F16),
            Some(R::S32),
            Some(R::S16),
            Some(R::U32),
            Some(R::U16),
        ];
        *CODES.get(code as usize)?
    }

    /// Whether a register holds two components.
    pub fn is_half(self) -> bool {
        matches!(self, Self::F16 | Self::S16 | Self::U16)
    }

    /// Whether components are floats; `None` where memory decides.
    pub fn is_float(self) -> Option<bool> {
        (self != Self::Auto).then_some(matches!(self, Self::F32 | Self::F16))
    }

    /// The range that integers of 16 bits are clamped to.
    pub fn range(self) -> Option<(i32, i32)> {
        match self {
            Self::S16 => Some((-0x8000, 0x7fff)),
            Self::U16 => Some((0, 0xffff)),
            _ => None,
        }
    }
}

/// What a component of a register comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// A channel of memory, 0 to 3; one that the format lacks reads as 0, the fourth as 1.
    Memory(u8),
    /// The constant 1.
    One,
}

/// A conversion between an element in memory and registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The element. Integer elements of float registers are scaled ones: converted by value.
    pub format: Format,
    /// What each component of the registers comes from.
    pub channels: [Channel; 4],
    /// The registers.
    pub register: RegisterFormat,
}

/// Component orders by the low twelve bits of the word.
const ORDERS: &[(u32, [Channel; 4])] = &[
    (0, [Channel::Memory(0), Channel::Memory(1), Channel::Memory(2), Channel::Memory(3)]),
    (4, [Channel::Memory(2), Channel::Memory(1), Channel::Memory(0), Channel::Memory(3)]),
    (16, [Channel::Memory(0), Channel::Memory(1), Channel::Memory(2), Channel::One]),
    (20, [Channel::Memory(2), Channel::Memory(1), Channel::Memory(0), Channel::One]),
];

/// Numeric kinds by the class of a plain format: of integer channels, and of channels of code 7 with their bits.
const CLASSES: [(u32, Numeric, Option<u8>); 4] = [
    (3, Numeric::Snorm, None),
    (4, Numeric::Uint, None),
    (5, Numeric::Unorm, Some(32)),
    (6, Numeric::Sint, Some(16)),
];

impl Conversion {
    /// The conversion of a format word (22 bits) to or from registers of a format code; `None` for words that are no plain
    /// format of 8, 16 or 32 bits a channel, and for floats in integer registers.
    pub fn of(word: u32, register: u32) -> Option<Conversion> {
        let register = RegisterFormat::of(register)?;
        let (_, channels) = ORDERS.iter().find(|o| o.0 == word & 0xfff)?;
        if word >> 20 & 3 != 0 {
            return None;
        }
        let format = plain(word >> 12 & 0xff, register.is_float())?;
        Some(Conversion { format, channels: *channels, register })
    }
}

fn plain(number: u32, float: Option<bool>) -> Option<Format> {
    let (_, kind, float_bits) = CLASSES.iter().find(|c| c.0 == number >> 5)?;
    let (numeric, width) = match number & 7 {
        7 => (Numeric::Float, (*float_bits)?),
        code @ 3..=5 => (*kind, 1 << code),
        _ => return None,
    };
    let numeric = match (numeric, float) {
        (Numeric::Uint, Some(true)) => Numeric::Uscaled,
        (Numeric::Sint, Some(true)) => Numeric::Sscaled,
        (Numeric::Uint | Numeric::Sint, _) => numeric,
        (_, Some(false)) => return None,
        _ => numeric,
    };
    let count = (number >> 3 & 3) as u8 + 1;
    let component = |i: u8| (i < count).then_some(Component { shift: i * width, width, numeric });
    Format::new(count * width / 8, [0, 1, 2, 3].map(component))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_captured_attributes_convert() {
        // RGBA32F to f32, RGBA8 UNORM to f32, R16I (order RGB1) to s32.
        let rows = [(0x2fc0_0115u32, 2, 16), (0x2ec0_0115, 2, 4), (0x3100_4115, 4, 2)];
        for (word, register, bytes) in rows {
            let conversion = Conversion::of(word >> 10, register).unwrap();
            assert_eq!(conversion.format.bytes(), bytes);
        }
        let id = Conversion::of(0x3100_4115 >> 10, 4).unwrap();
        assert_eq!(
            id.format.load(&[0xfd, 0xff, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            [-3i32 as u32, 0, 0, 1]
        );
    }

    #[test]
    fn floats_do_not_go_to_integer_registers() {
        assert_eq!(Conversion::of(191 << 12, 4), None);
        assert_eq!(Conversion::of(163 << 12, 6), None);
        assert!(
            Conversion::of(155 << 12, 2)
                .is_some_and(|c| c.format.components()[0].unwrap().numeric == Numeric::Uscaled)
        );
    }
}
