//! The components of an element and the registers that they stand in.

use super::access::{FormatShape, Packing};
use crate::format::{self, Format};
use crate::gfx10::interp::machine::Machine;
use crate::gfx10::interp::vector::insert_half;

/// What an element component that no register is stored to becomes. Inferred for buffers: drivers take care never to
/// store fewer components than the format has. The ISA manual says it of images.
const UNSTORED: u32 = 0;

/// What each selector chooses of loaded components: 0 zero, 1 one, 4 to 7 a component.
pub(in crate::gfx10::interp) fn select(selectors: [u8; 4], components: [u32; 4], one: u32) -> [u32; 4] {
    selectors.map(|selector| match selector {
        1 => one,
        4..=7 => components[usize::from(selector - 4)],
        _ => 0,
    })
}

/// The components that registers are stored to through selectors. Where two registers select one component, the
/// first stands.
pub(in crate::gfx10::interp) fn deselect(registers: impl DoubleEndedIterator<Item = (u8, u32)>) -> [u32; 4] {
    let mut components = [UNSTORED; 4];
    for (selector, value) in registers.rev() {
        if let Some(component) = components.get_mut(usize::from(selector.wrapping_sub(4))) {
            *component = value;
        }
    }
    components
}

/// Writes loaded components. Of a register that gets one 16-bit component, the other half is kept.
pub(in crate::gfx10::interp) fn write_registers(
    m: &mut Machine<'_>,
    values: [u32; 4],
    (register, lane): (u8, usize),
    shape: FormatShape,
    is_integer: bool,
) {
    for (i, value) in values.into_iter().take(shape.components.into()).enumerate() {
        let (number, high) = match shape.packing {
            Packing::Single => {
                m.wave.set_vgpr(register.wrapping_add(i as u8), lane, value);
                continue;
            }
            Packing::Pairs => (register.wrapping_add(i as u8 / 2), i % 2 != 0),
            Packing::HighHalf => (register, true),
        };
        let half = if is_integer { value as u16 } else { format::half_of_single(value) };
        let old = m.wave.vgpr(number, lane);
        m.wave.set_vgpr(number, lane, insert_half(old, half, high));
    }
}

/// Reads the registers to store, 16-bit ones widened as the format's kind has it.
pub(in crate::gfx10::interp) fn read_registers(
    m: &Machine<'_>,
    (register, lane): (u8, usize),
    shape: FormatShape,
    format: &Format,
) -> [u32; 4] {
    std::array::from_fn(|i| {
        let pair = m.wave.vgpr(register.wrapping_add(i as u8 / 2), lane);
        let half = match shape.packing {
            Packing::Single => return m.wave.vgpr(register.wrapping_add(i as u8), lane),
            Packing::Pairs => pair >> (16 * (i % 2)),
            Packing::HighHalf => pair >> 16,
        } as u16;
        format.widen(half)
    })
}
