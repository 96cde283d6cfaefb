//! One thread: its registers, and the loop that runs it.

use super::alu::{self, Args};
use super::control::Next;
use super::{Bus, CodeCache, Environment, REGISTERS, Stop, StopKind};
use super::{attribute, buffer, control, fragment, memory, varying};
use crate::mali::valhall::{Dst, Flow, Inst, Op};

/// A running thread and its surroundings.
pub(super) struct Thread<'a> {
    pub(super) registers: [u32; REGISTERS],
    pub(super) env: &'a Environment,
    pub(super) bus: &'a mut dyn Bus,
}

/// How a thread ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadEnd {
    /// Its registers at the end.
    pub registers: [u32; REGISTERS],
    /// Instructions that it executed.
    pub instructions: u64,
    /// Executed instructions whose result public documents leave open within an error bound, sorted.
    pub inexact: Vec<&'static str>,
}

/// A meaning that needs more of the thread than values.
pub(super) type Special = fn(&mut Thread<'_>, &Inst) -> Result<Next, StopKind>;

/// The operations with one, by subject.
const SPECIALS: &[&[(Op, Special)]] =
    &[control::ROWS, memory::ROWS, attribute::ROWS, buffer::ROWS, varying::ROWS, fragment::ROWS];

/// Operations whose result public documents leave open.
const INEXACT: &[Op] = &[Op::Frcp, Op::Frsq];

/// Runs a thread to its end.
///
/// # Errors
/// What it met that has no meaning, an access that failed, or the end of its budget.
pub fn run_thread(
    code: &mut CodeCache,
    env: &Environment,
    registers: [u32; REGISTERS],
    bus: &mut dyn Bus,
    budget: &mut u64,
) -> Result<ThreadEnd, Stop> {
    let mut thread = Thread { registers, env, bus };
    let mut end = ThreadEnd { registers, instructions: 0, inexact: Vec::new() };
    let mut pc = 0u32;
    loop {
        let inst = code.fetch(pc, thread.bus)?;
        let stop = |kind| Stop { pc, word: inst.word, kind };
        *budget = budget.checked_sub(1).ok_or(stop(StopKind::BudgetExhausted {}))?;
        end.instructions += 1;
        if INEXACT.contains(&inst.row.op) && !end.inexact.contains(&inst.row.name) {
            end.inexact.push(inst.row.name);
        }
        let next = thread.step(&inst).map_err(stop)?;
        pc = match next {
            Next::Follow if inst.flow() == Flow::Next => pc.wrapping_add(8),
            Next::Jump(to) => to,
            Next::Follow | Next::End => break,
        };
    }
    end.inexact.sort_unstable();
    end.registers = thread.registers;
    Ok(end)
}

impl Thread<'_> {
    fn step(&mut self, inst: &Inst) -> Result<Next, StopKind> {
        let name = inst.row.name;
        if let Some(form) = inst.unknown_form() {
            return Err(StopKind::Form { name, form });
        }
        if let Some(meaning) = alu::meaning(inst.row.op) {
            let sources = self.components(inst)?;
            let value = alu::result(meaning, &Args { inst, sources });
            self.write(inst, value);
            return Ok(Next::Follow);
        }
        let special = SPECIALS.iter().copied().flatten().find(|row| row.0 == inst.row.op);
        let (_, special) = special.filter(|_| inst.row.known).ok_or(StopKind::Unimplemented { name })?;
        special(self, inst)
    }

    /// Writes a result to the halves or the pair that the instruction names.
    fn write(&mut self, inst: &Inst, value: u64) {
        let at = usize::from(inst.register());
        if inst.row.dst == Dst::Pair {
            self.registers[at] = value as u32;
            self.registers[at + 1] = (value >> 32) as u32;
            return;
        }
        let kept = [0xffff_ffff, 0xffff_0000, 0x0000_ffff, 0][usize::from(inst.halves())];
        self.registers[at] = self.registers[at] & kept | value as u32 & !kept;
    }

    /// Staging register `i` of an instruction.
    pub(super) fn staged(&self, inst: &Inst, i: u8) -> u32 {
        self.registers.get(usize::from(inst.register() + i)).copied().unwrap_or(0)
    }

    /// Writes the staging registers of an instruction, as far as it has them.
    pub(super) fn set_staged(&mut self, inst: &Inst, words: &[u32]) {
        for (i, word) in (0..inst.staging_count()).zip(words) {
            self.registers[usize::from(inst.register() + i)] = *word;
        }
    }
}
