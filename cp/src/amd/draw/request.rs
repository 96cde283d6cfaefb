//! What a draw packet asks for: so many vertices, from these indices, so many times.
//!
//! Indirect forms read their arguments from memory: vertices, instances, first vertex (with indices: first index and
//! base vertex), first instance. First vertex and first instance reach a program as user data that the packet names by
//! its place among the shader registers; place 0 names none (policy: drivers leave it 0 where a program does not ask).

use super::indices::IndexRange;
use crate::Refusal;
use crate::amd::context::Context;
use crate::amd::packet::{BodyField, Packet, body};
use crate::amd::place::aligned;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{Field, Register, Space, describe, field, reg};
use body::DRAW_INDIRECT_MULTI as MULTI;
use field::VGT_DRAW_INITIATOR as INITIATOR;

/// Policy: a packet of more indirect draws is taken for garbage.
const MAX_INDIRECT_DRAWS: u32 = 1 << 20;
/// The index of SET_BASE that indirect draws start from.
const INDIRECT_BASE: usize = 1;

/// User data that a draw sets.
pub(super) type UserData = [Option<(Register, u32)>; 3];

/// One draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Vertices, or indices, of each instance.
    pub(super) vertices: u32,
    /// Where the indices are; `None` where they count up by themselves.
    pub(super) indices: Option<IndexRange>,
    /// Instances.
    pub(super) instances: u32,
    /// First vertex, first instance and number of the draw, as far as the packet names places for them.
    pub(super) user_data: UserData,
}

/// The draws of one packet.
pub(super) enum Requests {
    /// One.
    One(Request),
    /// Those of a list in memory.
    Listed(Vec<Request>),
}

impl Requests {
    /// The draws, in order.
    pub(super) fn all(&self) -> &[Request] {
        match self {
            Requests::One(request) => std::slice::from_ref(request),
            Requests::Listed(requests) => requests,
        }
    }
}

/// What tells one kind of draw packet from another.
pub(super) struct Form {
    /// Body dword of the initiator.
    initiator: usize,
    /// Its SOURCE_SELECT: 0 indices from memory, 2 counting up.
    source: u32,
    read: fn(&mut Context<'_>, &Packet<'_>) -> Result<Requests, Refusal>,
}

const FROM_MEMORY: u32 = 0;
const COUNTING_UP: u32 = 2;

/// DRAW_INDEX_AUTO.
pub(super) const INDEX_AUTO: Form = Form { initiator: 1, source: COUNTING_UP, read: index_auto };
/// DRAW_INDEX_2.
pub(super) const INDEX_2: Form = Form { initiator: 4, source: FROM_MEMORY, read: index_2 };
/// DRAW_INDEX_OFFSET_2.
pub(super) const INDEX_OFFSET_2: Form = Form { initiator: 3, source: FROM_MEMORY, read: index_offset_2 };
/// DRAW_INDIRECT.
pub(super) const INDIRECT: Form =
    Form { initiator: 3, source: COUNTING_UP, read: |cx, packet| indirect(cx, packet, &COUNTED) };
/// DRAW_INDEX_INDIRECT.
pub(super) const INDEX_INDIRECT: Form =
    Form { initiator: 3, source: FROM_MEMORY, read: |cx, packet| indirect(cx, packet, &INDEXED) };
/// DRAW_INDIRECT_MULTI.
pub(super) const INDIRECT_MULTI: Form =
    Form { initiator: 8, source: COUNTING_UP, read: |cx, packet| indirect_multi(cx, packet, &COUNTED) };
/// DRAW_INDEX_INDIRECT_MULTI.
pub(super) const INDEX_INDIRECT_MULTI: Form =
    Form { initiator: 8, source: FROM_MEMORY, read: |cx, packet| indirect_multi(cx, packet, &INDEXED) };

