//! The MODE register as far as arithmetic is compiled for it.

/// How a result that the format cannot hold is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rounding {
    NearestEven,
    Up,
    Down,
    Zero,
}

/// The float mode of an instruction, which is compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mode {
    /// FLOAT_MODE: round32 1:0, round16_64 3:2, denorm32 5:4, denorm16_64 7:6.
    pub(crate) float: u8,
    pub(crate) dx10_clamp: bool,
    pub(crate) ieee: bool,
}

impl Mode {
    pub(crate) fn round32(self) -> Rounding {
        rounding(self.float)
    }

    pub(crate) fn round16_64(self) -> Rounding {
        rounding(self.float >> 2)
    }

    /// Denormal f32 sources count as zeros of their sign.
    pub(crate) fn flush_sources32(self) -> bool {
        self.float & 0x10 == 0
    }

    /// Denormal f32 results become zeros of their sign.
    pub(crate) fn flush_results32(self) -> bool {
        self.float & 0x20 == 0
    }

    /// The same of f16 and f64.
    pub(crate) fn flush_sources16_64(self) -> bool {
        self.float & 0x40 == 0
    }

    /// The same of f16 and f64.
    pub(crate) fn flush_results16_64(self) -> bool {
        self.float & 0x80 == 0
    }

    /// f32 denormals flushed at both ends, as some operations have it whatever MODE says.
    pub(crate) fn flushing32(self) -> Mode {
        Mode { float: self.float & !0x30, ..self }
    }
}

fn rounding(field: u8) -> Rounding {
    match field & 3 {
        0 => Rounding::NearestEven,
        1 => Rounding::Up,
        2 => Rounding::Down,
        _ => Rounding::Zero,
    }
}
