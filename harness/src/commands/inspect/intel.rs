//! Intel batches: each packet with its fields and with what it did.

use std::io::{self, Write};
use std::ops::Range;

use anyhow::{Result, bail};
use guestwave_cp::intel::decode::{PacketView, Treatment, packets};
use guestwave_cp::intel::so_decl::{DeclList, HoleMasks};
use guestwave_cp::intel::sol::Policies;
use guestwave_cp::intel::state::{VertexBuffer, VertexElement};
use guestwave_cp::intel::{Gen, Observer, Refused, registers, topology};
use guestwave_cp::{DrawFacts, GuestMemory, Origin};
use guestwave_isa::format::intel;
use guestwave_isa::gen7;

use super::packets::fields_text;
use super::{Args, REFUSED};
use crate::commands::style;
use crate::intel::{IntelCapture, IntelMachine, KernelStage};

/// Bytes of a vertex program that are shown at most.
const CODE_BYTES: u64 = 1 << 14;
/// What component controls store.
const CONTROLS: [&str; 8] =
    ["nothing", "source", "0", "1.0", "1", "vertex id", "instance id", "primitive id"];

/// A packet and what it did.
struct Step {
    at: Origin,
    words: Vec<u32>,
    depth: u32,
    notes: Vec<String>,
    /// Whether it streamed something out.
    drew: bool,
}

/// Collects the steps of a walk.
#[derive(Default)]
struct Recorder {
    steps: Vec<Step>,
}

impl Recorder {
    fn note(&mut self, text: String) {
        if let Some(step) = self.steps.last_mut() {
            step.notes.push(text);
        }
    }
}

impl Observer for Recorder {
    fn packet(&mut self, at: Origin, packet: PacketView<'_>, depth: u32) {
        self.steps.push(Step { at, words: packet.words.to_vec(), depth, notes: Vec::new(), drew: false });
    }

    fn register_write(&mut self, _: Origin, register: u32, value: u32) {
        self.note(format!("{} = {value:#x}", style::name(registers::name(register))));
    }

    fn stored(&mut self, _: Origin, range: Range<u64>) {
        self.note(format!("stored {} bytes at {:#x}", range.end - range.start, range.start));
    }

    fn drawn(&mut self, _: Origin, stream: u32, facts: &DrawFacts) {
        if let Some(step) = self.steps.last_mut() {
            step.drew = true;
        }
        self.note(format!(
            "{} x {}, {} instances: stream {stream} wrote {} primitives of {}, offsets {:?} to {:?}",
            facts.vertices,
            topology::name(facts.primitive_type),
            facts.instances,
            facts.primitives_written,
            facts.primitives_needed,
            facts.positions_before,
            facts.positions_after,
        ));
    }

    fn refused(&mut self, refused: &Refused) {
        let code = refused.refusal.code();
        let code = if refused.stopped { style::bad(code) } else { style::note(code) };
        self.note(format!("{code} {}", refused.refusal));
    }
}

/// Shows a capture; the exit status is 2 if its batch was not walked to its end.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    if !args.submission.is_empty() {
        bail!("--submission is for .cap files; this is one batch");
    }
    let capture = IntelCapture::load(&args.file)?;
    let name = style::heading(args.file.display());
    writeln!(out, "{name}  {}, {}", capture.platform, capture.generation)?;
    let stream_out = Box::new(guestwave_cp::intel::sol::PlainStreamOut);
    let mut machine = IntelMachine::with_capture(
        &capture,
        Policies::default(),
        Box::new(KernelStage::default()),
        stream_out,
    )?;
    let mut recorder = Recorder::default();
    let report = machine.run(&capture, &mut recorder);
    for step in recorder.steps.iter().filter(|step| step.drew || !args.programs) {
        let view = PacketView {
            offset: step.at.packet_offset,
            generation: capture.generation,
            words: &step.words,
            truncated: false,
        };
        print(&view, step.depth, out)?;
        for note in &step.notes {
            writeln!(out, "         {note}")?;
        }
    }
    if !args.packets {
        program(&machine, capture.generation, out)?;
    }
    match report.stopped() {
        Some(refused) => {
            unreached(&capture, &recorder, refused, !args.programs, out)?;
            Ok(REFUSED)
        }
        None => Ok(0),
    }
}

