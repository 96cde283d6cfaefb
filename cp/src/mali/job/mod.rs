//! Jobs of a job-manager Mali (v9): from a chain in guest memory to exact dispatches.
//!
//! [`JobChain`] walks a chain of job descriptors. A compute job becomes one dispatch; a malloc-vertex job becomes two, of its
//! position program and of its varying program, which store what hardware keeps in vertex packets. Programs see their
//! uniforms and resources through the [`environment`] words of a launch, and what else hardware preloads through registers.
//!
//! # Vertex packets
//!
//! Where hardware puts the packets of a draw, and how it numbers vertices in them, is not public. Here a draw's [`Packets`] lie
//! in the memory that the tiler heap names, which the guest gives to the GPU for this purpose: first the positions, 16 bytes
//! each, then the varyings. With point sizes, vertices are grouped by four: four positions, then four entries of 16 bytes that
//! begin with the point size, which is what the captured programs' address arithmetic (number + 4) asks for.
//!
//! # Invariants
//!
//! 1. A chain of any shape ends: it has at most [`MAX_JOBS`] jobs.
//! 2. A job that is refused has had no effect; those before it have.
//! 3. A field that changes results and is not carried out is refused by name.

mod descriptor;
pub mod environment;
mod fragment;
mod refusal;
mod run;
mod vertex;

use crate::{
    ExactDispatch, Grid, GuestMemory, Isa, LaneRule, Origin, Outputs, ProgramRef, ScalarRule, Stage,
};
use descriptor::{Job, ShaderEnvironment, compute, header};
use environment::{Environment, register};

pub use fragment::corners;
pub use refusal::{CATALOGUE, Refusal};
pub use run::{Ran, run_chain, run_launch};
pub use vertex::Packets;

/// Jobs of the longest chain.
pub const MAX_JOBS: u32 = 4096;

/// Threads of the largest launch.
const MAX_THREADS: u64 = 1 << 24;

/// Lanes of the waves that threads are put into. Threads do not see their warp, which has 16 lanes on hardware.
const WAVE_LANES: u8 = 32;

/// What a launch of a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A compute job's program.
    Compute,
    /// The position program of a draw.
    Position,
    /// The varying program of a draw.
    Varying,
    /// The fragment program of a draw.
    Fragment,
}

/// One dispatch of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// What it is.
    pub role: Role,
    /// The dispatch.
    pub dispatch: ExactDispatch,
}

/// A job and what it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Guest address of its descriptor.
    pub address: u64,
    /// Its dispatches, in order; none for jobs that only order others.
    pub launches: Vec<Launch>,
    /// Where its vertices go, if it is a draw.
    pub packets: Option<Packets>,
}

/// A chain of jobs under way.
#[derive(Clone, Copy, Debug)]
pub struct JobChain {
    next: u64,
    met: u32,
}

impl JobChain {
    /// The chain whose first job is at `address`.
    pub fn new(address: u64) -> JobChain {
        JobChain { next: address, met: 0 }
    }

    /// The next job, `None` behind the last. Memory must hold what the jobs before have stored.
    ///
    /// # Errors
    /// A job that is not carried out. The chain cannot be followed further then.
    pub fn next(&mut self, memory: &dyn GuestMemory) -> Result<Option<Planned>, Refusal> {
        if self.next == 0 {
            return Ok(None);
        }
        self.met += 1;
        if self.met > MAX_JOBS {
            return Err(Refusal::ChainLength { limit: MAX_JOBS });
        }
        let address = self.next;
        let header = header(memory, address)?;
        self.next = header.next;
        let origin = Origin { submission: 0, packet_offset: self.met - 1, packet_address: address };
        let (launches, packets) = match header.job {
            Job::Nothing => (Vec::new(), None),
            Job::Compute => (vec![compute_launch(memory, address, origin)?], None),
            Job::MallocVertex => {
                let (launches, packets) = vertex::plan(memory, address, origin)?;
                (launches, Some(packets))
            }
        };
        Ok(Some(Planned { address, launches, packets }))
    }
}

fn compute_launch(memory: &dyn GuestMemory, address: u64, origin: Origin) -> Result<Launch, Refusal> {
    let job = compute(memory, address)?;
    let env = ShaderEnvironment::read(memory, job.environment)?;
    let program = env.program(memory)?;
    program.starts_with(&[register::VERTEX, register::INSTANCE])?;
    let [x, y, z] = job.threads;
    if z != 1 {
        return Err(Refusal::Option { job: "compute job", option: "threads along a third axis" });
    }
    let items = threads(u64::from(x) * u64::from(y))?;
    let mut registers = blank_registers();
    registers[register::VERTEX] = LaneRule::Cycle { base: job.first[0], items: x.max(1) };
    registers[register::INSTANCE] = LaneRule::Primitive { base: job.first[1], items: x.max(1) };
    let dispatch = dispatch(program.address, Stage::Compute, items, env.words(), registers, origin);
    Ok(Launch { role: Role::Compute, dispatch })
}

/// A number of threads, if it is one that real work has.
fn threads(count: u64) -> Result<u32, Refusal> {
    u32::try_from(count)
        .ok()
        .filter(|n| u64::from(*n) <= MAX_THREADS)
        .ok_or(Refusal::Threads { threads: count, limit: MAX_THREADS })
}

/// Registers that all start as 0.
fn blank_registers() -> Vec<LaneRule> {
    vec![LaneRule::Word(0); register::COUNT]
}

fn dispatch(
    program: u64,
    stage: Stage,
    items: u32,
    environment: Environment,
    registers: Vec<LaneRule>,
    origin: Origin,
) -> ExactDispatch {
    ExactDispatch {
        stage,
        program: ProgramRef {
            isa: Isa::ValhallV9,
            address: program,
            wave_lanes: WAVE_LANES,
            float_mode: 0,
            dx10_clamp: false,
            ieee: false,
        },
        grid: Grid::Linear { items, per_wave: WAVE_LANES.into() },
        sgprs: environment.words().into_iter().map(ScalarRule::Word).collect(),
        vgprs: registers,
        lds_bytes: 0,
        scratch: None,
        outputs: Outputs::Dropped,
        origin,
    }
}

#[cfg(test)]
mod tests;
