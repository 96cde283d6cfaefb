//! Descriptors of jobs and shaders, as far as launches follow from them.
//!
//! | job | from byte 32 on |
//! |---|---|
//! | compute | sizes and counts of workgroups, 32 bytes; shader environment, 64 |
//! | malloc vertex | primitive 16, instances 4, allocation 4, tiler 8, ..., indices at 120, draw at 128 |
//!
//! The draw's last 64 bytes are the fragment program's shader environment; those of the position and the varying program follow.

use super::Refusal;
use super::environment::{Environment, register};
use crate::{GuestMemory, read_u32};

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Null and cache flush: they only order other jobs.
    Nothing,
    Compute,
    MallocVertex,
}

/// Job types by number.
const JOBS: &[(u32, Job)] =
    &[(1, Job::Nothing), (3, Job::Nothing), (4, Job::Compute), (11, Job::MallocVertex)];

/// A job's header.
pub(super) struct Header {
    pub(super) job: Job,
    /// Address of the next job, 0 behind the last.
    pub(super) next: u64,
}

/// The word at a byte of a descriptor.
pub(super) fn word(memory: &dyn GuestMemory, address: u64, byte: u64) -> Result<u32, Refusal> {
    Ok(read_u32(memory, address.wrapping_add(byte))?)
}

/// The 64-bit number at a byte of a descriptor.
pub(super) fn pair(memory: &dyn GuestMemory, address: u64, byte: u64) -> Result<u64, Refusal> {
    let low = word(memory, address, byte)?;
    Ok(u64::from(low) | u64::from(word(memory, address, byte + 4)?) << 32)
}

pub(super) fn header(memory: &dyn GuestMemory, address: u64) -> Result<Header, Refusal> {
    let kind = word(memory, address, 16)? >> 1 & 0x7f;
    let (_, job) = JOBS.iter().find(|row| row.0 == kind).ok_or(Refusal::JobType { kind })?;
    Ok(Header { job: *job, next: pair(memory, address, 24)? })
}

/// A compute job's threads.
pub(super) struct Compute {
    /// Threads along each axis.
    pub(super) threads: [u32; 3],
    /// Number of the first thread along each axis.
    pub(super) first: [u32; 3],
    /// Address of its shader environment.
    pub(super) environment: u64,
}

pub(super) fn compute(memory: &dyn GuestMemory, address: u64) -> Result<Compute, Refusal> {
    let sizes = word(memory, address, 32)?;
    let mut threads = [0; 3];
    let mut first = [0; 3];
    for axis in 0..3u64 {
        let size = (sizes >> (10 * axis) & 0x3ff) + 1;
        let count = word(memory, address, 40 + 4 * axis)?;
        let offset = word(memory, address, 52 + 4 * axis)?;
        let all = u64::from(size) * u64::from(count);
        let limit = super::MAX_THREADS;
        threads[axis as usize] = u32::try_from(all).map_err(|_| Refusal::Threads { threads: all, limit })?;
        first[axis as usize] = offset.wrapping_mul(size);
    }
    Ok(Compute { threads, first, environment: address.wrapping_add(64) })
}

/// What a program is started with.
pub(super) struct ShaderEnvironment {
    attribute_offset: u32,
    fau_pairs: u32,
    resources: u64,
    shader: u64,
    fau: u64,
}

impl ShaderEnvironment {
    pub(super) fn read(memory: &dyn GuestMemory, at: u64) -> Result<Self, Refusal> {
        Ok(ShaderEnvironment {
            attribute_offset: word(memory, at, 0)?,
            fau_pairs: word(memory, at, 4)? & 0xff,
            resources: pair(memory, at, 32)?,
            shader: pair(memory, at, 40)?,
            fau: pair(memory, at, 56)?,
        })
    }

    /// The environment words; the low bits of the resource table's address say how many tables it lists.
    pub(super) fn words(&self) -> Environment {
        Environment {
            fau: self.fau,
            fau_words: 2 * self.fau_pairs,
            resources: self.resources & !0x3f,
            tables: (self.resources & 0x3f) as u32,
            attribute_offset: self.attribute_offset,
            ..Environment::default()
        }
    }

    pub(super) fn program(&self, memory: &dyn GuestMemory) -> Result<Program, Refusal> {
        let flags = word(memory, self.shader, 0)?;
        if flags & 15 != 8 {
            return Err(Refusal::ShaderType { word: flags });
        }
        // NaN and infinity suppression and flush to zero lie below the helper threads' bits.
        if flags & 0xfe00 != 0 {
            return Err(Refusal::ShaderMode { word: flags });
        }
        Ok(Program {
            address: pair(memory, self.shader, 8)?,
            preload: word(memory, self.shader, 4)? & 0xffff,
        })
    }
}

/// A shader program.
pub(super) struct Program {
    /// Guest address of its first instruction.
    pub(super) address: u64,
    /// Bit i: r48+i is preloaded.
    preload: u32,
}

impl Program {
    /// Refuses a program that wants other registers preloaded than these.
    pub(super) fn starts_with(&self, registers: &[usize]) -> Result<(), Refusal> {
        let given = registers.iter().fold(0, |mask, r| mask | 1u32 << (r - register::PRELOADED));
        match self.preload & !given {
            0 => Ok(()),
            other => Err(Refusal::Preload { register: 48 + other.trailing_zeros() }),
        }
    }
}
