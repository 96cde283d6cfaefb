//! Which program a draw's vertices come from.

use crate::Refusal;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{Field, field::VGT_SHADER_STAGES_EN as STAGES};

/// A field of VGT_SHADER_STAGES_EN that takes a draw away from the plain vertex program.
type Row = (Field, fn(u32) -> Refusal);

/// In the order of the pipeline, but for the primitive shader, which replaces it whole.
const OTHER_STAGES: &[Row] = &[
    (STAGES::PRIMGEN_EN, |_| Refusal::PrimitiveShader {}),
    (STAGES::LS_EN, |_| Refusal::LocalShader {}),
    (STAGES::HS_EN, |_| Refusal::HullShader {}),
    (STAGES::ES_EN, |_| Refusal::ExportShader {}),
    (STAGES::GS_EN, |_| Refusal::GeometryShader {}),
    (STAGES::VS_EN, |value| Refusal::VertexStage { value }),
    (STAGES::DISPATCH_DRAW_EN, |_| Refusal::DrawOption { option: "dispatch draws" }),
    (STAGES::VS_WAVE_ID_EN, |_| Refusal::DrawOption { option: "vertex wave ids" }),
];

/// Lanes of a vertex wave, if vertices come from a plain legacy vertex program.
///
/// # Errors
/// The stage that is in the way, by name.
pub(super) fn vertex_wave_lanes(registers: &RegisterFile) -> Result<u8, Refusal> {
    let other =
        OTHER_STAGES.iter().map(|(field, refuse)| (registers.field(*field), refuse)).find(|(v, _)| *v != 0);
    match other {
        Some((value, refuse)) => Err(refuse(value)),
        None => Ok(if registers.flag(STAGES::VS_W32_EN) { 32 } else { 64 }),
    }
}
