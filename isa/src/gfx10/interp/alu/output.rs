//! Destination types and the output modifiers OMOD and CLAMP.

use super::Mode;
use super::format::{F16, F32, F64, Format, decode, exponent_field, is_nan, is_negative, store};

/// The type of a vector operation's destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// A half float; like every 16-bit destination it is one half of the register and the other half is kept.
    F16,
    /// A half float that goes to the high half of the register whatever OP_SEL says (`v_fma_mixhi_f16`).
    F16High,
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
            Output::F32 | Output::U32 | Output::I32 => 32,
            Output::F64 | Output::U64 | Output::I64 => 64,
        }
    }

    const fn signed(self) -> bool {
        matches!(self, Output::I16 | Output::I32 | Output::I64)
    }
}

/// Applies OMOD (0 none, 1 times 2, 2 times 4, 3 divided by 2), then CLAMP, to a result.
///
/// Both act on floats; an integer's bits pass unchanged (an operation whose integer result can saturate does so
/// itself). OMOD is ignored if MODE keeps denormal results of the type or sets IEEE; where it acts, it takes zeros
/// and denormals to +0.
pub fn finish(mode: &Mode, output: Output, bits: u64, omod: u8, clamp: bool) -> u64 {
    match output {
        Output::F16 | Output::F16High => modify::<F16>(mode, bits, omod, clamp),
        Output::F32 => modify::<F32>(mode, bits, omod, clamp),
        Output::F64 => modify::<F64>(mode, bits, omod, clamp),
        _ => bits,
    }
}

fn modify<F: Format>(mode: &Mode, bits: u64, omod: u8, clamp: bool) -> u64 {
    let active = omod != 0 && !mode.ieee() && F::flush_results(mode);
    let scaled = if active { scale::<F>(mode, bits, [0, 1, 2, -1][usize::from(omod & 3)]) } else { bits };
    if clamp { clamp_to_unit::<F>(mode, scaled) } else { scaled }
}

fn scale<F: Format>(mode: &Mode, bits: u64, by: i32) -> u64 {
    if is_nan::<F>(bits) {
        return bits;
    }
    if exponent_field::<F>(bits) == 0 {
        return 0;
    }
    store::<F>(mode, Some(decode::<F>(bits).map(|e| e.scale(by))))
}

/// To `[+0, 1]`; a NaN becomes 0 with DX10_CLAMP and is kept without.
pub(super) fn clamp_to_unit<F: Format>(mode: &Mode, bits: u64) -> u64 {
    if is_nan::<F>(bits) {
        return if mode.dx10_clamp() { 0 } else { bits };
    }
    if is_negative::<F>(bits) { 0 } else { bits.min(F::ONE) }
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
