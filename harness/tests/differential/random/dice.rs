//! Random numbers from a seed.

use std::ops::Range;

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    /// Numbers that follow from the seed.
    pub(super) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// 32 random bits.
    pub(super) fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x >> 32) as u32
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        self.word() % n.max(1)
    }

    /// A number of a range.
    pub(super) fn within(&mut self, range: Range<u32>) -> u32 {
        range.start + self.below(range.end - range.start)
    }

    /// True once in `n` times.
    pub(super) fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of several.
    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    /// Bits that make interesting integers, floats of all widths and packed halves.
    pub(super) fn hostile(&mut self) -> u32 {
        const ODD: [u32; 16] = [
            0,
            1,
            0xffff_ffff,
            0x8000_0000,
            0x7fff_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_1234,
            0x7f80_0001,
            0x0000_0123,
            0x3f80_0000,
            0x4b00_0001,
            0x7c00_3c00,
            0x7e01_fc00,
            0x0001_8001,
            0x3fe0_0000,
        ];
        match self.below(4) {
            0 => self.one(&ODD),
            1 => self.word() & 0xff,
            2 => 0x3f00_0000 + (self.word() & 0x01ff_ffff),
            _ => self.word(),
        }
    }
}
