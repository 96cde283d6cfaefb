//! The address registers of an image instruction, and the place of the texel that they name.

use guestwave_isa::gfx10::surface::{Blocks, Level};
use guestwave_isa::gfx10::{ImageMods, Inst};

use super::descriptor::{Image, Unreachable};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::ops::memory::Run;
use crate::program::{BinOp, Space, UnOp, Value};

/// What an address component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    X,
    Y,
    /// The third coordinate of a volume.
    Z,
    /// The slice of an array; faces of cubes count as slices.
    Slice,
    Sample,
}

/// The coordinates of each DIM; a level follows them where the operation has one.
const DIMS: [&[Role]; 8] = [
    &[Role::X],
    &[Role::X, Role::Y],
    &[Role::X, Role::Y, Role::Z],
    &[Role::X, Role::Y, Role::Slice],
    &[Role::X, Role::Slice],
    &[Role::X, Role::Y, Role::Slice],
    &[Role::X, Role::Y, Role::Sample],
    &[Role::X, Role::Y, Role::Slice, Role::Sample],
];

/// A lane's texel as its registers name it, `B32`s.
pub(super) struct Texel {
    x: Value,
    y: Value,
    z: Value,
    slice: Value,
    level: Value,
}

/// The number of a component and the register that it is read from.
fn component(e: &mut Emit<'_>, mods: &ImageMods, i: usize) -> Value {
    let place = if mods.a16 { i / 2 } else { i };
    let word = match mods.addr.get(place) {
        Some(register) => e.vgpr(*register),
        None => e.b.c32(0),
    };
    if !mods.a16 {
        return word;
    }
    let moved = e.shift(BinOp::ShrU, word, 16 * (i as u32 % 2));
    e.with_constant(BinOp::And, moved, 0xffff)
}

impl Texel {
    /// The texel that an instruction names; `None` if its coordinates are not those of the image.
    ///
    /// # Errors
    /// DIM is multisampled.
    pub(super) fn new(
        e: &mut Emit<'_>,
        inst: &Inst,
        mods: &ImageMods,
        image: &Image,
        mip: bool,
    ) -> Result<Option<Texel>, Stop> {
        let roles = DIMS[usize::from(mods.dim & 7)];
        if roles.contains(&Role::Sample) {
            return Err(e.refuse(inst, "a multisampled dim"));
        }
        let [rows, volume, slice] = [Role::Y, Role::Z, Role::Slice].map(|role| roles.contains(&role));
        let kind = image.kind;
        // An image without slices may be addressed with a slice, as drivers do.
        if rows != kind.rows || volume != kind.volume || (kind.array && !slice) {
            return Ok(None);
        }
        let mut of = |role: Role| match roles.iter().position(|r| *r == role) {
            Some(i) => component(e, mods, i),
            None => e.b.c32(0),
        };
        let [x, y, z, slice] = [Role::X, Role::Y, Role::Z, Role::Slice].map(&mut of);
        let level = if mip { component(e, mods, roles.len()) } else { e.b.c32(0) };
        Ok(Some(Texel { x, y, z, slice, level }))
    }
}

/// Levels of a view, and which one a lane is at.
pub(super) struct AtLevel {
    /// Whether the view has it.
    pub(super) there: Value,
    /// Its number from the view's first, at most that of the last.
    within: Value,
}

impl AtLevel {
    pub(super) fn new(e: &mut Emit<'_>, image: &Image, level: Value) -> AtLevel {
        let last = e.b.c32(u32::from(image.levels[1] - image.levels[0]));
        AtLevel { there: e.b.bin(BinOp::LeU, level, last), within: e.b.bin(BinOp::MinU, level, last) }
    }

    /// The size of an axis, `B32`.
    pub(super) fn size(&self, e: &mut Emit<'_>, image: &Image, axis: usize) -> Value {
        let first = u32::from(image.levels[0]);
        let size = e.b.c32(image.size[axis].checked_shr(first).unwrap_or(0));
        let size = e.b.bin(BinOp::ShrU, size, self.within);
        e.with_constant(BinOp::MaxU, size, 1)
    }

