//! The data registers of a texel: DMASK names the components that they hold, one after another.

use crate::format::Format;
use crate::gfx10::ImageMods;
use crate::gfx10::interp::machine::Machine;
use crate::gfx10::interp::memory::{FormatShape, Packing, read_registers, write_registers};

fn shape(mods: &ImageMods) -> FormatShape {
    let packing = if mods.d16 { Packing::Pairs } else { Packing::Single };
    FormatShape { components: mods.dmask.count_ones() as u8, packing }
}

/// The numbers of the components in DMASK.
fn masked(mods: &ImageMods) -> impl Iterator<Item = usize> {
    let dmask = mods.dmask;
    (0..4).filter(move |i| dmask >> i & 1 != 0)
}

/// Writes those of a texel's components that DMASK names.
pub(super) fn write(
    m: &mut Machine<'_>,
    data: (u8, usize),
    mods: &ImageMods,
    values: [u32; 4],
    is_integer: bool,
) {
    let mut packed = [0; 4];
    for (to, from) in packed.iter_mut().zip(masked(mods)) {
        *to = values[from];
    }
    write_registers(m, packed, data, shape(mods), is_integer);
}

/// The components of a texel to store; those that DMASK does not name are 0.
pub(super) fn read(m: &Machine<'_>, data: (u8, usize), mods: &ImageMods, format: &Format) -> [u32; 4] {
    let packed = read_registers(m, data, shape(mods), format);
    let mut values = [0; 4];
    for (to, value) in masked(mods).zip(packed) {
        values[to] = value;
    }
    values
}
