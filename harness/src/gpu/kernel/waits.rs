//! Waiting.

use super::syncobjs::{objects, standings};
use super::{Call, Done, EINVAL, ENODEV, ETIME, buffers};
use crate::gpu::file::OpenFile;
use crate::gpu::lock;
use crate::gpu::progress::{Deadline, Fence};
use crate::gpu::syncobj::Standing;
use std::sync::Arc;

/// Waits until `ready` gives something; `None` when the time is over.
fn wait<T>(
    file: &OpenFile,
    timeout: u64,
    mut ready: impl FnMut() -> Option<T>,
) -> Result<Option<T>, super::Errno> {
    let or_closed = || match ready() {
        Some(value) => Some(Ok(value)),
        None => file.is_closed().then_some(Err(ENODEV)),
    };
    file.device.progress.wait(Deadline::monotonic(timeout), or_closed).transpose()
}

fn all_done(fences: &[Arc<Fence>]) -> Option<()> {
    fences.iter().all(|f| f.is_done()).then_some(())
}

/// WAIT_CS: submission at 0, timeout at 8, engine at 16, ring at 24, context at 28; out comes whether it is still busy.
pub(super) fn submission(file: &OpenFile, call: &mut Call) -> Done {
    let (number, timeout, ring) = (call.u64(0), call.u64(8), (call.u32(16), call.u32(24)));
    let fence = fence(file, call.u32(28), ring, number)?;
    let done = wait(file, timeout, || fence.as_ref().is_none_or(|f| f.is_done()).then_some(()))?;
    call.put_u64(0, u64::from(done.is_none()));
    Ok(())
}

/// The fence of a submission, `None` if it has completed. Number ~0 is the last one.
fn fence(
    file: &OpenFile,
    context: u32,
    ring: (u32, u32),
    number: u64,
) -> Result<Option<Arc<Fence>>, super::Errno> {
    let state = lock(&file.state);
    let context = state.contexts.get(context).ok_or(EINVAL)?;
    let Some(sequence) = context.sequences.get(&ring) else { return Ok(None) };
    let number = if number == u64::MAX { sequence.last } else { number };
    match number > sequence.last {
        true => Err(EINVAL),
        false => Ok(sequence.fence(number)),
    }
}

/// GEM_WAIT_IDLE: handle at 0, timeout at 8; out come whether it is busy at 0 and its domain at 4.
pub(super) fn idle(file: &OpenFile, call: &mut Call) -> Done {
    /// `AMDGPU_GEM_CREATE_VM_ALWAYS_VALID`: every submission may use it.
    const ALWAYS_VALID: u64 = 1 << 6;
    let (handle, timeout) = (call.u32(0), call.u64(8));
    let bo = buffers::buffer(&lock(&file.state), handle)?;
    let everything = if bo.wanted.flags & ALWAYS_VALID != 0 { file.pending() } else { Vec::new() };
    let idle = wait(file, timeout, || bo.is_idle().then(|| all_done(&everything)).flatten())?;
    call.put_u32(0, u32::from(idle.is_none()));
    call.put_u32(4, bo.wanted.domains as u32);
    Ok(())
}

/// Words of a submission in WAIT_FENCES: context, engine, instance, ring, number.
const FENCE_WORDS: usize = 6;

/// WAIT_FENCES: submissions, whether all at 12, timeout at 16; out come whether it happened at 0 and the first one at 4.
pub(super) fn fences(file: &OpenFile, call: &mut Call) -> Done {
    let (all, timeout) = (call.u32(12) != 0, call.u64(16));
    let words = call.words(0);
    let fences: Vec<_> = words
        .as_chunks::<FENCE_WORDS>()
        .0
        .iter()
        .map(|[context, engine, _, ring, low, high]| {
            let number = u64::from(*high) << 32 | u64::from(*low);
            fence(file, *context, (*engine, *ring), number)
        })
        .collect::<Result<_, _>>()?;
    let is_done = |f: &Option<Arc<Fence>>| f.as_ref().is_none_or(|f| f.is_done());
    let first = wait(file, timeout, || satisfied(fences.iter().map(is_done), all))?;
    call.put_u32(0, u32::from(first.is_some()));
    call.put_u32(4, first.unwrap_or(0));
    Ok(())
}

/// The first that is done, if one is, or all are.
fn satisfied(done: impl ExactSizeIterator<Item = bool> + Clone, all: bool) -> Option<u32> {
    let first = done.clone().position(|d| d);
    let enough = if all { done.clone().all(|d| d) } else { first.is_some() || done.len() == 0 };
    enough.then(|| first.unwrap_or(0) as u32)
}

/// SYNCOBJ_WAIT: handles, timeout at 8, flags at 20; out comes the first at 24.
pub(super) fn syncobjs(file: &OpenFile, call: &mut Call) -> Done {
    let (timeout, flags) = (call.u64(8), call.u32(20));
    let first = points(file, &call.words(0), &[], timeout, flags)?;
    call.put_u32(24, first);
    Ok(())
}

/// SYNCOBJ_TIMELINE_WAIT: handles, points, timeout at 16, flags at 28; out comes the first at 32.
pub(super) fn timelines(file: &OpenFile, call: &mut Call) -> Done {
    let (timeout, flags) = (call.u64(16), call.u32(28));
    let first = points(file, &call.words(0), &call.longs(1), timeout, flags)?;
    call.put_u32(32, first);
    Ok(())
}

/// Wait for all and not for any.
const ALL: u32 = 1;

/// Points for which nothing has been submitted are waited for as well.
const FOR_SUBMIT: u32 = 2;

/// Submission is enough.
const AVAILABLE: u32 = 4;

fn points(
    file: &OpenFile,
    handles: &[u32],
    points: &[u64],
    timeout: u64,
    flags: u32,
) -> Result<u32, super::Errno> {
    let objects = objects(file, handles)?;
    let missing = |s: &Standing| *s == Standing::Missing;
    if flags & (FOR_SUBMIT | AVAILABLE) == 0 && standings(&objects, points).iter().any(missing) {
        return Err(EINVAL);
    }
    let enough = |s: &Standing| match flags & AVAILABLE {
        0 => *s == Standing::Done,
        _ => *s != Standing::Missing,
    };
    let ready = || satisfied(standings(&objects, points).iter().map(enough), flags & ALL != 0);
    wait(file, timeout, ready)?.ok_or(ETIME)
}