    /// What the level has, by a function that makes it of a level.
    fn choose(&self, e: &mut Emit<'_>, image: &Image, of: impl Fn(&mut Emit<'_>, &Level) -> Value) -> Value {
        let [first, last] = image.levels.map(usize::from);
        let levels = &image.layout.levels()[first..=last];
        let mut chosen = of(e, &levels[0]);
        for (i, level) in (0u32..).zip(levels).skip(1) {
            let value = of(e, level);
            if e.b.constant(value).is_some() && e.b.constant(value) == e.b.constant(chosen) {
                continue;
            }
            let number = e.b.c32(i);
            let here = e.b.bin(BinOp::Eq, self.within, number);
            chosen = e.b.select(here, value, chosen);
        }
        chosen
    }
}

/// The place of a texel in an image at `base`: an element, or nothing outside the image.
pub(super) fn place(
    e: &mut Emit<'_>,
    inst: &Inst,
    (image, base): (&Image, Value),
    texel: &Texel,
    written: bool,
) -> Run {
    let level = AtLevel::new(e, image, texel.level);
    let mut inside = level.there;
    for (axis, coordinate) in [texel.x, texel.y, texel.z].into_iter().enumerate() {
        let size = level.size(e, image, axis);
        let within = e.b.bin(BinOp::LtU, coordinate, size);
        inside = e.b.bin(BinOp::And, inside, within);
    }
    let exec = e.exec();
    inside = e.b.bin(BinOp::And, inside, exec);
    let z = slice(e, inst, image, texel, &mut inside);
    let at = [texel.x, texel.y, z];
    let address = match image.layout.blocks() {
        None => linear(e, image, &level, base, at),
        Some(blocks) => tiled(e, inst, (image, &blocks), &level, (base, inside), at),
    };
    let (all, none) = (e.b.c32(image.format.bytes() as u32), e.b.c32(0));
    let valid = e.b.select(inside, all, none);
    let slot = e.image_slot(image, base, written);
    Run { space: Space::Global, address, valid, slot }
}

/// The third coordinate: of a volume its own, else the slice, counted from the view's first.
fn slice(e: &mut Emit<'_>, inst: &Inst, image: &Image, texel: &Texel, inside: &mut Value) -> Value {
    if image.kind.volume {
        return texel.z;
    }
    let [first, last] = image.slices;
    let count = e.b.c32(last - first);
    let there = e.b.bin(BinOp::LeU, texel.slice, count);
    if image.kind.array {
        *inside = e.b.bin(BinOp::And, *inside, there);
    } else {
        let beyond = e.b.un(UnOp::Not, there);
        let bad = e.b.bin(BinOp::And, *inside, beyond);
        e.trap_if(bad, Unreachable::OtherDim.code(), inst.offset);
    }
    e.with_constant(BinOp::Add, texel.slice, u64::from(first))
}

/// `slice * slice bytes + level's offset + (row * pitch + column) * element`.
fn linear(e: &mut Emit<'_>, image: &Image, level: &AtLevel, base: Value, [x, y, z]: [Value; 3]) -> Value {
    let pitch = level.choose(e, image, |e, l| e.b.c32(l.pitch));
    let row = e.b.bin(BinOp::Mul, y, pitch);
    let element = e.b.bin(BinOp::Add, row, x);
    let element = e.b.un(UnOp::Extend, element);
    let bytes = e.with_constant(BinOp::Mul, element, image.format.bytes() as u64);
    let start = level.choose(e, image, |e, l| e.b.c64(l.offset));
    let slices = layers(e, image, z);
    [bytes, start, slices].into_iter().fold(base, |sum, v| e.b.bin(BinOp::Add, sum, v))
}

