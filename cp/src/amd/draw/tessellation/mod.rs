//! The tessellation pipeline: LS and HS in one program, the fixed-function tessellator, and evaluation programs in the
//! hardware VS or as ES before a geometry program.
//!
//! Patches are gathered into groups, and as many groups as the rings have places make a dispatch. It leaves the control
//! points in the tessellation buffer, where the evaluation programs read them, and the levels in a ring, from which they
//! are read here. A group's place is used again only after its points have been evaluated, which the order of
//! dispatches sees to.
//!
//! Patches follow one another through the tessellator in the order in which they are drawn (policy: hardware with
//! several engines may deal them out, and public documents leave the order of what they store open).

mod evaluation;
mod state;

use super::assembly::{MAX_VERTICES, check_vertices};
use super::geometry::{Geometry, Primitive, Vertex};
use super::indices::{self, Fetched};
use super::last::LastStage;
use super::merged::{EXPORT_GEOMETRY, Group, LOCAL_HULL, Merged, Waves};
use super::stages::Pipeline;
use super::{Draw, VertexSide, inputs, options};
use crate::amd::context::Context;
use crate::amd::registers::reg;
use crate::amd::streamout_unit::StreamoutUnit;
use crate::primitives::{Drawn, MOST_INPUTS, Topology};
use crate::tessellator::Tessellated;
use crate::{AccessKind, DrawFacts, Outputs, Refusal};
use evaluation::Evaluation;
use state::State;

/// VGPRs of a local thread (vertex id, number in the group, a word of the driver's, instance id) and of a hull thread
/// (patch id, patch in the group and output vertex).
const LOCAL_VGPRS: usize = 4;
const HULL_VGPRS: usize = 2;
/// Place of the output vertex in a hull thread's second VGPR.
const OUTPUT_VERTEX_SHIFT: u32 = 8;

/// Where domain points go.
enum Next {
    Evaluation(Box<Evaluation>),
    Geometry(Box<Geometry>),
}

/// A tessellated draw that can be carried out.
pub(super) struct TessellationHalf {
    merged: Merged,
    state: State,
    next: Next,
    facts: DrawFacts,
    /// Vertices, without an offset.
    fetched: Fetched,
    offset: u32,
    user_vgpr: u32,
    /// Vertices that the tessellator has made so far.
    made: u64,
}

/// One patch of a draw.
#[derive(Clone, Copy)]
struct Patch<'a> {
    id: u32,
    instance: u32,
    vertices: &'a [u32],
}

impl TessellationHalf {
    /// Works out, without effect, what can be worked out before the levels are known.
    ///
    /// # Errors
    /// State that is not carried out, more vertices than are taken for real, indices that cannot be read.
    pub(super) fn prepare(
        cx: &mut Context<'_>,
        draw: Draw<'_>,
        pipeline: Pipeline,
    ) -> Result<TessellationHalf, Refusal> {
        let (registers, request) = (cx.registers(), draw.request);
        check_vertices(u64::from(request.vertices), request.instances, true)?;
        let merged = LOCAL_HULL.read(registers, cx.config.isa, &request.user_data)?;
        let state = State::read(registers, &merged)?;
        let last = LastStage::new(cx);
        let facts = last.no_facts(registers, draw);
        let next = match pipeline {
            Pipeline::TessellatedGeometry => {
                let geometry = EXPORT_GEOMETRY.read(registers, cx.config.isa, &request.user_data)?;
                let corners = state.tessellator.primitives.corners();
                Next::Geometry(Box::new(Geometry::new(registers, geometry, last, draw, corners)?))
            }
            _ => {
                last.check(registers, draw)?;
                Next::Evaluation(Box::new(Evaluation::new(last, &state.tessellator)))
            }
        };
        let (offset, user_vgpr) = (registers.get(reg::GE_INDX_OFFSET), inputs::user_vgpr(registers));
        cx.charge(request.vertices as usize * size_of::<u32>())?;
        let fetched = indices::drawn(cx, draw.packet, request)?;
        let half = TessellationHalf { merged, state, next, facts, fetched, offset, user_vgpr, made: 0 };
        half.check_ids(cx)?;
        check_vertices(half.patches() * u64::from(state.outputs), request.instances, false)?;
        half.check_levels(cx, draw)?;
        Ok(half)
    }

    /// Patches of one instance.
    fn patches(&self) -> u64 {
        drawn(&self.fetched).patches(self.state.inputs as usize).count() as u64
    }

    /// The part of the ring of levels that the draw uses has to be readable.
    fn check_levels(&self, cx: &Context<'_>, draw: Draw<'_>) -> Result<(), Refusal> {
        let state = &self.state;
        let patches = self.patches().saturating_mul(u64::from(draw.request.instances));
        let most = u64::from(state.groups) * u64::from(state.patches);
        let bytes = patches.min(most) * u64::from(state.patch_level_bytes());
        Ok(cx.memory.check(state.levels_at(0), bytes, AccessKind::Read)?)
    }

    fn check_ids(&self, cx: &Context<'_>) -> Result<(), Refusal> {
        let patches = drawn(&self.fetched).patches(self.state.inputs as usize);
        options::check_listed(cx.registers(), patches.flatten().map(|id| id.wrapping_add(self.offset)))
    }

