//! The [`Backend`] that compiles to native code and runs it at once.

use std::sync::Arc;

use guestwave_cp::GuestMemory;
use guestwave_translate::backend::{
    Backend, BackendError, Batch, Caps, Completion, Holding, Launch, LaunchFault, ProgramId, Ticket,
};
use guestwave_translate::program::{Program, Stmt, simplify, verify};

#[cfg(feature = "other-hosts")]
use crate::jit::Effort;
use crate::jit::{Compiled, Jit};
use crate::lower::MAX_UNITS;
use crate::plan::{self, Sharing, depth, sharing};
use crate::run::{Pool, Threads, Worker, run};
use crate::shapes::{Entry, Shop};

/// Largest workgroup LDS, as the guests' hardware has it.
const LDS_BYTES: u32 = 64 * 1024;

/// Most scratch of a lane: 64 lanes of it are 256 MiB.
const SCRATCH_BYTES: u32 = 4 << 20;

/// Blocks inside blocks that are compiled.
const MAX_DEPTH: u32 = 256;

/// Waves that are worth a thread's start.
const SPLIT_WAVES: u32 = 1024;

/// Lanes that are worth the making of better code.
const BETTER_LANES: u64 = 1 << 15;

/// Values of a program that takes long to compile well.
const LONG_VALUES: usize = 400;

/// Most bytes of a wave's frame.
const MAX_FRAME: u64 = 64 << 20;

/// How a [`SoftBackend`] is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftOptions {
    /// Whether fused multiply-add may be the host's own; if not, the exact fallback runs even where the host has it.
    pub native_fma: bool,
    /// Whether four lanes may be run at a time where that pays; if not, each lane runs alone.
    pub vectors: bool,
    /// Threads that a large launch may use; 0: as many as the host has.
    pub threads: usize,
    /// Waves from which on a launch is large.
    pub split_waves: u32,
    /// Lanes that a program runs before better code is made for it: for the shape of a kernel's workgroups, or in place of code
    /// that was made quickly.
    pub better_lanes: u64,
    /// Values of a program from which on it is compiled quickly at first.
    pub long_values: usize,
}

impl Default for SoftOptions {
    fn default() -> Self {
        SoftOptions {
            native_fma: true,
            vectors: true,
            threads: 0,
            split_waves: SPLIT_WAVES,
            better_lanes: BETTER_LANES,
            long_values: LONG_VALUES,
        }
    }
}

/// Runs programs as native code of this host, on the guest's memory in place. Work is done when `submit` returns.
pub struct SoftBackend {
    caps: Caps,
    shop: Shop,
    programs: Vec<Entry>,
    pool: Pool,
    threads: Threads,
    /// Ends that nobody has asked for yet.
    ended: Vec<(Ticket, Completion)>,
    next: u64,
}

impl std::fmt::Debug for SoftBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SoftBackend").field("jit", &self.shop.jit).field("ended", &self.ended.len()).finish()
    }
}

impl SoftBackend {
    /// A backend for the CPU at hand.
    ///
    /// # Errors
    /// Cranelift does not know the CPU.
    pub fn new(options: SoftOptions) -> Result<Self, BackendError> {
        let shop = Shop::new(options).map_err(|e| refusal("SOFT-HOST-001", e.to_string()))?;
        let fma = if shop.jit.host().fma { "" } else { ", fused multiply-add in software" };
        let device = format!("{} through Cranelift{fma}", std::env::consts::ARCH);
        let holdings = vec![Holding::Wave];
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let caps = Caps { name: "soft", device, exact: Ok(()), holdings, lds_bytes: LDS_BYTES };
        Ok(SoftBackend {
            caps,
            shop,
            programs: Vec::new(),
            pool: Pool::default(),
            threads: Threads::new(threads, options.split_waves),
            ended: Vec::new(),
            next: 0,
        })
    }

    /// Launches so far that several threads shared.
    pub fn shared_launches(&self) -> u64 {
        self.threads.shared
    }

    /// Runs a batch to its end.
    fn run(&mut self, batch: &Batch, memory: &dyn GuestMemory) -> Completion {
        for launch in &batch.launches {
            if let Some(entry) = self.programs.get_mut(launch.program.0 as usize) {
                entry.prepare(&mut self.shop, launch);
            }
        }
        let done = Vec::with_capacity(batch.launches.len());
        let mut completion = Completion { done, fault: None };
        let mut worker = Worker::new(memory, &mut self.pool);
        for launch in &batch.launches {
            match run_launch(&mut worker, &mut self.threads, &self.programs, launch) {
                Ok(done) => completion.done.push(done),
                Err(fault) => {
                    completion.fault = Some(fault);
                    break;
                }
            }
        }
        worker.retire(&mut self.pool);
        completion
    }
}