/// The vertex program that the batch ends with, where it is one of Gen7.
fn program(machine: &IntelMachine, generation: Gen, out: &mut dyn Write) -> io::Result<()> {
    let state = machine.state();
    let vertex = &state.pipeline.vertex;
    let address = state.bases.instruction.wrapping_add(vertex.kernel);
    let there = machine.memory.mapping(address).map_or(0, |mapped| mapped.end - address);
    let mut code = vec![0; there.min(CODE_BYTES) as usize];
    if !vertex.enabled || generation.wide() || machine.memory.read(address, &mut code).is_err() {
        return Ok(());
    }
    writeln!(out, "  {} {address:#x}", style::heading("vertex program at"))?;
    let mut pc = 0;
    while let Ok(inst) = gen7::decode(&code, pc) {
        writeln!(out, "    {} {inst}", style::dim(format!("{pc:#06x}")))?;
        if inst.ends_thread() {
            break;
        }
        pc += inst.bytes;
    }
    Ok(())
}

/// Why the walk ended, and the packets of the batch that it did not come to.
fn unreached(
    capture: &IntelCapture,
    recorder: &Recorder,
    refused: &Refused,
    packets_too: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if recorder.steps.last().is_none_or(|step| step.at != refused.at) {
        writeln!(out, "  {} {}", style::bad(refused.refusal.code()), refused.refusal)?;
    }
    let walked = |view: &PacketView<'_>| {
        let address = capture.batch + u64::from(view.offset);
        recorder.steps.iter().any(|step| step.at.packet_address == address)
    };
    if !packets_too {
        return Ok(());
    }
    let left: Vec<_> = packets(&capture.words, capture.generation).filter(|view| !walked(view)).collect();
    if !left.is_empty() {
        writeln!(out, "  {}", style::bad("not reached:"))?;
    }
    left.iter().try_for_each(|view| print(view, 0, out))
}

fn print(view: &PacketView<'_>, depth: u32, out: &mut dyn Write) -> io::Result<()> {
    let indent = " ".repeat(2 + 2 * depth as usize);
    let treatment = match view.treatment() {
        Treatment::CarriedOut => String::new(),
        Treatment::Skipped(reason) => style::dim(format!("  ({reason})")),
        Treatment::Refused(reason) => style::bad(format!("  (refused: {reason})")),
    };
    let cut = if view.truncated { style::bad(" cut off by the end of its batch") } else { String::new() };
    let offset = style::dim(format!("{:#06x}", view.offset));
    let fields = fields_text(view.fields());
    writeln!(out, "{indent}{offset} {}  {fields}{treatment}{cut}", style::heading(view.name()))?;
    vertex_inputs(view, out)?;
    declarations(view, out)
}

/// The vertex buffers and elements that a packet sets.
fn vertex_inputs(view: &PacketView<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (number, buffer) in view.vertex_buffers() {
        let VertexBuffer { start, size, pitch, instanced, step_rate, .. } = buffer;
        let step = if instanced { format!(", an element for {step_rate} instances") } else { String::new() };
        writeln!(out, "         buffer {number}: {size} bytes at {start:#x}, {pitch} apart{step}")?;
    }
    for (number, element) in view.vertex_elements().into_iter().enumerate() {
        let VertexElement { buffer, format, offset, controls, .. } = element;
        let format = intel(format).map_or(format!("format {format:#x}"), |(_, name)| name.to_owned());
        let controls = controls.map(|c| CONTROLS[(c & 7) as usize]).join(", ");
        let valid = if element.valid { "" } else { " (not valid)" };
        writeln!(out, "         element {number}: buffer {buffer} + {offset}, {format}: {controls}{valid}")?;
    }
    Ok(())
}

/// The declarations of a 3DSTATE_SO_DECL_LIST.
fn declarations(view: &PacketView<'_>, out: &mut dyn Write) -> io::Result<()> {
    if view.name() != "3DSTATE_SO_DECL_LIST" {
        return Ok(());
    }
    let Ok(list) = DeclList::decode(view.words, HoleMasks::Counted) else { return Ok(()) };
    for (stream, decls) in list.streams.iter().enumerate().filter(|(_, decls)| !decls.is_empty()) {
        let texts: Vec<_> = decls.iter().map(ToString::to_string).collect();
        writeln!(out, "         stream {stream}: {}", texts.join(", "))?;
    }
    Ok(())
}
