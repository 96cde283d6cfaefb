//! OMOD and CLAMP.

use super::format::Format;
use super::{Exact, Output};
use crate::program::Value;

/// The factors' exponents of OMOD 1 to 3.
const OMOD: [i32; 3] = [1, 2, -1];

impl Exact<'_> {
    /// Applies OMOD, then CLAMP, to a result of a float type; other results pass unchanged.
    pub(crate) fn finish(&mut self, output: Output, value: Value, omod: u8, clamp: bool) -> Value {
        let Some(format) = output.format() else { return value };
        let exponent = usize::from(omod & 3).checked_sub(1).map(|i| OMOD[i]);
        let scaled = match exponent {
            Some(by) if self.has_omod(format) => self.scale_result(format, value, by),
            _ => value,
        };
        if clamp { self.clamp_to_unit(format, scaled) } else { scaled }
    }

    /// OMOD is off where MODE keeps denormal results of the format or sets IEEE.
    fn has_omod(&self, f: Format) -> bool {
        let flushes = match f {
            Format::F32 => self.mode.flush_results32(),
            Format::F16 | Format::F64 => self.mode.flush_results16_64(),
        };
        flushes && !self.mode.ieee
    }

    /// A result times `2^by`; zeros and denormals become +0, a NaN stays.
    fn scale_result(&self, f: Format, value: Value, by: i32) -> Value {
        let carrier = self.carrier(f);
        let factor = self.constant(carrier.ty(), carrier.power(by));
        let product = self.product(f, self.widen(f, value), factor);
        let scaled = self.flush_result(f, self.narrow(f, product));
        if !self.careful() {
            return scaled;
        }
        let zero = self.constant(f.ty(), 0);
        let numeric = self.select(self.is_tiny(f, value), zero, scaled);
        self.select(self.is_nan(f, value), value, numeric)
    }

    /// To `[+0, 1]`; a NaN becomes +0 with DX10_CLAMP and stays without.
    pub(super) fn clamp_to_unit(&self, f: Format, value: Value) -> Value {
        let number = self.settled(f, value).map_or(value, |known| known.number);
        let signed = if f == Format::F16 { self.sext16(number) } else { number };
        // As integers, floats with the sign are below 0 and others in their own order.
        let clamped = self.min_s(self.max_s(signed, 0), f.one());
        if !self.careful() {
            return clamped;
        }
        let nan = if self.mode.dx10_clamp { self.constant(f.ty(), 0) } else { value };
        let result = self.select(self.is_nan(f, value), nan, clamped);
        if self.is_flushed(f, number) {
            self.record_flushed(result);
        }
        result
    }
}
