//! Where the elements of an image lie in memory: linear surfaces, tiled ones, and their mip levels.
//!
//! A [`Layout`] is made once from a [`Shape`] and then gives the byte of any element, counted from the surface's
//! base; [`Layout::address`] joins the two. What is not settled by public facts has no layout: [`Unsettled`] says
//! which part of the shape it is.
//!
//! # Rules
//!
//! - Linear: rows are padded to 256 bytes.
//! - Tiled: blocks of 4 or 64 KiB in rows, each level padded to whole blocks; inside a block each address bit is an
//!   exclusive or of coordinate bits, a row of `tables/gfx10/surface/equations.tsv`.
//! - Levels lie smallest first, level 0 last; those that fit half a block share one block at the start, the tail.
//! - Array slices follow each other, each with its whole chain of levels.
//! - The low bits of a tiled surface's base are no address: they are exclusive-ored into offsets.

mod equation;
mod levels;
mod mode;

use super::Target;
use equation::Equation;
pub use equation::Term;
pub use levels::{Level, size_at};
pub use mode::SwizzleMode;

/// GB_ADDR_CONFIG of the GFX10.3 device that the tables were taken on: 16 pipes, 16 packers, 256 bytes a pipe.
pub const ADDR_CONFIG: u32 = 0x444;

/// Levels of the longest chain.
pub const MAX_LEVELS: u8 = 16;

/// What of a surface public facts do not settle, as a noun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{0}")]
pub struct Unsettled(pub &'static str);

/// What layouts depend on besides the image itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    /// The chip's generation.
    pub target: Target,
    /// Its register GB_ADDR_CONFIG.
    pub addr_config: u32,
}

/// An image as far as its layout depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// How it is tiled.
    pub mode: SwizzleMode,
    /// Three dimensions, so that a block may be several slices deep.
    pub volume: bool,
    /// Elements across at level 0, 1 to 16384.
    pub width: u32,
    /// Rows at level 0, 1 to 16384.
    pub height: u32,
    /// Levels, 1 to [`MAX_LEVELS`].
    pub levels: u8,
    /// Bytes of an element: 1, 2, 4, 8 or 16.
    pub element: u8,
}

/// The place of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Texel {
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
    /// Array slice, or the third coordinate.
    pub z: u32,
    /// Mip level.
    pub level: u8,
}

/// The layout of one surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    levels: Vec<Level>,
    /// Bytes from one slice to the next, or from one layer of blocks to the next.
    slice_bytes: u64,
    element: u8,
    tiling: Option<Tiling>,
}

/// The blocks of a tiled surface, for those who address its elements by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Elements across, down and deep.
    pub block: [u32; 3],
    /// Address bits inside a block, from the lowest above an element's own on: the bits of column, row and slice whose
    /// exclusive or each is.
    pub terms: &'static [Term],
    /// Bytes of a block, a power of two.
    pub bytes: u64,
    /// Whether slices are grouped into layers of blocks, [`Blocks::block`] deep.
    pub layers: bool,
    /// Whether it is settled what slices other than 0 do.
    pub any_slice: bool,
    /// The bits of the base, below a block's bytes, that are exclusive-ored into offsets; the others are 0.
    pub xor: u64,
}

/// How a surface is tiled.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tiling {
    mode: SwizzleMode,
    volume: bool,
    equation: &'static Equation,
    /// Bits of the base that are exclusive-ored into offsets.
    xor: u64,
}

impl Layout {
    /// The layout of a shape on a device.
    ///
    /// # Errors
    /// What public facts do not settle.
    pub fn new(device: &Device, shape: &Shape) -> Result<Self, Unsettled> {
        if !matches!(shape.element, 1 | 2 | 4 | 8 | 16) {
            return Err(Unsettled("elements of a size that is no power of two"));
        }
        if !(1..=MAX_LEVELS).contains(&shape.levels) {
            return Err(Unsettled("no levels or more than 16"));
        }
        if shape.mode.is_linear() {
            let (levels, slice_bytes) = levels::linear(shape);
            return Ok(Layout { levels, slice_bytes, element: shape.element, tiling: None });
        }
        let tiling = Tiling::new(device, shape)?;
        let (levels, slice_bytes) = levels::tiled(shape, tiling.equation);
        Ok(Layout { levels, slice_bytes, element: shape.element, tiling: Some(tiling) })
    }

    /// Bytes of one slice with all its levels; of a tiled volume, of one layer of blocks.
    pub fn slice_bytes(&self) -> u64 {
        self.slice_bytes
    }

    /// The levels, biggest first; never empty.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// How blocks are laid out, `None` for a linear surface.
    pub fn blocks(&self) -> Option<Blocks> {
        let Tiling { mode, volume, equation, xor } = self.tiling.as_ref()?;
        Some(Blocks {
            block: equation.block.map(|size| size.max(1)),
            terms: equation.terms(),
            bytes: mode.block_bytes(),
            layers: *volume,
            any_slice: equation.any_slice,
            xor: *xor,
        })
    }

    /// Bytes from the surface's base, before the base's low bits are mixed in. Coordinates are not checked against
    /// the shape; a level that the shape does not have is taken as its last one.
    ///
    /// # Errors
    /// A slice whose part in the equation is not settled.
    pub fn offset(&self, texel: &Texel) -> Result<u64, Unsettled> {
        let last = self.levels.len().saturating_sub(1);
        let Some(level) = self.levels.get(usize::from(texel.level).min(last)) else { return Ok(0) };
        match &self.tiling {
            None => Ok(self.slice_bytes * u64::from(texel.z) + level.linear_offset(texel, self.element)),
            Some(tiling) => tiling.offset(self.slice_bytes, level, texel),
        }
    }

    /// The address of an element of the surface at `base`.
    ///
    /// # Errors
    /// A base or a slice that public facts do not settle.
    pub fn address(&self, base: u64, texel: &Texel) -> Result<u64, Unsettled> {
        let offset = self.offset(texel)?;
        let Some(tiling) = &self.tiling else { return Ok(base.wrapping_add(offset)) };
        let low = base & (tiling.mode.block_bytes() - 1);
        if low & !tiling.xor != 0 {
            return Err(Unsettled("a base address that is not aligned to its blocks"));
        }
        Ok((base - low).wrapping_add(offset ^ low))
    }
}

impl Tiling {
    fn new(device: &Device, shape: &Shape) -> Result<Self, Unsettled> {
        let equation = equation::find(device, shape).ok_or(Unsettled(
            "a swizzle mode whose addressing is not known for its element size, dimensions and device",
        ))?;
        if shape.volume && shape.levels > 1 {
            return Err(Unsettled("mip levels of a tiled image of three dimensions"));
        }
        let xor = shape.mode.xor_bits(device.addr_config);
        Ok(Tiling { mode: shape.mode, volume: shape.volume, equation, xor })
    }

    fn offset(&self, slice_bytes: u64, level: &Level, texel: &Texel) -> Result<u64, Unsettled> {
        if texel.z != 0 && !self.equation.any_slice {
            return Err(Unsettled("an array slice other than 0 of a swizzle mode that may mix slices in"));
        }
        let layer = if self.volume { self.equation.layer(texel.z) } else { texel.z };
        Ok(slice_bytes * u64::from(layer) + level.tiled_offset(texel, self.equation))
    }
}
