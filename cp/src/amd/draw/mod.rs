//! Draws: the vertex program as exact waves, and what the streamout unit makes of them.
//!
//! # What a draw comes to
//!
//! A draw has a vertex half, which may store to memory, and a raster half, which waits for a rasterizer:
//!
//! - The vertex program runs for every vertex that belongs to a whole primitive, as one dispatch whatever the number of
//!   vertices and instances, exports dropped. That holds whether streamout is on or not, for a program may store
//!   elsewhere too; an executor that sees no store in the program need not run it.
//! - With streamout on, `streamout_config` tells each wave how many of its vertices are stored: those of the
//!   primitives that fit. Vertices past them run as on the hardware and find themselves not to be stored. With
//!   streamout paused, or on without a buffer, the count is 0 and the registers keep their places.
//! - Vertex ids are indices from memory or count up, and GE_INDX_OFFSET is added. Only indices from memory restart a
//!   primitive (policy).
//! - Instances are drawn one after another, each the whole draw again, and stored one after another.
//! - A packet of several indirect draws is those draws one after another: where one is refused, those before it have
//!   been carried out. Their arguments are read before the first of them.
//! - The unit's positions move and its counters count what the plan says, however the program uses its registers.
//! - A draw that leaves rasterization on is reported as [`NotDrawn`](Refusal::NotDrawn). Where streamout is off and
//!   the vertex half is of a kind that is not carried out, the draw is left out whole and
//!   [`DrawLeftOut`](Refusal::DrawLeftOut) says why. Otherwise what is not carried out ends the stream.

mod assembly;
mod indices;
mod inputs;
mod options;
mod request;
mod stages;
mod topology;

use super::context::{Context, Flow};
use super::launch::VERTEX_PROGRAM;
use super::packet::{Handled, Packet};
use super::register_file::RegisterFile;
use super::registers::{field, field::VGT_DRAW_INITIATOR as INITIATOR};
use super::streamout_unit::StreamoutUnit;
use super::walk::require_gfx;
use crate::primitives::Topology;
use crate::streamout::{Plan, Slot};
use crate::{DrawFacts, ExactDispatch, Grid, Outputs, Refusal, Stage};
use assembly::{Assembly, Order};
use request::{Form, Request};

/// Streams whose draws are stored here: without a geometry program there is only the first.
const STREAM: Slot = Slot::ALL[0];

/// DRAW_INDEX_AUTO.
pub(crate) fn index_auto(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    draw(cx, packet, &request::INDEX_AUTO)
}

/// DRAW_INDEX_2.
pub(crate) fn index_2(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    draw(cx, packet, &request::INDEX_2)
}

/// DRAW_INDEX_OFFSET_2.
pub(crate) fn index_offset_2(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    draw(cx, packet, &request::INDEX_OFFSET_2)
}

/// DRAW_INDIRECT.
pub(crate) fn indirect(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    draw(cx, packet, &request::INDIRECT)
}

/// DRAW_INDEX_INDIRECT.
pub(crate) fn index_indirect(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    draw(cx, packet, &request::INDEX_INDIRECT)
}

/// DRAW_INDIRECT_MULTI.
pub(crate) fn indirect_multi(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    draw(cx, packet, &request::INDIRECT_MULTI)
}

/// DRAW_INDEX_INDIRECT_MULTI.
pub(crate) fn index_indirect_multi(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    draw(cx, packet, &request::INDEX_INDIRECT_MULTI)
}

/// Every draw packet.
fn draw(cx: &mut Context<'_>, packet: &Packet<'_>, form: &Form) -> Handled {
    require_gfx(cx)?;
    let undone = match form.requests(cx, packet) {
        Ok(requests) => carry_out_all(cx, packet, form, &requests)?,
        Err(why) => Some(left_out(cx, why)?),
    };
    if let Some(undone) = undone {
        cx.report_only(packet.at, undone)?;
    }
    cx.report.work.draws += 1;
    Ok(Flow::Next)
}

/// Carries the draws of a packet out one after another, and says what was not done of them.
fn carry_out_all(
    cx: &mut Context<'_>,
    packet: &Packet<'_>,
    form: &Form,
    requests: &[Request],
) -> Result<Option<Refusal>, Refusal> {
    let rasterizes = rasterizes(cx.registers());
    let mut undone = None;
    for request in requests {
        match vertex_half(cx, packet, form, request) {
            Ok(_) if rasterizes && cx.config.strict => return Err(Refusal::NotDrawn {}),
            Ok(half) => {
                carry_out(cx, packet, request, half)?;
                undone = undone.or(rasterizes.then_some(Refusal::NotDrawn {}));
            }
            Err(why) => undone = Some(left_out(cx, why)?),
        }
    }
    Ok(undone)
}

fn rasterizes(registers: &RegisterFile) -> bool {
    !registers.flag(field::PA_CL_CLIP_CNTL::DX_RASTERIZATION_KILL)
}

