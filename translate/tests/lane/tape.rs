//! Choices in a row, from which random programs follow: a shorter or smaller tape gives a simpler program.

/// Choices, then zeros.
pub(crate) struct Tape<'t> {
    choices: &'t [u32],
    at: usize,
}

impl<'t> Tape<'t> {
    pub(crate) fn new(choices: &'t [u32]) -> Self {
        Tape { choices, at: 0 }
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.at += 1;
        self.choices.get(self.at - 1).copied().unwrap_or(0)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.next() % n.max(1)
    }

    /// True once in `n` times; a tape at its end says no.
    pub(crate) fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == n - 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    pub(crate) fn is_over(&self) -> bool {
        self.at >= self.choices.len()
    }
}

/// Random words from a seed.
pub(crate) fn words(seed: u64, count: usize) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ x >> 31) >> 32) as u32
    };
    (0..count).map(|_| next()).collect()
}
