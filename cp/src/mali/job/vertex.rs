//! Malloc-vertex jobs: draws whose vertices hardware finds memory for.

use super::descriptor::{ShaderEnvironment, pair, word};
use super::environment::{Environment, register};
use super::{Launch, Refusal, Role, blank_registers, dispatch, threads};
use crate::{GuestMemory, LaneRule, Origin, Stage};

/// Bytes of an entry of the positions.
const POSITION_BYTES: u64 = 16;

/// Where a draw's vertices are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packets {
    /// Guest address of the positions.
    pub positions: u64,
    /// Whether point sizes stand between them.
    pub grouped: bool,
    /// Guest address of the varyings.
    pub varyings: u64,
    /// Bytes of one vertex's varyings.
    pub varying_stride: u32,
    /// Vertices, of all instances.
    pub vertices: u32,
}

impl Packets {
    /// The entry of the positions that a vertex has.
    pub fn entry(&self, vertex: u32) -> u32 {
        if self.grouped { vertex / 4 * 8 + vertex % 4 } else { vertex }
    }

    /// Guest address of a vertex's position: x, y, z and 1/w, f32.
    pub fn position(&self, vertex: u32) -> u64 {
        self.positions.wrapping_add(u64::from(self.entry(vertex)) * POSITION_BYTES)
    }

    /// Guest address of a vertex's point size, f16, if it has one.
    pub fn point_size(&self, vertex: u32) -> Option<u64> {
        self.grouped.then(|| self.position(vertex).wrapping_add(4 * POSITION_BYTES))
    }

    /// Guest address of a vertex's varyings.
    pub fn varying(&self, vertex: u32) -> u64 {
        self.varyings.wrapping_add(u64::from(vertex) * u64::from(self.varying_stride))
    }
}

/// The draw's own fields.
struct Draw {
    indices: u32,
    instances: u32,
    grouped: bool,
    secondary: bool,
    varying_stride: u32,
}

/// Point sizes of 16 bits, by the code of their format; 0 is none.
const POINT_SIZE_F16: u32 = 2;

/// Fields of the primitive's first word that only say how vertices are put together, which no vertex program sees.
const ASSEMBLY: u32 = 0xff | 1 << 15 | 3 << 16;

fn draw(memory: &dyn GuestMemory, address: u64) -> Result<Draw, Refusal> {
    let flags = word(memory, address, 32)?;
    let refuse = |option| Err(Refusal::Option { job: "draw", option });
    let point_size = flags >> 11 & 3;
    match flags & !(ASSEMBLY | 3 << 11 | 1 << 18) {
        0 if ![0, POINT_SIZE_F16].contains(&point_size) => return refuse("point sizes that are not f16"),
        0 => {}
        rest if rest & 7 << 8 != 0 => return refuse("indexed vertices"),
        _ => return refuse("primitive restart, primitive indices, layers or scissors"),
    }
    if word(memory, address, 36)? != 0 || word(memory, address, 40)? != 0 {
        return refuse("a vertex or instance offset");
    }
    Ok(Draw {
        indices: word(memory, address, 44)?,
        instances: word(memory, address, 48)?,
        grouped: point_size != 0,
        secondary: flags >> 18 & 1 != 0,
        varying_stride: word(memory, address, 52)? >> 16,
    })
}

/// Where a draw's packets go: the memory of the tiler heap.
fn packets(memory: &dyn GuestMemory, address: u64, draw: &Draw, vertices: u32) -> Result<Packets, Refusal> {
    let tiler = pair(memory, address, 56)?;
    let heap = pair(memory, tiler, 24)?;
    let (base, top) = (pair(memory, heap, 8)?, pair(memory, heap, 24)?);
    let entries = if draw.grouped { u64::from(vertices).div_ceil(4) * 8 } else { vertices.into() };
    let positions = entries * POSITION_BYTES;
    let bytes = positions + u64::from(vertices) * u64::from(draw.varying_stride);
    let room = top.saturating_sub(base);
    if bytes > room {
        return Err(Refusal::Packets { bytes, room });
    }
    Ok(Packets {
        positions: base,
        grouped: draw.grouped,
        varyings: base.wrapping_add(positions),
        varying_stride: draw.varying_stride,
        vertices,
    })
}

/// The launches of a draw, and where its vertices go.
pub(super) fn plan(
    memory: &dyn GuestMemory,
    address: u64,
    origin: Origin,
) -> Result<(Vec<Launch>, Packets), Refusal> {
    let draw = draw(memory, address)?;
    let vertices = threads(u64::from(draw.indices) * u64::from(draw.instances))?;
    let packets = packets(memory, address, &draw, vertices)?;
    let stage = Vertices { memory, address, indices: draw.indices, packets, origin };
    let mut launches = vec![stage.launch(Role::Position)?];
    if draw.secondary {
        launches.push(stage.launch(Role::Varying)?);
    }
    Ok((launches, packets))
}

/// What the two programs of a draw have in common.
struct Vertices<'a> {
    memory: &'a dyn GuestMemory,
    address: u64,
    indices: u32,
    packets: Packets,
    origin: Origin,
}

impl Vertices<'_> {
    fn launch(&self, role: Role) -> Result<Launch, Refusal> {
        let byte = if role == Role::Position { 0x100 } else { 0x140 };
        let env = ShaderEnvironment::read(self.memory, self.address.wrapping_add(byte))?;
        let program = env.program(self.memory)?;
        program.starts_with(&[register::LINEAR, register::VERTEX, register::INSTANCE])?;
        let items = self.indices.max(1);
        let mut registers = blank_registers();
        registers[register::VERTEX] = LaneRule::Cycle { base: 0, items };
        registers[register::INSTANCE] = LaneRule::Primitive { base: 0, items };
        registers[register::LINEAR] = self.linear(role);
        let vertices = self.packets.vertices;
        let environment = self.environment(role, env.words());
        let dispatch =
            dispatch(program.address, Stage::Vertex, vertices, environment, registers, self.origin);
        Ok(Launch { role, dispatch })
    }

    /// Which entry of the packets each vertex writes.
    fn linear(&self, role: Role) -> LaneRule {
        match role == Role::Position && self.packets.grouped {
            true => LaneRule::PerItem((0..self.packets.vertices).map(|v| self.packets.entry(v)).collect()),
            false => LaneRule::Item { base: 0 },
        }
    }

    fn environment(&self, role: Role, words: Environment) -> Environment {
        let (packets, packet_stride) = match role {
            Role::Position => (self.packets.positions, POSITION_BYTES as u32),
            _ => (self.packets.varyings, self.packets.varying_stride),
        };
        Environment { packets, packet_stride, ..words }
    }
}
