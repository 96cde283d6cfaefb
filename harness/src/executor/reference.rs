//! The reference executor: the interpreter behind the executor seam.

use std::collections::HashMap;

use guestwave_cp::{
    AccessKind, Completed, DispatchError, DispatchId, ExactDispatch, Executor, Export, GuestMemory, Isa,
    MemoryFault, Message, Outputs, WaveRecord,
};
use guestwave_isa::gfx10::interp::{
    Apertures, BusFault, CodeCache, GroupResult, ProgramInfo, Stop, StopKind, WaveOutcome, run_group,
};
use guestwave_isa::gfx10::surface::ADDR_CONFIG;
use guestwave_isa::gfx10::{Target, WaveSize};

use super::grid::Groups;
use super::overlay::Overlay;
use super::rules::wave_init;
use super::valhall;
use crate::codes::coded_errors;

/// Instructions that one dispatch may execute unless the embedder says otherwise.
pub const DEFAULT_STEPS: u64 = 1 << 30;

/// Decoded programs that are kept.
const MAX_PROGRAMS: usize = 256;

/// Limits of one dispatch: SGPRs and VGPRs that a wave can have, LDS of a workgroup, scratch of a wave.
const MAX_SGPRS: usize = 106;
const MAX_VGPRS: usize = 256;
const MAX_LDS_BYTES: u32 = 64 << 10;
const MAX_SCRATCH_BYTES: u32 = 8 << 20;