/// What is reported of a draw that only rasterizes and that `why` stands against.
///
/// # Errors
/// `why` itself, where it ends the stream: the draw does more, or it is an earlier dispatch that failed.
fn left_out(cx: &Context<'_>, why: Refusal) -> Result<Refusal, Refusal> {
    let only_rasterizes = rasterizes(cx.registers()) && !options::streams(cx.registers());
    match why {
        Refusal::Dispatch(_) => Err(why),
        _ if only_rasterizes => Ok(Refusal::DrawLeftOut { why: Box::new(why) }),
        _ => Err(why),
    }
}

/// A vertex half that can be carried out.
struct VertexHalf {
    dispatch: ExactDispatch,
    /// The streamout unit as the draw leaves it.
    after: StreamoutUnit,
    facts: DrawFacts,
}

/// Works the vertex half out, without effect.
fn vertex_half(
    cx: &mut Context<'_>,
    packet: &Packet<'_>,
    form: &Form,
    request: &Request,
) -> Result<VertexHalf, Refusal> {
    let registers = cx.registers();
    let wave_lanes = stages::vertex_wave_lanes(registers)?;
    options::check(registers, INITIATOR::NOT_EOP.of(form.initiator(packet)) != 0)?;
    let topology = topology::current(registers)?;
    let mut unit = cx.machine().streamout.clone();
    unit.configure(registers);
    let order = order(registers, topology, unit.core().enabled(STREAM) != 0)?;
    let assembly = assembly::assemble(cx, packet, request, topology, order)?;
    let registers = cx.registers();
    if let Some((least, most)) = assembly.id_bounds() {
        options::check_ids(registers, least, most)?;
    }
    let plan = unit.plan(STREAM, assembly.primitives(), topology.corners());
    let dispatch = dispatch(cx, packet, request, &assembly, &plan, wave_lanes)?;
    let mut after = unit.clone();
    if registers.flag(field::VGT_STRMOUT_CONFIG::STREAMOUT_0_EN) {
        after.commit(&plan);
    }
    let facts = facts(registers, request, &plan, [&unit, &after]);
    Ok(VertexHalf { dispatch, after, facts })
}

/// The order in which a draw's vertices run.
///
/// # Errors
/// What is stored, or the ids of the primitives, is not known for the topology.
fn order(registers: &RegisterFile, topology: Topology, stores: bool) -> Result<Order, Refusal> {
    let ids = registers.flag(field::VGT_PRIMITIVEID_EN::PRIMITIVEID_EN);
    match (stores, ids) {
        (true, _) if topology == Topology::Rectangles => {
            Err(Refusal::StreamoutTopology { topology: topology.name() })
        }
        (_, true) if topology.is_split() => Err(Refusal::PrimitiveIds { topology: topology.name() }),
        (false, false) => Ok(Order::Drawn),
        _ => Ok(Order::Stored),
    }
}

/// The vertex program over every vertex of a whole primitive, each wave with whole primitives.
fn dispatch(
    cx: &Context<'_>,
    packet: &Packet<'_>,
    request: &Request,
    assembly: &Assembly,
    plan: &Plan,
    wave_lanes: u8,
) -> Result<ExactDispatch, Refusal> {
    let registers = cx.registers();
    let (sgprs, scratch) = inputs::scalars(registers, &request.user_data, plan)?;
    let lanes = u32::from(wave_lanes);
    Ok(ExactDispatch {
        stage: Stage::Vertex,
        program: VERTEX_PROGRAM.read(registers, cx.config.isa, wave_lanes),
        grid: Grid::Linear { items: assembly.items(), per_wave: lanes - lanes % assembly.together() },
        sgprs,
        vgprs: inputs::lanes(registers, assembly),
        lds_bytes: 0,
        scratch,
        outputs: Outputs::Dropped,
        origin: packet.at,
    })
}

/// What observers are told, with the unit before and after the draw.
fn facts(registers: &RegisterFile, request: &Request, plan: &Plan, units: [&StreamoutUnit; 2]) -> DrawFacts {
    let [before, after] = units.map(|unit| Slot::ALL.map(|slot| unit.core().buffer(slot).position));
    DrawFacts {
        primitive_type: registers.field(field::VGT_PRIMITIVE_TYPE::PRIM_TYPE),
        vertices: request.vertices,
        instances: request.instances,
        primitives_needed: plan.primitives(),
        primitives_written: plan.fit(),
        buffers: plan.buffers(),
        positions_before: before,
        positions_after: after,
    }
}

/// Sets the draw's user data, launches the program, and then moves the streamout unit on: a program that faults leaves
/// the unit as it was.
fn carry_out(
    cx: &mut Context<'_>,
    packet: &Packet<'_>,
    request: &Request,
    half: VertexHalf,
) -> Result<(), Refusal> {
    for (register, value) in request.user_data.into_iter().flatten() {
        cx.set_register(packet.at, register, value)?;
    }
    if half.dispatch.items() > 0 {
        cx.launch(half.dispatch, Some(&half.facts))?;
    }
    cx.machine_mut().streamout = half.after;
    Ok(())
}
