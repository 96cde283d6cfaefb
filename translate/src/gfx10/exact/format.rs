//! The float formats: their encodings, what MODE says of each, and tests on bits.

use super::facts::Settled;
use super::{Exact, Rounding};
use crate::backend::Fidelity;
use crate::program::{Type, Value};

/// A binary interchange format of IEEE 754. An f16 stands in the low half of a `B32` whose high half is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    F16,
    F32,
    F64,
}

impl Format {
    pub(super) const fn ty(self) -> Type {
        match self {
            Format::F16 | Format::F32 => Type::B32,
            Format::F64 => Type::B64,
        }
    }

    /// Bits of the fraction.
    pub(super) const fn fraction_bits(self) -> u32 {
        match self {
            Format::F16 => 10,
            Format::F32 => 23,
            Format::F64 => 52,
        }
    }

    const fn bits(self) -> u32 {
        match self {
            Format::F16 => 16,
            Format::F32 => 32,
            Format::F64 => 64,
        }
    }

    /// The sign bit.
    pub(super) const fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Plus infinity; also the mask of the exponent field.
    pub(super) const fn infinity(self) -> u64 {
        self.sign() - (1 << self.fraction_bits())
    }

    /// All bits but the sign.
    pub(super) const fn magnitude(self) -> u64 {
        self.sign() - 1
    }

    /// The bit that makes a NaN quiet.
    pub(super) const fn quiet(self) -> u64 {
        1 << (self.fraction_bits() - 1)
    }

    /// The NaN of an invalid operation.
    pub(super) const fn default_nan(self) -> u64 {
        self.sign() | self.infinity() | self.quiet()
    }

    /// Value of the exponent field of 1.0.
    pub(super) const fn bias(self) -> u32 {
        (1 << (self.bits() - self.fraction_bits() - 2)) - 1
    }

    /// 1.0.
    pub(super) const fn one(self) -> u64 {
        (self.bias() as u64) << self.fraction_bits()
    }

    /// `2^exponent`, of a normal number.
    pub(super) const fn power(self, exponent: i32) -> u64 {
        ((self.bias() as i32 + exponent) as u64) << self.fraction_bits()
    }
}