coded_errors! {
    /// A dispatch that has no meaning on the hardware it is for.
    ExecutorError: EXECUTOR_ERRORS;
    /// A wave size that GFX10 does not have.
    WaveSize { lanes: u8 } = "HN-EXE-001", "a wave has {lanes} lanes; GFX10 has waves of 32 and 64";
    /// A linear grid whose waves do not hold their items.
    ItemsPerWave { items: u32, lanes: u8 } = "HN-EXE-002", "a wave of {lanes} lanes is given {items} items";
    /// A workgroup without threads or with too many.
    GroupThreads { threads: u64, limit: u64 } = "HN-EXE-003",
        "a workgroup has {threads} threads; it must have 1 to {limit}";
    /// More of something than the hardware has.
    TooMuch { what: &'static str, count: u64, limit: u64 } = "HN-EXE-004",
        "the dispatch asks for {count} {what}; there are {limit}";
    /// A store that was possible when it was made and no longer at its end.
    Commit { fault: MemoryFault } = "HN-EXE-005", "the stores could not be committed: {fault}";
}

/// Runs dispatches at once on the interpreter of `guestwave-isa`.
///
/// A dispatch runs against an overlay; what it stored reaches guest memory only when its last wave has ended, and
/// then exactly the bytes that were stored. Waves run in the order of their numbers.
#[derive(Debug)]
pub struct ReferenceExecutor {
    steps: u64,
    programs: HashMap<(Isa, u64), CodeCache>,
    done: Vec<Completed>,
}

impl Default for ReferenceExecutor {
    fn default() -> Self {
        Self::with_steps(DEFAULT_STEPS)
    }
}

impl ReferenceExecutor {
    /// An executor whose dispatches may execute `steps` instructions each.
    pub fn with_steps(steps: u64) -> Self {
        ReferenceExecutor { steps, programs: HashMap::new(), done: Vec::new() }
    }

    fn run(&mut self, dispatch: &ExactDispatch, memory: &dyn GuestMemory) -> Result<Completed, Failure> {
        let Some(target) = target(dispatch.program.isa) else {
            return valhall::run(dispatch, memory, self.steps);
        };
        let info = program_info(dispatch, target)?;
        let mut overlay = Overlay::new(memory);
        let code = self.program(dispatch.program.isa, &info);
        code.revalidate(&mut overlay);
        let mut budget = self.steps;
        let mut completed = Completed::default();
        for group in Groups::new(dispatch)? {
            let waves = group.iter().map(|wave| wave_init(dispatch, wave)).collect();
            let code = self.program(dispatch.program.isa, &info);
            let result = run_group(code, &info, waves, dispatch.lds_bytes, &mut overlay, &mut budget)?;
            add(&mut completed, result, dispatch.outputs);
        }
        completed.stored = overlay.commit().map_err(|fault| ExecutorError::Commit { fault })?;
        Ok(completed)
    }

    fn program(&mut self, isa: Isa, info: &ProgramInfo) -> &mut CodeCache {
        let key = (isa, info.address);
        if self.programs.len() >= MAX_PROGRAMS && !self.programs.contains_key(&key) {
            self.programs.clear();
        }
        self.programs.entry(key).or_insert_with(|| CodeCache::new(info.target, info.address))
    }
}

/// Why a dispatch did not run to its end.
pub(super) enum Failure {
    Shape(ExecutorError),
    Stop(Stop),
    Valhall(guestwave_isa::mali::valhall::interp::Stop),
}

impl From<ExecutorError> for Failure {
    fn from(error: ExecutorError) -> Self {
        Failure::Shape(error)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Failure::Stop(stop)
    }
}

/// The program's modes, if the hardware can start it so.
fn program_info(dispatch: &ExactDispatch, target: Target) -> Result<ProgramInfo, ExecutorError> {
    let program = &dispatch.program;
    let wave_size = match program.wave_lanes {
        32 => WaveSize::W32,
        64 => WaveSize::W64,
        lanes => return Err(ExecutorError::WaveSize { lanes }),
    };
    let scratch = dispatch.scratch.map_or(0, |s| s.bytes_per_wave);
    at_most("SGPRs", dispatch.sgprs.len() as u64, MAX_SGPRS as u64)?;
    at_most("VGPRs", dispatch.vgprs.len() as u64, MAX_VGPRS as u64)?;
    at_most("bytes of LDS", u64::from(dispatch.lds_bytes), u64::from(MAX_LDS_BYTES))?;
    at_most("bytes of scratch a wave", u64::from(scratch), u64::from(MAX_SCRATCH_BYTES))?;
    Ok(ProgramInfo {
        target,
        address: program.address,
        wave_size,
        mode: u32::from(program.float_mode)
            | u32::from(program.dx10_clamp) << 8
            | u32::from(program.ieee) << 9,
        scratch_bytes: scratch / wave_size.lanes(),
        apertures: Apertures::default(),
        addr_config: ADDR_CONFIG,
    })
}

fn at_most(what: &'static str, count: u64, limit: u64) -> Result<(), ExecutorError> {
    if count <= limit { Ok(()) } else { Err(ExecutorError::TooMuch { what, count, limit }) }
}

/// The GFX10 decoder's name of an instruction set, if it is one of its own.
pub(crate) fn target(isa: Isa) -> Option<Target> {
    match isa {
        Isa::Gfx1010 => Some(Target::Gfx1010),
        Isa::Gfx1013 => Some(Target::Gfx1013),
        Isa::Gfx1030 => Some(Target::Gfx1030),
        Isa::ValhallV9 => None,
    }
}

fn add(completed: &mut Completed, group: GroupResult, outputs: Outputs) {
    completed.waves += group.waves.len() as u64;
    completed.instructions += group.instructions;
    completed.inexact.extend(group.inexact);
    completed.inexact.sort_unstable();
    completed.inexact.dedup();
    if outputs == Outputs::Recorded {
        completed.records.extend(group.waves.into_iter().map(record));
    }
}

fn record(wave: WaveOutcome) -> WaveRecord {
    let export = |e: guestwave_isa::gfx10::interp::Export| Export {
        target: e.target,
        en: e.en,
        compr: e.compr,
        done: e.done,
        vm: e.vm,
        exec: e.exec,
        values: e.values,
    };
    let message =
        |m: guestwave_isa::gfx10::interp::Message| Message { simm16: m.simm16, m0: m.m0, exec: m.exec };
    WaveRecord {
        exports: wave.exports.into_iter().map(export).collect(),
        messages: wave.messages.into_iter().map(message).collect(),
    }
}

fn dispatch_error(id: DispatchId, dispatch: &ExactDispatch, failure: Failure) -> DispatchError {
    let (code, text, pc, fault) = match failure {
        Failure::Shape(error) => (error.code(), error.to_string(), None, None),
        Failure::Stop(stop) => {
            let fault = bus_fault(&stop.kind).map(memory_fault);
            (stop.kind.code(), stop.to_string(), Some(stop.pc), fault)
        }
        Failure::Valhall(stop) => {
            let fault = valhall::bus_fault(&stop.kind).map(memory_fault);
            (stop.kind.code(), stop.to_string(), Some(stop.pc), fault)
        }
    };
    let text = format!("{text}, in the program at {:#x}", dispatch.program.address);
    DispatchError { id, origin: dispatch.origin, code, text, pc, fault }
}

fn bus_fault(kind: &StopKind) -> Option<BusFault> {
    match kind {
        StopKind::CodeFault { fault } | StopKind::MemoryFault { fault } => Some(*fault),
        _ => None,
    }
}

fn memory_fault(fault: BusFault) -> MemoryFault {
    let kind = if fault.write { AccessKind::Write } else { AccessKind::Read };
    MemoryFault { address: fault.address, size: u64::from(fault.size), kind }
}

impl Executor for ReferenceExecutor {
    fn submit(
        &mut self,
        id: DispatchId,
        dispatch: ExactDispatch,
        memory: &dyn GuestMemory,
    ) -> Result<(), DispatchError> {
        let ran = self.run(&dispatch, memory);
        let completed = ran.map_err(|failure| dispatch_error(id, &dispatch, failure))?;
        self.done.push(Completed { id, ..completed });
        Ok(())
    }

    fn flush(&mut self, _: &dyn GuestMemory, done: &mut Vec<Completed>) -> Result<(), DispatchError> {
        done.append(&mut self.done);
        Ok(())
    }
}
