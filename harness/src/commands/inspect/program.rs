//! Programs beside the waves that ran them.

use std::collections::HashSet;
use std::io::{self, Write};

use guestwave_cp::{ExactDispatch, GuestMemory, Isa, ProgramRef};
use guestwave_isa::gfx10::{Encoding, Line, Mods, WaveSize, disassemble_program};

use super::descriptor;
use super::trace::Known;
use crate::commands::style;
use crate::executor::target;

/// The most dwords of a program that are shown.
const MAX_DWORDS: usize = 1 << 16;

/// Shows each program once.
#[derive(Default)]
pub(super) struct Programs {
    shown: HashSet<(Isa, u64)>,
}

impl Programs {
    /// Prints the program of a dispatch unless it was shown before, with the descriptors that follow from the launch.
    pub(super) fn print(
        &mut self,
        dispatch: &ExactDispatch,
        memory: &dyn GuestMemory,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let program = &dispatch.program;
        if !self.shown.insert((program.isa, program.address)) {
            return writeln!(
                out,
                "           {}",
                style::dim(format!("program at {:#x} as above", program.address))
            );
        }
        writeln!(out, "           {}", style::heading(title(program)))?;
        let mut known = Known::new(dispatch, memory);
        for line in lines(&code(memory, program.address), program) {
            print_line(&line, &known, out)?;
            line.inst.iter().for_each(|inst| known.step(inst));
        }
        Ok(())
    }
}

fn title(program: &ProgramRef) -> String {
    let ProgramRef { address, wave_lanes, float_mode, .. } = program;
    format!("program at {address:#x}, waves of {wave_lanes}, float mode {float_mode:#04x}")
}

/// The words from `address` to the end of its mapping.
fn code(memory: &dyn GuestMemory, address: u64) -> Vec<u32> {
    let end = memory.mapping(address).map_or(0, |m| m.end);
    let bytes = end.saturating_sub(guestwave_cp::canonical(address)).min(4 * MAX_DWORDS as u64) & !3;
    let mut code = vec![0; bytes as usize];
    match memory.read(address, &mut code) {
        Ok(()) => code.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect(),
        Err(_) => Vec::new(),
    }
}

/// Lines up to the first `s_endpgm` that no branch before it jumps over, or to the first word that is no instruction.
fn lines(words: &[u32], program: &ProgramRef) -> Vec<Line> {
    let wave = if program.wave_lanes == 64 { WaveSize::W64 } else { WaveSize::W32 };
    let Some(target) = target(program.isa) else { return Vec::new() };
    let mut lines = Vec::new();
    let mut furthest = 0;
    for line in disassemble_program(words, target, wave) {
        furthest = furthest.max(branch_target(&line).unwrap_or(0));
        let ends = line.inst.as_ref().is_ok_and(|inst| inst.op.name() == "s_endpgm");
        let last = line.inst.is_err() || ends && next_offset(&line) > furthest;
        lines.push(line);
        if last {
            break;
        }
    }
    lines
}

fn next_offset(line: &Line) -> u32 {
    line.offset.wrapping_add(4 * line.words.len() as u32)
}

/// Byte offset that a branch jumps to.
fn branch_target(line: &Line) -> Option<u32> {
    let inst = line.inst.as_ref().ok()?;
    match inst.mods {
        Mods::Simm(simm) if inst.encoding == Encoding::Sopp && inst.op.name().contains("branch") => {
            Some(next_offset(line).wrapping_add_signed(4 * i32::from(simm as i16)))
        }
        _ => None,
    }
}

fn print_line(line: &Line, known: &Known<'_>, out: &mut dyn Write) -> io::Result<()> {
    let words: Vec<_> = line.words.iter().map(|w| format!("{w:08x}")).collect();
    let place = style::dim(format!("{:5x}: {:<26}", line.offset, words.join(" ")));
    let inst = line.inst.as_ref().ok();
    let note = match inst.and_then(|i| known.descriptor(i)).map(descriptor::describe) {
        Some(text) => style::note(format!("  ; {text}")),
        None => branch_target(line).map(|to| style::note(format!("  ; to {to:x}"))).unwrap_or_default(),
    };
    writeln!(out, "             {place} {}{note}", line.text)
}
