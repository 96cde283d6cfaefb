//! Inline constants and literals.

use super::{Flags, OperandSpec, Text};
use crate::gfx10::{InlineFloat, NumberKind};

/// The inline floats: name, and bits as an f16 and as an f32.
const FLOATS: [(InlineFloat, &str, u16, u32); 9] = [
    (InlineFloat::Half, "0.5", 0x3800, 0x3f00_0000),
    (InlineFloat::MinusHalf, "-0.5", 0xb800, 0xbf00_0000),
    (InlineFloat::One, "1.0", 0x3c00, 0x3f80_0000),
    (InlineFloat::MinusOne, "-1.0", 0xbc00, 0xbf80_0000),
    (InlineFloat::Two, "2.0", 0x4000, 0x4000_0000),
    (InlineFloat::MinusTwo, "-2.0", 0xc000, 0xc000_0000),
    (InlineFloat::Four, "4.0", 0x4400, 0x4080_0000),
    (InlineFloat::MinusFour, "-4.0", 0xc400, 0xc080_0000),
    (InlineFloat::InvTwoPi, "0.15915494", 0x3118, 0x3e22_f983),
];

/// 1 / (2 pi) as a double.
const INV_TWO_PI_F64: &str = "0.15915494309189532";

/// How wide LLVM takes a constant to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Half,
    Packed,
    Single,
    Double,
}

impl Text<'_> {
    pub(super) fn inline_float(&self, constant: InlineFloat, spec: &OperandSpec) -> String {
        let Some((_, name, half, _)) = FLOATS.iter().find(|(c, ..)| *c == constant) else {
            return String::new();
        };
        match self.constant_width(spec) {
            Width::Half | Width::Packed if is_integer(spec) => format!("{half:#x}"),
            Width::Double if constant == InlineFloat::InvTwoPi => INV_TWO_PI_F64.to_owned(),
            _ => (*name).to_owned(),
        }
    }

    /// A literal, written as the inline constant that it equals if there is one.
    pub(super) fn literal(&self, word: u32, spec: &OperandSpec) -> String {
        match self.constant_width(spec) {
            Width::Half => half(word, spec),
            Width::Packed if word <= 0xffff => half(word, spec),
            Width::Packed | Width::Single => single(word),
            Width::Double if word <= 64 => word.to_string(),
            Width::Double => format!("{word:#x}"),
        }
    }

    /// Mixed-precision operands count as halves, those of `v_fmamk_f16` and an operand with sign extension (the
    /// exponent of `v_ldexp_f16`) as dwords.
    fn constant_width(&self, spec: &OperandSpec) -> Width {
        let extended =
            (0..).zip(self.row.src).any(|(i, s)| s == Some(*spec) && self.row.int_mods >> i & 1 != 0);
        match spec {
            _ if self.has(Flags::MIX) => Width::Half,
            OperandSpec { kind: NumberKind::PackedInt | NumberKind::PackedFloat, .. } => Width::Packed,
            OperandSpec { bits: 16, .. } if !extended && !self.has(Flags::WIDE) => Width::Half,
            OperandSpec { bits: 64, .. } => Width::Double,
            _ => Width::Single,
        }
    }
}

fn is_integer(spec: &OperandSpec) -> bool {
    !matches!(spec.kind, NumberKind::Float | NumberKind::PackedFloat)
}

/// The text of an inline integer.
fn inline_int(value: i32) -> Option<String> {
    (-16..=64).contains(&value).then(|| value.to_string())
}

/// The low half of a literal. LLVM compares the whole of it with the named floats.
fn half(word: u32, spec: &OperandSpec) -> String {
    let named = |f: &&(InlineFloat, &str, u16, u32)| !is_integer(spec) && u32::from(f.2) == word;
    let name = || FLOATS.iter().find(named).map(|f| f.1.to_owned());
    let bits = word as u16;
    inline_int(i32::from(bits as i16)).or_else(name).unwrap_or_else(|| format!("{bits:#x}"))
}

fn single(bits: u32) -> String {
    let name = || FLOATS.iter().find(|(.., single)| *single == bits).map(|f| f.1.to_owned());
    inline_int(bits as i32).or_else(name).unwrap_or_else(|| format!("{bits:#x}"))
}

/// A number that LLVM writes as it writes a dword's constant.
pub(super) fn small(value: u16) -> String {
    single(value.into())
}
