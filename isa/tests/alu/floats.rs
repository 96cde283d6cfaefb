//! Random floats that meet each other's interesting places.

use super::model::Format;

/// A small deterministic generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let y = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        y ^ y >> 31
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Any finite float: exponents near both ends, near that of 1 and anywhere; fractions random or runs of bits.
    pub(crate) fn finite(&mut self, f: Format) -> u64 {
        let most = (1 << f.exponent) - 2;
        let field = match self.below(4) {
            0 => self.below(4),
            1 => most - self.below(4),
            2 => most / 2 + 2 - self.below(5),
            _ => self.below(most + 1),
        };
        self.sign(f) | field << f.fraction | self.fraction(f)
    }

    /// A float, one in eight of them an infinity or a NaN.
    pub(crate) fn any(&mut self, f: Format) -> u64 {
        match self.below(16) {
            0 => self.sign(f) | f.infinity(),
            1 => self.sign(f) | f.infinity() | self.fraction(f),
            _ => self.finite(f),
        }
    }

    fn sign(&mut self, f: Format) -> u64 {
        if self.below(2) == 0 { 0 } else { f.sign() }
    }

    fn fraction(&mut self, f: Format) -> u64 {
        let run = u64::MAX << self.below(64) ^ u64::MAX << self.below(64);
        let bits = if self.below(2) == 0 { run } else { self.next() };
        bits & ((1 << f.fraction) - 1)
    }
}
