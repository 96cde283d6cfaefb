//! Draws: the vertex program as exact waves, and what the streamout unit makes of them.
//!
//! # What a draw comes to
//!
//! A draw has a vertex half, which may store to memory, and a raster half, which waits for a rasterizer:
//!
//! - The vertex program runs for every vertex that belongs to a whole primitive, as one dispatch, exports dropped.
//!   That holds whether streamout is on or not, for a program may store elsewhere too; an executor that sees no store
//!   in the program need not run it.
//! - With streamout on, `streamout_config` tells each wave how many of its vertices are stored: those of the
//!   primitives that fit. Vertices past them run as on the hardware and find themselves not to be stored. With
//!   streamout paused, or on without a buffer, the count is 0 and the registers keep their places.
//! - Vertex ids count up from GE_INDX_OFFSET. They never restart a primitive (policy): restart is a matter of indices.
//! - The unit's positions move and its counters count what the plan says, however the program uses its registers.
//! - A draw that leaves rasterization on is reported as [`NotDrawn`](Refusal::NotDrawn). Where streamout is off and
//!   the vertex half is of a kind that is not carried out, the draw is left out whole and
//!   [`DrawLeftOut`](Refusal::DrawLeftOut) says why. Otherwise what is not carried out ends the stream.

mod inputs;
mod stages;
mod topology;

use super::context::{Context, Flow};
use super::launch::{MustBeZero, VERTEX_PROGRAM, first_set};
use super::packet::{Handled, Packet, body::DRAW_INDEX_AUTO as F};
use super::register_file::RegisterFile;
use super::registers::{field, reg};
use super::streamout_unit::StreamoutUnit;
use super::walk::require_gfx;
use crate::primitives::Topology;
use crate::streamout::{Plan, Slot};
use crate::{DrawFacts, ExactDispatch, Grid, Isa, Origin, Outputs, Refusal, Stage};

/// DRAW_INDEX_AUTO: the one draw packet that is carried out.
const AUTO: u8 = 0x2d;
/// SOURCE_SELECT of a draw whose indices count up by themselves.
const SOURCE_AUTO: u32 = 2;
/// Policy: a draw of more vertices is taken for garbage. No driver's test suite comes near it.
const MAX_VERTICES: u32 = 1 << 28;
/// Streams whose draws are stored here: without a geometry program there is only the first.
const STREAM: Slot = Slot::ALL[0];

/// Fields that change what a vertex program sees or does and are not carried out.
const MUST_BE_ZERO: &[MustBeZero] = &[
    (field::SPI_SHADER_PGM_RSRC1_VS::FP16_OVFL, "clamping of half-precision overflow (FP16_OVFL)"),
    (field::SPI_SHADER_PGM_RSRC2_VS::TRAP_PRESENT, "a trap handler"),
    (field::SPI_SHADER_PGM_RSRC2_VS::PC_BASE_EN, "the parameter cache's base (PC_BASE_EN)"),
    (field::SPI_SHADER_PGM_RSRC2_VS::DISPATCH_DRAW_EN, "dispatch draws"),
    (field::SPI_SHADER_PGM_RSRC2_VS::SHARED_VGPR_CNT, "shared VGPRs"),
];

/// Every draw packet, told apart by its opcode.
pub(crate) fn draw(cx: &mut Context<'_>, packet: &Packet<'_>) -> Handled {
    require_gfx(cx)?;
    let rasterizes = !cx.registers().flag(field::PA_CL_CLIP_CNTL::DX_RASTERIZATION_KILL);
    match vertex_half(cx, packet) {
        Err(why) if rasterizes && !streams(cx.registers()) => {
            cx.report_only(packet.at, Refusal::DrawLeftOut { why: Box::new(why) })?;
        }
        Err(why) => return Err(why),
        Ok(_) if rasterizes && cx.config.strict => return Err(Refusal::NotDrawn {}),
        Ok(half) => {
            carry_out(cx, half)?;
            if rasterizes {
                cx.report_only(packet.at, Refusal::NotDrawn {})?;
            }
        }
    }
    cx.report.work.draws += 1;
    Ok(Flow::Next)
}

/// Whether any stream is on.
fn streams(registers: &RegisterFile) -> bool {
    use field::VGT_STRMOUT_CONFIG as CONFIG;
    let streams =
        [CONFIG::STREAMOUT_0_EN, CONFIG::STREAMOUT_1_EN, CONFIG::STREAMOUT_2_EN, CONFIG::STREAMOUT_3_EN];
    streams.into_iter().chain([CONFIG::EN_PRIMS_NEEDED_CNT]).any(|field| registers.flag(field))
}

/// A vertex half that can be carried out.
struct VertexHalf {
    dispatch: ExactDispatch,
    /// The streamout unit as the draw leaves it.
    after: StreamoutUnit,
    facts: DrawFacts,
}

/// What is drawn: so many vertices of a topology.
#[derive(Clone, Copy)]
struct Run {
    vertices: u32,
    topology: Topology,
}

impl Run {
    fn primitives(self) -> u64 {
        self.topology.primitives(self.vertices)
    }
}

