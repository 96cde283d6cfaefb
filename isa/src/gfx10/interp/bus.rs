//! Memory as the interpreter sees it.

/// Guest memory behind a running group. Addresses are 48-bit and zero-extended.
pub trait Bus {
    /// Fills `into` from `address`.
    ///
    /// # Errors
    /// Nothing is mapped at some byte of the range.
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), BusFault>;

    /// Writes `bytes` at `address`, all of them or none.
    ///
    /// # Errors
    /// Nothing writable is mapped at some byte of the range.
    fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusFault>;

    /// The counter that `s_memtime` and `s_memrealtime` read. `executed` is the number of instructions that the
    /// group has executed, which is the default answer: it advances, and it is the same in every run.
    fn clock(&mut self, executed: u64) -> u64 {
        executed
    }
}

/// An access that nothing stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory is mapped for a {} of {size} bytes at {address:#x}", if *write { "store" } else { "load" })]
pub struct BusFault {
    /// First byte that is not mapped for this access.
    pub address: u64,
    /// Bytes of the whole access.
    pub size: u32,
    /// A store (atomics load first, then store).
    pub write: bool,
}
