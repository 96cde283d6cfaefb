//! 3DPRIMITIVE: fetched vertices through the vertex stage into stream output.
//!
//! A draw that streams nothing out runs no program: without stream output a vertex program of these generations stores
//! nothing. What rendering it asks for is reported as not drawn. Programs, plan and stores come before any state
//! changes, so a draw that is refused has had no effect.

use super::Refusal;
use super::context::Context;
use super::fetch::{DrawCall, Fetched, check_size, fetch};
use super::packet::{Flow, Handled, Packet, field};
use super::registers::reg;
use super::sol::{DrawnStream, StreamPlan, Vues, plan};
use super::stages::VertexWork;
use super::topology::Strips;
use crate::streamout::{Slot, Streamout};
use crate::{DrawFacts, Origin};

/// 3DPRIMITIVE.
pub(crate) fn primitive(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    let call = call(cx, packet)?;
    cx.report.draws += 1;
    if call.vertices == 0 || call.instances == 0 {
        return Ok(Flow::Next);
    }
    let control = cx.state.sol.control;
    let strips = Strips::new(call.topology, control.reorder);
    let strips = if control.enabled { Some(strips?) } else { strips.ok() };
    check_size(&call, cx.state.fetch.elements.len())?;
    if let Some(strips) = strips.filter(|_| control.enabled) {
        stream_out(cx, packet.at, &call, strips)?;
    }
    if let Some(strips) = strips {
        count(cx, &call, strips);
    }
    if control.renders() {
        cx.report_only(packet.at, Refusal::NotDrawn {});
    }
    Ok(Flow::Next)
}

/// What the packet and the indirect registers ask for.
fn call(cx: &Context<'_>, packet: &Packet<'_>) -> Result<DrawCall, Refusal> {
    use field::PRIMITIVE as F;
    let options = [
        (F::PREDICATE, "predication by MI_PREDICATE"),
        (F::END_OFFSET, "a number of vertices from 3DPRIM_END_OFFSET"),
    ];
    if let Some((_, option)) = options.into_iter().find(|(flag, _)| packet.flag(*flag)) {
        return Err(Refusal::DrawOption { option });
    }
    let indirect = packet.flag(F::INDIRECT);
    let number = |field, register| match indirect {
        true => cx.state.registers.get(register),
        false => packet.get(field),
    };
    let topology = match cx.generation().wide() {
        true => cx.state.fetch.topology,
        false => packet.get(F::TOPOLOGY),
    };
    Ok(DrawCall {
        topology,
        random: packet.flag(F::RANDOM),
        vertices: number(F::VERTICES, reg::D3PRIM_VERTEX_COUNT),
        start: number(F::START_VERTEX, reg::D3PRIM_START_VERTEX),
        instances: number(F::INSTANCES, reg::D3PRIM_INSTANCE_COUNT),
        start_instance: number(F::START_INSTANCE, reg::D3PRIM_START_INSTANCE),
        base_vertex: number(F::BASE_VERTEX, reg::D3PRIM_BASE_VERTEX) as i32,
    })
}

fn stream_out(cx: &mut Context<'_>, at: Origin, call: &DrawCall, strips: Strips) -> Result<(), Refusal> {
    cx.charge(u64::from(call.vertices).saturating_mul(u64::from(call.instances)))?;
    let fetched = fetch(&cx.state.fetch, call, cx.generation(), &*cx.parts.formats, cx.memory)?;
    let streams = vertices(cx, at, strips, fetched)?;
    let (unit, plans) = plan(&cx.state.sol, &cx.config.policies, &streams, at)?;
    let jobs: Vec<_> = plans.iter().filter_map(|p| p.job.clone()).collect();
    jobs.iter().try_for_each(|job| job.check(cx.memory))?;
    let offsets = offset_stores(cx, &plans, &unit)?;
    if !jobs.is_empty() {
        let stored = cx.parts.stream_out.run(&jobs, cx.memory)?;
        for range in stored {
            cx.report.bytes_streamed += range.end - range.start;
            cx.stored(at, range);
        }
    }
    for (address, offset) in offsets {
        cx.write(at, address, &offset.to_le_bytes())?;
    }
    tell(cx, at, call, &plans, &unit);
    cx.state.sol.unit = unit;
    Ok(())
}