/// The bytes before a layer of a surface.
fn layers(e: &mut Emit<'_>, image: &Image, layer: Value) -> Value {
    let layer = e.b.un(UnOp::Extend, layer);
    e.with_constant(BinOp::Mul, layer, image.layout.slice_bytes())
}

/// The block's place, and in it the exclusive ors of the equation and the base's low bits.
fn tiled(
    e: &mut Emit<'_>,
    inst: &Inst,
    (image, blocks): (&Image, &Blocks),
    level: &AtLevel,
    (base, inside): (Value, Value),
    [x, y, z]: [Value; 3],
) -> Value {
    if !blocks.any_slice {
        trap_unless_zero(e, inst, z, inside);
    }
    let low = e.with_constant(BinOp::And, base, blocks.bytes - 1);
    let unaligned = e.with_constant(BinOp::And, low, !blocks.xor);
    let unaligned = e.b.un(UnOp::Low, unaligned);
    trap_unless_zero(e, inst, unaligned, inside);
    let [across, down, deep] = blocks.block.map(u32::trailing_zeros);
    let (column, row) = (e.shift(BinOp::ShrU, x, across), e.shift(BinOp::ShrU, y, down));
    let pitch = level.choose(e, image, |e, l| e.b.c32(l.pitch));
    let before = e.b.bin(BinOp::Mul, row, pitch);
    let block = e.b.bin(BinOp::Add, before, column);
    let block = e.b.un(UnOp::Extend, block);
    let block = e.with_constant(BinOp::Mul, block, blocks.bytes);
    let layer = if blocks.layers { e.shift(BinOp::ShrU, z, deep) } else { z };
    let layers = layers(e, image, layer);
    let start = level.choose(e, image, |e, l| e.b.c64(l.offset));
    let corner: [Value; 2] = std::array::from_fn(|i| level.choose(e, image, |e, l| e.b.c32(l.corner[i])));
    let at = [e.b.bin(BinOp::Add, x, corner[0]), e.b.bin(BinOp::Add, y, corner[1]), z];
    let element_log2 = (image.format.bytes() as u32).trailing_zeros();
    let within = in_block(e, blocks, element_log2, at);
    let within = e.b.un(UnOp::Extend, within);
    let whole = [block, layers, start].into_iter().fold(within, |sum, v| e.b.bin(BinOp::Add, sum, v));
    let mixed = e.b.bin(BinOp::Xor, whole, low);
    let aligned = e.with_constant(BinOp::And, base, !(blocks.bytes - 1));
    e.b.bin(BinOp::Add, aligned, mixed)
}

fn trap_unless_zero(e: &mut Emit<'_>, inst: &Inst, value: Value, inside: Value) {
    let zero = e.b.c32(0);
    let other = e.b.bin(BinOp::Ne, value, zero);
    let bad = e.b.bin(BinOp::And, other, inside);
    e.trap_if(bad, Unreachable::Unsettled.code(), inst.offset);
}

/// Bytes from a block's start to an element. All coordinate bits that move by the same distance move together.
fn in_block(e: &mut Emit<'_>, blocks: &Blocks, element_log2: u32, at: [Value; 3]) -> Value {
    let mut sum = e.b.c32(0);
    for (axis, coordinate) in at.into_iter().enumerate() {
        for distance in -32i32..32 {
            let mask = (0u32..).zip(blocks.terms).fold(0u32, |mask, (bit, term)| {
                let to = (bit + element_log2) as i32;
                let from = u32::try_from(to - distance).ok().filter(|from| *from < 32);
                from.map_or(mask, |from| mask | term[axis] & 1 << from)
            });
            if mask == 0 {
                continue;
            }
            let bits = e.with_constant(BinOp::And, coordinate, u64::from(mask));
            let op = if distance < 0 { BinOp::ShrU } else { BinOp::Shl };
            let moved = e.shift(op, bits, distance.unsigned_abs());
            sum = e.b.bin(BinOp::Xor, sum, moved);
        }
    }
    sum
}