/// Initiator fields that change what is drawn and are not carried out. NOT_EOP only lets draws share waves.
const MUST_BE_ZERO: &[(Field, &str)] = &[
    (INITIATOR::MAJOR_MODE, "MAJOR_MODE"),
    (INITIATOR::SPRITE_EN_R6XX, "SPRITE_EN_R6XX"),
    (INITIATOR::UNROLLED_INST, "UNROLLED_INST"),
    (INITIATOR::GRBM_SKEW_NO_DEC, "GRBM_SKEW_NO_DEC"),
    (INITIATOR::REG_RT_INDEX, "REG_RT_INDEX"),
];

impl Form {
    /// The draws of a packet of this form, in order.
    ///
    /// # Errors
    /// An initiator or a place for user data that is not carried out, more draws than are taken for real, arguments in
    /// memory that cannot be read, or the fault of an earlier dispatch, which reading memory brings to light.
    pub(super) fn requests(&self, cx: &mut Context<'_>, packet: &Packet<'_>) -> Result<Requests, Refusal> {
        let initiator = self.initiator(packet);
        let odd = MUST_BE_ZERO.iter().find(|(field, _)| field.of(initiator) != 0);
        if let Some((field, name)) = odd {
            return Err(packet.bad(name, field.of(initiator)));
        }
        match INITIATOR::SOURCE_SELECT.of(initiator) {
            source if source == self.source => (self.read)(cx, packet),
            source => Err(packet.bad("SOURCE_SELECT", source)),
        }
    }

    /// DRAW_INITIATOR.
    pub(super) fn initiator(&self, packet: &Packet<'_>) -> u32 {
        packet.body.get(self.initiator).copied().unwrap_or(0)
    }
}

/// A draw of the instances that NUM_INSTANCES said.
fn direct(cx: &Context<'_>, vertices: u32, indices: Option<IndexRange>) -> Requests {
    // Policy: 0, as before the first NUM_INSTANCES, is one instance.
    let instances = cx.registers().get(reg::VGT_NUM_INSTANCES).max(1);
    Requests::One(Request { vertices, indices, instances, user_data: [None; 3] })
}

fn index_auto(cx: &mut Context<'_>, packet: &Packet<'_>) -> Result<Requests, Refusal> {
    use body::DRAW_INDEX_AUTO as F;
    let vertices = match packet.flag(F::USE_OPAQUE) {
        true => opaque_vertices(cx.registers()),
        false => packet.get(F::INDEX_COUNT),
    };
    Ok(direct(cx, vertices, None))
}

/// The vertices that a streamout buffer was filled with: size and offset in any one unit, by the stride in the same.
/// Policy: a stride of 0 draws nothing.
fn opaque_vertices(registers: &RegisterFile) -> u32 {
    let filled = registers.get(reg::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE);
    let stride = registers.field(field::VGT_STRMOUT_DRAW_OPAQUE_VERTEX_STRIDE::VERTEX_STRIDE);
    let bytes = filled.saturating_sub(registers.get(reg::VGT_STRMOUT_DRAW_OPAQUE_OFFSET));
    bytes.checked_div(stride).unwrap_or(0)
}

fn index_2(cx: &mut Context<'_>, packet: &Packet<'_>) -> Result<Requests, Refusal> {
    use body::DRAW_INDEX_2 as F;
    let address = packet.get64(F::ADDRESS_LO, F::ADDRESS_HI);
    let range = IndexRange { address, first: 0, limit: packet.get(F::MAX_SIZE) };
    Ok(direct(cx, packet.get(F::INDEX_COUNT), Some(range)))
}

fn index_offset_2(cx: &mut Context<'_>, packet: &Packet<'_>) -> Result<Requests, Refusal> {
    use body::DRAW_INDEX_OFFSET_2 as F;
    let (first, limit) = (packet.get(F::INDEX_OFFSET), packet.get(F::MAX_SIZE));
    let range = IndexRange { address: cx.machine().index_base, first, limit };
    Ok(direct(cx, packet.get(F::INDEX_COUNT), Some(range)))
}

/// The arguments of an indirect draw, by their dword.
struct Layout {
    dwords: usize,
    /// Indexed draws have one.
    first_index: Option<usize>,
    first_vertex: usize,
    first_instance: usize,
}

const COUNTED: Layout = Layout { dwords: 4, first_index: None, first_vertex: 2, first_instance: 3 };
const INDEXED: Layout = Layout { dwords: 5, first_index: Some(2), first_vertex: 3, first_instance: 4 };

