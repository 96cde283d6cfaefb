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
mod geometry;
mod indices;
mod inputs;
mod last;
mod merged;
mod options;
mod request;
mod stages;
mod tessellation;
mod topology;
mod vertex;

use super::context::{Context, Flow};
use super::packet::{Handled, Packet};
use super::register_file::RegisterFile;
use super::registers::{field, field::VGT_DRAW_INITIATOR as INITIATOR};
use super::streamout_unit::StreamoutUnit;
use super::walk::require_gfx;
use crate::Refusal;
use geometry::GeometryHalf;
use request::{Form, Request};
use stages::Pipeline;
use tessellation::TessellationHalf;
use vertex::VertexHalf;

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
        Ok(requests) => carry_out_all(cx, packet, form, requests.all())?,
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
    let mut undone = None;
    for request in requests {
        undone = match one(cx, Draw { packet, request }, form)? {
            Some(Refusal::NotDrawn {}) => undone.or(Some(Refusal::NotDrawn {})),
            Some(left_out) => Some(left_out),
            None => undone,
        };
    }
    Ok(undone)
}

/// Carries one draw out, and says what was not done of it.
fn one(cx: &mut Context<'_>, draw: Draw<'_>, form: &Form) -> Result<Option<Refusal>, Refusal> {
    let pipeline = match pipeline(cx, draw, form) {
        Ok(pipeline) => pipeline,
        Err(why) => return left_out(cx, why).map(Some),
    };
    match pipeline {
        Pipeline::Vertex => {
            let side = VertexHalf::prepare(cx, draw);
            carry_out(cx, draw, side)
        }
        Pipeline::Geometry => {
            let side = GeometryHalf::prepare(cx, draw);
            carry_out(cx, draw, side)
        }
        Pipeline::Tessellation | Pipeline::TessellatedGeometry => {
            let side = TessellationHalf::prepare(cx, draw, pipeline);
            carry_out(cx, draw, side)
        }
    }
}

/// The pipeline that a draw goes through.
fn pipeline(cx: &Context<'_>, draw: Draw<'_>, form: &Form) -> Result<Pipeline, Refusal> {
    let pipeline = stages::pipeline(cx.registers())?;
    options::check(cx.registers(), INITIATOR::NOT_EOP.of(form.initiator(draw.packet)) != 0)?;
    Ok(pipeline)
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

/// One draw of a packet.
#[derive(Clone, Copy)]
struct Draw<'d> {
    packet: &'d Packet<'d>,
    request: &'d Request,
}

/// What comes before rasterization, ready to be carried out.
trait VertexSide {
    /// Runs it, and gives the streamout unit as it leaves it.
    fn run(self, cx: &mut Context<'_>, draw: Draw<'_>) -> Result<StreamoutUnit, Refusal>;
}

/// Sets the draw's user data, runs its programs, and then moves the streamout unit on: a program that faults leaves the
/// unit as it was. Says what was not done.
fn carry_out(
    cx: &mut Context<'_>,
    draw: Draw<'_>,
    side: Result<impl VertexSide, Refusal>,
) -> Result<Option<Refusal>, Refusal> {
    let rasterizes = rasterizes(cx.registers());
    let side = match side {
        Ok(_) if rasterizes && cx.config.strict => return Err(Refusal::NotDrawn {}),
        Ok(side) => side,
        Err(why) => return left_out(cx, why).map(Some),
    };
    for (register, value) in draw.request.user_data.into_iter().flatten() {
        cx.set_register(draw.packet.at, register, value)?;
    }
    cx.machine_mut().streamout = side.run(cx, draw)?;
    Ok(rasterizes.then_some(Refusal::NotDrawn {}))
}