impl Exact<'_> {
    /// Whether the guest's own rules for NaN and denormals are kept.
    pub(super) fn careful(&self) -> bool {
        self.fidelity == Fidelity::Exact
    }

    pub(super) fn rounding(&self, f: Format) -> Rounding {
        match f {
            _ if !self.careful() => Rounding::NearestEven,
            Format::F32 => self.mode.round32(),
            Format::F16 | Format::F64 => self.mode.round16_64(),
        }
    }

    pub(super) fn flushes_sources(&self, f: Format) -> bool {
        self.careful()
            && match f {
                Format::F32 => self.mode.flush_sources32(),
                Format::F16 | Format::F64 => self.mode.flush_sources16_64(),
            }
    }

    fn flushes_results(&self, f: Format) -> bool {
        self.careful()
            && match f {
                Format::F32 => self.mode.flush_results32(),
                Format::F16 | Format::F64 => self.mode.flush_results16_64(),
            }
    }

    /// The bits without the sign.
    pub(super) fn size(&self, f: Format, bits: Value) -> Value {
        self.and(bits, f.magnitude())
    }

    pub(super) fn is_nan(&self, f: Format, bits: Value) -> Value {
        if let Some(known) = self.settled(f, bits) {
            return known.is_nan;
        }
        let infinity = self.constant(f.ty(), f.infinity());
        self.lt_u(infinity, self.size(f, self.origin(bits)))
    }

    pub(super) fn is_signalling(&self, f: Format, bits: Value) -> Value {
        // The signalling encodings are those from just above infinity to just below the first quiet one.
        let above = self.sub(self.size(f, self.origin(bits)), f.infinity() + 1);
        self.lt_u(above, f.quiet() - 1)
    }

    pub(super) fn is_infinite(&self, f: Format, bits: Value) -> Value {
        self.eq(self.size(f, self.origin(bits)), f.infinity())
    }

    /// Whether it is below the normal numbers: a zero or a denormal.
    pub(super) fn is_tiny(&self, f: Format, bits: Value) -> Value {
        self.lt_u(self.size(f, bits), 1 << f.fraction_bits())
    }

    fn flushed(&self, f: Format, bits: Value) -> Value {
        if self.is_flushed(f, bits) {
            return bits;
        }
        let flushed = self.select(self.is_tiny(f, bits), self.and(bits, f.sign()), bits);
        self.record_origin(flushed, bits);
        if f != Format::F16 {
            self.record_flushed(flushed);
        }
        flushed
    }

    /// A source as a number: flushed as [`Exact::source`] has it, a NaN with any payload.
    pub(super) fn numeric(&self, f: Format, bits: Value) -> Value {
        self.source(f, self.settled(f, bits).map_or(bits, |known| known.number))
    }

    /// A source as the operation sees it: denormals flushed if MODE says so.
    pub(super) fn source(&self, f: Format, bits: Value) -> Value {
        if self.flushes_sources(f) { self.flushed(f, bits) } else { bits }
    }

    /// A result as it is stored: denormals flushed if MODE says so.
    pub(super) fn flush_result(&self, f: Format, bits: Value) -> Value {
        if self.flushes_results(f) { self.flushed(f, bits) } else { bits }
    }

    /// A value that passes through: denormals flushed if MODE flushes them at either end.
    pub(super) fn passed(&self, f: Format, bits: Value) -> Value {
        if self.flushes_sources(f) || self.flushes_results(f) { self.flushed(f, bits) } else { bits }
    }

    /// [`Exact::passed`], and a NaN made quiet.
    pub(super) fn canonical(&self, f: Format, bits: Value) -> Value {
        self.quieted(f, self.is_nan(f, bits), self.passed(f, bits))
    }

    /// Where `is_nan`, `bits` made a quiet NaN.
    pub(super) fn quieted(&self, f: Format, is_nan: Value, bits: Value) -> Value {
        if self.careful() { self.select(is_nan, self.or(bits, f.quiet()), bits) } else { bits }
    }

    /// What an operation gives where it gives a NaN: the first NaN of its sources, made quiet, or else the default one.
    pub(super) fn nan_of(&self, f: Format, sources: &[Value]) -> Value {
        let default = self.constant(f.ty(), f.default_nan());
        let first = sources.iter().rev().fold(default, |rest, s| self.select(self.is_nan(f, *s), *s, rest));
        let quiet = sources.iter().all(|s| self.is_quiet(f, *s));
        if quiet { first } else { self.or(first, f.quiet()) }
    }

    /// A NaN source made quiet.
    fn quiet(&self, f: Format, nan: Value) -> Value {
        if self.is_quiet(f, nan) { nan } else { self.or(nan, f.quiet()) }
    }

    /// `result`, or where `is_nan` the NaN that comes from the sources.
    pub(super) fn with_nan(&self, f: Format, is_nan: Value, sources: &[Value], result: Value) -> Value {
        if self.careful() { self.select(is_nan, self.nan_of(f, sources), result) } else { result }
    }

    /// `result`, or the source if that is a NaN.
    pub(super) fn keep_nan(&self, f: Format, source: Value, result: Value) -> Value {
        if !self.careful() {
            return result;
        }
        self.select(self.is_nan(f, source), self.quiet(f, source), result)
    }

    /// [`Exact::with_nan`] of a result that is a NaN just where `number`, of format `c`, is one.
    pub(super) fn settle_nan(
        &self,
        f: Format,
        (c, number): (Format, Value),
        sources: &[Value],
        result: Value,
    ) -> Value {
        if !self.careful() {
            return result;
        }
        self.joined(f, self.is_nan(c, number), self.nan_of(f, sources), result)
    }

    /// [`Exact::keep_nan`] of a result that is a NaN just where the source is one.
    pub(super) fn carry_nan(&self, f: Format, source: Value, result: Value) -> Value {
        if !self.careful() {
            return result;
        }
        self.joined(f, self.is_nan(f, source), self.quiet(f, source), result)
    }

    /// `number`, or `nan` where `is_nan`, where `number` is a NaN too.
    fn joined(&self, f: Format, is_nan: Value, nan: Value, number: Value) -> Value {
        let joined = self.select(is_nan, nan, number);
        if f != Format::F16 {
            self.record(joined, Settled { is_nan, number });
            if self.is_flushed(f, number) {
                self.record_flushed(joined);
            }
        }
        joined
    }
}
