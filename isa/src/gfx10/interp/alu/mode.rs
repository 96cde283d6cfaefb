//! The MODE register, as far as arithmetic reads it.

/// How a result that the format cannot hold is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest value, ties to the even one.
    NearestEven,
    /// Toward plus infinity.
    Up,
    /// Toward minus infinity.
    Down,
    /// Toward zero.
    Zero,
}

/// The MODE register: FP_ROUND in 3:0, FP_DENORM in 7:4, DX10_CLAMP in bit 8, IEEE in bit 9, FP16_OVFL in bit 23.
///
/// Each of the first two is two fields of two bits: the low one rules f32, the high one f16 and f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// The register as `s_getreg_b32` reads it.
    pub bits: u32,
}

impl Mode {
    /// Rounding of f32 results.
    pub const fn round32(&self) -> Rounding {
        rounding(self.bits)
    }
    /// Rounding of f16 and f64 results.
    pub const fn round16_64(&self) -> Rounding {
        rounding(self.bits >> 2)
    }
    /// Whether denormal f32 sources count as zeros of their sign.
    pub const fn flush_sources32(&self) -> bool {
        self.bits & 1 << 4 == 0
    }
    /// Whether denormal f32 results become zeros of their sign.
    pub const fn flush_results32(&self) -> bool {
        self.bits & 1 << 5 == 0
    }
    /// Whether denormal f16 and f64 sources count as zeros of their sign.
    pub const fn flush_sources16_64(&self) -> bool {
        self.bits & 1 << 6 == 0
    }
    /// Whether denormal f16 and f64 results become zeros of their sign.
    pub const fn flush_results16_64(&self) -> bool {
        self.bits & 1 << 7 == 0
    }
    /// The same mode with f32 denormals flushed at both ends, as some operations have it whatever MODE says.
    pub const fn flushing32(&self) -> Mode {
        Mode { bits: self.bits & !(3 << 4) }
    }
    /// The same mode without flushing of sources.
    pub const fn keeping_sources(&self) -> Mode {
        Mode { bits: self.bits | 1 << 4 | 1 << 6 }
    }
    /// DX10_CLAMP: the clamp modifier turns NaN into zero.
    pub const fn dx10_clamp(&self) -> bool {
        self.bits & 1 << 8 != 0
    }
    /// IEEE: a signalling NaN wins in min and max, and output modifiers are off.
    pub const fn ieee(&self) -> bool {
        self.bits & 1 << 9 != 0
    }
    /// FP16_OVFL: an f16 result that overflows is the largest finite value of its sign.
    pub const fn fp16_ovfl(&self) -> bool {
        self.bits & 1 << 23 != 0
    }
}

const fn rounding(field: u32) -> Rounding {
    match field & 3 {
        0 => Rounding::NearestEven,
        1 => Rounding::Up,
        2 => Rounding::Down,
        _ => Rounding::Zero,
    }
}
