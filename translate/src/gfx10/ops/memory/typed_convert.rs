//! Components of elements to registers and back.

use guestwave_isa::format::{Component, Format};

use crate::convert::Convert;
use crate::gfx10::emit::Emit;
use crate::program::Value;

impl Emit<'_> {
    fn conversion(&mut self) -> Convert<'_> {
        Convert { b: &mut self.b }
    }

    /// The register that a component of `word` reads as.
    pub(super) fn load_component(&mut self, c: Component, word: Value) -> Value {
        self.conversion().load_component(c, word)
    }

    /// The bits of a component, in its width, that a register is stored as.
    pub(super) fn store_component(&mut self, c: Component, register: Value) -> Value {
        self.conversion().store_component(c, register)
    }

    /// f32 to f16, to nearest even.
    pub(super) fn half_of_single(&mut self, single: Value) -> Value {
        self.conversion().half_of_single(single)
    }

    /// The register that a 16-bit value stands for in a format.
    pub(super) fn widen_half(&mut self, format: &Format, half: Value) -> Value {
        self.conversion().widen_half(format, half)
    }
}
