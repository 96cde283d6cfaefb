//! A geometry draw whose vertices come straight from the draw.

use super::{Geometry, Primitive, Vertex};
use crate::Refusal;
use crate::amd::context::Context;
use crate::amd::draw::assembly::{check_vertices, provoking};
use crate::amd::draw::indices::{self, Fetched};
use crate::amd::draw::last::LastStage;
use crate::amd::draw::merged::EXPORT_GEOMETRY;
use crate::amd::draw::{Draw, VertexSide, inputs, options, topology};
use crate::amd::registers::reg;
use crate::amd::streamout_unit::StreamoutUnit;
use crate::primitives::{Drawn, Topology};

/// A geometry draw that can be carried out.
pub(in crate::amd::draw) struct GeometryHalf {
    geometry: Geometry,
    topology: Topology,
    fetched: Fetched,
}

impl GeometryHalf {
    /// Works the draw out, without effect.
    ///
    /// # Errors
    /// State that is not carried out, more vertices or threads than are taken for real, indices that cannot be read.
    pub(in crate::amd::draw) fn prepare(
        cx: &mut Context<'_>,
        draw: Draw<'_>,
    ) -> Result<GeometryHalf, Refusal> {
        let (registers, request) = (cx.registers(), draw.request);
        let topology = topology::current(registers)?;
        if topology.is_split() || topology == Topology::Rectangles {
            return Err(Refusal::GeometryTopology { topology: topology.name() });
        }
        check_vertices(u64::from(request.vertices), request.instances, true)?;
        let merged = EXPORT_GEOMETRY.read(registers, cx.config.isa, &request.user_data)?;
        let geometry = Geometry::new(registers, merged, LastStage::new(cx), draw, topology.inputs())?;
        let threads = topology.primitives(request.vertices).saturating_mul(u64::from(geometry.invocations()));
        check_vertices(threads, request.instances, false)?;
        cx.charge(request.vertices as usize * size_of::<u32>())?;
        let fetched = indices::drawn(cx, draw.packet, request)?;
        let half = GeometryHalf { geometry, topology, fetched };
        half.check_ids(cx)?;
        Ok(half)
    }

    fn drawn(&self) -> Drawn<'_> {
        let Fetched { indices, restart } = &self.fetched;
        Drawn { topology: self.topology, indices, restart: *restart }
    }

    fn check_ids(&self, cx: &Context<'_>) -> Result<(), Refusal> {
        let offset = cx.registers().get(reg::GE_INDX_OFFSET);
        let ids = self.drawn().used();
        options::check_listed(cx.registers(), ids.into_iter().map(|id| id.wrapping_add(offset)))
    }
}

impl VertexSide for GeometryHalf {
    fn run(self, cx: &mut Context<'_>, draw: Draw<'_>) -> Result<StreamoutUnit, Refusal> {
        let registers = cx.registers();
        let (provoking, offset) = (provoking(registers), registers.get(reg::GE_INDX_OFFSET));
        let (user, first_id) = (inputs::user_vgpr(registers), registers.get(reg::VGT_PRIMITIVEID_RESET));
        let GeometryHalf { mut geometry, topology, fetched: Fetched { indices, restart } } = self;
        let drawn = Drawn { topology, indices: &indices, restart };
        // Instances of nothing are not counted through.
        let instances = if drawn.primitives() == 0 { 0 } else { draw.request.instances };
        for instance in 0..instances {
            for (number, vertices) in drawn.inputs(provoking).enumerate() {
                let vertices = vertices.map(|id| export_vertex(id.wrapping_add(offset), user, instance));
                let id = first_id.wrapping_add(number as u32);
                geometry.add(cx, draw, &Primitive { id, vertices, off_chip: 0 })?;
            }
        }
        geometry.finish(cx, draw)?;
        Ok(geometry.into_unit())
    }
}

/// v5 to v8 of a vertex program as ES: the vertex id, a word of the driver's, nothing, the instance id.
fn export_vertex(id: u32, user: u32, instance: u32) -> Vertex {
    [id, user, 0, instance]
}
