//! The hardware VS as every pipeline ends in it: its waves, its part of the streamout unit, and what observers are told.

use super::Draw;
use super::inputs;
use super::stages;
use crate::amd::context::Context;
use crate::amd::launch::VERTEX_PROGRAM;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::field;
use crate::amd::streamout_unit::StreamoutUnit;
use crate::streamout::{Plan, Slot};
use crate::{DrawFacts, ExactDispatch, Grid, LaneRule, Outputs, Refusal, Stage};

/// The vertices of one dispatch.
pub(super) struct Items {
    /// How many.
    pub(super) items: u32,
    /// Vertices that a wave takes together: whole primitives, where those of one follow one another.
    pub(super) together: u32,
    /// Their VGPRs.
    pub(super) vgprs: Vec<LaneRule>,
    /// Where their patches lie in the tessellation buffer.
    pub(super) off_chip: u32,
}

/// The last stage of a draw, and the streamout unit on its way through it.
pub(super) struct LastStage {
    lanes: u8,
    unit: StreamoutUnit,
}

impl LastStage {
    /// The stage as the registers set it up, and the unit as it stands.
    pub(super) fn new(cx: &Context<'_>) -> LastStage {
        let mut unit = cx.machine().streamout.clone();
        unit.configure(cx.registers());
        LastStage { lanes: stages::vertex_lanes(cx.registers()), unit }
    }

    /// The streamout unit.
    pub(super) fn unit(&self) -> &StreamoutUnit {
        &self.unit
    }

    /// The streamout unit as the draw leaves it.
    pub(super) fn into_unit(self) -> StreamoutUnit {
        self.unit
    }

    /// Whether [`LastStage::dispatch`] can be made, for a draw that makes it only after others have run.
    ///
    /// # Errors
    /// As [`LastStage::dispatch`].
    pub(super) fn check(&self, registers: &RegisterFile, draw: Draw<'_>) -> Result<(), Refusal> {
        let plan = self.unit.plan(Slot::ALL[0], 0, 1);
        inputs::scalars(registers, &draw.request.user_data, &plan, 0).map(drop)
    }

    /// The dispatch over some vertices, of which those of the plan are stored.
    ///
    /// # Errors
    /// More user data than there are registers, or scratch without a ring.
    pub(super) fn dispatch(
        &self,
        cx: &Context<'_>,
        draw: Draw<'_>,
        plan: &Plan,
        items: Items,
    ) -> Result<ExactDispatch, Refusal> {
        let registers = cx.registers();
        let (sgprs, scratch) = inputs::scalars(registers, &draw.request.user_data, plan, items.off_chip)?;
        let lanes = u32::from(self.lanes);
        Ok(ExactDispatch {
            stage: Stage::Vertex,
            program: VERTEX_PROGRAM.read(registers, cx.config.isa, self.lanes),
            grid: Grid::Linear { items: items.items, per_wave: lanes - lanes % items.together },
            sgprs,
            vgprs: items.vgprs,
            lds_bytes: 0,
            scratch,
            outputs: Outputs::Dropped,
            origin: draw.packet.at,
        })
    }

    /// Carries a plan out in the unit.
    pub(super) fn commit(&mut self, plan: &Plan) {
        if self.unit.is_on(plan.stream()) {
            self.unit.commit(plan);
        }
    }

    /// What observers, if there are any, are told of the dispatch whose plan was carried out.
    pub(super) fn facts(&self, cx: &Context<'_>, draw: Draw<'_>, plan: &Plan) -> Option<DrawFacts> {
        cx.interest.work.then(|| DrawFacts {
            primitives_needed: plan.primitives(),
            primitives_written: plan.fit(),
            buffers: plan.buffers(),
            positions_before: Slot::ALL.map(|slot| plan.start(slot)),
            ..self.no_facts(cx.registers(), draw)
        })
    }

    /// What observers are told of a dispatch before the last stage.
    pub(super) fn no_facts(&self, registers: &RegisterFile, draw: Draw<'_>) -> DrawFacts {
        let at = positions(&self.unit);
        DrawFacts {
            primitive_type: registers.field(field::VGT_PRIMITIVE_TYPE::PRIM_TYPE),
            vertices: draw.request.vertices,
            instances: draw.request.instances,
            positions_before: at,
            positions_after: at,
            ..DrawFacts::default()
        }
    }

    /// Runs the stage over some vertices and moves the unit on.
    pub(super) fn run(
        &mut self,
        cx: &mut Context<'_>,
        draw: Draw<'_>,
        plan: &Plan,
        items: Items,
    ) -> Result<(), Refusal> {
        let dispatch = self.dispatch(cx, draw, plan, items)?;
        self.commit(plan);
        let facts = self.facts(cx, draw, plan);
        match dispatch.items() {
            0 => Ok(()),
            _ => cx.launch(dispatch, facts.as_ref()),
        }
    }
}

fn positions(unit: &StreamoutUnit) -> [u64; 4] {
    Slot::ALL.map(|slot| unit.core().buffer(slot).position)
}