    /// Runs as many patches as the rings have room for.
    fn run_batch(
        &mut self,
        cx: &mut Context<'_>,
        draw: Draw<'_>,
        batch: &[Patch<'_>],
    ) -> Result<(), Refusal> {
        let state = self.state;
        let mut waves = Waves::new(self.merged.lanes());
        for (group, patches) in (0..).zip(batch.chunks(state.patches as usize)) {
            let (first, second) = (self.local_threads(patches), self.hull_threads(patches));
            let places = [group * state.off_chip_bytes, group * state.group_level_bytes()];
            waves.add(&Group { first: &first, second: &second }, |_| places);
        }
        cx.charge(waves.bytes())?;
        cx.launch(self.merged.dispatch(waves, Outputs::Dropped, draw.packet.at), Some(&self.facts))?;
        for (group, patches) in (0..).zip(batch.chunks(state.patches as usize)) {
            self.tessellate(cx, draw, group, patches)?;
        }
        match &mut self.next {
            Next::Evaluation(_) => Ok(()),
            Next::Geometry(geometry) => geometry.finish(cx, draw),
        }
    }

    fn local_threads(&self, patches: &[Patch<'_>]) -> Vec<[u32; LOCAL_VGPRS]> {
        let vertices = patches.iter().flat_map(|patch| patch.vertices.iter().map(|id| (*id, patch.instance)));
        (0..)
            .zip(vertices)
            .map(|(thread, (id, instance))| [id.wrapping_add(self.offset), thread, self.user_vgpr, instance])
            .collect()
    }

    fn hull_threads(&self, patches: &[Patch<'_>]) -> Vec<[u32; HULL_VGPRS]> {
        let outputs = self.state.outputs;
        (0..)
            .zip(patches)
            .flat_map(|(number, patch)| {
                (0..outputs).map(move |vertex| [patch.id, number | vertex << OUTPUT_VERTEX_SHIFT])
            })
            .collect()
    }

    /// Takes the patches of a group, whose levels have been stored, through the tessellator.
    fn tessellate(
        &mut self,
        cx: &mut Context<'_>,
        draw: Draw<'_>,
        group: u32,
        patches: &[Patch<'_>],
    ) -> Result<(), Refusal> {
        let (bytes, off_chip) = (self.state.patch_level_bytes() as usize, group * self.state.off_chip_bytes);
        let mut levels = vec![0; patches.len() * bytes];
        cx.read(self.state.levels_at(group), &mut levels)?;
        for ((number, patch), levels) in (0..).zip(patches).zip(levels.chunks_exact(bytes)) {
            let tessellated = self.state.tessellator.tessellate(&self.state.levels(levels));
            self.made += tessellated.indices.len() as u64;
            if self.made > MAX_VERTICES {
                return Err(Refusal::DrawSize { vertices: self.made, limit: MAX_VERTICES });
            }
            self.pass_on(cx, draw, &tessellated, [number, patch.id], off_chip)?;
        }
        match &mut self.next {
            Next::Evaluation(next) => next.finish(cx, draw, off_chip),
            Next::Geometry(_) => Ok(()),
        }
    }

    /// Hands a patch, whose number in its group and id are `patch`, to what comes next.
    fn pass_on(
        &mut self,
        cx: &mut Context<'_>,
        draw: Draw<'_>,
        tessellated: &Tessellated,
        patch: [u32; 2],
        off_chip: u32,
    ) -> Result<(), Refusal> {
        match &mut self.next {
            Next::Evaluation(next) => next.add(cx, draw, tessellated, patch, off_chip),
            Next::Geometry(next) => {
                let corners = self.state.tessellator.primitives.corners();
                primitives(tessellated, corners, patch, off_chip)
                    .try_for_each(|primitive| next.add(cx, draw, &primitive))
            }
        }
    }
}

impl VertexSide for TessellationHalf {
    fn run(mut self, cx: &mut Context<'_>, draw: Draw<'_>) -> Result<StreamoutUnit, Refusal> {
        // Instances of nothing are not counted through.
        let instances = if self.patches() == 0 { 0 } else { draw.request.instances };
        let (fetched, inputs) = (std::mem::take(&mut self.fetched), self.state.inputs as usize);
        let mut patches = (0..instances).flat_map(|instance| {
            let of_instance = drawn(&fetched).patches(inputs).enumerate();
            of_instance.map(move |(id, vertices)| Patch { id: id as u32, instance, vertices })
        });
        let most = (self.state.groups * self.state.patches) as usize;
        loop {
            let batch: Vec<_> = patches.by_ref().take(most).collect();
            if batch.is_empty() {
                break;
            }
            self.run_batch(cx, draw, &batch)?;
        }
        Ok(match self.next {
            Next::Evaluation(evaluation) => evaluation.into_unit(),
            Next::Geometry(geometry) => geometry.into_unit(),
        })
    }
}

/// The indices of a draw; patches do not ask for the topology.
fn drawn(fetched: &Fetched) -> Drawn<'_> {
    Drawn { topology: Topology::Points, indices: &fetched.indices, restart: fetched.restart }
}

/// The primitives of a patch as a geometry program gets them: all have the patch's id.
fn primitives(
    tessellated: &Tessellated,
    corners: u32,
    [number, id]: [u32; 2],
    off_chip: u32,
) -> impl Iterator<Item = Primitive> {
    let vertex = move |point: &u32| -> Vertex {
        let [u, v] = tessellated.points[*point as usize].float_bits();
        [u, v, number, id]
    };
    tessellated.indices.chunks_exact(corners as usize).map(move |points| {
        let mut vertices = [Vertex::default(); MOST_INPUTS];
        for (place, point) in vertices.iter_mut().zip(points) {
            *place = vertex(point);
        }
        Primitive { id, vertices, off_chip }
    })
}