/// Where an indirect draw puts what a program is told.
struct Places {
    first_vertex: Option<Register>,
    first_instance: Option<Register>,
    draw: Option<Register>,
}

/// The user data register that a field of the packet names.
fn place(packet: &Packet<'_>, name: &'static str, field: BodyField) -> Result<Option<Register>, Refusal> {
    let location = packet.get(field);
    let register = Space::Sh.at(location);
    let is_user_data = describe(register).is_some_and(|d| d.row.name.starts_with("SPI_SHADER_USER_DATA_"));
    match location {
        0 => Ok(None),
        _ if is_user_data => Ok(Some(register)),
        _ => Err(packet.bad(name, location)),
    }
}

/// The places that every indirect form names.
fn places(packet: &Packet<'_>) -> Result<Places, Refusal> {
    Ok(Places {
        first_vertex: place(packet, "BASE_VERTEX_LOC", MULTI::BASE_VERTEX_LOC)?,
        first_instance: place(packet, "START_INSTANCE_LOC", MULTI::START_INSTANCE_LOC)?,
        draw: None,
    })
}

fn indirect(cx: &mut Context<'_>, packet: &Packet<'_>, layout: &Layout) -> Result<Requests, Refusal> {
    let places = places(packet)?;
    Ok(Requests::One(arguments(cx, packet, layout, &places, 0)?))
}

/// All arguments are read before the first draw runs.
fn indirect_multi(cx: &mut Context<'_>, packet: &Packet<'_>, layout: &Layout) -> Result<Requests, Refusal> {
    let mut places = places(packet)?;
    if packet.flag(MULTI::DRAW_INDEX_ENABLE) {
        places.draw = place(packet, "DRAW_INDEX_LOC", MULTI::DRAW_INDEX_LOC)?;
    }
    let draws = draws(cx, packet)?;
    let all: Result<Vec<Request>, Refusal> =
        (0..draws).map(|draw| arguments(cx, packet, layout, &places, draw)).collect();
    all.map(Requests::Listed)
}

/// The packet's number of draws, which a number in memory may lower.
fn draws(cx: &mut Context<'_>, packet: &Packet<'_>) -> Result<u32, Refusal> {
    let most = packet.get(MULTI::DRAW_COUNT);
    let draws = match packet.flag(MULTI::COUNT_INDIRECT_ENABLE) {
        true => {
            let address = packet.get64(MULTI::COUNT_ADDRESS_LO, MULTI::COUNT_ADDRESS_HI);
            aligned(packet, address, 4)?;
            cx.read_u32(address)?.min(most)
        }
        false => most,
    };
    match draws <= MAX_INDIRECT_DRAWS {
        true => Ok(draws),
        false => Err(Refusal::IndirectDraws { draws, limit: MAX_INDIRECT_DRAWS }),
    }
}

/// Reads the arguments of draw number `draw` of an indirect packet.
fn arguments(
    cx: &mut Context<'_>,
    packet: &Packet<'_>,
    layout: &Layout,
    places: &Places,
    draw: u32,
) -> Result<Request, Refusal> {
    let first = cx.machine().bases[INDIRECT_BASE].wrapping_add(u64::from(packet.get(MULTI::DATA_OFFSET)));
    let address = first.wrapping_add(u64::from(draw) * u64::from(packet.get(MULTI::STRIDE)));
    aligned(packet, address, 4)?;
    let mut words = [0; 5];
    cx.read_words(address, &mut words[..layout.dwords])?;
    let machine = cx.machine();
    let indices = layout.first_index.map(|word| IndexRange {
        address: machine.index_base,
        first: words[word],
        limit: machine.index_buffer_size,
    });
    let told = |place: Option<Register>, value| place.map(|register| (register, value));
    let user_data = [
        told(places.first_vertex, words[layout.first_vertex]),
        told(places.first_instance, words[layout.first_instance]),
        told(places.draw, draw),
    ];
    Ok(Request { vertices: words[0], indices, instances: words[1], user_data })
}
