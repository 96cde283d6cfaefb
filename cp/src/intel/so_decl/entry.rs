//! One 16-bit declaration.

use super::{MAX_REGISTERS, SoDeclError};
use crate::streamout::Slot;

/// Which component masks of holes are taken; the manuals list five, and one driver sends others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum HoleMasks {
    /// 0, 1, 3, 7 and 15.
    #[default]
    Listed,
    /// Any: a hole is as many dwords as its mask has bits.
    Counted,
}

/// One declaration: components of a VUE slot, or a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SoDecl {
    /// Buffer whose write pointer it moves.
    pub buffer: Slot,
    /// Whether memory stays as it is.
    pub hole: bool,
    /// VUE slot, counted from the stream's read offset; of a hole, without meaning.
    pub register: u8,
    /// Components X to W as bits 0 to 3.
    pub mask: u8,
}

const RESERVED: u16 = 0xc400;

impl SoDecl {
    /// A declaration of `count` components from `first` on.
    pub(super) fn data(buffer: Slot, register: u8, first: u8, count: u8) -> SoDecl {
        SoDecl { buffer, hole: false, register, mask: low_bits(count) << first }
    }

    /// A hole of `dwords` dwords, 1 to 4.
    pub(super) fn hole(buffer: Slot, dwords: u8) -> SoDecl {
        SoDecl { buffer, hole: true, register: 0, mask: low_bits(dwords) }
    }

    /// The declaration that 16 bits encode.
    ///
    /// # Errors
    /// Reserved bits, a slot past 32, or components with a gap.
    pub fn decode(bits: u16, holes: HoleMasks) -> Result<SoDecl, SoDeclError> {
        let decl = SoDecl {
            buffer: Slot::from_bits(u32::from(bits >> 12)),
            hole: bits & 0x800 != 0,
            register: (bits >> 4 & 0x3f) as u8,
            mask: (bits & 0xf) as u8,
        };
        let from_first = decl.mask >> decl.first();
        let contiguous = from_first & (from_first + 1) == 0;
        match decl.hole {
            _ if bits & RESERVED != 0 => Err(SoDeclError::ReservedBits { bits }),
            true if holes == HoleMasks::Listed && (decl.mask & (decl.mask + 1)) != 0 => {
                Err(SoDeclError::HoleMask { bits })
            }
            false if !contiguous => Err(SoDeclError::SplitMask { bits }),
            false if u32::from(decl.register) >= MAX_REGISTERS => {
                Err(SoDeclError::Register { register: u32::from(decl.register) })
            }
            _ => Ok(decl),
        }
    }

    /// The 16 bits that encode it.
    pub fn encode(self) -> u16 {
        u16::from(self.mask & 0xf)
            | u16::from(self.register & 0x3f) << 4
            | u16::from(self.hole) << 11
            | (self.buffer.index() as u16) << 12
    }

    /// Its first component.
    pub fn first(self) -> u8 {
        (self.mask.trailing_zeros() & 3) as u8
    }

    /// Dwords that it moves its buffer's pointer on.
    pub fn dwords(self) -> u32 {
        (self.mask & 0xf).count_ones()
    }
}

/// `buf1 slot3.yz`, or `buf1 HOLE xy`.
impl std::fmt::Display for SoDecl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let components: String =
            "xyzw".chars().enumerate().filter(|(i, _)| self.mask >> i & 1 != 0).map(|(_, c)| c).collect();
        match self.hole {
            true => write!(f, "buf{} HOLE {components}", self.buffer.index()),
            false => write!(f, "buf{} slot{}.{components}", self.buffer.index(), self.register),
        }
    }
}

/// `count` bits, 0 to 4.
fn low_bits(count: u8) -> u8 {
    (1 << count.min(4)) - 1
}
