//! Element formats of typed buffers, vertex attributes and varyings, for every guest.
//!
//! A [`Format`] says where in an element's little-endian bytes each component lies and what its bits mean. Every guest's
//! format numbers are rows of `tables/formats` that lead here: [`gfx10`], [`intel`], [`mali`]. One conversion loads
//! ([`Format::read`]) and one stores ([`Format::write`]), between memory and whatever a [`Register`] holds. All arithmetic is
//! on integers, so the results are the same on every host.
//!
//! # Rules
//!
//! - Normalised and scaled integers become the nearest float of the register, ties to even, in one rounding; floats of
//!   other sizes likewise, denormals included. A NaN keeps its sign and the top of its payload, quiet if that leaves nothing.
//! - Integers are extended by the sign of the memory's kind; a register smaller than the component takes the nearest
//!   value it can hold.
//! - Components that a format lacks read as 0, 0, 0 and 1, or as its selections say; the 1 is an integer in integer
//!   registers and in automatic registers of integer formats.
//! - Stores clamp: normalised, scaled and fixed-point values to the range of the format, NaN to 0, and integers to the range
//!   that the component can hold; a component no smaller than the register keeps the register's bits. Rounding is to
//!   nearest, ties to even; scaled values drop their fraction.
//! - A store puts each channel once: where several components read one channel, the first of them is stored.
//! - Where a float meets an integer, [`Register::load_crossing`] and [`Register::store_crossing`] say what that is.

mod amd;
mod float;
mod intel;
mod mali;
mod numeric;
mod register;
mod rows;
mod shared;

pub use amd::gfx10;
use float::{F16, F32, F64};
pub use intel::intel;
pub use mali::{MaliFormat, MaliFormatError, mali};
use numeric::Number;
pub use numeric::Numeric;
pub use register::{Crossing, Register};

/// Bytes that the largest element has.
pub const ELEMENT_BYTES: usize = 32;

/// One component of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Component {
    /// Lowest bit within the element's little-endian bytes, 0 to 255.
    pub shift: u8,
    /// Bits, 1 to 64.
    pub width: u8,
    /// What the bits mean.
    pub numeric: Numeric,
}

/// What a component reads as that no bits stand behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    /// 0.
    Zero,
    /// 1, as the register or the format counts.
    One,
}

/// How the elements of a typed buffer are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Bytes of an element, 0 (constants only) to 32.
    bytes: u8,
    /// Components in the order X, Y, Z, W.
    components: [Option<Component>; 4],
    /// What the components without bits read as.
    fill: [Fill; 4],
    /// Lowest bit and width of an exponent that the components share.
    shared: Option<(u8, u8)>,
}

impl Format {
    /// A format of `bytes` bytes an element; `None` if that is not 1 to 32, or a component has no bits, more than 64,
    /// a width that its meaning does not know, or lies outside the element.
    pub fn new(bytes: u8, components: [Option<Component>; 4]) -> Option<Self> {
        let fits = |c: &Component| {
            let end = u32::from(c.shift) + u32::from(c.width);
            (1..=64).contains(&c.width) && end <= 8 * u32::from(bytes) && c.numeric.allows(c.width)
        };
        let valid = (1..=ELEMENT_BYTES as u8).contains(&bytes) && components.iter().flatten().all(fits);
        let fill = [Fill::Zero, Fill::Zero, Fill::Zero, Fill::One];
        valid.then_some(Format { bytes, components, fill, shared: None })
    }

    /// A format without memory.
    pub fn constant(fill: [Fill; 4]) -> Self {
        Format { bytes: 0, components: [None; 4], fill, shared: None }
    }

    /// Bytes of an element, 0 to 32; 0 if nothing stands behind it.
    pub fn bytes(&self) -> usize {
        usize::from(self.bytes)
    }

    /// The components X, Y, Z and W.
    pub fn components(&self) -> &[Option<Component>; 4] {
        &self.components
    }

    /// What the components without bits read as.
    pub fn fill(&self) -> [Fill; 4] {
        self.fill
    }

    /// Whether the memory holds integers (and not floats, or integers read as such).
    pub fn is_integer(&self) -> bool {
        self.components.iter().flatten().any(|c| c.numeric.is_integer())
    }

    /// The 1 of this format in a 32-bit register: an integer in integer formats, else the f32.
    pub fn one(&self) -> u32 {
        self.one_of(Register::Auto32) as u32
    }

    fn one_of(&self, register: Register) -> u64 {
        register.settled(if self.is_integer() { Numeric::Uint } else { Numeric::Float }).one()
    }

