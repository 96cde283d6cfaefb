//! A draw's fragment program at its vertices.

use std::sync::Arc;

use super::descriptor::{ShaderEnvironment, pair};
use super::environment::{Environment, register};
use super::{Launch, Packets, Refusal, Role, blank_registers, dispatch};
use crate::{GuestMemory, LaneRule, Origin, Stage};

/// The fragment program of the draw at `address`, one thread a vertex, as if a pixel lay exactly on it: there smooth varyings have
/// the vertex's own values, and flat ones too if it is the provoking vertex. The vertices must have been stored.
///
/// Thread i stores the colours of its render targets at `colours + 128 * i`, 16 bytes each, unless `colours` is 0.
///
/// # Errors
/// A descriptor that is not there, or a program that wants what such a thread does not have.
pub fn corners(
    memory: &dyn GuestMemory,
    address: u64,
    packets: &Packets,
    colours: u64,
    origin: Origin,
) -> Result<Launch, Refusal> {
    let env = ShaderEnvironment::read(memory, address.wrapping_add(0xc0))?;
    let program = env.program(memory)?;
    let preloaded =
        [register::PRIMITIVE, register::FACING, register::LINEAR, register::VERTEX, register::INSTANCE];
    program.starts_with(&preloaded)?;
    let mut registers = blank_registers();
    for vertex in [register::FLAT_VERTEX, register::VERTICES, register::VERTICES + 1, register::VERTICES + 2]
    {
        registers[vertex] = LaneRule::Item { base: 0 };
    }
    registers[register::WEIGHTS] = LaneRule::Word(1f32.to_bits());
    registers[register::VERTEX] = LaneRule::Word(1);
    registers[register::NUMBER] = LaneRule::Item { base: 0 };
    let [pixel, z, w] = positions(memory, packets)?;
    registers[register::LINEAR] = LaneRule::PerItem(pixel);
    registers[register::FRAG_Z] = LaneRule::PerItem(z);
    registers[register::FRAG_W] = LaneRule::PerItem(w);
    let environment = Environment {
        packets: packets.varyings,
        packet_stride: packets.varying_stride,
        colours,
        ..env.words()
    };
    let dispatch =
        dispatch(program.address, Stage::Fragment, packets.vertices, environment, registers, origin);
    Ok(Launch { role: Role::Fragment, dispatch })
}

/// Pixel, depth and 1/w of each vertex.
fn positions(memory: &dyn GuestMemory, packets: &Packets) -> Result<[Arc<[u32]>; 3], Refusal> {
    let mut words = [Vec::new(), Vec::new(), Vec::new()];
    for vertex in 0..packets.vertices {
        let at = packets.position(vertex);
        let (xy, zw) = (pair(memory, at, 0)?, pair(memory, at, 8)?);
        let [x, y] = [xy as u32, (xy >> 32) as u32].map(|bits| f32::from_bits(bits) as u16);
        words[0].push(u32::from(x) | u32::from(y) << 16);
        words[1].push(zw as u32);
        words[2].push((zw >> 32) as u32);
    }
    Ok(words.map(Into::into))
}
