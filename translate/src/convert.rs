//! Components of elements to registers and back, as sequences with the bits of `guestwave-isa`'s codec on every backend.

use guestwave_isa::format::{Component, Format, Numeric};

use crate::program::{BinOp, Builder, UnOp, Value};

fn ones(width: u8) -> u32 {
    u32::MAX >> (32 - u32::from(width.clamp(1, 32)))
}

/// Appends conversions to a program.
pub(crate) struct Convert<'b> {
    /// Where to.
    pub(crate) b: &'b mut Builder,
}

impl Convert<'_> {
    fn with_constant(&mut self, op: BinOp, a: Value, bits: u64) -> Value {
        let b = self.b.c32(bits as u32);
        self.b.bin(op, a, b)
    }

    fn shift(&mut self, op: BinOp, a: Value, by: u32) -> Value {
        let by = self.b.c32(by);
        self.b.bin(op, a, by)
    }

    /// The register that a component of `word` reads as.
    pub(crate) fn load_component(&mut self, c: Component, word: Value) -> Value {
        let (shift, width) = (u32::from(c.shift % 32), u32::from(c.width));
        let unsigned = |e: &mut Self| {
            let moved = e.shift(BinOp::ShrU, word, shift);
            e.with_constant(BinOp::And, moved, u64::from(ones(c.width)))
        };
        let signed = |e: &mut Self| {
            let top = e.shift(BinOp::Shl, word, 32 - shift - width);
            e.shift(BinOp::ShrS, top, 32 - width)
        };
        match c.numeric {
            Numeric::Uint => unsigned(self),
            Numeric::Sint => signed(self),
            Numeric::Uscaled => {
                let v = unsigned(self);
                self.b.un(UnOp::F32FromU32, v)
            }
            Numeric::Sscaled => {
                let v = signed(self);
                self.b.un(UnOp::F32FromS32, v)
            }
            Numeric::Unorm => {
                let v = unsigned(self);
                self.divided(v, UnOp::F32FromU32, UnOp::F64FromU32, ones(c.width))
            }
            Numeric::Snorm => {
                let limit = ones(c.width) >> 1;
                let v = signed(self);
                let v = self.with_constant(BinOp::MaxS, v, u64::from(limit.wrapping_neg()));
                self.divided(v, UnOp::F32FromS32, UnOp::F64FromS32, limit)
            }
            Numeric::Float if c.width == 32 => word,
            Numeric::Snapped => word,
            Numeric::Fixed => {
                // Both the number and the product with a power of two are exact in f64: one rounding.
                let wide = self.b.un(UnOp::F64FromS32, word);
                self.times(wide, 1.0 / 65536.0)
            }
            // Elements with a shared exponent are not loaded by components.
            Numeric::Shared => self.b.c32(0),
            Numeric::Float => {
                let v = unsigned(self);
                self.single_of_half(v)
            }
            Numeric::Ufloat => {
                let v = unsigned(self);
                // The same exponent as f16's, fewer fraction bits, no sign.
                let half = self.shift(BinOp::Shl, v, 15 - width);
                self.single_of_half(half)
            }
        }
    }

    /// Quotient of integers, in f32 where it holds both exactly. In f64 the quotient of 32-bit numbers is never so close
    /// to halfway between two f32 that its own rounding could move it there: after at most 33 digits its binary digits
    /// repeat and are not all zero.
    fn divided(&mut self, v: Value, single: UnOp, double: UnOp, by: u32) -> Value {
        if by < 1 << 24 {
            let (v, by) = (self.b.un(single, v), self.b.c32((by as f32).to_bits()));
            return self.b.bin(BinOp::DivF32, v, by);
        }
        let (v, by) = (self.b.un(double, v), self.b.c64(f64::from(by).to_bits()));
        let quotient = self.b.bin(BinOp::DivF64, v, by);
        self.b.un(UnOp::F32FromF64, quotient)
    }

    /// The f32 nearest to an f64 times a power of two.
    fn times(&mut self, wide: Value, factor: f64) -> Value {
        let factor = self.b.c64(factor.to_bits());
        let product = self.b.bin(BinOp::MulF64, wide, factor);
        self.b.un(UnOp::F32FromF64, product)
    }

    /// The multiple of 1/256 nearest to an f32; what is none is kept.
    fn snapped(&mut self, single: Value) -> Value {
        let wide = self.b.un(UnOp::F64FromF32, single);
        let scale = self.b.c64(256f64.to_bits());
        let steps = self.b.bin(BinOp::MulF64, wide, scale);
        let steps = self.b.un(UnOp::RoundF64, steps);
        let rounded = self.times(steps, 1.0 / 256.0);
        // Rounding to 0 keeps the sign here, whatever a backend's own does.
        let sign = self.with_constant(BinOp::And, single, 0x8000_0000);
        let rounded = self.with_constant(BinOp::And, rounded, 0x7fff_ffff);
        let rounded = self.b.bin(BinOp::Or, rounded, sign);
        let size = self.with_constant(BinOp::And, single, 0x7fff_ffff);
        // From 2^15 on every f32 is a multiple of 1/256.
        let whole = self.b.c32(32768f32.to_bits());
        let small = self.b.bin(BinOp::LtU, size, whole);
        self.b.select(small, rounded, single)
    }

    /// f16 to f32; a NaN keeps its sign and payload.
    pub(crate) fn single_of_half(&mut self, half: Value) -> Value {
        let converted = self.b.un(UnOp::F32FromF16, half);
        let magnitude = self.with_constant(BinOp::And, half, 0x7fff);
        let infinity = self.b.c32(0x7c00);
        let nan = self.b.bin(BinOp::LtU, infinity, magnitude);
        let sign = self.with_constant(BinOp::And, half, 0x8000);
        let sign = self.shift(BinOp::Shl, sign, 16);
        let payload = self.with_constant(BinOp::And, half, 0x3ff);
        let payload = self.shift(BinOp::Shl, payload, 13);
        let kept = self.b.bin(BinOp::Or, sign, payload);
        let kept = self.with_constant(BinOp::Or, kept, 0x7f80_0000);
        self.b.select(nan, kept, converted)
    }

    /// f32 to f16, to nearest even; a NaN keeps its sign and the top of its payload, quiet if that leaves nothing.
    pub(crate) fn half_of_single(&mut self, single: Value) -> Value {
        let converted = self.b.un(UnOp::F16FromF32, single);
        let magnitude = self.with_constant(BinOp::And, single, 0x7fff_ffff);
        let infinity = self.b.c32(0x7f80_0000);
        let nan = self.b.bin(BinOp::LtU, infinity, magnitude);
        let sign = self.shift(BinOp::ShrU, single, 16);
        let sign = self.with_constant(BinOp::And, sign, 0x8000);
        let payload = self.shift(BinOp::ShrU, single, 13);
        let payload = self.with_constant(BinOp::And, payload, 0x3ff);
        let (zero, quiet) = (self.b.c32(0), self.b.c32(0x200));
        let lost = self.b.bin(BinOp::Eq, payload, zero);
        let payload = self.b.select(lost, quiet, payload);
        let kept = self.b.bin(BinOp::Or, sign, payload);
        let kept = self.with_constant(BinOp::Or, kept, 0x7c00);
        self.b.select(nan, kept, converted)
    }

    /// The register that a 16-bit value stands for in a format.
    pub(crate) fn widen_half(&mut self, format: &Format, half: Value) -> Value {
        match format.components()[0].map(|c| c.numeric) {
            Some(Numeric::Uint) => half,
            Some(Numeric::Sint) => self.b.un(UnOp::Sext16, half),
            _ => self.single_of_half(half),
        }
    }

    /// The bits of a component, in its width, that a register is stored as.
    pub(crate) fn store_component(&mut self, c: Component, register: Value) -> Value {
        let (most, limit) = (ones(c.width), ones(c.width) >> 1);
        let (wide, signed) = (f64::from(most), f64::from(limit));
        let bits = match c.numeric {
            Numeric::Uint => self.with_constant(BinOp::MinU, register, u64::from(most)),
            Numeric::Sint => {
                let v = self.with_constant(BinOp::MinS, register, u64::from(limit));
                self.with_constant(BinOp::MaxS, v, u64::from(!limit))
            }
            Numeric::Uscaled => self.fixed(register, 1.0, (0.0, wide), UnOp::TruncF64),
            Numeric::Sscaled => self.fixed(register, 1.0, (-signed - 1.0, signed), UnOp::TruncF64),
            Numeric::Unorm => self.fixed(register, wide, (0.0, wide), UnOp::RoundF64),
            Numeric::Snorm => self.fixed(register, signed, (-signed, signed), UnOp::RoundF64),
            Numeric::Float if c.width == 16 => self.half_of_single(register),
            Numeric::Float => register,
            Numeric::Ufloat => self.small_unsigned(register, u32::from(c.width) - 5),
            Numeric::Fixed => self.fixed(register, 65536.0, (-signed - 1.0, signed), UnOp::RoundF64),
            Numeric::Snapped => self.snapped(register),
            // Elements with a shared exponent are not stored by components.
            Numeric::Shared => self.b.c32(0),
        };
        self.with_constant(BinOp::And, bits, u64::from(most))
    }

    /// f32 to a float of five exponent bits and `fraction` fraction bits without a sign, to nearest even. Negative
    /// numbers become 0; a NaN keeps the top of its payload, quiet if that leaves nothing.
    fn small_unsigned(&mut self, single: Value, fraction: u32) -> Value {
        let cut = 23 - fraction;
        let size = self.with_constant(BinOp::And, single, 0x7fff_ffff);
        let infinity = self.b.c32(31 << fraction);
        // Normal numbers: the exponent's bias changed, then the fraction's end rounded away.
        let rebased = self.with_constant(BinOp::Sub, size, (127 - 15) << 23);
        let last = self.shift(BinOp::ShrU, rebased, cut);
        let last = self.with_constant(BinOp::And, last, 1);
        let up = self.with_constant(BinOp::Add, last, (1 << (cut - 1)) - 1);
        let sum = self.b.bin(BinOp::Add, rebased, up);
        let normal = self.shift(BinOp::ShrU, sum, cut);
        let normal = self.b.bin(BinOp::MinU, normal, infinity);
        // Denormals: units of 2^-(14 + fraction).
        let wide = self.b.un(UnOp::F64FromF32, size);
        let units = self.b.c64(f64::from(1u32 << (14 + fraction)).to_bits());
        let units = self.b.bin(BinOp::MulF64, wide, units);
        let units = self.b.un(UnOp::RoundF64, units);
        let denormal = self.b.un(UnOp::U32FromF64, units);
        let least = self.b.c32((127 - 14) << 23);
        let tiny = self.b.bin(BinOp::LtU, size, least);
        let number = self.b.select(tiny, denormal, normal);
        let (zero, none) = (self.b.c32(0), self.b.c32(0));
        let negative = self.b.bin(BinOp::LtS, single, none);
        let number = self.b.select(negative, zero, number);
        let payload = self.shift(BinOp::ShrU, size, cut);
        let payload = self.with_constant(BinOp::And, payload, (1 << fraction) - 1);
        let lost = self.b.bin(BinOp::Eq, payload, zero);
        let quiet = self.b.c32(1 << (fraction - 1));
        let payload = self.b.select(lost, quiet, payload);
        let nan = self.b.bin(BinOp::Or, payload, infinity);
        let limit = self.b.c32(0x7f80_0000);
        let is_nan = self.b.bin(BinOp::LtU, limit, size);
        self.b.select(is_nan, nan, number)
    }

    /// `register * scale` rounded to an integer within limits; NaN is 0. A product of an f32 and 24 bits is
    /// exact in f64; with 31 or 32 ones it is rounded, but never onto halfway between two integers.
    fn fixed(&mut self, register: Value, scale: f64, limits: (f64, f64), round: UnOp) -> Value {
        let wide = self.b.un(UnOp::F64FromF32, register);
        let scale = self.b.c64(scale.to_bits());
        let product = self.b.bin(BinOp::MulF64, wide, scale);
        let whole = self.b.un(round, product);
        let (low, high) = (self.b.c64(limits.0.to_bits()), self.b.c64(limits.1.to_bits()));
        let below = self.b.bin(BinOp::LtF64, whole, low);
        let above = self.b.bin(BinOp::LtF64, high, whole);
        let v = self.b.select(below, low, whole);
        let v = self.b.select(above, high, v);
        if limits.0 < 0.0 { self.b.un(UnOp::S32FromF64, v) } else { self.b.un(UnOp::U32FromF64, v) }
    }
}
