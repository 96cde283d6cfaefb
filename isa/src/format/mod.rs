//! Element formats of typed buffers and vertex attributes, for every guest.
//!
//! A [`Format`] says where in an element's little-endian bytes each component lies and how its bits become a 32-bit
//! register ([`Format::load`]) and back ([`Format::store`]). All arithmetic is on integers, so the results are the
//! same on every host; each guest's format numbers are rows of `tables/formats` that lead here.
//!
//! # Rules
//!
//! - Normalised and scaled integers become the nearest f32, ties to even; f16 and the unsigned small floats become
//!   the equal f32, denormals included. Integers are zero- or sign-extended.
//! - Components that a format lacks read as 0, 0, 0 and 1, where 1 is an integer in integer formats.
//! - Stores clamp: normalised and scaled values to the range of the format, NaN to 0, and integers to the range
//!   that the component can hold. Rounding is to nearest, ties to even; scaled values drop their fraction.

mod amd;
mod float;
mod numeric;

pub use amd::gfx10;
use float::{F16, F32};
pub use numeric::Numeric;

/// Bits of a 32-bit float 1.0.
const ONE_F32: u32 = 0x3f80_0000;

/// One component of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Component {
    /// Lowest bit within the element's little-endian bytes, 0 to 127.
    pub shift: u8,
    /// Bits, 1 to 32.
    pub width: u8,
    /// What the bits mean.
    pub numeric: Numeric,
}

/// How the elements of a typed buffer are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Bytes of an element, 1 to 16.
    bytes: u8,
    /// Components in the order X, Y, Z, W.
    components: [Option<Component>; 4],
}

impl Format {
    /// A format of `bytes` bytes an element; `None` if that is not 1 to 16, or a component has no bits, more than 32,
    /// a width that its meaning does not know, or lies outside the element.
    pub fn new(bytes: u8, components: [Option<Component>; 4]) -> Option<Self> {
        let fits = |c: &Component| {
            let end = u32::from(c.shift) + u32::from(c.width);
            (1..=32).contains(&c.width) && end <= 8 * u32::from(bytes) && c.numeric.allows(c.width)
        };
        let valid = (1..=16).contains(&bytes) && components.iter().flatten().all(fits);
        valid.then_some(Format { bytes, components })
    }

    /// Bytes of an element, 1 to 16.
    pub fn bytes(&self) -> usize {
        usize::from(self.bytes)
    }

    /// The components X, Y, Z and W.
    pub fn components(&self) -> &[Option<Component>; 4] {
        &self.components
    }

    /// Whether registers hold integers (and not f32).
    pub fn is_integer(&self) -> bool {
        self.components.iter().flatten().any(|c| c.numeric.is_integer())
    }

    /// The 1 of this format: an integer in integer formats, else the f32.
    pub fn one(&self) -> u32 {
        if self.is_integer() { 1 } else { ONE_F32 }
    }

    /// The four registers that an element reads as. Only the first [`Format::bytes`] of `element` count.
    pub fn load(&self, element: &[u8; 16]) -> [u32; 4] {
        let bits = u128::from_le_bytes(*element);
        let missing = [0, 0, 0, self.one()];
        std::array::from_fn(|i| match self.components[i] {
            Some(c) => c.numeric.load((bits >> c.shift) as u32 & mask(c.width), c.width),
            None => missing[i],
        })
    }

    /// The register that a 16-bit value stands for: its f32, or the integer extended as the format's are.
    pub(crate) fn widen(&self, half: u16) -> u32 {
        match self.components[0].map(|c| c.numeric) {
            Some(Numeric::Uint) => half.into(),
            Some(Numeric::Sint) => i32::from(half as i16) as u32,
            _ => single_of_half(half),
        }
    }

    /// The element that four registers are stored as; bytes past [`Format::bytes`] are 0.
    pub fn store(&self, registers: [u32; 4]) -> [u8; 16] {
        let mut bits = 0u128;
        for (c, register) in self.components.iter().zip(registers) {
            if let Some(c) = c {
                bits |= u128::from(c.numeric.store(register, c.width) & mask(c.width)) << c.shift;
            }
        }
        bits.to_le_bytes()
    }
}

/// The f16 nearest to an f32, ties to even; too large becomes infinite.
pub(crate) fn half_of_single(single: u32) -> u16 {
    F16.encode(F32.decode(single)) as u16
}

/// The f32 equal to an f16; a NaN keeps its sign and payload.
pub(crate) fn single_of_half(half: u16) -> u32 {
    F32.encode(F16.decode(half.into()))
}

/// The low `width` bits, 1 to 32.
fn mask(width: u8) -> u32 {
    u32::MAX >> (32 - u32::from(width.clamp(1, 32)))
}

#[cfg(test)]
mod tests;