    /// The four registers that an element reads as. Only the first [`Format::bytes`] of `element` count.
    pub fn read(&self, element: &[u8; ELEMENT_BYTES], register: Register) -> [u64; 4] {
        let exponent = self.shared.map_or(0, |(shift, width)| field(element, shift, width) as u32);
        std::array::from_fn(|i| match (self.components[i], self.fill[i]) {
            (Some(c), _) => register.load(c, field(element, c.shift, c.width), exponent),
            (None, Fill::One) => self.one_of(register),
            (None, Fill::Zero) => 0,
        })
    }

    /// The element that four registers are stored as; bytes past [`Format::bytes`] are 0.
    pub fn write(&self, registers: [u64; 4], register: Register) -> [u8; ELEMENT_BYTES] {
        let mut element = [0; ELEMENT_BYTES];
        let mut put = 0u8;
        let shared = self.shared.map(|place| (place, self.share(registers, register)));
        for (i, c) in self.components.iter().enumerate() {
            let Some(c) = c else { continue };
            let earlier = self.components.iter().take(i).flatten().any(|e| e.shift == c.shift);
            if earlier {
                continue;
            }
            let bits = match shared {
                Some((_, (mantissas, _))) => mantissas[usize::from(put.min(2))],
                None => register.store(*c, registers[i]),
            };
            put += 1;
            set_field(&mut element, c.shift, bits & mask(c.width));
        }
        if let Some(((shift, _), (_, exponent))) = shared {
            set_field(&mut element, shift, exponent.into());
        }
        element
    }

    /// Mantissas and exponent of the first three components.
    fn share(&self, registers: [u64; 4], register: Register) -> ([u64; 3], u32) {
        let kind = register.settled(Numeric::Shared);
        let value = |register: u64| match kind.number(register, Numeric::Shared) {
            Number::Float(value) => value,
            Number::Integer(value) => {
                let magnitude = u64::try_from(value).unwrap_or(0);
                float::Value::Finite { negative: false, magnitude, exponent: 0 }
            }
        };
        shared::encode([value(registers[0]), value(registers[1]), value(registers[2])])
    }

    /// The four 32-bit registers that an element of up to 16 bytes reads as.
    pub fn load(&self, element: &[u8; 16]) -> [u32; 4] {
        let mut whole = [0; ELEMENT_BYTES];
        whole[..16].copy_from_slice(element);
        self.read(&whole, Register::Auto32).map(|register| register as u32)
    }

    /// The register that a 16-bit value stands for: its f32, or the integer extended as the format's are.
    pub(crate) fn widen(&self, half: u16) -> u32 {
        match self.components[0].map(|c| c.numeric) {
            Some(Numeric::Uint) => half.into(),
            Some(Numeric::Sint) => i32::from(half as i16) as u32,
            _ => single_of_half(half),
        }
    }

    /// The element of up to 16 bytes that four 32-bit registers are stored as.
    pub fn store(&self, registers: [u32; 4]) -> [u8; 16] {
        let element = self.write(registers.map(u64::from), Register::Auto32);
        std::array::from_fn(|i| element[i])
    }
}

/// The f16 nearest to an f32, ties to even; too large becomes infinite.
pub(crate) fn half_of_single(single: u32) -> u16 {
    F16.encode(F32.decode(single.into())) as u16
}

/// The f32 equal to an f16; a NaN keeps its sign and payload.
pub(crate) fn single_of_half(half: u16) -> u32 {
    F32.encode(F16.decode(half.into())) as u32
}

/// The f16 nearest to an f64, ties to even; too large becomes infinite.
pub(crate) fn round_f16(wide: f64) -> u16 {
    F16.encode(F64.decode(wide.to_bits())) as u16
}

/// The low `width` bits, 1 to 64.
fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - u32::from(width.clamp(1, 64)))
}

/// Bits `shift..shift + width` of an element.
fn field(element: &[u8; ELEMENT_BYTES], shift: u8, width: u8) -> u64 {
    let first = usize::from(shift / 8);
    let bytes: [u8; 16] = std::array::from_fn(|i| element.get(first + i).copied().unwrap_or(0));
    (u128::from_le_bytes(bytes) >> (shift % 8)) as u64 & mask(width)
}

/// Sets bits from `shift` on; those of `bits` beyond the element are lost.
fn set_field(element: &mut [u8; ELEMENT_BYTES], shift: u8, bits: u64) {
    let wide = (u128::from(bits) << (shift % 8)).to_le_bytes();
    let bytes = element.iter_mut().skip(usize::from(shift / 8));
    bytes.zip(wide).for_each(|(byte, part)| *byte |= part);
}

#[cfg(test)]
mod tests;
