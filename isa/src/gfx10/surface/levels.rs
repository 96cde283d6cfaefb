//! Chains of mip levels.

use super::equation::Equation;
use super::{Shape, Texel};

/// One level of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Bytes from the slice's start.
    pub offset: u64,
    /// Linear: elements from one row to the next. Tiled: blocks from one row of blocks to the next.
    pub pitch: u32,
    /// What is added to a tail level's column and row.
    pub corner: [u32; 2],
}

impl Level {
    pub(super) fn linear_offset(&self, texel: &Texel, element: u8) -> u64 {
        let elements = u64::from(texel.y) * u64::from(self.pitch) + u64::from(texel.x);
        self.offset + elements * u64::from(element)
    }

    pub(super) fn tiled_offset(&self, texel: &Texel, equation: &Equation) -> u64 {
        let [across, down, _] = equation.block.map(|size| size.max(1));
        let block = u64::from(texel.y / down) * u64::from(self.pitch) + u64::from(texel.x / across);
        let [dx, dy] = self.corner;
        let at = [texel.x.wrapping_add(dx), texel.y.wrapping_add(dy), texel.z];
        self.offset + block * equation.block_bytes() + equation.offset(at)
    }
}

/// Elements of level `level` along an axis of `size` elements.
pub fn size_at(size: u32, level: u8) -> u32 {
    size.checked_shr(level.into()).unwrap_or(0).max(1)
}

/// Levels of a linear surface, and the bytes of a slice.
pub(super) fn linear(shape: &Shape) -> (Vec<Level>, u64) {
    let element = u64::from(shape.element.max(1));
    let of = |level: u8| {
        let pitch = u64::from(size_at(shape.width, level)).next_multiple_of(256 / element);
        (pitch as u32, pitch * u64::from(size_at(shape.height, level)) * element)
    };
    chain(shape.levels, 0, of)
}

/// Levels of a tiled surface, and the bytes of a slice or, of volumes, of a layer of blocks.
pub(super) fn tiled(shape: &Shape, equation: &Equation) -> (Vec<Level>, u64) {
    let [across, down, _] = equation.block.map(|size| size.max(1));
    let of = |level: u8| {
        let pitch = size_at(shape.width, level).div_ceil(across);
        let blocks = u64::from(pitch) * u64::from(size_at(shape.height, level).div_ceil(down));
        (pitch, blocks * equation.block_bytes())
    };
    let first = first_of_tail(shape, equation);
    let tail_bytes = if first < shape.levels { equation.block_bytes() } else { 0 };
    let (mut levels, slice_bytes) = chain(first, tail_bytes, of);
    levels.extend((first..shape.levels).map(|level| tail_level(level - first, equation)));
    (levels, slice_bytes)
}

/// Levels 0 to `count - 1` after `start` bytes, the last one first, each of the pitch and the bytes that `of` says;
/// and where they end.
fn chain(count: u8, start: u64, of: impl Fn(u8) -> (u32, u64)) -> (Vec<Level>, u64) {
    let mut end = start;
    let mut levels: Vec<Level> = (0..count)
        .rev()
        .map(|level| {
            let (pitch, bytes) = of(level);
            let offset = end;
            end += bytes;
            Level { offset, pitch, corner: [0; 2] }
        })
        .collect();
    levels.reverse();
    (levels, end)
}

/// The first level that lies in the tail: it and what follows fit half a block, halved across, and the tail has a
/// slot for each. A surface of one level has no tail.
fn first_of_tail(shape: &Shape, equation: &Equation) -> u8 {
    let [across, down, _] = equation.block;
    let fits = |level: &u8| {
        size_at(shape.width, *level) <= across / 2
            && size_at(shape.height, *level) <= down
            && u64::from(shape.levels - level) <= slots(equation.block_bytes())
    };
    if shape.levels == 1 { 1 } else { (0..shape.levels).find(fits).unwrap_or(shape.levels) }
}

/// Slots of the tail in a block of 4 KiB or more.
fn slots(block_bytes: u64) -> u64 {
    u64::from(block_bytes.trailing_zeros().saturating_sub(4))
}

/// Where slot `number` of the tail begins, the biggest being 0: halves, quarters, and so on of the block down to
/// 2 KiB, then steps of 256 bytes.
fn slot_offset(number: u8, block_bytes: u64) -> u64 {
    const SMALL: [u64; 7] = [1536, 1280, 1024, 768, 512, 256, 0];
    let halvings = slots(block_bytes).saturating_sub(SMALL.len() as u64);
    match u64::from(number).checked_sub(halvings) {
        None => block_bytes >> (number + 1),
        Some(small) => SMALL.get(small as usize).copied().unwrap_or(0),
    }
}

/// Level `number` of the tail. It is addressed as a part of the tail's block: the micro block that its slot begins at
/// has its even bits as the row and its odd ones as the column.
fn tail_level(number: u8, equation: &Equation) -> Level {
    let micro = slot_offset(number, equation.block_bytes()) / 256;
    let every_second = |bits: u64| (0..8).fold(0, |sum, i| sum | ((bits >> (2 * i) & 1) as u32) << i);
    let [across, down] = equation.micro_block();
    Level { offset: 0, pitch: 1, corner: [every_second(micro >> 1) * across, every_second(micro) * down] }
}
