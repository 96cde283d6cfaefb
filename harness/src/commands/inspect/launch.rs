//! Draws and dispatches with the state that they start in.

use std::io::{self, Write};

use guestwave_cp::amd::{Register, reg};
use guestwave_cp::{DrawFacts, Grid, LaneRule, ScalarRule, Stage};

use super::packets::register_line;
use super::recorder::Launched;
use crate::commands::style;
use crate::commands::summary::{stage, topology};

/// Registers that say how a vertex program is launched.
const DRAW_STATE: [Register; 7] = [
    reg::VGT_SHADER_STAGES_EN,
    reg::SPI_SHADER_PGM_RSRC1_VS,
    reg::SPI_SHADER_PGM_RSRC2_VS,
    reg::VGT_STRMOUT_CONFIG,
    reg::VGT_STRMOUT_BUFFER_CONFIG,
    reg::PA_CL_CLIP_CNTL,
    reg::PA_SU_SC_MODE_CNTL,
];

/// Registers that say how the merged ES and GS are launched.
const GEOMETRY_STATE: [Register; 10] = [
    reg::VGT_SHADER_STAGES_EN,
    reg::SPI_SHADER_PGM_RSRC1_GS,
    reg::SPI_SHADER_PGM_RSRC2_GS,
    reg::VGT_PRIMITIVE_TYPE,
    reg::VGT_GS_INSTANCE_CNT,
    reg::VGT_GS_ONCHIP_CNTL,
    reg::VGT_GS_OUT_PRIM_TYPE,
    reg::VGT_GS_MAX_VERT_OUT,
    reg::VGT_ESGS_RING_ITEMSIZE,
    reg::VGT_GSVS_RING_ITEMSIZE,
];

/// Registers that say how the merged LS and HS are launched.
const TESSELLATION_STATE: [Register; 6] = [
    reg::VGT_SHADER_STAGES_EN,
    reg::SPI_SHADER_PGM_RSRC1_HS,
    reg::SPI_SHADER_PGM_RSRC2_HS,
    reg::VGT_LS_HS_CONFIG,
    reg::VGT_TF_PARAM,
    reg::VGT_HS_OFFCHIP_PARAM,
];

/// Registers that say how a compute program is launched.
const DISPATCH_STATE: [Register; 2] = [reg::COMPUTE_PGM_RSRC1, reg::COMPUTE_PGM_RSRC2];

/// Prints the state of a launch.
pub(super) fn print(launch: &Launched, out: &mut dyn Write) -> io::Result<()> {
    let title = match &launch.draw {
        Some(draw) => format!("{} of a {}", stage(launch.dispatch.stage), draw_title(draw)),
        None => "dispatch".to_owned(),
    };
    let grid = grid(&launch.dispatch.grid);
    writeln!(out, "         {} {grid}, {}", style::good(title), outcome(launch))?;
    for register in state(launch.dispatch.stage) {
        writeln!(out, "           {}", register_line(*register, launch.registers.get(*register)))?;
    }
    if let Some(draw) = &launch.draw {
        buffers(launch, draw, out)?;
    }
    first_registers(launch, out)
}

/// The registers that say how a stage is launched.
fn state(stage: Stage) -> &'static [Register] {
    match stage {
        Stage::Compute => &DISPATCH_STATE,
        Stage::Vertex | Stage::Fragment => &DRAW_STATE,
        Stage::EsGs => &GEOMETRY_STATE,
        Stage::LsHs => &TESSELLATION_STATE,
    }
}

fn draw_title(draw: &DrawFacts) -> String {
    let DrawFacts { vertices, instances, primitives_written, primitives_needed, .. } = draw;
    let topology = topology(draw.primitive_type);
    format!(
        "draw of {topology}: {vertices} vertices, {instances} instances, {primitives_written} of {primitives_needed} primitives stored;"
    )
}

fn grid(grid: &Grid) -> String {
    match grid {
        Grid::Linear { items, per_wave } => format!("{items} threads, {per_wave} a wave"),
        Grid::Groups { start, end, threads, .. } => {
            let count = [0, 1, 2].map(|a| end[a].saturating_sub(start[a]));
            format!("{} groups of {} threads", times(count), times(*threads))
        }
        Grid::Subgroups { waves } => format!("{} groups of {} waves", waves.len(), waves.iter().sum::<u32>()),
    }
}

fn times([x, y, z]: [u32; 3]) -> String {
    format!("{x}x{y}x{z}")
}

fn outcome(launch: &Launched) -> String {
    match &launch.completed {
        Some(done) => {
            let bytes: u64 = done.stored.iter().map(|r| r.end - r.start).sum();
            format!("{} waves ran {} instructions and stored {bytes} bytes", done.waves, done.instructions)
        }
        None => "did not run to its end".to_owned(),
    }
}

fn buffers(launch: &Launched, draw: &DrawFacts, out: &mut dyn Write) -> io::Result<()> {
    for b in (0..4u8).filter(|b| draw.buffers >> b & 1 != 0) {
        let value =
            |array: guestwave_cp::amd::registers::RegisterArray| launch.registers.get(array.at(u32::from(b)));
        let (before, after) = (draw.positions_before[usize::from(b)], draw.positions_after[usize::from(b)]);
        writeln!(
            out,
            "           streamout buffer {b}: size {} bytes, stride {} bytes, position {before} -> {after}",
            4 * u64::from(value(reg::VGT_STRMOUT_BUFFER_SIZE)),
            4 * u64::from(value(reg::VGT_STRMOUT_VTX_STRIDE)),
        )?;
    }
    Ok(())
}

/// The registers that waves start with.
fn first_registers(launch: &Launched, out: &mut dyn Write) -> io::Result<()> {
    let scalars = launch.dispatch.sgprs.iter().enumerate().map(|(i, r)| format!("s{i}={}", scalar(r)));
    let vectors = launch.dispatch.vgprs.iter().enumerate().map(|(i, r)| format!("v{i}={}", vector(r)));
    for line in scalars.chain(vectors).collect::<Vec<_>>().chunks(6) {
        writeln!(out, "           {}", line.join("  "))?;
    }
    Ok(())
}

fn scalar(rule: &ScalarRule) -> String {
    match rule {
        ScalarRule::Word(word) => format!("{word:#x}"),
        ScalarRule::ItemCount { base, shift, .. } => format!("{base:#x}|stored<<{shift}"),
        ScalarRule::FirstItem { base } => format!("{base}+first"),
        ScalarRule::GroupId(axis) => format!("group.{}", axis_name(*axis)),
        ScalarRule::GroupSize => "group size".to_owned(),
        ScalarRule::ScratchOffset { per_wave, .. } => format!("scratch({per_wave} a wave)"),
        ScalarRule::PerWave(words) => format!("by wave[{}]", words.len()),
    }
}

fn vector(rule: &LaneRule) -> String {
    match rule {
        LaneRule::Word(word) => format!("{word:#x}"),
        LaneRule::Item { base } => format!("{base}+item"),
        LaneRule::Primitive { base, items } => format!("{base}+item/{items}"),
        LaneRule::Cycle { base, items } => format!("{base}+item%{items}"),
        LaneRule::ThreadId(axis) => format!("thread.{}", axis_name(*axis)),
        LaneRule::PerItem(words) => format!("by item[{}]", words.len()),
    }
}

fn axis_name(axis: u8) -> char {
    ['x', 'y', 'z'].get(usize::from(axis)).copied().unwrap_or('?')
}