fn run_launch<'m>(
    worker: &mut Worker<'m>,
    threads: &mut Threads,
    programs: &'m [Entry],
    launch: &'m Launch,
) -> Result<guestwave_translate::backend::LaunchDone, LaunchFault> {
    match programs.get(launch.program.0 as usize) {
        Some(entry) => run(worker, threads, entry.code(launch), launch),
        None => Err(LaunchFault::launch(launch.id, "its program was not compiled here")),
    }
}

/// A refusal to compile.
pub(crate) fn refusal(code: &'static str, reason: String) -> BackendError {
    BackendError::Compile { code, backend: "soft", reason }
}

/// Why a program is beyond this backend, if it is.
fn beyond(program: &Program) -> Option<(&'static str, String)> {
    if depth(&program.body, MAX_DEPTH) >= MAX_DEPTH {
        return Some(("SOFT-COMPILE-001", format!("blocks are nested {MAX_DEPTH} deep")));
    }
    if let Err(malformed) = verify(program) {
        return Some(("SOFT-COMPILE-002", malformed.to_string()));
    }
    if program.lds_bytes > LDS_BYTES {
        return Some(("SOFT-COMPILE-003", format!("{} bytes of LDS", program.lds_bytes)));
    }
    if program.scratch_bytes > SCRATCH_BYTES {
        return Some(("SOFT-COMPILE-004", format!("{} bytes of scratch a lane", program.scratch_bytes)));
    }
    let widest = widest(&program.body);
    (widest > MAX_UNITS).then(|| ("SOFT-COMPILE-005", format!("an access of {widest} units")))
}

/// Units of the widest load or store.
fn widest(block: &[Stmt]) -> usize {
    let mut widest = 0;
    let mut note = |stmt: &Stmt| match stmt {
        Stmt::Load { dst, .. } => widest = widest.max(dst.len()),
        Stmt::Store { src, .. } => widest = widest.max(src.len()),
        _ => {}
    };
    block.iter().for_each(|stmt| stmt.each(&mut note));
    widest
}

/// A program's code, and what is known of its launches.
///
/// # Errors
/// It is beyond this backend.
pub(crate) fn compiled(jit: &mut Jit, program: &Program) -> Result<(Compiled, Sharing), BackendError> {
    if let Some((code, reason)) = beyond(program) {
        return Err(refusal(code, reason));
    }
    let simple = simplify(program);
    let plan = plan::plan(&simple);
    if plan.frame.bytes > MAX_FRAME {
        let reason = format!("{} bytes live from one part of a wave to another", plan.frame.bytes);
        return Err(refusal("SOFT-COMPILE-007", reason));
    }
    let compiled = jit.compile(&plan).map_err(|e| refusal("SOFT-COMPILE-008", e.to_string()))?;
    Ok((compiled, sharing(&simple)))
}

/// Compiles a program for another host than this, named by a target triple (`aarch64-unknown-linux-gnu`), and drops the
/// code.
///
/// # Errors
/// As [`Backend::compile`] of a backend on that host.
///
/// # Panics
/// The name is no target triple.
#[cfg(feature = "other-hosts")]
pub fn compile_for(host: &str, program: &Program) -> Result<(), BackendError> {
    for effort in [Effort::Little, Effort::Much] {
        let jit = Jit::of_host(host, SoftOptions::default(), effort);
        compiled(&mut jit.map_err(|e| refusal("SOFT-HOST-001", e.to_string()))?, program)?;
    }
    Ok(())
}

impl Backend for SoftBackend {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn compile(&mut self, program: &Arc<Program>, holding: Holding) -> Result<ProgramId, BackendError> {
        if holding != Holding::Wave {
            return Err(refusal("SOFT-COMPILE-006", format!("the holding {holding:?}")));
        }
        let entry = self.shop.entry(program)?;
        self.programs.push(entry);
        Ok(ProgramId(self.programs.len() as u32 - 1))
    }

    fn submit(&mut self, batch: Batch, memory: &dyn GuestMemory) -> Result<Ticket, BackendError> {
        let ticket = Ticket(self.next);
        self.next += 1;
        let completion = self.run(&batch, memory);
        self.ended.push((ticket, completion));
        Ok(ticket)
    }

    fn poll(&mut self, ticket: Ticket, _: &dyn GuestMemory) -> Result<Option<Completion>, BackendError> {
        let place = self.ended.iter().position(|(ended, _)| *ended == ticket);
        let place = place.ok_or(BackendError::UnknownTicket(ticket))?;
        Ok(Some(self.ended.swap_remove(place).1))
    }
}
