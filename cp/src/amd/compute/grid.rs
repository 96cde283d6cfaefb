//! How a dispatch is cut into workgroups.

use super::INITIATOR;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{Register, field::COMPUTE_NUM_THREAD_X as THREADS, reg};
use crate::{Grid, Refusal};

const START: [Register; 3] = [reg::COMPUTE_START_X, reg::COMPUTE_START_Y, reg::COMPUTE_START_Z];
const NUM_THREAD: [Register; 3] =
    [reg::COMPUTE_NUM_THREAD_X, reg::COMPUTE_NUM_THREAD_Y, reg::COMPUTE_NUM_THREAD_Z];

/// Threads that a workgroup can have.
const MAX_GROUP_THREADS: u64 = 1024;
/// Policy: a dispatch of more threads is taken for garbage.
const MAX_THREADS: u64 = 1 << 32;

/// What a dispatch packet asks for.
#[derive(Clone, Copy)]
pub(super) struct Request {
    /// End of the workgroup ids along each axis, or of the thread ids where the initiator says so.
    pub(super) dims: [u32; 3],
    /// DISPATCH_INITIATOR.
    pub(super) initiator: u32,
}

/// One axis of a dispatch.
#[derive(Clone, Copy)]
struct Axis {
    start: u32,
    end: u32,
    threads: u32,
    last_threads: u32,
}

impl Axis {
    /// Threads along the axis.
    fn total(self) -> u64 {
        let groups = u64::from(self.end.saturating_sub(self.start));
        groups.saturating_sub(1) * u64::from(self.threads) + u64::from(self.last_threads)
    }
}

/// The workgroups; `None` if there are none.
///
/// # Errors
/// Workgroups without threads, with too many, or with a last one larger than the others; too many threads in all.
pub(super) fn grid(registers: &RegisterFile, request: Request) -> Result<Option<Grid>, Refusal> {
    let threads = NUM_THREAD.map(|register| THREADS::NUM_THREAD_FULL.of(registers.get(register)));
    if request.dims.contains(&0) {
        return Ok(None);
    }
    if !(1..=MAX_GROUP_THREADS).contains(&product(threads.map(u64::from))) {
        let [x, y, z] = threads;
        return Err(Refusal::GroupThreads { x, y, z, limit: MAX_GROUP_THREADS });
    }
    let [x, y, z] = [0, 1, 2].map(|axis| self::axis(registers, request, axis, threads[axis]));
    let axes = [x?, y?, z?];
    let total = product(axes.map(Axis::total));
    if axes.iter().any(|axis| axis.start >= axis.end) {
        return Ok(None);
    }
    if total > MAX_THREADS {
        return Err(Refusal::DispatchSize { threads: total, limit: MAX_THREADS });
    }
    Ok(Some(Grid::Groups {
        start: axes.map(|axis| axis.start),
        end: axes.map(|axis| axis.end),
        threads,
        last_threads: axes.map(|axis| axis.last_threads),
    }))
}

fn product(factors: [u64; 3]) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}

/// One axis, of workgroups of `threads` threads.
fn axis(registers: &RegisterFile, request: Request, axis: usize, threads: u32) -> Result<Axis, Refusal> {
    let dim = request.dims[axis];
    let at_zero = INITIATOR::FORCE_START_AT_000.of(request.initiator) != 0;
    let start = if at_zero { 0 } else { registers.get(START[axis]) };
    let (end, last_threads) = match INITIATOR::USE_THREAD_DIMENSIONS.of(request.initiator) {
        0 => (dim, last_group(registers, request, axis, threads)),
        _ => (dim.div_ceil(threads), (dim - 1) % threads + 1),
    };
    match last_threads <= threads {
        true => Ok(Axis { start, end, threads, last_threads }),
        false => Err(Refusal::PartialGroup { partial: last_threads, threads }),
    }
}

/// Threads of the last workgroup along an axis. Policy: a partial size of 0 means a full one.
fn last_group(registers: &RegisterFile, request: Request, axis: usize, threads: u32) -> u32 {
    let partial = THREADS::NUM_THREAD_PARTIAL.of(registers.get(NUM_THREAD[axis]));
    match INITIATOR::PARTIAL_TG_EN.of(request.initiator) {
        1 if partial != 0 => partial,
        _ => threads,
    }
}