/// Works the vertex half out, without effect.
fn vertex_half(cx: &Context<'_>, packet: &Packet<'_>) -> Result<VertexHalf, Refusal> {
    let registers = cx.registers();
    let wave_lanes = stages::vertex_wave_lanes(registers)?;
    let vertices = auto_vertices(packet)?;
    check_options(registers)?;
    let row = topology::current(registers)?;
    let run = Run { vertices, topology: row.topology };
    let mut unit = cx.machine().streamout.clone();
    unit.configure(registers);
    let plan = unit.plan(STREAM, run.primitives(), run.topology.corners());
    if plan.buffers() != 0 && !row.stored {
        return Err(Refusal::StreamoutTopology { topology: run.topology.name() });
    }
    check_ids(registers, run)?;
    let dispatch = dispatch(registers, run, &plan, Launch { isa: cx.config.isa, wave_lanes, at: packet.at })?;
    let mut after = unit.clone();
    if registers.flag(field::VGT_STRMOUT_CONFIG::STREAMOUT_0_EN) {
        after.commit(&plan);
    }
    let facts = facts(registers, run, &plan, [&unit, &after]);
    Ok(VertexHalf { dispatch, after, facts })
}

/// The vertices that a DRAW_INDEX_AUTO asks for.
fn auto_vertices(packet: &Packet<'_>) -> Result<u32, Refusal> {
    if packet.header.opcode() != AUTO {
        return Err(Refusal::DrawForm { packet: packet.name() });
    }
    if packet.flag(F::USE_OPAQUE) {
        return Err(Refusal::OpaqueDraw {});
    }
    let (vertices, source, mode) =
        (packet.get(F::INDEX_COUNT), packet.get(F::SOURCE_SELECT), packet.get(F::MAJOR_MODE));
    match (source, mode) {
        (SOURCE_AUTO, 0) if vertices <= MAX_VERTICES => Ok(vertices),
        (SOURCE_AUTO, 0) => Err(Refusal::DrawSize { vertices, limit: MAX_VERTICES }),
        (SOURCE_AUTO, _) => Err(packet.bad("MAJOR_MODE", mode)),
        _ => Err(packet.bad("SOURCE_SELECT", source)),
    }
}

fn check_options(registers: &RegisterFile) -> Result<(), Refusal> {
    let config = field::VGT_STRMOUT_CONFIG::EN_PRIMS_NEEDED_CNT;
    let instances = registers.get(reg::VGT_NUM_INSTANCES);
    if let Some(option) = first_set(registers, MUST_BE_ZERO) {
        return Err(Refusal::DrawOption { option });
    }
    if registers.flag(config) && !registers.flag(field::VGT_STRMOUT_CONFIG::STREAMOUT_0_EN) {
        return Err(Refusal::DrawOption { option: "counting of needed primitives without streamout" });
    }
    match instances {
        0 | 1 => Ok(()),
        instances => Err(Refusal::Instances { instances }),
    }
}

/// Vertex ids stay within GE_MIN_VTX_INDX and GE_MAX_VTX_INDX, or those were never written.
fn check_ids(registers: &RegisterFile, run: Run) -> Result<(), Refusal> {
    let bound =
        |register, unset| if registers.is_written(register) { registers.get(register) } else { unset };
    let allowed = bound(reg::GE_MIN_VTX_INDX, 0)..=bound(reg::GE_MAX_VTX_INDX, u32::MAX);
    let first = registers.get(reg::GE_INDX_OFFSET);
    let last = first.checked_add(run.topology.used(run.vertices).saturating_sub(1));
    match last {
        _ if allowed == (0..=u32::MAX) => Ok(()),
        Some(last) if allowed.contains(&first) && allowed.contains(&last) => Ok(()),
        _ => Err(Refusal::DrawOption { option: "clamping of vertex ids (GE_MIN_VTX_INDX, GE_MAX_VTX_INDX)" }),
    }
}

/// What a dispatch takes from outside the registers.
struct Launch {
    isa: Isa,
    wave_lanes: u8,
    at: Origin,
}

/// The vertex program over every vertex of a whole primitive, each wave with whole primitives.
fn dispatch(
    registers: &RegisterFile,
    run: Run,
    plan: &Plan,
    launch: Launch,
) -> Result<ExactDispatch, Refusal> {
    let (sgprs, scratch) = inputs::scalars(registers, plan)?;
    let lanes = u32::from(launch.wave_lanes);
    let together = if run.topology.is_natural() { run.topology.corners() } else { 1 };
    Ok(ExactDispatch {
        stage: Stage::Vertex,
        program: VERTEX_PROGRAM.read(registers, launch.isa, launch.wave_lanes),
        grid: Grid::Linear { items: run.topology.used(run.vertices), per_wave: lanes - lanes % together },
        sgprs,
        vgprs: inputs::lanes(registers, run.topology)?,
        lds_bytes: 0,
        scratch,
        outputs: Outputs::Dropped,
        origin: launch.at,
    })
}

/// What observers are told, with the unit before and after the draw.
fn facts(registers: &RegisterFile, run: Run, plan: &Plan, units: [&StreamoutUnit; 2]) -> DrawFacts {
    let [before, after] = units.map(|unit| Slot::ALL.map(|slot| unit.core().buffer(slot).position));
    DrawFacts {
        primitive_type: registers.field(field::VGT_PRIMITIVE_TYPE::PRIM_TYPE),
        vertices: run.vertices,
        instances: 1,
        primitives_needed: plan.primitives(),
        primitives_written: plan.fit(),
        buffers: plan.buffers(),
        positions_before: before,
        positions_after: after,
    }
}

/// Launches the program, and then moves the streamout unit on: a program that faults leaves the unit as it was.
fn carry_out(cx: &mut Context<'_>, half: VertexHalf) -> Result<(), Refusal> {
    if half.dispatch.items() > 0 {
        cx.launch(half.dispatch, Some(&half.facts))?;
    }
    cx.machine_mut().streamout = half.after;
    Ok(())
}
