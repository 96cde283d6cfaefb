//! Running the waves of a group.

use super::machine::{ADDRESS_BITS, Flow, Machine};
use super::meaning::Meaning;
use super::slot::Slot;
use super::wave::Wave;
use super::{Bus, CodeCache, GroupResult, ProgramInfo, Stop, StopKind, WaveInit, WaveOutcome};
use crate::gfx10::Op;

/// Instructions after which a wave lets the next one run, so that waves may wait for each other in loops.
const QUANTUM: u32 = 1 << 16;

/// Runs the waves of one workgroup to their ends. They share `lds_bytes` of LDS, which starts as zeros.
///
/// `budget` is the number of instructions that may still be executed; it is lowered by those that were.
///
/// # Errors
/// The first instruction that is refused or faults, or at which the budget was used up. Stores made before it have
/// reached the bus.
pub fn run_group(
    code: &mut CodeCache,
    info: &ProgramInfo,
    waves: Vec<WaveInit>,
    lds_bytes: u32,
    bus: &mut dyn Bus,
    budget: &mut u64,
) -> Result<GroupResult, Stop> {
    code.serve(info);
    let runners = waves.iter().enumerate().map(|(number, init)| Runner::new(info, number, init)).collect();
    let lds = vec![0; lds_bytes as usize];
    let mut group = Group { code, info, lds, bus, budget, executed: 0, inexact: Vec::new(), runners };
    group.run()?;
    Ok(group.result())
}

/// A wave and how it stands.
struct Runner {
    wave: Wave,
    outcome: WaveOutcome,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    AtBarrier,
    Ended,
}

impl Runner {
    fn new(info: &ProgramInfo, number: usize, init: &WaveInit) -> Self {
        let wave = Wave::new(info, number as u32, init);
        Runner { wave, outcome: WaveOutcome::default(), state: State::Ready }
    }
}

struct Group<'a> {
    code: &'a mut CodeCache,
    info: &'a ProgramInfo,
    lds: Vec<u8>,
    bus: &'a mut dyn Bus,
    budget: &'a mut u64,
    executed: u64,
    /// Inexact operations that were executed.
    inexact: Vec<Op>,
    runners: Vec<Runner>,
}

impl Group<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            for number in 0..self.runners.len() {
                self.turn(number)?;
            }
            if self.runners.iter().all(|r| r.state == State::Ended) {
                return Ok(());
            }
            self.release_barrier();
        }
    }

    /// Lets the waves at the barrier go on if no other wave is still to arrive; ended waves count as arrived.
    fn release_barrier(&mut self) {
        if self.runners.iter().any(|r| r.state == State::Ready) {
            return;
        }
        for runner in self.runners.iter_mut().filter(|r| r.state == State::AtBarrier) {
            runner.state = State::Ready;
        }
    }

    /// Runs one wave until it ends, waits or has used its turn.
    fn turn(&mut self, number: usize) -> Result<(), Stop> {
        let Some(runner) = self.runners.get_mut(number) else { return Ok(()) };
        let mut turn = Turn {
            machine: Machine {
                wave: &mut runner.wave,
                outcome: &mut runner.outcome,
                lds: &mut self.lds,
                bus: self.bus,
                info: self.info,
                executed: self.executed,
                next_pc: 0,
            },
            code: self.code,
            budget: self.budget,
            inexact: &mut self.inexact,
        };
        for _ in 0..QUANTUM {
            if runner.state != State::Ready {
                break;
            }
            let pc = turn.machine.wave.pc;
            match turn.step() {
                Ok(state) => runner.state = state,
                Err(kind) => return Err(turn.stop(pc, kind)),
            }
        }
        self.executed = turn.machine.executed;
        Ok(())
    }

    fn result(self) -> GroupResult {
        let mut inexact: Vec<_> = self.inexact.iter().map(|op| op.name()).collect();
        inexact.sort_unstable();
        let waves =
            self.runners.into_iter().map(|r| WaveOutcome { last: Some(r.wave), ..r.outcome }).collect();
        GroupResult { waves, instructions: self.executed, inexact }
    }
}

/// One wave's turn.
struct Turn<'a> {
    machine: Machine<'a>,
    code: &'a mut CodeCache,
    budget: &'a mut u64,
    inexact: &'a mut Vec<Op>,
}

impl Turn<'_> {
    /// Executes one instruction and tells how the wave stands after it.
    fn step(&mut self) -> Result<State, StopKind> {
        let m = &mut self.machine;
        let slot = self.code.slot(m.wave.pc, m.bus)?;
        *self.budget = self.budget.checked_sub(1).ok_or(StopKind::BudgetExhausted {})?;
        m.executed += 1;
        if slot.inexact && !self.inexact.contains(&slot.inst.op) {
            self.inexact.push(slot.inst.op);
        }
        m.next_pc = m.wave.pc.wrapping_add(4 * u64::from(slot.inst.len)) & ADDRESS_BITS;
        let flow = execute(m, slot)?;
        m.wave.pc = m.next_pc;
        match flow {
            Flow::Next => {}
            Flow::Jump(to) if to % 4 != 0 => return Err(StopKind::BadJump { to }),
            Flow::Jump(to) => m.wave.pc = to & ADDRESS_BITS,
            Flow::Barrier => return Ok(State::AtBarrier),
            Flow::Refetch => {
                self.code.revalidate(m.bus);
            }
            Flow::End => return Ok(State::Ended),
        }
        Ok(State::Ready)
    }

    /// The stop at an instruction.
    fn stop(&self, pc: u64, kind: StopKind) -> Stop {
        let word = self.code.fetched(pc).unwrap_or(0);
        Stop { pc: pc.wrapping_sub(self.machine.info.address) as u32, word, kind }
    }
}

fn execute(machine: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    match slot.meaning {
        Meaning::Nothing => Ok(Flow::Next),
        Meaning::Scalar(function) => super::scalar::run(machine, slot, function),
        Meaning::Vector(row) => super::vector::run(machine, slot, row),
        Meaning::Special(function) => function(machine, slot),
        Meaning::Memory(family, access) => super::memory::run(machine, slot, family, access),
        Meaning::Image(access) => super::image::run(machine, slot, access),
        Meaning::Lds(access) => super::lds::run(machine, slot, access),
        Meaning::ScalarAtomic(operation) => super::smem::atomic(machine, slot, operation),
    }
}
