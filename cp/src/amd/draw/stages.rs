//! Which programs a draw runs.

use crate::Refusal;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{Field, field::VGT_SHADER_STAGES_EN as STAGES, reg};

/// A legacy pipeline: what comes before the hardware VS, which each of them ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pipeline {
    /// Nothing.
    Vertex,
    /// ES and GS; the hardware VS copies what the GS emitted.
    Geometry,
    /// LS and HS; the hardware VS evaluates domain points.
    Tessellation,
    /// LS and HS, then ES and GS, of which the ES evaluates domain points.
    TessellatedGeometry,
}

/// LS_EN, HS_EN, ES_EN, GS_EN and VS_EN of each pipeline. ES_EN 1 and VS_EN 1 are evaluation programs, ES_EN 2 a vertex
/// program, VS_EN 2 a copy program.
#[rustfmt::skip]
const PIPELINES: &[([u32; 5], Pipeline)] = &[
    ([0, 0, 0, 0, 0], Pipeline::Vertex),
    ([0, 0, 2, 1, 2], Pipeline::Geometry),
    ([1, 1, 0, 0, 1], Pipeline::Tessellation),
    ([1, 1, 1, 1, 2], Pipeline::TessellatedGeometry),
];

const STAGE_FIELDS: [Field; 5] = [STAGES::LS_EN, STAGES::HS_EN, STAGES::ES_EN, STAGES::GS_EN, STAGES::VS_EN];

/// A field of VGT_SHADER_STAGES_EN that asks for something else.
type Row = (Field, fn() -> Refusal);

const OTHERS: &[Row] = &[
    (STAGES::PRIMGEN_EN, || Refusal::PrimitiveShader {}),
    (STAGES::DISPATCH_DRAW_EN, || Refusal::DrawOption { option: "dispatch draws" }),
    (STAGES::VS_WAVE_ID_EN, || Refusal::DrawOption { option: "vertex wave ids" }),
    (STAGES::GS_W32_EN, || Refusal::DrawOption { option: "a geometry program in waves of 32 lanes" }),
];

/// The pipeline that the registers set up.
///
/// # Errors
/// What is in the way, by name.
pub(super) fn pipeline(registers: &RegisterFile) -> Result<Pipeline, Refusal> {
    if let Some((_, refuse)) = OTHERS.iter().find(|(field, _)| registers.flag(*field)) {
        return Err(refuse());
    }
    let stages = STAGE_FIELDS.map(|field| registers.field(field));
    let value = registers.get(reg::VGT_SHADER_STAGES_EN);
    PIPELINES.iter().find(|row| row.0 == stages).map(|row| row.1).ok_or(Refusal::Stages { value })
}

/// Lanes of a wave of the hardware VS.
pub(super) fn vertex_lanes(registers: &RegisterFile) -> u8 {
    lanes(registers, STAGES::VS_W32_EN)
}

/// Lanes of a wave of the merged LS and HS.
pub(super) fn hull_lanes(registers: &RegisterFile) -> u8 {
    lanes(registers, STAGES::HS_W32_EN)
}

fn lanes(registers: &RegisterFile, narrow: Field) -> u8 {
    if registers.flag(narrow) { 32 } else { 64 }
}
