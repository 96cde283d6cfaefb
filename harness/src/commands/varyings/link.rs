//! `guestwave varyings link`: a layout, its descriptors, and why.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use guestwave_cp::mali::Version;
use guestwave_cp::mali::linker::{Access, Form, Layout, Request, Section, Slot, Stage, Varying, link, parse};
use guestwave_isa::format;

use crate::commands::{files, style};

/// Arguments of `varyings link`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The GPU: a version (v9), a name (g57) or a product id (9093)
    #[arg(long)]
    gpu: String,
    /// The shaders are compiled without knowing each other
    #[arg(long)]
    separate: bool,
    /// The shaders' types can be trusted (Vulkan)
    #[arg(long)]
    trusted: bool,
    /// Store floats in 16 bits where every access is mediump
    #[arg(long)]
    shrink: bool,
    /// Give the reason for every choice
    #[arg(long)]
    explain: bool,
    /// Varyings, one a line: stage (vs, fs), name, location (position, psiz, var0, var0.2, ...), type (vec4, int, ...),
    /// then any of mediump, flat, centroid, sample; - for stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Exit status where something was refused.
const REFUSED: u8 = 2;

/// Prints the layout; the exit status is 2 if the varyings are refused.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    let version = Version::named(&args.gpu)?;
    let linked = parse(&files::text_or_stdin(&args.file)?).and_then(|varyings| {
        let (separate, trusted, shrink) = (args.separate, args.trusted, args.shrink);
        let request = Request { version, varyings, separate, trusted, shrink };
        link(&request).map(|layout| (request, layout))
    });
    match linked {
        Ok((request, layout)) => {
            show(&request, &layout, args.explain, out)?;
            Ok(0)
        }
        Err(refusal) => {
            let file = args.file.display();
            anstream::eprintln!("{file}: {}: {refusal}", style::bad(refusal.code()));
            Ok(REFUSED)
        }
    }
}

/// Writes the whole layout.
fn show(request: &Request, layout: &Layout, explain: bool, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{}", style::heading(format!("memory, {} bytes a vertex", layout.generic_bytes)))?;
    for slot in &layout.slots {
        writeln!(out, "  {}", slot_text(slot))?;
    }
    for buffer in &layout.buffers {
        let special = buffer.special.map_or(String::new(), |code| format!(", special {code:#x}"));
        writeln!(out, "  buffer {}: {}, stride {}{special}", buffer.index, buffer.holds, buffer.stride)?;
    }
    if let Some(why) = &layout.fallback {
        writeln!(out, "  loads go through descriptors: {why}")?;
    }
    for (access, varying) in layout.accesses.iter().zip(&request.varyings) {
        show_access(layout, access, varying, explain, out)?;
    }
    for stage in [Stage::Vertex, Stage::Fragment] {
        let of_stage = layout.descriptors.iter().filter(|d| d.stage == stage);
        for (index, descriptor) in of_stage.enumerate() {
            if index == 0 {
                writeln!(out, "{}", style::heading(format!("{} descriptors", stage_name(stage))))?;
            }
            let words: Vec<_> = descriptor.words.iter().map(|w| format!("{w:08x}")).collect();
            writeln!(out, "  {index} {}: {}", descriptor.location, words.join(" "))?;
        }
    }
    Ok(())
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Vertex => "vertex",
        Stage::Fragment => "fragment",
    }
}

fn slot_text(slot: &Slot) -> String {
    let shape = format!("{} x {}", slot.components, slot.element);
    format!("{}: {shape}, {}", slot.location, section_text(slot.section))
}

fn section_text(section: Section) -> String {
    match section {
        Section::Generic { offset } => format!("byte {offset}"),
        Section::Position => "positions".to_owned(),
        Section::Attributes { offset } => format!("attribute entry, byte {offset}"),
        Section::Special => "made by the rasterizer".to_owned(),
        Section::Nowhere => "nowhere".to_owned(),
    }
}

fn show_access(
    layout: &Layout,
    access: &Access,
    varying: &Varying,
    explain: bool,
    out: &mut dyn Write,
) -> Result<()> {
    let head = format!("{} {}", stage_name(varying.stage), varying.name);
    writeln!(out, "{}", style::heading(head))?;
    match access.form {
        Form::Zero => writeln!(out, "  constant 0")?,
        Form::Preloaded(register) => writeln!(out, "  in {register} before the shader starts")?,
        _ => writeln!(out, "  register {}, memory {}", access.register, memory_text(layout, access))?,
    }
    for instruction in layout.instructions(access, varying) {
        writeln!(out, "  {}", style::name(instruction))?;
    }
    if let Some(bits) = access.converts {
        writeln!(out, "  the shader's own type has {bits} bits: a conversion of values joins them")?;
    }
    for why in access.why.iter().filter(|_| explain) {
        writeln!(out, "    {}", style::dim(why))?;
    }
    Ok(())
}

fn memory_text(layout: &Layout, access: &Access) -> String {
    let word = guestwave_cp::mali::linker::format_word(layout.version, access.memory, access.components);
    let name = format::mali(layout.version.number(), word).map_or("?", |f| f.name);
    format!("{name}, {}", section_text(access.section))
}