/// The streams that leave the last vertex stage.
fn vertices(
    cx: &mut Context<'_>,
    at: Origin,
    strips: Strips,
    fetched: Fetched,
) -> Result<Vec<DrawnStream>, Refusal> {
    let pipeline = cx.state.pipeline;
    let stage = &mut cx.parts.vertices;
    let tessellates = pipeline.hull || pipeline.tessellator || pipeline.domain;
    if pipeline.geometry && !stage.runs_geometry() {
        return Err(Refusal::Stage { stage: "geometry program" });
    }
    if tessellates && !stage.runs_tessellation() {
        return Err(Refusal::Stage { stage: "tessellation stage" });
    }
    let work = VertexWork {
        generation: cx.config.generation,
        state: cx.state,
        fetched: &fetched,
        strips,
        origin: at,
    };
    match pipeline.vertex.enabled || pipeline.geometry || tessellates {
        true => stage.run(&work, cx.memory),
        false => {
            let vues = Vues { slots: fetched.elements, words: fetched.words.as_slice().into() };
            Ok(vec![work.stream0(vues)])
        }
    }
}

/// Where write offsets are to be stored, and their values; that they can be is checked.
fn offset_stores(
    cx: &Context<'_>,
    plans: &[StreamPlan],
    unit: &Streamout,
) -> Result<Vec<(u64, u32)>, Refusal> {
    let buffers = plans.iter().fold(0, |mask, p| mask | p.plan.buffers());
    let mut stores = Vec::new();
    for slot in Slot::ALL.into_iter().filter(|b| b.is_in(buffers)) {
        if let Some(address) = cx.state.sol.buffers[slot.index()].offset_address {
            cx.check_write(address, 4)?;
            stores.push((address, unit.buffer(slot).position as u32));
        }
    }
    Ok(stores)
}

fn tell(cx: &mut Context<'_>, at: Origin, call: &DrawCall, plans: &[StreamPlan], unit: &Streamout) {
    for StreamPlan { plan, .. } in plans {
        let facts = DrawFacts {
            primitive_type: call.topology,
            vertices: call.vertices,
            instances: call.instances,
            primitives_needed: plan.primitives(),
            primitives_written: plan.fit(),
            buffers: plan.buffers(),
            positions_before: Slot::ALL.map(|b| plan.start(b)),
            positions_after: Slot::ALL.map(|b| unit.buffer(b).position),
        };
        cx.observer.drawn(at, plan.stream().index() as u32, &facts);
    }
}

/// Counts on in the pipeline statistics. Policy: a vertex counts each time it is drawn, a cut as a vertex, and primitives
/// as stream output would store them.
fn count(cx: &mut Context<'_>, call: &DrawCall, strips: Strips) {
    let pipeline = cx.state.pipeline;
    let vertices = u64::from(call.vertices).saturating_mul(u64::from(call.instances));
    let primitives = strips.topology.primitives(call.vertices).saturating_mul(u64::from(call.instances));
    let renders = cx.state.sol.control.renders();
    let registers = &mut cx.state.registers;
    if pipeline.fetch_statistics {
        registers.add64(reg::IA_VERTICES_COUNT, vertices);
        registers.add64(reg::IA_PRIMITIVES_COUNT, primitives);
    }
    if pipeline.vertex.statistics && pipeline.vertex.enabled {
        registers.add64(reg::VS_INVOCATION_COUNT, vertices);
    }
    if pipeline.clip_statistics && renders {
        registers.add64(
            reg::CL_INVOCATION_COUNT,
            strips.topology.primitives(call.vertices) * u64::from(call.instances),
        );
    }
}
